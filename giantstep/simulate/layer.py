"""The first layer of each system: after a giant gradient step, of a spiked random-feature model, or plain."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from giantstep.simulate.errors import Array
from giantstep.simulate.labels import LabelStreams, noisy_labels
from giantstep.simulate.memory import chunk_rows
from giantstep.simulate.system import FiniteSizes, FiniteSystem, SystemKind

# pre-activations are transformed in pieces that stay in the processor's cache
PIECE = 1 << 15


@dataclass(frozen=True)
class Streams:
    """One independent random stream per use, so that one draw never depends on the size of another."""

    layer: np.random.Generator
    direction: np.random.Generator
    batch: np.random.Generator
    batch_labels: LabelStreams
    inputs: np.random.Generator
    labels: LabelStreams
    features: np.random.Generator
    test: np.random.Generator

    @classmethod
    def spawn(cls, sequence: np.random.SeedSequence) -> Streams:
        """The streams of one seed."""
        made = [np.random.default_rng(child) for child in sequence.spawn(12)]
        layer, direction, batch, batch_noise, inputs, noise, features, test = made[:8]
        return cls(
            layer,
            direction,
            batch,
            LabelStreams(batch_noise, *made[8:10]),
            inputs,
            LabelStreams(noise, *made[10:]),
            features,
            test,
        )


@dataclass(frozen=True)
class FirstLayer:
    """Rows u_b r v + sqrt(c_b) w_k, w_k of (about) unit norm, and the directions they are measured against.

    rows[p, d], C order. theta[indices, d]: the orthonormal directions of the target; spike[d]: v; strength r,
    alignment[indices] = <v, theta_i> and variances[K] c_b are imposed ("srf"), absent from the rows (r = 0, c = 1:
    "gaussian") or measured ("network"). A spike of rank q: spike[q, d], alignment[q, indices], and loadings[K, q] in
    place of u_b r, where the rows have them.
    """

    rows: Array
    theta: Array
    spike: Array
    strength: float
    alignment: Array
    variances: Array
    loadings: Array | None = None

    def mean_row(self, block: int, value: float) -> Array:
        """What all rows of a block of readout value u have in common, [d]."""
        own = self.strength * value if self.loadings is None else self.loadings[block]
        along: Array = np.atleast_1d(own) @ np.atleast_2d(self.spike)
        return along

    def kappa_of(self, inputs: Array) -> Array:
        """kappa of inputs[n, d]: v.x, shape (n,), or (q, n) for a spike of rank q."""
        if self.spike.ndim == 1:
            return overlap(inputs, self.spike)
        return np.stack([overlap(inputs, direction) for direction in self.spike])

    def perpendicular(self) -> tuple[Array, Array]:
        """Orthonormal directions e[indices, d] beside v and L lower triangular: theta = gamma v + L e, L_ii >= 0.

        L L^T = 1 - gamma gamma^T. Rows of e are zero where the span has fewer dimensions.
        """
        rest = self.theta - np.atleast_2d(self.alignment).T @ np.atleast_2d(self.spike)
        directions, mixing = np.zeros_like(rest), np.zeros((len(rest), len(rest)))
        for index, row in enumerate(rest):
            mixing[index, :index] = directions[:index] @ row
            left = row - mixing[index, :index] @ directions[:index]
            norm = float(np.linalg.norm(left))
            if norm > 1e-7:
                mixing[index, index], directions[index] = norm, left / norm
        return directions, mixing

    def indices_of(self, inputs: Array) -> Array:
        """z_i = theta_i.x of inputs[n, d], shape (indices, n)."""
        return np.stack([overlap(inputs, direction) for direction in self.theta])


def draw_layer(system: FiniteSystem, sizes: FiniteSizes, what: SystemKind, streams: Streams) -> FirstLayer:
    """Draw the first layer of one seed, in whitened inputs. Source: [CUI24] section 2 and Result 3.1."""
    rows = (gaussian_rows if system.gaussian_rows else sphere_rows)(streams.layer, sizes.width_count, sizes.dimension)
    theta = _target_directions(system, sizes, streams)
    if what == "network":
        scales = None if system.inputs is None else system.inputs.at(system.inputs.eigenvalues, sizes.dimension)
        if scales is not None:
            rows *= np.sqrt(scales)
        if sizes.step_samples is not None:
            return _after_step(system, sizes, (rows, theta, scales), streams)
    blocks = len(system.values)
    strength, _, variances = system.spike or (0.0, 1.0, (1.0,) * blocks)
    alignment = np.array(system.alignments, dtype=np.float64)
    if what != "network":
        rows = _around_spike(system, sizes, rows)
    if system.loadings is not None:
        return _of_several(system, sizes, what, rows, theta, streams)
    spike = _spike_direction(system, sizes, theta, alignment, streams.direction)
    if what != "srf":
        return FirstLayer(rows, theta, spike, 0.0, alignment, np.ones(blocks))
    for part, value, variance in zip(sizes.block_slices(), system.values, variances, strict=True):
        rows[part] *= math.sqrt(variance)
        rows[part] += (value * strength) * spike
    return FirstLayer(rows, theta, spike, strength, alignment, np.array(variances, dtype=np.float64))


def _target_directions(system: FiniteSystem, sizes: FiniteSizes, streams: Streams) -> Array:
    """Orthonormal directions theta [indices, d]: those of the inputs, those given, or drawn."""
    if system.inputs is not None:
        return system.inputs.directions(system.indices, sizes.dimension)
    if system.given is not None and system.given.target is not None:
        return system.given.target.copy()
    return _orthonormal(streams.direction, system.indices, sizes.dimension)


def _spike_direction(
    system: FiniteSystem, sizes: FiniteSizes, theta: Array, alignment: Array, generator: np.random.Generator
) -> Array:
    """v as given, along the modes of the inputs, or anywhere at its alignment."""
    if system.given is not None and system.given.spike is not None:
        return system.given.spike.copy()
    drawn = _unit(generator.standard_normal(sizes.dimension))
    if system.inputs is not None and system.inputs.spike is not None:
        along, random = system.inputs.spike
        drawn *= system.inputs.at(random, sizes.dimension)
        for part, direction in zip(along, theta, strict=True):
            drawn += system.inputs.at(part, sizes.dimension) * direction
    return _direction_at(theta, alignment, drawn)


def _around_spike(system: FiniteSystem, sizes: FiniteSizes, rows: Array) -> Array:
    """Rows of mean square norm one around the spike: those given, or these with the covariance of their block."""
    if system.given is not None:
        return system.given.rows.copy()
    if system.inputs is not None:
        for part, covariance in zip(sizes.block_slices(), system.inputs.covariances, strict=True):
            rows[part] *= np.sqrt(system.inputs.at(covariance, sizes.dimension))
    return rows


def _of_several(
    system: FiniteSystem, sizes: FiniteSizes, what: SystemKind, rows: Array, theta: Array, streams: Streams
) -> FirstLayer:
    """Rows sum_j L_bj v_j + sqrt(c_b) w of a spike of rank q, in place."""
    assert system.loadings is not None and system.overlaps is not None and system.spike is not None
    loadings, alignment = np.array(system.loadings), np.array(system.overlaps)
    spike = _directions_at(theta, alignment, streams.direction)
    if what != "srf":
        blocks = len(loadings)
        return FirstLayer(rows, theta, spike, 0.0, alignment, np.ones(blocks), np.zeros(loadings.shape))
    strength, _, variances = system.spike
    layer = FirstLayer(rows, theta, spike, strength, alignment, np.array(variances, dtype=np.float64), loadings)
    for block, part in enumerate(sizes.block_slices()):
        rows[part] *= math.sqrt(variances[block])
        rows[part] += layer.mean_row(block, system.values[block])
    return layer


def gaussian_rows(generator: np.random.Generator, count: int, dimension: int) -> Array:
    """Rows of independent normal entries of variance 1/dimension; shape (count, dimension)."""
    return generator.standard_normal((count, dimension)) / math.sqrt(dimension)


def sphere_rows(generator: np.random.Generator, count: int, dimension: int) -> Array:
    """Rows uniform on the unit sphere; shape (count, dimension)."""
    rows = generator.standard_normal((count, dimension))
    rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return rows


def neuron_values(system: FiniteSystem, sizes: FiniteSizes) -> Array:
    """u_k of every neuron, shape (p,): a0_k = u_k / sqrt p."""
    return np.repeat(np.array(system.values, dtype=np.float64), sizes.blocks)


def overlap(inputs: Array, direction: Array) -> Array:
    """inputs[n, d] . direction[d]; not numpy's `@`, whose threads compete with those of scipy's BLAS."""
    found: Array = np.einsum("id,d->i", inputs, direction)
    return found


def project(inputs: Array, rows: Array, out: Array) -> None:
    """out[n, p] = inputs[n, d] rows[p, d]^T, in place; all in C order."""
    # the transposes are in Fortran order, so BLAS reads and writes the arrays themselves
    blas.dgemm(1.0, rows.T, inputs.T, trans_a=1, c=out.T, overwrite_c=1)


def _after_step(
    system: FiniteSystem, sizes: FiniteSizes, start: tuple[Array, Array, Array | None], streams: Streams
) -> FirstLayer:
    """One gradient step from the rows of ``start`` = (rows, theta, eigenvalues of the inputs), in place, and its spike.

    W1 = W0 + (eta/(n0 p)) diag(u) (sigma'(Z) * e)^T X. The spike is the part with sigma' replaced by its
    mean: r v = (A mean sigma') (1/n0) X^T e with A = eta_tilde/beta. In whitened inputs each side of W1 has a factor
    Sigma_in^(1/2): what the step adds is multiplied by Sigma_in.
    """
    rows, theta, scales = start
    assert sizes.step_samples is not None and system.step is not None
    values = neuron_values(system, sizes)
    scale = system.step[1] / (sizes.beta * sizes.step_samples)
    update, pull, slope = step_direction(system, sizes, rows, theta, values, streams)
    if scales is not None:
        update *= scales
        pull *= scales
    for part, value in zip(sizes.block_slices(), system.values, strict=True):
        update[part] *= scale * value
    rows += update
    del update
    norm = float(np.linalg.norm(pull))
    spike = pull / norm if norm > 0.0 else theta[0]
    strength = scale * slope * norm
    variances = []
    for part, value in zip(sizes.block_slices(), system.values, strict=True):
        block = rows[part]
        square = np.einsum("ij,ij->i", block, block) - 2.0 * value * strength * (block @ spike)
        variances.append(float(np.mean(square)) + (value * strength) ** 2)
    return FirstLayer(rows, theta, spike, strength, theta @ spike, np.array(variances))


def step_direction(
    system: FiniteSystem, sizes: FiniteSizes, rows: Array, theta: Array, values: Array, streams: Streams
) -> tuple[Array, Array, float]:
    """Sums over the batch of the gradient step: sum_i e_i sigma'(z_ik) x_i (p, d), sum_i e_i x_i (d,), mean
    sigma'.

    e = y - f is the residual of the untrained network; minus the gradient of (1/2 n0) sum e^2 in w_k is the
    first sum times u_k/(n0 p).
    """
    assert sizes.step_samples is not None
    count, width, dimension = sizes.step_samples, sizes.width_count, sizes.dimension
    update, pull, slope = np.zeros(rows.shape), np.zeros(dimension), 0.0
    height = min(chunk_rows(width), count)
    inputs_buffer, chunk_buffer = np.empty((height, dimension)), np.empty((height, width))
    for start in range(0, count, height):
        size = min(height, count - start)
        inputs, chunk = inputs_buffer[:size], chunk_buffer[:size]
        streams.batch.standard_normal(out=inputs)
        points = np.stack([overlap(inputs, direction) for direction in theta])
        target = noisy_labels(system, points, streams.batch_labels)
        project(inputs, rows, chunk)
        residual, slopes = _residual_slopes(system, chunk, target, values)
        slope += slopes
        pull += blas.dgemv(1.0, inputs.T, residual)
        blas.dgemm(1.0, inputs.T, chunk.T, trans_b=1, beta=1.0, c=update.T, overwrite_c=1)
    return update, pull, slope / (count * width)


def _residual_slopes(system: FiniteSystem, chunk: Array, target: Array, values: Array) -> tuple[Array, float]:
    """Turn pre-activations into e_i sigma'(z_ik), in place; returns e and the sum of sigma'."""
    count, width = chunk.shape
    residual, slopes = np.empty(count), 0.0
    height = max(1, PIECE // width)
    for start in range(0, count, height):
        part = slice(start, min(start + height, count))
        piece = chunk[part]
        piece += system.bias
        value, derivative = system.activation(piece)
        residual[part] = target[part] - overlap(value, values) / width
        slopes += float(np.sum(derivative))
        np.multiply(derivative, residual[part, None], out=piece)
    return residual, slopes


def _orthonormal(generator: np.random.Generator, count: int, dimension: int) -> Array:
    """Orthonormal directions, uniform, shape (count, dimension)."""
    rows: list[Array] = []
    for _ in range(count):
        found = np.array(rows, dtype=np.float64).reshape(-1, dimension)
        rows.append(_beside(found, generator.standard_normal(dimension)))
    return np.array(rows)


def _direction_at(theta: Array, alignment: Array, other: Array) -> Array:
    """Unit vector v with v.theta_i = alignment_i to rounding, otherwise along another vector."""
    rest = math.sqrt(max(0.0, 1.0 - float(alignment @ alignment)))
    inside: Array = np.einsum("i,id->d", alignment, theta)
    return inside + rest * _beside(theta, other) if rest > 0.0 else _unit(inside)


def _directions_at(theta: Array, alignment: Array, generator: np.random.Generator) -> Array:
    """Orthonormal v[q, d] with v_j.theta_i = alignment[j, i], otherwise uniform."""
    beside: list[Array] = []
    for _ in range(len(alignment)):
        known = np.concatenate([theta, np.array(beside, dtype=np.float64).reshape(-1, theta.shape[1])])
        beside.append(_beside(known, generator.standard_normal(theta.shape[1:])))
    sizes, basis = np.linalg.eigh(np.eye(len(alignment)) - alignment @ alignment.T)
    root = (basis * np.sqrt(np.maximum(sizes, 0.0))) @ basis.T
    spike: Array = alignment @ theta + root @ np.array(beside)
    return spike


def _beside(rows: Array, vector: Array) -> Array:
    """The unit vector along the part of a vector that is orthogonal to orthonormal rows."""
    # twice: the first projection leaves a component of rounding size times the length of the vector
    for _ in range(2):
        vector = _unit(vector - np.einsum("i,id->d", rows @ vector, rows))
    return vector


def _unit(vector: Array) -> Array:
    unit: Array = vector / float(np.linalg.norm(vector))
    return unit
