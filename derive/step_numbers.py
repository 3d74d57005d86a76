"""Numbers of the map of one giant step, to any precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mpmath
import sympy

from derive.gaussian.quadrature import QuadratureError
from derive.gradient_step import ALPHA0, E2, MU1, S0, SECOND, VARIANCE, GradientStepMap, U
from derive.labels import FLIPS, MU0, NOISE, PROBIT, UBAR
from derive.network_step import A


def evaluate(
    step: GradientStepMap,
    learning_rate_over_width: Any,
    samples: Any,
    values: Sequence[Any] = (1,),
    fractions: Sequence[Any] = (1,),
    noise: Any = 0,
    dps: int = 30,
    *,
    flips: Any = 0,
    probit: Any = 0,
) -> dict[str, Any]:
    """Numbers (mpf) to about `dps` digits: A = eta_tilde/beta, alpha0, readout vocabulary and label noise in.

    Returns mu0, mu1, s0, e2, second, variance, strength, and as tuples s1 and alignments (one per index) and
    bulk_variance (one per readout value). Floats are taken at their exact binary value. Raises QuadratureError
    where a moment does not exist.
    """
    mean = sum((_exact(v) * _exact(f) for v, f in zip(values, fractions, strict=True)), sympy.S.Zero)
    known: dict[Any, Any] = {UBAR: mean, NOISE: _exact(noise), A: _exact(learning_rate_over_width)}
    known |= {ALPHA0: _exact(samples), FLIPS: _exact(flips), PROBIT: _exact(probit)}
    for symbol, expression in step.closed.items():
        known[symbol] = sympy.N(expression.subs(known), dps + 10)
    names = {"mu0": MU0, "mu1": MU1, "s0": S0, "e2": E2, "second": SECOND, "variance": VARIANCE}
    with mpmath.workdps(dps + 10):
        result: dict[str, Any] = {name: _number(known[symbol], dps) for name, symbol in names.items()}
        result["s1"] = tuple(_number(known[symbol], dps) for symbol in step.overlaps)
        result["strength"] = _number(step.strength.subs(known), dps)
        result["alignments"] = tuple(_number(each.subs(known), dps) for each in step.alignments)
        result["bulk_variance"] = tuple(
            _number(step.bulk_variance.subs({**known, U: _exact(value)}), dps) for value in values
        )
    return result


def _exact(value: Any) -> Any:
    return sympy.Rational(value) if isinstance(value, float | int) else sympy.sympify(value)


def _number(value: Any, dps: int) -> Any:
    number = sympy.N(value, dps + 10)
    if not number.is_Float and not number.is_Rational:
        raise QuadratureError(f"{value} is not a finite number")
    return mpmath.mpf(number._to_mpmath(mpmath.mp.prec))
