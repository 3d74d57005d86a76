"""The best estimator of links of one index whose slope has no bound somewhere: roots and other powers."""

from __future__ import annotations

import math

import numpy as np
import pytest

import giantstep as gs
from giantstep.observe.optimal.alike import told_alike
from giantstep.observe.optimal.fineness import Fineness
from giantstep.observe.optimal.one import error_by_nodes, told_by_nodes
from giantstep.observe.optimal.steep_ends import steepness
from giantstep.spec.model import Target
from tests.observe.test_optimal import model


def of_power(exponent: float, q: float, noise: float) -> tuple[float, float]:
    """E[E[t|y]^2] and E Var(f|kappa) of f = |z|^exponent: z is +- s^10, kappa a sinh, labels on a grid."""
    rest, spread = math.sqrt(1.0 - q), math.sqrt(noise)
    ends = math.asinh(8.5 / rest)
    grid = np.linspace(0.0, ends, math.ceil(ends / 0.08) + 1)
    kappa, step = rest * np.sinh(grid), grid[1] - grid[0]
    share = 2.0 * step * rest * np.cosh(grid) * np.exp(-0.5 * kappa**2) / math.sqrt(2.0 * math.pi)
    share[0] *= 0.5
    x, weight = np.polynomial.legendre.leggauss(160)
    told = variance = 0.0
    for here, part in zip(math.sqrt(q) * kappa, share, strict=True):
        low, high = max(here - 8.5 * rest, 0.0) ** 0.1, (here + 8.5 * rest) ** 0.1
        s = 0.5 * (low + high) + 0.5 * (high - low) * x
        z, jacobian = np.concatenate([s**10, -(s**10)]), np.tile(5.0 * (high - low) * s**9 * weight, 2)
        t, label = (z - here) / rest, np.abs(z) ** exponent
        chance = jacobian / rest * np.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi)
        y = np.arange(label.min() - 8.0 * spread, label.max() + 8.0 * spread, 0.3 * spread)
        likely = np.exp(-0.5 * ((y[:, None] - label) / spread) ** 2) * (0.3 / math.sqrt(2.0 * math.pi))
        total, first = likely @ chance, likely @ (chance * t)
        told += part * float(np.sum(first[total > 1e-200] ** 2 / total[total > 1e-200]))
        variance += part * float(chance @ (label - chance @ label) ** 2)
    return told, variance


@pytest.mark.parametrize(("link", "exponent"), [("sqrt(abs(z))", 0.5), ("abs(z)**0.3", 0.3)])
@pytest.mark.parametrize("q", [0.4, 0.96, 1.0 - 1e-5])
def test_averages_beside_an_end_without_a_slope(link: str, exponent: float, q: float) -> None:
    told, variance = of_power(exponent, q, 0.1)
    target, fineness = Target(link, noise=0.1), Fineness()
    assert told_by_nodes(target, q, fineness) == pytest.approx(told, rel=2e-7)
    assert error_by_nodes(target, q, fineness) == pytest.approx(variance, rel=2e-7)


def test_the_power_of_links() -> None:
    powers = {"sqrt(abs(z))": 2, "sqrt(abs(z**2 - 1)) + z": 2, "abs(z)**0.3": 4, "relu(z)": 1, "sqrt(1 + z**2)": 1}
    assert {link: steepness(link) for link in powers} == powers


def test_a_root_up_to_overlaps_next_to_one() -> None:
    """At the fixed point Q/(1 - Q) = alpha E[E[t|y]^2]/(1 - Q)."""
    found = gs.optimal(model("sqrt(abs(z))", 40.0, noise=0.1))
    overlap = found.mean_overlap
    assert overlap is not None and overlap > 0.97
    told, variance = of_power(0.5, overlap, 0.1)
    assert 40.0 * told == pytest.approx(overlap, rel=1e-7)
    assert found.test_error == pytest.approx(variance, rel=1e-7)


@pytest.mark.parametrize(("link", "noise"), [("abs(z)", 0.001), ("sqrt(abs(z))", 0.1)])
def test_stated_errors_hold_between_the_places_that_are_looked_at(link: str, noise: float) -> None:
    """Against much finer nodes; changes at a few places were less than half of what is left at others."""
    target = Target(link, noise=noise)
    curve, fine = told_alike(target), Fineness(90, 4)
    for q in (0.07, 0.41, 0.77, 0.93, 0.985, 0.9991, 0.99993):
        assert curve.information(q) == pytest.approx(told_by_nodes(target, q, fine), abs=curve.error(q))
