"""Feature matrices, chunk by chunk and in place, and the test error of finished readouts."""

from __future__ import annotations

import math

import numpy as np
from scipy import special
from scipy.linalg import blas

from giantstep.simulate.layer import PIECE, FirstLayer, Streams, labels, overlap, project
from giantstep.simulate.memory import chunk_rows
from giantstep.simulate.order import Overlaps
from giantstep.simulate.system import Array, FiniteSizes, FiniteSystem, Rung, SimulationError


def training_set(
    system: FiniteSystem, sizes: FiniteSizes, what: Rung, layer: FirstLayer, streams: Streams
) -> tuple[Array, Array]:
    """Features phi(x_i) and noisy labels for the largest sample size; shapes (n, p), C order, and (n,).

    The first rows are the training set of every smaller sample size.
    """
    count = max(sizes.samples)
    features, target = np.empty((count, sizes.width_count)), np.empty(count)
    height = min(chunk_rows(sizes.width_count), count)
    buffer = np.empty((height, sizes.dimension))
    for start in range(0, count, height):
        part = slice(start, min(start + height, count))
        inputs = buffer[: part.stop - start]
        streams.inputs.standard_normal(out=inputs)
        project(inputs, layer.rows, features[part])
        _transform(system, sizes, what, features[part], inputs, layer, streams)
        target[part] = labels(system.link, overlap(inputs, layer.theta))
    target += math.sqrt(system.noise) * streams.noise.standard_normal(count)
    if not np.all(np.isfinite(target)):
        raise SimulationError("the link returned a value that is not finite; it must be finite on all of R")
    return features, target


def sampled_test_error(
    system: FiniteSystem, sizes: FiniteSizes, layer: FirstLayer, readouts: Array, count: int, streams: Streams
) -> tuple[Array, Array]:
    """Mean of (y_clean - f)^2 over `count` fresh inputs and its standard error, each of shape (readouts,).

    readouts[p, R] in Fortran order. For the rungs with a true activation; nothing but the chunk is kept in
    memory.
    """
    width = sizes.width_count
    height = min(chunk_rows(width), count)
    inputs_buffer, chunk_buffer = np.empty((height, sizes.dimension)), np.empty((height, width))
    first, second = np.zeros(readouts.shape[1]), np.zeros(readouts.shape[1])
    for start in range(0, count, height):
        size = min(height, count - start)
        inputs, chunk = inputs_buffer[:size], chunk_buffer[:size]
        streams.test.standard_normal(out=inputs)
        project(inputs, layer.rows, chunk)
        _activate(system, chunk)
        square = blas.dgemm(1.0 / math.sqrt(width), readouts, chunk.T, trans_a=1)
        square -= labels(system.link, overlap(inputs, layer.theta))
        square *= square
        first += square.sum(axis=1)
        second += np.einsum("ri,ri->r", square, square)
    return _mean_error(first, second, count)


def conditional_test_error(
    system: FiniteSystem, layer: FirstLayer, overlaps: Overlaps, count: int, streams: Streams
) -> tuple[Array, Array]:
    """The same for the rung "gaussian", where f given (kappa, t) is a Gaussian variable known exactly.

    Its mean is sum_b mu0_b m_b + mu1_b (kappa zeta_b + psi_b t) and its variance sum mu1 mu1' (Q1 - psi
    psi') + sum mu2^2 Q2 in the measured overlaps of this readout, so only (kappa, t) is sampled (each
    stratified): unbiased, at no cost.
    Source: THEORY of the conditional equivalence, [CUI24] Result 3.2.
    """
    kappa = special.ndtri((np.arange(count) + streams.test.random(count)) / count)
    other = special.ndtri((streams.test.permutation(count) + streams.test.random(count)) / count)
    gamma = layer.alignment
    clean = labels(system.link, gamma * kappa + math.sqrt(max(0.0, 1.0 - gamma * gamma)) * other)
    mu0, mu1, mu2 = coefficients_at(system, kappa)
    gain0, gain2 = mu1 @ mu1.T / count, np.mean(mu2 * mu2, axis=1)
    first, second = np.empty(overlaps.m.shape[0]), np.empty(overlaps.m.shape[0])
    for index in range(first.size):
        psi = overlaps.psi[index]
        spread = np.sum(gain0 * (overlaps.Q1[index] - np.outer(psi, psi))) + gain2 @ overlaps.Q2[index]
        mean = overlaps.m[index] @ mu0 + kappa * (overlaps.zeta[index] @ mu1) + other * (psi @ mu1)
        square = (clean - mean) ** 2 + spread
        first[index], second[index] = np.sum(square), np.sum(square * square)
    return _mean_error(first, second, count)


def coefficients_at(system: FiniteSystem, kappa: Array) -> tuple[Array, Array, Array]:
    """The caller's (mu0, mu1, mu2)(kappa), each checked to be finite and of shape (K, n)."""
    assert system.coefficients is not None
    shape = (len(system.values), kappa.size)
    found = tuple(np.asarray(array, dtype=np.float64) for array in system.coefficients(kappa))
    if len(found) != 3 or any(array.shape != shape for array in found):
        raise SimulationError(
            f"coefficients(kappa) must return three arrays of shape (blocks, points) = {shape}, "
            f"got shapes {[array.shape for array in found]}"
        )
    if not all(np.all(np.isfinite(array)) for array in found):
        raise SimulationError(
            "coefficients(kappa) returned a value that is not finite; it must be finite on all of R"
        )
    return found[0], found[1], found[2]


def _transform(
    system: FiniteSystem,
    sizes: FiniteSizes,
    what: Rung,
    chunk: Array,
    inputs: Array,
    layer: FirstLayer,
    streams: Streams,
) -> None:
    if what == "gaussian":
        _equivalent(system, sizes, chunk, overlap(inputs, layer.spike), streams)
    else:
        _activate(system, chunk)


def _activate(system: FiniteSystem, chunk: Array) -> None:
    """Pre-activations to features, in place."""
    height = max(1, PIECE // chunk.shape[1])
    for start in range(0, chunk.shape[0], height):
        piece = chunk[start : start + height]
        if system.bias != 0.0:
            piece += system.bias
        piece[...] = system.activation(piece)[0]
        if not math.isfinite(float(np.sum(piece))):
            raise SimulationError(
                "the activation returned a value that is not finite; it must be finite on all of R"
            )


def _equivalent(
    system: FiniteSystem, sizes: FiniteSizes, chunk: Array, kappa: Array, streams: Streams
) -> None:
    """w.x to mu0_b(kappa) + mu1_b(kappa) w.x + mu2_b(kappa) xi, in place."""
    mu0, mu1, mu2 = coefficients_at(system, kappa)
    height = max(1, PIECE // chunk.shape[1])
    for start in range(0, chunk.shape[0], height):
        rows = slice(start, min(start + height, chunk.shape[0]))
        extra = streams.features.standard_normal((rows.stop - start, chunk.shape[1]))
        for block, part in enumerate(sizes.block_slices()):
            piece = chunk[rows, part]
            piece *= mu1[block, rows, None]
            piece += mu0[block, rows, None]
            extra[:, part] *= mu2[block, rows, None]
        chunk[rows] += extra


def _mean_error(first: Array, second: Array, count: int) -> tuple[Array, Array]:
    mean = first / count
    variance = np.maximum(second / count - mean * mean, 0.0)
    return mean, np.sqrt(variance / max(count - 1, 1))
