"""The best estimator of links of two indices with a root of one and straight in the other one."""

from __future__ import annotations

import math

import numpy as np
import pytest

import giantstep as gs
from giantstep.observe.optimal.told import first_of, information
from giantstep.observe.optimal.two import error_by_pieces
from giantstep.spec.model import Target
from tests.observe.test_optimal import model

Array = np.ndarray
NOISE = 0.1


def on_panels(ends: Array) -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights."""
    x, weight = np.polynomial.legendre.leggauss(14)
    half, middle = 0.5 * np.diff(ends)[:, None], 0.5 * (ends[1:] + ends[:-1])[:, None]
    return (middle + half * x).ravel(), (half * weight).ravel()


def of_line(centre: float, width: float) -> tuple[Array, Array]:
    """Nodes of z1 = +- r^2 about a centre, with their chances."""
    least, most = math.sqrt(max(centre - 8.5 * width, 0.0)), math.sqrt(centre + 8.5 * width)
    sides = [(1.0, least, most), (-1.0, 0.0, math.sqrt(max(8.5 * width - centre, 0.0)))]
    r, weight, sign = [], [], []
    for side, low, high in sides:
        nodes, parts = on_panels(np.linspace(low, high, 5))
        r, weight, sign = [*r, nodes], [*weight, parts], [*sign, np.full(len(nodes), side)]
    root = np.concatenate(r)
    z = np.concatenate(sign) * root**2
    bell = np.exp(-0.5 * ((z - centre) / width) ** 2) / width / math.sqrt(2.0 * math.pi)
    return z, np.concatenate(weight) * 2.0 * root * bell


def told(known: tuple[float, float]) -> Array:
    """E[E[t|y]^2] [2] of sqrt|z1| z2: nodes of kappa and of z1, closed in z2, a grid of labels."""
    (g1, g2), (w1, w2) = np.sqrt(known), np.sqrt(1.0 - np.array(known))
    steps = w1 / g1 * np.array([0.5, 1.0, 2.0, 3.5, 5.5, 8.0, 12.0, 20.0, 40.0, 80.0])
    found = np.zeros(2)
    for k1, a1 in zip(*on_panels(np.unique([0.0, *np.minimum(steps, 6.5), *np.linspace(0, 6.5, 4)])), strict=True):
        z, chance = of_line(g1 * k1, w1)
        t1, slope = (z - g1 * k1) / w1, np.sqrt(np.abs(z))
        variance = (slope * w2) ** 2 + NOISE
        for k2, a2 in zip(*on_panels(np.linspace(0.0, 6.5, 4)), strict=True):
            mean, spread = slope * g2 * k2, np.sqrt(variance)
            step = 0.5 * float(spread.min())
            y = np.arange((mean - 7.5 * spread).min(), (mean + 7.5 * spread).max(), step)[:, None]
            parts = chance * np.exp(-0.5 * (y - mean) ** 2 / variance) / np.sqrt(2.0 * math.pi * variance)
            first = np.stack([parts @ t1, (parts * (slope * w2 / variance) * (y - mean)).sum(axis=1)])
            share = 4.0 * a1 * a2 * step * math.exp(-0.5 * (k1 * k1 + k2 * k2)) / (2.0 * math.pi)
            found += share * (first**2 / np.maximum(parts.sum(axis=1), 1e-200)).sum(axis=1)
    return found


@pytest.mark.parametrize("known", [(0.5, 0.6), (0.9995, 0.9997)])
def test_a_root_times_another_index(known: tuple[float, float]) -> None:
    target = Target("sqrt(abs(z1))*z2", noise=NOISE)
    found = information(target, np.diag(known), first_of(target).more_labels().more_kappa())
    assert found == pytest.approx(np.diag(told(known)), rel=1e-5, abs=1e-9)


def test_overlaps_next_to_one() -> None:
    """They ended at .96."""
    found = gs.optimal(model("sqrt(abs(z1)) + z2", 100.0, noise=NOISE))
    assert found.mean_overlap is not None and 0.98 < found.mean_overlap < 1.0 and found.error < 1e-3


def test_the_least_error_of_a_root_times_another_index() -> None:
    """E|z1| - q2 E[E[sqrt|z1| | kappa]^2]."""
    q1, q2 = 0.95, 0.97
    steps = math.sqrt(1.0 / q1 - 1.0) * np.array([0.5, 1.0, 2.0, 3.5, 5.5, 8.0, 12.0, 20.0])
    kappa, share = on_panels(np.unique([0.0, *np.minimum(steps, 7.5), *np.linspace(0, 7.5, 5)]))
    lines = [of_line(math.sqrt(q1) * k, math.sqrt(1.0 - q1)) for k in kappa]
    means = np.array([float(chance @ np.sqrt(np.abs(z))) for z, chance in lines])
    square = 2.0 * float((share * np.exp(-0.5 * kappa**2) / math.sqrt(2.0 * math.pi)) @ means**2)
    target = Target("sqrt(abs(z1))*z2", noise=NOISE)
    found = error_by_pieces(target, np.diag([q1, q2]), first_of(target).more_labels().more_kappa())
    assert found == pytest.approx(math.sqrt(2.0 / math.pi) - q2 * square, rel=1e-5)
