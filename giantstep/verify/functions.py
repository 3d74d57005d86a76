"""Coefficients of activation and link, and the map of the gradient step, against quadrature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from derive.coefficients import conditional_coefficients
from derive.gaussian.quadrature import QuadratureError
from derive.language.catalogue import REGISTERED
from derive.scalar import ScalarFunction
from derive.step_numbers import StepInputs, evaluate
from giantstep.law.derivation import step_map_of
from giantstep.quadrature.mesh import Term
from giantstep.spec.errors import NotConverged
from giantstep.spec.kernels import coefficients
from giantstep.spec.model import Model
from giantstep.system.problem import Problem
from giantstep.verify.check import Check
from giantstep.verify.reference_function import ReferenceFunction, reference_function


def function_checks(function: ScalarFunction, terms: Sequence[Term], role: str) -> Iterator[Check]:
    """Closed forms (where there are any) and kernels against quadrature at shifts and variances of the model.

    role: what a function without a registered name is called.
    """
    name = function.name if function.name in REGISTERED else role
    derived, quadrature = conditional_coefficients(function), reference_function(function)
    closed = kernel = 0.0
    for term in dict.fromkeys(terms):
        for kappa in (-1.7, 0.4, 2.3):
            shift = term.scale * kappa + term.offset
            exact = _exact(quadrature, shift, term.variance)
            if exact is None:
                continue
            scales = _scales(exact)
            if derived.closed and term.variance > 0.0:
                values = _closed_values(derived, shift, term.variance)
                closed = max(closed, _worst(values, exact, scales))
            found = coefficients(term.function, np.array([shift]), term.variance)[:, 0]
            kernel = max(kernel, _worst([*found, found[0] ** 2 + found[1] ** 2 + found[2]], exact, scales))
    if derived.closed:
        yield Check(f"closed forms of {name} against quadrature", closed, 1e-15)
    yield Check(f"kernel of {name} against quadrature", kernel, 1e-11)


def _exact(quadrature: ReferenceFunction, shift: float, variance: float) -> Sequence[Any] | None:
    try:
        values: Sequence[Any] = quadrature.coefficients(shift, variance, 20)
    except ValueError:  # too many waves for quadrature to be a check
        return None
    return values


def _scales(exact: Sequence[Any]) -> tuple[Any, Any, Any, Any]:
    size = mpmath.sqrt(exact[3]) or mpmath.mpf(1)
    return size, size, size**2, size**2


def _worst(values: Sequence[Any], exact: Sequence[Any], scales: Sequence[Any]) -> float:
    return max(float(abs(v - e) / s) for v, e, s in zip(values, exact, scales, strict=True))


def _closed_values(derived: Any, shift: float, variance: float) -> list[Any]:
    point = {derived.s: sp.Rational(shift), derived.c: sp.Rational(variance)}
    expressions = (derived.mu0, derived.mu1, derived.mu2sq, derived.second)
    return [sp.N(sp.sympify(e).subs(point), 40)._to_mpmath(140) for e in expressions]


def step_check(model: Model, problem: Problem) -> Check:
    """Strength, alignment and bulk variances against the derived map at 30 digits."""
    assert model.step is not None
    network = model.network
    try:
        inputs = StepInputs(
            model.step.learning_rate / network.width,
            model.step.samples,
            network.readout.values,
            network.readout.fractions,
            model.target.noise,
            model.target.flips,
            model.target.probit,
        )
        exact = evaluate(step_map_of(model), inputs)
    except QuadratureError as error:
        raise NotConverged(
            f"the map of the step cannot be checked for the link {model.target.link!r}: {error}",
            "write its jumps as products of signs of polynomials, or verify it with a [spike] in place of the step",
        ) from None
    sign = -1 if exact["strength"] < 0 else 1  # the direction v absorbs it
    spike = problem.spike
    differences = [
        abs(spike.strength - sign * exact["strength"]) / max(1, abs(exact["strength"])),
        *(abs(g - sign * e) for g, e in zip(spike.alignments, exact["alignments"], strict=True) if exact["strength"]),
        *(abs(c - e) / e for c, e in zip(spike.bulk_variance, exact["bulk_variance"], strict=True)),
    ]
    return Check("strength, alignment and variance after the step", float(max(differences)), 1e-11)
