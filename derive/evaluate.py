"""Interpretive evaluation of index expressions: numbers for every family, tables for functions of kappa.

The expression tree is walked with a number of blocks K and numbers of any precision (mpf, mpc, Fraction, float).
Nothing is printed or compiled, so that this is a path of its own beside the generated kernels.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import mpmath
import sympy as sp

from derive.blocks import KAPPA, BlockSum, Definition, LogDet, MatrixInverse, family_name, member_indices
from derive.gaussian.expectation import Expectation

Number: TypeAlias = Any  # mpf, mpc or anything with arithmetic; mpmath ships no types
Nodes: TypeAlias = list[Any]
Place: TypeAlias = tuple[int, ...]

_FUNCTIONS: Mapping[Any, Callable[[Number], Number]] = {
    sp.log: mpmath.log,
    sp.exp: mpmath.exp,
    sp.Abs: abs,
    sp.sin: mpmath.sin,
    sp.cos: mpmath.cos,
    sp.tanh: mpmath.tanh,
    sp.erf: mpmath.erf,
}


class EvaluationError(ValueError):
    """An expression that needs a number which the state does not hold."""


@dataclass(frozen=True)
class State:
    """Numbers of a system of ``blocks`` blocks.

    symbols: name -> number. families: name -> {indices: number}. kappa, weight: nodes [N] and weights of the
    Gaussian average. columns: (name, indices) -> [N] values of a function of kappa. definitions and inverses: families,
    functions and matrices that follow from the others, evaluated where they are met and no number is given.
    """

    blocks: int
    symbols: Mapping[str, Number] = field(default_factory=dict)
    families: Mapping[str, Mapping[Place, Number]] = field(default_factory=dict)
    kappa: Sequence[Number] = ()
    weight: Sequence[Number] = ()
    columns: Mapping[tuple[str, Place], Sequence[Number]] = field(default_factory=dict)
    definitions: Mapping[str, Definition] = field(default_factory=dict)
    inverses: Mapping[str, MatrixInverse] = field(default_factory=dict)

    def with_families(self, families: Mapping[str, Mapping[Place, Number]]) -> State:
        """The same with some families set anew."""
        return replace(self, families={**self.families, **families})

    def places(self, rank: int) -> list[Place]:
        """All index tuples of a family, row by row."""
        return list(itertools.product(range(self.blocks), repeat=rank))


class Evaluator:
    """Values of expressions in one state; equal subexpressions at equal indices are evaluated once."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._known: dict[tuple[Any, Place], Any] = {}
        self._free: dict[Any, tuple[sp.Symbol, ...]] = {}
        self._matrices: dict[str, Any] = {}

    def value(self, expr: sp.Expr, indices: Mapping[sp.Symbol, int] | None = None) -> Number:
        """The number of an expression without free kappa. Raises EvaluationError."""
        result = self._at(sp.sympify(expr), dict(indices or {}))
        if isinstance(result, list):
            raise EvaluationError(f"{expr} is a function of kappa, not a number: average it first")
        return result

    def nodes(self, expr: sp.Expr, indices: Mapping[sp.Symbol, int] | None = None) -> Nodes:
        """The values of a function of kappa at the nodes. Raises EvaluationError."""
        result = self._at(sp.sympify(expr), dict(indices or {}))
        return result if isinstance(result, list) else [result] * len(self.state.kappa)

    def family(self, body: sp.Expr, indices: Sequence[sp.Symbol]) -> dict[Place, Number]:
        """All members ``body(indices)``, row by row."""
        places = self.state.places(len(indices))
        return {place: self.value(body, dict(zip(indices, place, strict=True))) for place in places}

    def matrix(self, inverse: MatrixInverse) -> dict[Place, Number]:
        """The inverse of the K x K matrix of the entries. Raises ZeroDivisionError where it is singular."""
        entries = self.family(inverse.entry, (inverse.row, inverse.column))
        result = self._dense(entries) ** -1
        return {(i, j): result[i, j] for i, j in self.state.places(2)}

    def _dense(self, entries: Mapping[Place, Number]) -> Any:
        matrix = mpmath.matrix(self.state.blocks, self.state.blocks)
        for place, entry in entries.items():
            matrix[place] = entry
        return matrix

    def _at(self, expr: Any, where: dict[sp.Symbol, int]) -> Any:
        if expr not in self._free:
            self._free[expr] = tuple(sorted(_free_indices(expr), key=str))
        missing = [i for i in self._free[expr] if i not in where]
        if missing:
            raise EvaluationError(f"no value for the block index {missing[0]} of {expr}")
        key = (expr, tuple(where[i] for i in self._free[expr]))
        if key not in self._known:
            self._known[key] = self._fresh(expr, where)
        return self._known[key]

    def _fresh(self, expr: Any, where: dict[sp.Symbol, int]) -> Any:
        name = family_name(expr)
        if name is not None:
            return self._member(name, tuple(self._index(i, where) for i in member_indices(expr)))
        if isinstance(expr, sp.Symbol):
            return self._symbol(expr, where)
        if expr.is_Rational:
            return mpmath.mpf(int(expr.p)) / int(expr.q)
        if expr.is_number and not expr.args:
            return mpmath.mpf(sp.N(expr, mpmath.mp.dps + 5)._to_mpmath(mpmath.mp.prec + 10))
        if isinstance(expr, sp.KroneckerDelta):
            first, second = (self._index(i, where) for i in expr.args)
            return mpmath.mpf(first == second)
        if isinstance(expr, BlockSum):
            return _total([self._at(expr.body, {**where, expr.bound: b}) for b in range(self.state.blocks)])
        if isinstance(expr, Expectation):
            return self._average(expr, where)
        if isinstance(expr, LogDet):
            inverse = self.state.inverses[expr.inverse]
            return mpmath.log(mpmath.det(self._dense(self.family(inverse.entry, (inverse.row, inverse.column)))))
        return self._compound(expr, [self._at(arg, where) for arg in expr.args])

    def _compound(self, expr: Any, values: list[Any]) -> Any:
        if isinstance(expr, sp.Add):
            return _total(values)
        if isinstance(expr, sp.Mul):
            return _fold(values, lambda x, y: x * y)
        if isinstance(expr, sp.Pow):
            exponent = int(expr.exp) if expr.exp.is_Integer else values[1]
            return _map(values[0], lambda x: x**exponent)
        if expr.func in _FUNCTIONS:
            return _map(values[0], _FUNCTIONS[expr.func])
        raise EvaluationError(f"{type(expr).__name__} in {expr} has no numerical meaning here")

    def _average(self, expr: Expectation, where: dict[sp.Symbol, int]) -> Number:
        if expr.variables != (KAPPA,):
            raise EvaluationError(f"{expr} is not an average over kappa alone")
        values = self._at(expr.integrand, where)
        return mpmath.fsum(w * v for w, v in zip(self.state.weight, values, strict=True))

    def _index(self, index: Any, where: Mapping[sp.Symbol, int]) -> int:
        return where[index] if isinstance(index, sp.Symbol) else int(index)

    def _symbol(self, symbol: sp.Symbol, where: Mapping[sp.Symbol, int]) -> Any:
        if symbol == KAPPA:
            return list(self.state.kappa)
        if symbol in where:
            return mpmath.mpf(where[symbol])
        if symbol.name in self.state.symbols:
            return self.state.symbols[symbol.name]
        raise EvaluationError(f"no value for {symbol}")

    def _member(self, name: str, place: Place) -> Any:
        state = self.state
        if name in state.families:
            return state.families[name][place]
        if (name, place) in state.columns:
            return list(state.columns[name, place])
        if name in state.definitions:
            definition = state.definitions[name]
            return self._at(definition.body, dict(zip(definition.indices, place, strict=True)))
        if name in state.inverses:
            if name not in self._matrices:
                self._matrices[name] = self.matrix(state.inverses[name])
            return self._matrices[name][place]
        raise EvaluationError(f"no value for {name}{list(place)}")


def _free_indices(expr: Any) -> set[sp.Symbol]:
    return {s for s in expr.free_symbols if isinstance(s, sp.Symbol) and s.is_integer}


def _map(value: Any, function: Callable[[Number], Number]) -> Any:
    return [function(x) for x in value] if isinstance(value, list) else function(value)


def _fold(values: Sequence[Any], combine: Callable[[Number, Number], Number]) -> Any:
    """Combine numbers and node vectors from the left; numbers count at every node."""
    numbers = [v for v in values if not isinstance(v, list)]
    vectors = [v for v in values if isinstance(v, list)]
    result: Any = None
    for number in numbers:
        result = number if result is None else combine(result, number)
    for vector in vectors:
        if result is None:
            result = vector
        elif isinstance(result, list):
            result = [combine(x, y) for x, y in zip(result, vector, strict=True)]
        else:
            scalar = result
            result = [combine(scalar, y) for y in vector]
    return result


def _total(values: Sequence[Any]) -> Any:
    return _fold(values, lambda x, y: x + y)
