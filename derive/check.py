"""Recorded steps put to the test: both sides as numbers at random points, expectations by quadrature."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import mpmath
import sympy
from sympy.core.function import AppliedUndef

from derive.gaussian.expectation import Expectation
from derive.trace import Derivation, DerivationStep


@dataclass(frozen=True)
class StepCheck:
    """`error`: |lhs - rhs| relative to the larger of them and 1 (mpf); None if not evaluable."""

    label: str
    error: Any


def check_derivation(derivation: Derivation, dps: int = 50, seed: int = 1) -> tuple[StepCheck, ...]:
    """Every derived step whose operation can be written down, at one random point, to `dps` digits."""
    return tuple(check_step(s, dps, seed) for s in derivation.steps if s.before is not None)


def check_step(step: DerivationStep, dps: int = 50, seed: int = 1) -> StepCheck:
    """One step at a random point that respects the assumptions on its symbols: the operation not carried out against
    its result. None where it cannot be written down.

    Undefined functions of one variable become definite smooth ones. Expectations are integrated numerically,
    not by the rules that may have been used in the step.
    """
    if step.before is None:
        return StepCheck(step.label, None)
    sides = [_definite(side) for side in (step.before, step.rhs)]
    symbols = sorted({x for side in sides for x in side.free_symbols}, key=sympy.default_sort_key)
    if not all(isinstance(x, sympy.Symbol) for x in symbols):
        return StepCheck(step.label, None)
    point = dict(zip(symbols, _point(symbols, seed), strict=True))
    values = [_number(side.subs(point), dps) for side in sides]
    if any(value is None for value in values):
        return StepCheck(step.label, None)
    with mpmath.workdps(dps + 10):
        size = max(abs(values[0]), abs(values[1]), mpmath.mpf(1))
        return StepCheck(step.label, abs(values[0] - values[1]) / size)


def _point(symbols: list[sympy.Symbol], seed: int) -> Iterator[Any]:
    source = random.Random(seed)
    for symbol in symbols:
        size = sympy.Rational(source.randint(200, 1500), 1000)
        sign = 1 if symbol.is_nonnegative else source.choice((-1, 1))
        yield size * sign


def _definite(expression: Any) -> Any:
    """Undefined functions replaced by smooth ones, derivatives and limits carried out."""
    heads = sorted({f.func for f in expression.atoms(AppliedUndef) if len(f.args) == 1}, key=str)
    for position, head in enumerate(heads):
        expression = expression.replace(head, lambda x, k=position: sympy.sin(x + k + 1) + x**2 / (k + 3))
    return expression.replace(lambda e: isinstance(e, sympy.Derivative | sympy.Limit), lambda e: e.doit(deep=False))


def _number(expression: Any, dps: int) -> Any:
    if expression.atoms(AppliedUndef) or expression.has(sympy.Derivative, sympy.Limit):
        return None
    expression = expression.replace(_is_multiple, lambda e: e.separated())
    expression = expression.replace(_is_multiple, sympy.expand)
    if any(_is_multiple(e) for e in expression.atoms(Expectation)):
        return None
    value = sympy.N(expression, dps + 8)
    return value._to_mpmath(int(3.33 * (dps + 10))) if value.is_Float or value.is_Rational else None


def _is_multiple(e: Any) -> bool:
    return isinstance(e, Expectation) and len(e.variables) > 1
