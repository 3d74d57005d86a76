"""The reference interpreter: the derived expressions themselves, evaluated as arrays with one axis for each index.

The tree of an expression is walked once; nothing is printed or compiled, so that this is a path of its own beside the
generated code. Numbers are of any kind that NumPy holds: long doubles, or mpmath's numbers in object arrays. It knows
nothing of losses, bulks or ranks: an index ranges over whatever the arrays that carry it have there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from derive.blocks import KAPPA, BlockSum, Definition, LogDet, MatrixInverse, family_name, member_indices
from derive.gaussian.expectation import Expectation

Array = np.ndarray
Axes = tuple[str, ...]
NODES = "kappa"  # the axis of the nodes of kappa
_LARGE = 10**7  # numbers

_FUNCTIONS: Mapping[Any, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    sp.log: (np.log, mpmath.log),
    sp.exp: (np.exp, mpmath.exp),
    sp.Abs: (np.abs, abs),
    sp.sin: (np.sin, mpmath.sin),
    sp.cos: (np.cos, mpmath.cos),
    sp.tanh: (np.tanh, mpmath.tanh),
}


#: Why nothing is held against the equations of an output that is the same for all inputs.
HELD = "a kink of the loss or of the penalty holds the output, which neither varies nor responds"


class NotEvaluable(ValueError):
    """An expression that needs something the point does not hold."""


@dataclass(frozen=True)
class Point:
    """Numbers for everything that an expression is made of.

    blocks: how many readout blocks. symbols: name -> number. families: name -> array with one axis for each index.
    columns: name -> array over the nodes of kappa, block axes first. weight: of the nodes. definitions and inverses:
    what follows from the rest, evaluated where it is met and no number is given.
    """

    blocks: int
    symbols: Mapping[str, Any] = field(default_factory=dict)
    families: Mapping[str, Array] = field(default_factory=dict)
    columns: Mapping[str, Array] = field(default_factory=dict)
    weight: Array | None = None
    definitions: Mapping[str, Definition] = field(default_factory=dict)
    inverses: Mapping[str, MatrixInverse] = field(default_factory=dict)

    def moved(self, **families: Array) -> Point:
        """The same with some families set anew."""
        return replace(self, families={**self.families, **families})


@dataclass(frozen=True)
class Labelled:
    """An array and the names of its axes."""

    data: Any
    axes: Axes = ()

    def along(self, axes: Axes) -> Any:
        """The data with these axes in this order, new ones of length one."""
        data = np.asarray(self.data)
        if axes == self.axes:
            return data
        order = [self.axes.index(a) for a in axes if a in self.axes]
        shape = iter(data.transpose(order).shape)
        return data.transpose(order).reshape([next(shape) if a in self.axes else 1 for a in axes])


class Interpreter:
    """Values of expressions at one point; equal subexpressions are evaluated once."""

    def __init__(self, point: Point) -> None:
        self.point = point
        self._known: dict[Any, Labelled] = {}
        self._named: dict[str, Labelled] = {}
        self._read: dict[Any, frozenset[str]] = {}  # names that an expression or a name was evaluated from
        self._reading: set[str] = set()
        values = [*point.symbols.values(), *point.families.values(), *point.columns.values()]
        self._exact = any(np.asarray(v).dtype == object for v in values)

    def value(self, expr: Any, axes: Axes = ()) -> Any:
        """A number, or an array with one axis for each of ``axes``. Raises NotEvaluable."""
        found = self._at(sp.sympify(expr))
        if not set(found.axes) <= set(axes):
            raise NotEvaluable(f"{expr} depends on {', '.join(sorted(set(found.axes) - set(axes)))}")
        data = found.along(axes)
        sizes = [
            len(self.point.weight) if a == NODES and self.point.weight is not None else self.point.blocks for a in axes
        ]
        shape = [n if n > 1 else size for n, size in zip(np.shape(data), sizes, strict=True)]
        return np.broadcast_to(data, shape) if axes else np.asarray(data)[()]

    def moved(self, **families: Array) -> Interpreter:
        """The interpreter of ``point.moved``, which keeps what does not follow from these families."""
        there = Interpreter(self.point.moved(**families))
        kept = {key for key, read in self._read.items() if read.isdisjoint(families)}
        there._known = {key: value for key, value in self._known.items() if key in kept}
        there._named = {key: value for key, value in self._named.items() if key in kept}
        there._read = {key: self._read[key] for key in kept}
        return there

    def _at(self, expr: Any) -> Labelled:
        return self._once(self._known, expr, self._fresh)

    def _once(self, known: dict[Any, Labelled], key: Any, evaluate: Callable[[Any], Labelled]) -> Labelled:
        """The value of a key: evaluated where it is not known, with a note of the names that were read."""
        if key not in known:
            outside, self._reading = self._reading, set()
            known[key] = evaluate(key)
            self._read[key] = frozenset(self._reading)
            self._reading = outside
        self._reading |= self._read[key]
        return known[key]

    def _fresh(self, expr: Any) -> Labelled:
        name = family_name(expr)
        if name is not None:
            return self._member(name, member_indices(expr))
        if isinstance(expr, sp.Symbol):
            return self._symbol(expr)
        if not expr.args and expr.is_number:
            return Labelled(self._number(expr))
        if isinstance(expr, sp.KroneckerDelta):
            first, second = (_name(i) for i in expr.args)
            one = self._number(sp.S.One)
            return Labelled(one) if first == second else Labelled(np.eye(self.point.blocks) * one, (first, second))
        if isinstance(expr, BlockSum):
            large = None if self._exact else self._large_product(expr)
            return large or self._sum(self._at(expr.body), expr.bound.name)
        if isinstance(expr, Expectation):
            return self._average(expr)
        if isinstance(expr, LogDet):
            inverse = self._inverse_of(expr.inverse)
            data, over = self._matrices(inverse)
            return Labelled(_logarithms(_eliminated(data)[1]), over)
        return self._compound(expr, [self._at(arg) for arg in expr.args])

    def _number(self, number: Any) -> Any:
        """As a long double, or at mpmath's precision where the point holds its numbers."""
        if self._exact:
            if number.is_Rational:
                return mpmath.mpf(int(number.p)) / int(number.q)
            return mpmath.mpf(sp.N(number, mpmath.mp.dps + 5)._to_mpmath(mpmath.mp.prec + 10))
        if number.is_Rational:
            return np.longdouble(int(number.p)) / np.longdouble(int(number.q))
        return np.longdouble(str(sp.N(number, 25)))

    def _compound(self, expr: Any, parts: list[Labelled]) -> Labelled:
        axes = _union(parts)
        if isinstance(expr, sp.Add | sp.Mul):
            total = parts[0].along(axes)
            for part in parts[1:]:
                other = part.along(axes)
                total = total + other if isinstance(expr, sp.Add) else total * other
            return Labelled(total, axes)
        if isinstance(expr, sp.Pow):
            if expr.exp.is_Integer:
                return Labelled(parts[0].along(axes) ** int(expr.exp), axes)
            return Labelled(parts[0].along(axes) ** parts[1].along(axes), axes)
        if expr.func in _FUNCTIONS:
            plain, exact = _FUNCTIONS[expr.func]
            data = parts[0].along(axes)
            return Labelled(np.frompyfunc(exact, 1, 1)(data) if data.dtype == object else plain(data), axes)
        raise NotEvaluable(f"{type(expr).__name__} in {expr} has no numerical meaning here")

    def _large_product(self, expr: BlockSum) -> Labelled | None:
        """The sum over a product that would be large if it were written down, by its two largest factors; else None."""
        if not expr.body.is_Mul:
            return None
        parts = sorted((self._at(arg) for arg in expr.body.args), key=lambda part: np.size(part.data))
        lengths = {a: n for part in parts for a, n in zip(part.axes, np.shape(part.data), strict=True) if n > 1}
        if len(parts) < 2 or expr.bound.name not in lengths or math.prod(lengths.values()) < _LARGE:
            return None
        *others, one, other = parts
        for part in others:  # a factor goes with one that has its axes
            if set(part.axes) <= set(other.axes):
                other = _product(other, part)
            else:
                one = _product(one, part)
        axes = _union([one, other])
        numbers = {a: place for place, a in enumerate(axes)}
        kept = tuple(a for a in axes if a != expr.bound.name)
        places = [[numbers[a] for a in own] for own in (one.axes, other.axes, kept)]
        return Labelled(np.einsum(one.data, places[0], other.data, places[1], places[2]), kept)

    def _sum(self, body: Labelled, bound: str) -> Labelled:
        if bound not in body.axes:
            return Labelled(np.asarray(body.data) * self.point.blocks, body.axes)
        position = body.axes.index(bound)
        return Labelled(np.asarray(body.data).sum(axis=position), body.axes[:position] + body.axes[position + 1 :])

    def _average(self, expr: Expectation) -> Labelled:
        if expr.variables != (KAPPA,) or self.point.weight is None:
            raise NotEvaluable(f"{expr} is not an average over kappa alone")
        integrand = self._at(expr.integrand)
        weighted = _product(integrand, Labelled(self.point.weight, (NODES,)))
        return self._sum(weighted, NODES)

    def _symbol(self, symbol: sp.Symbol) -> Labelled:
        if symbol == KAPPA:
            return self._member(str(KAPPA), ())
        if symbol.name in self.point.symbols:
            return Labelled(self.point.symbols[symbol.name])
        raise NotEvaluable(f"no value for {symbol}")

    def _member(self, name: str, indices: tuple[Any, ...]) -> Labelled:
        whole = self._whole(name)
        formal = whole.axes
        wanted = tuple(map(_name, indices)) + ((NODES,) if NODES in formal else ())
        if len(wanted) != len(formal):
            raise NotEvaluable(f"{name} has {len(formal)} indices, not {len(wanted)}")
        return _renamed(np.asarray(whole.data), wanted)

    def _whole(self, name: str) -> Labelled:
        return self._once(self._named, name, self._found)

    def _found(self, name: str) -> Labelled:
        point = self.point
        self._reading.add(name)
        if name in point.families:
            data = np.asarray(point.families[name])
            return Labelled(data, tuple(f"#{i}" for i in range(data.ndim)))
        if name in point.columns:
            data = np.asarray(point.columns[name])
            return Labelled(data, (*(f"#{i}" for i in range(data.ndim - 1)), NODES))
        if name in point.definitions:
            return self._defined(point.definitions[name])
        inverse = self._inverse_of(name)
        data, over = self._matrices(inverse)
        return Labelled(np.moveaxis(_eliminated(data)[0], (-2, -1), (0, 1)), ("#0", "#1", *over))

    def _defined(self, definition: Definition) -> Labelled:
        body, names = self._at(definition.body), tuple(map(_name, definition.indices))
        extra = (NODES,) if NODES in body.axes else ()
        if set(body.axes) - set(names) - set(extra):
            raise NotEvaluable(f"{definition.name} has a free index beside {names}")
        data = body.along((*names, *extra))
        shape = [
            n if name in body.axes or name == NODES else self.point.blocks
            for n, name in zip(data.shape, (*names, *extra), strict=True)
        ]
        return Labelled(np.broadcast_to(data, shape), (*names, *extra))

    def _inverse_of(self, name: str) -> MatrixInverse:
        if name not in self.point.inverses:
            raise NotEvaluable(f"no value for {name}")
        return self.point.inverses[name]

    def _matrices(self, inverse: MatrixInverse) -> tuple[Array, Axes]:
        """Entries [..., K, K] with the further indices first."""
        entry = self._at(inverse.entry)
        over = tuple(i.name for i in inverse.over if i.name in entry.axes)
        data = entry.along((*over, inverse.row.name, inverse.column.name))
        size = max(self.point.blocks, *data.shape[-2:])
        return np.broadcast_to(data, (*data.shape[:-2], size, size)), over


def _name(index: Any) -> str:
    """Of an index, or of the number in its place."""
    return str(index.name) if isinstance(index, sp.Symbol) else str(index)


def _union(parts: list[Labelled]) -> Axes:
    return tuple(dict.fromkeys(a for part in parts for a in part.axes))


def _product(one: Labelled, other: Labelled) -> Labelled:
    axes = _union([one, other])
    return Labelled(one.along(axes) * other.along(axes), axes)


def _renamed(data: Array, names: Axes) -> Labelled:
    """Axes by name; the diagonal where a name is met twice."""
    for first, name in enumerate(names):
        if name in names[first + 1 :]:
            second = names.index(name, first + 1)
            diagonal = np.diagonal(data, axis1=first, axis2=second)  # the new axis comes last
            rest = tuple(a for i, a in enumerate(names) if i not in (first, second))
            return _renamed(diagonal, (*rest, name))
    return Labelled(data, names)


def _eliminated(matrices: Array) -> tuple[Array, list[Array]]:
    """(inverses, pivots) of matrices [..., K, K] by Gauss-Jordan elimination without exchange of rows.

    Those of the theory are positive definite up to a diagonal scaling. Raises ZeroDivisionError.
    """
    size = matrices.shape[-1]
    one = matrices[..., :1, :1] * 0 + 1
    left, right = matrices.copy(), np.eye(size) * one
    pivots = []
    for k in range(size):
        pivot = left[..., k : k + 1, k : k + 1].copy()
        pivots.append(pivot[..., 0, 0])
        left_row, right_row = left[..., k : k + 1, :] / pivot, right[..., k : k + 1, :] / pivot
        factor = left[..., :, k : k + 1].copy()
        factor[..., k, :] = 0
        left, right = left - factor * left_row, right - factor * right_row
        left[..., k : k + 1, :], right[..., k : k + 1, :] = left_row, right_row
    return right, pivots


def _logarithms(pivots: list[Array]) -> Any:
    return sum(np.frompyfunc(mpmath.log, 1, 1)(p) if np.asarray(p).dtype == object else np.log(p) for p in pivots)
