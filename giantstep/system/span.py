"""Orthonormal coordinates of the span of the mean features mu0_b(kappa), for the equations at infinite dimension.

There m enters through ``sum_b m_b mu0_b(kappa)`` alone. Where the mu0_b are linearly dependent (a linear activation,
relu with the values u, -u, 2u, -2u, a feature that vanishes) single m_b are not determined, and where they are nearly
so the equations in m are nearly singular. In coordinates c of orthonormal functions e_i of the same span,
``sum_i c_i e_i = sum_b m_b mu0_b``, they are neither. Of the m that give the same function the one of least
``sum_b m_b^2/T_b`` is reported: the limit of the finite-size term of THEORY section 6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from giantstep.quadrature.panels import ORDERS, Term, table
from giantstep.quadrature.tensor import Shape, tensor_table
from giantstep.spec.errors import NotConverged
from giantstep.spec.matrix import Rows
from giantstep.system.problem import Problem

Array = np.ndarray
# What a mean feature has beside the others, relative to the norm of its block's features, and is taken for rounding:
# where features are dependent 1e-16 to 1e-15 is left, by measurement.
ROUNDING = 1e-13
_NEAR = 1e-9


@dataclass(frozen=True)
class Span:
    """``e_i = sum_b mu0_b basis[b, i]`` and ``mu0_b = sum_i e_i coordinates[i, b]``, [K, K], zero from the rank on.

    null [K, K - rank]: combinations of the mean features that vanish; least: what the last e_i had beside the others,
    relative to its size: rounding makes of it an error of some 1e-16/least; dropped: what was taken for rounding.
    """

    basis: Array
    coordinates: Array
    null: Array
    rank: int
    least: float
    dropped: float

    def columns(self, rows: Array) -> Array:
        """A table with e_i in the place of mu0_b: zero columns from the rank on; read-only."""
        found = rows.copy()
        blocks = len(self.basis)
        found[:, -3 * blocks : -2 * blocks] = self.functions(rows[:, -3 * blocks : -2 * blocks])
        found.flags.writeable = False
        return found

    def functions(self, mu0: Array) -> Array:
        """e_i, [N, K], from mu0_b, [N, K]; the same sums on every machine."""
        return np.asarray(np.einsum("nb,bi->ni", mu0, self.basis, optimize=False))

    def inward(self, m: Array) -> Array:
        """The coordinates c [K] of m [K]."""
        return np.asarray(np.einsum("ib,b->i", self.coordinates, m))

    def outward(self, c: Array, response: Array) -> Array:
        """m [K] of the coordinates c [K], of least ``sum_b m_b^2/T_b``; response: T_b [K] up to a factor."""
        m = np.einsum("bi,i->b", self.basis, c)
        vanishing: list[Array] = []
        for number in range(self.null.shape[1]):
            column = self.null[:, number]
            for _ in range(2):  # once more against rounding
                for other in vanishing:
                    column = column - other * _product(other, column / response)
                column = column / np.sqrt(_product(column, column / response))
            vanishing.append(column)
            m = m - column * _product(column, m / response)
        return np.asarray(m)


def span_of(problem: Problem) -> Span | None:
    """The span of the mean features of a problem; None where m is regularised, or where it is one that is not zero.

    Raises NotConverged where rounding hides a feature that counts. Source: THEORY section 4, what fixes m.
    """
    if problem.parameters[4] > 0.0:
        return None
    span = _span(problem.blocks, problem.loadings, problem.target)
    if span.rank < len(problem.blocks) and _hides(problem, span.rank):
        raise NotConverged(
            "the mean features of the readout values differ by less than rounding, and at infinite dimension the "
            "readout reads any difference",
            "give a dimension, a stronger spike or a larger learning rate; make values equal that are nearly so",
        )
    return None if len(problem.blocks) == span.rank == 1 else span


def _hides(problem: Problem, rank: int) -> bool:
    """Whether features that are dependent in double precision are not so by themselves.

    The rank does not depend on the strength of the spike: a weak one, whose features differ by powers of it, is held
    against one that moves pre-activations by their own spread. Unequal values within 1e-9 are never dependent.
    """
    if problem.loadings is None:
        sizes = sorted(abs(term.scale) for term in problem.blocks)
        if any(0.0 < b - a < _NEAR * b for a, b in zip(sizes, sizes[1:], strict=False)):
            return True
    strong = at_unit_strength(problem)
    return strong is not None and _span(strong.blocks, strong.loadings, strong.target).rank > rank


def at_unit_strength(problem: Problem) -> Problem | None:
    """A problem with a weak spike, all its strengths raised until one moves pre-activations by their own spread.

    None where one does already, where there is no spike, and in the limit of a small step.
    """
    blocks, loadings = problem.blocks, problem.loadings
    if any(term.polynomial is not None for term in blocks):
        return None
    rows = [(term.scale,) for term in blocks] if loadings is None else loadings
    strength = max(math.hypot(*row) / math.sqrt(term.variance) for row, term in zip(rows, blocks, strict=True))
    if not 0.0 < strength < 1.0:
        return None
    if loadings is None:
        return replace(problem, blocks=tuple(replace(term, scale=term.scale / strength) for term in blocks))
    return replace(problem, loadings=tuple(tuple(x / strength for x in row) for row in loadings))


@lru_cache(maxsize=128)
def _span(blocks: tuple[Term, ...], loadings: Rows | None, target: Term | None) -> Span:
    if loadings is None:
        rows = table(blocks, target or blocks[0], ORDERS[-1])
    else:
        rows = tensor_table(Shape(blocks, loadings, target), (1.0,) * len(loadings[0]))
    mu0, mu1, mu2sq = np.split(rows[:, -3 * len(blocks) :], 3, axis=1)
    weight = rows[:, 1, None]
    return orthonormal(np.sqrt(weight) * mu0, np.sqrt((weight * (mu0**2 + mu1**2 + mu2sq)).sum(axis=0)))


def orthonormal(columns: Array, sizes: Array) -> Span:
    """The span of columns [N, K], whose rounding errors are of the given sizes [K] times the machine's precision.

    Gram-Schmidt, twice, the largest rest first; sums are taken in a fixed order, by no linear algebra library.
    """
    count = columns.shape[1]
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    rest, orthogonal = columns / sizes, np.zeros_like(columns)
    basis, coordinates = np.zeros((count, count)), np.zeros((count, count))
    waiting, rank, least, dropped = list(range(count)), 0, 1.0, 0.0
    while waiting:
        norms = np.sqrt((rest[:, waiting] ** 2).sum(axis=0))
        place = int(np.argmax(norms))
        if not norms[place] > ROUNDING:
            dropped = float(norms[place])
            break
        chosen, least = waiting.pop(place), min(least, float(norms[place]))
        vector, combination = rest[:, chosen], np.zeros(count)
        combination[chosen] = 1.0 / sizes[chosen]
        combination -= np.einsum("bi,i->b", basis, coordinates[:, chosen])
        again = [_product(orthogonal[:, i], vector) for i in range(rank)]
        for i, part in enumerate(again):
            vector = vector - orthogonal[:, i] * part
            combination -= basis[:, i] * part
            coordinates[i, chosen] += part
        norm = np.sqrt(_product(vector, vector))
        orthogonal[:, rank], basis[:, rank], coordinates[rank, chosen] = (
            vector / norm,
            combination / norm,
            norm,
        )
        for other in waiting:
            part = _product(orthogonal[:, rank], rest[:, other])
            rest[:, other] -= orthogonal[:, rank] * part
            coordinates[rank, other] = part
        rank += 1
    dependent = np.eye(count)[:, waiting] / sizes[waiting] - np.einsum("bi,iw->bw", basis, coordinates[:, waiting])
    return Span(basis, coordinates * sizes, dependent, rank, least, dropped)


def _product(first: Array, second: Array) -> float:
    return float((first * second).sum())
