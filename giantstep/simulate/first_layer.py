"""Drawing the first layer of each system: after giant gradient steps, of a spiked random-feature model, or plain."""

from __future__ import annotations

import math

import numpy as np

from giantstep.simulate.errors import Array
from giantstep.simulate.gradient_steps import layer_after_steps
from giantstep.simulate.layer import FirstLayer, Streams, neuron_values
from giantstep.simulate.surroundings import InputSpectrum
from giantstep.simulate.system import FiniteSizes, FiniteSystem, SystemKind


def draw_layer(system: FiniteSystem, sizes: FiniteSizes, what: SystemKind, streams: Streams) -> FirstLayer:
    """Draw the first layer of one seed, in whitened inputs. Source: [CUI24] section 2 and Result 3.1."""
    rows = (gaussian_rows if system.gaussian_rows else sphere_rows)(streams.layer, sizes.width_count, sizes.dimension)
    theta = _target_directions(system, sizes, streams)
    if what == "network":
        scales = None if system.inputs is None else system.inputs.at(system.inputs.eigenvalues, sizes.dimension)
        if scales is not None:
            rows *= np.sqrt(scales)
        if sizes.step_samples:
            return layer_after_steps(system, sizes, (rows, theta, scales), streams)
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
    values, spread = neuron_values(system, sizes, streams.layer), np.repeat(variances, sizes.blocks)
    if system.drawn is not None:
        spread = system.by_value[0] + system.by_value[1] * values + system.by_value[2] * values**2
    rows *= np.sqrt(spread)[:, None]
    for row, value in zip(rows, strength * values, strict=True):
        row += value * spike
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
    if system.inputs is not None and system.inputs.along is not None:
        (drawn,) = _along_modes(system.inputs, theta, generator)
    else:
        drawn = generator.standard_normal(sizes.dimension)
    return _direction_at(theta, alignment, drawn)


def _along_modes(inputs: InputSpectrum, theta: Array, generator: np.random.Generator) -> Array:
    """Directions of the spike [q, d] as the inputs have them."""
    return inputs.spikes(theta, generator.standard_normal((len(inputs.random[0]), theta.shape[1])))


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
    near = None
    if system.inputs is not None and system.inputs.along is not None:
        near = _along_modes(system.inputs, theta, streams.direction)
    spike = _directions_at(theta, alignment, near, streams.direction)
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


def _directions_at(theta: Array, alignment: Array, near: Array | None, generator: np.random.Generator) -> Array:
    """Orthonormal v[q, d] with v_j.theta_i = alignment[j, i], otherwise nearest to ``near`` [q, d], or uniform."""
    if near is not None:
        left, _, right = np.linalg.svd(_root_of_rest(alignment) @ (near - near @ theta.T @ theta), full_matrices=False)
        return np.asarray(alignment @ theta + _root_of_rest(alignment) @ left @ right)
    beside: list[Array] = []
    for _ in range(len(alignment)):
        known = np.concatenate([theta, np.array(beside, dtype=np.float64).reshape(-1, theta.shape[1])])
        beside.append(_beside(known, generator.standard_normal(theta.shape[1:])))
    spike: Array = alignment @ theta + _root_of_rest(alignment) @ np.array(beside)
    return spike


def _root_of_rest(alignment: Array) -> Array:
    """The root of 1 - alignment alignment^T, [q, q]."""
    sizes, basis = np.linalg.eigh(np.eye(len(alignment)) - alignment @ alignment.T)
    return np.asarray((basis * np.sqrt(np.maximum(sizes, 0.0))) @ basis.T)


def _beside(rows: Array, vector: Array) -> Array:
    """The unit vector along the part of a vector that is orthogonal to orthonormal rows."""
    # twice: the first projection leaves a component of rounding size times the length of the vector
    for _ in range(2):
        vector = _unit(vector - np.einsum("i,id->d", rows @ vector, rows))
    return vector


def _unit(vector: Array) -> Array:
    unit: Array = vector / float(np.linalg.norm(vector))
    return unit
