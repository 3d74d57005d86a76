"""What ``learnable`` returns: stages, prices, bounds; as a dictionary and as a table for the terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from giantstep.observe.learnable.given_digits import MANY
from giantstep.observe.learnable.overlaps import GiantSteps
from giantstep.observe.learnable.text import columns
from giantstep.spec.expressions import Array
from giantstep.spec.shown import Pictured, Row

_RULES = {
    "polynomial": "exact: the target is a polynomial",
    "closed form": "from closed forms of one-index averages",
    "quadrature": "from one-index averages by quadrature, 20 digits",
    "cubature": "from adaptive quadrature over all indices",
}


def power(exponent: int) -> str:
    """d^k as it is written."""
    return "d" if exponent == 1 else f"d^{exponent}"


def step_size(order: int) -> str:
    """eta = p d^((l-1)/2) [DAN23]."""
    halves = order - 1
    if halves == 0:
        return "p"
    if halves % 2:
        return "p d^(1/2)" if halves == 1 else f"p d^({halves}/2)"
    return f"p {power(halves // 2)}"


def online(order: int) -> str:
    """Samples that one-pass SGD needs to leave the saddle of information exponent l [BGJ19]."""
    return "d" if order == 1 else "d log d" if order == 2 else power(order - 1)


@dataclass(frozen=True)
class LearnedStage:
    """What one step adds: ``names`` of the directions up to their length, orthonormal ``directions`` [r, k], the order
    l of the tensor that holds them and its singular values; ``kernel``: for each name the lowest degree at which a
    kernel sees it; ``error``: E Var(f | P_U z) once they are found.
    """

    number: int
    order: int
    names: tuple[str, ...]
    directions: Array
    strengths: tuple[float, ...]
    kernel: tuple[int | None, ...]
    error: float

    @property
    def samples(self) -> str:
        """Samples of the step."""
        return power(self.order)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "stage": self.number,
            "order": self.order,
            "names": list(self.names),
            "directions": self.directions.tolist(),
            "singular_values": list(self.strengths),
            "samples": self.samples,
            "step_size": step_size(self.order),
            "sgd": online(self.order),
            "kernel": [None if k is None else power(k) for k in self.kernel],
            "error": self.error,
        }


@dataclass(frozen=True)
class Overlap:
    """One term sigma_k g_k <w, w_star>^k of the population overlap of neuron and target, of normalised Hermite
    polynomials. ``target``: g_k, or the norm of the tensor of several indices.
    """

    order: int
    activation: float
    target: float

    @property
    def product(self) -> float:
        """sigma_k g_k."""
        return self.activation * self.target

    def to_dict(self) -> dict[str, float]:
        """Plain values, for JSON."""
        names = ("order", "activation", "target", "product")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, repr=False, eq=False)
class Learnability(Pictured):
    """What giant steps, SGD and kernels learn of a target.

    ``stages``: of an activation with all Hermite coefficients; ``seen``: of the model's. ``missing``: directions that
    no tensor up to ``degree`` holds. ``kernel``: (degree k, directions that n = Theta(d^k) samples add). ``zero``: what
    counts as zero, relative to sqrt(E f^2); ``rounded``: the largest coefficient, relative to the same, that the link's
    numbers decide within a unit of their last digit, and that counts as zero too. ``norm_beyond``: the share of E f^2
    above ``degree``. ``possible``: samples over d from which message passing finds anything, with the noise of the
    labels; None where that is not known.
    """

    link: str
    latex: str
    indices: int
    rule: str
    zero: float
    degree: int
    complete: bool
    norm_beyond: float
    variance: float
    stages: tuple[LearnedStage, ...]
    missing: tuple[str, ...]
    kernel: tuple[tuple[int, tuple[str, ...]], ...]
    tensor: Mapping[str, str]
    activation: str | None
    seen: tuple[LearnedStage, ...] | None
    missing_seen: tuple[str, ...]
    overlap: tuple[Overlap, ...]
    possible: float | None = None
    rounded: float = 0.0
    simulation: GiantSteps | None = None

    @property
    def information_exponent(self) -> int | None:
        """The order of the first tensor that is not zero [BGJ19]; None where there is none up to ``degree``."""
        return self.stages[0].order if self.stages else None

    @property
    def leap(self) -> int | None:
        """The largest order of a stage [ABB23]; None where there is none."""
        return max((stage.order for stage in self.stages), default=None)

    def _order(self, value: int | None) -> str:
        """An order, or why there is none."""
        if value is not None:
            return str(value)
        constant = self.complete or self.norm_beyond == 0.0
        return "none: the target is constant" if constant else f"none: no tensor up to degree {self.degree} counts"

    @property
    def error(self) -> float:
        """What is left once all stages are done: 0 where every relevant direction is found."""
        return self.stages[-1].error if self.stages else self.variance

    @property
    def error_seen(self) -> float | None:
        """What is left with the model's activation."""
        if self.seen is None:
            return None
        return self.seen[-1].error if self.seen else self.variance

    @property
    def sees_all(self) -> bool:
        """Whether the model's activation climbs the same staircase."""
        return self.seen is not None and [(s.order, s.names) for s in self.seen] == [
            (s.order, s.names) for s in self.stages
        ]

    def summary(self) -> list[Row]:
        """The target, its exponents, what each step finds."""
        stages = "; ".join(f"{', '.join(stage.names)} with {stage.samples} samples" for stage in self.stages)
        seen = [] if self.seen is None else [(f"{self.activation} finds all", "yes" if self.sees_all else "no")]
        return [
            ("target", self.link),
            ("information exponent", self._order(self.information_exponent)),
            ("leap", self._order(self.leap)),
            ("giant steps find", stages or "nothing"),
            *seen,
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values: what ``giantstep learnable --json`` prints."""
        network = None
        if self.seen is not None:
            network = {
                "activation": self.activation,
                "sees_all": self.sees_all,
                "stages": [stage.to_dict() for stage in self.seen],
                "not_found": list(self.missing_seen),
                "error": self.error_seen,
                "overlap": [o.to_dict() for o in self.overlap],
            }
        return {
            "link": self.link,
            "indices": self.indices,
            "information_exponent": self.information_exponent,
            "leap": self.leap,
            "rule": self.rule,
            "zero_to_within": self.zero,
            "rounding_of_given_digits": self.rounded,
            "degree": self.degree,
            "complete": self.complete,
            "norm_beyond_degree": self.norm_beyond,
            "variance": self.variance,
            "stages": [stage.to_dict() for stage in self.stages],
            "not_found": list(self.missing),
            "error": self.error,
            "kernel": [{"samples": power(k), "names": list(names)} for k, names in self.kernel],
            "tensor": dict(self.tensor),
            "possible": self.possible if self.possible is None or math.isfinite(self.possible) else None,
            "network": network,
            "simulation": None if self.simulation is None else self.simulation.to_dict(),
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The table for the terminal."""
        looked = "" if self.complete else f", up to degree {self.degree} ({self.norm_beyond:.2g} of E f^2 lies beyond)"
        zero = "" if self.rule == "polynomial" else f"; zero to within {self.zero:.0e} of sqrt(E f^2)"
        lines = [
            f"target                {self.link}",
            f"information exponent  {self._order(self.information_exponent)}",
            f"leap                  {self._order(self.leap)}",
            f"Hermite tensors       {_RULES[self.rule]}{zero}{looked}",
        ]
        if self.rounded > 0.0:
            lines += [
                f"numbers as given      coefficients of up to {self.rounded:.1e} of sqrt(E f^2) count as zero: a unit",
                f"                      of the last digit of the link's numbers of {MANY} or more digits decides them",
            ]
        if self.tensor and self.stages:
            entries = ", ".join(f"C[{names}] = {value}" for names, value in self.tensor.items())
            lines.append(f"first tensor          {entries}")
        lines += ["", "Staircase of giant steps (an activation with all Hermite coefficients)", ""]
        lines += _stage_table(self.stages, self.variance)
        lines += _not_found(self.missing, self.error, self.complete, self.degree)
        if self.kernel:
            parts = "; ".join(f"{power(k)} samples: {', '.join(names)}" for k, names in self.kernel)
            lines += ["", f"Kernels and random features find, with {parts}"]
        if self.possible is not None:
            lines += ["", f"Message passing, the best fast algorithm that is known, finds {_from(self.possible)}"]
        if self.seen is not None:
            lines += ["", *self._network()]
        if self.simulation is not None:
            lines += ["", *self.simulation.lines()]
        return lines

    def _network(self) -> list[str]:
        assert self.seen is not None
        lines = []
        blind = [o for o in self.overlap if o.activation == 0.0]
        if self.overlap:
            rows = [(str(o.order), f"{o.activation:.6g}", f"{o.target:.6g}", f"{o.product:.6g}") for o in self.overlap]
            head = ("order k", "sigma_k", "g_k", "sigma_k g_k")
            lines += [
                f"Overlap with a neuron of activation {self.activation}: sum_k sigma_k g_k <w, w_star>^k",
                "",
            ]
            lines += columns([head, *rows])
        if blind:
            orders = ", ".join(str(o.order) for o in blind)
            lines += [
                "",
                f"The activation has no Hermite coefficient of order {orders}: the first step does not see these.",
            ]
        if self.sees_all:
            return [*lines, "", f"With {self.activation} the staircase is the same."]
        lines += ["", f"Staircase with {self.activation}", ""]
        lines += _stage_table(self.seen, self.variance)
        return lines + _not_found(
            self.missing_seen, self.error_seen or 0.0, self.complete, self.degree, self.activation
        )


def _stage_table(stages: Sequence[LearnedStage], variance: float) -> list[str]:
    head = ("step", "finds", "order l", "samples", "eta", "SGD", "kernel", "error left >=")
    rows = [("-", "nothing", "", "", "", "", "", f"{variance:.6g}")]
    for s in stages:
        kernel = ", ".join("?" if k is None else power(k) for k in s.kernel)
        price = (s.samples, step_size(s.order), online(s.order), kernel)
        rows.append((str(s.number), ", ".join(s.names), str(s.order), *price, f"{s.error:.6g}"))
    return columns([head, *rows])


def _not_found(
    missing: tuple[str, ...], error: float, complete: bool, degree: int, activation: str | None = None
) -> list[str]:
    if not missing:
        return []
    names = ", ".join(missing)
    if error <= 1e-6:
        return [f"The target does not depend on {names}."]
    if activation is not None:
        return [f"{activation} does not find {names}: its steps see no component that holds it."]
    return [f"No tensor up to degree {degree} holds {names}." if not complete else f"No tensor holds {names}."]


def _from(samples: float) -> str:
    if samples == 0.0:
        return "something from any number of samples n of order d"
    return "nothing with n of order d" if math.isinf(samples) else f"something from n > {samples:.6g} d samples"
