"""Cutting a function of u that holds parameters: kinks found symbolically, ordered by sampled parameter values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import sympy as sp

from derive.gaussian.breakpoints import real_zeros
from derive.gaussian.numeric import kinked_arguments
from derive.language.grammar import ExpressionError

Sample: TypeAlias = Mapping[sp.Symbol, sp.Expr]


class MovingKinks(ExpressionError):
    """Kinks that move with a symbol that is not fixed, or whose order depends on the sample."""


class Asking(dict[sp.Symbol, sp.Expr]):
    """A sample that remembers the quantities whose signs were asked for, in ``asked``."""

    def __init__(self, numbers: Mapping[sp.Symbol, sp.Expr]) -> None:
        super().__init__(numbers)
        self.asked: set[sp.Expr] = set()


_KINKED = (sp.Abs, sp.sign, sp.Heaviside, sp.Max, sp.Min, sp.Piecewise)
_DIGITS = 40
_REWRITE = "write the loss with y - f or with y*f only; with labels +-1, f**2 is (y*f)**2"
_PROBES = tuple(sp.Rational(x) for x in ("0.3137", "-1.0731", "2.4142"))
_CLOSE = sp.Float(10, _DIGITS) ** (-_DIGITS // 2)


def split_by_sign(
    expression: sp.Expr, u: sp.Symbol, fixed: frozenset[sp.Symbol], samples: tuple[Sample, ...]
) -> tuple[tuple[sp.Expr, ...], tuple[sp.Expr, ...]]:
    """Breakpoints in u (increasing) and the smooth expression on each of the intervals between them.

    Kinks and jumps of Abs, sign, Heaviside, Max, Min and Piecewise, nested ones included. Their arguments may hold
    other symbols where they are linear in u; ``samples`` are numbers for these symbols, and the places of the kinks
    may hold those in ``fixed`` only. Raises ExpressionError where a kink is not found, moves with a symbol that is
    not fixed, or changes order between the samples.
    """
    kinked = [a for a in expression.atoms(*_KINKED) if a.has(u)]
    innermost = [a for a in kinked if not any(b is not a and a.has(b) for b in kinked)]
    if not innermost:
        return (), (expression,)
    atoms = sorted(innermost, key=sp.default_sort_key)
    arguments = [argument for atom in atoms for argument in kinked_arguments(atom, u)]
    zeros = {zero for argument in arguments for zero in _zeros(argument, u, samples)}
    _check_fixed(zeros, fixed)
    cuts = _ordered(zeros, samples)
    breakpoints: list[sp.Expr] = []
    pieces: list[sp.Expr] = []
    for lower, upper in zip((-sp.oo, *cuts), (*cuts, sp.oo), strict=True):
        resolved = expression.xreplace({a: _resolved(a, u, lower, upper, samples) for a in atoms})
        inner, smooth = split_by_sign(resolved, u, fixed, samples)
        first = sum(1 for b in inner if not _less(lower, b, samples))
        last = sum(1 for b in inner if _less(b, upper, samples))
        breakpoints += [] if lower == -sp.oo else [lower]
        breakpoints += inner[first:last]
        pieces += smooth[first : last + 1]
    return _merged(breakpoints, pieces, u, samples)


def limit_at(piece: sp.Expr, u: sp.Symbol, place: sp.Expr, side: str) -> sp.Expr:
    """The value of a smooth piece at an end of its interval, as a one-sided limit where it cannot be inserted."""
    value = piece.subs(u, place)
    if value.has(sp.nan, sp.zoo, sp.oo, sp.S.NegativeInfinity):
        return sp.limit(piece, u, place, side)
    return value


def _zeros(argument: sp.Expr, u: sp.Symbol, samples: tuple[Sample, ...]) -> list[sp.Expr]:
    expanded = sp.expand(argument)
    if expanded.is_polynomial(u) and sp.degree(expanded, u) == 1:
        slope, constant = sp.Poly(expanded, u).all_coeffs()
        for sample in samples:
            _decided(slope, sample)
        return [sp.simplify(-constant / slope)]
    if argument.free_symbols == {u}:
        return list(real_zeros(argument, u))
    raise ExpressionError(
        f"the zeros of {argument}, where the expression has a kink, could not be found exactly",
        "make the arguments of abs, sign, step, relu, max, min and clip linear in the output f",
    )


def _check_fixed(zeros: set[sp.Expr], fixed: frozenset[sp.Symbol]) -> None:
    moving = sorted((zero for zero in zeros if zero.free_symbols - fixed), key=sp.default_sort_key)
    if moving:
        names = " and ".join(sorted(str(symbol) for symbol in moving[0].free_symbols - fixed))
        raise MovingKinks(f"the loss has a kink at f = {moving[0]}, which moves with {names}", _REWRITE)


def _number(value: sp.Expr, sample: Sample) -> sp.Expr:
    return value.subs(dict(sample)).evalf(_DIGITS)


def _decided(value: sp.Expr, sample: Sample) -> sp.Expr:
    """A number whose sign decides how the function is cut."""
    if isinstance(sample, Asking):
        sample.asked.add(value)
    return _number(value, sample)


def _ordered(zeros: set[sp.Expr], samples: tuple[Sample, ...]) -> list[sp.Expr]:
    """In increasing order, equal values in different guise kept once."""
    kept: list[sp.Expr] = []
    for zero in sorted(zeros, key=lambda v: (_number(v, samples[0]), sp.count_ops(v), sp.default_sort_key(v))):
        if not kept or not _same(kept[-1], zero, samples):
            kept.append(zero)
    for low, high in zip(kept, kept[1:], strict=False):
        _less(low, high, samples)
    return kept


def _same(first: sp.Expr, second: sp.Expr, samples: tuple[Sample, ...]) -> bool:
    return all(abs(_decided(first - second, sample)) <= _CLOSE for sample in samples)


def _less(first: sp.Expr, second: sp.Expr, samples: tuple[Sample, ...]) -> bool:
    """Whether first < second for every sample. Raises ExpressionError where it depends on the sample."""
    if first == -sp.oo or second == sp.oo:
        return True
    verdicts = {bool(_decided(second - first, sample) > _CLOSE) for sample in samples}
    return bool(_unanimous(verdicts, f"the order of the kinks at {first} and {second}"))


def _unanimous(verdicts: set[Any], what: str) -> Any:
    if len(verdicts) != 1:
        raise MovingKinks(
            f"{what} changes with the label or with a parameter",
            _REWRITE,
        )
    return verdicts.pop()


def _interior(lower: sp.Expr, upper: sp.Expr) -> sp.Expr:
    """A point of the open interval."""
    if lower == -sp.oo:
        return sp.S.Zero if upper == sp.oo else upper - 1
    return lower + 1 if upper == sp.oo else (lower + upper) / 2


def _resolved(atom: sp.Expr, u: sp.Symbol, lower: sp.Expr, upper: sp.Expr, samples: tuple[Sample, ...]) -> sp.Expr:
    """The smooth form of a kinked function on an interval without zeros of its arguments."""
    point = _interior(lower, upper)

    def at(argument: sp.Expr, sample: Sample) -> sp.Expr:
        value = _decided(argument.subs(u, point), sample)
        if not value.is_number or not value.is_real:
            raise ExpressionError(
                f"{argument} is not a real number at {u} = {point}",
                "a loss must be finite for every real output f",
            )
        return value

    if isinstance(atom, sp.Piecewise):
        chosen = {
            next(e for e, condition in atom.args if condition.subs(u, point).subs(dict(s)) == sp.true) for s in samples
        }
        return _unanimous(chosen, f"the branch of {atom}")
    if isinstance(atom, sp.Max | sp.Min):
        pick = max if isinstance(atom, sp.Max) else min
        branches = sorted(atom.args, key=sp.default_sort_key)
        for sample in samples:
            for i, branch in enumerate(branches):
                for other in branches[:i]:
                    at(branch - other, sample)
        picked = {pick(branches, key=lambda b: _number(b.subs(u, point), s)) for s in samples}
        return _unanimous(picked, f"the branch of {atom}")
    positive = _unanimous({bool(at(atom.args[0], s) > 0) for s in samples}, f"the sign of {atom.args[0]}")
    if isinstance(atom, sp.Abs):
        return atom.args[0] if positive else -atom.args[0]
    if isinstance(atom, sp.sign):
        return sp.S.One if positive else sp.S.NegativeOne
    return sp.S.One if positive else sp.S.Zero


def _merged(
    breakpoints: list[sp.Expr], pieces: list[sp.Expr], u: sp.Symbol, samples: tuple[Sample, ...]
) -> tuple[tuple[sp.Expr, ...], tuple[sp.Expr, ...]]:
    """Without the breakpoints both sides of which carry the same expression."""
    kept: list[sp.Expr] = []
    smooth = [pieces[0]]
    for place, piece in zip(breakpoints, pieces[1:], strict=True):
        differences = [(piece - smooth[-1]).subs(u, probe) for probe in _PROBES]
        if not all(abs(_number(difference, sample)) <= _CLOSE for difference in differences for sample in samples):
            kept.append(place)
            smooth.append(piece)
    return tuple(kept), tuple(smooth)


def resolved_labels(expression: sp.Expr, u: sp.Symbol, sample: Sample) -> sp.Expr:
    """The expression with Abs, sign, Max, Min and the like of the label alone replaced by what they are at a sample."""
    while True:
        kinked = [a for a in expression.atoms(*_KINKED) if not a.has(u)]
        innermost = [a for a in kinked if not any(b is not a and a.has(b) for b in kinked)]
        if not innermost:
            return expression
        expression = expression.xreplace({a: _resolved(a, u, -sp.oo, sp.oo, (sample,)) for a in innermost})
