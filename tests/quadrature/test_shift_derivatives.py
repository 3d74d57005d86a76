"""Derivatives of Gaussian averages in the shift against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermeval

from giantstep.quadrature.mesh import Term
from giantstep.quadrature.shift_derivatives import norm_functions, rest_averages, shift_derivatives, slope_averages
from giantstep.spec.expressions import numpy_function

SHIFTS = np.array([-30.0, -1.2, 0.0, 0.7, 3.0, 200.0])


def test_an_exponential() -> None:
    """E exp((s + sqrt(c) g)/2) = exp(s/2 + c/8), whose k-th derivative is 2^-k of it."""
    shifts = SHIFTS[1:5]
    found = shift_derivatives("exp(z/2)", 1.7, shifts, 12, 1.0)
    wanted = 0.5 ** np.arange(13)[:, None] * np.exp(0.5 * shifts + 1.7 / 8.0)
    size = np.array([math.sqrt(math.factorial(k)) * 1.7 ** (-0.5 * k) for k in range(13)])[:, None]
    root_mean_square = np.exp(0.5 * shifts + 1.7 / 4.0)
    assert np.all(np.abs(found - wanted) <= 1e-14 * size * root_mean_square)


@pytest.mark.parametrize("variance", [0.3, 1.0, 4.0])
def test_a_jump(variance: float) -> None:
    """Of the step the first derivative is the normal density, and its derivatives are Hermite polynomials of that."""
    found = shift_derivatives("step", variance, SHIFTS, 9, 1.0)
    x = SHIFTS / math.sqrt(variance)
    density = np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi * variance)
    for k in range(1, 10):
        wanted = (-1.0) ** (k - 1) * hermeval(x, [0.0] * (k - 1) + [1.0]) * density * variance ** (-0.5 * (k - 1))
        size = math.sqrt(math.factorial(k)) * variance ** (-0.5 * k)
        np.testing.assert_allclose(found[k], wanted, rtol=0.0, atol=1e-14 * size)


@pytest.mark.parametrize("variance", [0.3, 4.0])
@pytest.mark.parametrize(("function", "sign"), [("relu", 0.0), ("abs(z)", 1.0), ("z*abs(z)", 0.0)])
def test_slopes_of_kinked_activations(function: str, sign: float, variance: float) -> None:
    """Of relu, abs (even) and z abs(z) (odd): E sigma' is made of the normal density and its distribution function."""
    x = SHIFTS / math.sqrt(variance)
    density = np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
    below = np.array([0.5 * math.erfc(-at / math.sqrt(2.0)) for at in x])
    if function == "z*abs(z)":
        slope = 2.0 * math.sqrt(variance) * (x * (2.0 * below - 1.0) + 2.0 * density)
        wanted = slope, 2.0 * (2.0 * below - 1.0), 4.0 * variance * (x * x + 1.0)
    else:
        below = below if sign == 0.0 else 2.0 * below - 1.0
        wanted = below, (1.0 + sign) * density / math.sqrt(variance), below if sign == 0.0 else np.ones_like(x)
    found = slope_averages(Term(function, 1.0, 0.0, variance), SHIFTS)[1:]
    for got, at in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, at, rtol=1e-13, atol=3e-14)


@pytest.mark.parametrize("function", ["tanh", "relu", "sin(2*z)"])
def test_many_shifts_are_those_of_few(function: str) -> None:
    """Between Chebyshev points, against the rule itself; relative to what is averaged."""
    shifts = np.random.default_rng(4).uniform(-9.0, 9.0, 12_000)
    found = shift_derivatives(function, 0.8, shifts, 14, 1.0)[:, :300]
    wanted = shift_derivatives(function, 0.8, shifts[:300], 14, 1.0)
    size = np.array([math.sqrt(math.factorial(k)) * 0.8 ** (-0.5 * k) for k in range(15)])[:, None]
    root_mean_square = 10.0 if function == "relu" else 1.0
    assert np.all(np.abs(found - wanted) <= 1e-13 * size * root_mean_square)
    assert not np.array_equal(found, wanted)


@pytest.mark.parametrize("function", ["tanh", "relu", "gelu"])
def test_norm_functions_of_many_shifts_are_averages(function: str) -> None:
    """Between Chebyshev points, to what differences leave: 1e-12 of the features, which grow with the shift."""
    shifts = np.linspace(-12.0, 12.0, 3000)
    term = [Term(function, 1.0, 0.0, 1.3)]
    found, wanted = (norm_functions(term, [shifts], accurate)[0] for accurate in (False, True))
    assert np.abs(found - wanted).max() <= 1e-12


@pytest.mark.parametrize("function", ["tanh", "abs(z)*tanh(z)", "z*tanh(z)", "relu"])
def test_moments_of_the_rest_at_shifts_of_either_sign(function: str) -> None:
    """Moments of sigma' less its parts along 1 and z, by a rule on half lines: sigma may turn at zero."""
    powers, z = ((1, 2), (2, 0), (2, 1), (3, 1)), np.linspace(0.0, 12.0, 6001)
    weight = np.ones(len(z))
    weight[1:-1:2], weight[2:-1:2] = 4.0, 2.0
    weight *= (z[1] - z[0]) / 3.0
    found = rest_averages(Term(function, 1.0, 0.0, 1.0), np.array([-1.3, 0.4]), powers)
    slope = numpy_function(function)
    for shift, each in zip((-1.3, 0.4), found.T, strict=True):
        x = np.concatenate([-z, z])
        g, law = x - shift, np.exp(-0.5 * (x - shift) ** 2) / math.sqrt(2.0 * math.pi) * np.tile(weight, 2)
        of = slope(np.where(x == 0.0, np.repeat([-1e-300, 1e-300], len(z)), x))[1]
        rest = of - law @ of - (law @ (g * of)) * g
        assert each == pytest.approx([law @ (rest**i * g**j) for i, j in powers], abs=1e-11)


def test_a_turn_that_is_narrow_beside_the_deviation() -> None:
    """tanh at a variance of 1e10 is a sign but within 1e-5 deviations: integrals of sech^2 are 2, of sech^4 4/3."""
    variance = 1e10
    shifts = math.sqrt(variance) * np.array([-2.0, -0.3, 0.0, 1.1])
    density = np.exp(-0.5 * shifts**2 / variance) / math.sqrt(2.0 * math.pi * variance)
    mean, slope, curvature, squares = slope_averages(Term("tanh", 1.0, 0.0, variance), shifts)
    np.testing.assert_allclose(mean, [math.erf(s / math.sqrt(2.0 * variance)) for s in shifts], rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(slope, 2.0 * density, rtol=1e-8)
    np.testing.assert_allclose(curvature, -2.0 * density * shifts / variance, rtol=1e-8, atol=1e-18)
    np.testing.assert_allclose(squares, 4.0 / 3.0 * density, rtol=1e-8)
