"""Rewriting expressions into forms that neither overflow nor cancel in floating point, exact in real numbers.

1/(1 + exp(u))         ->  Sigmoid(-u)
exp(u)/(1 + exp(u))    ->  Sigmoid(u)
log(1 + exp(u))        ->  Softplus(u)
log(cosh(u))           ->  LogCosh(u)
a + a erf(u)           ->  a Tail(-u)
a - a erf(u)           ->  a Tail(u)
2 a - a erfc(u)        ->  a Tail(-u)
a - a erfc(u)          ->  a erf(u)
a exp(u) - a           ->  a Expm1(u)
log(1 + u)             ->  Log1p(u)
sinh(u)/cosh(u)        ->  tanh(u)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import sympy

from derive.gaussian.special import NormalCdf


class Sigmoid(sympy.Function):
    """1/(1 + exp(-u))."""


class Softplus(sympy.Function):
    """log(1 + exp(u))."""


class LogCosh(sympy.Function):
    """log(cosh(u))."""


class Tail(sympy.Function):
    """erfc(u), left as it is where SymPy would write erfc(-u) as 2 - erfc(u)."""


class Expm1(sympy.Function):
    """exp(u) - 1."""


class Log1p(sympy.Function):
    """log(1 + u)."""


def stabilised(expression: Any) -> Any:
    """The expression with its unstable parts replaced, innermost first. Nested conditions are left alone."""
    if not isinstance(expression, sympy.Expr) or not expression.args:
        return expression
    arguments = [stabilised(argument) for argument in expression.args]
    rebuilt = expression.func(*arguments) if tuple(arguments) != expression.args else expression
    if isinstance(rebuilt, sympy.exp):  # exponents that are the same are to look the same
        return sympy.exp(_distributed(rebuilt.args[0]))
    if isinstance(rebuilt, sympy.Add):
        return _sum(rebuilt)
    if isinstance(rebuilt, sympy.Mul):
        return _product(rebuilt)
    if isinstance(rebuilt, sympy.log):
        return _logarithm(rebuilt)
    if isinstance(rebuilt, sympy.Pow):
        return _power(rebuilt)
    return rebuilt


def _distributed(exponent: Any) -> Any:
    """A number times a sum as a sum."""
    return sympy.expand_mul(exponent, deep=False) if exponent.is_Mul and exponent.args[0].is_Number else exponent


def _one_plus_exp(expression: Any) -> Any:
    """u where the expression is 1 + exp(u), else None."""
    if isinstance(expression, sympy.Add) and len(expression.args) == 2 and sympy.S.One in expression.args:
        other = expression - 1
        if isinstance(other, sympy.exp):
            return other.args[0]
    return None


def _power(power: Any) -> Any:
    u = _one_plus_exp(power.base)
    if u is not None and power.exp.is_Integer and power.exp < 0:
        return Sigmoid(-u) ** (-power.exp)
    return power


def _logarithm(log: Any) -> Any:
    inside = log.args[0]
    u = _one_plus_exp(inside)
    if u is not None:
        return Softplus(u)
    if isinstance(inside, sympy.cosh):
        return LogCosh(inside.args[0])
    if isinstance(inside, sympy.Add) and sympy.S.One in inside.args:
        return Log1p(inside - 1)
    return log


def _product(product: Any) -> Any:
    powers = dict(product.as_powers_dict())
    for base in sorted(powers, key=sympy.default_sort_key):
        count = powers[base]
        if isinstance(base, Sigmoid) and count.is_Integer and count > 0:
            # exp(-u) Sigmoid(u) = Sigmoid(-u): the product overflows where its value is 1
            u = base.args[0]
            for k in range(int(count), 0, -1):
                rest = sympy.powsimp(product / sympy.exp(-k * u) / base**count, combine="exp")
                if not rest.has(sympy.exp) and product.has(sympy.exp):
                    return _product_or_same(rest * base ** (count - k) * Sigmoid(-u) ** k)
        if isinstance(base, sympy.sinh) and powers.get(sympy.cosh(base.args[0]), sympy.S.Zero) == -count:
            u = base.args[0]
            return product * (sympy.tanh(u) * sympy.cosh(u) / sympy.sinh(u)) ** count
    return product


def _product_or_same(product: Any) -> Any:
    return _product(product) if isinstance(product, sympy.Mul) else product


def _sum(total: Any) -> Any:
    """Pairs (term with erf, erfc or exp) + (the same term without it, times 1, -1 or -2) become one term."""
    terms = list(total.args)
    for term in sorted(terms, key=sympy.default_sort_key):
        for atom in sorted(term.atoms(*_PAIRS), key=sympy.default_sort_key):
            factor = term / atom
            if factor.has(type(atom)):
                continue
            for multiple, replacement in _PAIRS[type(atom)]:
                if multiple * factor in terms:
                    rest = total - term - multiple * factor
                    joined = rest + factor * replacement(atom.args[0])
                    return _sum(joined) if isinstance(joined, sympy.Add) else joined
    return total


_PAIRS: Mapping[Any, tuple[tuple[int, Callable[[Any], Any]], ...]] = MappingProxyType(
    {
        sympy.erf: ((1, lambda u: Tail(-u)), (-1, lambda u: -Tail(u))),
        sympy.erfc: ((-2, lambda u: -Tail(-u)), (-1, lambda u: -sympy.erf(u))),
        NormalCdf: ((-1, lambda u: -NormalCdf(-u)),),
        sympy.exp: ((-1, lambda u: Expm1(u)),),
    }
)
