"""What the numbers of a link leave open, as they were given with so many digits: coefficients that are rounding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from derive.gaussian.hermite_table import HermiteTable, factorials
from derive.language.grammar import Node, canonical
from derive.language.links import Link

if TYPE_CHECKING:
    from derive.hermite_tensors import Tensors  # loads SymPy

MANY = 8  # digits of a number that is taken as rounded at its last one, and not as exact


def without_rounding(
    link: Link, table: HermiteTable, tensors: Callable[[Link], Tensors | None]
) -> tuple[HermiteTable, float]:
    """The table without coefficients that numbers of the link decide within a unit of their last digit, and the
    largest c_m/sqrt(m!) of these over sqrt(E f^2); 0 where there are none.

    Numbers of fewer than MANY digits are exact. c_m is known to the sum over the others of how far each moves it.
    """
    known: dict[tuple[int, ...], float] = {}
    for given in sorted(_rounded(link.node)):
        moved = tensors(replace(link, node=_with(link.node, given, given + _unit(given))))
        if moved is None:
            return table, 0.0
        for m, value in table.coefficients.items():
            known[m] = known.get(m, 0.0) + abs(float(moved.table.coefficients.get(m, 0) - value))
    open_ = {m: c for m, c in table.coefficients.items() if abs(c) <= known.get(m, 0.0)}
    kept = {m: c for m, c in table.coefficients.items() if m not in open_}
    largest = max((abs(float(c)) / factorials(m) ** 0.5 for m, c in open_.items()), default=0.0)
    return replace(table, coefficients=kept), largest / table.norm


def _rounded(node: Node) -> set[Fraction]:
    """The numbers of many digits in a tree."""
    if node.op == "number":
        value = Fraction(str(node.value))
        return {value} if len(_digits(value).strip("0")) >= MANY else set()
    return set().union(*(_rounded(argument) for argument in node.args))


def _digits(value: Fraction) -> str:
    """The digits of a decimal number, without its point and its exponent."""
    return canonical(Node("number", value=value)).partition("e")[0].replace(".", "")


def _unit(value: Fraction) -> Fraction:
    """One at the place of the last digit that is not zero."""
    unit = Fraction(1)
    while (value / unit).denominator != 1:
        unit /= 10
    while value != 0 and (value / (10 * unit)).denominator == 1:
        unit *= 10
    return unit


def _with(node: Node, old: Fraction, new: Fraction) -> Node:
    """The tree with another number wherever one stands."""
    if node.op == "number":
        return replace(node, value=new) if node.value == old else node
    return replace(node, args=tuple(_with(argument, old, new) for argument in node.args))
