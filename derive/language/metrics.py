"""Metrics: expressions in the label y and the output f, and comparisons of two of them.

A comparison is the whole metric, or stands in parentheses of its own, as in ``(y < 0)*abs(f)``.
"""

from __future__ import annotations

import re

from derive.language.grammar import ExpressionError, Node, canonical, constant_value, parse, shorten
from derive.language.substitution import substituted

VARIABLES = ("y", "f")
_COMPARED = re.compile(r"(<=|>=|==|!=|<|>|=)")
_GROUP = re.compile(r"(?P<before>[A-Za-z_]\w*\s*)?\((?P<inside>[^()]*)\)", re.ASCII)
# whether a number is positive, or not negative: labels may lie on the edge of a comparison, where a step is 1/2
_BEYOND = "x"
_HOLDS = {equal: parse(f"step(x) {sign} (1 - sign(x)**2)/2", (_BEYOND,)) for equal, sign in ((False, "-"), (True, "+"))}
_OPEN, _CLOSED = "[", "]"  # of parentheses that have been read; neither is in the grammar


def parse_metric(text: str) -> Node:
    """The tree of a metric; that of a comparison is 1 where it holds and 0 where not, also where both sides are equal.

    Raises ExpressionError for anything outside the grammar.
    """
    if not isinstance(text, str):
        raise ExpressionError(f"a metric must be text, got {shorten(text)}", 'for example "y*f < 0"')
    return _read(_without_groups(text) if _COMPARED.search(text) and not {_OPEN, _CLOSED} & set(text) else text)


def _without_groups(text: str) -> str:
    """The text with steps in the place of comparisons in parentheses, from the innermost outwards."""

    def written(group: re.Match[str]) -> str:
        before, inside = group["before"] or "", group["inside"]
        if not _COMPARED.search(inside):
            return f"{before}{_OPEN}{inside}{_CLOSED}"
        if before:
            raise ExpressionError(
                f"the metric {shorten(_plain(text))} compares inside the parentheses of {before.strip()}",
                f"close them before the comparison, or write {before.strip()}((a < b)) with parentheses of its own",
            )
        return _OPEN + canonical(_read(_plain(inside))).replace("(", _OPEN).replace(")", _CLOSED) + _CLOSED

    while (found := _GROUP.sub(written, text)) != text:
        text = found
    return _plain(text)


def _plain(text: str) -> str:
    return text.replace(_OPEN, "(").replace(_CLOSED, ")")


def _read(text: str) -> Node:
    """The tree of a text that compares outside parentheses only."""
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
    return substituted(_HOLDS[sign.endswith("=")], {_BEYOND: _difference(high, low)})


def _difference(high: Node, low: Node) -> Node:
    """high - low; where one is zero without it, so that the factors of the other are seen."""
    if constant_value(high) == 0.0:
        return Node("neg", (low,))
    return high if constant_value(low) == 0.0 else Node("sub", (high, low))
