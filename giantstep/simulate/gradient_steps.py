"""Giant gradient steps of a finite network, each on samples of its own, and the spike that they give its rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from giantstep.simulate.errors import Array
from giantstep.simulate.labels import noisy_labels
from giantstep.simulate.layer import (
    PIECE,
    FirstLayer,
    MeasuredStep,
    Streams,
    block_values,
    neuron_values,
    overlap,
    project,
)
from giantstep.simulate.memory import chunk_rows
from giantstep.simulate.system import FiniteSizes, FiniteSystem


@dataclass(frozen=True)
class StepSums:
    """Sums over the batch of a step: update[p, d] = sum_i e_i sigma'(z_ik) x_i, with the mean over the neurons of each
    block in the place of sigma' pulls[K, d], with one in its place residual[d]; the mean slope sigma'.

    e = y - f is the residual of the network before the step; minus the gradient of (1/2 n0) sum e^2 in w_k is the first
    sum times u_k/(n0 p).
    """

    update: Array
    pulls: Array
    residual: Array
    slope: float


def layer_after_steps(
    system: FiniteSystem, sizes: FiniteSizes, start: tuple[Array, Array, Array | None], streams: Streams
) -> FirstLayer:
    """The steps from the rows of ``start`` = (rows, theta, eigenvalues of the inputs), in place, and their spike.

    W1 = W0 + (eta/(n0 p)) diag(u) (sigma'(Z) * e)^T X. The spike is the part with sigma' replaced by its mean: in the
    first step r v = (A mean sigma') (1/n0) X^T e with A = eta_tilde/beta, in later ones by the mean over the neurons of
    the block, which knows the sample. In whitened inputs each side of W1 has a factor Sigma_in^(1/2): what the step
    adds is multiplied by Sigma_in.
    """
    rows, theta, scales = start
    means, states = np.zeros((len(system.values), sizes.dimension)), []
    values = neuron_values(system, sizes, streams.layer)
    for number in range(len(system.steps)):
        sums = step_sums(system, sizes, (rows, values), theta, streams, number)
        if scales is not None:
            sums.update[:] *= scales
            sums.residual[:] *= scales
            sums.pulls[:] *= scales
        scale = system.steps[number][1] / (sizes.beta * sizes.step_samples[number])
        pulls = sums.pulls if number else np.outer(np.ones(len(means)), sums.slope * sums.residual)
        sums.update[:] *= scale * values[:, None]
        means += scale * np.array(system.values)[:, None] * pulls
        rows += sums.update
        variances = _variances(sizes, rows, means, block_values(system, sizes, values))
        states.append(MeasuredStep(means @ means.T, means @ theta.T, variances))
    if len(states) > 1:  # later steps do not move rows in proportion to values that are drawn
        return _of_several(rows, theta, means, tuple(states) if system.drawn is None else ())
    norm = float(np.linalg.norm(sums.residual))
    spike = sums.residual / norm if norm > 0.0 else theta[0]
    return FirstLayer(
        rows, theta, spike, scale * sums.slope * norm, theta @ spike, states[0].variances, states=tuple(states)
    )


def _of_several(rows: Array, theta: Array, means: Array, states: tuple[MeasuredStep, ...]) -> FirstLayer:
    """The layer with as many directions of the spike as blocks."""
    left, sizes, spike = np.linalg.svd(means, full_matrices=False)
    alignment, variances = spike @ theta.T, states[-1].variances if states else np.ones(len(means))
    return FirstLayer(rows, theta, spike, float(sizes[0]), alignment, variances, left * sizes, states=states)


def _variances(sizes: FiniteSizes, rows: Array, means: Array, shares: Array) -> Array:
    """Mean squared norms of the rows of each block without their mean, of which a row has its share [p]."""
    found = []
    for part, mean in zip(sizes.block_slices(), means, strict=True):
        block, share = rows[part], shares[part]
        square = np.einsum("ij,ij->i", block, block) - 2.0 * share * (block @ mean)
        found.append(float(np.mean(square)) + float(np.mean(share**2)) * float(mean @ mean))
    return np.array(found)


def step_sums(
    system: FiniteSystem,
    sizes: FiniteSizes,
    network: tuple[Array, Array],
    theta: Array,
    streams: Streams,
    number: int = 0,
) -> StepSums:
    """The sums over the batch of a step, counted from zero, for a network of (rows, u_k)."""
    rows, values = network
    count, width, dimension = sizes.step_samples[number], sizes.width_count, sizes.dimension
    sums = StepSums(np.zeros(rows.shape), np.zeros((len(sizes.blocks), dimension)), np.zeros(dimension), 0.0)
    source, noise = streams.batch(system.batch_of(number))
    height, slope = min(chunk_rows(width), count), 0.0
    inputs_buffer, chunk_buffer = np.empty((height, dimension)), np.empty((height, width))
    for start in range(0, count, height):
        size = min(height, count - start)
        inputs, chunk = inputs_buffer[:size], chunk_buffer[:size]
        source.standard_normal(out=inputs)
        points = np.stack([overlap(inputs, direction) for direction in theta])
        target = noisy_labels(system, points, noise)
        project(inputs, rows, chunk)
        residual, slopes = _residual_slopes(system, sizes, values, chunk, target)
        slope += float(np.sum(slopes @ np.array(sizes.blocks)))
        sums.residual[:] += blas.dgemv(1.0, inputs.T, residual)
        sums.pulls[:] += np.einsum("nb,nd->bd", slopes * residual[:, None], inputs)
        blas.dgemm(1.0, inputs.T, chunk.T, trans_b=1, beta=1.0, c=sums.update.T, overwrite_c=1)
    return StepSums(sums.update, sums.pulls, sums.residual, slope / (count * width))


def _residual_slopes(
    system: FiniteSystem, sizes: FiniteSizes, values: Array, chunk: Array, target: Array
) -> tuple[Array, Array]:
    """Turn pre-activations into e_i sigma'(z_ik), in place; returns e and the mean of sigma' over each block [n, K]."""
    count, width = chunk.shape
    blocks, biases = sizes.block_slices(), system.neuron_biases(width, system.bias)
    residual, slopes = np.empty(count), np.empty((count, len(blocks)))
    height = max(1, PIECE // width)
    for start in range(0, count, height):
        part = slice(start, min(start + height, count))
        piece = chunk[part]
        piece += biases
        value, derivative = system.activation(piece)
        residual[part] = target[part] - overlap(value, values) / width
        slopes[part] = np.stack([derivative[:, block].mean(axis=1) for block in blocks], axis=1)
        np.multiply(derivative, residual[part, None], out=piece)
    return residual, slopes
