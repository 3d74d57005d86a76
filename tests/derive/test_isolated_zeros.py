"""Zeros of sums of functions, each proved to be alone in its interval, against SciPy's root finder on a fine grid."""

import pickle

import mpmath
import numpy as np
import pytest
import sympy
from scipy.optimize import brentq

from derive.gaussian.breakpoints import real_zeros
from derive.gaussian.isolated_zeros import Unseparated, Zero, isolated_zeros
from derive.scalar import scalar_function
from giantstep.law.moments import link_moments
from giantstep.spec.kernels import function_kernel
from giantstep.verify.reference_function import reference_function

Z = sympy.Symbol("z", real=True)
SIMPLE = [  # whose zeros are simple ones, but for one at zero
    2 * sympy.tanh(Z) - Z / 2,
    Z**2 + sympy.tanh(Z),
    sympy.exp(Z) + Z,
    sympy.sin(Z) - Z / 10,
    Z * sympy.exp(-(Z**2)) - sympy.Rational(1, 10),
    sympy.erf(Z) - Z / 3 + sympy.Rational(1, 50),
    Z * sympy.log(1 + sympy.exp(Z)) - 1,
    sympy.exp(-(Z**2)) - sympy.exp(-2 * Z**2) / 2 - sympy.Rational(1, 3),
    2 * sympy.atan(Z) - sympy.sinh(Z / 2) + sympy.Rational(1, 7),
    sympy.sqrt(Z**2 + 1) - sympy.cosh(Z) + sympy.Rational(1, 9),
    sympy.exp(Z) - 1000 - 3 * Z**2,  # far from zero
]


def on_a_grid(f: sympy.Expr) -> list[float]:
    """Sign changes between places off the origin, and zero where f vanishes there."""
    value = sympy.lambdify(Z, f, "scipy")
    grid = np.linspace(-20.0, 20.0, 6173) + 1e-4
    signs = np.sign([value(x) for x in grid])
    found = [brentq(value, grid[k], grid[k + 1], xtol=1e-14) for k in np.flatnonzero(signs[1:] != signs[:-1])]
    touches = bool(value(0.0) == 0.0) and not any(abs(x) < 1e-6 for x in found)
    return sorted([*found, *[0.0] * touches])


@pytest.mark.parametrize("f", SIMPLE, ids=str)
def test_zeros_are_all_of_them(f: sympy.Expr) -> None:
    found = [float(sympy.N(zero, 30)) for zero in real_zeros(f, Z, 40)]
    # a root is known to the rounding of f over its slope
    np.testing.assert_allclose(found, on_a_grid(f), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("f", [sympy.tanh(Z) - Z, sympy.exp(Z) - 1 - Z, sympy.sin(Z) - Z + Z**3 / 6], ids=str)
def test_a_zero_of_higher_order_at_zero(f: sympy.Expr) -> None:
    assert isolated_zeros(f, Z, 40) == [0]


def test_a_zero_is_a_number_of_any_precision() -> None:
    """z + exp(z) vanishes at -W(1)."""
    (zero,) = real_zeros(sympy.exp(Z) + Z, Z)
    assert zero.is_negative and zero.is_number and not zero.free_symbols
    assert abs(sympy.N(zero, 60) + sympy.N(sympy.LambertW(1), 60)) < 1e-58
    assert pickle.loads(pickle.dumps(zero)) == zero


def test_the_proof_is_for_all_numbers_where_no_reach_is_given() -> None:
    assert len(real_zeros(2 * sympy.tanh(Z) - Z / 2, Z)) == 3
    with pytest.raises(Unseparated, match="infinitely many"):
        isolated_zeros(sympy.sin(Z) - Z / 10, Z)
    with pytest.raises(Unseparated, match="may be close"):  # of one infinite term less another no bounds are told
        isolated_zeros(sympy.exp(Z) - Z**2, Z)


@pytest.mark.parametrize(
    ("f", "why"),
    [
        ((sympy.tanh(Z) - Z / 2) ** 2, "may touch"),
        (sympy.exp(Z - 1) - Z, "may touch"),
        (sympy.sin(30 * Z) - Z / 30, "more than 128"),
        (sympy.log(Z) - 1, "logarithm"),
    ],
    ids=str,
)
def test_the_reason_is_said(f: sympy.Expr, why: str) -> None:
    with pytest.raises(Unseparated, match=why):
        isolated_zeros(f, Z, 40)


def test_jumps_and_values_of_a_label() -> None:
    """The label is zero at a jump; E z y is twice the density at its jumps, by a root of its own."""
    text = "sign(2*tanh(z) - z/2)"
    found = scalar_function(text)
    root = brentq(lambda x: 2.0 * np.tanh(x) - 0.5 * x, 3.0, 5.0, xtol=1e-14)
    assert found.parity == "odd" and found.at_breakpoints() == [0, 0, 0]
    assert isinstance(found.breakpoints[2], Zero) and found.breakpoints[0] == -found.breakpoints[2]
    breaks = function_kernel(text).BREAKPOINTS
    np.testing.assert_allclose(breaks, [-root, 0.0, root], rtol=1e-14)
    density = np.exp(-0.5 * np.array([0.0, root**2])) / np.sqrt(2.0 * np.pi)
    expected = 2.0 * density[0] - 4.0 * density[1]
    assert abs(link_moments(text, breaks).linear[0] - expected) < 1e-13


@pytest.mark.parametrize("text", ["sign(2*tanh(z) - z/2)", "abs(z**5 - z - 1)"])
def test_the_text_of_verify_has_digits_of_roots(text: str) -> None:
    """Roots have no closed form, and are numbers of many digits there."""
    with mpmath.workdps(60):
        f, cuts = reference_function(scalar_function(text)).function()
        assert all(abs(f(cut)) < 1e-58 for cut in cuts)
