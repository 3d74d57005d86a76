"""Bias and variance of fits with a penalty: the ridge as one, averages by definition, and pairs of finite fits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import norm, t

import giantstep as gs
from giantstep.system.two_fits import Fit
from giantstep.system.two_readouts import PenalisedReadouts

TWO = {"values": [1.0, -0.5], "fractions": [0.4, 0.6]}
BASE = gs.Model(
    network=gs.Network("tanh", width=0.8),
    spike=gs.Spike(1.0, 0.8, 1.2),
    target=gs.Target("tanh", noise=0.1),
    fit=gs.Fit(2.0, 0.05),
)
SIGNS = {"target.link": "sign", "target.noise": 0.0, "target.flips": 0.1, "fit.loss": "logistic"}
INDICES = {"target.link": "z1 + z1*z2", "spike.alignment": (0.6, 0.4), "fit.loss": "huber"}


def l1(strength: float) -> dict[str, Any]:
    return {"name": "elastic_net", "l1": strength}


@pytest.mark.parametrize("dimension", [None, 300])
@pytest.mark.parametrize("changes", [{}, SIGNS, {"network.activation": "relu", "network.readout": TWO}])
def test_half_a_square_is_a_ridge(changes: dict[str, Any], dimension: int | None) -> None:
    """Other equations with other unknowns for the same pairs; both have a residual of 1e-9 at most."""
    penalised = gs.decompose(BASE.replace({"fit.penalty": "a**2/2", **changes}), dimension=dimension)
    plain = gs.decompose(BASE.replace({**changes, "fit.ridge": 1.05}), dimension=dimension)
    for name, pair in penalised.pairs.items():
        assert pair.half_mean_square == pytest.approx(plain.pairs[name].half_mean_square, rel=1e-9, abs=1e-14)
        assert pair.ensemble_of_2 == pytest.approx(plain.pairs[name].ensemble_of_2, rel=1e-9)


def test_products_of_thresholded_readouts() -> None:
    """E a_1 a_2 = E_z (E_x a)^2 and its slope, soft thresholding averaged by hand, on a grid of z; to rounding."""
    fit = Fit(gs.solve(BASE.replace({"fit.penalty": l1(0.2)})))
    readouts = fit.readouts
    assert isinstance(readouts, PenalisedReadouts)
    width, variance, _ = (float(each[0]) for each in readouts.readouts.of())
    z = np.linspace(-10.0, 10.0, 20_001)
    weight = (z[1] - z[0]) * np.exp(-0.5 * z**2) / math.sqrt(2.0 * math.pi)
    for share in (0.0, 0.3, 0.9, 0.999):
        rest, centre = math.sqrt((1.0 - share) * variance), math.sqrt(share * variance) * z
        mean, moved = np.zeros_like(z), np.zeros_like(z)
        for sign in (1.0, -1.0):
            x = (sign * centre - 0.2 * width) / rest
            mean += sign * rest * (x * ndtr(x) + np.exp(-0.5 * x**2) / math.sqrt(2.0 * math.pi))
            moved += ndtr(x)
        found = readouts.at(np.array([share * variance]), 12)
        assert found.overlap[0] / 0.8 == pytest.approx(weight @ mean**2, rel=1e-10, abs=1e-16)
        assert found.slope[0] / 0.8 == pytest.approx(weight @ moved**2, rel=1e-10)


@pytest.mark.parametrize("penalty", ["abs(a)**3", "log(cosh(3*a))", "max(0, abs(a) - 0.3)"])
def test_readouts_without_a_mean_have_nothing_in_common(penalty: str) -> None:
    """First layers of their own at infinite dimension: rounding of a mean that vanishes by symmetry once was T_12, and
    every such pair was refused. The limit of large dimensions, whose correction is some 300/d, 3e-8 here.
    """
    model = BASE.replace({"fit.penalty": penalty})
    limit, large = gs.decompose(model), gs.decompose(model, dimension=10**10)
    for name, pair in limit.pairs.items():
        assert pair.half_mean_square == pytest.approx(large.pairs[name].half_mean_square, rel=1e-6, abs=1e-15)


def test_what_is_told() -> None:
    """Sums of variances, a penalty whose pairs differ from those of the ridge, and what has not been derived."""
    lasso = BASE.replace({"fit.penalty": l1(0.2)})
    found = gs.decompose(lasso)
    assert found.bias_squared is not None and min(found.variance.values()) > 0.0
    assert found.bias_squared + sum(found.variance.values()) == pytest.approx(found.test_error, rel=1e-10)
    assert max(pair.error for pair in found.pairs.values()) < 1e-6
    assert abs(found.bias_squared - gs.decompose(BASE).bias_squared) > 0.01  # type: ignore[operator]
    step = {"spike": None, "step": {"samples": 2.0, "learning_rate": 1.0}, "network.initialisation": "sphere"}
    with pytest.raises(gs.BadInput, match="penalties on the readout"):
        gs.decompose(lasso.replace(step))
    assert gs.decompose(lasso.replace(step), given="batch").pairs


@pytest.mark.parametrize("loss", ["huber", "absolute"])
def test_losses_with_kinks_beside_a_large_penalty(loss: str) -> None:
    """Readouts of first layers of their own, most of which are zero: "changes by 2.6e-05" and 1.7e-4 between rules."""
    found = gs.decompose(BASE.replace({"fit.loss": loss, "fit.ridge": 2.1, "fit.penalty": l1(1.0)}))
    assert len(found.pairs) == 6 and max(pair.error for pair in found.pairs.values()) < 1e-5


CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "lasso": ({"fit.penalty": l1(0.2)}, {}),
    "lasso, bootstrap": ({"fit.penalty": l1(0.2)}, {"bootstrap": True}),
    "logistic, two blocks": (
        {**SIGNS, "fit.penalty": l1(0.1), "network.activation": "relu", "network.readout": TWO},
        {},
    ),
    "exponential, sub-samples": ({"fit.penalty": "exp(a)/3"}, {"subsample": 0.6}),
    "two indices, huber": ({**INDICES, "network.activation": "erf", "fit.penalty": l1(0.15)}, {}),
    "bounds below the mean": ({"fit.penalty": {"name": "box", "bound": 0.15}}, {}),
}


def scores(name: str, dimension: int, seeds: int) -> dict[str, float]:
    """Theory against simulated pairs, as rare under a normal law as under Student's; equal fits have none."""
    changes, options = CASES[name]
    model = BASE.replace(changes)
    found = gs.decompose(model, dimension=dimension, simulate=True, seeds=seeds, **options)
    run = found.simulation
    assert run is not None
    told = {}
    for kind, values in (("half_mean_square", run.half_mean_square), ("ensemble_of_2", run.ensemble_of_2)):
        for key, measured in values.items():
            if measured.max() > 1e-8:  # of the simulator's fits
                error = measured.std(ddof=1) / math.sqrt(seeds)
                score = (measured.mean() - getattr(found.pairs[key], kind)) / error
                told[f"{kind} {key}"] = float(norm.isf(t.sf(abs(score), seeds - 1)))
    return told


def test_finite_systems() -> None:
    found = scores("lasso", 100, 8)
    assert len(found) == 11 and max(found.values()) < 4.0, found


@pytest.mark.slow
@pytest.mark.parametrize(("dimension", "seeds"), [(200, 16), (400, 16)])
@pytest.mark.parametrize("name", CASES)
def test_finite_systems_at_two_dimensions(name: str, dimension: int, seeds: int) -> None:
    found = scores(name, dimension, seeds if "bounds" not in name else seeds // 2)  # steep penalties take many steps
    assert max(found.values()) < 4.0, found
