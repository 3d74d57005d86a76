"""Kinks and jumps of an expression of several variables, and zeros along one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import product

import numpy as np

from derive.language.grammar import Node, constant_value
from derive.language.links import variables_of
from derive.language.substitution import substituted
from giantstep.spec.expressions import Array, jet
from giantstep.spec.probes import is_multiple, places

LINE = "t"  # no name of an index
_CONTINUOUS = ("abs", "relu", "max", "min", "clip")  # kinks without jumps
_GRID = 193  # points at which a kink is looked for
_BISECTIONS = 52
_BRANCHES = 8  # of an expression with kinks inside, at most: with more it is taken as it is
_SAME = 1e-12  # relative distance of two expressions that are one


def along_a_line(node: Node, names: Iterable[str]) -> Node:
    """The tree with the variable ``LINE`` in the place of some: its degree there is that of all of them together."""
    return substituted(node, dict.fromkeys(names, Node("variable", value=LINE)))


def degree(node: Node, name: str, pieces: bool = False) -> int | None:
    """Degree as a polynomial in one variable, the others held fixed; None where it is not one.

    pieces: of the polynomials between the kinks, where it is made of such.
    """
    if name not in variables_of(node):
        return 0
    if node.op == "variable":
        return 1
    if pieces and node.op == "call" and node.value in ("sign", "step"):
        return 0
    parts = [degree(argument, name, pieces) for argument in node.args]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    if node.op in ("neg", "add", "sub"):
        return max(known)
    if node.op == "mul":
        return sum(known)
    if node.op == "div" and known[1] == 0:
        return known[0]
    if node.op == "pow":
        exponent = constant_value(node.args[1])
        whole = exponent is not None and exponent >= 0.0 and exponent == int(exponent)
        return known[0] * int(exponent or 0.0) if whole else None
    if node.op == "call" and node.value == "He" and isinstance(node.args[0].value, Fraction):
        return known[1] * int(node.args[0].value)
    return max(known) if pieces and node.op == "call" and node.value in _CONTINUOUS else None


def kinks(node: Node) -> Iterator[Node]:
    """Expressions whose zeros are the kinks and jumps of a tree, products taken apart."""
    for argument in node.args:
        yield from kinks(argument)
    if node.op != "call":
        return
    if node.value in ("sign", "step", "abs", "relu"):
        yield from zeros_of(node.args[0])
    elif node.value in ("max", "min"):
        yield from zeros_of(Node("sub", node.args))
    elif node.value == "clip":
        for bound in node.args[1:]:
            yield Node("sub", (node.args[0], bound))


def roots_and_logarithms(node: Node) -> Iterator[Node]:
    """Expressions at whose zeros a tree has a root or a logarithm, beside which it has no series."""
    if constant_value(node) is not None:
        return
    for argument in node.args:
        yield from roots_and_logarithms(argument)
    if node.op == "call" and node.value in ("sqrt", "log"):
        yield from zeros_of(node.args[0])


def kinks_of_roots(node: Node) -> Iterator[Node]:
    """Expressions at whose zeros a tree that is finite everywhere has a root, a logarithm or a power without a series.

    An argument that is no product or power and has no kink is above zero everywhere, as in sqrt(1 + f**2).
    """
    if constant_value(node) is not None:
        return
    for argument in node.args:
        yield from kinks_of_roots(argument)
    power = constant_value(node.args[1]) if node.op == "pow" else None
    if (node.op == "call" and node.value in ("sqrt", "log")) or (power is not None and power != int(power)):
        yield from (zero for zero in zeros_of(node.args[0]) if zero != node.args[0])


def jumps_only(node: Node, name: str) -> bool:
    """Whether an expression knows a variable by signs and steps only, and is constant in it between their jumps."""
    if name not in variables_of(node) or (node.op == "call" and node.value in ("sign", "step")):
        return True
    return node.op != "variable" and all(jumps_only(argument, name) for argument in node.args)


def zeros_of(node: Node) -> Iterator[Node]:
    """Expressions that vanish where this one does, products and branches taken apart."""
    if node.op in ("mul", "div"):
        for part in node.args:
            yield from zeros_of(part)
    elif node.op == "neg" or node.op == "pow":
        yield from zeros_of(node.args[0])
    else:
        yield from _different([each for each in _branches(node) if variables_of(each)])


def _branches(node: Node) -> list[Node]:
    """The expressions without kinks of which a node is one, each somewhere: zeros of |a| - |b| are those of a - b or
    a + b. The node itself where they are too many.
    """
    inside = list(product(*(_branches(argument) for argument in node.args)))
    whole = [Node(node.op, each, node.value) for each in inside]
    if node.op == "call":
        whole = [piece for each in whole for piece in _pieces(each)]
    return whole if len(whole) <= _BRANCHES else [node]


def _pieces(node: Node) -> tuple[Node, ...]:
    """What a call with a kink is before and after it."""
    one, zero = Node("number", value=Fraction(1)), Node("number", value=Fraction(0))
    if node.value == "abs":
        return node.args[0], Node("neg", node.args)
    if node.value == "relu":
        return node.args[0], zero
    if node.value in ("sign", "step"):
        return one, Node("neg", (one,)) if node.value == "sign" else zero
    return node.args if node.value in ("max", "min", "clip") else (node,)


def _different(nodes: list[Node]) -> list[Node]:
    """Expressions without those that are another one up to a factor, told by their values at some places."""
    names = sorted(frozenset[str]().union(*map(variables_of, nodes)))
    at = dict(zip(names, places(len(names)), strict=True))
    kept: list[tuple[Array, Node]] = []
    for node in nodes:
        values = np.asarray(jet(node, names[0], at, 0)[0])
        if not any(is_multiple(values, other, _SAME) for other, _ in kept):
            kept.append((values, node))
    return [node for _, node in kept]


def polynomial_zeros(at: Callable[[Array], Array], power: int) -> Array:
    """Zeros [power, M] of polynomials of degree 1 or 2 given by their values [M, n] at points [1, n]; nan for none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if power == 1:
            low, high = at(np.array([[-1.0, 1.0]])).T
            return np.asarray(((low + high) / (low - high))[None])
        low, mid, high = at(np.array([[-1.0, 0.0, 1.0]])).T
        slope, bend = 0.5 * (high - low), 0.5 * (high + low) - mid
        far = -0.5 * (slope + np.copysign(np.sqrt(slope**2 - 4.0 * bend * mid), slope))
        return np.stack([far / bend, mid / far])


def bracketed_zeros(at: Callable[[Array], Array], edges: tuple[float, ...]) -> Array:
    """Sign changes [R, M] of functions given by their values [M, n] at points, found on a grid; nan for none."""
    grid = np.linspace(edges[0], edges[-1], _GRID)
    positive = at(grid[None]) > 0.0
    owner, place = np.nonzero(positive[:, 1:] != positive[:, :-1])
    rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
    found = np.full((int(rank.max(initial=-1)) + 1, len(positive)), np.nan)
    brackets = np.full((2, *found.shape), np.nan)
    brackets[:, rank, owner] = grid[place], grid[place + 1]
    rising = np.zeros(found.shape, dtype=bool)
    rising[rank, owner] = positive[owner, place + 1]
    left, right = brackets
    for _ in range(_BISECTIONS if len(found) else 0):
        middle = 0.5 * (left + right)
        beyond = (at(middle.T).T > 0.0) == rising
        left, right = np.where(beyond, left, middle), np.where(beyond, middle, right)
    found[:] = 0.5 * (left + right)
    return found
