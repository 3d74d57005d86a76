"""Misclassification and the bivariate normal integral against quadrature of their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import multivariate_normal

from giantstep.law.kinds_of_labels import Points
from giantstep.law.labels import label_law
from giantstep.spec.model import Target
from giantstep.spec.target_channel import Channel
from giantstep.system.misclassification import bivariate_normal, wrong_sign
from giantstep.system.sign_panels import Output

KAPPA, WEIGHT = np.array([-1.1, 0.0, 0.8]), np.array([0.3, 0.5, 0.2])
MEAN, SLOPE, DELTA = np.array([-0.7, 0.0, 0.4]), np.array([[0.5, -0.9, 1.3]]), np.array([0.6, 0.05, 2.0])


def rectangle(h: float, k: float, correlation: float, complement: float) -> float:
    """P(X < h, Y < k) as an integral over X, cut where Y's probability turns."""
    turn = k / correlation if correlation != 0.0 else math.inf
    cuts = [c for c in (turn, turn - 6 * complement, turn + 6 * complement) if -9.5 < c < min(h, 9.5)]
    value, _ = quad(
        lambda x: math.exp(-0.5 * x * x) / math.sqrt(2 * math.pi) * ndtr((k - correlation * x) / complement),
        -9.5,
        min(h, 9.5),
        points=sorted(cuts) or None,
        epsabs=1e-14,
        epsrel=1e-12,
        limit=400,
    )
    return float(value)


@pytest.mark.parametrize("correlation", [0.0, 0.3, -0.8, 0.999, -0.999, 1.0 - 1e-8])
def test_rectangles_of_the_bivariate_normal(correlation: float) -> None:
    complement = math.sqrt((1.0 - correlation) * (1.0 + correlation))
    h, k = (a.ravel() for a in np.meshgrid([-2.3, -0.4, 0.0, 0.7, 3.0], [-1.6, 0.0, 1e-3, 0.7, 2.5]))
    found = bivariate_normal(h, k, np.full_like(h, correlation), np.full_like(h, complement))
    exact = [rectangle(a, b, correlation, complement) for a, b in zip(h, k, strict=True)]
    assert found == pytest.approx(exact, abs=2e-13)
    if abs(correlation) < 0.9:
        law = multivariate_normal(cov=[[1.0, correlation], [correlation, 1.0]])
        assert found == pytest.approx(law.cdf(np.column_stack([h, k])), abs=1e-6)


def test_labels_at_nodes() -> None:
    """The average over the labels of the probability of the other sign: a half at zero, no number where f is none."""
    rng = np.random.default_rng(1)
    t, label = rng.standard_normal((3, 40, 2)), np.sign(rng.standard_normal((3, 40)))
    label[:, :3] = 0.0
    weight, slopes = rng.random((3, 40)), np.array([[0.5, -0.9, 1.3], [0.2, 30.0, -0.4]])
    variance = np.array([0.6, 0.05, np.nan])
    found = wrong_sign(Output(KAPPA, MEAN, slopes, variance, Points(weight, label, t, np.zeros((2, 2)))))
    centre = MEAN[:, None] + np.einsum("dn,njd->nj", slopes, t)
    exact = (weight * ndtr(-label * centre / np.sqrt(variance)[:, None])).sum(axis=1)
    assert found[:2] == pytest.approx(exact[:2], rel=1e-14) and np.isnan(found[2])


def test_the_quadrant() -> None:
    """Sheppard (1899)."""
    found = bivariate_normal(*(np.array([x]) for x in (0.0, 0.0, 0.6, 0.8)))
    assert found == pytest.approx(0.25 + math.asin(0.6) / (2 * math.pi), abs=1e-15)


def wrong(target: Target, gamma: float, node: int) -> float:
    """P(y f < 0 | kappa) over t, for a clean label that is sign(z - 0.4) or sign(z)."""
    place = 0.4 if "0.4" in target.link else 0.0
    width, kappa = math.sqrt(1.0 - gamma**2), KAPPA[node]
    mean, slope, root = MEAN[node], SLOPE[0, node], math.sqrt(DELTA[node])

    def integrand(t: float) -> float:
        y = 1.0 if gamma * kappa + width * t >= place else -1.0
        return math.exp(-0.5 * t * t) / math.sqrt(2 * math.pi) * float(ndtr(-y * (mean + slope * t) / root))

    cut = (place - gamma * kappa) / width if width > 0.0 else math.inf
    points = [c for c in (cut, -mean / slope) if abs(c) < 9.5]
    return float(quad(integrand, -9.5, 9.5, points=points or None, epsabs=1e-14, epsrel=1e-12, limit=400)[0])


@pytest.mark.parametrize("gamma", [0.0, 0.7, -0.95, 1.0, -1.0])
@pytest.mark.parametrize("link", ["sign", "sign(z-0.4)"])
def test_misclassification_of_labels_on_intervals(link: str, gamma: float) -> None:
    target = Target(link, flips=0.1, probit=0.2)
    law = label_law(target.clean(True), (gamma,), KAPPA)
    found = WEIGHT @ wrong_sign(Output(KAPPA, MEAN, SLOPE, DELTA, law))
    assert found == pytest.approx(sum(w * wrong(target, gamma, i) for i, w in enumerate(WEIGHT)), abs=1e-13)


def test_misclassification_of_labels_at_nodes() -> None:
    """A label that is 1 everywhere: P(f < 0) of a normal output."""
    law = label_law(Target("sign(1+z1**2+z2**2)"), (0.5, 0.3), KAPPA)
    slope = np.concatenate([SLOPE, 0.3 * SLOPE[:, ::-1]])
    found = WEIGHT @ wrong_sign(Output(KAPPA, MEAN, slope, DELTA, law))
    exact = WEIGHT @ ndtr(-MEAN / np.sqrt(DELTA + (slope**2).sum(axis=0)))
    assert found == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize("gamma", [0.0, 0.7, 1.0])
def test_labels_that_are_equally_likely_count_by_half(gamma: float) -> None:
    """log odds max(z - 0.4, 0): either label below, the positive one beyond."""
    target = Target("relu(z-0.4)", channel=Channel("logit"))
    law = label_law(target.clean(True), (gamma,), KAPPA)
    width = math.sqrt(1.0 - gamma**2)
    exact = 0.0
    for kappa, weight, mean, slope, delta in zip(KAPPA, WEIGHT, MEAN, SLOPE[0], DELTA, strict=True):
        cut = (0.4 - gamma * kappa) / width if width > 0.0 else (-9.5 if gamma * kappa >= 0.4 else 9.5)
        cut = min(max(cut, -9.5), 9.5)

        def negative(t: float, mean: float = mean, slope: float = slope, delta: float = delta) -> float:
            normal = math.exp(-0.5 * t * t) / math.sqrt(2 * math.pi)
            return normal * float(ndtr(-(mean + slope * t) / math.sqrt(delta)))

        exact += weight * (quad(negative, cut, 9.5, epsabs=1e-13, limit=400)[0] + 0.5 * float(ndtr(cut)))
    assert WEIGHT @ wrong_sign(Output(KAPPA, MEAN, SLOPE, DELTA, law)) == pytest.approx(exact, abs=1e-12)
