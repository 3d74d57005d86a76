"""What a function has beside its limit at infinity, in a form whose digits do not cancel there; exact in real numbers.

Averages of it keep relative digits where all that varies of a function is far below its rounding: mu1 and mu2 are
those of the function itself, mu0 lacks the limit. Where u grows (else with the signs of u turned):

tanh(u)      ->  1 - 2 Sigmoid(-2 u)
erf(u)       ->  1 - Tail(u)
Sigmoid(u)   ->  1 - Sigmoid(-u)
Tail(-u)     ->  2 - Tail(u)
NormalCdf(u) ->  1 - NormalCdf(-u)
Expm1(-u)    ->  exp(-u) - 1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import sympy

from codegen.stable import Expm1, Sigmoid, Tail, stabilised
from derive.gaussian.special import NormalCdf


class Limit(NamedTuple):
    """f = value + rest, where the rest vanishes exponentially."""

    value: Any
    rest: Any


def limit_of(expression: Any, z: sympy.Symbol, side: int) -> Limit | None:
    """The limit of an expression as z goes to infinity times ``side``; None where it is 0 or not told, or where what is
    left does not vanish exponentially.
    """
    plain = stabilised(expression)
    nodes = sorted(plain.atoms(*_GROWING), key=sympy.default_sort_key)
    turned = plain.xreplace({node: _turned(node, z, side) for node in nodes})
    whole = sympy.expand(turned, power_exp=False, power_base=False, log=False)
    terms = sympy.Add.make_args(whole)
    value = sympy.Add(*[term for term in terms if not term.has(z)])
    rest = [term for term in terms if term.has(z)]
    if value == 0 or not rest or not all(_vanishes(term, z, side) for term in rest):
        return None
    return Limit(value, sympy.Add(*rest))


def _turned(node: Any, z: sympy.Symbol, side: int) -> Any:
    """A node of ``_GROWING`` as its limit and what vanishes beside it; as it is where its argument has no sign."""
    u = node.args[0]
    sign = _sign(u, z, side)
    return node if sign == 0 else _GROWING[type(node)](u, sign)


def _of_sigmoid(u: Any, sign: int) -> Any:
    return 1 - Sigmoid(-u) if sign > 0 else Sigmoid(u)


_GROWING: Mapping[Any, Callable[[Any, int], Any]] = MappingProxyType(
    {
        sympy.tanh: lambda u, sign: sign * (1 - 2 * Sigmoid(-2 * sign * u)),
        sympy.erf: lambda u, sign: sign * (1 - Tail(sign * u)),
        Tail: lambda u, sign: Tail(u) if sign > 0 else 2 - Tail(-u),
        Sigmoid: _of_sigmoid,
        NormalCdf: lambda u, sign: 1 - NormalCdf(-u) if sign > 0 else NormalCdf(u),
        Expm1: lambda u, sign: sympy.exp(u) - 1,
    }
)
_FALLING: Mapping[Any, int] = MappingProxyType({Tail: 1, Sigmoid: -1, NormalCdf: -1, sympy.exp: -1})


def _sign(u: Any, z: sympy.Symbol, side: int) -> int:
    """Of a polynomial far out; 0 where it has none or is something else."""
    if not u.is_polynomial(z) or sympy.degree(u, z) < 1:
        return 0
    leading = sympy.LC(u, z) * side ** int(sympy.degree(u, z))
    return 1 if leading.is_positive else -1 if leading.is_negative else 0


def _vanishes(term: Any, z: sympy.Symbol, side: int) -> bool:
    """Whether one factor falls exponentially, and all others are powers of z or numbers."""
    falls = False
    for base, power in term.as_powers_dict().items():
        if not base.has(z) or (base == z and power.is_Integer and power > 0):
            continue
        wanted = _FALLING.get(type(base), 0)
        if wanted == 0 or not power.is_number or not power.is_positive or _sign(base.args[0], z, side) != wanted:
            return False
        falls = True
    return falls
