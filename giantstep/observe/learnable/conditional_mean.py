"""What a readout on learned directions can do at best: the error E Var(f | P_U z) that it cannot go below."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from derive.language.grammar import Node
from derive.language.links import Link
from derive.language.substitution import linear_form, substituted
from giantstep.law.multi_index_moments import moments_of
from giantstep.quadrature.cubature import EDGES, Average, Unsettled, nesting
from giantstep.quadrature.kinks import degree
from giantstep.spec.expressions import Array

_TOLERANCES = (1e-10, 1e-7)  # the second where the first needs too many evaluations
_AGREE = 1e-5


@dataclass
class _OfConditionalMean(Average):
    """E h and E h^2 of h = E[f | the first ``given`` names]."""

    given: int = 0

    def level(self, outer: Array) -> Array:
        rows = super().level(outer)
        if outer.shape[0] == self.given:
            rows = np.concatenate([rows[:1], rows[:1] ** 2, rows[2:]])
        return rows


def explained(link: Link, basis: Array, found: int, size: float = 0.0) -> float:
    """E[E[f | u]^2] of a link f, u the first ``found`` of the coordinates basis[j].z; rows orthonormal.

    Sums and products of independent parts are taken apart; the rest is integrated adaptively, twice, and must agree to
    1e-5 of itself or of ``size`` = E f^2. Raises Unsettled.
    """
    names = tuple(f"z{j + 1}" for j in range(link.indices))
    forms = {name: linear_form(basis[:, i].tolist(), names) for i, name in enumerate(link.variables)}
    node = substituted(link.node, forms)
    given = frozenset(names[:found])

    try:
        first, second = (_square(node, given, panels, _TOLERANCES[0]) for panels in range(2))
    except Unsettled:
        first, second = (_square(node, given, panels, _TOLERANCES[1]) for panels in range(2))
    if abs(first - second) > _AGREE * max(abs(second), size, 1e-300):
        raise Unsettled(f"two sets of panels give {first:.9g} and {second:.9g}")
    return second


def _square(node: Node, given: frozenset[str], panels: int, tolerance: float) -> float:
    def leaf(part: Node, names: tuple[str, ...], scale: float, panels: int) -> list[float]:
        return _leaf(part, names, given, panels, tolerance)

    return moments_of(node, 1.0, panels, leaf).square


def _leaf(node: Node, names: tuple[str, ...], given: frozenset[str], panels: int, tolerance: float) -> list[float]:
    """E f, E h^2 with h = E[f | given], and zeros for the moments that are not needed."""
    outer = nesting(node, tuple(name for name in names if name in given))
    order = (*outer, *nesting(node, tuple(name for name in names if name not in given)))
    degrees = tuple(degree(node, name) for name in order)
    average = _OfConditionalMean(node, order, degrees, 1.0, EDGES[panels], tolerance=tolerance, given=len(outer))
    mean, square, *_ = average.level(np.empty((0, 1)))[:, 0].tolist()
    return [mean, square, *[0.0] * len(names)]
