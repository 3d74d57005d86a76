"""Orthonormal coordinates of the span of the mean features mu0_b(kappa), for the equations at infinite dimension.

There m enters through ``sum_b m_b mu0_b(kappa)`` alone. Where the mu0_b are linearly dependent (a linear activation,
relu with the values u, -u, 2u, -2u, a feature that vanishes) single m_b are not determined, and where they are nearly
so the equations in m are nearly singular. In coordinates c of orthonormal functions e_i of the same span,
``sum_i c_i e_i = sum_b m_b mu0_b``, they are neither. Of the m that give the same function the one of least
``sum_b m_b^2/T_b`` is reported: the limit of the finite-size term of THEORY section 6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from generated.runtime.orthonormal import orthonormal_rows
from giantstep.quadrature.mesh import ORDERS, Term
from giantstep.quadrature.panels import wide_columns
from giantstep.quadrature.tensor import Shape, coordinates, tensor_table
from giantstep.spec.errors import NotConverged
from giantstep.spec.matrix import Rows
from giantstep.system.problem import Features, Problem
from giantstep.system.vanishing_means import means_vanish

if TYPE_CHECKING:
    from giantstep.system.continuous_span import Spanning
    from giantstep.system.exact_means import ExactFunctions
    from giantstep.system.graded_features import Cluster, Kind

Array = np.ndarray
# What a mean feature has beside the others, relative to the norm of its block's features, and is taken for rounding:
# where features are dependent 1e-16 to 1e-15 is left, by measurement.
ROUNDING = 1e-13
_SPANNING = 1e-10  # what a function of a closed span has to have beside the others: the rest is rounded to as much
_EPS = 2.2e-16
_SURELY, _FELT = 1e-8, 1e-2  # inverse dimension that rounding does not reach; share of it that shows
_ROUNDED = 1e-12  # of the largest coordinate
_INEXACT = 1e-6  # what the last e_i has beside the others; its error by rounding squares in the test error
_HIDDEN = 1e-8  # the same of features whose loadings are rounded: test errors are off by 1e-11 and more
_CLOSE = 1e-5  # rounding may show where features differ by less
_LOST = 1e-6  # of its features, below which the shape of a mean feature has fewer than ten digits


@dataclass(frozen=True, eq=False)
class Span:
    """``e_i = sum_b mu0_b basis[b, i]`` and ``mu0_b = sum_i e_i coordinates[i, b]``, [K, K], zero from the rank on.

    null [K, K - rank]: combinations of the mean features that vanish; least: what the last e_i had beside the others,
    relative to its size: rounding makes of it an error of some 1e-16/least; dropped: what was taken for rounding.
    clusters: of features that differ by next to nothing; ``within`` [K, K] takes their combinations to e_i, ``apart``
    [K, K] the features to their combinations. exact: e_i by features of many digits. spanning:
    other functions of the closed span, in the place of mu0_b in ``basis``; ``nodes`` is then the span of mu0_b, and
    products [K, K] are those of its functions with e_i.
    """

    basis: Array
    coordinates: Array
    null: Array
    rank: int
    least: float
    dropped: float
    clusters: tuple[Cluster, ...] = ()
    within: Array | None = None
    apart: Array | None = None
    spanning: Spanning | None = None
    nodes: Span | None = None
    products: Array | None = None
    exact: ExactFunctions | None = None

    @property
    def cancels(self) -> bool:
        """Whether the m of nearly dependent features may be large and cancel."""
        return bool(self.clusters) or self.nodes is not None or self.exact is not None

    def columns(self, rows: Array) -> Array:
        """A table with e_i in the place of mu0_b: zero columns from the rank on; read-only."""
        found = rows.copy()
        blocks = len(self.basis)
        mu0 = rows[:, -3 * blocks : -2 * blocks]
        rank = len(self.clusters[0].centre.loadings) if self.clusters else 1
        found[:, -3 * blocks : -2 * blocks] = self.functions(mu0, _kappa(rows, blocks, rank))
        found.flags.writeable = False
        return found

    def functions(self, mu0: Array, kappa: Array) -> Array:
        """e_i, [N, K], from mu0_b, [N, K], at points [N, q]."""
        if self.exact is not None:
            return self.exact.at(kappa[:, 0])
        mu0 = mu0 if self.spanning is None else self.spanning.at(kappa[:, 0])
        return ordered_sums(combined(mu0, kappa, self.clusters)[0], self.basis if self.within is None else self.within)

    def through(self, clusters: tuple[Cluster, ...]) -> Span:
        """The span of features from that of their combinations in clusters."""
        from giantstep.system.graded_features import transformed  # loads mpmath, which most models need not

        basis, null = transformed(clusters, self.basis), transformed(clusters, self.null)
        coordinates = transformed(clusters, self.coordinates.T, dual=True).T
        null = null / np.abs(null).max(axis=0)
        apart = transformed(clusters, np.eye(len(basis)))
        return Span(basis, coordinates, null, self.rank, self.least, self.dropped, clusters, self.basis, apart)

    def inward(self, m: Array) -> Array:
        """The coordinates c [K] of m [K]."""
        if self.nodes is not None and self.products is not None:
            return np.asarray(np.einsum("ji,j->i", self.products, self.nodes.inward(m)))
        return np.asarray(np.einsum("ib,b->i", self.coordinates, m))

    def told(self, order: Mapping[str, Array]) -> Array:
        """The coordinates c [K] that order parameters tell: as such, at other nodes of a density, or by m."""
        if "coordinates" in order:
            return order["coordinates"]
        if self.spanning is not None and "spanned" in order:
            return np.asarray(np.einsum("ij,j->i", self.coordinates, self.spanning.read(order["spanned"])))
        return self.inward(order["m"])

    def spanned(self, c: Array) -> dict[str, Array]:
        """The function with coordinates c [K] as other nodes of a density read it; nothing of a vocabulary."""
        return (
            {} if self.spanning is None else {"spanned": self.spanning.written(ordered_sums(c[None], self.basis.T)[0])}
        )

    def outward(self, c: Array, response: Array) -> Array:
        """m [K] of the coordinates c [K], of least ``sum_b m_b^2/T_b``; response: T_b [K] up to a factor.

        Of many points where these are [K, P]; a point has the same numbers as alone.
        """
        if self.nodes is not None and self.products is not None:
            further = (slice(None), *[None] * (c.ndim - 1))
            inside = _over_blocks(self.products.T[(..., *further[1:])] * c[:, None])
            # rounding of a function that needs next to all of m would be most of them
            inside = np.where(np.abs(inside) > _ROUNDED * np.abs(inside).max(axis=0), inside, 0.0)
            return self.nodes.outward(inside, response)
        further = (slice(None), *[None] * (c.ndim - 1))
        if self.within is None or self.apart is None:
            m = _over_blocks(self.basis.T[(..., *further[1:])] * c[:, None])
        else:  # the combinations first: features that hardly differ have coefficients of 1e16 in e_i, which may cancel
            inside = _over_blocks(self.within.T[(..., *further[1:])] * c[:, None])
            m = _over_blocks(self.apart.T[(..., *further[1:])] * inside[:, None])
        vanishing: list[Array] = []
        for number in range(self.null.shape[1]):
            column = self.null[:, number][further]
            for _ in range(2):  # once more against rounding
                for other in vanishing:
                    column = column - other * _over_blocks(other * (column / response))
                column = column / np.sqrt(_over_blocks(column * (column / response)))
            vanishing.append(column)
            m = m - column * _over_blocks(column * (m / response))
        return np.asarray(m)

    @property
    def rounded(self) -> bool:
        """Whether rounding of the mean features shows in what they are together."""
        return self.nodes is None and self.least < _INEXACT


def hidden_rates() -> NotConverged:
    """The refusal of a derivative in what tells apart features that are nearly the same."""
    return NotConverged(
        "rounding hides how the mean features move, which differ by next to nothing",
        "give a dimension, a stronger spike or a larger learning rate",
    )


def span_of(problem: Problem) -> Span | None:
    """The span of the mean features of a problem; None where m is regularised, or where it is one that is not zero.

    Where features differ by so little that rounding shows, those of weak or nearly equal blocks are told apart by
    their expansions (``graded_features``). Source: THEORY section 4, what fixes m.
    """
    if problem.parameters.inverse_dimension > 0.0:
        _require_dimension(problem)
        return None
    return _span_at_infinity(problem.features)


@lru_cache(maxsize=128)
def _span_at_infinity(features: Features) -> Span | None:
    terms, blocks = (features.blocks, features.loadings, features.link), len(features.blocks)
    if blocks == 1 and _stands_out(*terms):
        return None
    resolution = features.model.network.readout.resolution
    if resolution is not None:
        return _continuous(features, resolution)
    span = _span(*terms)
    if _rounded(span) and not (span.rank == 1 and features.are_constant):
        if means_vanish(features):  # none need be told apart
            return orthonormal(np.zeros((1, blocks)), np.ones(blocks))
        span = _told_apart(features, span)
        if span.exact is None:
            _require_large_means(terms, span)
    return span if span.cancels or not blocks == span.rank == 1 else None


def _told_apart(features: Features, span: Span) -> Span:
    """The span by expansions, or by many digits where averages cancel about all centres. Raises NotConverged."""
    try:
        graded = _graded(features.blocks, features.loadings, features.link, _clusters(features, "mean"))
    except NotConverged:
        if (found := _of_many_digits(features, span)).exact is None:
            raise
        return found
    return _of_many_digits(features, graded)


def _of_many_digits(features: Features, rounded: Span) -> Span:
    """The span by means of many digits, where there are such and double precision has too few, or has dropped what
    they keep: features of values that are nearly opposite, of an odd activation, differ by 1e-14 of them. Else as it
    is. Raises NotConverged where nothing tells what depends on others from what is lost in rounding.
    """
    from giantstep.system.exact_means import orthonormal_to_many_digits  # loads mpmath, which most models need not
    from giantstep.system.graded_blocks import blocks_of, may_hide_directions, nearly_one, told_apart_by_rounding

    blocks = blocks_of(features)
    exact = len(blocks) == 1 or all(block.exact for block in blocks)  # rounding tells one from no other
    together = [cluster.columns for cluster in rounded.clusters]
    if not exact and (nearly_one(blocks, together) or rounded.least < _HIDDEN):
        raise told_apart_by_rounding()
    directions = min(len(blocks), len(features.overlaps[0]) + len(features.model.steps))
    fewer = rounded.rank < len(blocks) or not exact and len(features.overlaps) < directions
    kappa, weight, mu0, sizes = _features(features.blocks, features.loadings, features.link)
    small = weight @ mu0**2 <= (ROUNDING * sizes) ** 2  # a mean that counts as none, whatever it is
    none = small & np.array([not any(block.loadings) for block in blocks])  # others are weak, and may have expansions
    found = None
    if features.loadings is None and (rounded.rounded or exact and not none.any() and rounded.rank < len(blocks)):
        found = orthonormal_to_many_digits(blocks, kappa[:, 0], weight, none)
    if found is None:
        if fewer and (rounded.dropped > 0.0 or not exact) and may_hide_directions(blocks):
            raise told_apart_by_rounding()
        if exact and fewer and nearly_one(blocks, together):
            raise told_apart_by_rounding()
        return rounded
    rank, count = found.coordinates.shape
    if rank == rounded.rank and not rounded.rounded:
        return rounded
    basis, coordinates = np.zeros((2, count, count))
    basis[:, :rank], coordinates[:rank] = found.functions.basis.astype(float), found.coordinates
    return Span(basis, coordinates, found.null, rank, 1.0, 0.0, exact=found.functions)


def _continuous(features: Features, resolution: float) -> Span:
    """The span at the nodes of a density: there are more of them where what they leave out counts."""
    from giantstep.system.continuous_span import spanning_functions  # vocabularies need none

    terms = (features.blocks, features.loadings, features.link)
    nodes, spanning = _span(*terms, resolution), spanning_functions(features)
    if spanning is None:
        return replace(nodes, nodes=nodes, products=np.eye(len(nodes.basis)))
    kappa, weight, mu0, _ = _features(*terms)
    root, functions = np.sqrt(weight)[:, None], spanning.at(kappa[:, 0])
    found = orthonormal(root * functions, np.sqrt(weight @ functions**2), _SPANNING)
    products = np.einsum(
        "nj,ni->ji", root * ordered_sums(mu0, nodes.basis), root * ordered_sums(functions, found.basis)
    )
    return replace(found, spanning=spanning, nodes=nodes, products=products)


def _require_dimension(problem: Problem) -> None:
    """Raise NotConverged where the term of finite size, which fixes m of features that differ by next to nothing, is
    lost in the rounding of their averages: E mu0^2 times the machine's precision, beside T/d.
    """
    if problem.parameters.inverse_dimension > _SURELY or len(problem.blocks) < 2:
        return
    _, weight, mu0, sizes = _features(problem.blocks, problem.loadings, problem.link)
    squares = weight @ mu0**2
    samples, ridge = problem.parameters.samples, problem.parameters.ridge
    response = samples / (ridge + (sizes**2 - squares).min())  # alpha T/(1 + V) at most
    if _EPS * squares.max() * abs(response) < _FELT * problem.parameters.inverse_dimension:
        return
    span = span_of(problem.with_parameters(inverse_dimension=0.0))
    if span is not None and span.clusters and span.rank > 1:
        raise NotConverged(
            "the mean features differ by next to nothing, and the term of finite size, which decides between them, is "
            f"lost in rounding at the dimension {1.0 / problem.parameters.inverse_dimension:.3g}",
            "leave the dimension out, which gives the limit, or give a smaller one",
        )


def span_of_columns(problem: Problem, kind: Kind, kappa: Array, weight: Array, columns: Array, sizes: Array) -> Span:
    """The same of any features of a problem: columns [N, C] at points [N, q] with weights [N], of norms [C]."""
    resolution = problem.model.network.readout.resolution
    if resolution is not None:
        return orthonormal(np.sqrt(weight)[:, None] * columns, sizes, resolution)
    span = orthonormal(np.sqrt(weight)[:, None] * columns, sizes)
    return _by_clusters(kappa, weight, columns, sizes, _clusters(problem.features, kind)) if _rounded(span) else span


def _clusters(features: Features, kind: Kind) -> tuple[Cluster, ...]:
    from giantstep.system.graded_features import clusters_of  # loads mpmath, which most models need not

    return clusters_of(features, kind)


def _rounded(span: Span) -> bool:
    """Whether rounding may show, or hide a direction."""
    return span.rank < len(span.basis) or span.least < _CLOSE


@lru_cache(maxsize=128)
def _stands_out(blocks: tuple[Term, ...], loadings: Rows | None, target: Term | None) -> bool:
    """Whether a single mean feature is so large that rounding of it does not show."""
    _, weight, mu0, sizes = _features(blocks, loadings, target)
    return bool(weight @ mu0[:, 0] ** 2 > (_CLOSE * sizes[0]) ** 2)


@lru_cache(maxsize=128)
def _span(blocks: tuple[Term, ...], loadings: Rows | None, target: Term | None, resolution: float = ROUNDING) -> Span:
    _, weight, mu0, sizes = _features(blocks, loadings, target)
    return orthonormal(np.sqrt(weight)[:, None] * mu0, sizes, resolution)


@lru_cache(maxsize=128)
def _graded(
    blocks: tuple[Term, ...], loadings: Rows | None, target: Term | None, clusters: tuple[Cluster, ...]
) -> Span:
    return _by_clusters(*_features(blocks, loadings, target), clusters)


def _require_large_means(terms: tuple[tuple[Term, ...], Rows | None, Term | None], span: Span) -> None:
    """Raise NotConverged where a mean feature is so small beside its features that rounding shows in its shape."""
    moves = [term.scale != 0.0 for term in terms[0]] if terms[1] is None else [any(row) for row in terms[1]]
    _, weight, mu0, sizes = _features(*terms)
    shares = np.sqrt(weight @ mu0**2) / np.where(sizes > 0.0, sizes, 1.0)
    shares[[place for cluster in span.clusters for place in cluster.columns]] = 0.0
    shares[~np.array(moves)] = 0.0  # a constant has no shape
    lost = shares[(shares > ROUNDING) & (shares < _LOST)]
    if lost.size:
        raise NotConverged(
            f"a mean feature is {lost.min():.1e} of its features, which oscillate or are next to always zero: its "
            "shape is lost in rounding, and at infinite dimension the readout reads any mean feature",
            "give a dimension, or an activation that oscillates less, or is less often zero",
        )


def _by_clusters(kappa: Array, weight: Array, columns: Array, sizes: Array, clusters: tuple[Cluster, ...]) -> Span:
    """The span by way of combinations that do not cancel, whose terms are what is rounded."""
    functions, terms = combined(columns, kappa, clusters)
    alone = np.ones(len(sizes))
    alone[[place for cluster in clusters for place in cluster.columns]] = 0.0
    span = orthonormal(np.sqrt(weight)[:, None] * functions, alone * sizes + np.sqrt(weight @ terms**2))
    return span.through(clusters) if clusters else span


def _features(
    blocks: tuple[Term, ...], loadings: Rows | None, target: Term | None
) -> tuple[Array, Array, Array, Array]:
    """(kappa [N, q], weights [N], mean features [N, K], norms of the features whose averages they are [K])."""
    rank = 1 if loadings is None else len(loadings[0])
    if loadings is None:
        rows = wide_columns(blocks, target, ORDERS[-1], 0).T
    else:
        rows = tensor_table(Shape(blocks, loadings, target), (1.0,) * rank)
    count = len(blocks)
    mu0, mu1, mu2sq = rows[:, -3 * count : -2 * count], rows[:, -2 * count : -count], rows[:, -count:]
    sizes = np.sqrt((rows[:, 1, None] * (mu0**2 + mu1**2 + mu2sq)).sum(axis=0))
    return _kappa(rows, len(blocks), rank), rows[:, 1], mu0, sizes


def orthonormal(columns: Array, sizes: Array, resolution: float = ROUNDING) -> Span:
    """The span of columns [N, K], whose rounding errors are of the given sizes [K] times the machine's precision.

    resolution: what a column has to have beside the others, relative to its size, to count. Gram-Schmidt, twice.
    Sums are in a fixed order, by no linear algebra library.
    """
    count = columns.shape[1]
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    rest = np.array((columns / sizes).T, order="C")
    basis, coordinates = np.zeros((2, count, count))
    waiting, ends = np.empty(count, np.int64), np.empty(2)
    rank = orthonormal_rows(rest, np.empty_like(rest), resolution, basis, coordinates, waiting, ends)
    left = waiting[: count - rank]
    dependent = np.eye(count)[:, left] - np.einsum("bi,iw->bw", basis, coordinates[:, left])
    basis, dependent = basis / sizes[:, None], dependent / sizes[:, None]
    return Span(basis, coordinates * sizes, dependent, rank, float(ends[0]), float(ends[1]))


def combined(columns: Array, kappa: Array, clusters: tuple[Cluster, ...]) -> tuple[Array, Array]:
    """Columns [N, C] with the combinations of clusters in their places, and what the terms of these amount to."""
    found, sizes = columns.copy(), np.zeros_like(columns)
    for cluster in clusters:
        places = list(cluster.columns)
        found[:, places], sizes[:, places] = cluster.at(kappa)
    return found, sizes


def ordered_sums(functions: Array, matrix: Array) -> Array:
    """The same sums on every machine: [N, K] times [K, K]."""
    return np.asarray(np.einsum("nb,bi->ni", functions, matrix, optimize=False))


def _kappa(rows: Array, blocks: int, rank: int) -> Array:
    """kappa [N, q] at the nodes of a table of so many blocks, whatever the number of the target's indices."""
    return coordinates(rows, rows.shape[1] - 3 - rank - 3 * blocks, rank)


def _over_blocks(terms: Array) -> Array:
    """The sum over the first axis, one term after the other: the same however many points there are."""
    return np.asarray(sum(terms))
