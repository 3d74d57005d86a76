"""Structured inputs by definition: rows, spike and target as explicit vectors over the eigenvalues of the inputs.

Source: docs/theory.md, section 10.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from derive.directions import weight_name
from giantstep.spec.model import Model
from giantstep.verify.conditional_law import rest_of_target
from giantstep.verify.giant_step import Rows, along_the_target, first_step_moments, gained, given_spike

Array = np.ndarray
_NOTHING = 1e-7  # of a unit vector: what is left of it beside others is rounding


@dataclass(frozen=True)
class InputSpectrum:
    """The rows, and the arrays that the equations of the spectrum are about, by name."""

    rows: Rows
    arrays: Mapping[str, Array]


def input_spectrum(model: Model) -> InputSpectrum:
    """Of a model with [inputs]. Raises NotEvaluable."""
    assert model.inputs is not None
    x, trace, products = model.inputs.spectrum(model.target.indices)
    sizes, basis = np.linalg.eigh(np.moveaxis(products, -1, 0))
    theta = np.moveaxis(basis * np.sqrt(np.maximum(sizes, 0.0))[:, None], 0, -1)  # [m, m, J]
    if model.earlier_steps or model.step is not None and model.network.readout.biases is not None:
        loadings, v, covariance = _after_steps(model, x, trace, theta)
    elif model.step is not None:
        loadings, v, covariance = _after_step(model, x, trace, theta)
    else:
        loadings, v, covariance = _given(model, x, trace, theta)
    spikes, indices = v.shape[0], len(theta)
    theta = np.concatenate([theta, np.zeros((indices, v.shape[1] - indices, len(x)))], axis=1)
    overlaps = np.einsum("qaj,maj->qm", v, theta)
    mean = covariance @ trace
    arrays = {"Sigma": covariance / mean[:, None], "law_tr": trace}
    radial = 1.0 if model.network.initialisation == "gaussian" else 0.0
    squares = arrays["Sigma"] ** 2 @ trace  # |Sigma^(1/2) w|^2 of a unit or a Gaussian vector w
    arrays["chi"] = 2.0 * (squares - (1.0 - radial))
    units = np.concatenate([v, _beside(theta, v, overlaps)])
    for i in range(spikes + indices):
        for j in range(i, spikes + indices):
            arrays[weight_name(i, j, spikes, indices)] = (units[i] * units[j]).sum(axis=0)
    return InputSpectrum(Rows(loadings, overlaps, mean), arrays)


def _after_step(model: Model, x: Array, trace: Array, theta: Array) -> tuple[Array, Array, Array]:
    """Loadings [K, 1], the spike [1, m + 1, J] and covariances [K, J] of rows after a step."""
    step, moments = model.step, first_step_moments(model.network, model.target)
    assert step is not None
    rate, values = step.learning_rate / model.network.width, np.array(model.network.readout.values)
    spread = moments.square / step.samples
    push = x * np.concatenate([np.einsum("i,iaj->aj", moments.linear, theta), np.sqrt(spread * trace)[None]])
    length = float(np.sqrt((push**2).sum()))
    strength, sign = rate * moments.mu1 * length, -1.0 if rate * moments.mu1 < 0.0 else 1.0
    by = rate * values[:, None]
    rows = x * (1.0 + by * moments.mean * moments.bend * x) ** 2 + by**2 * spread * moments.spread * x**2
    if strength == 0.0:
        return np.zeros((len(values), 1)), _without_direction(1, theta, trace), rows
    return values[:, None] * sign * strength, sign * (push / length)[None], rows


def _after_steps(model: Model, x: Array, trace: Array, theta: Array) -> tuple[Array, Array, Array]:
    """Loadings [K, q], the spike [q, m + r, J] and covariances [K, J] of rows after several steps.

    Rows before them have no mean; every batch adds directions of its own.
    """
    blocks, m = len(model.network.readout.values), len(theta)
    loadings, v, covariance = np.zeros((blocks, 0)), np.zeros((0, m, len(x))), np.tile(x, (blocks, 1))
    for step in model.steps:
        overlaps, target = np.einsum("qaj,maj->qm", v, theta), model.target
        gain = gained(model.network, Rows(loadings, overlaps, covariance @ trace), step, target)
        along = np.einsum("bq,qaj->baj", gain.along, v)
        along += np.einsum("bi,iaj->baj", gain.across, _beside(theta, v, overlaps))
        noise = gain.common[:, :, None] * np.sqrt(trace)
        means = np.concatenate([np.einsum("bq,qaj->baj", loadings, v) + x * along, x * noise], axis=1)
        covariance = covariance * (1.0 + gain.drift[:, None] * x) ** 2 + gain.spread[:, None] * x**2
        theta = np.concatenate([theta, np.zeros((m, *noise.shape[1:]))], axis=1)
        basis, coordinates = np.linalg.qr(means.reshape(blocks, -1).T)
        turned = along_the_target(coordinates.T, basis.T @ theta.reshape(m, -1).T, covariance @ trace)
        loadings = turned.loadings
        v = (np.linalg.pinv(loadings) @ means.reshape(blocks, -1)).reshape(-1, *means.shape[1:])
    if not len(v):
        return np.zeros((blocks, 1)), _without_direction(1, theta[:, :m], trace), covariance
    return loadings, v, covariance


def _given(model: Model, x: Array, trace: Array, theta: Array) -> tuple[Array, Array, Array]:
    """The same for a spike that is given, or none: its directions are without direction beside the target."""
    values = np.array(model.network.readout.values)
    variances = np.ones(len(values))
    rows = Rows(np.zeros((len(values), 0)), np.zeros((0, len(theta))), variances)
    if model.spike is not None:
        rows = along_the_target(*given_spike(model))
    covariance = rows.variances[:, None] * x
    if rows.rank == 0:
        return np.zeros((len(values), 1)), _without_direction(1, theta, trace), covariance
    v = _without_direction(rows.rank, theta, trace)
    left = rest_of_target(rows.overlaps.T)  # a root of 1 - gamma gamma^T
    v = np.einsum("qr,raj->qaj", left, v)
    v[:, : len(theta)] += np.einsum("qi,iaj->qaj", rows.overlaps, theta)
    return rows.loadings, v, covariance


def _without_direction(count: int, theta: Array, trace: Array) -> Array:
    """Unit vectors [count, m + count, J] along axes of their own."""
    found = np.zeros((count, len(theta) + count, len(trace)))
    for i in range(count):
        found[i, len(theta) + i] = np.sqrt(trace)
    return found


def _beside(theta: Array, v: Array, overlaps: Array) -> Array:
    """Orthonormal directions of what the v leave of the target; zero where they leave nothing."""
    lower = rest_of_target(overlaps)
    rest = theta - np.einsum("qi,qaj->iaj", overlaps, v)
    found: Array = np.zeros_like(rest)
    for i in range(len(rest)):
        if lower[i, i] > _NOTHING:
            found[i] = (rest[i] - np.einsum("k,kaj->aj", lower[i, :i], found[:i])) / lower[i, i]
    return found
