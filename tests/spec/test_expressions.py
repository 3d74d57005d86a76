"""Scalar functions in numpy: values against scipy and mpmath, derivatives against finite differences."""

import warnings
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from numpy.polynomial import hermite_e
from numpy.typing import NDArray
from scipy import stats

from derive.language.catalogue import REGISTERED
from derive.language.grammar import FUNCTIONS, ExpressionError
from giantstep.spec.expressions import numpy_function, numpy_values

Array = NDArray[np.float64]

REFERENCE: dict[str, Callable[[Array], Array]] = {
    "tanh": lambda z: 1.0 - 2.0 / (np.exp(2.0 * z) + 1.0),
    "erf": lambda z: 2.0 * stats.norm.cdf(np.sqrt(2.0) * z) - 1.0,
    "sign": lambda z: (z > 0).astype(float) - (z < 0),
    "step": lambda z: np.heaviside(z, 0.5),
    "relu": lambda z: np.where(z > 0, z, 0.0),
    "leaky_relu": lambda z: np.where(z > 0, z, 0.01 * z),
    "abs": lambda z: np.sqrt(z * z),
    "hard_tanh": lambda z: np.clip(z, -1.0, 1.0),
    "gelu": lambda z: z * stats.norm.cdf(z),
    "silu": lambda z: z / (1.0 + np.exp(-z)),
    "softplus": lambda z: np.log1p(np.exp(z)),
    "sin": lambda z: np.cos(z - np.pi / 2),
    "cos": lambda z: np.sin(z + np.pi / 2),
    "linear": lambda z: z,
    "quadratic": lambda z: z * z - 1.0,
    "cubic": lambda z: z * (z * z - 3.0),
}

# User expressions, so that every function of the grammar and every rule of differentiation occurs.
USER: dict[str, Callable[[mpmath.mpf], mpmath.mpf]] = {
    "exp(-z**2/2)*cos(3*z)": lambda z: mpmath.exp(-(z**2) / 2) * mpmath.cos(3 * z),
    "log(1+z**2)/(2+sin(z))": lambda z: mpmath.log(1 + z**2) / (2 + mpmath.sin(z)),
    "sqrt(1+z**2)-arctan(z)": lambda z: mpmath.sqrt(1 + z**2) - mpmath.atan(z),
    "sinh(z/2)-cosh(z/3)+tanh(z)": lambda z: mpmath.sinh(z / 2) - mpmath.cosh(z / 3) + mpmath.tanh(z),
    "erf(z)*erfc(z/2)+Phi(2*z)": lambda z: mpmath.erf(z) * mpmath.erfc(z / 2) + mpmath.ncdf(2 * z),
    "sigmoid(2*z)**3": lambda z: (1 + mpmath.exp(-2 * z)) ** -3,
    "softplus(-z)**1.5": lambda z: mpmath.log(1 + mpmath.exp(-z)) ** 1.5,
    "2**z-e**(-z)+pi*z": lambda z: 2**z - mpmath.exp(-z) + mpmath.pi * z,
    "He(5,z)-He(0,z)+He(1,z)": lambda z: z**5 - 10 * z**3 + 15 * z - 1 + z,
    "abs(z)**1.5*sign(z)": lambda z: abs(z) ** 1.5 * mpmath.sign(z),
    "relu(z)**2-step(z-1)": lambda z: (z**2 if z > 0 else mpmath.mpf(0)) - (1 if z > 1 else 0),
    "max(z,z**2)+min(z,1-z)+clip(z,-2,0.5)": lambda z: max(z, z**2) + min(z, 1 - z) + min(max(z, -2), 0.5),
    "z**0+(1+z**2)**-2": lambda z: 1 + (1 + z**2) ** -2,
    "7": lambda z: mpmath.mpf(7),
}

# No point within 0.01 of a kink or jump of any function above: those are at 0, +-1, 1/2 and -2.
POINTS = np.array([-5.3, -3.1, -2.2, -1.7, -0.9, -0.31, -0.04, 0.03, 0.2, 0.63, 0.97, 1.4, 2.6, 4.4])


def test_every_name_is_covered() -> None:
    assert set(REFERENCE) == set(REGISTERED)
    assert all(any(f"{name}(" in text for text in USER) for name in FUNCTIONS)


@pytest.mark.parametrize("name", REGISTERED)
def test_values_of_registered_functions(name: str) -> None:
    # Both sides are a few correctly rounded operations: 20 units in the last place, relative to the largest
    # intermediate (1, or the value itself).
    z = np.concatenate([POINTS, [0.0, 1.0, -1.0]])
    value, _ = numpy_function(name)(z)
    expected = REFERENCE[name](z)
    assert np.all(np.abs(value - expected) <= 20 * np.finfo(float).eps * np.maximum(1.0, np.abs(expected)))


@pytest.mark.parametrize("text", [*REGISTERED, *(entry.expression for entry in REGISTERED.values()), *USER])
def test_derivatives_against_central_differences(text: str) -> None:
    # Fourth-order stencil of step h = 1e-3: truncation h^4 |f^(5)|/30, with |f^(5)| < 3e3 on the points for
    # every function but |z|^1.5 (there it is 1.4 |z|^-3.5, up to 3e5), and rounding 1.5 eps F/h = 4e-13 F,
    # where F is the largest value nearby, times 10 for the rounding inside f.
    function = numpy_function(text)
    h = 1e-3
    values = {k: function(POINTS + k * h)[0] for k in (-2, -1, 1, 2)}
    difference = (8 * (values[1] - values[-1]) - (values[2] - values[-2])) / (12 * h)
    size = np.maximum(1.0, np.max(np.abs(list(values.values())), axis=0))
    fifth = 3e3 + np.where("1.5" in text, 3 * np.abs(POINTS) ** -3.5, 0.0)
    tolerance = h**4 * fifth / 30 + 4e-12 * size
    value, slope = function(POINTS)
    assert np.all(np.abs(slope - difference) <= tolerance)
    np.testing.assert_array_equal(numpy_values(text)(POINTS), value)


@pytest.mark.parametrize("text", USER)
def test_values_and_derivatives_against_mpmath(text: str) -> None:
    # Values and slopes are below 16 max(1, |z|^5) here, from at most 25 roundings of eps: 25 eps 16 < 1e-13.
    # The numerical derivative of mpmath adds h^2 = 1e-24.
    value, slope = numpy_function(text)(POINTS)
    with mpmath.workdps(40):
        exact = [USER[text](mpmath.mpf(float(z))) for z in POINTS]
        slopes = [mpmath.diff(USER[text], mpmath.mpf(float(z)), h=mpmath.mpf("1e-12")) for z in POINTS]
    scale = np.maximum(1.0, np.abs(POINTS) ** 5)
    assert np.all(np.abs(value - np.array(exact, dtype=float)) <= 1e-13 * scale)
    assert np.all(np.abs(slope - np.array(slopes, dtype=float)) <= 1e-13 * scale)


@pytest.mark.parametrize("name", [*REGISTERED, "sigmoid(z)", "erfc(z)", "Phi(z)", "arctan(z)", "1/(1+exp(-z))"])
def test_far_out_there_is_no_overflow_and_no_warning(name: str) -> None:
    z = np.array([50.0, 700.0, 800.0, 1e4, 1e100])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value, slope = numpy_function(name)(np.concatenate([z, -z]))
    assert np.all(np.isfinite(value)) and np.all(np.isfinite(slope))


def test_tails() -> None:
    """Where a naive formula cancels or overflows, the tails keep full relative accuracy."""
    z = np.array([-700.0, -40.0, -20.0, 20.0, 40.0])
    cases: dict[str, tuple[Callable[[mpmath.mpf], mpmath.mpf], Callable[[mpmath.mpf], mpmath.mpf]]] = {
        "softplus(z)": (lambda x: mpmath.log1p(mpmath.exp(x)), lambda x: 1 / (1 + mpmath.exp(-x))),
        "silu": (
            lambda x: x / (1 + mpmath.exp(-x)),
            lambda x: (1 + mpmath.exp(-x) + x * mpmath.exp(-x)) / (1 + mpmath.exp(-x)) ** 2,
        ),
        "sigmoid(z)": (
            lambda x: 1 / (1 + mpmath.exp(-x)),
            lambda x: 1 / (2 + mpmath.exp(x) + mpmath.exp(-x)),
        ),
        "tanh": (mpmath.tanh, lambda x: 1 / mpmath.cosh(x) ** 2),
    }
    for text, (exact, derivative) in cases.items():
        value, slope = numpy_function(text)(z)
        with mpmath.workdps(700):
            for i, point in enumerate(z):
                # exp of an argument rounded to a relative eps has the relative error |argument| eps.
                relative = (2 * abs(float(point)) + 8) * np.finfo(float).eps
                for got, true in (
                    (value[i], exact(mpmath.mpf(point))),
                    (slope[i], derivative(mpmath.mpf(point))),
                ):
                    assert abs(mpmath.mpf(float(got)) - true) <= relative * abs(true) + 5e-324, (text, point)


@pytest.mark.parametrize(
    ("text", "point", "left", "right"),
    [
        ("relu", 0.0, 0.0, 1.0),
        ("abs", 0.0, -1.0, 1.0),
        ("leaky_relu", 0.0, 0.01, 1.0),
        ("hard_tanh", 1.0, 0.0, 1.0),
        ("hard_tanh", -1.0, 0.0, 1.0),
        ("min(z,z**2)", 1.0, 1.0, 2.0),
        ("sqrt(z**2)", 0.0, -1.0, 1.0),
        ("sign", 0.0, 0.0, 0.0),
        ("step", 0.0, 0.0, 0.0),
        ("abs(z)**1.5", 0.0, 0.0, 0.0),
    ],
)
def test_slope_at_a_kink_lies_between_both_sides(text: str, point: float, left: float, right: float) -> None:
    _, slope = numpy_function(text)(np.array([point]))
    assert min(left, right) <= slope[0] <= max(left, right)


@pytest.mark.parametrize(
    ("root", "power"),
    [("sqrt(z**2)", "abs(z)"), ("(z**2)**0.6", "abs(z)**1.2"), ("sqrt(abs(z)**3)", "abs(z)**1.5")],
)
def test_the_root_of_a_power_next_to_zero(root: str, power: str) -> None:
    """The square of 1e-170 is zero: the slope of the root was infinite there, and the activation was refused."""
    z = np.array([-2.0, -1e-170, 1e-200, 0.7])
    for found, right in zip(numpy_function(root)(z), numpy_function(power)(z), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-15)


def test_outside_the_real_domain_value_and_slope_are_nan() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for text in ("log(z)", "sqrt(z)", "z**0.5", "max(log(z),0)"):
            value, slope = numpy_function(text)(np.array([-1.0, 4.0]))
            assert np.isnan(value[0]) and np.isnan(slope[0])
            assert np.isfinite(value[1]) and np.isfinite(slope[1])


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0,)])
@pytest.mark.parametrize("text", ["tanh", "2+pi", "max(z,1)", "relu"])
def test_shapes(text: str, shape: tuple[int, ...]) -> None:
    z = np.full(shape, 0.5)
    value, slope = numpy_function(text)(z)
    assert value.shape == slope.shape == shape
    assert value.dtype == slope.dtype == np.float64
    value[...] = 9.0
    assert np.all(z == 0.5)


def test_integers_and_lists_are_points() -> None:
    value, slope = numpy_function("cubic")([0, 1, 2])
    assert value.tolist() == [0.0, -2.0, 2.0]
    assert slope.tolist() == [-3.0, 0.0, 9.0]


def test_hermite_functions_are_the_probabilists() -> None:
    z = np.linspace(-3.0, 3.0, 7)
    for degree in range(21):
        value, slope = numpy_function(f"He({degree},z)")(z)
        basis = np.array([0.0] * degree + [1.0])
        for got, series in ((value, basis), (slope, hermite_e.hermeder(basis))):
            # Rounding of a recurrence is a few eps of the sum of the absolute terms of the polynomial.
            terms = np.polynomial.polynomial.polyval(np.abs(z), np.abs(hermite_e.herme2poly(series)))
            assert np.all(np.abs(got - hermite_e.hermeval(z, series)) <= 40 * np.finfo(float).eps * terms)


@pytest.mark.parametrize("text", ["tahn", "z.real", "__import__('os')", "log(-1)"])
def test_bad_text_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        numpy_function(text)
