"""Logarithms of losses in forms whose argument neither cancels nor underflows, exact in real numbers.

log(1/(1 + exp(-u)))      ->  -log(1 + exp(-u))
log(1 - 1/(1 + exp(-u)))  ->  -log(1 + exp(u))
log(c Phi(u)), log(c (1 - Phi(u))), and the same written with erf or erfc  ->  log c + LogNormalCdf(+-u)
"""

from __future__ import annotations

import sympy as sp

from derive.gaussian.special import LogNormalCdf, NormalCdf


def tame_logarithms(expression: sp.Expr) -> sp.Expr:
    """The expression with such logarithms rewritten."""
    return expression.replace(lambda e: isinstance(e, sp.log), lambda e: _logarithm(e.args[0]))


def _logarithm(argument: sp.Expr) -> sp.Expr:
    tail = _normal_tail(argument)
    if tail is not None:
        factor, place = tail
        return sp.log(factor) + LogNormalCdf(place)
    if any(power.base.is_Add and power.exp.is_negative for power in argument.atoms(sp.Pow)):
        above, below = sp.fraction(sp.together(argument))
        if isinstance(above, sp.exp):
            return -sp.log(sp.expand(below / above))
        return sp.expand_log(sp.log(above / below))
    return sp.log(argument)


def _normal_tail(argument: sp.Expr) -> tuple[sp.Expr, sp.Expr] | None:
    """(c, u) where the argument is c Phi(u), c a positive number."""
    functions = argument.atoms(sp.erf, sp.erfc, NormalCdf)
    if len(functions) != 1:
        return None
    function = functions.pop()
    inside, symbol = function.args[0], sp.Dummy()
    linear = sp.expand(argument.xreplace({function: symbol}))
    slope, constant = linear.coeff(symbol, 1), linear.coeff(symbol, 0)
    if not (slope.is_number and constant.is_number and sp.expand(linear - slope * symbol - constant) == 0):
        return None
    # every one of the three is a + b Phi(u)
    share, base, place = {
        sp.erf: (2, -1, sp.sqrt(2) * inside),
        sp.erfc: (2, 0, -sp.sqrt(2) * inside),
        NormalCdf: (1, 0, inside),
    }[function.func]
    a, b = constant + base * slope, share * slope
    if a == 0 and b.is_positive:
        return b, place
    return (a, -place) if a + b == 0 and a.is_positive else None
