"""Features of blocks that are weak or nearly equal: combinations of them that do not cancel.

At infinite dimension the readout uses every combination of the mean features mu0_b(kappa), however small. Those of a
weak spike, or of nearly equal readout values, differ by powers of what tells the blocks apart: in double precision
the differences are lost. Here the features of such a cluster are expanded about its centre (l, c, bias),
    mu0_b(kappa) = sum_a,j  delta_b^a/a!  (gamma_b/2)^j/j!  kappa^a D_{|a|+2j}(kappa),
    D_k(kappa) = E[sigma(bias + l.kappa + sqrt(c) g) He_k(g)] / c^(k/2),
with delta_b and gamma_b what the loadings and the bulk variance of block b have beyond the centre (the second since
the Gaussian average solves the heat equation). The matrix of coefficients is eliminated in many digits, the largest
entries first; what is left are functions of size one. Averages D_k below rounding count as zero, and functions
kappa^a D_k that are combinations of others are written by these: features that are dependent stay so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal

import mpmath
import numpy as np

from giantstep.quadrature.shift_derivatives import root_factorials
from giantstep.spec.errors import NotConverged
from giantstep.system.graded_averages import (
    CANCELS,
    OF_AVERAGES,
    along_spike,
    averages,
    expansion_of,
    has_all_digits,
    is_no_mean,
    rounded_like,
    sizes_of,
    to_many_digits,
    typical_of,
    with_numbers,
)
from giantstep.system.graded_blocks import DIGITS, SURE, Block, blocks_of, told_apart_by_rounding
from giantstep.system.graded_elimination import Column, Row, eliminated, norm_of_powers, rewritten
from giantstep.system.graded_rounding import off_by_roundings
from giantstep.system.graded_series import series_at
from giantstep.system.polynomial_averages import degree_of
from giantstep.system.problem import Features

Array = np.ndarray
# mu0_b; mu1_b; mu0_b and kappa_i mu1_b; these and mu_c,b, what mu0 changes by with the norm of a row
Kind = Literal["mean", "slope", "seen", "seen and norms"]

_RADIUS, _RADIUS_OF_SEVERAL = 0.5, 0.1  # of a cluster: the expansion converges like its powers
_RESOLVED, _FIRST = 1e-18, 4
_USUAL = 31  # order of averages that expansions seldom go beyond
_DEPENDENT, _ORDER_ONE, _MOST_ROWS = 1e-14, 10.0, 60
_FARTHEST = 7.0  # kappa where functions are compared
_ROUNDINGS, _DRAWS = 64.0 * 2.0**-53, 4  # what loadings and variances that are rounded may be off by; tries of it
# change of a function under such roundings that is too much; where averages alone are rounded, which change its shape
# by little
_DOUBTFUL, _DOUBTFUL_AVERAGES = 1e-8, 1e-2
_AS_FOUND: Mapping[Block, Sequence[Any]] = MappingProxyType({})
_TOO_CLOSE = 1e-9  # of functions of size one: six digits are left of their difference
# by the number of directions: places in a panel along the loadings, and across them, where functions are compared
_EACH = {1: (16, 81), 2: (8, 25), 3: (5, 13)}


@dataclass(frozen=True, eq=False)
class Cluster:
    """Columns that are combined: ``sum_c column_c matrix[c, i]`` is the function with coefficients ``series[i]``.

    columns: their places; matrix [C, C] of many digits; centre: a block, with loadings zero for a weak spike.
    centres: of the block of each column of mean features; order: of their expansions; dependent: functions kappa^a D_k
    of the centre, each by others.
    """

    columns: tuple[int, ...]
    centre: Block
    matrix: Any
    series: tuple[Column, ...]
    centres: tuple[Block, ...] = ()
    order: int = 0
    dependent: Mapping[Row, Column] = field(default_factory=dict)

    def at(self, kappa: Array) -> tuple[Array, Array]:
        """(functions [N, C], what their terms amount to [N, C]) at points [N, q]."""
        order = max((k for column in self.series for _, k in column), default=0)
        if order < 0 or not any(self.centre.loadings):  # powers of kappa alone
            return series_at(self.series, kappa, np.empty(0), np.empty(0))
        shifts = kappa @ np.array(self.centre.loadings, float) + self.centre.term.offset
        return series_at(self.series, kappa, averages(self.centre, shifts, order), rounded_like(self.centre, order))


def clusters_of(features: Features, kind: Kind = "mean") -> tuple[Cluster, ...]:
    """The clusters of features; those alone in one, that are not weak, are in none."""
    if features.loadings is None and not any(term.scale for term in features.blocks):
        return ()  # nothing tells the blocks apart
    return _clusters(blocks_of(features), kind)


@lru_cache(maxsize=64)
def _clusters(blocks: tuple[Block, ...], kind: Kind) -> tuple[Cluster, ...]:
    if any(block.term.polynomial is not None for block in blocks):
        return ()
    with mpmath.workdps(DIGITS):
        waiting, found = list(range(len(blocks))), []
        radius = _RADIUS if len(blocks[0].loadings) == 1 else _RADIUS_OF_SEVERAL
        if _are_polynomials(blocks):  # whose expansions end, however strong the spike
            return (_cluster(blocks, {b: _still(blocks[b], ()) for b in waiting}, kind),)
        weak = {b: _still(blocks[b], blocks) for b in waiting if _apart(blocks[b], _still(blocks[b], ())) <= radius}
        if weak:
            found.append(_cluster(blocks, weak, kind))
        waiting = [b for b in waiting if b not in weak]
        while waiting:
            centre = blocks[waiting[0]]
            near = {b: centre for b in waiting if _apart(blocks[b], centre) <= radius}
            if len(near) > 1:
                _require_digits(blocks, near)
                found.append(_cluster(blocks, near, kind))
            waiting = [b for b in waiting if b not in near]
    return tuple(found)


def _are_polynomials(blocks: Sequence[Block]) -> bool:
    """Whether the expansions of all blocks end."""
    return all(degree_of(block.term.function) is not None for block in blocks)


def _still(block: Block, blocks: Sequence[Block]) -> Block:
    """A block without a spike, of the variance of the first of the blocks that is nearly as wide."""
    variances = (b.variance for b in blocks if abs(b.variance - block.variance) <= _RADIUS**2 * b.variance)
    return Block(block.term, (mpmath.mpf(0),) * len(block.loadings), next(variances, block.variance), block.exact)


def _apart(block: Block, centre: Block) -> float:
    """What the expansion about a centre converges like the powers of; infinite for another function."""
    if (block.term.function, block.term.offset) != (centre.term.function, centre.term.offset):
        return math.inf
    shift = mpmath.norm([x - y for x, y in zip(block.loadings, centre.loadings, strict=True)])
    wider = abs(block.variance - centre.variance)
    return float(max(mpmath.sqrt(2) * shift / mpmath.sqrt(centre.variance), mpmath.sqrt(wider / centre.variance)))


def _require_digits(blocks: Sequence[Block], near: dict[int, Block]) -> None:
    """Raise NotConverged where blocks are told apart by numbers that are rounded themselves."""
    for b, centre in near.items():
        if blocks[b] is not centre and not blocks[b].told_beside(centre) and 0.0 < _apart(blocks[b], centre) < SURE:
            raise told_apart_by_rounding()


def _cluster(blocks: Sequence[Block], centres: dict[int, Block], kind: Kind) -> Cluster:
    """The cluster of some blocks, each with the centre that its features are expanded about."""
    seen, norms = kind in ("seen", "seen and norms"), kind == "seen and norms"
    rank = len(blocks[0].loadings) if seen else 0
    largest = 2 * len(centres) * (1 + rank + norms)  # power that some function begins with, where all are odd
    centres = {b: to_many_digits(centre, _USUAL) for b, centre in centres.items()}
    order = _order(blocks, centres, largest)
    if order + 2 > _USUAL:
        centres = {b: to_many_digits(centre, order + 2) for b, centre in centres.items()}
    columns, sizes = _columns(blocks, centres, order, kind)
    places, centre = tuple(sorted(columns)), next(reversed(centres.values()))
    given = [columns[place] for place in places]
    dependent = _dependent_rows(given, centre, sizes) if any(centre.loadings) else {}
    moved = _moved_by_rounding(blocks, centres, order, kind)
    columns_of = [[rewritten(column, dependent) for column in each] for each in (given, *moved)]
    matrix, series, doubt = eliminated(columns_of[0], sizes, columns_of[1:])
    if doubt > (_DOUBTFUL_AVERAGES if all(blocks[b].exact for b in centres) else _DOUBTFUL):
        raise told_apart_by_rounding()
    found = Cluster(places, centre, matrix, series, tuple(centres[b] for b in sorted(centres)), order, dependent)
    _require_independence(found)
    return found


def _columns(
    blocks: Sequence[Block],
    centres: Mapping[int, Block],
    order: int,
    kind: Kind,
    off: Mapping[Block, Sequence[Any]] = _AS_FOUND,
) -> tuple[dict[int, Column], Array]:
    """The features of some blocks about their centres, by their places, and the sizes of D_k.

    off: roundings of averages at centres, see ``with_numbers``.
    """
    seen, norms = kind in ("seen", "seen and norms"), kind == "seen and norms"
    rank, columns, sizes = len(blocks[0].loadings) if seen else 0, dict[int, Column](), np.ones(1)
    for b, centre in centres.items():
        sizes, expansion = sizes_of(centre, order + 2), expansion_of(blocks[b], centre, order, all_of_it=bool(off))
        here = {b: expansion.slope() if kind == "slope" else expansion.mean()}
        here |= {len(blocks) + b * rank + i: expansion.slope(along=i) for i in range(rank)}
        here |= {len(blocks) * (1 + rank) + b: expansion.norm() for _ in range(norms)}
        if not any(centre.loadings):
            here = {c: with_numbers(column, centre, order + 2, off.get(centre, ())) for c, column in here.items()}
            sizes = np.ones(1)
        if kind != "slope" and not any(blocks[b].loadings) and is_no_mean(blocks[b], here[b]):
            here[b] = {}
        columns |= here
    return columns, sizes


def _moved_by_rounding(
    blocks: Sequence[Block], centres: Mapping[int, Block], order: int, kind: Kind
) -> list[list[Column]]:
    """The columns with averages, and loadings and variances where these are not exact, that are off by some roundings;
    none where all digits are known. Means may depend on each other, as those of values u and -u of a sigmoid and a
    constant do, which rounding would hide.
    """
    numbers = {centre: not has_all_digits(centre) for centre in centres.values() if not any(centre.loadings)}
    if all(blocks[b].exact for b in centres) and not any(numbers.values()):
        return []
    found, draw, polynomials = [], np.random.default_rng(0), _are_polynomials(blocks)

    def off(count: int, size: float = _ROUNDINGS) -> list[Any]:
        return [size * mpmath.mpf(x) for x in draw.uniform(-1.0, 1.0, count).tolist()]

    for _ in range(_DRAWS):
        moved = off_by_roundings(blocks, centres, off)
        about = {b: _still(moved[b], ()) if polynomials else centre for b, centre in centres.items()}
        of_averages = {centre: off(order + 3, OF_AVERAGES) for centre in numbers}
        columns, _ = _columns(moved, about, order, kind, of_averages)
        found.append([columns[place] for place in sorted(columns)])
    return found


def _order(blocks: Sequence[Block], centres: dict[int, Block], largest: int) -> int:
    """Of expansions whose functions begin with powers up to ``largest``: those of polynomials end."""
    if _are_polynomials(blocks):
        return max(degree_of(centre.term.function) or 0 for centre in centres.values())
    rho = max(1e-30, *(_apart(blocks[b], centre) for b, centre in centres.items()))
    decay = math.ceil(math.log(_RESOLVED) / math.log(1.3 * rho))
    return largest + max(8, 2 + decay) + max(_more_terms(centre, rho) for centre in centres.values())


def _more_terms(centre: Block, rho: float) -> int:
    """Orders that an expansion has beyond those for averages of order one: the first ones may be next to nothing."""
    if any(centre.loadings):
        return 0
    found = averages(centre, np.array([centre.term.offset]), _FIRST)[:, 0]
    scaled = np.abs(found) * math.sqrt(centre.variance) ** np.arange(_FIRST + 1) / root_factorials(_FIRST)
    typical = typical_of(centre)  # zero of a relu whose bias is far below
    share = float((scaled * rho ** np.arange(_FIRST + 1)).max()) / (rho * typical) if typical > 0.0 else 0.0
    return math.ceil(math.log(share) / math.log(1.3 * rho)) if 0.0 < share < CANCELS else 0


def transformed(clusters: Sequence[Cluster], of_combined: Array, dual: bool = False) -> Array:
    """Coefficients [C, n] of ``combined`` columns as coefficients of the columns; dual: values, by the inverse."""
    with mpmath.workdps(DIGITS):
        found = of_combined.copy()
        for cluster in clusters:
            places = list(cluster.columns)
            matrix = mpmath.inverse(cluster.matrix).T if dual else cluster.matrix
            product = matrix * mpmath.matrix(of_combined[places].tolist())
            found[places] = [[float(x) for x in row] for row in product.tolist()]
    return found


def _dependent_rows(columns: list[Column], centre: Block, sizes: Array) -> dict[Row, Column]:
    """Functions kappa^a D_k that depend on others: of a sine D_2 is -D_0, of a polynomial D_k = 0.

    Each function that is a combination of larger ones, with coefficients of order one, is written by these.
    """
    largest: dict[Row, float] = {}
    for column in columns:
        for row, value in column.items():
            size = float(abs(value)) * norm_of_powers(row[0]) * float(sizes[row[1]])
            largest[row] = max(size, largest.get(row, 0.0))
    rows = sorted(largest, key=lambda row: (-largest[row], row))[:_MOST_ROWS]
    kappa, weight = _sample(centre)
    values = Cluster((), centre, None, tuple({row: mpmath.mpf(1)} for row in rows)).at(kappa)[0] * weight
    norms = np.linalg.norm(values, axis=0)
    values = values / np.where(norms > 0.0, norms, 1.0)  # zero by underflow: a combination of none
    kept: list[int] = []
    found: dict[Row, Column] = {}
    for number, row in enumerate(rows):
        parts = np.linalg.lstsq(values[:, kept], values[:, number], rcond=1e-13)[0]
        rest = np.linalg.norm(values[:, number] - values[:, kept] @ parts)
        if rest > _DEPENDENT or np.abs(parts).max(initial=0.0) > _ORDER_ONE:
            kept.append(number)
            continue
        shares = zip(kept, parts.tolist(), strict=True)
        found[row] = {
            rows[place]: mpmath.mpf(part * norms[number] / norms[place])
            for place, part in shares
            if abs(part) > _DEPENDENT
        }
    return found


def _require_independence(cluster: Cluster) -> None:
    """Raise NotConverged where functions that differ in their coefficients do not in their values."""
    kappa, weight = _sample(cluster.centre)
    functions = cluster.at(kappa)[0] * weight
    found = functions[:, [bool(column) for column in cluster.series]]
    values = np.linalg.svd(found / np.linalg.norm(found, axis=0), compute_uv=False)
    if values.size and values[-1] < _TOO_CLOSE:
        raise NotConverged(
            "the mean features of readout values that are weak or nearly equal differ by less than rounding",
            "give a dimension, or make values equal that are nearly so",
        )


def _sample(centre: Block) -> tuple[Array, Array]:
    """Points of kappa [N, q] where the features of a centre are resolved, and roots of their weights [N, 1]."""
    rank, loadings = len(centre.loadings), np.array(centre.loadings, float)
    each, beside = _EACH[rank]
    even = np.linspace(-_FARTHEST, _FARTHEST, beside)
    axes = [along_spike(centre, each) if loadings.any() else even, *(even,) * (rank - 1)]
    kappa = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    if loadings.any():
        turn = np.linalg.qr(np.column_stack([loadings, np.eye(rank)]))[0]
        turn[:, 0] = loadings / np.linalg.norm(loadings)  # the first axis is theirs, in their direction
        kappa = kappa @ turn.T
    return kappa, np.exp(-0.25 * (kappa**2).sum(axis=1, keepdims=True))
