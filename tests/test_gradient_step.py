"""The map of one giant step: against THEORY section 2, against the published odd case, against the finite-size step."""

import mpmath
import numpy as np
import pytest
import sympy

from derive import gradient_step as gs
from derive.check import check_derivation
from derive.expectation import Expectation
from derive.gradient_step import evaluate, gradient_step_map
from derive.grammar import ExpressionError
from derive.scalar import scalar_function


def step_map(activation: str, link: str, bias: float = 0):
    return gradient_step_map(scalar_function(activation), scalar_function(link), bias)


def test_the_published_formulas_come_out() -> None:
    """THEORY section 2, typed in here as the oracle."""
    step = step_map("relu", "sign")
    norm = sympy.sqrt(gs.S1**2 + gs.E2 / gs.ALPHA0)
    assert sympy.simplify(step.strength - gs.A * gs.MU1 * norm) == 0
    assert sympy.simplify(step.alignment - gs.S1 / norm) == 0
    bulk = (1 + gs.A * gs.U * gs.S0 * gs.SECOND) ** 2 + (gs.A * gs.U) ** 2 * gs.E2 / gs.ALPHA0 * gs.VARIANCE
    assert sympy.expand(step.bulk_variance - bulk) == 0


def test_odd_activation_and_uniform_readout() -> None:
    """[CUI24] eq. (9)-(12): e2 = E sigma_star^2, no drift along the row."""
    found = evaluate(step_map("erf", "sign"), 0.7, 1.5, dps=25)
    with mpmath.workdps(25):
        mu1 = 2 / mpmath.sqrt(3 * mpmath.pi)  # E[z erf z]
        slope2 = 4 / (mpmath.pi * mpmath.sqrt(5))  # E[erf'^2]
        s1, e2, a, alpha0 = mpmath.sqrt(2 / mpmath.pi), 1, mpmath.mpf(0.7), mpmath.mpf(1.5)
        norm = mpmath.sqrt(s1**2 + e2 / alpha0)
        tolerance = mpmath.mpf(10) ** -23
        assert found["s0"] == 0 and found["second"] == 0 and found["e2"] == 1
        assert abs(found["strength"] - a * mu1 * norm) < tolerance
        assert abs(found["alignment"] - s1 / norm) < tolerance
        assert abs(found["bulk_variance"][0] - 1 - a**2 * e2 / alpha0 * (slope2 - mu1**2)) < tolerance


def test_relu_moments_in_closed_form() -> None:
    """E relu = 1/sqrt(2 pi), E[z relu] = 1/2, E relu'' = phi(0), Var relu' = 1/4; two values of the readout, noise."""
    found = evaluate(step_map("relu", "relu"), 0.5, 2.0, (1.0, -0.5), (0.25, 0.75), noise=0.25, dps=25)
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
    assert step.moments[gs.S1].has(Expectation)


def test_bias_shifts_the_activation() -> None:
    """sigma(z + b) = (z + b)^2: mu0 = 1 + b^2, mu1 = 2 b, sigma'' = 2, Var sigma' = 4."""
    found = evaluate(step_map("z**2", "sin", bias=0.5), 1.0, 1.0, dps=20)
    for name, value in (("mu0", 1.25), ("mu1", 1.0), ("second", 2.0), ("variance", 4.0)):
        assert abs(found[name] - value) < 1e-18


@pytest.mark.parametrize("name", ["sign", "step", "z*sign(z-1)"])
def test_jumps_are_refused(name: str) -> None:
    with pytest.raises(ExpressionError, match="jumps at") as caught:
        step_map(name, "tanh")
    assert "[spike]" in str(caught.value)


@pytest.mark.parametrize(("activation", "link"), [("relu", "sign"), ("gelu", "tanh")])
def test_every_step_holds_to_fifty_digits(activation: str, link: str) -> None:
    checks = check_derivation(step_map(activation, link).derivation, dps=50)
    assert len(checks) >= 10
    for check in checks:
        assert check.error is not None and check.error < 1e-49, check.label


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_against_the_finite_size_step(activation: str) -> None:
    """Strength, alignment and bulk norm measured on the gradient of a network of d = 700 inputs.

    Error model: 4 standard errors of the mean over the seeds, plus 2/d relative for the finite-size terms (overlaps of
    rows with each other and with the target). Var sigma' alone moves the bulk norm by 5 %, ten times that.
    """
    d, p, n0, a, seeds = 700, 500, 1400, 1.3, 16
    values = np.array([1.0, -0.5])
    found = evaluate(step_map(activation, "relu"), a, n0 / d, values.tolist(), (0.5, 0.5), noise=0.1, dps=15)
    sigma, slope = {
        "tanh": (np.tanh, lambda z: 1 / np.cosh(z) ** 2),
        "relu": (lambda z: np.maximum(z, 0), lambda z: (z > 0).astype(float)),
    }[activation]
    measured = np.array([_finite_size(seed, d, p, n0, a, values, sigma, slope) for seed in range(seeds)])
    wanted = np.array(
        [float(found["strength"]), float(found["alignment"]), *map(float, found["bulk_variance"])]
    )
    error = measured.std(axis=0, ddof=1) / np.sqrt(seeds)
    assert np.all(np.abs(measured.mean(axis=0) - wanted) < 4 * error + 2 / d * np.abs(wanted))


def _finite_size(seed, d, p, n0, a, values, sigma, slope):
    """(r, gamma, c_1, c_2) of one gradient step, the spike as the part of the step common to all rows."""
    random = np.random.default_rng(seed)
    theta = random.standard_normal(d)
    theta /= np.linalg.norm(theta)
    rows = random.standard_normal((p, d))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    u = np.repeat(values, p // 2)
    x = random.standard_normal((n0, d))
    y = np.maximum(x @ theta, 0) + np.sqrt(0.1) * random.standard_normal(n0)
    z = x @ rows.T
    residual = y - sigma(z) @ u / p
    moved = a * u[:, None] * ((residual[:, None] * slope(z)).T @ x / n0)
    common = moved.T @ u / (u @ u)
    bulk = rows + moved - np.outer(u, common)
    square = np.sum(bulk**2, axis=1)
    length = np.linalg.norm(common)
    return length, common @ theta / length, square[: p // 2].mean(), square[p // 2 :].mean()
