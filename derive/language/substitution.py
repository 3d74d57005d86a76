"""Other coordinates in an expression tree: z_i replaced by a linear form of new variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from derive.language.grammar import Node


def substituted(node: Node, places: Mapping[str, Node]) -> Node:
    """The tree with variables replaced by trees."""
    if node.op == "variable":
        return places.get(str(node.value), node)
    return Node(node.op, tuple(substituted(argument, places) for argument in node.args), node.value)


def linear_form(slopes: Sequence[float], names: Sequence[str], constant: float = 0.0) -> Node:
    """constant + sum slopes[j] names[j], zeros left out."""
    terms = [] if constant == 0.0 else [number(constant)]
    for slope, name in zip(slopes, names, strict=True):
        variable = Node("variable", value=name)
        if slope != 0.0:
            terms.append(variable if slope == 1.0 else Node("mul", (number(slope), variable)))
    total = terms[0] if terms else number(0.0)
    for term in terms[1:]:
        total = Node("add", (total, term))
    return total


def number(value: float) -> Node:
    """The tree of a number, in as few digits as tell it."""
    size = Node("number", value=Fraction(repr(abs(float(value)))))
    return Node("neg", (size,)) if value < 0.0 else size
