"""A result along the directions of the first layer by definition: it states its own in a basis of its choice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from giantstep.law.known_indices import in_known, known_indices
from giantstep.system.continuous_span import spanning_functions
from giantstep.system.problem import problem_of
from giantstep.system.result import Result
from giantstep.verify.conditional_law import rest_of_target
from giantstep.verify.first_layer import FirstLayer
from giantstep.verify.giant_step import Rows, given_spike

Array = np.ndarray
_WHOLE = 0.5  # a singular value of a map between directions is 0 or 1
_ROUNDING = 1e-13  # of the longest mean: what is left of a mean beside the directions before
_NOTHING = 1e-15  # an overlap beside the norm of its readouts
_WEAK = 1e-6  # of the longest mean: directions that rounding knows to ten digits
_EPS = 2.2e-16


@dataclass(frozen=True)
class _Shared:
    """Orthonormal directions that two bases have in common: along ``own`` [r, q'] and ``stated`` [r, q], and what the
    means have along each, ``sizes`` [r].
    """

    own: Array
    stated: Array
    sizes: Array

    @property
    def map(self) -> Array:
        """The orthonormal map [q, q'] with ``stated loadings = own loadings map^T``."""
        return np.asarray(self.stated.T @ self.own)


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
    if not layer.rows.loadings.any() and np.array_equal(layer.rows.overlaps, overlaps):
        return {**found, "zeta": zeta, "psi": psi}
    into = _shared(layer.rows.loadings, loadings).map
    inside, sizes, _ = np.linalg.svd(into)
    beside = inside[:, int((sizes > _WHOLE).sum()) :]  # directions that features do not know
    dropped = zeta @ beside
    along = dropped @ (beside.T @ overlaps) + psi @ rest_of_target(overlaps).T
    lower = rest_of_target(layer.rows.overlaps)
    psi = along @ np.linalg.pinv(lower, rcond=1e-9).T if beside.size else psi
    return {**found, "zeta": zeta @ into, "psi": psi, "Q1": found["Q1"] + dropped @ dropped.T}


def mean_as_stated(result: Result, layer: FirstLayer) -> Callable[[Array], Array] | None:
    """What m and the mean features make together, as the result states it of a density of readout values in the limit;
    None where it states m alone.

    Single m are without bound there, and m at the nodes of a density need not carry the function. It is one of kappa
    along the spike of the result, which may be opposite to that of ``layer``.
    """
    if result.spanned is None:
        return None
    spanning = spanning_functions(problem_of(result.vocabulary, result.dimension, result.bias).features)
    assert spanning is not None
    coefficients = spanning.read(result.spanned)
    side = float(np.sign(_shared(layer.rows.loadings, _stated(result)[0]).map[0, 0]))
    return lambda kappa: np.asarray(spanning.at(side * kappa) @ coefficients)


def completed_as_stated(result: Result, layer: FirstLayer) -> FirstLayer:
    """The layer with the overlaps that the result states along directions in which blocks hardly differ.

    Rounding of the means leaves these directions to chance, of both sides. That means and their products with overlaps
    agree is for the certificate to say.
    """
    loadings, overlaps = _stated(result)
    shared, rows = _shared(layer.rows.loadings, loadings), layer.rows
    weak = shared.sizes < _WEAK * shared.sizes.max(initial=0.0)
    if layer.spectrum is not None or not weak.any():
        return layer
    missed = (shared.stated @ overlaps - shared.own @ rows.overlaps)[weak]
    return replace(layer, rows=replace(rows, overlaps=rows.overlaps + shared.own[weak].T @ missed))


def turned_as_stated(result: Result, layer: FirstLayer) -> FirstLayer:
    """The layer along the directions that a result is stated in: those of a bulk that is taken from the theory."""
    loadings, overlaps = _stated(result)
    if not layer.rows.loadings.any() and len(loadings[0]) == 1:  # a direction that means nothing
        return replace(layer, rows=replace(layer.rows, overlaps=overlaps))
    into = _shared(layer.rows.loadings, loadings).map
    if not np.allclose(into.T @ into, np.eye(into.shape[1]), atol=_WHOLE):
        return layer
    rows = Rows(layer.rows.loadings @ into.T, into @ layer.rows.overlaps, layer.rows.variances)
    return replace(layer, rows=rows)


def along_the_bulk(result: Result) -> Result:
    """A result of a trained bulk in the directions that its link knows: the bulk is that of the theory there."""
    if result.vocabulary.bulk != "trained" or known_indices(result.model) is None:
        return result
    problem = problem_of(result.vocabulary, result.dimension, result.bias)
    order = problem.inward(result.order_parameters)
    assert order is not None
    return replace(result, model=in_known(result.model), order_parameters=order, spike=problem.spike)


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


def _shared(own: Array, stated: Array) -> _Shared:
    """Of the same means [K, q'] and [K, q] in two bases: one mean after the other, the longest rest first, so that
    strong directions know nothing of the rounding of weak ones.
    """
    left, right = own.astype(float), stated.astype(float)
    ours, theirs, sizes = np.zeros((0, own.shape[1])), np.zeros((0, stated.shape[1])), np.zeros(0)
    for _ in range(min(own.shape[1], stated.shape[1])):
        lengths = np.linalg.norm(left, axis=1)
        block = int(np.argmax(lengths))
        if min(lengths[block], np.linalg.norm(right[block])) <= _ROUNDING * sizes.max(initial=0.0):
            break
        u, v = _beside(left[block], ours), _beside(right[block], theirs)
        ours, theirs, sizes = np.vstack([ours, u]), np.vstack([theirs, v]), np.append(sizes, lengths[block])
        left, right = left - np.outer(left @ u, u), right - np.outer(right @ v, v)
    return _Shared(ours, theirs, sizes)


def _beside(row: Array, before: Array) -> Array:
    """A unit vector along what a row has beside orthonormal ones [r, q]."""
    for _ in range(2):  # once more for its rounding
        row = row / np.linalg.norm(row)
        row = row - (before @ row) @ before
    return np.asarray(row / np.linalg.norm(row))


def rounding_of_means(features: Array) -> Array:
    """What rounding leaves of mean features [K, N]: a part of themselves, but of those that are less than rounding of
    what they are averages of, which have no digits, a part of that.
    """
    mu0, mu1, mu2sq = features
    mean, whole = np.abs(mu0), np.sqrt(mu0**2 + mu1**2 + np.abs(mu2sq))
    return np.asarray(_EPS * np.where(mean > _EPS * whole, mean, whole))


def without_rounding(order: Mapping[str, Array]) -> dict[str, Array]:
    """Order parameters without what is rounding of zero: where features saturate the output is nothing beside, and its
    sign would be that of the rounding.
    """
    found, size = dict(order), np.sqrt(np.abs(np.asarray(order["Q2"], float)))
    for name in ("m", "zeta", "psi"):
        values = np.asarray(order[name])
        least = _NOTHING * size.reshape(-1, *[1] * (values.ndim - 1))
        found[name] = np.where(np.abs(values) <= least, 0.0, values)
    return found
