"""The numpy functions of a loss, for the simulator: value, slope and curvature in f, and its kinks. No SymPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

import numpy as np

from derive.language.grammar import Node, parse
from derive.language.loss_catalogue import LossEntry, lookup
from giantstep.simulate.convex import ConvexLoss
from giantstep.spec.expressions import Array, jet, prepare

#: Labels at which a loss that is neither of f - y nor of y f is searched for kinks.
_LABELS = (1.0, -1.0, 0.37, -2.6)
_KINKED = frozenset({"abs", "relu", "sign", "step", "max", "min", "clip", "sqrt"})
_DECADES = np.geomspace(1e-9, 1e6, 3001)
# distances on either side of a point: a jump of the slope is the same at both, the change of a continuous one is not
_BESIDE = (1e-6, 1e-8)
_JUMP = 1e-6


def convex_loss(text: str, parameters: tuple[tuple[str, float], ...] = ()) -> ConvexLoss:
    """The loss of a registered name or an expression in y and f, at numbers for its parameters.

    Raises ExpressionError where the text is no loss.
    """
    return convex_loss_of(lookup(text), parameters)


@lru_cache(maxsize=64)
def convex_loss_of(entry: LossEntry, parameters: tuple[tuple[str, float], ...] = ()) -> ConvexLoss:
    """The loss of a catalogue entry, at numbers for its parameters.

    Kinks are found from the expression's tree: zeros of what stands in abs, relu, max, min, clip, sqrt and powers.
    """
    node, numbers = parse(entry.expression, entry.variables), dict(parameters)
    prepared = prepare(node)

    def value(y: Array, f: Array) -> Array:
        return jet(prepared, "f", {**numbers, "y": y, "f": f}, 0)[0]

    def derivatives(y: Array, f: Array) -> tuple[Array, Array]:
        _, slope, curvature = jet(prepared, "f", {**numbers, "y": y, "f": f}, 2)
        return slope, curvature

    labels = {"residual": (0.0,), "margin": (1.0,)}.get(entry.form, _LABELS)
    found = [_kinks(node, numbers, label) for label in labels]
    if any(len(one) != len(found[0]) or not np.allclose(one, found[0], rtol=1e-9, atol=1e-12) for one in found):
        moving = lru_cache(maxsize=1 << 16)(lambda label: _kinks(node, numbers, label))
        return ConvexLoss(value, derivatives, entry.form, (), entry.name, moving)
    return ConvexLoss(value, derivatives, entry.form, found[0], entry.name)


def _kinks(node: Node, numbers: Mapping[str, float], label: float) -> tuple[float, ...]:
    """Points in f, increasing, where the slope of the loss jumps at a label."""

    def at(part: Node, f: Array, order: int) -> Array:
        return jet(part, "f", {**numbers, "y": np.array(label), "f": f}, order)[order]

    def zeros(part: Node, grid: Array) -> Array:
        return _zeros(lambda f: at(part, f, 0), grid)

    grid = np.unique(np.concatenate([-_DECADES, _DECADES, [0.0, 1.0, -1.0]]))
    candidates = np.empty(0)
    for part in _arguments(node):
        # zeros of inner parts split the grid for the outer ones: |u| - 1e-3 has two zeros beside that of u
        candidates = np.union1d(candidates, zeros(part, np.union1d(grid, candidates)))
    if not candidates.size:
        return ()
    merged = candidates[np.concatenate([[True], np.diff(candidates) > 1e-11 * (1.0 + np.abs(candidates[1:]))])]
    wide, narrow = (_jump(lambda f: at(node, f, 1), merged, gap) for gap in _BESIDE)
    return tuple(float(x) for x in merged[(narrow > 0.5 * wide) & (narrow > 0.0)])


def _jump(slope: Callable[[Array], Array], points: Array, gap: float) -> Array:
    """Change of the slope across each point, where it exceeds rounding."""
    step = gap * (1.0 + np.abs(points))
    below, above = slope(points - step), slope(points + step)
    change, size = np.abs(above - below), np.maximum(np.abs(above), np.abs(below))
    return np.where(change > _JUMP * size, change, 0.0)


def _arguments(node: Node) -> Iterator[Node]:
    """What changes sign where a part of the tree has a kink or jump, inner parts first."""
    for argument in node.args:
        yield from _arguments(argument)
    if node.op == "pow":
        yield node.args[0]
    if node.op != "call" or node.value not in _KINKED:
        return
    if node.value in ("max", "min"):
        yield Node("sub", node.args)
    elif node.value == "clip":
        yield from (Node("sub", (node.args[0], bound)) for bound in node.args[1:])
    else:
        yield node.args[0]


def _zeros(function: Callable[[Array], Array], grid: Array) -> Array:
    """Zeros on the grid and changes of sign between its points, by bisection to neighbouring numbers."""
    values = function(grid)
    exact = grid[(values == 0.0) & ~_flat(values)]
    change = np.flatnonzero(values[:-1] * values[1:] < 0.0)
    low, high, sign = grid[change], grid[change + 1], np.sign(values[change])
    for _ in range(200):
        middle = 0.5 * (low + high)
        if np.all((middle == low) | (middle == high)):
            break
        below = np.sign(function(middle)) == sign
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.union1d(exact, high)


def _flat(values: Array) -> np.ndarray:
    """Entries with a zero on both sides: the function vanishes on an interval there."""
    zero = np.concatenate([[True], values == 0.0, [True]])
    inside: np.ndarray = zero[:-2] & zero[2:]
    return inside
