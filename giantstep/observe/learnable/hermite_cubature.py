"""Hermite coefficients of a link of several indices by nested adaptive quadrature, where no rule gives them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from derive.gaussian.hermite_table import HermiteTable, factorials, multi_indices
from derive.language.grammar import Node
from derive.language.links import variables_of
from giantstep.quadrature.cubature import EDGES, Average, Unsettled, nesting
from giantstep.quadrature.kinks import degree
from giantstep.spec.expressions import Array

_TOLERANCES = (1e-10, 1e-7)  # the second where the first needs too many evaluations
_AGREE = 1e-5
_BATCH = 1 << 11


@dataclass
class _HermiteAverage(Average):
    """Rows E f He_m/sqrt(m!) of the names still to be averaged, |m| <= highest."""

    table: list[list[tuple[int, ...]]] = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        count = len(self.names)
        self.table = [multi_indices(count - depth, self.highest) for depth in range(count + 1)]

    def innermost(self, values: Array) -> Array:
        return values[None]

    def joined(self, polynomials: list[Array], inner: Array, depth: int) -> Array:
        place = {m: i for i, m in enumerate(self.table[depth + 1])}
        return np.stack([polynomials[m[0]] * inner[place[m[1:]]] for m in self.table[depth]])

    def scales(self, depth: int) -> Array:
        return np.full(len(self.table[depth]), self.size)

    def nodes(self, known: int) -> int:
        return (known + self.highest) // 2 + 1


def hermite_by_cubature(node: Node, names: tuple[str, ...], highest: int, norm: float) -> HermiteTable:
    """The table of an expression up to a degree; what counts as zero follows from the tolerance that was reached and
    from how much two sets of panels differ. Raises Unsettled.
    """
    order = nesting(node, tuple(name for name in names if name in variables_of(node)))
    degrees = tuple(degree(node, name) for name in order)
    indices = multi_indices(len(order), highest)
    for tolerance in _TOLERANCES:
        try:
            rows = [
                _HermiteAverage(node, order, degrees, 1.0, edges, tolerance, _BATCH, highest=highest).level(
                    np.empty((0, 1))
                )[:, 0]
                for edges in EDGES
            ]
        except Unsettled:
            if tolerance == _TOLERANCES[-1]:
                raise
            continue
        break
    gap = float(np.max(np.abs(rows[0] - rows[1]))) / norm
    if gap > _AGREE:
        raise Unsettled(f"two sets of panels differ by {gap:.1g}")
    values = {}
    for m, value in zip(indices, rows[1].tolist(), strict=True):
        by_name = dict(zip(order, m, strict=True))
        full = tuple(by_name.get(name, 0) for name in names)
        values[full] = value * float(np.sqrt(factorials(full)))
    zero = max(100.0 * tolerance, 10.0 * gap)
    return HermiteTable(len(names), highest, False, values, norm, zero, 16).without_zeros()
