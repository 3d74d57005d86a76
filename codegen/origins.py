"""The ends of pieces of a loss from which places on them are counted: all digits of the distance count where its
curvature is infinite, and where its slope vanishes, which the prox of a large V is next to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import sympy as sp

from derive.loss.loss import LossAnalysis, U

_NOT_FINITE = (sp.nan, sp.zoo, sp.oo, sp.S.NegativeInfinity)
_FREE = -1  # of a piece that is counted from 0


@dataclass(frozen=True)
class Counted:
    """A loss, cut so that a piece has one end of infinite curvature at most; all its pieces in the distance to that
    end, to one where the slope vanishes, or in u; the number of the piece that ends there (-1: in u); and whether the
    curvature there is infinite.
    """

    analysis: LossAnalysis
    pieces: tuple[sp.Expr, ...]
    origins: tuple[int, ...]
    sharp: tuple[bool, ...]


def counted(analysis: LossAnalysis) -> Counted:
    """The loss as the averages take it."""
    parts = [_one_end_each(part) for part in analysis.parts()]
    first = accumulate((len(part.pieces) for part in parts), initial=0)
    pieces, origins, sharp = [], [], []
    for start, part in zip(first, parts, strict=False):
        for number, piece in enumerate(part.pieces):
            of_infinite = _sharp_ends(part, number)
            ends = of_infinite or _level_ends(part, number)
            sharp.append(bool(of_infinite))
            pieces.append(_from_place(piece, part.breakpoints[ends[0]]) if ends else piece)
            origins.append(start + ends[0] if ends else _FREE)
    cut = replace(analysis, cells=tuple(parts)) if analysis.cells else parts[0]
    return Counted(cut, tuple(pieces), tuple(origins), tuple(sharp))


def joined(value: Any) -> Any:
    """With powers of -u in one: SymPy leaves (-u)**(3/2)/u, which is not a number at the end of its piece."""
    if not any(node.base == -U for node in value.atoms(sp.Pow)):
        return value
    below = sp.Symbol("w", positive=True)
    return value.subs(U, -below).subs(below, -U)


def _one_end_each(analysis: LossAnalysis) -> LossAnalysis:
    edges, pieces = list(analysis.breakpoints), list(analysis.pieces)
    for number in reversed(range(1, len(pieces) - 1)):
        if len(_sharp_ends(analysis, number)) == 2:
            edges.insert(number, (edges[number - 1] + edges[number]) / 2)
            pieces.insert(number, pieces[number])
    return replace(analysis, breakpoints=tuple(edges), pieces=tuple(pieces))


def _sharp_ends(analysis: LossAnalysis, number: int) -> list[int]:
    """The edges of a piece where its curvature is infinite."""
    curvature = joined(sp.diff(joined(sp.diff(analysis.pieces[number], U)), U))
    near = _ends(analysis, number)
    return [k for k in near if _from_place(curvature, analysis.breakpoints[k]).subs(U, 0).has(*_NOT_FINITE)]


def _level_ends(analysis: LossAnalysis, number: int) -> list[int]:
    """The edges of a piece where its slope vanishes; none of one that is flat."""
    slope = joined(sp.diff(analysis.pieces[number], U))
    if not slope.has(U):
        return []
    near = _ends(analysis, number)
    return [k for k in near if sp.simplify(_from_place(slope, analysis.breakpoints[k]).subs(U, 0)) == 0]


def _ends(analysis: LossAnalysis, number: int) -> list[int]:
    """The edges of a piece."""
    return [k for k in (number - 1, number) if 0 <= k < len(analysis.breakpoints)]


def _from_place(value: Any, place: Any) -> Any:
    """A function of u as one of the distance u - place, with arguments in which nothing cancels."""
    return value.subs(U, place + U).replace(
        lambda node: isinstance(node, sp.Pow | sp.Function) and node.args[0].is_polynomial(U),
        lambda node: node.func(sp.factor(sp.expand(node.args[0])), *node.args[1:]),
    )
