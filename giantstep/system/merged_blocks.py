"""Blocks with the same features are one block: merged before solving, told apart again in the answer.

The overlaps of equal blocks are not determined one by one in the limit of infinite dimension; the finite-size term, and
symmetry, share them in proportion to the fractions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from giantstep.system.problem import Problem, Solution

Array = np.ndarray


def merged(problem: Problem) -> tuple[Problem, Array]:
    """The problem with its distinct blocks, and for each original block the number of its distinct one."""
    loadings = problem.loadings or ((),) * len(problem.blocks)
    kinds = list(zip(problem.blocks, loadings, strict=True))
    distinct = tuple(dict.fromkeys(kinds))
    members = np.array([distinct.index(kind) for kind in kinds])
    if len(distinct) == len(problem.blocks):
        return problem, members
    fraction = np.bincount(members, weights=problem.fraction)
    blocks = tuple(term for term, _ in distinct)
    kept = tuple(row for _, row in distinct) if problem.loadings else None
    return replace(problem, blocks=blocks, fraction=fraction, loadings=kept), members


def parted(solution: Solution, members: Array, fraction: Array) -> Solution:
    """The solution for the original blocks, of the given fractions."""
    if len(members) == len(solution.order_parameters["Q2"]):
        return solution
    share = fraction / np.bincount(members, weights=fraction)[members]
    return replace(solution, order_parameters=_shared(solution.order_parameters, members, share))


def _shared(order: Mapping[str, Array], members: Array, share: Array) -> dict[str, Array]:
    vectors = {name: (order[name][members].T * share).T for name in ("m", "zeta", "psi", "Q2", "V2")}
    pairs = {
        matrix: _shared_pairs(order[matrix], vector, members, share)
        for matrix, vector in (("Q1", order["Q2"]), ("V1", order["V2"]))
    }
    return {**vectors, **pairs}


def _shared_pairs(matrix: Array, vector: Array, members: Array, share: Array) -> Array:
    """What neurons have in common is shared by both fractions, what each has by itself by one."""
    common = matrix - np.diag(vector)
    return np.asarray(common[np.ix_(members, members)] * np.outer(share, share) + np.diag(vector[members] * share))
