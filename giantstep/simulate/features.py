"""Feature matrices, chunk by chunk and in place, and the test error of finished readouts."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import special
from scipy.linalg import blas

from giantstep.simulate.errors import Array, SimulationError
from giantstep.simulate.labels import clean_labels, noisy_labels
from giantstep.simulate.layer import PIECE, FirstLayer, Streams, project
from giantstep.simulate.memory import chunk_rows
from giantstep.simulate.order import Overlaps
from giantstep.simulate.system import FiniteSizes, FiniteSystem, SystemKind


class Tested(NamedTuple):
    """Of R readouts: the test error and its standard error [R], averages of the metrics [M, R]."""

    error: Array
    sampling: Array
    metrics: Array


def training_set(
    system: FiniteSystem, sizes: FiniteSizes, what: SystemKind, layer: FirstLayer, streams: Streams
) -> tuple[Array, Array]:
    """Features phi(x_i) and labels for the largest sample size; shapes (n, p), C order, and (n,).

    The first rows are the training set of every smaller sample size. Where the bias is trained these are the
    pre-activations w.x instead: the features depend on it.
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
        if what == "gaussian":
            _equivalent(system, sizes, features[part], layer, layer.kappa_of(inputs), streams)
        elif not system.trained_bias:
            activate(system, features[part], system.bias)
        target[part] = noisy_labels(system, layer.indices_of(inputs), streams.labels)
    return features, target


def sampled_test_error(
    system: FiniteSystem,
    sizes: FiniteSizes,
    layer: FirstLayer,
    readouts: Array,
    biases: Array,
    count: int,
    streams: Streams,
) -> Tested:
    """Test error over `count` fresh inputs, its standard error, and the metrics.

    Mean of (f_* - f)^2, of that of the mean label predicted, or of f_* f < 0 for a loss of the margin, f = 0 by half.
    readouts[p, R] in Fortran
    order, each with its own bias. For the systems with a true activation; nothing but the chunk is kept in memory.
    """
    width = sizes.width_count
    height = min(chunk_rows(width), count)
    inputs_buffer, chunk_buffer = np.empty((height, sizes.dimension)), np.empty((height, width))
    first, second = np.zeros(readouts.shape[1]), np.zeros(readouts.shape[1])
    metrics, distinct = np.zeros((len(system.metrics), readouts.shape[1])), np.unique(biases)
    for start in range(0, count, height):
        size = min(height, count - start)
        inputs, chunk = inputs_buffer[:size], chunk_buffer[:size]
        streams.test.standard_normal(out=inputs)
        points = layer.indices_of(inputs)
        clean = clean_labels(system, points)
        noisy = noisy_labels(system, points, streams.test_labels) if system.metrics else clean
        project(inputs, layer.rows, chunk)
        for bias in distinct:
            own = biases == bias
            features = chunk.copy() if distinct.size > 1 else chunk
            activate(system, features, float(bias))
            output = blas.dgemm(1.0 / math.sqrt(width), readouts[:, own], features.T, trans_a=1)
            error = _errors(system, clean, output)
            first[own] += error.sum(axis=1)
            second[own] += np.einsum("ri,ri->r", error, error)
            for number, metric in enumerate(system.metrics):
                metrics[number, own] += metric(noisy, output).sum(axis=1)
    return Tested(*_mean_error(first, second, count), metrics / count)


def conditional_test_error(
    system: FiniteSystem, layer: FirstLayer, overlaps: Overlaps, count: int, streams: Streams
) -> Tested:
    """The same for the system "gaussian", where f given (kappa, t) is a Gaussian variable known exactly.

    Its mean is sum_b mu0_b m_b + mu_c_b o_b + mu1_b (kappa zeta_b + psi_b.t) and its variance sum mu1 mu1' (Q1 - psi
    psi') + sum mu2^2 Q2 in the measured overlaps of this readout, so only (kappa, t) is sampled, and f where the test
    error is no squared error of it (each stratified): unbiased, at no cost.
    Source: THEORY of the conditional equivalence, [CUI24] Result 3.2.
    """
    kappa = special.ndtri((np.arange(count) + streams.test.random(count)) / count)
    if system.rank > 1 or layer.spike.ndim > 1:
        more = [
            special.ndtri((streams.test.permutation(count) + streams.test.random(count)) / count)
            for _ in range(system.rank - 1)
        ]
        kappa = np.stack([kappa, *more])
    others = np.stack(
        [
            special.ndtri((streams.test.permutation(count) + streams.test.random(count)) / count)
            for _ in range(system.indices)
        ]
    )
    points = np.atleast_2d(layer.alignment).T @ np.atleast_2d(kappa) + layer.perpendicular()[1] @ others
    clean = clean_labels(system, points)
    noise = None
    if system.predicts is not None:
        noise = special.ndtri((streams.test.permutation(count) + streams.test.random(count)) / count)
    mu0, mu1, mu2, mu_c = coefficients_at(system, kappa)
    first, second = np.empty(overlaps.m.shape[0]), np.empty(overlaps.m.shape[0])
    for index in range(first.size):
        psi = overlaps.psi[index].reshape(mu0.shape[0], -1)
        coupled = (overlaps.Q1[index] - psi @ psi.T) @ mu1
        spread = np.einsum("bn,bn->n", mu1, coupled) + overlaps.Q2[index] @ (mu2 * mu2)
        zeta = overlaps.zeta[index].reshape(mu0.shape[0], -1)
        mean = (
            overlaps.m[index] @ mu0
            + overlaps.norm[index] @ mu_c
            + np.einsum("bq,qn,bn->n", zeta, np.atleast_2d(kappa), mu1)
        )
        mean += np.einsum("bi,bn,in->n", psi, mu1, others)
        if system.classifies:
            error = special.ndtr(-clean * mean / np.sqrt(np.maximum(spread, np.finfo(float).tiny)))
        elif noise is not None:
            error = _errors(system, clean, mean + np.sqrt(np.maximum(spread, 0.0)) * noise)
        else:
            # the average of the variance: less noise than its values at the points
            error = (clean - mean) ** 2 + np.mean(spread)
        first[index], second[index] = np.sum(error), np.sum(error * error)
    return Tested(*_mean_error(first, second, count), np.empty((0, first.size)))


def coefficients_at(system: FiniteSystem, kappa: Array) -> tuple[Array, Array, Array, Array]:
    """The caller's (mu0, mu1, mu2, mu_c)(kappa), each checked to be finite and of shape (K, n)."""
    assert system.coefficients is not None
    shape = (len(system.values), kappa.shape[-1])
    found = tuple(np.asarray(array, dtype=np.float64) for array in system.coefficients(kappa))
    if len(found) != 4 or any(array.shape != shape for array in found):
        raise SimulationError(
            f"coefficients(kappa) must return four arrays of shape (blocks, points) = {shape}, "
            f"got shapes {[array.shape for array in found]}"
        )
    if not all(np.all(np.isfinite(array)) for array in found):
        raise SimulationError("coefficients(kappa) returned a value that is not finite; it must be finite on all of R")
    return found[0], found[1], found[2], found[3]


def activate(system: FiniteSystem, chunk: Array, bias: float) -> None:
    """Pre-activations to features, in place."""
    height, biases = max(1, PIECE // chunk.shape[1]), system.neuron_biases(chunk.shape[1], bias)
    for start in range(0, chunk.shape[0], height):
        piece = chunk[start : start + height]
        if np.any(biases):
            piece += biases
        piece[...] = system.activated(piece)
        if not math.isfinite(float(np.sum(piece))):
            raise SimulationError("the activation returned a value that is not finite; it must be finite on all of R")


def _errors(system: FiniteSystem, clean: Array, output: Array) -> Array:
    """Squared or classification errors of outputs[R, n]; f = 0, of relus none of which is active, counts half."""
    if system.classifies:
        return 0.5 - 0.5 * np.sign(output * clean)
    predicted = output if system.predicts is None else system.predicts(output)
    return (predicted - clean) ** 2


def _equivalent(
    system: FiniteSystem, sizes: FiniteSizes, chunk: Array, layer: FirstLayer, kappa: Array, streams: Streams
) -> None:
    """w.x to mu0_b(kappa) + mu_c_b(kappa) (|w|^2 - 1) + mu1_b(kappa) w.x + mu2_b(kappa) xi, in place."""
    mu0, mu1, mu2, mu_c = coefficients_at(system, kappa)
    beyond = np.einsum("kd,kd->k", layer.rows, layer.rows) - 1.0
    height = max(1, PIECE // chunk.shape[1])
    for start in range(0, chunk.shape[0], height):
        rows = slice(start, min(start + height, chunk.shape[0]))
        extra = streams.features.standard_normal((rows.stop - start, chunk.shape[1]))
        for block, part in enumerate(sizes.block_slices()):
            piece = chunk[rows, part]
            piece *= mu1[block, rows, None]
            piece += mu0[block, rows, None] + mu_c[block, rows, None] * beyond[part]
            extra[:, part] *= mu2[block, rows, None]
        chunk[rows] += extra


def _mean_error(first: Array, second: Array, count: int) -> tuple[Array, Array]:
    mean = first / count
    variance = np.maximum(second / count - mean * mean, 0.0)
    return mean, np.sqrt(variance / max(count - 1, 1))
