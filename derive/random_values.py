"""Expressions of a derivation as numbers at a random point: what the two sides of a recorded step are compared by.

Every symbol, member of a family and undefined function has a value drawn from its name; an index has two values. Sums
are carried out term by term, derivatives are differences, averages are Gauss rules or adaptive quadrature, limits are
values far out: nothing here shares a rule with the operations that are put to the test.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import mpmath
import sympy as sp
from sympy.core.function import AppliedUndef

from derive.average_rules import Rules, apart, rules_of
from derive.blocks import KAPPA, UNIT, BlockSum, Definition, LogDet, MatrixInverse, family_name, member_indices
from derive.free_indices import depends_on, is_index
from derive.gaussian.expectation import Expectation
from derive.gaussian.numeric import mpmath_function
from derive.gaussian.quadrature import QuadratureError
from derive.high_precision import (
    DIGITS,
    STEP,
    NotEvaluable,
    exponential_integral,
    minimum_of,
)
from derive.matrix_values import SIDE, matrix_value
from derive.symbols import SYMMETRIC

Where = Mapping[sp.Symbol, Any]
Key = tuple[str, tuple[Any, ...]]

SIZE = 2  # values of an index
_FAR, _AVERAGE = 90, 60
_WIDE = 64  # minima are looked for in (-64, 64)
_ARITHMETIC = (sp.Add, sp.Mul, sp.Pow)


class RandomValues:
    """Values of expressions at one random point.

    definitions: families and functions that follow from the others. moved: values in the place of those drawn.
    """

    def __init__(
        self,
        definitions: Sequence[Definition | MatrixInverse] = (),
        moved: Mapping[Any, Any] | None = None,
        seed: int = 1,
    ) -> None:
        self.definitions, self.seed = tuple(definitions), seed
        self._moved = dict(moved or {})
        self._bodies = {(d.name, len(d.indices)): d for d in definitions if isinstance(d, Definition)}
        self._inverses = {d.name: d for d in definitions if isinstance(d, MatrixInverse)}
        self._known: dict[
            Any, tuple[tuple[sp.Symbol, ...], dict[Any, Any]]
        ] = {}  # (what it depends on, by values of these)
        self._inverted: dict[Any, Any] = {}

    def number(self, expression: Any, where: Where | None = None) -> Any:
        """The number (mpf or mpc, a list of them for a tuple or a matrix) at values of its free indices.

        To be called at WORKING digits. Raises NotEvaluable.
        """
        expression, where = sp.sympify(expression), dict(where or {})
        if isinstance(expression, sp.MatrixExpr):
            return list(self.matrix(expression, where))
        if isinstance(expression, sp.Tuple | sp.MatrixBase):
            return [self.at(each, where) for each in expression]
        return self.at(expression, where)

    def matrix(self, expression: Any, where: Where) -> Any:
        """The value of a matrix expression."""
        return matrix_value(expression, lambda e: self.at(e, where), self._drawn)

    def at(self, expression: Any, where: Where) -> Any:
        """The value of a scalar; where: values of its indices and variables."""
        if expression in where:
            return mpmath.mpf(where[expression])
        if expression not in self._known:
            self._known[expression] = tuple(depends_on(expression)), {}
        symbols, numbers = self._known[expression]
        values = map(where.get, symbols)
        # the hash of an mpf is slow, that of what it is made of is not
        key = tuple([value._mpf_ if isinstance(value, mpmath.mpf) else value for value in values])
        if key not in numbers:
            numbers[key] = self._fresh(expression, where)
        return numbers[key]

    def least(self, function: Callable[[Any], Any]) -> Any:
        """The least value of a smooth convex function of one variable."""
        return function(minimum_of(function, mpmath.mpf(0)))

    def place_of_least(self, function: Callable[[Any], Any]) -> Any:
        """Where a convex function is least: an interval around it shrinks by the golden section."""
        ratio = (mpmath.sqrt(5) - 1) / 2
        low, high = mpmath.mpf(-_WIDE), mpmath.mpf(_WIDE)
        inner = [high - ratio * (high - low), low + ratio * (high - low)]
        found = [function(x) for x in inner]
        while high - low > mpmath.mpf(10) ** -(DIGITS + 10):
            if found[0] < found[1]:
                high, inner = inner[1], [inner[1] - ratio * (inner[1] - low), inner[0]]
                found = [function(inner[0]), found[0]]
            else:
                low, inner = inner[0], [inner[1], inner[0] + ratio * (high - inner[0])]
                found = [found[1], function(inner[1])]
        return (low + high) / 2

    def moved(self, places: Mapping[Any, Any]) -> RandomValues:
        """The same point with other values of some symbols (by symbol) and members (by name and indices)."""
        return RandomValues(self.definitions, {**self._moved, **places}, self.seed)

    # --- atoms ------------------------------------------------------------------------------------------------------

    def _drawn(self, *name: Any) -> Any:
        """A number in (0.2, 0.95) that belongs to a name."""
        return mpmath.mpf(_millionths(self.seed, name)) / 1000000

    def _symbol(self, symbol: sp.Symbol, where: Where) -> Any:
        if symbol in where:
            return mpmath.mpf(where[symbol])
        if symbol in self._moved:
            return self._moved[symbol]
        if is_index(symbol):
            raise NotEvaluable(f"the index {symbol} has no value")
        if symbol.is_integer:
            return mpmath.mpf(SIDE)  # of a matrix
        sign = 1 if symbol.is_nonnegative or symbol.is_real is None else 1 - 2 * int(self._drawn("sign", symbol) > 0.6)
        return sign * self._drawn(symbol.name)

    def _member(self, expression: Any, where: Where) -> Any:
        """Of a family, or an undefined function at its arguments."""
        name = str(family_name(expression))
        given = member_indices(expression)
        indices = tuple(self._argument(i, where) for i in given)
        if (name, len(indices)) in self._bodies:
            definition = self._bodies[name, len(indices)]
            inside = dict(zip(definition.indices, indices, strict=True))
            return self.at(definition.body, inside | ({KAPPA: where[KAPPA]} if KAPPA in where else {}))
        if name in self._inverses:
            return self._inverse(name, indices[2:])[indices[0], indices[1]]
        if (name, indices) in self._moved:
            return self._moved[name, indices]
        if name.startswith(UNIT):
            return mpmath.mpf(indices[0] == indices[1])
        if isinstance(expression, AppliedUndef):
            return self._function(name, [*indices, *(self.at(a, where) for a in expression.args if a == KAPPA)])
        return self._drawn(name, _sorted(name, indices))

    def _argument(self, argument: Any, where: Where) -> Any:
        if isinstance(argument, sp.Integer):
            return int(argument)
        return where[argument] if is_index(argument) and argument in where else self.at(argument, where)

    def _function(self, name: str, arguments: Sequence[Any]) -> Any:
        """A smooth function, positive for real arguments; there is one for each value of the indices among them."""
        indices = tuple(a for a in arguments if isinstance(a, int))
        phase = self._drawn(name, indices, "phase")
        for place, x in enumerate(a for a in arguments if not isinstance(a, int)):
            phase += (self._drawn(name, indices, place, "rate") / 3) * x
        return self._drawn(name, indices) + mpmath.mpf("0.2") * (1 + mpmath.sin(phase))

    # --- nodes ------------------------------------------------------------------------------------------------------

    def _fresh(self, expression: Any, where: Where) -> Any:
        if family_name(expression) is not None:
            return self._member(expression, where)
        if isinstance(expression, sp.Symbol):
            return self._symbol(expression, where)
        if expression.is_number and (not expression.args or isinstance(expression, sp.CRootOf)):
            return _exact(expression)
        if isinstance(expression, _ARITHMETIC):
            return self._compound(expression, where)
        for kind, method in self._NODES.items():
            if isinstance(expression, kind):
                return method(self, expression, where)
        if hasattr(expression, "numerical_value"):
            return expression.numerical_value(self, where)
        return self._compound(expression, where)

    def _compound(self, expression: Any, where: Where) -> Any:
        if isinstance(expression, sp.Piecewise):
            return self._piecewise(expression, where)
        if not expression.args or isinstance(expression, sp.MatrixExpr):
            raise NotEvaluable(f"{type(expression).__name__} has no number")
        values = [self.at(arg, where) for arg in expression.args]
        if isinstance(expression, sp.Add):
            return mpmath.fsum(values)
        if isinstance(expression, sp.Mul):
            return mpmath.fprod(values)
        if isinstance(expression, sp.Pow):
            return values[0] ** (int(expression.exp) if expression.exp.is_Integer else values[1])
        try:
            return _function_of(expression.func, len(values))(*values)
        except (NameError, TypeError) as error:
            raise NotEvaluable(f"{type(expression).__name__} has no number") from error

    def _piecewise(self, expression: sp.Piecewise, where: Where) -> Any:
        for value, condition in expression.args:
            if condition == sp.true or self.at(condition.lhs - condition.rhs, where) * _sense(condition) < 0:
                return self.at(value, where)
        raise NotEvaluable(f"no case of {expression} holds")

    def _sum(self, expression: BlockSum, where: Where) -> Any:
        return mpmath.fsum(self.at(expression.body, {**where, expression.bound: i}) for i in range(SIZE))

    def _delta(self, expression: sp.KroneckerDelta, where: Where) -> Any:
        first, second = (self._argument(i, where) for i in expression.args)
        return mpmath.mpf(first == second)

    def _subs(self, expression: sp.Subs, where: Where) -> Any:
        places, values = dict(where), self
        # SymPy writes one inside the other as one, the outer one last: it holds for what the inner one puts in
        for symbol, value in reversed(list(zip(expression.variables, expression.point, strict=True))):
            if is_index(symbol):
                places[symbol] = values._argument(value, places)
            elif symbol in where:
                places[symbol] = values.at(value, places)
            else:
                values = values.moved({symbol: values.at(value, places)})
        return values.at(expression.expr, places)

    def _derivative(self, expression: sp.Derivative, where: Where) -> Any:
        variables = [v for v, count in expression.variable_count for _ in range(int(count))]
        return self._difference(expression.expr, variables, where)

    def _difference(self, body: Any, variables: Sequence[Any], where: Where) -> Any:
        if not variables:
            return self.at(body, where)
        (variable, *rest), step = variables, mpmath.mpf(10) ** -STEP

        def moved(by: Any) -> Any:
            value = self.at(variable, where) + by
            if variable in where:
                return self._difference(body, rest, {**where, variable: value})
            if isinstance(variable, sp.Symbol):
                return self.moved({variable: value})._difference(body, rest, where)
            key = (str(family_name(variable)), tuple(self._argument(i, where) for i in member_indices(variable)))
            return self.moved({key: value})._difference(body, rest, where)

        return (moved(step) - moved(-step)) / (2 * step)

    def _limit(self, expression: sp.Limit, where: Where) -> Any:
        body, variable, place, _ = expression.args
        if place != sp.oo:
            raise NotEvaluable("a limit at a finite place")
        return self.moved({variable: mpmath.mpf(10) ** _FAR}).at(body, where)

    def _trace(self, expression: sp.Trace, where: Where) -> Any:
        found = self.matrix(expression.arg, where)
        return mpmath.fsum(found[i, i] for i in range(found.rows))

    def _log_determinant(self, expression: LogDet, where: Where) -> Any:
        over = tuple(self._argument(i, where) for i in expression.over)
        return mpmath.log(mpmath.det(self._entries(expression.inverse, over)))

    def _inverse(self, name: str, over: tuple[Any, ...]) -> Any:
        if (name, over) not in self._inverted:
            self._inverted[name, over] = self._entries(name, over) ** -1
        return self._inverted[name, over]

    def _entries(self, name: str, over: tuple[Any, ...]) -> Any:
        if name not in self._inverses:
            raise NotEvaluable(f"the matrix {name} is not known")
        matrix, known = self._inverses[name], mpmath.matrix(SIZE, SIZE)
        outside = dict(zip(matrix.over, over, strict=True))
        for i in range(SIZE):
            for j in range(SIZE):
                known[i, j] = self.at(matrix.entry, {**outside, matrix.row: i, matrix.column: j})
        return known

    # --- averages and integrals -------------------------------------------------------------------------------------

    def _average(self, expression: Expectation, where: Where) -> Any:
        rules = rules_of(expression)
        if rules is not None:
            return self._nested(expression.integrand, rules, where)
        given, names = apart(expression)
        return self._adaptive(given, {**where, **{name: self.at(e, where) for e, name in names.items()}})

    def _nested(self, integrand: Any, rules: Rules, where: Where) -> Any:
        if not rules:
            return self.at(integrand, where)
        (variable, rule), rest = rules[0], rules[1:]
        return mpmath.fsum(w * self._nested(integrand, rest, {**where, variable: x}) for x, w in rule)

    def _adaptive(self, expression: Expectation, where: Where) -> Any:
        """Of functions that may have kinks."""
        parts = sp.expand(expression) if len(expression.variables) > 1 else expression
        if parts != expression:
            return self.at(parts, where)
        if len(expression.variables) > 1:
            raise NotEvaluable("an average of a given function of several variables at once")
        numbers = {s: _float(self.at(s, where)) for s in expression.free_symbols}
        try:
            return expression.value(_AVERAGE, numbers)
        except (QuadratureError, ValueError) as error:
            raise NotEvaluable(f"an average without a number: {error}") from error

    def _integral(self, expression: sp.Integral, where: Where) -> Any:
        """Over the line, of exp of a concave function: Gauss's rule around its maximum."""
        if len(expression.limits) != 1 or len(expression.limits[0]) != 3:
            raise NotEvaluable("an integral over all readouts")
        (variable, _, _), body = expression.limits[0], expression.function

        def logarithm(x: Any) -> Any:
            return mpmath.log(self.at(body, {**where, variable: x}))

        return exponential_integral(logarithm)

    _NODES: Mapping[Any, Callable[..., Any]] = {
        BlockSum: _sum,
        sp.KroneckerDelta: _delta,
        sp.Subs: _subs,
        sp.Derivative: _derivative,
        sp.Limit: _limit,
        LogDet: _log_determinant,
        Expectation: _average,
        sp.Integral: _integral,
        sp.Trace: _trace,
    }


@lru_cache(maxsize=65536)
def _millionths(seed: int, name: tuple[Any, ...]) -> int:
    return random.Random(f"{seed} {name}").randint(200000, 950000)


@lru_cache(maxsize=256)
def _function_of(head: Any, count: int) -> Callable[..., Any]:
    arguments = sp.symbols(f"x:{count}", real=True)
    return mpmath_function(head(*arguments), arguments)


def _sorted(name: str, indices: tuple[Any, ...]) -> tuple[Any, ...]:
    """The first member of those that are equal by symmetry; replicas follow the blocks."""
    if name in SYMMETRIC and len(indices) >= 2:
        first, second, *rest = indices
        other = (second, first, *reversed(rest)) if len(rest) == 2 else (second, first, *rest)
        return min(indices, other)
    return (indices[0], *sorted(indices[1:])) if name == "Q2" and len(indices) == 3 else indices


def _sense(condition: Any) -> int:
    if isinstance(condition, sp.StrictLessThan | sp.LessThan):
        return 1
    if isinstance(condition, sp.StrictGreaterThan | sp.GreaterThan):
        return -1
    raise NotEvaluable(f"the condition {condition}")


def _exact(number: Any) -> Any:
    if number.is_Rational:
        return mpmath.mpf(int(number.p)) / int(number.q)
    return mpmath.mpmathify(sp.N(number, mpmath.mp.dps + 5)._to_mpmath(mpmath.mp.prec + 10))


def _float(value: Any) -> Any:
    return sp.Float._new(mpmath.mpf(value)._mpf_, mpmath.mp.prec)
