"""Polynomials times exponentials, sines and cosines, or error functions of affine arguments.

Exponentials are absorbed into the Gaussian weight; the rest is integrated by Stein's lemma down to
E erf(a + b g) = erf(a/sqrt(1+2b^2)),  E erf(a + b g)^2 = 1 - 8 T(sqrt2 a/sqrt(1+2b^2), 1/sqrt(1+4b^2)),
E Phi(a + b g) = Phi(h), h = a/sqrt(1+b^2),  E Phi(a + b g)^2 = Phi(h) - 2 T(h, 1/sqrt(1+2b^2)),
E g^k cos(a + b g) = He_k(b) exp(-b^2/2) cos(a + k pi/2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy
from sympy.simplify.fu import TR8

from derive.gaussian.rules.affine import affine, quadratic, ratio, root
from derive.gaussian.rules.polynomial import moment
from derive.gaussian.special import NormalCdf, OwenT, hermite_polynomial

EXPONENTIAL = "completing the square in an exponential"
TRIGONOMETRIC = "characteristic function of the Gaussian"
ERROR_FUNCTION = "Gaussian shift of the error function, with Stein's lemma"
OWEN = "Owen's T function for a squared error function"

_LARGEST_DEGREE = 40


@dataclass(frozen=True)
class _Term:
    """coefficient * g^power * exp(e0 + e1 g + e2 g^2) * trig(a + b g) * product of erf or Phi of (a + b g).

    `trig` and `errors` hold (function, a, b).
    """

    coefficient: Any
    power: int
    exponent: tuple[Any, Any, Any]
    trig: tuple[Any, ...]
    errors: tuple[tuple[Any, Any, Any], ...]


def close(integrand: Any, g: sympy.Symbol) -> tuple[Any, tuple[str, ...]] | None:
    """E of a sum of such terms; None where a term holds anything else."""
    expanded = _expanded(integrand, g)
    names: dict[str, None] = {}
    total = []
    for piece in sympy.Add.make_args(expanded):
        term = _parsed(piece, g)
        if term is None:
            return None
        value = _term_value(term, names)
        if value is None:
            return None
        total.append(value)
    return sympy.Add(*total), tuple(names)


def _expanded(integrand: Any, g: sympy.Symbol) -> Any:
    """As a sum of products: hyperbolic functions as exponentials, products of sines and cosines as sums."""
    replaced = integrand.replace(
        lambda e: isinstance(e, sympy.sinh | sympy.cosh) and e.has(g), lambda e: e.rewrite(sympy.exp)
    )
    replaced = replaced.replace(lambda e: isinstance(e, sympy.erfc) and e.has(g), lambda e: 1 - sympy.erf(e.args[0]))
    expanded = sympy.expand(replaced, power_base=False, power_exp=False, log=False)
    before = None
    while expanded.has(sympy.sin, sympy.cos) and expanded != before:
        before, expanded = expanded, sympy.expand(TR8(expanded), power_base=False, power_exp=False, log=False)
    return expanded


def _parsed(term: Any, g: sympy.Symbol) -> _Term | None:
    coefficient, power = sympy.S.One, 0
    exponent: tuple[Any, Any, Any] = (sympy.S.Zero,) * 3
    trig: list[Any] = []
    errors: list[tuple[Any, Any, Any]] = []
    for factor in sympy.Mul.make_args(term):
        if not factor.has(g):
            coefficient *= factor
            continue
        base, times = factor.as_base_exp()
        if isinstance(factor, sympy.exp):
            base, times = factor, sympy.S.One
        whole = times.is_Integer and 0 < times <= _LARGEST_DEGREE
        if base == g and whole:
            power += int(times)
        elif isinstance(base, sympy.exp):
            found = quadratic(base.args[0] * times, g)
            if found is None:
                return None
            exponent = tuple(x + y for x, y in zip(exponent, found, strict=True))
        elif isinstance(base, sympy.sin | sympy.cos) and times == 1 and (shift := affine(base.args[0], g)):
            trig.append((type(base), *shift))
        elif isinstance(base, sympy.erf | NormalCdf) and whole and (shift := affine(base.args[0], g)):
            errors.extend([(type(base), *shift)] * int(times))
        else:
            return None
    if power > _LARGEST_DEGREE or len(trig) > 1 or (trig and errors):
        return None
    return _Term(coefficient, power, exponent, tuple(trig), tuple(errors))


def _term_value(term: _Term, names: dict[str, None]) -> Any:
    if any(x != 0 for x in term.exponent):
        names[EXPONENTIAL] = None
        return _completed_square(term, names)
    if term.trig:
        names[TRIGONOMETRIC] = None
        function, a, b = term.trig[0]
        phase = a + term.power * sympy.pi / 2
        wave = hermite_polynomial(term.power, b) * sympy.exp(sympy.expand(-(b**2) / 2)) * function(phase)
        return term.coefficient * wave
    value = _error_moment(term.power, term.errors, names)
    return None if value is None else term.coefficient * value


def _completed_square(term: _Term, names: dict[str, None]) -> Any:
    """g -> m + tau h: exp(e0 + e1 g + e2 g^2) joins the Gaussian weight. None if not integrable."""
    e0, e1, e2 = term.exponent
    precision = ratio(1 - 2 * e2)
    if not precision.is_positive:
        return None
    tau = 1 / root(precision)
    centre = ratio(e1 / precision)
    factor = tau * sympy.exp(ratio(e0 + e1**2 / (2 * precision)))
    errors = tuple((f, ratio(a + b * centre), b * tau) for f, a, b in term.errors)
    trig = tuple((f, sympy.expand(a + b * centre), b * tau) for f, a, b in term.trig)
    total = sympy.S.Zero
    for k in range(term.power + 1):
        weight = sympy.binomial(term.power, k) * centre ** (term.power - k) * tau**k
        if weight == 0:
            continue
        value = _term_value(_Term(weight, k, (sympy.S.Zero,) * 3, trig, errors), names)
        if value is None:
            return None
        total += value
    return term.coefficient * factor * total


def _error_moment(power: int, errors: tuple[tuple[Any, Any, Any], ...], names: dict[str, None]) -> Any:
    """E[g^power * product of erf or Phi] by Stein's lemma. None for three factors, or two unlike ones."""
    if not errors:
        return moment(power)
    if power == 0:
        return _error_mean(errors, names)
    names[ERROR_FUNCTION] = None
    total = sympy.S.Zero
    if power >= 2:
        lower = _error_moment(power - 2, errors, names)
        if lower is None:
            return None
        total += (power - 1) * lower
    for position, (function, a, b) in enumerate(errors):
        rest = errors[:position] + errors[position + 1 :]
        scale, height = _DENSITY[function]
        density = (sympy.expand(-scale * a**2), sympy.expand(-2 * scale * a * b), sympy.expand(-scale * b**2))
        inner = _completed_square(_Term(height * b, power - 1, density, (), rest), names)
        if inner is None:
            return None
        total += inner
    return total


#: f'(x) = height exp(-scale x^2)
_DENSITY = {
    sympy.erf: (sympy.S.One, 2 / sympy.sqrt(sympy.pi)),
    NormalCdf: (sympy.S.Half, 1 / sympy.sqrt(2 * sympy.pi)),
}


def _error_mean(errors: tuple[tuple[Any, Any, Any], ...], names: dict[str, None]) -> Any:
    function, a, b = errors[0]
    scale = _DENSITY[function][0]
    shifted = ratio(a / root(1 + 2 * scale * b**2))
    if len(errors) == 1:
        names[ERROR_FUNCTION] = None
        return function(shifted)
    other, c, d = errors[1]
    if len(errors) > 2 or other is not function:
        return None
    sign = next((s for s in (1, -1) if sympy.expand(c - s * a) == 0 and sympy.expand(d - s * b) == 0), None)
    if sign is None:
        return None
    names[OWEN] = None
    owen = OwenT(sympy.sqrt(2 * scale) * shifted, 1 / root(1 + 4 * scale * b**2))
    if function is sympy.erf:
        return sign * (1 - 8 * owen)
    return function(shifted) - 2 * owen if sign == 1 else 2 * owen
