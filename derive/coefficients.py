"""Coefficients of the conditional Gaussian equivalence, in closed form where the rules have one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import sympy

from derive.gaussian.expectation import Expectation
from derive.gaussian.rules import close
from derive.gaussian.rules.tidy import tidy
from derive.operations import AVERAGE_WRITTEN, computed, equal, put_in
from derive.scalar import ScalarFunction
from derive.trace import Derivation, Recorder

S = sympy.Symbol("s", real=True)
C = sympy.Symbol("c", positive=True)
G = sympy.Symbol("g", real=True)

_SOURCE = "[CUI24, Result 3.2]"
_UNIT_ROWS = "; rows of unit norm, the variance c of the pre-activation kept apart"


@dataclass(frozen=True)
class ConditionalCoefficients:
    """Of f(s + sqrt(c) g), g ~ N(0,1), as SymPy expressions in the shift `s` (real) and the variance `c`
    (positive).

    mu0 = E f, mu1 = E[g f] (rows of UNIT norm), second = E f^2, mu2sq = second - mu0^2 - mu1^2 (for
    polynomials as a sum of squares). What has no closed form still contains `Expectation`; ``labels``: of the steps
    of the derivation that hold them. [CUI24, Result 3.2]
    """

    s: sympy.Symbol
    c: sympy.Symbol
    mu0: Any
    mu1: Any
    second: Any
    mu2sq: Any
    derivation: Derivation
    labels: Mapping[str, str]

    @property
    def closed(self) -> bool:
        """Whether all of them are closed forms."""
        return not any(e.has(Expectation) for e in (self.mu0, self.mu1, self.second, self.mu2sq))

    @property
    def mu1_paper(self) -> Any:
        """mu1 in the normalisation of [CUI24], whose rows keep their norm sqrt(c)."""
        return tidy(self.mu1 / sympy.sqrt(self.c))


def conditional_coefficients(f: ScalarFunction) -> ConditionalCoefficients:
    """mu0, mu1, E f^2 and mu2^2 of f(s + sqrt(c) g) with every step recorded. [CUI24, Result 3.2]"""
    recorder = Recorder(f"Conditional Gaussian equivalence of {f.name}")
    _record_value(recorder, f)
    mu0 = _closed(recorder, "mu0", sympy.Symbol("mu_0"), _Moment("mean", lambda x: x))
    mu1 = _closed(recorder, "mu1", sympy.Symbol("mu_1"), _Moment(f"linear coefficient{_UNIT_ROWS}", lambda x: G * x))
    if mu0.has(S):
        _record_stein(recorder)
    second = _closed(recorder, "second", sympy.Symbol("mu_ff"), _Moment("second moment", lambda x: x**2))
    mu2sq = _rest_of_variance(recorder, f)
    recorder.derive(
        "mu1 in the paper",
        sympy.Symbol("mu_1_paper"),
        computed(
            "rescale",
            "the same with rows that keep their norm $\\sqrt{c}$, as printed there",
            _last(recorder, "mu1"),
            by=lambda linear: tidy(linear / sympy.sqrt(C)),
            test=equal(lambda linear: linear / sympy.sqrt(C)),
        ),
        _SOURCE,
    )
    labels = {name: _last(recorder, name) for name in ("mu0", "mu1")}
    labels["mu2sq"] = "mu2 by Parseval" if f.is_polynomial else "mu2"
    return ConditionalCoefficients(S, C, mu0, mu1, second, mu2sq, recorder.finish(), MappingProxyType(labels))


def _record_value(recorder: Recorder, f: ScalarFunction) -> None:
    """The function at the pre-activation s + sqrt(c) g."""
    name, argument = sympy.Function("f"), S + sympy.sqrt(C) * G
    recorder.given("function", name(f.z), f.expr, f"the function {f.name}")
    recorder.define(
        "pre-activation",
        f.z,
        argument,
        "the pre-activation given $\\kappa$: $s$ is the shift by the spike, $c$ its variance, $g$ a standard normal",
        _SOURCE,
    )
    recorder.derive(
        "value",
        name(argument),
        computed(
            "substitute",
            "the function at the pre-activation",
            "function",
            "pre-activation",
            by=lambda body, at: body.subs(f.z, at),
            test=put_in(lambda at: {f.z: at}),
        ),
        shown=False,
    )


def _record_stein(recorder: Recorder) -> None:
    """mu1 as the derivative of mu0 in the shift."""
    recorder.derive(
        "mu1 by Stein",
        None,
        computed(
            "differentiate",
            "$\\mathbb{E}[g f(s+\\sqrt{c}g)] = \\sqrt{c}\\,\\partial_s\\mathbb{E}[f(s+\\sqrt{c}g)]$",
            _last(recorder, "mu0"),
            _last(recorder, "mu1"),
            by=lambda mean, _: sympy.sqrt(C) * sympy.Derivative(mean, S),
            before=lambda _, linear: linear,
        ),
        "Stein's lemma",
        shown=False,
    )


def _rest_of_variance(recorder: Recorder, f: ScalarFunction) -> Any:
    """mu2^2, for polynomials as a sum of squares."""
    difference = recorder.derive(
        "mu2",
        sympy.Symbol("mu_2") ** 2,
        computed(
            "subtract",
            "the variance that is left to the noise: the second moment without the mean and the linear part",
            *(_last(recorder, each) for each in ("second", "mu0", "mu1")),
            by=_variance_left,
            test=equal(lambda whole, mean, linear: whole - mean**2 - linear**2),
        ),
        _SOURCE,
    )
    if not f.is_polynomial:
        return difference
    return recorder.derive(
        "mu2 by Parseval",
        None,
        computed(
            "expand",
            "the sum $\\sum_{k\\ge2} c^k(\\mathbb{E}f^{(k)})^2/k!$, which has no cancellation",
            "function",
            "mu2",
            by=lambda body, _: _parseval(body, f.z),
            before=lambda _, difference: difference,
        ),
        "Hermite expansion in g, Parseval",
    )


@dataclass(frozen=True)
class _Moment:
    """words: which average it is; weighted: what it is the average of, from the value of the function."""

    words: str
    weighted: Callable[[Any], Any]

    def of(self, value: Any) -> Any:
        return Expectation(self.weighted(value), G)


def _closed(recorder: Recorder, label: str, name: Any, moment: _Moment) -> Any:
    """Derive a coefficient and, where a rule closes the average, its closed form."""
    node = recorder.derive(
        f"{label} definition",
        name,
        computed("average", f"the {moment.words}", "value", by=moment.of, test=AVERAGE_WRITTEN),
        _SOURCE,
    )
    if not close(node)[1]:
        return node

    def carried_out(body: Any) -> Any:
        found, rules = close(body)
        return found, ", ".join(rules)

    integral = computed("integrate", "", f"{label} definition", by=carried_out, before=lambda body: body)
    return recorder.derive(label, None, integral, "Gaussian integral")


def _variance_left(whole: Any, mean: Any, linear: Any) -> Any:
    difference = whole - mean**2 - linear**2
    return sympy.expand(difference) if difference.is_polynomial(S, C) else difference


def _last(recorder: Recorder, label: str) -> str:
    """The label of the closed form of a coefficient, of its definition where there is none."""
    return label if recorder.has(label) else f"{label} definition"


def _parseval(expr: Any, z: sympy.Symbol) -> Any:
    """sum_{k >= 2} c^k (E f^(k)(s + sqrt(c) g))^2 / k! for a polynomial f: a sum of non-negative terms."""
    total = sympy.S.Zero
    degree = sympy.degree(expr, z)  # -oo for the zero function
    for k in range(2, int(max(degree, 0)) + 1):
        derivative = sympy.diff(expr, z, k).subs(z, S + sympy.sqrt(C) * G)
        mean, _ = close(Expectation(derivative, G))
        total += C**k * sympy.factor(mean) ** 2 / sympy.factorial(k)
    return total
