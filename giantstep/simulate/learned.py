"""The function that a finite system has learned, measured: its output in bins along target and spike."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from giantstep.simulate.bias import fixed_bias, trained_bias
from giantstep.simulate.errors import Array, SimulationError
from giantstep.simulate.features import activate, training_set
from giantstep.simulate.first_layer import draw_layer
from giantstep.simulate.layer import FirstLayer, Streams, overlap, project
from giantstep.simulate.memory import chunk_rows, estimate_bytes, require_memory
from giantstep.simulate.system import (
    FiniteSystem,
    SystemKind,
    check_kind,
    finite_sizes,
    positive_whole,
)


@dataclass(frozen=True)
class BinnedOutput:
    """Means of f, or of the mean label that it stands for, over the test points of each bin, [axis, bin]: axis 0 along
    theta_i, the others along the spike's v_j.

    nan where a bin holds no point; ``count``: points of each bin.
    """

    mean: Array
    count: Array


def binned_output(
    system: FiniteSystem,
    what: SystemKind,
    dimension: int,
    samples: float,
    ridge: float,
    edges: Array,
    sequence: np.random.SeedSequence,
    *,
    index: int = 0,
    test_samples: int = 20_000,
    memory_limit: int | None = None,
) -> BinnedOutput:
    """One seed: draw, train, fit, and average the output over fresh inputs in bins of theta_index.x and of v_j.x.

    edges[B + 1] of the bins, the same for all. A single direction v has the sign that makes the strength of the spike
    positive. Systems "srf" and "network". Raises SimulationError for what cannot be simulated.
    """
    check_kind(system, what)
    if what == "gaussian":
        raise SimulationError("the system 'gaussian' has no inputs; the function is measured on 'srf' or 'network'")
    positive_whole("test_samples", test_samples)
    sizes = finite_sizes(system, dimension, (samples,))

    def needed_at(size: int) -> int:
        return estimate_bytes(system, finite_sizes(system, size, (samples,)), what, (ridge,), test_samples)

    require_memory(needed_at, dimension, memory_limit)
    streams = Streams.spawn(sequence, len(system.steps))
    layer = draw_layer(system, sizes, what, streams)
    features, target = training_set(system, sizes, what, layer, streams)
    if system.trained_bias:
        fitted = trained_bias(system, features, target, sizes.samples, (ridge,), memory_limit)
    else:
        fitted = fixed_bias(system, features, target, sizes.samples, (ridge,), system.bias, memory_limit)
    del features
    network = _Network(system, layer, fitted.readouts[:, 0], float(fitted.bias.ravel()[0]))
    spikes = np.atleast_2d(-layer.spike if layer.strength < 0.0 else layer.spike)
    return _measured(network, np.array([layer.theta[index], *spikes]), edges, streams.test, test_samples)


@dataclass(frozen=True)
class _Network:
    """A network after its fit: f = readout.sigma(rows x + bias)/sqrt(p)."""

    system: FiniteSystem
    layer: FirstLayer
    readout: Array
    bias: float

    def outputs(self, inputs: Array, chunk: Array) -> Array:
        """f [n] at inputs [n, d], or the mean label that it stands for; chunk: room for the features [n, p]."""
        project(inputs, self.layer.rows, chunk)
        activate(self.system, chunk, self.bias)
        output = np.asarray(blas.dgemv(1.0 / math.sqrt(len(self.readout)), chunk.T, self.readout, trans=1))
        return output if self.system.predicts is None else self.system.predicts(output)


def _measured(
    network: _Network, directions: Array, edges: Array, source: np.random.Generator, count: int
) -> BinnedOutput:
    """Means over ``count`` inputs in bins along directions [axes, d]."""
    width, bins = len(network.readout), len(edges) - 1
    height = min(chunk_rows(width), count)
    inputs_buffer, chunk_buffer = np.empty((height, directions.shape[1])), np.empty((height, width))
    total, number = np.zeros((len(directions), bins)), np.zeros((len(directions), bins))
    for start in range(0, count, height):
        size = min(height, count - start)
        inputs = inputs_buffer[:size]
        source.standard_normal(out=inputs)
        output = network.outputs(inputs, chunk_buffer[:size])
        for axis, direction in enumerate(directions):
            place = np.searchsorted(edges, overlap(inputs, direction), side="right") - 1
            inside = (place >= 0) & (place < bins)
            total[axis] += np.bincount(place[inside], output[inside], bins)
            number[axis] += np.bincount(place[inside], minlength=bins)
    with np.errstate(invalid="ignore"):
        return BinnedOutput(np.where(number > 0.0, total / np.maximum(number, 1.0), np.nan), number)
