"""The loop over seeds."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from giantstep.simulate.bias import fixed_bias, trained_bias
from giantstep.simulate.erm import Fitted
from giantstep.simulate.errors import Array, SimulationError
from giantstep.simulate.features import Tested, conditional_test_error, sampled_test_error, training_set
from giantstep.simulate.first_layer import draw_layer
from giantstep.simulate.layer import FirstLayer, MeasuredStep, Streams
from giantstep.simulate.memory import estimate_bytes, require_memory
from giantstep.simulate.order import Overlaps, measure_overlaps
from giantstep.simulate.result import MeasuredSpike, SimulationResult
from giantstep.simulate.system import (
    FiniteSizes,
    FiniteSystem,
    SystemKind,
    check_kind,
    finite_number,
    finite_sizes,
    positive_whole,
)

Progress = Callable[[int, int, str], object]
STAGES = ("first layer", "features", "readouts", "test error")


@dataclass(frozen=True)
class _Plan:
    """What is the same for every seed."""

    system: FiniteSystem
    what: SystemKind
    sizes: FiniteSizes
    seed: int
    ridges: tuple[float, ...]
    test_samples: int
    order_parameters: bool
    memory_limit: int | None


@dataclass(frozen=True)
class _Run:
    """One seed; what is tested and the overlaps have samples x ridges flattened."""

    tested: Tested
    fitted: Fitted
    overlaps: Overlaps | None
    layer: FirstLayer


def simulate(
    system: FiniteSystem,
    what: SystemKind,
    dimension: int,
    seeds: int,
    samples: Sequence[float],
    ridges: Sequence[float],
    *,
    seed: int = 0,
    test_samples: int | None = None,
    order_parameters: bool = False,
    progress: Progress | None = None,
    memory_limit_bytes: int | None = None,
) -> SimulationResult:
    """Simulate a finite system: draw everything afresh for each seed, fit the readouts, measure the errors.

    what: "network" (trained by one giant gradient step), "srf" (spiked random features) or "gaussian" (the
    conditional Gaussian map). samples: alphas = n/d of the readout. ridges: lambda of the objective
    sum loss(y, f) + (lambda/2) |a|^2; above 0, or 0 for the square loss (y - f)^2/2.
    Seed i of `seeds` gets child i of numpy's SeedSequence(seed): it does not depend on how many are run; one
    seed gives no standard error (nan). test_samples: fresh test points per seed, by default enough for their
    error to be below the spread of the seeds. progress(done, total, message) is called before, between and
    after the stages of each seed.
    memory_limit_bytes: None asks the machine.
    Raises SimulationError for impossible input and, before any work, where memory does not suffice.
    """
    started = time.perf_counter()
    check_kind(system, what)
    positive_whole("seeds", seeds)
    positive_whole("seed", seed, 0)
    sizes = finite_sizes(system, dimension, samples)
    tests = _test_count(system, what, sizes, test_samples)
    checked = _checked_ridges(system, ridges)
    plan = _Plan(system, what, sizes, seed, checked, tests, order_parameters, memory_limit_bytes)
    if memory_limit_bytes is not None:
        positive_whole("memory_limit_bytes", memory_limit_bytes)

    def needed_at(size: int) -> int:
        there = finite_sizes(system, size, samples)
        tests = _test_count(system, what, there, test_samples)
        return estimate_bytes(system, there, what, checked, tests)

    needed = require_memory(needed_at, dimension, memory_limit_bytes)
    runs = []
    for index, sequence in enumerate(np.random.SeedSequence(seed).spawn(seeds)):
        runs.append(_one_seed(plan, Streams.spawn(sequence, len(system.steps)), _teller(progress, index, seeds)))
    if progress is not None:
        progress(seeds * len(STAGES), seeds * len(STAGES), "done")
    return _collect(plan, runs, needed, time.perf_counter() - started)


def _one_seed(plan: _Plan, streams: Streams, tell: Callable[[int], None]) -> _Run:
    system, what, sizes = plan.system, plan.what, plan.sizes
    tell(0)
    layer = draw_layer(system, sizes, what, streams)
    tell(1)
    features, target = training_set(system, sizes, what, layer, streams)
    tell(2)
    fitted = _fitted(plan, features, target)
    readouts = fitted.readouts
    del features
    tell(3)
    overlaps = None
    if plan.order_parameters or what == "gaussian":
        overlaps = measure_overlaps(system, sizes, layer, readouts)
    if what == "gaussian":
        assert overlaps is not None
        tested = conditional_test_error(system, layer, overlaps, plan.test_samples, streams)
    else:
        tested = sampled_test_error(system, sizes, layer, readouts, fitted.bias.ravel(), plan.test_samples, streams)
    kept = overlaps if plan.order_parameters else None
    # the rows are the large part of the layer, and of no more use
    small = FirstLayer(
        layer.rows[:0],
        layer.theta,
        layer.spike,
        layer.strength,
        layer.alignment,
        layer.variances,
        layer.loadings,
        layer.states,
    )
    return _Run(tested, fitted, kept, small)


def _fitted(plan: _Plan, features: Array, target: Array) -> Fitted:
    given = plan.system, features, target, plan.sizes.samples, plan.ridges
    if plan.system.trained_bias:
        return trained_bias(*given, plan.memory_limit)
    return fixed_bias(*given, plan.system.bias, plan.memory_limit)


def _collect(plan: _Plan, runs: list[_Run], needed: int, seconds: float) -> SimulationResult:
    shape = (len(runs), len(plan.sizes.samples), len(plan.ridges))
    measured = [run.overlaps for run in runs if run.overlaps is not None]
    overlaps = None
    if measured:
        overlaps = Overlaps(
            *(
                np.stack([getattr(one, name) for one in measured]).reshape(shape + getattr(measured[0], name).shape[1:])
                for name in ("m", "zeta", "psi", "Q1", "Q2", "norm")
            )
        )
    spike = MeasuredSpike(
        np.array([run.layer.strength for run in runs]),
        np.array([_alignment(plan.system, run.layer) for run in runs]),
        np.stack([run.layer.variances for run in runs]),
    )
    return SimulationResult(
        plan.what,
        plan.sizes,
        plan.ridges,
        plan.seed,
        np.stack([run.tested.error for run in runs]).reshape(shape),
        np.stack([run.fitted.train for run in runs]),
        np.stack([run.tested.sampling for run in runs]).reshape(shape),
        spike,
        overlaps,
        np.stack([run.fitted.bias for run in runs]),
        np.stack([run.fitted.gap for run in runs]),
        np.stack([run.fitted.output_error for run in runs]),
        _steps(runs),
        np.stack([run.tested.metrics for run in runs]).reshape(shape[0], -1, *shape[1:]),
        plan.test_samples,
        needed,
        seconds,
    )


def _steps(runs: list[_Run]) -> tuple[MeasuredStep, ...]:
    """The rows after each step, with an axis for the seeds in front."""
    return tuple(
        MeasuredStep(*(np.stack([getattr(state, item.name) for state in states]) for item in fields(MeasuredStep)))
        for states in zip(*(run.layer.states for run in runs), strict=True)
    )


def _alignment(system: FiniteSystem, layer: FirstLayer) -> Array:
    """A number for one index and a list for several; of a spike of rank q for each direction."""
    return np.asarray(layer.alignment if system.indices > 1 else layer.alignment[..., 0])


def _checked_ridges(system: FiniteSystem, ridges: Sequence[float]) -> tuple[float, ...]:
    if len(ridges) < 1:
        raise SimulationError("ridges must hold at least one lambda, got none")
    for ridge in ridges:
        finite_number("each of ridges", ridge, least=0.0)
        functions = [found.name for found in (system.loss, system.penalty) if found is not None]
        if functions and not ridge > 0.0:
            raise SimulationError(f"each of ridges must be above 0 for the loss {functions[0]}, got {ridge!r}")
    return tuple(float(ridge) for ridge in ridges)


def _test_count(system: FiniteSystem, what: SystemKind, sizes: FiniteSizes, test_samples: int | None) -> int:
    """Default: its own error was 0.2 to 1 of the seeds' spread where measured (tanh, d = 400; logistic and hinge,
    where a label counts as right or wrong, d = 100 to 400)."""
    if test_samples is not None:
        positive_whole("test_samples", test_samples, 2)
        return int(test_samples)
    if what == "gaussian":
        return 1 << 14
    largest = max(sizes.dimension, sizes.width_count, min(max(sizes.samples), 2 * sizes.width_count))
    return (18 if system.classifies else 3) * largest


def _teller(progress: Progress | None, index: int, seeds: int) -> Callable[[int], None]:
    def tell(stage: int) -> None:
        if progress is not None:
            progress(
                index * len(STAGES) + stage,
                seeds * len(STAGES),
                f"seed {index + 1} of {seeds}: {STAGES[stage]}",
            )

    return tell
