"""The best estimator in structured inputs: closed values, limits, free entropies by definition, message passing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate
from scipy.optimize import brentq
from scipy.special import ndtr, xlogy

import giantstep as gs
from giantstep.observe.optimal.prior import Sought, prior_of
from giantstep.observe.optimal.thresholds import first_threshold
from giantstep.observe.optimal.told import fine

LUMPS = {"eigenvalues": [2.0, 0.2], "weights": [0.3, 0.7], "target": [1.0, 0.5]}
POWER = {"capacity": 0.4, "modes": 300, "source": 0.3}
PART = {"eigenvalues": [1.0, 2.0, 0.5], "target": [1.0, 2.0, 0.0]}
THREE = "sign(z)*sign(z**2-2)"  # +1 between -sqrt(2) and 0, and beyond sqrt(2)


def model(link: str, samples: float, inputs: dict[str, Any] | None, loss: str = "square", **target: Any) -> gs.Model:
    tables = {} if inputs is None else {"inputs": inputs}
    network, fit = {"activation": "tanh", "width": 1.0}, {"samples": samples, "ridge": 0.1, "loss": loss}
    return gs.Model.from_dict({"network": network, "target": {"link": link, **target}, "fit": fit, **tables})


def spread(inputs: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Variances of the coefficients, and the part of the target that they have, from the table as it is written."""
    if "capacity" in inputs:
        theta = np.arange(1.0, inputs["modes"] + 1.0) ** (-2.0 * inputs["source"])
    else:
        theta = np.array(inputs["target"]) ** 2
    trace = np.array(inputs.get("weights", np.full(len(theta), 1.0 / len(theta))))
    part = theta / theta.sum()
    return part / trace, part


@pytest.mark.parametrize("inputs", [LUMPS, POWER, PART])
@pytest.mark.parametrize("noise", [0.5, 0.01])
def test_a_linear_target_is_a_gaussian_channel(inputs: dict[str, Any], noise: float) -> None:
    """Q = sum of w s Qh/(1 + s Qh), Qh = alpha/(1 - Q + noise), to the stated error; the test error is 1 - Q."""
    s, w = spread(inputs)

    def off(q: float) -> float:
        conjugate = 1.3 / (1.0 - q + noise)
        return float(w @ (s * conjugate / (1.0 + s * conjugate))) - q

    found = gs.optimal(model("z", 1.3, inputs, noise=noise))
    assert found.mean_overlap == pytest.approx(brentq(off, 0.0, 1.0 - 1e-14, xtol=1e-15), abs=found.error)
    assert found.test_error == pytest.approx(1.0 - found.mean_overlap, abs=found.error)  # type: ignore[operator]
    assert found.error < 1e-8


def test_coefficients_of_one_size_are_isotropic_inputs() -> None:
    same = {"eigenvalues": [2.0, 0.2], "weights": [0.3, 0.7], "target": [math.sqrt(0.3), math.sqrt(0.7)]}
    for link, channel in (("sign", None), (THREE, None), ("z1 + z1*z2", "logit")):
        plain, found = (gs.optimal(model(link, 4.0, inputs, channel=channel)) for inputs in (None, same))
        np.testing.assert_allclose(found.overlap, plain.overlap, rtol=0.0, atol=1e-9)
        assert found.thresholds[0].samples == pytest.approx(plain.thresholds[0].samples, rel=1e-12)


@pytest.mark.parametrize(("link", "isotropic"), [("z**2", 0.5), ("sign(z1*z2)", math.pi**2 / 4.0), ("z1*z2", 0.593751)])
def test_weak_recovery_needs_fewer_samples(link: str, isotropic: float) -> None:
    s, w = spread(LUMPS)
    sought = Sought.of(model(link, 0.1, LUMPS))
    found = first_threshold(sought, fine(sought.target))
    assert found.samples == pytest.approx(isotropic / float(w @ s), rel=2e-6)


def test_labels_without_noise_need_the_coefficients_that_there_are() -> None:
    """A third of the directions has no part in the target: linear equations for two thirds of them."""
    assert gs.optimal(model("tanh(2*z)", 0.68, PART)).test_error == 0.0
    below = gs.optimal(model("tanh(2*z)", 0.65, PART)).mean_overlap
    assert below is not None and 0.65 < below < 1.0
    jump = gs.optimal(model("z**2", 1.0, PART)).transitions
    assert jump is not None and jump[0].information == pytest.approx(2.0 / 3.0, rel=1e-9) and jump[0].after == 1.0


def free_entropy(q: float, samples: float, inputs: dict[str, Any]) -> float:
    """Of the signs of THREE: samples E sum_y Z log Z + min over the conjugate of the prior's part."""
    ends, root, width = (-math.sqrt(2.0), 0.0, math.sqrt(2.0)), math.sqrt(q), math.sqrt(1.0 - q)

    def density(kappa: float) -> float:
        first, middle, last = (float(ndtr((end - root * kappa) / width)) for end in ends)
        plus = middle - first + 1.0 - last
        told = float(xlogy(plus, plus) + xlogy(1 - plus, 1 - plus))
        return math.exp(-0.5 * kappa**2) / math.sqrt(2.0 * math.pi) * told

    points = [end / root for end in ends]
    told, _ = integrate.quad(density, -10.0, 10.0, points=points, epsabs=1e-12, epsrel=1e-12, limit=400)
    s, w = spread(inputs)
    conjugate = brentq(lambda h: float(w @ (s * h / (1.0 + s * h))) - q, 0.0, 1e6, xtol=1e-14)
    prior = float((w / s) @ (s * conjugate - np.log1p(s * conjugate))) - q * conjugate
    return samples * float(told) + 0.5 * prior


def test_free_entropies_are_equal_where_it_jumps() -> None:
    """Their difference grows with the samples by what labels tell more: samples right to 1e-8 make it as small."""
    found = gs.optimal(model(THREE, 1.0, LUMPS)).transitions
    assert found is not None and len(found) == 1
    (jump,) = found
    gain = free_entropy(jump.after, jump.information, LUMPS) - free_entropy(jump.before, jump.information, LUMPS)
    assert gain == pytest.approx(0.0, abs=1e-8)
    for q in (jump.before, jump.after):  # maxima
        there = free_entropy(q, jump.information, LUMPS)
        assert all(free_entropy(q + d, jump.information, LUMPS) < there for d in (-1e-3, 1e-3))


@pytest.mark.parametrize(
    ("given", "dimensions"),
    [
        (model("sign", 2.0, LUMPS, "logistic"), (300,)),
        (model("tanh", 1.0, POWER, noise=0.1), (300,)),
        pytest.param(model("sign", 2.0, LUMPS, "logistic"), (1000,), marks=pytest.mark.slow),
        pytest.param(model("sign(z1*z2)", 4.0, LUMPS), (300, 600), marks=pytest.mark.slow),
    ],
    ids=["sign", "tanh", "sign, d = 1000", "two indices"],
)
def test_message_passing_reaches_it(given: gs.Model, dimensions: tuple[int, ...]) -> None:
    """Overlap and error of eight runs; their distance from the limit shrinks as 1/d."""
    for d in dimensions:
        found = gs.optimal(given, dimension=d, seeds=8)
        runs = found.simulated
        assert runs is not None and found.algorithmic is not None and found.algorithmic_error is not None
        limits = (float(np.trace(found.algorithmic)) / len(found.algorithmic), found.algorithmic_error)
        for measured, limit in zip((runs.overlap, runs.test_error), limits, strict=True):
            error = np.std(measured, ddof=1) / math.sqrt(8)
            assert abs(np.mean(measured) - limit) < 4.0 * error + 3.0 / d


def test_the_coefficients_that_are_drawn() -> None:
    """As many of each variance as the weights of the trace say; none where the target has none."""
    s, w = spread(PART)
    sizes = prior_of(model("z", 1.0, PART)).spread(300) ** 2
    assert np.mean(sizes) == pytest.approx(1.0) and [int(np.sum(np.isclose(sizes, x))) for x in s] == [100, 100, 100]
    assert sizes @ sizes / 300 == pytest.approx(float(w @ s))


def test_in_curves_and_what_is_refused() -> None:
    given = model("sign", 2.0, LUMPS, "logistic")
    data = gs.curve(given, "fit.samples=1,2", baselines=False, optimal=True)
    assert data.numbers("optimal_test_error")[1] == gs.optimal(given).test_error < gs.solve(given).test_error
    assert gs.learnable(model("z**2", 1.0, LUMPS)).possible == pytest.approx(0.2282609, rel=1e-6)
    two = {"eigenvalues": [1.0, 2.0, 0.5], "target": [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]}
    with pytest.raises(gs.BadInput, match="same eigenvalues"):
        gs.optimal(model("sign(z1*z2)", 1.0, two))
