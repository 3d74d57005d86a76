"""Blocks that are one up to a sign: merged before solving, told apart again in the answer.

Equal blocks have the same features. So have those of opposite values u and -u, and of opposite biases where they have
one, up to a sign: with an odd activation ``mu0_-u = -mu0_u`` and ``mu1_-u = mu1_u``, with an even one
``mu0_-u = mu0_u`` and ``mu1_-u = -mu1_u``, and mu2 is the same. Changing the signs of the readout weights, or of the
rows, makes one block the other: m_b takes the sign of mu0, as the overlap with the norms, zeta_b and psi_b that of mu1,
Q1_bc and V1_bc the product of two of these. The overlaps of such blocks are not determined one by one in the limit of
infinite dimension; the finite-size term, and symmetry, share them in proportion to the fractions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from giantstep.quadrature.mesh import Term
from giantstep.spec.kernels import function_kernel
from giantstep.spec.matrix import Rows
from giantstep.system.problem import Features, Problem, Solution

Array = np.ndarray
Kind = tuple[Term, tuple[float, ...]]  # the coefficients of a block: its term, and its loadings where there are some

#: Order parameters of a block that belong to each of its neurons, and not to their sum.
OF_ONE_NEURON = ("prox_width", "prox_variance")  # and prox_mean, which has a sign


@dataclass(frozen=True)
class Members:
    """For each original block [K] the number of its distinct one, and the signs of its mu0 and mu1 beside that."""

    block: Array
    mean: Array
    slope: Array

    @property
    def count(self) -> int:
        """The number of distinct blocks."""
        return int(self.block.max()) + 1

    @property
    def shift(self) -> Array:
        """The sign [K] of what multiplies kappa: opposite blocks have one of mu0 and mu1 with the other sign."""
        return np.asarray(self.mean * self.slope)

    def gathered(self, order: Mapping[str, Array]) -> dict[str, Array]:
        """Order parameters of the distinct blocks: those of their members add up, each with its sign."""
        select = (self.block[None, :] == np.arange(self.count)[:, None]).astype(float)
        along = select * self.slope
        by = {
            "m": select * self.mean,
            "norm": select * self.mean,
            "zeta": along,
            "psi": along,
            "Q2": select,
            "V2": select,
        }
        members = select / select.sum(axis=1, keepdims=True)
        by |= {**dict.fromkeys(OF_ONE_NEURON, members), "prox_mean": members * self.mean}
        found = {name: matrix @ order[name] for name, matrix in by.items() if name in order}
        return {**found, **{name: along @ order[name] @ along.T for name in ("Q1", "V1")}}


def merged(problem: Problem, opposite: bool = True) -> tuple[Problem, Members]:
    """The problem with its distinct blocks, and where its own went.

    opposite: merge opposite blocks too; not where the bias moves, which tells them apart. Blocks of given rows are
    told apart by these, and a penalty that is not even tells opposite ones apart.
    """
    penalty = problem.model.fit.penalty
    opposite = opposite and (penalty is None or penalty.even)
    features, members = _merged(problem.features, opposite)
    return problem if features is problem.features else problem._replace(features=features), members


@lru_cache(maxsize=128)
def _merged(features: Features, opposite: bool) -> tuple[Features, Members]:
    if features.model.bulk == "matrix" or len(features.blocks) == 1:
        every = np.arange(len(features.blocks))
        return features, Members(every, np.ones(len(every)), np.ones(len(every)))
    members, distinct = _members(features.blocks, features.loadings, opposite)
    if len(distinct) == len(features.blocks):
        return features, members
    fraction = np.bincount(members.block, weights=features.fraction)
    blocks = tuple(term for term, _ in distinct)
    kept = tuple(row for _, row in distinct) if features.loadings else None
    return replace(features, blocks=blocks, fraction=fraction, loadings=kept), members


def _members(blocks: tuple[Term, ...], loadings: Rows | None, opposite: bool) -> tuple[Members, tuple[Kind, ...]]:
    """Where the blocks went, and the distinct ones."""
    places: dict[Kind, tuple[int, float, float]] = {}
    distinct: list[Kind] = []
    for kind in zip(blocks, loadings or ((),) * len(blocks), strict=True):
        if kind not in places:
            places[kind] = (len(distinct), 1.0, 1.0)
            if opposite and len(blocks) > 1 and (signs := mirror_signs(kind[0])) is not None:
                places.setdefault(_mirrored(*kind), (len(distinct), *signs))
            distinct.append(kind)
    found = [places[kind] for kind in zip(blocks, loadings or ((),) * len(blocks), strict=True)]
    return Members(np.array([place for place, _, _ in found]), *np.array(found)[:, 1:].T), tuple(distinct)


def mirror_signs(term: Term) -> tuple[float, float] | None:
    """Signs of mu0 and mu1 of the block of the opposite value; None where its features are others."""
    if term.polynomial is not None:
        return None
    signs: dict[str, tuple[float, float]] = {"odd": (-1.0, 1.0), "even": (1.0, -1.0)}
    return signs.get(function_kernel(term.function).PARITY)


def _mirrored(term: Term, loadings: tuple[float, ...]) -> Kind:
    scale = term.scale if loadings else -term.scale  # beside loadings it is a size
    return Term(term.function, scale, -term.offset, term.variance), tuple(-x for x in loadings)  # of no polynomial


def parted(solution: Solution, members: Members, fraction: Array) -> Solution:
    """The solution for the original blocks, of the given fractions."""
    if len(members.block) == len(solution.order_parameters["Q2"]):
        return solution
    return solution._replace(order_parameters=shared(solution.order_parameters, members, fraction))


def shared(order: Mapping[str, Array], members: Members, fraction: Array) -> Mapping[str, Array]:
    """Order parameters of the original blocks from those of the distinct ones, with any further axes."""
    if len(members.block) == len(order["Q2"]):
        return order
    share = fraction / np.bincount(members.block, weights=fraction)[members.block]
    block, along = members.block, members.slope * share
    by = {
        "m": members.mean * share,
        "norm": members.mean * share,
        "zeta": along,
        "psi": along,
        "Q2": share,
        "V2": share,
    }
    by |= {**dict.fromkeys(OF_ONE_NEURON, np.ones(len(block))), "prox_mean": members.mean}
    vectors = {name: (order[name][block].T * factor).T for name, factor in by.items() if name in order}
    pairs = {
        matrix: _shared_pairs(order[matrix], vector, block, along)
        for matrix, vector in (("Q1", order["Q2"]), ("V1", order["V2"]))
    }
    mean = {name: order[name] for name in ("spanned",) if name in order}
    return {**vectors, **pairs, **mean}


def _shared_pairs(matrix: Array, vector: Array, block: Array, along: Array) -> Array:
    """What neurons have in common is shared by both fractions, what each has by itself by one."""
    common, places = matrix.copy(), np.arange(len(vector))
    common[places, places] -= vector
    found = (common[np.ix_(block, block)].T * np.outer(along, along)).T
    every = np.arange(len(block))
    found[every, every] += (vector[block].T * np.abs(along)).T
    return np.asarray(found)
