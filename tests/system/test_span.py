"""Orthonormal coordinates of the mean features: what they are, and that answers are limits of those at a dimension."""

from __future__ import annotations

import numpy as np
import pytest
from undetermined_cases import cases, gaussian_values, model

from giantstep.observe.gradient.gradient import gradient
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.model import Model
from giantstep.system.problem import problem_of
from giantstep.system.solve import solve
from giantstep.system.span import orthonormal, span_of

CASES = cases()
EPS = float(np.finfo(float).eps)


def features(seed: int, close: float) -> np.ndarray:
    """Four columns: two free ones, their sum to rounding, and one that is the first up to ``close``."""
    a, b, c = np.random.default_rng(seed).standard_normal((3, 50)) / np.sqrt(50.0)
    return np.stack([a, b, a + b, a + close * c], axis=1)


@pytest.mark.parametrize("close", [0.3, 1e-3, 1e-6])
def test_functions_are_orthonormal_and_span_the_features(close: float) -> None:
    """Rounding of the features, a few EPS, is divided by the smallest of what they have beside each other."""
    columns = features(1, close)
    span = orthonormal(columns, np.linalg.norm(columns, axis=0))
    e = span.functions(columns)
    assert span.rank == 3
    assert not e[:, 3].any()
    np.testing.assert_allclose(e[:, :3].T @ e[:, :3], np.eye(3), rtol=0.0, atol=30.0 * EPS / close)
    np.testing.assert_allclose(e @ span.coordinates, columns, rtol=0.0, atol=30.0 * EPS / close)
    np.testing.assert_allclose(columns @ span.null, 0.0, rtol=0.0, atol=30.0 * EPS)


def test_of_all_coefficients_the_least_are_reported() -> None:
    """Against the pseudo-inverse of the features times the root of the weights."""
    columns, response = features(2, 0.3), np.array([0.5, 2.0, 1.0, 0.1])
    span = orthonormal(columns, np.linalg.norm(columns, axis=0))
    c = np.array([0.7, -1.2, 0.4, 0.0])
    goal = span.functions(columns) @ c
    expected = np.sqrt(response) * (np.linalg.pinv(columns * np.sqrt(response), rcond=1e-10) @ goal)
    found = span.outward(c, response)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(span.inward(found), c, rtol=0.0, atol=1e-13)


def test_a_feature_that_is_rounding_has_no_coordinate() -> None:
    """Rounding is relative to the features it is an average of, not to itself."""
    columns = features(3, 0.3)[:, :2] * [1.0, 1e-16]
    span = orthonormal(columns, np.ones(2))
    assert span.rank == 1
    assert abs(span.outward(np.array([2.0, 0.0]), np.ones(2))[1]) < EPS


def test_where_m_is_determined_nothing_is_changed() -> None:
    assert span_of(problem_of(CASES["close"], 1000)) is None
    assert span_of(problem_of(model("tanh", (1.0,)))) is None
    assert span_of(problem_of(CASES["vanishing"])) is not None


@pytest.mark.parametrize("name", ["dependent", "linear", "cubic", "logistic, dependent", "huber, linear"])
def test_answers_are_limits_of_those_at_a_dimension(name: str) -> None:
    """There m is determined, and no coordinates are used; what the dimension changes is of order 1/d."""
    limit = solve(CASES[name])
    near, far = (solve(CASES[name], dimension=dimension) for dimension in (10**4, 10**5))
    for family in ("m", "zeta", "Q2"):
        values = [result.order_parameters[family] for result in (limit, near, far)]
        size = np.abs(values[0]).max() + np.sqrt(limit.order_parameters["Q2"].max())
        # extrapolated in 1/d: what is left is of order 1/d^2, with room for its coefficient
        np.testing.assert_allclose((10.0 * values[2] - values[1]) / 9.0, values[0], rtol=0.0, atol=1e-5 * size)
    assert (10.0 * far.test_error - near.test_error) / 9.0 == pytest.approx(limit.test_error, rel=1e-5)


def test_a_continuum_of_readout_values() -> None:
    """Gauss nodes of a Gaussian density: geometric convergence to .4920739  [THEORY section 12]."""
    found = [solve(gaussian_values(count)).test_error for count in (10, 13, 16)]
    gaps = np.abs(np.array(found) - 0.4920739)
    assert gaps[0] < 5e-6
    assert gaps[1] < 1e-6
    assert gaps[2] < 3e-7


def test_where_dependent_features_come_apart_there_is_no_derivative() -> None:
    """A spike of no strength: mu0 vanishes there and, for any other strength, is a direction more."""
    still = model("tanh", (1.0,), spike__strength=0.0)
    with pytest.raises(BadInput, match="jump"):
        gradient(still, "spike.strength")
    assert np.isfinite(gradient(still, "fit.ridge").test_error["fit.ridge"])


def test_equal_features_are_told_apart_by_next_to_nothing() -> None:
    """At infinite dimension values 1 and 1 + 1e-6 give the mean a second direction, the derivative in the strength."""
    close: Model = CASES["close"]
    wider = close.replace({"network.readout.values": [1.0, 1.001]})
    single = close.replace({"network.readout.values": [1.0, 1.0]})
    found, other, one = (solve(case).test_error for case in (close, wider, single))
    assert found == pytest.approx(other, rel=1e-3)
    assert abs(found - one) > 3.0 * abs(found - other)


@pytest.mark.parametrize(("values", "strength"), [([1.0, -0.5], 1e-4), ([1.0, -0.5], 1e-6), ([1.0, 1.0 + 1e-13], 1.5)])
def test_features_that_rounding_hides_are_not_left_out(values: list[float], strength: float) -> None:
    """tanh of a weak spike: the cubes of the values tell the blocks apart, and at infinite dimension that counts.

    At strength 1e-4 the answer without them was .501874526, with them it is .3553323.
    """
    weak = Model.from_dict(
        {
            "network": {"activation": "tanh", "width": 20.0, "readout": {"values": values, "fractions": [0.5, 0.5]}},
            "spike": {"strength": strength, "alignment": 1.0, "bulk_variance": 1.0},
            "target": {"link": "sign"},
            "fit": {"samples": 50.0, "ridge": 0.01},
        }
    )
    with pytest.raises(NotConverged, match="differ by less than rounding"):
        solve(weak)
    assert solve(weak, dimension=1000).test_error < 1.0
    dependent = weak.replace({"network.activation": "quadratic"})
    if values[1] < 0.0:  # one function of kappa whatever the strength
        assert solve(dependent).test_error > 0.0
