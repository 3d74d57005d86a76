"""Gaussian averages of an expression over several variables: one integral inside the other, each adaptive.

Exact where the expression is a polynomial in a variable, and innermost where it is constant between jumps.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray

from derive.language.grammar import Node, constant_value
from derive.language.links import variables_of
from giantstep.quadrature.kinks import bracketed_zeros, degree, jumps_only, kinks, polynomial_zeros
from giantstep.spec.expressions import Array, jet, special

_TOLERANCE = 1e-13  # of sqrt(E f^2), for one panel of the innermost integral; those outside sum such errors
_MOST = 30_000_000  # evaluations
_BATCH = 1 << 14  # points of the outer variables that are handled together
_HALVINGS = 60
_ROOT_TWO_PI = math.sqrt(2.0 * math.pi)

Index = NDArray[np.intp]
# two sets of panels; each ends where the Gaussian weight of a function that a model may have is negligible
EDGES = ((-14.0, -4.5, 0.0, 4.5, 14.0), (-18.0, -6.0, -1.4, 1.6, 6.3, 18.0))

# Gauss-Kronrod rule of 15 points and the Gauss rule of 7 inside it: nodes from 1 down to 0, QUADPACK dqk15
# fmt: off
_NODES = (
    *(0.991455371120812639206854697526329, 0.949107912342758524526189684047851, 0.864864423359769072789712788640926),
    *(0.741531185599394439863864773280788, 0.586087235467691130294144691693226, 0.405845151377397166906606412076961),
    *(0.207784955007898467600689403773245, 0.0),
)
_KRONROD = (
    *(0.022935322010529224963732008058970, 0.063092092629978553290700663189204, 0.104790010322250183839876322541518),
    *(0.140653259715525918745189590510238, 0.169004726639267902826583426598550, 0.190350578064785409913256402421014),
    *(0.204432940075298892414161999234649, 0.209482141084727828012999174891714),
)
_GAUSS = (
    *(0.0, 0.129484966168869693270611432679082, 0.0, 0.279705391489276667901467771423780),
    *(0.0, 0.381830050505118944950369775488975, 0.0, 0.417959183673469387755102040816327),
)
# fmt: on


def _symmetric(half: tuple[float, ...], sign: float) -> Array:
    return np.array([*(sign * x for x in half[:-1]), half[-1], *half[-2::-1]])


_X, _WK, _WG = _symmetric(_NODES, -1.0), _symmetric(_KRONROD, 1.0), _symmetric(_GAUSS, 1.0)


class Unsettled(ArithmeticError):
    """The average did not reach its precision."""


def gaussian_moments(node: Node, names: tuple[str, ...], scale: float, panels: int) -> list[float]:
    """E f, E f^2 and E g_i f for every name, f the expression at scale * g; ``panels`` 0 or 1 chooses the panels.

    Raises Unsettled.
    """
    degrees = {name: degree(node, name) for name in names}
    order = nesting(node, names)
    average = Average(node, order, tuple(degrees[name] for name in order), scale, EDGES[panels])
    mean, square, *linear = average.level(np.empty((0, 1)))[:, 0].tolist()
    by_name = dict(zip(order, linear, strict=True))
    return [mean, square, *(by_name[name] for name in names)]


def nesting(node: Node, names: tuple[str, ...]) -> tuple[str, ...]:
    """The variables from the outermost to the innermost integral: innermost where it costs the least, polynomials,
    then what crosses each kink once, which smooths the rest, first of all in straight pieces.
    """
    found = tuple(dict.fromkeys(kinks(node)))

    def cheap(name: str) -> tuple[bool, bool, bool]:
        return degree(node, name) is not None, _all_cross(found, name), degree(node, name, pieces=True) == 1

    return tuple(sorted(names, key=cheap))


def average_given(
    node: Node, given: list[str], names: list[str], points: Array, panels: int
) -> tuple[Array, Array, Array]:
    """E f [N], E f^2 [N] and E t_i f [m, N] over ``names`` where the variables ``given`` have the values [q, N].

    Raises Unsettled.
    """
    order = nesting(node, tuple(names))
    degrees = (*(None for _ in given), *(degree(node, name) for name in order))
    mean, square, *linear = Average(node, (*given, *order), degrees, 1.0, EDGES[panels]).level(points)
    by_name = dict(zip(order, linear, strict=True))
    return mean, square, np.array([by_name[name] for name in names])


def _crosses_once(node: Node, name: str) -> bool:
    """Whether an expression is linear in a variable, with a slope that is a number, or does not know it."""
    if name not in variables_of(node) or node.op == "variable":
        return True
    if node.op == "mul":
        return any(constant_value(part) is not None for part in node.args) and _all_cross(node.args, name)
    if node.op == "div":
        return constant_value(node.args[1]) is not None and _all_cross(node.args, name)
    return node.op in ("neg", "add", "sub") and _all_cross(node.args, name)


def _all_cross(nodes: Iterable[Node], name: str) -> bool:
    return all(_crosses_once(node, name) for node in nodes)


@dataclass
class Average:
    """The nested average over ``names``, outermost first; counts its evaluations."""

    node: Node
    names: tuple[str, ...]
    degrees: tuple[int | None, ...]
    scale: float
    edges: tuple[float, ...]
    tolerance: float = _TOLERANCE
    batch: int = _BATCH
    evaluations: int = 0
    highest: int = 1  # degree of the Hermite polynomials that the expression is averaged with
    size: float = field(init=False)

    def __post_init__(self) -> None:
        points = np.random.default_rng(3).standard_normal((len(self.names), 4096))
        self.size = float(np.sqrt(np.mean(self._values(points) ** 2))) or 1.0
        self.kinks = tuple(dict.fromkeys(kinks(self.node)))
        last = self.names[-1]
        known = all(degree(kink, last) in (0, 1, 2) for kink in self.kinks)
        self.jumps_only = known and jumps_only(self.node, last)

    def level(self, outer: Array) -> Array:
        """Rows E f, E f^2, E g_i f for the names still to be averaged, at outer points [j, M]: shape [..., M]."""
        depth, count = outer.shape
        if depth == len(self.names):
            return self.innermost(self._values(outer))
        if count > self.batch:
            parts = [self.level(outer[:, i : i + self.batch]) for i in range(0, count, self.batch)]
            return np.concatenate(parts, axis=1)
        known = self.degrees[depth]
        if known is None:
            closed = self.jumps_only and depth + 1 == len(self.names)
            return self._between_jumps(outer) if closed else self._adaptive(outer)
        x, weight = hermegauss(self.nodes(known))
        rows = self._inside(outer, np.arange(count), np.broadcast_to(x, (count, len(x))))
        total: Array = rows @ (weight / weight.sum())
        return total

    def innermost(self, values: Array) -> Array:
        """The rows of values [M] that are averaged."""
        return np.stack([values, values * values])

    def joined(self, polynomials: list[Array], inner: Array, depth: int) -> Array:
        """The rows of a level [c, ...], from those of the next level inside and the Hermite polynomials [...] of the
        variable, or their integrals.
        """
        one, x = polynomials
        return np.concatenate([one * inner[:2], (x * inner[0])[None], one * inner[2:]])

    def scales(self, depth: int) -> Array:
        """The size of each row of a level: an error counts in proportion to it."""
        sizes = np.full(2 + len(self.names) - depth, self.size)
        sizes[1] = self.size**2
        return sizes

    def nodes(self, known: int) -> int:
        """Gauss nodes that are exact for the rows of a polynomial of this degree."""
        return known + 1

    def _values(self, points: Array) -> Array:
        self.evaluations += points.shape[1]
        if self.evaluations > _MOST:
            raise Unsettled(f"more than {_MOST:.0e} evaluations are needed")
        rows = dict(zip(self.names, self.scale * points, strict=True))
        values = jet(self.node, self.names[0], rows, 0)[0]
        if not np.all(np.isfinite(values)):
            raise Unsettled("a value is not finite")
        return values

    def _inside(self, outer: Array, owner: Index, x: Array) -> Array:
        """Rows of the next level at x [I, n], with the row of this variable put in: [c, I, n]."""
        points = np.concatenate([np.repeat(outer[:, owner], x.shape[1], axis=1), x.reshape(1, -1)])
        inner = self.level(points).reshape(-1, *x.shape)
        return self.joined(normalised_hermite(x, self.highest), inner, outer.shape[0])

    def _between_jumps(self, outer: Array) -> Array:
        """The innermost integral of what is constant between jumps, in closed form."""
        owner, left, right = self._panels(outer)
        inner = self.level(np.concatenate([outer[:, owner], 0.5 * (left + right)[None]]))
        parts = self.joined(_integrals_of_hermite(left, right, self.highest), inner, outer.shape[0])
        return np.stack([np.bincount(owner, row, outer.shape[1]) for row in parts])

    def _adaptive(self, outer: Array) -> Array:
        """Panels halved until the rules of 7 and 15 points agree, all outer points at a time."""
        depth, count = outer.shape
        owner, left, right = self._panels(outer)
        scales = self.scales(depth)[:, None]
        total = np.zeros((len(scales), count))
        # an error at an outer point counts with the Gaussian weight of the point
        tolerance = self.tolerance * 10.0 ** self.degrees[depth + 1 :].count(None)
        allowed = tolerance * np.exp(np.minimum(0.5 * np.sum(outer**2, axis=0), 200.0)) * scales
        for _ in range(_HALVINGS):
            fine, error = self._rule(outer, owner, left, right)
            done = np.all(error <= allowed[:, owner], axis=0)
            for row, values in zip(total, fine, strict=True):
                row += np.bincount(owner[done], values[done], count)
            if done.all():
                return total
            owner, left, right = owner[~done], left[~done], right[~done]
            middle = 0.5 * (left + right)
            owner = np.concatenate([owner, owner])
            left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
        raise Unsettled(f"panels near {self.names[depth]} = {left[0]:.6g} were halved {_HALVINGS} times")

    def _rule(self, outer: Array, owner: Index, left: Array, right: Array) -> tuple[Array, Array]:
        """Integral over each panel and its error, close to how QUADPACK estimates it: [c, I] both."""
        half, middle = 0.5 * (right - left)[:, None], 0.5 * (right + left)[:, None]
        x = middle + half * _X
        weighted = self._inside(outer, owner, x) * (half / _ROOT_TWO_PI * np.exp(-0.5 * x * x))
        fine, gap = weighted @ _WK, np.abs(weighted @ (_WK - _WG))
        size = np.abs(weighted) @ _WK
        with np.errstate(divide="ignore", invalid="ignore"):
            return fine, np.where(gap > 0.0, size * np.minimum(1.0, (200.0 * gap / size) ** 1.5), 0.0)

    def _panels(self, outer: Array) -> tuple[Index, Array, Array]:
        """(outer point, left, right) of the first panels: between fixed edges and the kinks in this variable."""
        count = outer.shape[1]
        fixed = np.broadcast_to(self.edges, (count, len(self.edges)))
        cuts = [root for kink in self.kinks for root in self._roots(kink, outer)]
        edges = np.column_stack([fixed, *cuts]) if cuts else fixed
        low, high = self.edges[0], self.edges[-1]
        edges = np.sort(np.clip(np.nan_to_num(edges, nan=low), low, high), axis=1)
        owner, place = np.nonzero(np.diff(edges, axis=1) > 0.0)
        return owner, edges[owner, place], edges[owner, place + 1]

    def _roots(self, kink: Node, outer: Array) -> list[Array]:
        """Zeros [M] in the next variable of a kink that knows only outer ones beside it; nan for none."""
        depth, count = outer.shape
        name = self.names[depth]
        if name not in variables_of(kink) or not variables_of(kink) <= {*self.names[: depth + 1]}:
            return []
        rows = dict(zip(self.names, self.scale * outer[:, :, None], strict=False))

        def at(x: Array) -> Array:
            here = np.broadcast_to(self.scale * x, (count, x.shape[-1]))
            return jet(kink, name, {**rows, name: here}, 0)[0]

        power = degree(kink, name)
        found = polynomial_zeros(at, power) if power in (1, 2) else bracketed_zeros(at, self.edges)
        return list(found)


def normalised_hermite(x: Array, highest: int) -> list[Array]:
    """He_n(x)/sqrt(n!) for n = 0 to highest."""
    values = [np.ones_like(x), x]
    for n in range(1, highest):
        values.append((x * values[n] - np.sqrt(n) * values[n - 1]) / np.sqrt(n + 1.0))
    return values[: highest + 1]


def _integrals_of_hermite(left: Array, right: Array, highest: int) -> list[Array]:
    """Integrals of He_n(x)/sqrt(n!) times the normal density from left to right, n = 0 to highest."""
    # on the side of the smaller tail, where the difference has all its digits
    mass = np.where(left > 0.0, special.ndtr(-left) - special.ndtr(-right), special.ndtr(right) - special.ndtr(left))
    low, high = (
        [np.exp(-0.5 * x * x) / _ROOT_TWO_PI * value for value in normalised_hermite(x, highest)] for x in (left, right)
    )
    return [mass, *((low[n - 1] - high[n - 1]) / math.sqrt(n) for n in range(1, highest + 1))]
