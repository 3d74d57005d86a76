"""The best that any estimator can do with the samples of a model, and from how many on it does better than chance."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from giantstep.law.known_indices import known_indices
from giantstep.observe.measured_steps import finite_number, standard_error
from giantstep.observe.optimal.error import least_error
from giantstep.observe.optimal.errors import errors_along
from giantstep.observe.optimal.evolution import Evolution, evolve
from giantstep.observe.optimal.fineness import Fineness
from giantstep.observe.optimal.passing import Passing, passing
from giantstep.observe.optimal.path import Path, path_of
from giantstep.observe.optimal.preimages import is_flat
from giantstep.observe.optimal.prior import Sought
from giantstep.observe.optimal.thresholds import Threshold
from giantstep.observe.optimal.told import not_followed
from giantstep.observe.optimal.transitions import Transition, transitions
from giantstep.spec.counts import checked_count, checked_seeds
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.given import takes_model
from giantstep.spec.model import Model, Target
from giantstep.spec.outline import outline
from giantstep.spec.shown import Row, Shown, number

Array = np.ndarray
_USABLE = 1e-2


@dataclass(frozen=True, repr=False, eq=False)
class Optimal(Shown):
    """What the best estimator of a target reaches, all samples of steps and fit together.

    test_error: E (f_* - f)^2 of the best prediction of the clean target, for losses of the margin P(f_* f < 0).
    overlap: Q [m, m] of the directions of the target; algorithmic and algorithmic_error: the same of message passing,
    the best fast algorithm that is known. thresholds: samples over d from which on directions are found. transitions:
    where the overlap jumps, of the best estimator (information) and of message passing.
    error: how far overlap and test error may be off. None, and a reason, where the label of several indices varies and
    has no noise. Source: THEORY section 15; Troiani et al., arXiv:2405.15480.
    """

    model: Model
    samples: float
    test_error: float | None
    overlap: Array | None
    algorithmic_error: float | None
    algorithmic: Array | None
    thresholds: tuple[Threshold, ...]
    error: float
    reason: str = ""
    hint: str = ""
    simulated: Passing | None = None
    transitions: tuple[Transition, ...] | None = None

    @property
    def mean_overlap(self) -> float | None:
        """The mean eigenvalue of the overlap."""
        return None if self.overlap is None else float(np.trace(self.overlap)) / len(self.overlap)

    @property
    def ignores(self) -> str:
        """What the model is told of its target beside the samples, in words; the best estimator is not told."""
        return ignored_by_best(self.model)

    @property
    def hard(self) -> bool:
        """Whether no fast algorithm is known that reaches the best estimator."""
        return self.overlap is not None and bool(np.max(np.abs(self.overlap - self.algorithmic)) > 1e-3)

    def summary(self) -> list[Row]:
        """Test error, overlap, thresholds, samples, model."""
        rows = [("least test error", "not known: " + self.hint)]
        if self.test_error is not None:
            rows = [("least test error", number(self.test_error) + (f", to {self.error:.0e}" if self.error else ""))]
        if self.overlap is not None:
            rows.append(("overlap", _shown(self.overlap)))
        if self.hard:
            assert self.algorithmic is not None and self.algorithmic_error is not None
            rows.append(("fast algorithms", f"{number(self.algorithmic_error)}, overlap {_shown(self.algorithmic)}"))
        found = ", ".join(f"n/d > {t.samples:.7g}" for t in self.thresholds)
        fit, steps = self.model.fit.samples, self.samples - self.model.fit.samples
        parts = f"{fit:g} (fit) + {steps:g} (steps)" if steps else "those of the fit"
        rows.append(("weak recovery", f"from {found}; here {self.samples:g}: {parts}"))
        rows += [("overlap jumps", _jump(jump)) for jump in self.transitions or ()]
        if self.ignores:
            rows.append(("not counted", self.ignores))
        if self.simulated is not None:
            rows.append(("message passing", _simulated(self.simulated)))
        return [*rows, ("model", outline(self.model))]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, for JSON; an infinite threshold is null."""
        return {
            "test_error": self.test_error,
            "overlap": self.mean_overlap,
            "overlap_matrix": None if self.overlap is None else self.overlap.tolist(),
            "thresholds": [t.samples if math.isfinite(t.samples) else None for t in self.thresholds],
            "directions": [t.directions.tolist() for t in self.thresholds],
            "transitions": None if self.transitions is None else [_finite(asdict(jump)) for jump in self.transitions],
            "samples": self.samples,
            "hard": self.hard,
            "algorithmic_test_error": self.algorithmic_error,
            "algorithmic_overlap": None if self.algorithmic is None else self.algorithmic.tolist(),
            "error": self.error,
            "reason": self.reason,
            "ignores": self.ignores,
            "simulated": None if self.simulated is None else _measured(self.simulated),
        }


def ignored_by_best(model: Model) -> str:
    """What a model is told of its target beside the samples, in words; the best estimator is not told."""
    told = model.spike is not None and any(a != 0.0 for a in np.ravel(model.spike.alignment))
    return "the alignment of [spike]: a network that is given it may do better" if told else ""


def _shown(overlap: Array) -> str:
    if len(overlap) == 1:
        return number(float(overlap[0, 0]))
    return "eigenvalues " + ", ".join(f"{size:.6g}" for size in np.linalg.eigvalsh(overlap)[::-1])


def _jump(jump: Transition) -> str:
    """Both thresholds in words."""
    after = "1" if jump.after == 1.0 else number(jump.after)
    fast = f"fast algorithms at {jump.algorithmic:.7g}" if math.isfinite(jump.algorithmic) else "no fast algorithm does"
    return f"from {number(jump.before)} to {after} at n/d = {jump.information:.7g}; {fast}"


def _finite(numbers: dict[str, float]) -> dict[str, float | None]:
    """For JSON, where an infinite number is null."""
    return {name: value if math.isfinite(value) else None for name, value in numbers.items()}


def _measured(found: Passing) -> dict[str, Any]:
    error, overlap = found.test_error, found.overlap
    return {
        "dimension": found.dimension,
        "seeds": len(error),
        "unsettled": found.unsettled,
        "test_error": {"mean": float(error.mean()), "standard_error": finite_number(standard_error(error).item())},
        "overlap": {"mean": float(overlap.mean()), "standard_error": finite_number(standard_error(overlap).item())},
    }


def _simulated(found: Passing) -> str:
    error, numbers = found.test_error, _measured(found)["test_error"]
    bar = "" if numbers["standard_error"] is None else f" +- {numbers['standard_error']:.2g}"
    left = f"; {found.unsettled} of them had not settled" if found.unsettled else ""
    return f"{number(numbers['mean'])}{bar} (d = {found.dimension}, {len(error)} seeds{left})"


@takes_model
def optimal(model: Model, *, dimension: int | None = None, seeds: int = 10, seed: int = 0) -> Optimal:
    """What the best estimator reaches with all samples of a model, and the thresholds of weak recovery.

    The estimator knows the link and the noise, not the directions. With ``dimension`` message passing runs on samples
    that are drawn, ``seeds`` times. In structured inputs it
    also knows their covariance, and how large the coefficients of the target are at each eigenvalue, not their signs.
    Raises BadInput for labels that do not depend on the inputs, NotConverged where an average does not settle.
    """
    if dimension is not None:
        checked_count("dimension", dimension, 2)
    checked_seeds(seeds)
    checked_count("seed", seed, 0)
    if model.target.flips == 0.5:
        raise BadInput("target.flips = 0.5 leaves labels that do not depend on the input", "give less than 0.5")
    if is_flat(model.target):
        raise BadInput(
            f"target.link = {model.target.link!r} is constant: there is nothing to learn", "give another link"
        )
    samples, known = samples_of(model), known_indices(model)
    by_sign, seen = model.fit.loss.form == "margin", model if known is None else known.model
    found = _optimal(seen, samples, by_sign)
    if dimension is not None and found.test_error is not None:
        found = replace(found, simulated=passing(Sought.of(seen), samples, dimension, seeds, seed, by_sign))
    return found if known is None else _in_letters(found, model, np.array(known.rows))


def _in_letters(found: Optimal, model: Model, rows: Array) -> Optimal:
    """The same of all letters of a link that knows some directions, rows [r, m] of length one: nothing is known beside
    these, which mean overlaps count.
    """
    share = len(rows) / rows.shape[1]

    def told(overlap: Array | None) -> Array | None:
        return None if overlap is None else np.asarray(rows.T @ overlap @ rows)

    return replace(
        found,
        model=model,
        overlap=told(found.overlap),
        algorithmic=told(found.algorithmic),
        thresholds=tuple(replace(one, directions=one.directions @ rows) for one in found.thresholds),
        transitions=found.transitions
        and tuple(replace(jump, before=share * jump.before, after=share * jump.after) for jump in found.transitions),
        simulated=found.simulated and replace(found.simulated, overlap=share * found.simulated.overlap),
    )


def samples_of(model: Model) -> float:
    """All samples of steps and fit over d; a batch that is taken again counts once."""
    return model.fit.samples + sum(step.samples for step in model.steps if step.batch != "same")


def _optimal(model: Model, samples: float, by_sign: bool) -> Optimal:
    path = path_of(Sought.of(model))
    if not path.pieces:
        return Optimal(model, samples, None, None, None, None, path.thresholds, 0.0, *not_followed(model.target))
    found, moved = evolve(path, samples)
    (best, fast), beside = _errors(path, found, by_sign)
    change = moved + beside
    if not change <= _USABLE:
        raise NotConverged(
            f"the overlap of the best estimator changes by {change:.1e} on finer nodes", "add noise to the label"
        )
    reached = (best, found.optimal, fast, found.algorithmic)
    return Optimal(model, samples, *reached, path.thresholds, change, transitions=transitions(path))


def _errors(path: Path, found: Evolution, by_sign: bool) -> tuple[tuple[float, float], float]:
    """The errors of the best estimator and of message passing, and how far the first may be off, over that of none."""
    errors = errors_along(path, by_sign)
    best, fast = (errors.at(place) for place in found.places)
    return (best, fast), errors.off(found.places[0]) / max(_size(path.sought.target, by_sign), 1e-300)


@lru_cache(maxsize=64)
def _size(target: Target, by_sign: bool) -> float:
    """The error where nothing is known: E f_*^2, or that of a sign."""
    return least_error(target, np.zeros((target.indices, target.indices)), Fineness(), by_sign)
