"""Breakpoints, pieces and parity, derived from expressions."""

import math

import mpmath
import numpy as np
import pytest
import sympy

from derive.gaussian.breakpoints import real_zeros
from derive.gaussian.numeric import mpmath_function
from derive.language.catalogue import REGISTERED
from derive.language.grammar import ExpressionError
from derive.scalar import scalar_function

PARITY = {
    "odd": {"tanh", "erf", "sign", "hard_tanh", "sin", "linear", "cubic"},
    "even": {"abs", "cos", "quadratic"},
    "none": {"step", "relu", "leaky_relu", "gelu", "silu", "softplus"},
}
Z = sympy.Symbol("z", real=True)
BREAKPOINTS = {
    "sign": (0,),
    "step": (0,),
    "relu": (0,),
    "leaky_relu": (0,),
    "abs": (0,),
    "hard_tanh": (-1, 1),
}

COMPOSED = {
    "abs(abs(z)-1)": ((-1, 0, 1), "even"),
    "sign(tanh(z)-1/2)": ((sympy.atanh(sympy.S.Half),), "none"),
    "relu(z)**2": ((0,), "none"),
    "abs(z)*sign(z)": ((), "odd"),
    "sign(z**3-2*z)": ((-sympy.sqrt(2), 0, sympy.sqrt(2)), "odd"),
    "max(min(z,2),-2)": ((-2, 2), "odd"),
    "relu(1-abs(z))": ((-1, 0, 1), "even"),
    "sign(exp(z)-sqrt(2))": ((sympy.log(2) / 2,), "none"),
    "abs(softplus(z)-1)": ((sympy.log(sympy.E - 1),), "none"),
    "step(z)*step(1-z)": ((0, 1), "none"),
    "abs(z**2+1)": ((), "even"),
    "sign(z-pi)": ((sympy.pi,), "none"),
    "relu(z)+min(0,exp(z)-1)": ((0,), "none"),
    "z*sign(tanh(2*z)**2-1/4)": ((-sympy.atanh(sympy.S.Half) / 2, sympy.atanh(sympy.S.Half) / 2), "odd"),
    "sigmoid(z)-1/2": ((), "odd"),
    "sinh(z)/cosh(z)": ((), "odd"),
    "sign(Phi(z)-1/2)": ((0,), "odd"),
    "abs(z**5-z-1)": ((sympy.CRootOf(sympy.Symbol("x") ** 5 - sympy.Symbol("x") - 1, 0),), "none"),
}


@pytest.mark.parametrize("name", sorted(REGISTERED))
def test_registered_functions(name: str) -> None:
    f = scalar_function(name)
    assert f.breakpoints == BREAKPOINTS.get(name, ())
    assert name in PARITY[f.parity]


@pytest.mark.parametrize("text", sorted(COMPOSED))
def test_compositions(text: str) -> None:
    f = scalar_function(text)
    breakpoints, parity = COMPOSED[text]
    assert len(f.breakpoints) == len(breakpoints)
    for found, wanted in zip(f.breakpoints, breakpoints, strict=True):
        assert abs(sympy.N(found - wanted, 30)) < 1e-28
    assert f.parity == parity


@pytest.mark.parametrize("text", [*sorted(REGISTERED), *sorted(COMPOSED)])
def test_pieces_are_the_function(text: str) -> None:
    """The smooth expressions, each on its own interval, against the expression itself at points on both sides."""
    f = scalar_function(text)
    whole = mpmath_function(f.expr, (f.z,))
    points = [sympy.Rational(k, 7) + sympy.Rational(1, 100) for k in range(-25, 26, 3)]
    points += [b + e for b in f.breakpoints for e in (sympy.Rational(-1, 10**6), sympy.Rational(1, 10**6))]
    with mpmath.workdps(30):
        for point in points:
            inside = [e for low, high, e in f.pieces if low < point < high]
            assert len(inside) == 1
            x = sympy.N(point, 40)._to_mpmath(130)
            assert abs(mpmath_function(inside[0], (f.z,))(x) - whole(x)) <= mpmath.mpf(10) ** -27 * (1 + abs(whole(x)))
        assert f.pieces[0][0] == -sympy.oo and f.pieces[-1][1] == sympy.oo


def test_what_cannot_be_split_is_named() -> None:
    for text, argument in (
        ("sign(cos(z**2))", "cos(z**2)"),
        ("abs(exp(z-1)-z)", "exp(z - 1)"),
        ("sign(sin(90*z)+z/30)", "z/30 + sin(90*z)"),
    ):
        with pytest.raises(ExpressionError) as caught:
            scalar_function(text)
        assert argument in str(caught.value)
        assert "invertible function" in str(caught.value)


def test_periodic_kinks_are_those_that_averages_reach() -> None:
    """sign(sin(2z)) jumps at k pi/2; E z f = sum_k 2 (-1)^k phi(k pi/2)."""
    found = scalar_function("sign(sin(2*z))")
    assert found.breakpoints == tuple(sympy.pi * k / 2 for k in range(-25, 26))
    jumps = mpmath.fsum(2 * (-1) ** k * mpmath.npdf(k * mpmath.pi / 2) for k in range(-25, 26))
    density = [0.0, *(float(mpmath.npdf(k * mpmath.pi / 2)) for k in range(-25, 26)), 0.0]
    mean = sum(float(f) * (density[i] - density[i + 1]) for i, (_, _, f) in enumerate(found.pieces))
    assert abs(mean - jumps) < 1e-14
    assert len(scalar_function("sign(sin(9*z))").breakpoints) == 2 * math.floor(40 * 9 / math.pi) + 1
    with pytest.raises(ExpressionError, match="lower its frequency"):
        scalar_function("sign(sin(90*z))")


@pytest.mark.parametrize("text", ["sqrt(z)", "log(z)", "log(1-exp(z))", "abs(sqrt(z))"])
def test_complex_values_are_refused(text: str) -> None:
    with pytest.raises(ExpressionError, match="real"):
        scalar_function(text)


def test_jumps_of_the_derivatives() -> None:
    assert scalar_function("sign").jumps() == ((0, 2),)
    assert scalar_function("relu").jumps() == ()
    assert scalar_function("relu").jumps(1) == ((0, 1),)
    assert scalar_function("hard_tanh").jumps(1) == ((-1, 1), (1, -1))
    assert scalar_function("relu(z)**2").jumps(1) == ()
    assert scalar_function("tanh").jumps(3) == ()


def test_shift_moves_breakpoints_and_breaks_parity() -> None:
    f = scalar_function("hard_tanh").shifted(0.5)
    assert f.breakpoints == (-sympy.Rational(3, 2), sympy.S.Half)
    assert f.parity == "none"
    assert scalar_function("tanh").shifted(0) == scalar_function("tanh")


def test_values_where_two_polynomials_cross_at_irrational_roots() -> None:
    """SymPy cannot compare what vanishes there with zero; both sides of the kink have one value."""
    f = scalar_function("max(z**3, 3*z - 1)")
    roots = sorted(np.roots([1.0, 0.0, -3.0, 1.0]).real)
    found = [(float(place), float(value)) for place, value in zip(f.breakpoints, f.at_breakpoints(), strict=True)]
    np.testing.assert_allclose(found, [(root, root**3) for root in roots], rtol=1e-12)
    above = scalar_function("relu(z**3 - 3*z + 1)")
    assert max(abs(sympy.N(value, 30)) for value in above.at_breakpoints()) < 1e-28


@pytest.mark.parametrize("rising", [2 * sympy.tanh(Z) + Z / 2, -sympy.sinh(Z) - Z**3, sympy.exp(Z) + Z - 1])
def test_a_sum_of_what_rises_has_one_zero(rising: sympy.Expr) -> None:
    assert real_zeros(rising, Z) == [0]
