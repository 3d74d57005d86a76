"""Mean features of polynomials: those of He_n are one function of kappa for all readout values, times their power."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss, hermeval

from giantstep.spec.expressions import numpy_function
from giantstep.spec.model import Model
from giantstep.system.polynomial_averages import degree_of, polynomial_averages
from giantstep.system.problem import problem_of
from giantstep.system.solve import solve
from giantstep.system.span import span_of


def model(activation: str, values: tuple[float, ...], strength: float, loss: str = "square") -> Model:
    """Readout values of equal fractions, a spike whose bulk has a norm of its own."""
    share = 1.0 / len(values)
    return Model.from_dict(
        {
            "network": {
                "activation": activation,
                "width": 0.5,
                "readout": {"values": list(values), "fractions": [share] * len(values)},
            },
            "spike": {"strength": strength, "alignment": 0.6, "bulk_variance": 1.5},
            "target": {"link": "z*z + z", "noise": 0.1},
            "fit": {"samples": 2.0, "ridge": 0.1, "loss": loss},
        }
    )


@pytest.mark.parametrize("activation", ["quadratic", "cubic", "He(4, z)"])
@pytest.mark.parametrize("strength", [1e-3, 1.6, 7.0])
@pytest.mark.parametrize("apart", [1e-9, 1e-5, 0.01, 0.8])
def test_hermite_polynomials_have_one_mean_feature(activation: str, strength: float, apart: float) -> None:
    """E exp(t x - t^2/2) = exp(t u r kappa + t^2 u^2 (v - 1)/2) at a variance 1 + u^2 (v - 1): a function of t u."""
    span = span_of(problem_of(model(activation, (0.37, 0.37 + apart), strength)))
    assert span is not None
    assert span.rank == 1


@pytest.mark.parametrize(("activation", "rank"), [("z**3", 2), ("(z - 0.1)*(z**2 + 1)/3", 4), ("cubic(z) + z", 2)])
def test_other_polynomials_have_as_many_as_they_have_powers(activation: str, rank: int) -> None:
    span = span_of(problem_of(model(activation, (1.0, 1.0 + 1e-6, 0.3, 0.3 - 1e-7, 0.7), 1.6)))
    assert span is not None
    assert span.rank == rank


@pytest.mark.parametrize("loss", ["square", "huber"])
def test_nearly_equal_values_of_a_hermite_polynomial_have_the_answer_of_equal_ones(loss: str) -> None:
    """The answer is smooth in the values: what a difference changes is proportional to it, its square left out."""
    one, near, far = (
        solve(model("quadratic", (0.37, 0.37 + apart), 1.6, loss)).test_error for apart in (0, 1e-4, 2e-4)
    )
    assert (far - one) / (near - one) == pytest.approx(2.0, rel=1e-3)
    assert abs(near - one) < 1e-3 * one


@pytest.mark.parametrize("function", ["cubic", "z**5 - He(2, z/3)*(2*z - 1)", "-(z + 1)**2/4", "pi*z - 1/3"])
def test_averages_are_those_of_the_definition(function: str) -> None:
    """E f(b + sqrt(c) g) He_k(g) / c^(k/2), by a Gauss rule that is exact up to degree 79."""
    g, weight = hermegauss(40)
    values = numpy_function(function)(-0.3 + math.sqrt(1.7) * g)[0] * weight / math.sqrt(2.0 * math.pi)
    exact = [values @ hermeval(g, np.eye(7)[k]) / 1.7 ** (k / 2) for k in range(7)]
    found = [float(x) for x in polynomial_averages(function, mpmath.mpf(1.7), mpmath.mpf(-0.3), 6)]
    np.testing.assert_allclose(found, exact, rtol=0.0, atol=1e-12 * max(np.abs(exact)))


# bulk variances are of the second degree in the readout value: c - 1 is no feature beside the value and its square
DEPENDENT = [
    ("z+He(2,z)/3", [1.0, 0.2, -0.7], "exp(-abs(z))", {"samples": 12.077, "learning_rate": 0.391}),
    ("He(4,z)/24+z", [0.42, -1.44, 1.05], "relu(z)", {"samples": 1.85, "learning_rate": 0.118}),
    ("z+He(2,z)/3", [0.29, -0.59, 0.9, 0.6], "relu(z)", {"samples": 3.17, "learning_rate": 0.162}),
]


def after_a_step(activation: str, values: list[float], link: str, step: dict[str, float]) -> Model:
    share = 1.0 / len(values)
    return Model.from_dict(
        {
            "network": {
                "activation": activation,
                "width": 2.0,
                "readout": {"values": values, "fractions": [share] * len(values)},
            },
            "target": {"link": link},
            "fit": {"samples": 2.5, "ridge": 0.05},
            "step": step,
        }
    )


@pytest.mark.parametrize(("activation", "values", "link", "step"), DEPENDENT)
def test_means_that_depend_on_each_other_by_rounded_variances(
    activation: str, values: list[float], link: str, step: dict[str, float]
) -> None:
    """Rounding of the variances was taken for one more function: test errors were wrong by up to 70 %, m 1e15 to 1e19.

    Of inputs, and after a step that moves nothing, the answers are those of one step; of unequal eigenvalues the limit
    of large dimensions.
    """
    one = after_a_step(activation, values, link, step)
    expected = solve(one).test_error
    for changes in ({"inputs": {"eigenvalues": [3.0, 3.0, 3.0]}}, {"step": [step, {**step, "learning_rate": 0.0}]}):
        assert solve(one.replace(changes)).test_error == pytest.approx(expected, rel=1e-9)
    unequal = one.replace(inputs={"eigenvalues": [1.2, 1.8], "target": [0.99, 1.0]})
    away = [solve(unequal, dimension=d).test_error - solve(unequal).test_error for d in (10**12, 10**13)]
    assert abs(away[0]) < 1e-3 and away[1] == pytest.approx(away[0] / 10.0, rel=0.05)


def test_nearly_equal_values_in_inputs_are_told_apart() -> None:
    """By variances known to as many digits as the values are; they were refused."""
    values, step = [1.0, 1.0 + 1e-9, -0.5], {"samples": 3.0, "learning_rate": 1.0}
    isotropic = after_a_step("tanh", values, "z + He(2,z)/3", step)
    inputs = isotropic.replace(inputs={"eigenvalues": [1.0, 1.0]})
    assert solve(inputs).test_error == pytest.approx(solve(isotropic).test_error, rel=1e-9)


def test_degrees() -> None:
    found = {name: degree_of(name) for name in ("cubic", "(z**2 + 1)*He(3, z)", "tanh(z)", "1/(1 + z**2)", "abs(z)")}
    assert list(found.values()) == [3, 5, None, None, None]
