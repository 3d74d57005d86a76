"""A function of several variables as a sum of products of functions of orthogonal directions, where it is one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product as cartesian
from typing import Any

import mpmath
import sympy

from derive.gaussian.hermite_table import Index, added, multiply

Symbols = tuple[sympy.Symbol, ...]
Direction = tuple[Any, ...]
_MOST_TERMS = 200


@dataclass(frozen=True)
class Separated:
    """P(z) g_1(e_1.z) g_2(e_2.z) ...: ``directions`` a_j, not normalised, mutually orthogonal, e_j = a_j/|a_j|.

    ``functions``: of ``variable`` = e_j.z, for the rows of the completed basis (1 beyond the directions), or for the
    axes where all directions are axes. ``polynomial``: P, exponents of z -> SymPy number.
    """

    size: int
    variable: sympy.Symbol
    directions: tuple[Direction, ...]
    functions: tuple[Any, ...]
    polynomial: dict[Index, Any]

    @property
    def is_aligned(self) -> bool:
        """Whether every direction is an axis."""
        return all(sum(x != 0 for x in a) == 1 for a in self.directions)

    def basis(self, dps: int) -> list[list[Any]]:
        """Orthonormal rows e_j, mpf; the axes where all directions are axes."""
        if self.is_aligned:
            return [[mpmath.mpf(int(i == j)) for i in range(self.size)] for j in range(self.size)]
        return completed([[_real(x, dps) for x in a] for a in self.directions], self.size, dps)

    def numbers(self, dps: int) -> dict[Index, Any]:
        """P in the coordinates of the basis, mpf."""
        plain = {m: _real(c, dps) for m, c in self.polynomial.items()}
        if self.is_aligned:
            return plain
        with mpmath.workdps(dps):
            basis, total = self.basis(dps), dict[Index, Any]()
            unit = [tuple(int(i == j) for i in range(self.size)) for j in range(self.size)]
            for powers, coefficient in plain.items():
                part: dict[Index, Any] = {(0,) * self.size: coefficient}
                for i, power in enumerate(powers):
                    for _ in range(power):
                        part = multiply(part, {unit[j]: basis[j][i] for j in range(self.size)})
                total = added((total, part))
            return total


def separated(expression: Any, symbols: Symbols) -> tuple[Separated, ...] | None:
    """The terms of the sum; None where a product mixes directions that are not orthogonal."""
    terms = _terms(_signs_apart(expression), symbols)
    if terms is None:
        return None
    found = [_separated(factors, symbols) for factors in terms]
    return None if any(term is None for term in found) else tuple(term for term in found if term is not None)


def completed(rows: list[list[Any]], size: int, dps: int) -> list[list[Any]]:
    """Orthonormal rows that begin with the span of the rows given, row by row, and go on with axes (mpf)."""
    with mpmath.workdps(dps):
        axes = [[mpmath.mpf(int(i == j)) for i in range(size)] for j in range(size)]
        basis: list[list[Any]] = []
        for row in [*rows, *axes]:
            rest = list(row)
            for _ in range(2):  # the second time removes what rounding left
                for e in basis:
                    overlap = mpmath.fdot(rest, e)
                    rest = [x - overlap * y for x, y in zip(rest, e, strict=True)]
            norm = mpmath.sqrt(mpmath.fdot(rest, rest))
            if norm > 1e-6 * mpmath.sqrt(mpmath.fdot(row, row)):
                basis.append([x / norm for x in rest])
        return basis[:size]


def _signs_apart(expression: Any) -> Any:
    """sign of a product as the product of signs, the step function by the sign."""
    expression = expression.replace(
        lambda e: isinstance(e, sympy.Heaviside) and len(e.free_symbols) > 1,
        lambda e: (1 + sympy.sign(e.args[0])) / 2,
    )
    return expression.replace(
        lambda e: isinstance(e, sympy.sign) and len(e.free_symbols) > 1, lambda e: _sign(e.args[0])
    )


def _sign(argument: Any) -> Any:
    factors = sympy.Mul.make_args(sympy.factor(argument) if argument.is_polynomial() else argument)
    signs = []
    for factor in factors:
        base, exponent = factor.as_base_exp()
        odd = exponent.is_Integer and exponent % 2 == 1
        even = exponent.is_Integer and not odd
        signs.append(sympy.sign(base) if odd else sympy.S.One if even else sympy.sign(factor))
    return sympy.Mul(*signs)


def _directions(expression: Any, symbols: Symbols) -> set[Direction]:
    """The directions, up to a factor, on which an expression depends."""
    present = [s for s in symbols if s in expression.free_symbols]
    if not present:
        return set()
    if len(present) == 1:
        return {tuple(sympy.Integer(int(s == present[0])) for s in symbols)}
    if expression.is_polynomial(*symbols):
        polynomial = sympy.Poly(expression, *symbols)
        if polynomial.total_degree() == 1:
            slopes = [polynomial.coeff_monomial(s) for s in symbols]
            first = next(x for x in slopes if x != 0)
            return {tuple(sympy.simplify(x / first) for x in slopes)}
    return set().union(*(_directions(part, symbols) for part in expression.args))


def _terms(expression: Any, symbols: Symbols) -> list[list[Any]] | None:
    """Products whose sum is the expression, each a list of polynomials and functions of one direction; None
    where there are too many.
    """
    if len(_directions(expression, symbols)) <= 1 or expression.is_polynomial(*symbols):
        return [[expression]]
    parts: list[list[list[Any]] | None]
    if isinstance(expression, sympy.Add):
        parts = [_terms(part, symbols) for part in expression.args]
        lists = [part for part in parts if part is not None]
        joined = [term for part in lists for term in part]
        return joined if len(lists) == len(parts) and len(joined) <= _MOST_TERMS else None
    factors = _factors(expression)
    if factors == [expression]:
        return [[expression]]
    parts = [_terms(part, symbols) for part in factors]
    lists = [part for part in parts if part is not None]
    count = 1
    for part in lists:
        count *= len(part)
    if len(lists) < len(parts) or count > _MOST_TERMS:
        return None
    return [[f for term in choice for f in term] for choice in cartesian(*lists)]


def _factors(expression: Any) -> list[Any]:
    if isinstance(expression, sympy.Mul):
        return list(expression.args)
    if isinstance(expression, sympy.Pow) and expression.exp.is_Integer and 0 < expression.exp <= 8:
        return [expression.base] * int(expression.exp)
    if isinstance(expression, sympy.exp) and isinstance(expression.args[0], sympy.Add):
        return [sympy.exp(part) for part in expression.args[0].args]
    return [expression]


def _separated(factors: list[Any], symbols: Symbols) -> Separated | None:
    g = sympy.Dummy("g", real=True)
    polynomial, functions = sympy.S.One, dict[Direction, Any]()
    for factor in factors:
        if factor.is_polynomial(*symbols):
            polynomial *= factor
            continue
        found = _directions(factor, symbols)
        if len(found) != 1:
            return None
        (direction,) = found
        functions[direction] = functions.get(direction, sympy.S.One) * factor
    directions = sorted(functions, key=str)
    for i, a in enumerate(directions):
        for b in directions[:i]:
            if sympy.simplify(sum(x * y for x, y in zip(a, b, strict=True))) != 0:
                return None
    of_direction = {a: _along(functions[a], a, symbols, g) for a in directions}
    axes = [tuple(sympy.Integer(int(s == t)) for s in symbols) for t in symbols]
    aligned = all(a in axes for a in directions)
    rows = axes if aligned else [*directions, *axes][: len(symbols)]
    one = sympy.S.One
    of_rows = [of_direction.get(a, one) if aligned or j < len(directions) else one for j, a in enumerate(rows)]
    terms = dict(sympy.Poly(polynomial, *symbols).terms())
    return Separated(len(symbols), g, tuple(directions), tuple(of_rows), terms)


def _along(function: Any, direction: Direction, symbols: Symbols, g: sympy.Symbol) -> Any:
    """The function at z = g a/|a|."""
    norm = sympy.sqrt(sum(x**2 for x in direction))
    places = {s: g * x / norm for s, x in zip(symbols, direction, strict=True)}
    return function.subs(places, simultaneous=True)


def _real(value: Any, dps: int) -> Any:
    with mpmath.workdps(dps + 5):
        return sympy.N(value, dps + 5)._to_mpmath(mpmath.mp.prec)
