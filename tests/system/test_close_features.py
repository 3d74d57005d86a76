"""Mean features that nearly depend on each other: the span found, by closed forms at 120 digits."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from undetermined_cases import readout

from giantstep.law.gradient_step import arguments_of
from giantstep.quadrature.mesh import ORDERS
from giantstep.quadrature.panels import table
from giantstep.quadrature.tensor import tensor_table
from giantstep.spec.errors import NotConverged
from giantstep.spec.model import Model
from giantstep.system.averaged_terms import AveragedTerms
from giantstep.system.problem import Problem, problem_of
from giantstep.system.solve import solve
from giantstep.system.span import _span_at_infinity, span_of

MEANS = {  # mu0 at a shift s and a variance c
    "erf": lambda s, c: mpmath.erf(s / mpmath.sqrt(1 + 2 * c)),
    "sin": lambda s, c: mpmath.exp(-c / 2) * mpmath.sin(s),
    "z**3": lambda s, c: s**3 + 3 * s * c,
    "relu": lambda s, c: s * mpmath.ncdf(s / mpmath.sqrt(c)) + mpmath.sqrt(c) * mpmath.npdf(s / mpmath.sqrt(c)),
}
MANY = np.linspace(-1.0, 1.1, 13).tolist()
STEP = {"samples": 2.0, "learning_rate": 1.0}
CLOSE_FEATURES = {
    "weak": readout([1.0, -0.5, 0.7], spike__strength=1e-3),
    "weaker": readout([1.0, -0.5], spike__strength=1e-9),
    "nearly equal": readout([1.0, 1.0 + 1e-9]),
    "two pairs": readout([1.0, 1.0 + 1e-9, 0.3, 0.3 - 1e-11]),
    "nearly equal, a cube": readout([1.0, 1.0 + 1e-9], network__activation="z**3"),
    "nearly equal, with a bias": readout([1.0, 1.0 + 1e-6, 1.0 - 1e-5], network__bias=0.4),
    "after a step": readout([1.0, 1.0 + 1e-9], spike=None, step={"samples": 2.0, "learning_rate": 1.5}),
    "after a short step": readout([1.0, -0.5, 0.7], spike=None, step={"samples": 2.0, "learning_rate": 1e-4}),
    "a sine after a step": readout(
        [1.0, 1.0 + 1e-7, 1.0 + 3e-7],
        network__activation="sin",
        spike=None,
        step={"samples": 2.0, "learning_rate": 1.5},
    ),
    "three directions": readout(
        [1.0, -1.0, 1.0],
        spike={
            "strength": 1e-3,
            "loadings": [[1.0, 0.0], [0.3, 1.0], [0.0, -2.0]],
            "alignment": [0.6, 0.3],
            "bulk_variance": 1.2,
        },
    ),
}


@pytest.mark.parametrize("name", CLOSE_FEATURES)
def test_features_that_differ_by_next_to_nothing_span_what_they_do(name: str) -> None:
    """Orthonormal functions of the same span from closed forms of mu0 at 120 digits."""
    problem = problem_of(CLOSE_FEATURES[name])
    span = span_of(problem)
    assert span is not None and span.rank == len(problem.blocks)
    rows = features_of(problem)
    exact = orthonormal_at_many_digits(problem, rows)
    weighted = np.sqrt(rows[:, 1, None]) * span.columns(rows)[:, -3 * span.rank : -2 * span.rank]
    np.testing.assert_allclose(weighted.T @ weighted, np.eye(span.rank), rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(weighted @ (weighted.T @ exact), exact, rtol=0.0, atol=1e-11)


@pytest.mark.parametrize(
    "changes",
    [{"spike": None, "step": STEP}, {"network__activation": "relu", "spike__strength": 0.75}],
    ids=["smooth", "kinks"],
)
def test_features_of_many_values_span_what_they_do(changes: dict[str, Any]) -> None:
    """The least combination of 13 is 1e-13 of its features. Functions of the same span from closed forms of mu0 at 120
    digits, at other points than the nodes of the rule.
    """
    problem = problem_of(readout(MANY, **changes))
    span, rows = span_of(problem), features_of(problem)
    assert span is not None and span.rank == len(MANY)
    exact = orthonormal_at_many_digits(problem, rows)
    found = np.sqrt(rows[:, 1, None]) * span.columns(rows)[:, -3 * span.rank : -2 * span.rank]
    rest = exact - found @ np.linalg.lstsq(found, exact, rcond=None)[0]
    assert np.linalg.norm(rest, axis=0).max() < 1e-13


def test_features_of_many_values_are_told_apart_to_many_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The least combination of 13 is 1e-12 of its features. From doubles two orders of quadrature differ by their
    rounding, and ten times that is stated: 8e-11 to 1.3e-10, as the processor's linear algebra rounds. The rounding of
    both may be ten times their difference again. Many digits leave nothing of it.
    """
    given = readout(MANY, network__activation="gelu", target__link="sign", spike=None, step=STEP)
    found = solve(given)
    assert found.quadrature_error < 1e-14
    _span_at_infinity.cache_clear()
    monkeypatch.setattr("giantstep.system.exact_means.orthonormal_to_many_digits", lambda *given: None)
    with pytest.raises(NotConverged, match="beside those of the others"):
        solve(given, tolerance=1e-12)
    rounded = solve(given, tolerance=1e-4)
    _span_at_infinity.cache_clear()
    assert abs(rounded.test_error / found.test_error - 1.0) < 10.0 * rounded.quadrature_error
    assert rounded.quadrature_error > 1e-11


@pytest.mark.parametrize("apart", [1e-7, 1e-10])
def test_values_that_nearly_agree_are_told_apart_beside_equal_loadings(apart: float) -> None:
    """They are exact, and bulk variances follow from them: the test error is that of values further apart, up to their
    distance.
    """

    def error(far: float) -> float:
        rows = {"loadings": [[1.0, 0.3], [1.0, 0.3], [0.2, 1.0]], "alignment": [0.6, 0.7]}
        spike = {"strength": 1.3, "bulk_variance": 1.4, **rows}
        return solve(readout([0.7, 0.7 + far, 1.1], spike=spike, target__link="sign")).test_error

    assert error(apart) == pytest.approx(2.0 * error(1e-3) - error(2e-3), rel=1e-5)


def features_of(problem: Problem) -> np.ndarray:
    """The table of the coefficients of a problem."""
    if problem.loadings is not None:
        return tensor_table(AveragedTerms.of(problem).shape, (1.0, 1.0))
    assert problem.link is not None
    return table(problem.blocks, problem.link, ORDERS[-1])


def orthonormal_at_many_digits(problem: Problem, rows: np.ndarray) -> np.ndarray:
    """Functions [N, K], times the roots of the weights; loadings and variances from the readout values."""
    spike, network = problem.spike, problem.model.network
    with mpmath.workdps(120):
        columns = []
        for number, value in enumerate(network.readout.values):
            u, variance = mpmath.mpf(value), mpmath.mpf(1)
            if problem.model.spike is not None:
                variance += u**2 * (mpmath.mpf(problem.model.spike.bulk_variance) - 1)
            if problem.loadings is None:
                shifts = [mpmath.mpf(k) * u * mpmath.mpf(spike.strength) for k in rows[:, 0]]
            else:
                given = [mpmath.mpf(x) for x in problem.loadings[number]]
                shifts = [mpmath.mpf(a) * given[0] + mpmath.mpf(b) * given[1] for a, b in rows[:, [0, 5]]]
            if problem.model.step is not None:
                of = arguments_of(network, problem.model.step, problem.model.target)
                variance = 1 + mpmath.mpf(of.rate) ** 2 * u**2 * of.e2 * of.variance / of.samples  # E sigma'' = 0
            mean = MEANS[network.activation]
            weighted = zip(rows[:, 1], shifts, strict=True)
            columns.append([mpmath.sqrt(w) * mean(s + problem.bias, variance) for w, s in weighted])
        found: list[list[mpmath.mpf]] = []
        for column in columns:
            for other in (*found, *found):
                part = mpmath.fdot(other, column)
                column = [x - part * y for x, y in zip(column, other, strict=True)]
            norm = mpmath.sqrt(mpmath.fdot(column, column))
            found.append([x / norm for x in column])
        return np.array(found, dtype=float).T


def test_m_of_features_that_differ_by_next_to_nothing_make_the_mean_output_together() -> None:
    """The readout has kappa and its cube, so that the odd part of the mean output is that of the mean label."""
    spike = {"strength": 5e-6, "alignment": 0.9, "bulk_variance": 1.0}
    model = readout([1.2, 1.9], network__activation="sin", spike=spike, target__link="silu")
    kappa, m = np.array([0.3, 1.0, 2.5]), solve(model).order_parameters["m"]
    mean = math.exp(-0.5) * np.sin(5e-6 * np.outer(kappa, [1.2, 1.9])) @ m
    rounding = 1e-16 * np.abs(m).max() * kappa
    assert np.all(np.abs(mean - 0.45 * kappa) <= 1e-9 * kappa + rounding)


def test_constant_mean_features_keep_the_variances_of_their_values() -> None:
    """An even activation takes a step without a spike: E cos = e^(-c/2), here 2e-7 and 4e-67 of two values."""
    values = {"activation": "cos", "width": 0.5, "readout": {"values": [0.5, -1.4]}}
    step, fit = {"samples": 0.8, "learning_rate": 7.8}, {"samples": 1.0, "ridge": 0.1}
    model = Model.from_dict({"network": values, "target": {"link": "relu"}, "step": step, "fit": fit})
    problem = problem_of(model, None)
    means = np.exp(-0.5 * np.array([term.variance for term in problem.blocks]))
    assert means[1] < 1e-49 and 1e-9 < means[0] < 1e-6  # the second is below the digits that are taken first
    span = span_of(problem)
    assert span is not None and span.rank == 1
    np.testing.assert_allclose(np.abs(span.coordinates[0]), means, rtol=1e-12, atol=1e-32)
    assert abs(span.coordinates[0, 1]) < 1e-65  # rounding would be 1e-50
    m = np.asarray(solve(model).order_parameters["m"])
    assert (m * means).sum() == pytest.approx(1.0 / math.sqrt(2.0 * math.pi), rel=1e-8)  # E relu: constants count
