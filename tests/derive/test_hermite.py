"""Hermite coefficients: two derivations against each other, known series, Parseval."""

import mpmath
import pytest
import sympy

from derive.hermite_coefficients import coefficient, coefficient_by_derivatives, expand, hermite_polynomial
from derive.language.catalogue import REGISTERED
from derive.scalar import scalar_function

X = sympy.Symbol("x")


def test_polynomials() -> None:
    """Against SymPy's own (probabilists') Hermite polynomials."""
    for k in range(12):
        assert sympy.expand(hermite_polynomial(k, X) - sympy.hermite_prob(k, X)) == 0


@pytest.mark.parametrize("name", [*sorted(REGISTERED), "abs(abs(z)-1)", "sign(z-1)*z", "relu(z)**2"])
def test_projection_equals_distributional_derivative(name: str) -> None:
    """c_k = E[f He_k]/k! = E[f^(k)]/k! to 25 digits, jumps and kinks included."""
    f = scalar_function(name)
    for k in range(5):
        # apart: SymPy would raise the precision again and again to see a difference that is zero
        first, second = (sympy.N(c, 30, maxn=60) for c in (coefficient(f, k), coefficient_by_derivatives(f, k)))
        assert abs(first - second) < 1e-25


def test_known_series() -> None:
    """sign: c_k = sqrt(2/pi) (-1)^((k-1)/2) (k-2)!!/k! for odd k; exp(z/2): c_k = e^(1/8)/(2^k k!)."""
    sign = scalar_function("sign")
    for k in (1, 3, 5, 7, 9):
        exact = sympy.sqrt(2 / sympy.pi) * (-1) ** ((k - 1) // 2) * sympy.factorial2(max(k - 2, 0))
        assert sympy.simplify(coefficient(sign, k) - exact / sympy.factorial(k)) == 0
        assert coefficient(sign, k - 1) == 0
    exponential = scalar_function("exp(z/2)")
    for k in range(6):
        exact = sympy.exp(sympy.Rational(1, 8)) / (2**k * sympy.factorial(k))
        assert sympy.simplify(coefficient(exponential, k) - exact) == 0


@pytest.mark.parametrize("name", ["sign", "relu", "tanh", "cubic", "hard_tanh"])
def test_parseval(name: str) -> None:
    """Partial sums increase and stay below E f^2; what is left is what `remainder` says."""
    series = expand(scalar_function(name), 9, dps=20)
    assert all(a <= b for a, b in zip(series.partial_sums, series.partial_sums[1:], strict=False))
    assert series.partial_sums[-1] <= series.norm * (1 + mpmath.mpf(10) ** -16)
    assert abs(series.norm - series.partial_sums[-1] - series.remainder) <= series.norm * mpmath.mpf(10) ** -16
    if name == "cubic":
        assert series.remainder == 0
    elif name == "sign":
        assert 0.1 < series.remainder < 0.2  # decays like k^(-1/2): honest, not small
    else:
        assert 0 < series.remainder < 0.01 * series.norm


@pytest.mark.parametrize(("name", "exponent"), [("relu", 1), ("abs", 2), ("quadratic", 2), ("cubic", 3), ("cos", 2)])
def test_information_exponent(name: str, exponent: int) -> None:
    assert expand(scalar_function(name), 4).information_exponent == exponent


def test_no_exponent_where_no_coefficient_is_found() -> None:
    assert expand(scalar_function("He(4,z)"), 3).information_exponent is None
