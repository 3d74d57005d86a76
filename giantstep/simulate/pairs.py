"""Two fits that share some of what they are made from, on common test inputs: how their outputs differ.

Every source of randomness is a random stream of its own. The second fit of a pair takes the streams of what it shares
with the first one, and others for the rest. Knows no theory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from giantstep.simulate.bias import fixed_bias
from giantstep.simulate.errors import Array, SimulationError
from giantstep.simulate.features import activate, training_set
from giantstep.simulate.first_layer import draw_layer
from giantstep.simulate.labels import clean_labels
from giantstep.simulate.layer import FirstLayer, Streams, project
from giantstep.simulate.memory import chunk_rows
from giantstep.simulate.system import FiniteSizes, FiniteSystem, SystemKind, check_kind, finite_sizes, positive_whole

Counts = NDArray[np.int64]
SOURCES = ("batch", "data", "noise", "initialisation")
Progress = Callable[[int, int, str], object]


@dataclass(frozen=True)
class Resampling:
    """Which samples of a pool a fit takes, drawn for each fit: "all"; "bootstrap", each a Poisson(1) number of times,
    as n draws with replacement from n for large n; "subsample", a fraction without replacement.
    """

    kind: str = "all"
    fraction: float = 1.0

    def times(self, count: int, generator: np.random.Generator) -> Counts:
        """How often a fit takes each of the samples of a pool."""
        if self.kind == "bootstrap":
            return generator.poisson(1.0, count).astype(np.int64)
        if self.kind == "subsample":
            taken = generator.permutation(count)[: round(self.fraction * count)]
            return np.bincount(taken, minlength=count).astype(np.int64)
        return np.ones(count, dtype=np.int64)


@dataclass(frozen=True)
class PairsResult:
    """Averages over the test inputs, [seed, pair]; test_error [seed] of the first fit.

    half_mean_square: (f_1 - f_2)^2/2; product: (y - f_1)(y - f_2) with the clean label y; ensemble: error of the mean
    output of both, squared or 0-1 as the test error.
    """

    shared: tuple[tuple[str, ...], ...]
    sizes: FiniteSizes
    test_error: Array
    half_mean_square: Array
    product: Array
    ensemble: Array


@dataclass(frozen=True)
class _Trained:
    layer: FirstLayer
    readout: Array


def simulate_pairs(
    system: FiniteSystem,
    what: SystemKind,
    dimension: int,
    seeds: int,
    shared: Sequence[Sequence[str]],
    samples: float,
    ridge: float,
    *,
    seed: int = 0,
    resampling: Resampling | None = None,
    progress: Progress | None = None,
) -> PairsResult:
    """Fit pairs that share the sources of ``shared``, one for each of its entries, ``seeds`` times.

    Spiked random features have no batch of their own: only the network can draw it again. Raises SimulationError.
    """
    check_kind(system, what)
    positive_whole("seeds", seeds)
    chosen = tuple(tuple(name for name in SOURCES if name in each) for each in shared)
    if system.trained_bias:
        raise SimulationError("pairs of fits are simulated with a fixed bias")
    if what != "network" and any("batch" not in each for each in chosen):
        hold = 'simulate the network (what = "network"), or hold the batch (given = "batch")'
        raise SimulationError("a batch can be drawn again for the network only", hold)
    sizes = finite_sizes(system, dimension, (samples,))
    plan = _Plan(system, what, sizes, ridge, resampling or Resampling(), seed)
    rows = []
    for index in range(seeds):
        if progress is not None:
            progress(index, seeds, f"seed {index + 1} of {seeds}")
        rows.append(plan.one_seed(index, chosen))
    found = np.array(rows)
    return PairsResult(chosen, sizes, found[:, 0, 0], found[:, :, 1], found[:, :, 2], found[:, :, 3])


@dataclass(frozen=True)
class _Plan:
    system: FiniteSystem
    what: SystemKind
    sizes: FiniteSizes
    ridge: float
    resampling: Resampling
    seed: int

    def one_seed(self, index: int, shared: Sequence[tuple[str, ...]]) -> Array:
        """[pair, (error, half mean square, product, ensemble)]."""
        own = self._fit(self._streams(index, 0), index, 0)
        rows = []
        for number, names in enumerate(shared, start=1):
            other = self._fit(self._mixed(index, number, names), index, number)
            rows.append(self._compared(own, other, self._streams(index, 0).test))
        return np.array(rows)

    def _streams(self, index: int, number: int) -> Streams:
        sequence = np.random.SeedSequence(self.seed, spawn_key=(index, number))
        return Streams.spawn(sequence, len(self.system.steps))

    def _mixed(self, index: int, number: int, names: Sequence[str]) -> Streams:
        """Streams of the first fit where they are shared, else of the pair's own; the target is always the same."""
        own, other = self._streams(index, 0), self._streams(index, number)
        taken = {"initialisation": ("layer",), "batch": ("batches",), "data": ("inputs",), "noise": ("labels",)}
        kept = {field for name in names for field in taken[name]}
        if self.what == "gaussian" and "data" in names and "initialisation" in names:
            kept.add("features")
        return replace(other, direction=own.direction, **{field: getattr(own, field) for field in kept})

    def _fit(self, streams: Streams, index: int, number: int) -> _Trained:
        layer = draw_layer(self.system, self.sizes, self.what, streams)
        features, target = training_set(self.system, self.sizes, self.what, layer, streams)
        draws = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(index, number, 1)))
        times = self.resampling.times(len(target), draws)
        if self.resampling.kind != "all":
            features, target = np.repeat(features, times, axis=0), np.repeat(target, times)
        fitted = fixed_bias(self.system, features, target, (len(target),), (self.ridge,), self.system.bias, None)
        return _Trained(layer, fitted.readouts)

    def _compared(self, own: _Trained, other: _Trained, test: np.random.Generator) -> tuple[float, ...]:
        """Averages over fresh inputs."""
        system, sizes = self.system, self.sizes
        count = (18 if system.classifies else 3) * max(sizes.dimension, sizes.width_count, sizes.samples[0])
        height = min(chunk_rows(sizes.width_count), count)
        sums = np.zeros(4)
        for start in range(0, count, height):
            inputs = test.standard_normal((min(height, count - start), sizes.dimension))
            clean = clean_labels(system, own.layer.indices_of(inputs))
            first, second = (self._outputs(fit, inputs) for fit in (own, other))
            errors = [self._errors(clean, f) for f in (first, 0.5 * (first + second))]
            parts = (errors[0], 0.5 * (first - second) ** 2, (clean - first) * (clean - second), errors[1])
            sums += [float(np.sum(part)) for part in parts]
        return tuple(sums / count)

    def _outputs(self, fit: _Trained, inputs: Array) -> Array:
        features = np.empty((len(inputs), self.sizes.width_count))
        project(inputs, fit.layer.rows, features)
        activate(self.system, features, self.system.bias)
        return np.asarray(blas.dgemm(1.0 / math.sqrt(self.sizes.width_count), fit.readout, features.T, trans_a=1)[0])

    def _errors(self, clean: Array, output: Array) -> Array:
        return 0.5 - 0.5 * np.sign(output * clean) if self.system.classifies else (output - clean) ** 2
