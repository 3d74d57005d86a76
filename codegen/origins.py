"""The ends of pieces of a loss where its curvature is infinite, from which places on them are counted."""

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
    end, or in u; and the number of the piece that ends there (-1: in u).
    """

    analysis: LossAnalysis
    pieces: tuple[sp.Expr, ...]
    origins: tuple[int, ...]


def counted(analysis: LossAnalysis) -> Counted:
    """The loss as the averages take it."""
    parts = [_one_end_each(part) for part in analysis.parts()]
    first = accumulate((len(part.pieces) for part in parts), initial=0)
    pieces, origins = [], []
    for start, part in zip(first, parts, strict=False):
        for number, piece in enumerate(part.pieces):
            ends = _sharp_ends(part, number)
            pieces.append(_from_place(piece, part.breakpoints[ends[0]]) if ends else piece)
            origins.append(start + ends[0] if ends else _FREE)
    cut = replace(analysis, cells=tuple(parts)) if analysis.cells else parts[0]
    return Counted(cut, tuple(pieces), tuple(origins))


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
    near = [k for k in (number - 1, number) if 0 <= k < len(analysis.breakpoints)]
    return [k for k in near if _from_place(curvature, analysis.breakpoints[k]).subs(U, 0).has(*_NOT_FINITE)]


def _from_place(value: Any, place: Any) -> Any:
    """A function of u as one of the distance u - place, with arguments in which nothing cancels."""
    return value.subs(U, place + U).replace(
        lambda node: isinstance(node, sp.Pow | sp.Function) and node.args[0].is_polynomial(U),
        lambda node: node.func(sp.factor(sp.expand(node.args[0])), *node.args[1:]),
    )
