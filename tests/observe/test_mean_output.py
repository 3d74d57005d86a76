"""How the mean output varies between data sets: to first order, far beyond it, and where that is told."""

from __future__ import annotations

import numpy as np
import pytest

import giantstep as gs
from giantstep.observe.deviation import source
from giantstep.observe.deviation.mean_output import over_tilts
from giantstep.observe.deviation.readouts import Readouts
from giantstep.observe.deviation.samples import of_samples
from giantstep.system.two_fits import Fit

SATURATED = gs.Model.from_dict(  # outputs on labels +-1 lie where the loss is linear, but for a few about kappa = 0
    {
        "network": {"activation": "tanh", "width": 1.0},
        "spike": {"strength": 12.0, "alignment": [0.6, 0.5], "bulk_variance": 1.2},
        "target": {"link": "sign(z1*z2)"},
        "fit": {"samples": 2.0, "ridge": 0.05, "loss": {"name": "huber", "delta": 0.5}},
    }
)


@pytest.mark.parametrize("changes", [{}, {"fit.loss": {"name": "huber", "delta": 2.0}}])
def test_the_first_order_is_that_of_a_source(changes: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean output along mu0 as a source, everything else following it, which moves the curvature by a share of the
    responses that go with it: less than a hundredth here.
    """
    result = gs.solve(SATURATED.replace(changes))
    system = Fit(result).system
    weight, mu0 = system.table[:, 1], system.table[:, -3]
    along, nothing = mu0 / np.sqrt(weight @ mu0**2), np.zeros_like(weight)
    monkeypatch.setattr(source, "error_slopes", lambda _: (along, np.zeros((len(system.slopes), len(weight))), nothing))
    moved = source.moved_by_source(system)
    exact = of_samples(system, moved) + Readouts(system, moved).of_one_fit()
    assert result.mean_output_variance == pytest.approx(exact, rel=1e-2)


def test_large_dimensions_are_left_to_the_first_orders() -> None:
    """A normal mean output of variance s = C/d adds s to a squared error, and 2 s^2 to its variance; what bends beside
    the parabola is smaller by s over the square of where the loss does, 0.25.
    """
    dimension = 10**6
    found = gs.deviation(SATURATED, dimension=dimension)
    assert found.mean is not None and found.result.mean_output_variance is not None
    added = found.result.mean_output_variance / dimension
    assert found.mean - found.result.test_error == pytest.approx(added, rel=4.0 * added / 0.25 + 1e-2)
    assert found.beyond == pytest.approx(2.0 * added**2, rel=8.0 * added / 0.25 + 2e-2)


def test_saturated_features_are_far_from_the_limit_and_that_is_told() -> None:
    """Spiked random features, 120 draws at d = 400: 1.2242(83), which deviate by 0.0906(59)."""
    found = gs.deviation(SATURATED, dimension=400)
    assert found.mean == pytest.approx(1.2242, abs=3.0 * 0.0083)
    assert found.test_error == pytest.approx(0.0906, abs=3.0 * 0.0059)
    assert f"of fits at d = 400 {found.mean:.6g}" in repr(found)
    assert found.to_dict()["mean_test_error"] == found.mean
    limit = gs.solve(SATURATED)
    assert limit.settled_dimension == pytest.approx(100.0 * limit.to_dict()["mean_output_variance"] / limit.test_error)
    assert limit.heading == "Result for d above 4e+04" and found.result.heading.endswith("differ below d = 4e+04")


def test_outputs_that_are_held_settle_early() -> None:
    """By a loss that bends everywhere: E g^2 over the square of E h is about the error, and there are two samples."""
    result = gs.solve(SATURATED.replace({"fit.loss": {"name": "huber", "delta": 2.0}}), dimension=400)
    assert result.mean_output_variance == pytest.approx(result.test_error / 2.0, rel=0.1)
    assert not result.is_unsettled and result.heading == "Result; the correction at d = 400 vanishes"
    found = gs.deviation(result.model, dimension=400)
    assert found.mean is not None and result.mean_output_variance is not None
    assert found.mean - result.test_error == pytest.approx(result.mean_output_variance / 400.0, rel=0.05)


def test_a_correction_that_vanishes_is_told() -> None:
    """Odd features without a spike have no mean, which the leading term of finite size is that of."""
    result = gs.solve(gs.model(learning_rate=None), dimension=200)
    assert result.heading == "Result; the correction at d = 200 vanishes"
    assert "the correction at d = 200 vanishes" in str(result)


def test_simulated_fits_have_that_mean() -> None:
    """At d = 200."""
    found = gs.simulate(SATURATED, dimension=200, seeds=40, what="srf", seed=7)
    errors = np.array(found.test_error).ravel()
    theory = gs.deviation(SATURATED, dimension=200).mean
    assert abs(errors.mean() - theory) < 4.0 * errors.std(ddof=1) / np.sqrt(len(errors))


NOISY = gs.Model.from_dict(  # a share of .3 of few labels is wrong: the means of few features are learned from noise
    {
        "network": {"activation": "tanh", "width": 1.0},
        "step": {"samples": 1.0, "learning_rate": 1.0},
        "target": {"link": "sign", "flips": 0.3},
        "fit": {"samples": 0.5, "ridge": 1.0, "loss": "logistic"},
    }
)


FIVE = {"fit.loss": {"name": "binomial", "trials": 5}, "target.channel": {"name": "binomial", "trials": 5}}


@pytest.mark.parametrize("changes", [{}, {"target.link": "z", "target.flips": 0.0, **FIVE}])
def test_errors_that_are_no_squares_settle_too(changes: dict[str, object]) -> None:
    """To first order a mean output adds what it does to fits at a large dimension, to the next power of 1/d."""
    dimension = 20_000
    result = gs.solve(NOISY.replace(changes), dimension=dimension)
    system = Fit(result).system
    mean, _ = over_tilts(system, dimension) or (np.nan, 0.0)
    assert result.mean_output_error is not None and result.settled_dimension > 200.0
    assert mean - result.test_error == pytest.approx(result.mean_output_error / dimension, rel=0.05)


@pytest.mark.parametrize(("dimension", "seeds"), [(200, 60), pytest.param(400, 60, marks=pytest.mark.slow)])
def test_simulated_signs_have_that_mean(dimension: int, seeds: int) -> None:
    """Where the limit and its correction are right to some percent only, and say so."""
    found = gs.simulate(NOISY, dimension=dimension, seeds=seeds, what="srf", seed=5)
    errors = np.array(found.test_error).ravel()
    told, sampling = gs.deviation(NOISY, dimension=dimension), errors.std(ddof=1) / np.sqrt(seeds)
    assert told.mean is not None and told.result.is_unsettled
    assert abs(errors.mean() - told.mean) < 4.0 * sampling


@pytest.mark.parametrize(("dimension", "exact"), [(400, 0.0338), (1000, 0.0172)])
def test_errors_of_signs_deviate_by_what_m_does(dimension: int, exact: float) -> None:
    """Exact: of m that are Gaussian with the first order, the error of each by a quadrature of its own, and the rest of
    the first order; here m bends what follows it too.
    """
    assert gs.deviation(NOISY, dimension=dimension).standard_deviation == pytest.approx(exact, rel=0.03)


@pytest.mark.parametrize("dimension", [None, 300])
def test_a_ridge_as_a_penalty_settles_where_the_ridge_does(dimension: int | None) -> None:
    """At a dimension unknowns beside a penalty are not m; V and T move with them there, a little."""
    shrunk = NOISY.replace({"fit.ridge": 0.5, "fit.penalty": "a**2/4"})
    told = [gs.solve(model, dimension=dimension).settled_dimension for model in (NOISY, shrunk)]
    assert told[1] == pytest.approx(told[0], rel=1e-8 if dimension is None else 0.02)


def test_means_of_a_density_are_told_at_a_dimension_only() -> None:
    """A dimension holds all means but some. In the limit what they add depends on how many nodes there are."""
    model = gs.Model.from_dict(
        {
            "network": {"activation": "relu", "width": 0.8, "readout": {"density": "uniform"}},
            "step": {"samples": 2.0, "learning_rate": 1.0},
            "target": {"link": "sign", "flips": 0.2},
            "fit": {"samples": 1.4, "ridge": 0.5, "loss": "logistic"},
        }
    )
    limit, finite = gs.solve(model), gs.solve(model, dimension=10_000)
    assert limit.settled_dimension is None and limit.to_dict()["mean_output_variance"] is None
    assert finite.settled_dimension is not None and finite.settled_dimension > 0.0
