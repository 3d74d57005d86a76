"""Kinks and jumps of links of two indices: where they cross lines of the plane, and where their order changes."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import sympy as sp

from derive.labels import index_function
from giantstep.verify.crossings import crossings
from giantstep.verify.lambdified import Function, numpy_of
from giantstep.verify.quadrature import REACH, density, legendre, panels

Array = np.ndarray
_LINE = 401  # points of a line that is looked at
_ACROSS = 801  # lines
_HALVINGS = 60
_TOGETHER = 5000  # lines
_CLOSEST = 1e-9  # cuts nearer than this are one
_FLAT = 1e-9  # a spread beside the other one that is none
_WIDE = 2.0  # panels between kinks, in units of those of one direction


@dataclass(frozen=True)
class Kinks:
    """Functions of the indices that vanish where a link has kinks or jumps, one for each factor; two indices."""

    functions: tuple[Function, ...]

    def roots(self, start: Array, direction: Array, reach: float) -> tuple[Array, Array]:
        """(places [R, C], function numbers [R, C]) where lines ``start + w direction`` cross them, |w| < reach; sorted,
        the rest infinite.
        """
        line = np.linspace(-reach, reach, _LINE)
        found = []
        for first in range(0, len(start), _TOGETHER):
            row, place, number = self._roots(start[first : first + _TOGETHER], direction, line)
            found.append((row + first, place, number))
        row, place, number = (np.concatenate(part) for part in zip(*found, strict=True))
        return _in_rows(row, place, number, len(start))

    def _roots(self, start: Array, direction: Array, line: Array) -> tuple[Array, Array, Array]:
        """Their rows, places and function numbers, in no order."""
        rows: list[Array] = []
        places: list[Array] = []
        numbers: list[Array] = []
        for number, function in enumerate(self.functions):

            def at(row: Array, w: Array, of: Function = function) -> Array:
                return of(*(start[row, i] + w * direction[i] for i in range(2)))

            every = np.repeat(np.arange(len(start)), len(line))
            values = at(every, np.tile(line, len(start))).reshape(len(start), len(line))
            which, found = crossings(values, at, np.broadcast_to(line, values.shape), np.zeros((len(start), 1)))
            rows.append(which)
            places.append(found)
            numbers.append(np.full(len(which), number))
        return np.concatenate(rows), np.concatenate(places), np.concatenate(numbers)

    def cuts(self, across: Array, direction: Array, reach: float) -> Array:
        """Places u at which the order of the kinks along the lines ``u across + w direction`` changes, |u| < reach."""
        u = np.linspace(-reach, reach, _ACROSS) + 0.1 * reach / _ACROSS  # not on a place of symmetry

        def order(at: Array) -> Array:
            places, numbers = self.roots(at[:, None] * across, direction, reach)
            padded = np.full((len(at), 64), -1)
            padded[:, : min(64, places.shape[1])] = np.where(np.isfinite(places), numbers, -1)[:, :64]
            signs = [
                function(*(at * across[i] - reach * direction[i] for i in range(2))) for function in self.functions
            ]
            return np.concatenate([padded, np.sign(np.array(signs).T)], axis=1)

        found = order(u)
        (changed,) = np.nonzero(np.any(found[1:] != found[:-1], axis=1))
        low, high, before = u[changed], u[changed + 1], found[changed]
        for _ in range(_HALVINGS):
            if not len(low):
                break
            middle = 0.5 * (low + high)
            same = np.all(order(middle) == before, axis=1)
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        found = np.sort(0.5 * (low + high))
        return np.asarray(found[np.concatenate([[True], np.diff(found) > _CLOSEST])] if len(found) else found)


def _in_rows(row: Array, place: Array, number: Array, rows: int) -> tuple[Array, Array]:
    order = np.lexsort((number, place, row))
    row, place, number = row[order], place[order], number[order]
    counts = np.bincount(row, minlength=rows)
    position = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    shape = (rows, int(counts.max(initial=0)))
    places, numbers = np.full(shape, np.inf), np.full(shape, -1)
    places[row, position], numbers[row, position] = place, number
    return places, numbers


@lru_cache(maxsize=64)
def kinks_of(text: str) -> Kinks | None:
    """The kinks of a link; None where it has none."""
    found = index_function(text)
    vanishing: dict[sp.Expr, None] = {}
    for atom in found.expr.atoms(sp.sign, sp.Abs, sp.Heaviside, sp.Max, sp.Min, sp.Piecewise):
        for expression in _vanishing(atom):
            for factor in sp.Mul.make_args(sp.factor(expression)):
                base = factor.base if factor.is_Pow else factor
                if base.free_symbols:
                    vanishing.setdefault(base)
    functions = tuple(numpy_of(expression, found.variables) for expression in sorted(vanishing, key=str))
    return Kinks(functions) if functions else None


def _vanishing(atom: sp.Basic) -> list[sp.Expr]:
    if isinstance(atom, sp.Max | sp.Min):
        return [a - b for a, b in itertools.combinations(atom.args, 2)]
    if isinstance(atom, sp.Piecewise):
        relations = [
            r for _, condition in atom.args for r in sp.sympify(condition).atoms(sp.core.relational.Relational)
        ]
        return [relation.lhs - relation.rhs for relation in relations]
    return [atom.args[0]]


def nested_nodes(kinks: Kinks, centre: Array, root: Array, width: float) -> tuple[Array, Array]:
    """s [N, J, 2] and weights [N, J] for ``z = centre + root s``: panels along one direction between the kinks there,
    for each place of the other, in which the panels end where the order of the kinks changes.
    """
    sizes = np.linalg.svd(root, compute_uv=False)
    if sizes[0] == 0.0:
        return np.zeros((len(centre), 1, 2)), np.ones((len(centre), 1))
    reach = 2.0 ** np.ceil(np.log2(float(np.abs(centre).max()) + (REACH + 1.0) * float(sizes[0])))
    turn = _directions(kinks, tuple(root.ravel()))
    along, across = (root @ turn).T
    spread = float(np.linalg.norm(along))
    inner = along / spread
    normal = np.array([-inner[1], inner[0]])
    offset = float(normal @ across)
    if sizes[1] <= _FLAT * sizes[0]:
        outer, weight = np.zeros((len(centre), 1)), np.ones((len(centre), 1))
    else:
        cuts = _cuts_of(kinks, tuple(normal), tuple(inner), float(reach))
        outer, weight = smoothed_panels(_edges((cuts[None] - (centre @ normal)[:, None]) / offset, _WIDE * width))
        weight = weight * density(outer)
    rows = (centre[:, None, :] + outer[..., None] * across).reshape(-1, 2)
    places, _ = kinks.roots((rows @ normal)[:, None] * normal, inner, float(reach))
    within, own = _normal_panels((places - (rows @ inner)[:, None]) / spread, _WIDE * width)
    shape = (*outer.shape, within.shape[1])
    s = np.stack([within.reshape(shape), np.broadcast_to(outer[..., None], shape)], axis=-1)
    found = s.reshape(len(centre), -1, 2) @ turn.T
    return found, (weight[..., None] * own.reshape(shape)).reshape(len(centre), -1)


@lru_cache(maxsize=64)
def _directions(kinks: Kinks, entries: tuple[float, ...]) -> Array:
    """An orthonormal basis of s: lines along the first direction cross the kinks as steeply as can be."""
    root = np.array(entries).reshape(2, 2)
    _, sizes, back = np.linalg.svd(root)
    if sizes[1] <= _FLAT * sizes[0]:
        return np.asarray(back.T)
    line = np.linspace(-3.0, 3.0, 61)
    s = np.stack([axis.ravel() for axis in np.meshgrid(line, line)], axis=1)
    slopes = []
    for function in kinks.functions:
        value, *moved = (function(*(root @ (s + shift).T)) for shift in 1e-5 * np.array([[0, 0], [1, 0], [0, 1]]))
        gradient = (np.array(moved) - value).T / 1e-5
        length = np.linalg.norm(gradient, axis=1)
        near = (np.abs(value) < 0.1 * length) & np.isfinite(length)
        slopes.append(gradient[near] / length[near, None])
    angles = np.linspace(0.0, np.pi, 25)[:-1] + 0.03
    choices = np.stack([np.cos(angles), np.sin(angles)])
    steep = np.quantile(np.abs(np.concatenate(slopes) @ choices), 0.02, axis=0) if sum(map(len, slopes)) else angles
    one, other = choices[:, int(np.argmax(steep))]
    return np.array([[one, -other], [other, one]])


@lru_cache(maxsize=32)
def _cuts_of(kinks: Kinks, across: tuple[float, ...], inner: tuple[float, ...], reach: float) -> Array:
    return kinks.cuts(np.array(across), np.array(inner), reach)


def basis_of(kinks: Kinks | None, root: Array) -> tuple[Array, bool]:
    """Orthonormal directions of s, those of lines first, and whether z' only moves along these."""
    _, sizes, back = np.linalg.svd(root)
    if len(sizes) == 1 or sizes[1] <= _FLAT * sizes[0]:
        return np.asarray(back.T), True
    return (np.eye(2) if kinks is None else _directions(kinks, tuple(root.ravel()))), False


def cuts_across(kinks: Kinks, centre: Array, columns: Array, reach: float) -> Array:
    """Places v [N, C] at which the order of the kinks along lines changes, for z' = centre + w along + v across."""
    along, across = columns.T
    inner = along / np.linalg.norm(along)
    normal = np.array([-inner[1], inner[0]])
    size = float(np.linalg.svd(columns, compute_uv=False)[0])
    far = 2.0 ** np.ceil(np.log2(float(np.abs(centre).max()) + (reach + 1.0) * size))
    cuts = _cuts_of(kinks, tuple(normal), tuple(inner), float(far))
    return np.asarray((cuts[None] - (centre @ normal)[:, None]) / float(normal @ across))


def _edges(cuts: Array, width: float) -> Array:
    even = np.linspace(-REACH, REACH, round(2.0 * REACH / width) + 1)
    held = np.clip(np.nan_to_num(cuts, nan=REACH, posinf=REACH, neginf=-REACH), -REACH, REACH)
    return np.sort(np.concatenate([np.broadcast_to(even, (len(cuts), len(even))), held], axis=1), axis=1)


def _normal_panels(cuts: Array, width: float) -> tuple[Array, Array]:
    places, weights = panels(_edges(cuts, width))
    return places, weights * density(places)


def smoothed_panels(edges: Array) -> tuple[Array, Array]:
    """Places and weights [N, J] on panels between edges [N, E], gathered at their ends like squares: a root there, as
    where two kinks meet, is smooth in their variable.
    """
    x, w = legendre(20)
    half, middle = 0.5 * np.diff(edges, axis=1)[..., None], 0.5 * (edges[:, 1:] + edges[:, :-1])[..., None]
    places = (middle + half * 0.5 * x * (3.0 - x * x)).reshape(len(edges), -1)
    weights = (half * w * 1.5 * (1.0 - x * x)).reshape(len(edges), -1)
    return places, weights
