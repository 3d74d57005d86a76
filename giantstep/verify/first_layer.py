"""The first layer of a model by definition: what the features and the label are functions of, and a result along it.

Rows, overlaps and variances are taken from the model alone; of a result only the order parameters are read, in the
directions that it states them in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from giantstep.law.intermediate_steps import at_strength, is_intermediate
from giantstep.spec.model import Model
from giantstep.system.problem import problem_of
from giantstep.system.result import Result
from giantstep.verify.conditional_law import LabelLaw, feature_moments, norm_feature, rest_of_target
from giantstep.verify.giant_step import Rows, along_the_target, given_spike, rows_after
from giantstep.verify.input_spectrum import InputSpectrum, input_spectrum

Array = np.ndarray
_WHOLE = 0.5  # a singular value of a map between directions is 0 or 1


@dataclass(frozen=True)
class FirstLayer:
    """Rows with a mean along at least one direction, in features of an activation with a bias.

    polynomials: of kappa, in the place of mean features, where the limit of a small step has them. share [K]: of the
    neurons. spectrum: of structured inputs.
    """

    activation: str
    bias: float
    rows: Rows
    share: Array
    polynomials: tuple[tuple[float, ...], ...] | None = None
    spectrum: InputSpectrum | None = None

    def shift(self, block: int, kappa: Array) -> Array:
        """The mean pre-activation of a block, [N]."""
        return np.asarray(kappa.reshape(len(kappa), -1) @ self.rows.loadings[block] + self.bias)

    def features(self, kappa: Array) -> Array:
        """mu0, mu1, mu2^2 of every block, [3, K, N]."""
        found = [
            feature_moments(self.activation, self.shift(b, kappa), float(c)) for b, c in enumerate(self.rows.variances)
        ]
        if self.polynomials is not None:
            for block, polynomial in zip(found, self.polynomials, strict=True):
                block[0] = sum(c * kappa**k for k, c in enumerate(polynomial))
        return np.stack(found, axis=1)

    def of_norms(self, kappa: Array) -> Array:
        """mu_c of every block, [K, N]: what their means change by with the norms of the rows."""
        variances = enumerate(self.rows.variances)
        return np.array([norm_feature(self.activation, self.shift(b, kappa), float(c)) for b, c in variances])

    def label(self, model: Model) -> LabelLaw:
        """The law of the label given kappa."""
        target = model.target
        return LabelLaw(target.link, self.rows.overlaps, target.probit, target.flips)


def first_layer(model: Model, bias: float, dimension: int | None) -> FirstLayer:
    """The layer that a readout is fitted on; ``bias``: of every neuron. Raises NotEvaluable."""
    network, share = model.network, np.array(model.network.readout.fractions)
    if is_intermediate(model) and dimension is None:  # the polynomials are those of the theory
        blocks = problem_of(model, None, bias, intermediate=True).blocks
        polynomials = tuple(block.polynomial for block in blocks if block.polynomial is not None)
        giant = rows_after(network, at_strength(model, 1).steps, model.target)
        rows = Rows(np.zeros((len(blocks), 1)), giant.overlaps[:1], np.ones(len(blocks)))
        return FirstLayer(network.activation, bias, rows, np.full(len(blocks), 1.0 / len(blocks)), polynomials or None)
    model = at_strength(model, int(dimension or 0))
    spectrum = None
    if model.inputs is not None:
        spectrum = input_spectrum(model)
        rows = spectrum.rows
    else:
        rows = _with_a_direction(_rows_of(model))
    return FirstLayer(network.activation, bias, rows, share, None, spectrum)


def _rows_of(model: Model) -> Rows:
    spike = model.spike
    if model.bulk == "matrix":  # a file's own variances and alignments
        problem = problem_of(model)
        loadings = np.array([[block.scale] for block in problem.blocks])
        return Rows(loadings, np.array(problem.overlaps), np.array([block.variance for block in problem.blocks]))
    if spike is None:
        return rows_after(model.network, model.steps, model.target)
    return along_the_target(*given_spike(model))


def _with_a_direction(rows: Rows) -> Rows:
    """With one direction that means nothing where there is none: the equations have one."""
    if rows.rank:
        return rows
    blocks, m = len(rows.loadings), rows.overlaps.shape[1]
    return Rows(np.zeros((blocks, 1)), np.zeros((1, m)), rows.variances)


def order_parameters(result: Result, layer: FirstLayer) -> dict[str, Array]:
    """Those of a result along the directions of ``layer``: zeta [K, q], psi [K, m]."""
    found = {name: np.asarray(values) for name, values in result.order_parameters.items()}
    blocks = len(found["m"])
    zeta, psi = found["zeta"].reshape(blocks, -1), found["psi"].reshape(blocks, -1)
    if (
        layer.polynomials is not None
        or result.vocabulary.bulk == "matrix"
        or not result.vocabulary.steps
        and not result.vocabulary.spike
    ):
        return {**found, "zeta": zeta, "psi": psi}
    loadings, overlaps = _stated(result)
    into = _map(loadings, layer.rows.loadings)
    inside, sizes, _ = np.linalg.svd(into)
    beside = inside[:, int((sizes > _WHOLE).sum()) :]  # directions that features do not know
    dropped = zeta @ beside
    along = dropped @ (beside.T @ overlaps) + psi @ rest_of_target(overlaps).T
    lower = rest_of_target(layer.rows.overlaps)
    psi = along @ np.linalg.pinv(lower, rcond=1e-9).T if beside.size else psi
    return {**found, "zeta": zeta @ into, "psi": psi, "Q1": found["Q1"] + dropped @ dropped.T}


def turned_as_stated(result: Result, layer: FirstLayer) -> FirstLayer:
    """The layer along the directions that a result is stated in: those of a bulk that is taken from the theory."""
    into = _map(_stated(result)[0], layer.rows.loadings)
    if not np.allclose(into.T @ into, np.eye(into.shape[1]), atol=_WHOLE):
        return layer
    rows = Rows(layer.rows.loadings @ into.T, into @ layer.rows.overlaps, layer.rows.variances)
    return replace(layer, rows=rows)


def _stated(result: Result) -> tuple[Array, Array]:
    """Loadings [K, q] and overlaps [q, m] of the directions that order parameters are stated in."""
    model, spike = result.vocabulary, result.spike
    if model.spike is not None:
        loadings, overlaps, _ = given_spike(model)
        return loadings, overlaps
    if spike.directions is not None:
        return np.array(spike.directions.loadings), np.array(spike.directions.overlaps)
    values = np.array(model.network.readout.values)
    return values[:, None] * spike.strength, np.array(spike.alignments)[None]


def _map(stated: Array, own: Array) -> Array:
    """The orthonormal map [q, q'] with ``stated = own map^T``, as nearly as can be; zero for features without means."""
    if not own.any() or not stated.any():
        return np.zeros((stated.shape[1], own.shape[1]))
    left, sizes, right = np.linalg.svd((np.linalg.pinv(own, rcond=1e-13) @ stated).T, full_matrices=False)
    kept = sizes > _WHOLE
    return np.asarray(left[:, kept] @ right[kept])
