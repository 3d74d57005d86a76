"""Ranges of labels on which the kinks of a loss keep their order, where they move with the label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from derive.gaussian.breakpoints import real_zeros
from derive.language.grammar import ExpressionError
from derive.loss.pieces import Asking, resolved_labels, split_by_sign

_MOST = 40
_DIGITS = 40
_SHARES = tuple(sp.Rational(x) for x in ("0.0173", "0.4142", "0.9731"))


@dataclass(frozen=True)
class LabelRange:
    """The labels between two ends, which are not part of it; or the one label that both ends are."""

    low: sp.Expr
    high: sp.Expr

    @property
    def single(self) -> bool:
        """Whether it is one label."""
        return bool(self.low == self.high)

    def holds(self, label: Any) -> bool:
        """Whether a number lies in it."""
        value = sp.sympify(label)
        if self.single:
            return bool(self.low <= value) and bool(value <= self.high)
        return bool(self.low < value) and bool(value < self.high)

    def inside(self) -> tuple[sp.Expr, ...]:
        """Labels of the range, one of them far out where it has no end."""
        if self.single:
            return (self.low,)
        if self.low == -sp.oo and self.high == sp.oo:
            return (sp.Integer(7), sp.Rational(-13, 5), sp.S.One, sp.S.NegativeOne, sp.S.Zero, sp.Rational(1, 3))
        if self.low == -sp.oo:
            return tuple(self.high - x for x in (*_SHARES, 7))
        if self.high == sp.oo:
            return tuple(self.low + x for x in (*_SHARES, 7))
        return tuple(self.low + (self.high - self.low) * x for x in _SHARES)


@dataclass(frozen=True)
class LabelCell:
    """A range of labels and the loss there, without kinks in y alone; at a single label y is inserted."""

    labels: LabelRange
    expression: sp.Expr


def label_cells(expression: sp.Expr, u: sp.Symbol, y: sp.Symbol) -> tuple[LabelCell, ...]:
    """The labels, divided where the order of the kinks in u changes or a kink leaves to infinity, from left to right.

    One label decides how the function is cut; all quantities whose signs were asked for keep them up to their next
    zeros, so the cut holds there as well. Raises ExpressionError where such zeros are not found.
    """
    waiting = [(-sp.oo, sp.oo)]
    cells: list[LabelCell] = []
    while waiting:
        low, high = waiting.pop()
        label = LabelRange(low, high).inside()[1]
        inner, critical = _decisions(expression, u, y, label)
        zeros = [zero for zero in critical if low < zero < high]
        below = max((zero for zero in zeros if zero <= label), default=low)
        above = min((zero for zero in zeros if zero >= label), default=high)
        if below != above:
            cells.append(LabelCell(LabelRange(below, above), inner))
        for end in {below, above} - {low, high}:
            cells.append(LabelCell(LabelRange(end, end), expression.subs(y, end)))
        waiting += [(a, b) for a, b in ((low, below), (above, high)) if a != b]
        if len(cells) > _MOST:
            raise ExpressionError(
                f"the kinks of {expression} change their order at more than {_MOST // 2} labels",
                "write the loss with y - f or with y*f only",
            )
    return tuple(sorted(cells, key=lambda cell: (cell.labels.low.evalf(_DIGITS), cell.labels.high.evalf(_DIGITS))))


def _decisions(expression: sp.Expr, u: sp.Symbol, y: sp.Symbol, label: sp.Expr) -> tuple[sp.Expr, set[sp.Expr]]:
    """The expression without kinks in y alone, and the labels at which anything that was asked for is zero."""
    sample = Asking({y: label})
    inner = resolved_labels(expression, u, sample)
    split_by_sign(inner, u, frozenset({y}), (sample,))
    asked = {sp.simplify(value) for value in sample.asked if value.has(y)}
    places: set[sp.Expr] = set()
    for value in asked:
        if value.has(y):
            for part in sp.fraction(sp.together(value)):
                places |= set(real_zeros(part, y)) if part.has(y) else set()
    return inner, places
