"""Averages where the loss is steep at the outputs: beyond a kink where V is large, and of exponentials far out.

Beyond a kink that a quadratic follows g = c (kink - omega)/(1 + V c) exactly, so that its averages are truncated
moments of a Gaussian. Beside an exponential the proximal map is Wright's omega function.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from loss_cases import Array, model
from scipy.special import wrightomega

from generated.runtime.label_intervals import LabelIntervals
from generated.runtime.label_points import LabelNodes
from generated.runtime.nodes import Fields, Rule
from giantstep.law.labels import label_law
from giantstep.quadrature.gauss import gauss_rule
from giantstep.system.kernels import loss_kernel

MEAN, DELTA = 0.2, 0.3


def truncated(mean: float, variance: float, kink: float) -> tuple[float, float, float]:
    """P(x < kink), E (kink - x)+ and E (kink - x)+^2 of a normal x."""
    spread = math.sqrt(variance)
    a = (kink - mean) / spread
    cdf, pdf = 0.5 * math.erfc(-a / math.sqrt(2.0)), math.exp(-0.5 * a * a) / math.sqrt(2.0 * math.pi)
    return cdf, spread * (a * cdf + pdf), variance * ((a * a + 1.0) * cdf + a * pdf)


def averages(name: str | dict[str, float | str], V: float, flips: float) -> Array:
    """(E g, E h, E g^2, E of the loss at the prox) of the kernel for labels 1 with flips, without a slope in t."""
    found = model(name, target__link="sign", target__flips=flips, spike__alignment=1.0)
    kernel, kappa = loss_kernel(found.fit.loss), np.array([0.7])
    law = label_law(found.target, (1.0,), kappa)
    out, scratch = np.empty((15, 1)), np.empty(kernel.SCRATCH_SHAPE)
    fields = Fields(np.array([V]), np.array([MEAN]), np.zeros((1, 1)), np.array([DELTA]))
    labels = LabelIntervals(kappa, law.low, law.high, law.weight, law.label, law.channel)
    kernel.intervals(Rule(gauss_rule(70), 70, np.array(found.fit.loss.values), 0.0), labels, fields, scratch, out)
    return out[[1, 2, 3, 14], 0]


@pytest.mark.parametrize("V", [1e3, 1e7, 1e11, 1e15, 1e17, 1e25])  # of the last the prox rounds to the kink itself
@pytest.mark.parametrize(
    ("name", "curvature"),
    [("squared_hinge", 1.0), ({"name": "smoothed_hinge", "delta": 9.5}, 1.0 / 9.5)],
)
def test_they_are_truncated_moments(name: str | dict[str, float | str], curvature: float, V: float) -> None:
    stiff = V * curvature / (1.0 + V * curvature)
    for flips in (0.0, 0.1):
        exact = np.zeros(4)
        for sign, weight in ((1.0, 1.0 - flips), (-1.0, flips)):
            inside, first, second = truncated(sign * MEAN, DELTA, 1.0)
            lost = 0.5 * stiff**2 * second / curvature
            exact += weight * np.array([sign * stiff * first, stiff * inside, stiff**2 * second, lost])
        # rounding of erfc and of some hundred terms
        assert averages(name, V, flips) * [V, V, V**2, V**2] == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize("V", [1.0, 1e8, 1e17, 1e25])
def test_kinks_that_a_cube_follows(V: float) -> None:
    """Of max(1 - y f, 0)^3 the prox is s below the kink, 3 V s^2 + s = 1 - omega."""
    edges, (points, weights) = np.linspace(MEAN - 9.5 * math.sqrt(DELTA), 1.0, 30), gauss_rule(20)
    away = (1.0 - np.append(edges[:-1], 1.0 - np.geomspace(1.0 - edges[-2], 1e-30, 400)[1:]))[::-1]
    half, middle = 0.5 * np.diff(away)[:, None], 0.5 * (away[1:] + away[:-1])[:, None]
    beyond = middle + half * points
    s = 2.0 * beyond / (1.0 + np.sqrt(1.0 + 12.0 * V * beyond))
    density = half * weights * np.exp(-0.5 * (1.0 - beyond - MEAN) ** 2 / DELTA) / math.sqrt(2.0 * math.pi * DELTA)
    stretch = 1.0 + 6.0 * V * s
    exact = [np.sum(density * f) for f in (3.0 * s**2, 6.0 * s / stretch, 9.0 * s**4, s**3)]
    assert averages("max(1-y*f,0)**3", V, 0.0) == pytest.approx(exact, rel=1e-11, abs=0.0)


@pytest.mark.parametrize(("V", "delta"), [(1.0, 1e8), (1e5, 1e3), (1e10, 1.0)])
def test_thresholds_that_no_output_reaches_cost_no_digits(V: float, delta: float) -> None:
    """A Huber loss is the square there: g = (y - omega)/(1 + V)."""
    kernel = loss_kernel(model({"name": "huber", "delta": delta}).fit.loss)
    one, none = np.ones((1, 1)), np.zeros((1, 1))
    fields = Fields(np.array([V]), np.array([MEAN]), none, np.array([DELTA]))
    out, scratch = np.empty((15, 1)), np.empty(kernel.SCRATCH_SHAPE)
    kernel.points(
        Rule(gauss_rule(70), 70, np.array([delta]), 0.0),
        LabelNodes(one, none[:, :, None], one, none),
        fields,
        scratch,
        out,
    )
    exact = [1.0 - MEAN, 1.0, (1.0 - MEAN) ** 2 + DELTA]
    # rounding of some twenty terms
    assert out[[1, 2, 3], 0] * [1.0 + V, 1.0 + V, (1.0 + V) ** 2] == pytest.approx(exact, rel=1e-14, abs=0.0)


@pytest.mark.parametrize("spread", [30.0, 120.0, 2000.0])
@pytest.mark.parametrize("V", [1.0, 1e4, 1e8])
@pytest.mark.parametrize("name", ["exponential", "poisson"])
def test_slopes_beyond_all_numbers(name: str, V: float, spread: float) -> None:
    """Of exp(-f), and of exp(f) beside no counts: g = -+W(log(V) -+ omega)/V, and V h = W/(1 + W)."""
    kernel, sign = loss_kernel(model(name).fit.loss), 1.0 if name == "exponential" else -1.0
    one, none = np.ones((1, 1)), np.zeros((1, 1))
    fields = Fields(np.array([V]), np.array([MEAN]), none, np.array([spread**2]))
    out, scratch = np.empty((15, 1)), np.empty(kernel.SCRATCH_SHAPE)
    label = one if name == "exponential" else none
    kernel.points(
        Rule(gauss_rule(70), 70, np.empty(0), 0.0), LabelNodes(one, none[:, :, None], label, none), fields, scratch, out
    )
    # W turns where log(V) -+ omega passes 0, on a length of one to a few: panels of one there are enough for 12 digits
    edges, (points, weights) = np.linspace(-9.5 * spread, 9.5 * spread, 2 * int(9.5 * spread) + 20), gauss_rule(20)
    half, middle = 0.5 * np.diff(edges)[:, None], 0.5 * (edges[1:] + edges[:-1])[:, None]
    away = middle + half * points
    w = wrightomega(math.log(V) - sign * (MEAN + away))
    density = half * weights * np.exp(-0.5 * (away / spread) ** 2) / (spread * math.sqrt(2.0 * math.pi))
    exact = [np.sum(density * f) for f in (sign * w, w / (1.0 + w), w * w)]
    assert out[[1, 2, 3], 0] * [V, V, V * V] == pytest.approx(exact, rel=1e-11, abs=0.0)
