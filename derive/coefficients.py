"""Coefficients of the conditional Gaussian equivalence, in closed form where the rules have one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy

from derive.expectation import Expectation
from derive.rules import close
from derive.rules.tidy import tidy
from derive.scalar import ScalarFunction
from derive.trace import Derivation, Recorder

S = sympy.Symbol("s", real=True)
C = sympy.Symbol("c", positive=True)
G = sympy.Symbol("g", real=True)

_SOURCE = "[CUI24, Result 3.2]"
_UNIT_ROWS = "rows of unit norm, the variance c of the pre-activation kept apart"


@dataclass(frozen=True)
class ConditionalCoefficients:
    """Of f(s + sqrt(c) g), g ~ N(0,1), as SymPy expressions in the shift `s` (real) and the variance `c`
    (positive).

    mu0 = E f, mu1 = E[g f] (rows of UNIT norm), second = E f^2, mu2sq = second - mu0^2 - mu1^2 (for
    polynomials as a sum of squares). What has no closed form still contains `Expectation`. [CUI24, Result
    3.2]
    """

    s: sympy.Symbol
    c: sympy.Symbol
    mu0: Any
    mu1: Any
    second: Any
    mu2sq: Any
    derivation: Derivation

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
    argument = S + sympy.sqrt(C) * G
    recorder.record(
        "pre-activation", f.z, argument, kind="definition", source=_SOURCE,
        rule="the pre-activation given $\\kappa$",
        assumption="s is the shift given by the spike, g a standard normal",
    )  # fmt: skip
    value = f.at(argument)
    mu0 = _closed(recorder, "mu0", sympy.Symbol("mu_0"), Expectation(value, G), "mean")
    mu1 = _closed(
        recorder, "mu1", sympy.Symbol("mu_1"), Expectation(G * value, G), "linear coefficient", _UNIT_ROWS
    )
    if mu0.has(S):
        recorder.record(
            "mu1 by Stein", mu1, sympy.sqrt(C) * sympy.Derivative(mu0, S), source="Stein's lemma",
            rule="$\\mathbb{E}[g f(s+\\sqrt{c}g)] = \\sqrt{c}\\,\\partial_s\\mathbb{E}[f(s+\\sqrt{c}g)]$",
        )  # fmt: skip
    second = _closed(recorder, "second", sympy.Symbol("mu_ff"), Expectation(value**2, G), "second moment")
    difference = second - mu0**2 - mu1**2
    left = sympy.Symbol("mu_2") ** 2
    recorder.record(
        "mu2",
        left,
        difference,
        kind="definition",
        source=_SOURCE,
        rule="the variance that is left to the noise",
    )
    if f.is_polynomial:
        mu2sq = _parseval(f)
        recorder.record(
            "mu2 by Parseval", difference, mu2sq, kind="result", source="Hermite expansion in g, Parseval",
            rule="the sum $\\sum_{k\\ge2} c^k(\\mathbb{E}f^{(k)})^2/k!$, which has no cancellation",
        )  # fmt: skip
    else:
        mu2sq = sympy.expand(difference) if difference.is_polynomial(S, C) else difference
    recorder.record(
        "mu1 in the paper", sympy.Symbol("mu_1_paper"), tidy(mu1 / sympy.sqrt(C)), kind="definition",
        source=_SOURCE,
        rule="the same with rows that keep their norm $\\sqrt{c}$, as printed there",
    )  # fmt: skip
    return ConditionalCoefficients(S, C, mu0, mu1, second, mu2sq, recorder.finish())


def _closed(recorder: Recorder, label: str, name: Any, node: Any, words: str, assumption: str = "") -> Any:
    """Record the definition of a coefficient and, where a rule closes it, its closed form."""
    recorder.record(
        f"{label} definition",
        name,
        node,
        kind="definition",
        source=_SOURCE,
        rule=f"the {words}",
        assumption=assumption,
    )
    closed, rules = close(node)
    if not rules:
        return node
    return recorder.record(
        label, node, closed, kind="result", source="Gaussian integral", rule=", ".join(rules)
    )


def _parseval(f: ScalarFunction) -> Any:
    """sum_{k >= 2} c^k (E f^(k)(s + sqrt(c) g))^2 / k! for a polynomial f: a sum of non-negative terms."""
    total = sympy.S.Zero
    degree = sympy.degree(f.expr, f.z)  # -oo for the zero function
    for k in range(2, int(max(degree, 0)) + 1):
        derivative = sympy.diff(f.expr, f.z, k).subs(f.z, S + sympy.sqrt(C) * G)
        mean, _ = close(Expectation(derivative, G))
        total += C**k * sympy.factor(mean) ** 2 / sympy.factorial(k)
    return total
