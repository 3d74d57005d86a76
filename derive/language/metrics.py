"""Metrics: expressions in the label y and the output f, or comparisons of two of them."""

from __future__ import annotations

import re

from derive.language.grammar import ExpressionError, Node, constant_value, parse, shorten

VARIABLES = ("y", "f")
_COMPARED = re.compile(r"(<=|>=|==|!=|<|>|=)")


def parse_metric(text: str) -> Node:
    """The tree of a metric: of ``a < b`` that of step(b - a), 1 where it holds, 0 where not and 1/2 where a = b.

    Raises ExpressionError for anything outside the grammar.
    """
    if not isinstance(text, str):
        raise ExpressionError(f"a metric must be text, got {shorten(text)}", 'for example "y*f < 0"')
    left, *further = _COMPARED.split(text)
    if not further:
        return parse(text, VARIABLES)
    sign, right, *more = further
    if more or sign in ("==", "!=", "="):
        raise ExpressionError(
            f"the metric {shorten(text)} is no comparison of two expressions by < or >",
            'write one comparison, as in "abs(y - f) < 2"; of several conditions take products of step(...)',
        )
    sides = (left, right) if sign.startswith("<") else (right, left)
    low, high = (parse(side, VARIABLES) for side in sides)
    return Node("call", (_difference(high, low),), "step")


def _difference(high: Node, low: Node) -> Node:
    """high - low; where one is zero without it, so that the factors of the other are seen."""
    if constant_value(high) == 0.0:
        return Node("neg", (low,))
    return high if constant_value(low) == 0.0 else Node("sub", (high, low))
