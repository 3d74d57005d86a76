"""Every derived step is compared with what it was computed from, or says why not; wrong operations are found."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

import mpmath
import pytest
import sympy as sp

from derive.average_rules import rules_of
from derive.blocks import BlockSum, family, index
from derive.bulk_covariance import bulk_covariance
from derive.check import check_derivation, check_step
from derive.features import bias_condition
from derive.gaussian.expectation import Expectation
from derive.gradient_step import gradient_step_map
from derive.high_precision import WORKING, NotEvaluable, gauss_rule
from derive.labels import FLIPS, PROBIT
from derive.loss.loss import loss_of
from derive.loss.prox import moreau
from derive.loss.quadratic import SQUARE
from derive.polynomial_spikes import polynomial_spikes
from derive.random_values import RandomValues
from derive.row_norms import row_norms
from derive.saddle import coupled_system, saddle_system
from derive.scalar import scalar_function
from derive.sensitivity import coefficient_slopes
from derive.structured_inputs import structured_inputs
from derive.trace import Derivation

B, C = index("b"), index("c")


def _step(activation: str, link: str, **noise: Any) -> Derivation:
    return gradient_step_map(scalar_function(activation), scalar_function(link), **noise).derivation


DERIVATIONS: dict[str, Callable[[], Derivation]] = {
    "square loss": lambda: saddle_system(SQUARE).derivation,
    "square loss, two directions": lambda: saddle_system(SQUARE, spikes=2).derivation,
    "square loss, two indices, labels that are drawn": lambda: saddle_system(SQUARE, 2, drawn=True).derivation,
    "any loss": lambda: coupled_system().derivation,
    "any loss, stretched bulk": lambda: coupled_system(bulk="stretched").derivation,
    "any loss, given bulk": lambda: coupled_system(bulk="matrix").derivation,
    "any loss, given blocks": lambda: coupled_system(bulk="neurons").derivation,
    "step": lambda: _step("relu", "tanh"),
    "step, noisy labels": lambda: _step("tanh", "sign", flips=FLIPS, probit=PROBIT),
    "trained bulk": lambda: bulk_covariance().derivation,
    "norms of the rows": lambda: row_norms().derivation,
    "any loss, norms": lambda: coupled_system(bulk="norms").derivation,
    "smaller steps": lambda: polynomial_spikes(scalar_function("relu"), 3, 0.25).derivation,
    "smaller steps, trained bias": lambda: polynomial_spikes(scalar_function("relu"), 3, None).derivation,
    "trained bias": lambda: bias_condition(coupled_system())[1],
    "huber": lambda: moreau(loss_of("huber")).derivation,
    "logistic": lambda: moreau(loss_of("logistic")).derivation,
    "structured inputs": lambda: structured_inputs().derivation,
    "slopes of coefficients": lambda: coefficient_slopes().derivation,
}


LONG = {
    "square loss, two indices, labels that are drawn",
    "square loss, two directions",
    "any loss, norms",
    "any loss, stretched bulk",
    "any loss, given bulk",
    "any loss, given blocks",
}


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in LONG else n for n in DERIVATIONS])
def test_every_step_holds_or_says_why_it_cannot_be_compared(name: str) -> None:
    derivation = DERIVATIONS[name]()
    found = check_derivation(derivation)
    for step, check in zip(derivation.steps, found, strict=True):
        if check.outcome == "compared":
            averaged = any(side.has(Expectation) for side in step.sides)
            assert check.error < (1e-20 if averaged else 1e-45), check
        elif check.outcome == "not evaluable":
            assert check.reason and check.reason != "no test is written down", check
    assert any(check.outcome == "compared" for check in found)


@pytest.mark.parametrize("name", [name for name in DERIVATIONS if name not in LONG])
def test_no_name_is_set_as_a_product_of_its_letters(name: str) -> None:
    """LaTeX sets ``sigma'`` as s times i times g and so on."""
    upright = re.sub(r"\\(mathrm|text|operatorname|begin|end)\{[^}]*\}", "", DERIVATIONS[name]()._repr_latex_())
    assert re.findall(r"[A-Za-z]{3,}", re.sub(r"\\[A-Za-z]+", "", upright)) == []


def _scaled(operation: Callable[..., Any], factor: Any) -> Callable[..., Any]:
    return lambda *given: operation(*given) * factor


# where, which operation, what it is planted in, and the step that must show it
WRONG = {
    "sum over pairs of outputs": ("derive.replica.network", "_second_moment", "covariance given kappa"),
    "slope in t": ("derive.replica.network", "_linear_coefficient", "slope of a replica"),
    "limit of no replicas": ("derive.replica.readout", "per_replica", "Gaussian integral at n = 0"),
    "zero temperature": ("derive.replica.readout", "_cold", "entropic part of the readouts"),
    "Laplace": ("derive.replica.averages", "_squares", "zero temperature"),
    "noise of the entropic part": ("derive.replica.bulk", "_noise", "entropic part"),
    "orthogonal terms": ("derive.energetic", "second_moment", "conditional risk"),
    "extremum": ("derive.free_energy", "_extremal", "finite size"),
    "root of a condition": ("derive.saddle", "_alone", "d/dQ1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_operation_that_is_wrong_by_a_part_in_a_million_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, operation, label = WRONG[name]
    module = import_module(where)
    # what is remembered was derived by the right operation
    monkeypatch.setattr(
        import_module("derive.energetic"),
        "sample_derivation",
        import_module("derive.replica.averages").sample_derivation.__wrapped__,
    )
    monkeypatch.setattr(module, operation, _scaled(getattr(module, operation), 1 + sp.Rational(1, 10**6)))
    assert check_step(saddle_system.__wrapped__(SQUARE).derivation.step(label)).error > 1e-12


def test_a_wrong_derivative_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The derivative of a power with the power itself in the place of one less."""
    calculus = import_module("derive.calculus")
    right = calculus.Calculus._power
    monkeypatch.setattr(calculus.Calculus, "_power", lambda self, e, x: right(self, e, x) * e.base)
    derivation = saddle_system.__wrapped__(SQUARE).derivation
    assert check_step(derivation.step("slope in V1")).error > 1e-12
    assert check_step(derivation.step("slope in psi_hat")).error < 1e-45


def test_values_at_a_random_point() -> None:
    """Sums, derivatives in members and in variables, averages, limits: against what they are by hand."""
    q, x, n = family("q"), sp.Symbol("x", real=True), sp.Symbol("n", positive=True)
    f = sp.Function("f", real=True)
    square = BlockSum(BlockSum(q[B, C] ** 2, B), C)
    with mpmath.workdps(WORKING):
        values = RandomValues()

        def difference(left: Any, right: Any) -> Any:
            where = {B: 0, C: 1}
            return abs(values.at(left, where) - values.at(right, where))

        assert difference(sp.Derivative(square, q[B, C]), 2 * q[B, C]) < 1e-60
        assert difference(sp.Derivative(square, q[B, C], q[C, B]), sp.S.Zero) < 1e-60
        assert difference(Expectation(x * f(x), x), Expectation(sp.Derivative(f(x), x), x)) < 1e-50
        assert (
            difference(Expectation(sp.tanh(x) ** 2, x), 1 - Expectation(sp.Derivative(sp.tanh(x), x).doit(), x)) < 1e-50
        )
        assert difference(sp.Limit((n + x) / (2 * n), n, sp.oo), sp.Rational(1, 2)) < 1e-80
        assert difference(sp.KroneckerDelta(B, C), sp.S.Zero) == 0
        with pytest.raises(NotEvaluable, match="integral over all readouts"):
            values.at(sp.Integral(sp.exp(-x), x), {})
        moments = [mpmath.fsum(w * node**k for node, w in gauss_rule(7)) for k in (0, 2, 4, 12)]
        assert max(abs(m - exact) for m, exact in zip(moments, (1, 1, 3, 10395), strict=True)) < 1e-150


def test_averages_over_many_variables() -> None:
    """Fewer nodes of each, which leave less than steps are held against; of too many together there is no number."""
    x, y, z, u, v = sp.symbols("x y z u v", real=True)
    f, g = (sp.Function(name, real=True) for name in "fg")
    square = f(x, y, z) ** 2
    with mpmath.workdps(WORKING):
        values = RandomValues()
        sides = Expectation(x * square, x, y, z), Expectation(sp.Derivative(square, x), x, y, z)
        assert 0 < abs(values.at(sides[0], {}) - values.at(sides[1], {})) < 1e-24
        assert [len(rule) for _, rule in rules_of(Expectation(f(x, y, z), x, y, z)) or ()] == [16, 16, 16]
        with pytest.raises(NotEvaluable, match="an average over 5 variables at once"):
            values.at(Expectation(g(x, y, z, u, v), x, y, z, u, v), {})
