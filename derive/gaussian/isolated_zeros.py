"""Zeros of an analytic expression, each in an interval that is proved to hold no other.

Where interval arithmetic keeps the values of f away from zero there is no zero; where it keeps those of f' away, there
is one at most, and the signs at the ends tell. Other intervals are halved. At zero itself f may vanish to any order: it
is alone where the first derivative that does not vanish there keeps its sign (Taylor's theorem).
Source: Moore, Kearfott, Cloud (2009), Introduction to Interval Analysis, 5.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import mpmath
import sympy

from derive.gaussian.numeric import mpmath_function
from derive.gaussian.special import NormalCdf

Box = Any  # an interval of mpmath.iv
_DIGITS, _GUARD = 50, 1e-45  # of interval arithmetic; what a function of mpmath may be off by, relative
_FAR = 10_000  # of a function without sines, beyond which no Gaussian average looks
_OFF = sympy.Rational(1000003, 999983)  # ends of intervals are no round numbers, which zeros may be
_MOST, _ZEROS, _NARROWEST = 20_000, 128, sympy.Rational(1, 2**40)  # intervals, zeros, the least width of an interval
_ORDER, _HALVINGS = 12, 40  # of a zero at zero; of the interval around it
_LARGEST = mpmath.mpf(10) ** 6  # of what is exponentiated


class Unseparated(Exception):
    """Why zeros are not told apart."""


class Zero(sympy.AtomicExpr):
    """The one zero of an expression of one variable between two rational numbers, where it has opposite signs."""

    is_number = is_real = is_finite = is_commutative = True

    def __new__(cls, expression: Any, variable: sympy.Symbol, low: Any, high: Any) -> Zero:
        found: Zero = sympy.AtomicExpr.__new__(cls)
        found.expression, found.variable, found.low, found.high = expression, variable, low, high
        return found

    def _hashable_content(self) -> tuple[Any, ...]:
        return self.expression, self.variable, self.low, self.high

    __getnewargs__ = _hashable_content

    def _eval_is_positive(self) -> bool:
        return bool(self.low >= 0)

    _eval_is_extended_positive = _eval_is_positive

    def _eval_evalf(self, prec: int) -> Any:
        return sympy.Float._new(_root(self, prec)._mpf_, prec)

    def _sympystr(self, printer: Any) -> str:
        return str(sympy.N(self, 15))

    def _latex(self, printer: Any) -> str:
        return rf"{sympy.N(self, 12)}\ldots"

    def _sympyrepr(self, printer: Any) -> str:
        return f"Zero({', '.join(printer.doprint(part) for part in self._hashable_content())})"


@lru_cache(maxsize=256)
def _root(zero: Zero, prec: int) -> Any:
    """The number to a binary precision: Newton's steps, bisections where they leave the bracket."""
    with mpmath.workprec(prec + 20):
        f = mpmath_function(zero.expression, (zero.variable,))
        slope = mpmath_function(sympy.diff(zero.expression, zero.variable), (zero.variable,))
        low, high = (mpmath.mpf(end.p) / end.q for end in (zero.low, zero.high))
        rising, x, moved = f(high) > 0, (low + high) / 2, high
        while moved > mpmath.ldexp(abs(x), -prec - 4):
            value, steep = f(x), slope(x)
            low, high = (low, x) if (value > 0) == rising else (x, high)
            following = x - value / steep if steep != 0 else low
            if not low < following < high and value != 0:
                following = (low + high) / 2
            moved, x = abs(following - x), following
        return x


def isolated_zeros(f: Any, z: sympy.Symbol, reach: int = 0) -> list[Any]:
    """All real zeros of f in increasing order; with a reach those up to |z| of that, or of 10,000 without sines.

    Raises Unseparated where two are too close, f touches zero, or no bounds of it are known.
    """
    periodic = f.has(sympy.sin, sympy.cos)
    if periodic and not reach:
        raise Unseparated("there may be infinitely many")
    ends = [(reach if periodic else _FAR) * _OFF, *[sympy.oo] * (not reach)]
    at_zero, beside = _around_zero(f, z)
    above = _between(f, z, [beside, *ends])
    mirror = f.subs(z, -z)
    mirrored = any(sympy.expand(mirror + sign * f) == 0 for sign in (1, -1))
    below = above if mirrored else _between(mirror, z, [beside, *ends])
    return [*(-zero for zero in reversed(below)), *at_zero, *above]


def _around_zero(f: Any, z: sympy.Symbol) -> tuple[list[Any], Any]:
    """The zero at zero, if any, and the half width of an interval that has no other."""
    derivative, order = f, 0
    while order < _ORDER and sympy.simplify(derivative.subs(z, 0)) == 0:
        derivative, order = sympy.diff(derivative, z), order + 1
    half = _OFF / 2
    for _ in range(_HALVINGS):
        if _sign(derivative, z, -half, half):
            return [sympy.S.Zero] * (order > 0), half
        half = half / 2
    raise Unseparated("those at and near 0 are too close")


def _between(f: Any, z: sympy.Symbol, ends: list[Any]) -> list[Zero]:
    """Zeros between the first of some positive places and the last, in increasing order."""
    slope = sympy.diff(f, z)
    found: list[Zero] = []
    waiting = [*zip(ends, ends[1:], strict=False)][::-1]
    for _ in range(_MOST):
        if not waiting:
            return found
        low, high = waiting.pop()
        if _sign(f, z, low, high):
            continue
        if high < sympy.oo and _sign(slope, z, low, high):
            signs = [_sign(f, z, end, end) for end in (low, high)]
            if all(signs):
                found += [Zero(f, z, low, high)] * (signs[0] != signs[1])
                continue
        if len(found) > _ZEROS:
            raise Unseparated(f"there are more than {_ZEROS}, lower the frequency")
        if high == sympy.oo or high - low < _NARROWEST:
            break
        middle = min(2 * low, (low + high) / 2)
        waiting += [(middle, high), (low, middle)]
    raise Unseparated(f"at |{z}| = {sympy.N(low, 6)} two may be close, or the expression may touch zero")


def _sign(f: Any, z: sympy.Symbol, low: Any, high: Any) -> int:
    """1 or -1 where f keeps that sign on an interval, as far as its bounds tell; else 0."""
    before, mpmath.iv.dps = mpmath.iv.dps, _DIGITS
    try:
        with mpmath.workdps(_DIGITS):
            top = mpmath.inf if high == sympy.oo else _bounds_of(high).b
            found = _range(f, z, mpmath.iv.mpf([_bounds_of(low).a, top]))
            return 1 if found.a > 0 else -1 if found.b < 0 else 0
    finally:
        mpmath.iv.dps = before


def _bounds_of(rational: Any) -> Box:
    return mpmath.iv.mpf(int(rational.p)) / int(rational.q)


def _range(f: Any, z: sympy.Symbol, box: Box) -> Box:
    """Bounds of the values of f on an interval."""
    if f == z:
        return box
    if not f.has(z):
        return _bounds_of(f) if f.is_Rational else _widened(*[mpmath.mpf(f.evalf(_DIGITS)._mpf_)] * 2)
    if isinstance(f, sympy.exp):
        return _exponential(_range(f.exp, z, box))
    if f.is_Pow:
        return _power(_range(f.base, z, box), f.exp)
    inside = [_range(part, z, box) for part in f.args]
    if f.is_Add or f.is_Mul:
        total = inside[0]
        for part in inside[1:]:
            total = total + part if f.is_Add else total * part
        return total
    bounds = _BOUNDS.get(f.func)
    if bounds is None:
        raise Unseparated(f"bounds of {f} are not known")
    return bounds(inside[0])


def _power(base: Box, exponent: Any) -> Box:
    if exponent.is_Integer:
        return base ** int(exponent)
    if not (exponent.is_Rational and base.a > 0):
        raise Unseparated(f"bounds of the power {exponent} are not known")
    return mpmath.iv.exp(_bounds_of(exponent) * mpmath.iv.log(base))


def _exponential(x: Box) -> Box:
    """Of numbers without limits: what is huge is bounded by infinity, what is tiny by zero."""
    low, high = mpmath.mpf(x.a), mpmath.mpf(x.b)
    least = 0 if low < -_LARGEST else mpmath.iv.exp(min(low, _LARGEST)).a
    return mpmath.iv.mpf([least, mpmath.inf if high > _LARGEST else mpmath.iv.exp(max(high, -_LARGEST)).b])


def _widened(low: Any, high: Any) -> Box:
    """From a number to another, both with their rounding."""
    return mpmath.iv.mpf([low - abs(low) * _GUARD, high + abs(high) * _GUARD])


def _rising(f: Callable[[Any], Any]) -> Callable[[Box], Box]:
    return lambda x: _widened(f(mpmath.mpf(x.a)), f(mpmath.mpf(x.b)))


def _logarithm(x: Box) -> Box:
    if not x.a > 0:
        raise Unseparated("bounds of a logarithm near zero are not known")
    return mpmath.iv.log(x)


_BOUNDS: dict[Any, Callable[[Box], Box]] = {
    sympy.tanh: _rising(mpmath.tanh),
    sympy.erf: _rising(mpmath.erf),
    sympy.erfc: lambda x: _widened(mpmath.erfc(mpmath.mpf(x.b)), mpmath.erfc(mpmath.mpf(x.a))),
    NormalCdf: _rising(mpmath.ncdf),
    sympy.asinh: _rising(mpmath.asinh),
    sympy.atan: _rising(mpmath.atan),
    sympy.sinh: lambda x: (_exponential(x) - _exponential(-x)) / 2,
    sympy.cosh: lambda x: (_exponential(x) + _exponential(-x)) / 2,
    sympy.log: _logarithm,
    sympy.sin: mpmath.iv.sin,
    sympy.cos: mpmath.iv.cos,
}
