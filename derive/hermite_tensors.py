"""Hermite tensors C_k = E[grad^k f] of a link, by rules: polynomials, and sums of products of functions of
orthogonal directions. By Stein's lemma their entries are E[f He_m], so that links with jumps have them too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import mpmath
import sympy

from derive.gaussian.expectation import Expectation
from derive.gaussian.hermite_table import HermiteTable, Index, added, factorials, multi_indices
from derive.gaussian.quadrature import QuadratureError
from derive.gaussian.rules import close
from derive.gaussian.special import hermite_polynomial
from derive.language.links import Link
from derive.ridges import Separated, separated
from derive.to_sympy import to_sympy

EXACT_DPS, CLOSED_DPS, QUADRATURE_DPS = 200, 50, 20
_G = sympy.Symbol("g", real=True)


@dataclass(frozen=True)
class Tensors:
    """A table and how it was found: "polynomial" (exact), "closed form" or "quadrature" of functions of one index."""

    table: HermiteTable
    rule: str


def hermite_tensors(link: Link, degree: int, square: float) -> Tensors | None:
    """The tensors of a link up to a degree, by rules; ``square`` = E f^2. None where no rule applies.

    A polynomial has all of its tensors, whatever ``degree`` is.
    """
    symbols = tuple(sympy.Symbol(name, real=True) for name in link.variables)
    expression = to_sympy(link.node, {s.name: s for s in symbols})
    if expression.is_polynomial(*symbols):
        return Tensors(_of_polynomial(sympy.Poly(expression, *symbols)), "polynomial")
    terms = separated(expression, symbols)
    if terms is None:
        return None
    try:
        parts = [_of_term(term, degree) for term in terms]
    except (QuadratureError, NotImplementedError, ValueError):
        return None
    closed = all(part[1] for part in parts)
    zero, dps = (1e-30, CLOSED_DPS) if closed else (1e-13, QUADRATURE_DPS)
    with mpmath.workdps(dps):
        total = added(part[0] for part in parts)
    table = HermiteTable(len(symbols), degree, False, total, square**0.5, zero, dps)
    return Tensors(table.without_zeros(), "closed form" if closed else "quadrature")


def closed_entry(link: Link, index: Index) -> Any | None:
    """One entry E[f He_m] as a SymPy expression; None where it is not a closed form in the axes z1, z2, ..."""
    symbols = tuple(sympy.Symbol(name, real=True) for name in link.variables)
    expression = to_sympy(link.node, {s.name: s for s in symbols})
    terms = separated(expression, symbols)
    if terms is None or not all(term.is_aligned for term in terms):
        return None
    total = sympy.S.Zero
    for term in terms:
        for powers, coefficient in term.polynomial.items():
            entry = coefficient
            for i, order in enumerate(index):
                integrand = term.functions[i].subs(term.variable, _G) * _G ** powers[i] * hermite_polynomial(order, _G)
                entry *= close(Expectation(sympy.expand(integrand), _G))[0]
            total += entry
    total = sympy.simplify(total)
    return None if total.has(Expectation) else total


def _of_polynomial(polynomial: Any) -> HermiteTable:
    """x^n = sum_j n!/(2^j j! (n-2j)!) He_{n-2j}(x), in exact arithmetic."""
    total: dict[Index, Any] = {}
    for powers, coefficient in polynomial.terms():
        entries: dict[Index, Any] = {(): sympy.sympify(coefficient)}
        for n in powers:
            entries = {
                (*m, n - 2 * j): c * sympy.factorial(n) / (2**j * sympy.factorial(j))
                for m, c in entries.items()
                for j in range(n // 2 + 1)
            }
        total = added((total, entries))
    with mpmath.workdps(EXACT_DPS):
        numbers = {m: _number(c, EXACT_DPS) for m, c in total.items() if c != 0}
        norm = mpmath.sqrt(mpmath.fsum(c**2 / factorials(m) for m, c in numbers.items()))
    degree = max(polynomial.total_degree(), 0)
    size = len(polynomial.gens)
    table = HermiteTable(size, degree, True, numbers, float(norm), 1e-80, EXACT_DPS)
    return table.without_zeros()


def _of_term(term: Separated, degree: int) -> tuple[dict[Index, Any], bool]:
    """Coefficients of one product in z, and whether all came from closed forms."""
    size = term.size
    polynomial = term.numbers(CLOSED_DPS)
    powers = [max((m[j] for m in polynomial), default=0) for j in range(size)]
    tables, closed = [], True
    for j in range(size):
        values, by_rule = _of_function(term.functions[j], degree + powers[j])
        closed &= by_rule
        tables.append(_with_powers(values, powers[j], degree))
    with mpmath.workdps(CLOSED_DPS):
        found: dict[Index, Any] = {}
        for m, coefficient in polynomial.items():
            for n in multi_indices(size, degree):
                value = coefficient
                for j in range(size):
                    value = value * tables[j][m[j]][n[j]]
                    if value == 0:
                        break
                if value != 0:
                    found[n] = found.get(n, 0) + value
        if term.is_aligned:
            return found, closed
        table = HermiteTable(size, degree, False, found, 1.0, 0.0, CLOSED_DPS)
        # the coordinates are xi = E z, so those of z are rows of the transpose
        back = [[row[i] for row in term.basis(CLOSED_DPS)] for i in range(size)]
        return dict(table.rotated(back).coefficients), closed


def _with_powers(values: tuple[Any, ...], power: int, degree: int) -> list[list[Any]]:
    """E[g x^k He_n] for k <= power, n <= degree, by x He_n = He_{n+1} + n He_{n-1}."""
    with mpmath.workdps(CLOSED_DPS):
        rows = [list(values)]
        for _ in range(power):
            last = rows[-1]
            rows.append([last[n + 1] + (n * last[n - 1] if n else 0) for n in range(len(last) - 1)])
    return [row[: degree + 1] for row in rows]


@lru_cache(maxsize=256)
def _of_function(function: Any, degree: int) -> tuple[tuple[Any, ...], bool]:
    """E[g He_n], n <= degree, mpf, and whether all have closed forms."""
    if not function.free_symbols:
        value = _number(function, CLOSED_DPS)
        return (value, *[mpmath.mpf(0)] * degree), True
    (x,) = function.free_symbols
    entries = [close(Expectation(function * hermite_polynomial(n, x), x))[0] for n in range(degree + 1)]
    closed = not any(sympy.sympify(entry).has(Expectation) for entry in entries)
    dps = CLOSED_DPS if closed else QUADRATURE_DPS
    return tuple(_number(entry, dps) for entry in entries), closed


def _number(expression: Any, dps: int) -> Any:
    with mpmath.workdps(dps + 5):
        value = sympy.N(sympy.sympify(expression), dps + 10)
        if not value.is_number or value.has(sympy.nan, sympy.zoo, sympy.oo):
            raise ValueError(f"{expression} is not a finite number")
        return value._to_mpmath(mpmath.mp.prec)
