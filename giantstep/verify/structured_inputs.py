"""Structured inputs: weights and moments of their law against explicit vectors over the modes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from derive.directions import weight_name
from giantstep.law.input_law import input_law
from giantstep.law.spike import spike_of
from giantstep.law.structured_inputs import InputLaw
from giantstep.spec.model import Model
from giantstep.verify.check import Check

Array = np.ndarray
_EXACT = 1e-12
_ROUNDING = 1e-15


def input_checks(model: Model) -> Iterator[Check]:
    """Spike and rest of the target as vectors with components along a few axes in every mode."""
    assert model.inputs is not None
    law, (x, trace, _) = input_law(model), model.inputs.spectrum(model.target.indices)
    target, v = _vectors(model, law)
    spikes, indices = len(v), len(target)
    rows = np.concatenate([v, target]).reshape(spikes + indices, -1)
    basis, triangle = np.linalg.qr(rows.T)  # of the spike first, then what the target has beside it
    basis = basis * np.sign(triangle.diagonal())
    left = float(np.min(triangle.diagonal() ** 2))  # the least of 1 - gamma^2, which knows gamma to rounding
    if left > _EXACT:
        units = basis.T.reshape(spikes + indices, *v.shape[1:])
        wanted = np.einsum("iax,jax->ijx", units, units)
        names = {(i, j): weight_name(i, j, spikes, indices) for j in range(len(units)) for i in range(j + 1)}
        gap = max(float(np.max(np.abs(law.weights[name] - wanted[pair]))) for pair, name in names.items())
        yield Check("weights of spike and target over the inputs' spectrum", gap, _EXACT + _ROUNDING / left)
    products = rows @ rows.T - np.eye(len(rows))
    products[:spikes, spikes:] -= law.overlaps
    products[spikes:, :spikes] -= law.overlaps.T
    if model.step is not None and spikes == 1:
        products[0, spikes:] += law.overlaps[0] - spike_of(model).alignments
    lengths = [float(np.max(np.abs(products))), abs(float(trace @ x) - 1.0)]
    yield Check("length and alignment of the spike, mean of the inputs' spectrum", max(lengths), _EXACT)
    mean = law.covariance @ trace
    yield Check("mean square norm of the rows around the spike", float(np.max(np.abs(mean - 1.0))), _EXACT)


def _vectors(model: Model, law: InputLaw) -> tuple[Array, Array]:
    """Directions of target [m, m + q, J] and spike [q, m + q, J]: along axes of which the last q are without direction.

    In every mode those of the target have the products that the model says.
    """
    assert model.inputs is not None
    spikes, indices, modes = law.along.shape
    _, trace, theta = model.inputs.spectrum(indices)
    sizes, basis = np.linalg.eigh(np.moveaxis(theta, -1, 0))
    root = np.moveaxis(basis * np.sqrt(np.maximum(sizes, 0.0))[:, None], 0, -1)
    target = np.concatenate([root, np.zeros((indices, spikes, modes))], axis=1)
    v = np.einsum("eix,iax->eax", law.along, target)
    v[:, indices:] += law.random * np.sqrt(trace)
    return target, v
