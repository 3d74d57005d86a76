"""The map of one giant step: against THEORY section 2, against the published odd case, against the finite-size step."""

import mpmath
import pytest
import sympy

from derive import gradient_step as gs
from derive.check import check_derivation
from derive.gaussian.expectation import Expectation
from derive.gradient_step import gradient_step_map
from derive.labels import FLIPS, PROBIT, index_function
from derive.language.grammar import ExpressionError
from derive.sample_averages import ALPHA0
from derive.scalar import scalar_function
from derive.step_numbers import StepInputs, evaluate


def step_map(activation: str, link: str, bias: float = 0, **noise):
    return gradient_step_map(scalar_function(activation), index_function(link), bias, **noise)


def test_the_published_formulas_come_out() -> None:
    """THEORY section 2, typed in here as the oracle."""
    step = step_map("relu", "sign")
    (s1,), (alignment,) = step.overlaps, step.alignments
    norm = sympy.sqrt(s1**2 + gs.E2 / ALPHA0)
    assert sympy.simplify(step.strength - gs.A * gs.MU1 * norm) == 0
    assert sympy.simplify(alignment - s1 / norm) == 0
    bulk = (1 + gs.A * gs.U * gs.S0 * gs.SECOND) ** 2 + (gs.A * gs.U) ** 2 * gs.E2 / ALPHA0 * gs.VARIANCE
    assert sympy.expand(step.bulk_variance - bulk) == 0


def test_odd_activation_and_uniform_readout() -> None:
    """[CUI24] eq. (9)-(12): e2 = E sigma_star^2, no drift along the row."""
    found = evaluate(step_map("erf", "sign"), StepInputs(0.7, 1.5), 25)
    with mpmath.workdps(25):
        mu1 = 2 / mpmath.sqrt(3 * mpmath.pi)  # E[z erf z]
        slope2 = 4 / (mpmath.pi * mpmath.sqrt(5))  # E[erf'^2]
        s1, e2, a, alpha0 = mpmath.sqrt(2 / mpmath.pi), 1, mpmath.mpf(0.7), mpmath.mpf(1.5)
        norm = mpmath.sqrt(s1**2 + e2 / alpha0)
        tolerance = mpmath.mpf(10) ** -23
        assert found["s0"] == 0 and found["second"] == 0 and found["e2"] == 1
        assert abs(found["strength"] - a * mu1 * norm) < tolerance
        assert abs(found["alignments"][0] - s1 / norm) < tolerance
        assert abs(found["bulk_variance"][0] - 1 - a**2 * e2 / alpha0 * (slope2 - mu1**2)) < tolerance


def test_relu_moments_in_closed_form() -> None:
    """E relu = 1/sqrt(2 pi), E[z relu] = 1/2, E relu'' = phi(0), Var relu' = 1/4; two values of the readout, noise."""
    inputs = StepInputs(0.5, 2.0, (1.0, -0.5), (0.25, 0.75), noise=0.25)
    found = evaluate(step_map("relu", "relu"), inputs, 25)
    with mpmath.workdps(25):
        phi0 = 1 / mpmath.sqrt(2 * mpmath.pi)
        ubar = mpmath.mpf(-0.125)
        tolerance = mpmath.mpf(10) ** -23
        assert abs(found["s0"] - phi0 * (1 - ubar)) < tolerance
        e2 = mpmath.mpf(0.5) + mpmath.mpf(0.25) - 2 * ubar * phi0**2 + (ubar * phi0) ** 2
        assert abs(found["e2"] - e2) < tolerance
        for u, c in zip((1, mpmath.mpf(-0.5)), found["bulk_variance"], strict=True):
            drift = 1 + u * found["s0"] * phi0 / 2
            assert abs(c - drift**2 - (u / 2) ** 2 * e2 / 8) < tolerance


def test_moments_stay_expectations_where_there_is_no_closed_form() -> None:
    step = step_map("tanh", "softplus")
    assert step.closed[gs.MU1].has(Expectation)
    assert step.closed[gs.MU0] == 0
    assert step.moments[step.overlaps[0]].has(Expectation)


def test_bias_shifts_the_activation() -> None:
    """sigma(z + b) = (z + b)^2: mu0 = 1 + b^2, mu1 = 2 b, sigma'' = 2, Var sigma' = 4."""
    found = evaluate(step_map("z**2", "sin", bias=0.5), StepInputs(1.0, 1.0), 20)
    for name, value in (("mu0", 1.25), ("mu1", 1.0), ("second", 2.0), ("variance", 4.0)):
        assert abs(found[name] - value) < 1e-18


@pytest.mark.parametrize("name", ["sign", "step", "z*sign(z-1)"])
def test_jumps_are_refused(name: str) -> None:
    with pytest.raises(ExpressionError, match="jumps at") as caught:
        step_map(name, "tanh")
    assert "[spike]" in str(caught.value)


@pytest.mark.parametrize(
    ("activation", "link", "noise"),
    [("relu", "sign", {}), ("gelu", "tanh", {}), ("gelu", "tanh", {"flips": FLIPS, "probit": PROBIT})],
)
def test_every_step_holds_to_fifty_digits(activation: str, link: str, noise: dict) -> None:
    derivation = step_map(activation, link, **noise).derivation
    found = [check for check in check_derivation(derivation) if check.outcome == "compared"]
    assert len(found) >= 20
    for check in found:
        assert check.error < 1e-49, check.label
    turned = "rotation of the noise inside the link"
    assert (turned in {step.label for step in derivation.steps}) == bool(noise)


def test_the_formulas_of_several_indices_come_out() -> None:
    """s1 becomes a vector: |s1|^2 in the strength, s1_i in the alignments; nothing else changes."""
    one, two = step_map("relu", "sign"), step_map("relu", "sign(z1*z2)")
    (s1,), (a, b) = one.overlaps, two.overlaps
    length = sympy.sqrt(a**2 + b**2 + gs.E2 / ALPHA0)
    assert sympy.simplify(two.strength - gs.A * gs.MU1 * length) == 0
    assert all(sympy.simplify(g - s / length) == 0 for g, s in zip(two.alignments, (a, b), strict=True))
    assert two.bulk_variance == one.bulk_variance
    assert sympy.expand(two.strength.subs(b, 0).subs(a, s1) - one.strength) == 0


def test_moments_of_noisy_labels_in_closed_form() -> None:
    """A sign is flipped with probability p and sees z + sqrt(t) n: E[z y] = (1 - 2 p) sqrt(2/pi)/sqrt(1 + t)."""
    step = step_map("relu", "sign", flips=FLIPS, probit=PROBIT)
    found = evaluate(step, StepInputs(1.0, 2.0, noise=0.25, flips=0.125, probit=0.5), 25)
    with mpmath.workdps(25):
        phi0 = 1 / mpmath.sqrt(2 * mpmath.pi)
        assert abs(found["s1"][0] - 0.75 * 2 * phi0 / mpmath.sqrt(1.5)) < 1e-23
        assert abs(found["e2"] - 1.25 - phi0**2) < 1e-23  # the flips leave E y^2, and E y = 0
        assert abs(found["s0"] + phi0) < 1e-23


def test_moments_of_two_indices_in_closed_form() -> None:
    """y = relu(z1) z2 + z1 at z + sqrt(t) n = s g: E y = 0, E z1 y = 1, E z2 y = s phi(0), E y^2 = s^4/2 + s^2."""
    step = step_map("tanh", "relu(z1)*z2 + z1", probit=PROBIT)
    found = evaluate(step, StepInputs(1.0, 2.0, probit=0.5), 25)
    with mpmath.workdps(25):
        scale = mpmath.sqrt(1.5)
        assert found["s0"] == 0
        assert abs(found["s1"][0] - 1) < 1e-23
        assert abs(found["s1"][1] - scale / mpmath.sqrt(2 * mpmath.pi)) < 1e-23
        assert abs(found["e2"] - scale**4 / 2 - scale**2) < 1e-23
        assert abs(found["alignments"][0] / found["alignments"][1] - found["s1"][0] / found["s1"][1]) < 1e-23
