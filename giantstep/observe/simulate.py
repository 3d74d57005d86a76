"""From a model to the finite-size system: the same network at a dimension d, simulated in plain numpy."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from giantstep.observe.finite_system import at_dimension, cannot_run, default_kind, finite_system
from giantstep.observe.measured_steps import finite_number, measured_step, of_all_seeds, standard_error
from giantstep.simulate.errors import NoMinimum, SimulationError
from giantstep.simulate.layer import MeasuredStep
from giantstep.simulate.result import SimulationResult
from giantstep.simulate.run import simulate as simulate_system
from giantstep.simulate.system import FiniteSystem, SystemKind, finite_sizes
from giantstep.spec.arguments import checked_numbers
from giantstep.spec.bars import GivenMessages, messages_of
from giantstep.spec.counts import checked_count, checked_seeds
from giantstep.spec.errors import BadInput
from giantstep.spec.given import hands_over
from giantstep.spec.model import Model
from giantstep.spec.outline import outline
from giantstep.spec.shown import Row, Shown

Array = NDArray[np.float64]
Progress = Callable[[int, int, str], object]

DEFAULT_SEEDS = 10
_FEW = 0.1  # the share of draws without a minimum that may be left out

SYSTEM_NAMES = {
    "network": "the network trained by giant gradient steps",
    "srf": "the spiked random-feature model",
    "gaussian": "the conditionally Gaussian features",
}


@dataclass(frozen=True, repr=False, eq=False)
class Simulation(Shown):
    """Errors of every seed, sample size and ridge, arrays [seed, sample, ridge].

    test_error: mean (f_* - f)^2 (of the mean label that f stands for), for losses of the margin P(f_* f < 0) with f = 0
    by half. train_error: mean
    loss, for the square loss without the factor 1/2.
    strength, alignment: of the spike in every first layer, measured in a trained network; alignment [seed, index] of a
    target of several indices.
    steps: of a network its rows after each step, arrays [seed, ...]: products of the mean rows of the blocks, products
    of these with the target's directions, bulk variances. metrics: averages of the model's [metrics] over labels with
    their noise and outputs, by name.
    without_minimum: seeds of draws whose training objective has no minimum, as a trained bias may leave it: they are no
    part of the arrays.
    ``model`` has the ratios really simulated (n/d, p/d, p_b/p, n0/d of whole numbers): solve it with
    ``dimension`` to compare. ``samples`` are the n/d simulated.
    """

    model: Model
    what: SystemKind
    dimension: int
    seed: int
    samples: tuple[float, ...]
    ridges: tuple[float, ...]
    test_error: Array
    train_error: Array
    seconds: float = field(compare=False)
    strength: Array
    alignment: Array
    steps: tuple[MeasuredStep, ...] = ()
    metrics: Mapping[str, Array] = field(default_factory=dict)
    without_minimum: tuple[int, ...] = ()

    @property
    def seeds(self) -> int:
        """Number of independent systems that are averaged."""
        return int(self.test_error.shape[0])

    @property
    def left_out(self) -> str:
        """What is said of draws without a minimum; empty where there are none."""
        few = len(self.without_minimum)
        if not few:
            return ""
        return (
            f"{few} of {few + self.seeds} draws: no minimum in the bias, and so no errors; means are those of draws "
            "that have one, which may be unlike them"
        )

    @property
    def meaning(self) -> str:
        """What was simulated, in words."""
        return SYSTEM_NAMES[self.what]

    def mean(self, name: str = "test_error") -> Array:
        """Mean over seeds of "test_error", "train_error" or a metric, [sample, ridge]."""
        return np.asarray(self._values(name).mean(axis=0))

    def standard_error(self, name: str = "test_error") -> Array:
        """Standard error of that mean; nan with a single seed."""
        return standard_error(self._values(name))

    def _values(self, name: str) -> Array:
        found = {"test_error": self.test_error, "train_error": self.train_error, **self.metrics}
        if name not in found:
            raise BadInput(f"this simulation has no {name!r}", f"ask for one of {', '.join(found)}")
        return found[name]

    def summary(self) -> list[Row]:
        """Errors with their standard errors, what was simulated, the model."""
        return [
            ("test error", self._shown("test_error")),
            ("train error", self._shown("train_error")),
            ("simulated", f"{self.meaning}, d = {self.dimension}, {self.seeds} seed{'s' * (self.seeds > 1)}"),
            *([("left out", self.left_out)] if self.without_minimum else []),
            ("model", outline(self.model)),
        ]

    def _shown(self, name: str) -> str:
        mean, error = self.mean(name), self.standard_error(name)
        if mean.size > 1:
            return f"{mean.min():.6g} to {mean.max():.6g}, {mean.shape[0]} samples x {mean.shape[1]} ridges"
        return f"{mean.item():.6g}" + (f" +- {error.item():.2g}" if self.seeds > 1 else "")

    def to_dict(self) -> dict[str, Any]:
        """What ``giantstep simulate --json`` prints; a list per error where several points were simulated."""
        found = {
            "test_error": self._summary("test_error"),
            "train_error": self._summary("train_error"),
            "dimension": self.dimension,
            "seeds": self.seeds,
            "seconds": self.seconds,
            "what": self.what,
            "seed": self.seed,
            "model": self.model.to_dict(),
        }
        if self.metrics:
            found["metrics"] = {name: self._summary(name) for name in self.metrics}
        if self.without_minimum:
            found["without_minimum"] = {"seeds": list(self.without_minimum), "note": self.left_out}
        return {**found, "steps": [measured_step(state) for state in self.steps]} if self.steps else found

    def _summary(self, name: str) -> dict[str, Any]:
        mean, error = self.mean(name), self.standard_error(name)
        if mean.size == 1:
            return {"mean": float(mean.item()), "standard_error": finite_number(error.item())}
        nested = [[finite_number(entry) for entry in row] for row in error]
        return {"mean": mean.tolist(), "standard_error": nested}


@hands_over
def simulate(
    model: Model,
    *,
    dimension: int,
    seeds: int = DEFAULT_SEEDS,
    what: SystemKind | None = None,
    seed: int = 0,
    samples: Sequence[float] | None = None,
    ridges: Sequence[float] | None = None,
    progress: GivenMessages = None,
) -> Simulation:
    """Simulate a model at dimension d, ``seeds`` times; samples and ridges default to those of ``model.fit``.

    what: "srf", the spiked random features that bulk = "isotropic" stands for, and bulk = "matrix" around its rows;
    "network", the network after its gradient step from rows of its own, whose bulk "trained" stands for; "gaussian",
    the conditionally Gaussian features; None: what the model's bulk stands for. Sizes are rounded to whole numbers
    first and the spike computed at the rounded ratios. The numbers of a seed do not depend on how many
    are run. progress(done, total, message) follows the stages; "auto": a bar. A draw whose training objective has no
    minimum, as a trained bias may leave it, is left out. Raises BadInput for what cannot be simulated, where more than
    a tenth of the draws have no minimum, and for more memory than there is.
    """
    started = time.perf_counter()
    checked_seeds(seeds)
    checked_count("seed", seed, 0)
    alphas = checked_numbers("samples", samples, "[1.0, 2.0]") if samples is not None else (model.fit.samples,)
    lambdas = checked_numbers("ridges", ridges, "[0.1, 1.0]") if ridges is not None else (model.fit.ridge,)
    rounded, what = at_dimension(model, dimension), what or default_kind(model)
    system = finite_system(rounded, what)
    runs: list[SimulationResult] = []
    left: list[int] = []
    with messages_of(progress) as told:
        for index in range(seeds):
            try:
                runs.append(
                    _drawn(system, what, dimension, (seed, index), alphas, lambdas, _shifted(told, index, seeds))
                )
            except NoMinimum as error:
                left.append(index)
                if len(left) > _FEW * seeds:
                    raise cannot_run(_too_many(error, len(left), index + 1, seeds)) from None
    return Simulation(
        rounded,
        what,
        dimension,
        seed,
        finite_sizes(system, dimension, alphas).alpha,
        lambdas,
        np.concatenate([run.test_error for run in runs]),
        np.concatenate([run.train_error for run in runs]),
        time.perf_counter() - started,
        np.concatenate([run.spike.strength for run in runs]),
        np.concatenate([run.spike.alignment for run in runs]),
        tuple(of_all_seeds(states) for states in zip(*(run.steps for run in runs), strict=True)),
        {} if model.metrics is None else model.metrics.by_name(np.concatenate([run.metrics for run in runs])),
        tuple(left),
    )


def _too_many(error: NoMinimum, left: int, drawn: int, seeds: int) -> SimulationError:
    """What is said where too many draws have no minimum for the others to stand for all."""
    more = " or more seeds, of which a tenth may have none" if left / drawn <= _FEW or seeds < 1.0 / _FEW else ""
    return SimulationError(f"{error} ({left} of the first {drawn} draws)", f"{error.hint}{more}")


def simulate_seed(
    system: FiniteSystem,
    what: SystemKind,
    dimension: int,
    seed: int,
    index: int,
    samples: Sequence[float],
    ridges: Sequence[float],
    progress: Progress | None = None,
) -> SimulationResult:
    """One seed: independent tasks that add up to a simulation."""
    try:
        return _drawn(system, what, dimension, (seed, index), samples, ridges, progress)
    except NoMinimum as error:
        raise cannot_run(error) from None


def _drawn(
    system: FiniteSystem,
    what: SystemKind,
    dimension: int,
    place: tuple[int, int],
    samples: Sequence[float],
    ridges: Sequence[float],
    progress: Progress | None,
) -> SimulationResult:
    """The same; place: the seed of the simulation, and the index of this one. Raises NoMinimum, of this draw alone."""
    seed, index = place
    state = np.random.SeedSequence(seed, spawn_key=(index,)).generate_state(2, np.uint64)
    own = int(state[0]) << 64 | int(state[1])
    try:
        return simulate_system(system, what, dimension, 1, samples, ridges, seed=own, progress=progress)
    except NoMinimum:
        raise
    except SimulationError as error:
        raise cannot_run(error) from None


def _shifted(progress: Progress | None, index: int, seeds: int) -> Progress | None:
    if progress is None:
        return None

    def tell(done: int, total: int, message: str) -> None:
        stage = message.rpartition(": ")[2]
        progress(index * total + done, seeds * total, f"seed {index + 1} of {seeds}: {stage}")

    return tell
