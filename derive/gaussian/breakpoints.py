"""Where an expression has kinks and jumps, and the smooth expression on each piece; all exact."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import mpmath
import sympy

from derive.gaussian.isolated_zeros import Unseparated, isolated_zeros
from derive.gaussian.numeric import kinked_arguments
from derive.gaussian.special import NormalCdf
from derive.language.grammar import ExpressionError

_KINKED = (sympy.Abs, sympy.sign, sympy.Heaviside, sympy.Max, sympy.Min, sympy.Piecewise)
_DIGITS = 40
_REACH, _MOST_TURNS = 40, 128  # of z, beyond which a periodic function is cut; periods within


@dataclass(frozen=True)
class Pieces:
    """A function cut at increasing `breakpoints` (n of them) into n + 1 smooth expressions, left to right."""

    variable: sympy.Symbol
    breakpoints: tuple[Any, ...]
    expressions: tuple[Any, ...]

    def intervals(self) -> tuple[tuple[Any, Any, Any], ...]:
        """(lower, upper, smooth expression) from left to right; the outer ends are infinite."""
        edges = (-sympy.oo, *self.breakpoints, sympy.oo)
        return tuple(zip(edges, edges[1:], self.expressions, strict=False))


def split(expression: Any, z: sympy.Symbol) -> Pieces:
    """Cut at the kinks and jumps of Abs, sign, Heaviside, Max, Min and Piecewise in z, nested ones included.

    The expression may hold other symbols outside the arguments of these functions.
    Raises ExpressionError, naming the argument, where its zeros cannot be found exactly.
    """
    kinked = [a for a in expression.atoms(*_KINKED) if a.has(z)]
    innermost = [a for a in kinked if not any(b is not a and a.has(b) for b in kinked)]
    if not innermost:
        return Pieces(z, (), (expression,))
    zeros: set[Any] = set()
    for atom in sorted(innermost, key=sympy.default_sort_key):
        for argument in kinked_arguments(atom, z):
            zeros |= set(real_zeros(argument, z, _REACH))
    cuts = _sorted(zeros)
    breakpoints: list[Any] = []
    pieces: list[Any] = []
    for lower, upper in zip((-sympy.oo, *cuts), (*cuts, sympy.oo), strict=True):
        inner = split(expression.xreplace({a: _resolved(a, z, lower, upper) for a in innermost}), z)
        kept = [
            (b, e) for b, e in zip(inner.breakpoints, inner.expressions[1:], strict=True) if _inside(b, lower, upper)
        ]
        first = inner.expressions[sum(1 for b in inner.breakpoints if not _above(b, lower))]
        if lower != -sympy.oo:
            breakpoints.append(lower)
        pieces.append(first)
        for breakpoint, piece in kept:
            breakpoints.append(breakpoint)
            pieces.append(piece)
    return _merged(z, breakpoints, pieces)


def real_zeros(argument: Any, z: sympy.Symbol, reach: int = 0) -> list[Any]:
    """All real zeros of the argument, exactly: of polynomials, of invertible functions of what can be solved, and those
    that are the only zero in an interval (``isolated_zeros``).

    reach: of sines and cosines up to |z| of that, or none where it is zero. Raises ExpressionError where there are
    infinitely many zeros or no way to them.
    """
    numerator = sympy.fraction(sympy.together(argument))[0]
    if not numerator.has(z):
        return []
    if numerator.is_polynomial(z):
        return _polynomial_zeros(numerator, z, argument)
    factors = sympy.Mul.make_args(sympy.factor_terms(numerator))
    if len(factors) > 1:
        return _sorted({zero for factor in factors if factor.has(z) for zero in real_zeros(factor, z, reach)})
    if numerator.is_Pow and numerator.exp.is_positive:
        return real_zeros(numerator.base, z, reach)
    if numerator.is_positive or numerator.is_negative:
        return []
    kernels = _kernels(numerator, z)
    for kernel in kernels:
        unknown = sympy.Dummy("u", real=True)
        reduced = sympy.fraction(sympy.together(numerator.xreplace({kernel: unknown})))[0]
        if not reduced.has(z) and reduced != unknown:
            zeros = set()
            for level in real_zeros(reduced, unknown):
                for inner in _preimages(kernel, level, argument, reach):
                    zeros |= set(real_zeros(kernel.args[0] - inner, z, reach))
            return _sorted(zeros)
    if len(kernels) == 1 and numerator == kernels[0]:
        zeros = set()
        for inner in _preimages(numerator, sympy.S.Zero, argument, reach):
            zeros |= set(real_zeros(numerator.args[0] - inner, z, reach))
        return _sorted(zeros)
    with suppress(Unseparated):  # of fractions of exponentials bounds may be known, which those of the numerator hide
        return isolated_zeros(argument, z, reach)
    try:
        return isolated_zeros(numerator, z, reach)
    except Unseparated as why:
        raise _unsplittable(argument, f": {why}") from None


def _polynomial_zeros(numerator: Any, z: sympy.Symbol, argument: Any) -> list[Any]:
    polynomial = sympy.Poly(numerator, z)
    if not all(c.is_number for c in polynomial.all_coeffs()):
        raise _unsplittable(argument)
    if polynomial.degree() == 1:
        slope, constant = polynomial.all_coeffs()
        return [sympy.nsimplify(-constant / slope) if (constant / slope).is_Rational else -constant / slope]
    if all(c.is_Rational for c in polynomial.all_coeffs()):
        return _sorted(set(sympy.real_roots(polynomial)))
    found = sympy.roots(polynomial)
    if sum(found.values()) != polynomial.degree():
        raise _unsplittable(argument)
    return _sorted({root for root in found if abs(sympy.im(root).evalf(_DIGITS)) < 10 ** (-_DIGITS // 2)})


def _kernels(expression: Any, z: sympy.Symbol) -> list[Any]:
    """Non-polynomial functions of z in the expression, outermost first."""
    found = [
        a
        for a in expression.atoms(sympy.Function, sympy.exp, sympy.Pow)
        if a.has(z) and (isinstance(a, (*_INVERSES, sympy.sin, sympy.cos)) or (a.is_Pow and a.exp == sympy.S.Half))
    ]
    return sorted(found, key=lambda a: (-sympy.count_ops(a), sympy.default_sort_key(a)))


def _preimages(kernel: Any, level: Any, argument: Any, reach: int) -> list[Any]:
    """Values x with kernel(x) = level."""
    number = level.evalf(_DIGITS)
    if kernel.is_Pow and not isinstance(kernel, sympy.exp):
        return [level**2] if number >= 0 else []
    if reach and isinstance(kernel, sympy.sin | sympy.cos):
        return _periodic(kernel, level, argument, reach)
    for function, (inside, inverses) in _INVERSES.items():
        if isinstance(kernel, function):
            return [inverse(level) for inverse in inverses] if inside(number) else []
    raise _unsplittable(argument)


def _periodic(wave: Any, level: Any, argument: Any, farthest: int) -> list[Any]:
    """Values x of the argument of a sine or cosine at which it has a level, for |z| up to the farthest."""
    if not abs(level.evalf(_DIGITS)) <= 1:
        return []
    (z,) = wave.free_symbols
    inner = sympy.Poly(wave.args[0], z) if wave.args[0].is_polynomial(z) else None
    if inner is None or inner.degree() != 1:
        raise _unsplittable(argument)
    slope, constant = inner.all_coeffs()
    first = sympy.asin(level) if isinstance(wave, sympy.sin) else sympy.acos(level)
    second = sympy.pi - first if isinstance(wave, sympy.sin) else -first
    middle, reach = float(constant), abs(float(slope)) * farthest
    low, high = ((middle + side * reach) / (2 * math.pi) for side in (-1.0, 1.0))
    turns = range(math.floor(low) - 1, math.ceil(high) + 2)
    if len(turns) > _MOST_TURNS:
        raise ExpressionError(
            f"{argument} has more than {2 * _MOST_TURNS} zeros up to |z| = {farthest}, and each is a kink or jump",
            "lower its frequency",
        )
    found = [start + 2 * sympy.pi * turn for turn in turns for start in (first, second)]
    return [x for x in found if abs(float(x) - middle) <= reach]


def _unsplittable(argument: Any, why: str = "") -> ExpressionError:
    return ExpressionError(
        f"the zeros of {argument}, where the expression has a kink or jump, could not be found exactly{why}",
        "use a polynomial, or an invertible function (tanh, erf, exp, log, arctan, sinh, sqrt) of one, a sine of a "
        "linear one, or a sum of such with well separated zeros, as the argument of abs, sign, step, relu, max, min or "
        "clip",
    )


_INVERSES: dict[Any, tuple[Callable[[Any], bool], list[Callable[[Any], Any]]]] = {
    sympy.tanh: (lambda v: bool(abs(v) < 1), [sympy.atanh]),
    sympy.erf: (lambda v: bool(abs(v) < 1), [sympy.erfinv]),
    sympy.erfc: (lambda v: bool(0 < v < 2), [lambda v: sympy.erfinv(1 - v)]),
    NormalCdf: (lambda v: bool(0 < v < 1), [lambda v: sympy.sqrt(2) * sympy.erfinv(2 * v - 1)]),
    sympy.exp: (lambda v: bool(v > 0), [sympy.log]),
    sympy.log: (lambda v: True, [sympy.exp]),
    sympy.sinh: (lambda v: True, [sympy.asinh]),
    sympy.atan: (lambda v: bool(abs(v) < mpmath.pi / 2), [sympy.tan]),
    sympy.cosh: (lambda v: bool(v >= 1), [sympy.acosh, lambda v: -sympy.acosh(v)]),
}


def _sorted(zeros: set[Any]) -> list[Any]:
    """In increasing order, equal numbers in different guise kept once."""
    ordered = sorted(zeros, key=lambda v: (v.evalf(_DIGITS), sympy.count_ops(v), sympy.default_sort_key(v)))
    kept: list[Any] = []
    for value in ordered:
        if not kept or abs((value - kept[-1]).evalf(_DIGITS)) > mpmath.mpf(10) ** (-_DIGITS // 2):
            kept.append(value)
    return kept


def _above(value: Any, lower: Any) -> bool:
    return lower == -sympy.oo or bool((value - lower).evalf(_DIGITS) > sympy.Float(10) ** (-_DIGITS // 2))


def _inside(value: Any, lower: Any, upper: Any) -> bool:
    return _above(value, lower) and (upper == sympy.oo or _above(upper, value))


def _interior(lower: Any, upper: Any) -> Any:
    """A point of the open interval."""
    if lower == -sympy.oo and upper == sympy.oo:
        return sympy.S.Zero
    if lower == -sympy.oo:
        return upper - 1
    return lower + 1 if upper == sympy.oo else (lower + upper) / 2


def _resolved(atom: Any, z: sympy.Symbol, lower: Any, upper: Any) -> Any:
    """The smooth form of a kinked function on an interval without zeros of its arguments."""
    point = _interior(lower, upper)

    def at(argument: Any) -> Any:
        return argument.subs(z, point).evalf(_DIGITS)

    if isinstance(atom, sympy.Piecewise):
        return next(e for e, condition in atom.args if condition.subs(z, point) == sympy.true)
    if isinstance(atom, sympy.Max | sympy.Min):
        pick = max if isinstance(atom, sympy.Max) else min
        return pick(sorted(atom.args, key=sympy.default_sort_key), key=at)
    value = at(atom.args[0])
    if not value.is_number or not value.is_real:
        raise ExpressionError(
            f"{atom.args[0]} is not a real number at {z} = {point}",
            "restrict the argument, for example with abs or max",
        )
    if isinstance(atom, sympy.Abs):
        return atom.args[0] if value > 0 else -atom.args[0]
    if isinstance(atom, sympy.sign):
        return sympy.S.One if value > 0 else sympy.S.NegativeOne
    return sympy.S.One if value > 0 else sympy.S.Zero


def _merged(z: sympy.Symbol, breakpoints: list[Any], pieces: list[Any]) -> Pieces:
    """Without the breakpoints both sides of which carry the same expression."""
    kept, expressions = [], [pieces[0]]
    for breakpoint, piece in zip(breakpoints, pieces[1:], strict=True):
        if sympy.expand(piece - expressions[-1]) != 0:
            kept.append(breakpoint)
            expressions.append(piece)
    return Pieces(z, tuple(kept), tuple(expressions))
