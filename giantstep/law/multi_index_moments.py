"""Moments of a link of several indices under independent standard normals, without computer algebra.

Sums and products of parts that share no index are taken apart. What is left is integrated one index inside the other:
exactly where it is a polynomial in the index, otherwise by adaptive Gauss-Kronrod panels between the kinks found in the
expression tree. Two different sets of panels must agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from typing import TypeAlias

import numpy as np

from derive.language.grammar import Node, constant_value
from derive.language.links import link_of, variables_of
from giantstep.law.moments import LinkMoments
from giantstep.quadrature.cubature import Unsettled, gaussian_moments
from giantstep.spec.errors import BadInput

_ONE = Node("number", value=Fraction(1))
_AGREE = 1e-10
_ROUNDING = 1e-13

Leaf: TypeAlias = Callable[[Node, tuple[str, ...], float, int], list[float]]


@dataclass(frozen=True)
class Moments:
    """E f, E z_i f for every index of a part, E f^2."""

    mean: float
    linear: Mapping[str, float]
    square: float

    def __add__(self, other: Moments) -> Moments:
        """Of the sum of two independent parts."""
        square = self.square + 2.0 * self.mean * other.mean + other.square
        return Moments(self.mean + other.mean, {**self.linear, **other.linear}, square)

    def __mul__(self, other: Moments) -> Moments:
        """Of the product of two independent parts."""
        linear = {name: x * other.mean for name, x in self.linear.items()}
        linear |= {name: x * self.mean for name, x in other.linear.items()}
        return Moments(self.mean * other.mean, linear, self.square * other.square)


@lru_cache(maxsize=256)
def index_moments(text: str, probit: float = 0.0) -> LinkMoments:
    """E f, E g_i f for every index and E f^2 of f = link(sqrt(1 + probit) g), g standard normal; to 1e-10 of E f^2.

    Raises BadInput where the averages do not settle.
    """
    link = link_of(text)
    scale = math.sqrt(1.0 + probit)
    try:
        answers = [moments_of(link.node, scale, panels) for panels in range(2)]
    except Unsettled as error:
        raise _unsettled(text, str(error)) from None
    names = link.variables
    first, second = (np.array([m.mean, *(m.linear.get(n, 0.0) for n in names), m.square]) for m in answers)
    size = math.sqrt(abs(second[-1]))
    scales = np.array([size] * (1 + len(names)) + [size**2])
    if not np.all(np.abs(first - second) <= _AGREE * scales):
        gap = float(np.max(np.abs(first - second) / scales))
        raise _unsettled(text, f"two sets of panels differ by {gap:.1g}")
    # what cancels to below the resolution vanishes: a moment of the other parity, say
    mean, *linear, square = np.where(np.abs(second) > _ROUNDING * scales, second, 0.0).tolist()
    return LinkMoments(mean, tuple(linear), square)


def _unsettled(text: str, reason: str) -> BadInput:
    return BadInput(
        f"the averages of target.link = {text!r} over its indices do not settle: {reason}",
        "use a smoother or slower growing link of fewer indices, or give [spike] in place of [step]",
    )


def moments_of(node: Node, scale: float, panels: int, leaf: Leaf | None = None) -> Moments:
    """Moments of an expression at scale * g, sums and products of independent parts taken apart.

    ``leaf`` integrates what is left, as ``gaussian_moments`` does: (node, names, scale, panels) -> E f, a square that
    adds up as E f^2 does, E g_i f. Raises Unsettled.
    """
    constant = constant_value(node)
    if constant is not None:
        return Moments(constant, {}, constant**2)
    for split, joined in ((_terms, Moments.__add__), (_factors, Moments.__mul__)):
        operation = "add" if split is _terms else "mul"
        parts = _independent(split(node), operation)
        if len(parts) > 1:
            return reduce(joined, (moments_of(part, scale, panels, leaf) for part in parts))
    names = tuple(sorted(variables_of(node)))
    mean, square, *linear = (leaf or gaussian_moments)(node, names, scale, panels)
    return Moments(mean, dict(zip(names, linear, strict=True)), square)


def _terms(node: Node) -> list[Node]:
    """Nodes whose sum is the node."""
    if node.op == "add":
        return [term for part in node.args for term in _terms(part)]
    if node.op == "sub":
        return [*_terms(node.args[0]), *(Node("neg", (term,)) for term in _terms(node.args[1]))]
    return [node]


def _factors(node: Node) -> list[Node]:
    """Nodes whose product is the node; sign and abs of a product are products."""
    if node.op == "mul":
        return [factor for part in node.args for factor in _factors(part)]
    if node.op == "neg":
        return [Node("neg", (_ONE,)), *_factors(node.args[0])]
    if node.op == "div":
        above = [] if node.args[0] == _ONE else _factors(node.args[0])
        return [*above, *(Node("div", (_ONE, factor)) for factor in _factors(node.args[1]))]
    if node.op == "call" and node.value in ("sign", "abs"):
        inner = _factors(node.args[0])
        return [Node("call", (factor,), node.value) for factor in inner] if len(inner) > 1 else [node]
    return [node]


def _independent(parts: list[Node], operation: str) -> list[Node]:
    """The parts joined to groups that share no variable."""
    groups: list[tuple[frozenset[str], Node]] = []
    for part in parts:
        names = variables_of(part)
        for group in [group for group in groups if group[0] & names]:
            groups.remove(group)
            names, part = names | group[0], Node(operation, (group[1], part))
        groups.append((names, part))
    return [part for _, part in groups]
