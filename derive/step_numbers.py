"""Numbers of the map of one giant step, to any precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import sympy

from derive.gaussian.quadrature import QuadratureError
from derive.gradient_step import E2, MU1, S0, SECOND, VARIANCE, GradientStepMap, U
from derive.labels import FLIPS, MU0, NOISE, PROBIT, UBAR
from derive.network_step import A
from derive.sample_averages import ALPHA0


@dataclass(frozen=True)
class StepInputs:
    """What one step is taken with: rate A = eta_tilde/beta, samples alpha0, the readout's values and their fractions,
    and the noise of the labels. Floats are taken at their exact binary value.
    """

    rate: Any
    samples: Any
    values: Sequence[Any] = (1,)
    fractions: Sequence[Any] = (1,)
    noise: Any = 0
    flips: Any = 0
    probit: Any = 0

    def symbols(self) -> dict[Any, Any]:
        """The symbols of the map with their values."""
        mean = sum((_exact(v) * _exact(f) for v, f in zip(self.values, self.fractions, strict=True)), sympy.S.Zero)
        named = {NOISE: self.noise, A: self.rate, ALPHA0: self.samples, FLIPS: self.flips, PROBIT: self.probit}
        return {UBAR: mean, **{symbol: _exact(value) for symbol, value in named.items()}}


def evaluate(step: GradientStepMap, inputs: StepInputs, dps: int = 30) -> dict[str, Any]:
    """Numbers (mpf) to about `dps` digits.

    Returns mu0, mu1, s0, e2, second, variance, strength, and as tuples s1 and alignments (one per index) and
    bulk_variance (one per readout value). Raises QuadratureError where a moment does not exist.
    """
    known = inputs.symbols()
    for symbol, expression in step.closed.items():
        known[symbol] = sympy.N(expression.subs(known), dps + 10)
    names = {"mu0": MU0, "mu1": MU1, "s0": S0, "e2": E2, "second": SECOND, "variance": VARIANCE}
    with mpmath.workdps(dps + 10):
        result: dict[str, Any] = {name: _number(known[symbol], dps) for name, symbol in names.items()}
        result["s1"] = tuple(_number(known[symbol], dps) for symbol in step.overlaps)
        result["strength"] = _number(step.strength.subs(known), dps)
        result["alignments"] = tuple(_number(each.subs(known), dps) for each in step.alignments)
        result["bulk_variance"] = tuple(
            _number(step.bulk_variance.subs({**known, U: _exact(value)}), dps) for value in inputs.values
        )
    return result


def _exact(value: Any) -> Any:
    return sympy.Rational(value) if isinstance(value, float | int) else sympy.sympify(value)


def _number(value: Any, dps: int) -> Any:
    number = sympy.N(value, dps + 10)
    if not number.is_Float and not number.is_Rational:
        raise QuadratureError(f"{value} is not a finite number")
    return mpmath.mpf(number._to_mpmath(mpmath.mp.prec))
