"""Losses whose output stands for a mean label: their test error by closed forms, metrics, networks and differences."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import integrate, stats

import giantstep as gs
from giantstep.law.kinds_of_labels import Points
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.prediction import Prediction, prediction
from giantstep.system.causes import prediction_hint
from giantstep.system.mean_predicted import mean_error, mean_error_slopes, share_at_ends
from giantstep.system.problem import Solution, problem_of
from giantstep.system.sign_panels import Output
from giantstep.system.solve import solve

BINOMIAL = {"name": "binomial", "trials": 3}
MEANS = {"exp(f)": mpmath.exp, "trials*sigmoid(f)": lambda f: 3 / (1 + mpmath.exp(-f))}


def model(loss: Any, channel: Any, link: str = "tanh(2*z)", **more: Any) -> gs.Model:
    data = {
        "network": {"activation": "erf", "width": 1.2},
        "spike": {"strength": 1.4, "alignment": 0.7, "bulk_variance": 1.2},
        "target": {"link": link, "channel": channel},
        "fit": {"samples": 1.7, "ridge": 0.1, "loss": loss},
    }
    return gs.Model.from_dict({**data, **more})


def of(expression: str) -> Prediction:
    return prediction(expression, (("trials", 3.0),) if "trials" in expression else ())


def given(variance: float) -> tuple[Output, Points]:
    """One kappa with two nodes of t."""
    clean = Points(np.array([[0.3, 0.7]]), np.array([[0.4, 1.9]]), np.array([[[-0.8], [1.1]]]), np.zeros((1, 1)))
    output = Output(np.zeros(1), np.array([0.2]), np.array([[0.6]]), np.array([variance]), clean)
    return output, clean


def by_definition(expression: str, mean: Any, slope: Any, variance: Any) -> Any:
    """The same error, of outputs with numbers of mpmath."""
    total, at = mpmath.mpf(0), MEANS[expression]
    for share, label, t in ((0.3, 0.4, -0.8), (0.7, 1.9, 1.1)):
        centre, root, y = mean + slope * mpmath.mpf(t), mpmath.sqrt(variance), mpmath.mpf(label)

        def density(x: Any, centre: Any = centre, root: Any = root, y: Any = y) -> Any:
            return mpmath.npdf(x) * (at(centre + root * x) - y) ** 2

        top = 2 * root  # where an exponential has its weight
        total += mpmath.mpf(share) * mpmath.quad(density, [*(top + k for k in range(-40, 41, 4))])
    return total


@pytest.mark.parametrize("variance", [1e-6, 0.3, 4.0, 30.0])
@pytest.mark.parametrize("expression", list(MEANS))
def test_the_error_and_its_slopes_are_those_of_the_definition(expression: str, variance: float) -> None:
    """Sums that have settled to 1e-7 are right to the square of it, slopes lose the root of a small variance."""
    output, clean = given(variance)
    exact = by_definition(expression, mpmath.mpf("0.2"), mpmath.mpf("0.6"), mpmath.mpf(variance))
    found = mean_error(of(expression), output, clean, np.ones(1))
    assert found[0] == pytest.approx(float(exact), rel=2e-14)
    slopes = mean_error_slopes(of(expression), output, clean, np.ones(1))
    with mpmath.workdps(40):
        for place, slope in enumerate(slopes):
            at = [mpmath.mpf("0.2"), mpmath.mpf("0.6"), mpmath.mpf(variance)]
            step = [1, 1, at[2]][place] * mpmath.mpf(10) ** -12

            def moved(by: Any, place: int = place, at: list[Any] = at) -> Any:
                return by_definition(expression, *(value + by * (k == place) for k, value in enumerate(at)))

            wanted = float((moved(step) - moved(-step)) / (2 * step))
            rounding = 1e-14 * float(exact) / math.sqrt(variance)
            assert float(np.ravel(slope)[0]) == pytest.approx(wanted, rel=1e-11, abs=rounding)


def test_one_trial_is_the_logistic_loss() -> None:
    """Labels 0 and 1 in the place of -1 and 1; only what the test error is differs."""
    counts = solve(model("binomial", {"name": "binomial", "trials": 1}))
    signs = solve(model("logistic", "logit"))
    assert counts.train_error == pytest.approx(signs.train_error, rel=1e-11)
    for name, values in signs.order_parameters.items():
        np.testing.assert_allclose(counts.order_parameters[name], values, rtol=1e-10, atol=1e-12)


def variance_of_label(link: Any, variance: Any) -> float:
    """E Var(y | z) by adaptive quadrature."""
    found, _ = integrate.quad(
        lambda z: variance(link(z)) * stats.norm.pdf(z), -12, 12, points=[0.0], epsabs=1e-13, epsrel=1e-13, limit=400
    )
    return float(found)


METRICS = [
    ("poisson", "poisson", "tanh(2*z)", "(y-exp(f))**2", lambda z: math.tanh(2 * z), math.exp),
    (
        {"name": "binomial", "trials": 3.0},
        BINOMIAL,
        "sign",
        "(y-3*sigmoid(f))**2",
        lambda z: math.copysign(1.0, z),
        lambda s: 3 / (2 + 2 * math.cosh(s)),
    ),
]


@pytest.mark.parametrize(("loss", "channel", "link", "metric", "value", "variance"), METRICS, ids=["poisson", "steps"])
def test_the_test_error_is_a_metric_without_the_variance_of_the_label(
    loss: Any, channel: Any, link: str, metric: str, value: Any, variance: Any
) -> None:
    """E (y - m(f))^2 of drawn labels, by another quadrature: both are promised to 1e-10."""
    asked = model(loss, channel, link)
    seen = gs.metrics(asked, {"square": metric})
    noise = variance_of_label(value, variance)
    assert seen.result.test_error == pytest.approx(seen.values["square"] - noise, rel=1e-10)
    assert noise > 0.1


def without(asked: gs.Model, table: str, **more: Any) -> gs.Model:
    """The same model with another table in the place of one."""
    return gs.Model.from_dict({**{key: value for key, value in asked.to_dict().items() if key != table}, **more})


@pytest.mark.usefixtures("in_letters")
def test_several_indices_and_a_trained_bulk_agree_with_a_metric() -> None:
    loss, channel = {"name": "binomial", "trials": 2.0}, {"name": "binomial", "trials": 2}
    spike = {"strength": 1.4, "alignment": [0.6, 0.3], "bulk_variance": 1.2}
    step = {"samples": 4.0, "learning_rate": 1.5, "bulk": "trained"}
    length = math.hypot(1.0, 0.5)
    for asked, link in (
        (model(loss, channel, "z1+z2/2", spike=spike), lambda z: length * z),
        (without(model(loss, channel), "spike", step=step), lambda z: math.tanh(2 * z)),
    ):
        seen = gs.metrics(asked, {"square": "(y-2*sigmoid(f))**2"})
        noise = variance_of_label(link, lambda s: 1 / (1 + math.cosh(s)))
        assert seen.result.test_error == pytest.approx(seen.values["square"] - noise, rel=3e-10)


@pytest.mark.parametrize("channel", ["poisson", BINOMIAL], ids=["poisson", "binomial"])
@pytest.mark.parametrize("dimension", [150, 300])
def test_networks_agree(channel: Any, dimension: int) -> None:
    """Sixteen systems with a step: theory within four standard errors."""
    loss = "poisson" if channel == "poisson" else {"name": "binomial", "trials": 3.0}
    asked = without(model(loss, channel), "spike", step={"samples": 3.0, "learning_rate": 1.0})
    theory = solve(asked, dimension=dimension)
    for what in ("network", "gaussian"):
        seen = gs.simulate(asked, dimension=dimension, seeds=16, seed=3, what=what)
        for value, measured in ((theory.test_error, seen.test_error), (theory.train_error, seen.train_error)):
            sample = np.asarray(measured).ravel()
            assert abs(sample.mean() - value) < 4.0 * sample.std(ddof=1) / math.sqrt(len(sample)), what


@pytest.mark.parametrize("channel", ["poisson", BINOMIAL], ids=["poisson", "binomial"])
def test_the_gradient_is_that_of_differences(channel: Any) -> None:
    """Differences of fourth order: the fourth power of their step, and 1e-10 over it."""
    loss = "poisson" if channel == "poisson" else {"name": "binomial", "trials": 3.0}
    asked, step = model(loss, channel, "z/2"), 3e-3
    found = gs.gradient(asked, ("fit.ridge", "spike.strength"))
    for key, slope in found.test_error.items():
        table, _, name = key.partition(".")
        value = getattr(getattr(asked, table), name)
        at = [solve(asked.replace({key: value * (1 + k * step)})).test_error for k in (-2, -1, 1, 2)]
        difference = (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * step * value)
        assert slope == pytest.approx(difference, rel=1e-6), key


def test_the_derivation_states_the_mean_label() -> None:
    text = gs.derive(model({"name": "binomial", "trials": 3.0}, BINOMIAL)).latex()
    assert r"\hat{y} &= \frac{N}{1 + e^{- \omega}}" in text
    assert text.count(r"\varepsilon_{\mathrm{test}} &=") == 1


def test_what_is_no_average_over_pairs_is_refused() -> None:
    for verb in (gs.bounds, gs.decompose):
        with pytest.raises(BadInput, match="stands for the mean label"):
            verb(model("poisson", "poisson"))


def test_errors_too_large_for_a_number_are_infinite_without_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    output, clean = given(1e5)
    assert math.isinf(mean_error(of("exp(f)"), output, clean, np.ones(1))[0])
    assert not recwarn


def test_a_test_error_that_large_predictions_make_is_told_as_the_cause() -> None:
    """Of counts with features that have a mean exp(f) is 1e4 at rare inputs; it said that no cause was found."""
    heavy = problem_of(model("poisson", "poisson", "1+tanh(z)", network={"activation": "relu", "width": 0.5}), None)
    found = Solution(4757.5, 1.0, 1.0, {}, 0.0, 1, 1e-9, 100, 10.0)
    hint = prediction_hint(heavy, found)
    assert "5e+02 times E y^2" in hint and "exp(f)" in hint and "raise fit.ridge" in hint
    assert not prediction_hint(heavy, found._replace(test_error=5.0))
    square = problem_of(model("square", "poisson"), None)
    assert not prediction_hint(square, found)


@pytest.mark.parametrize(("activation", "strength"), [("He(2,z)", 0.5), ("He(2,z)", 1.5), ("gelu(z) + z**2/4", 1.0)])
def test_a_mean_label_that_kappa_beyond_all_nodes_decides(activation: str, strength: float) -> None:
    """Both resolutions ended at the same kappa: the first was told to 15 digits, the second ran for minutes."""
    given = {
        "network": {"activation": activation, "width": 0.8},
        "spike": {"strength": strength, "alignment": 0.8, "bulk_variance": 1.2},
    }
    with pytest.raises(NotConverged, match="kappa beyond 11 standard deviations, and may be infinite"):
        solve(model("poisson", "poisson", "tanh(z)", **given))


def test_what_the_last_nodes_of_a_folded_kappa_add() -> None:
    """Those of what is even begin at zero, which is no end."""
    kappa = np.array([0.1, 2.0, 7.0, 9.0])
    assert share_at_ends(kappa, np.array([1.0, 0.5, 0.25, 0.25])) == pytest.approx(0.125)
    assert share_at_ends(np.stack([kappa, -kappa], axis=1), np.ones(4)) == pytest.approx(0.5)
