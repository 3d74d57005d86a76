"""Hermite coefficients of the slope: closed for losses of quadratic pieces, against their formulas in many digits."""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp
import numpy as np
import pytest

from generated.runtime.nodes import SCRATCH_SHAPE, Output, Rule
from giantstep.quadrature.gauss import gauss_rule
from giantstep.spec.model import Fit
from giantstep.system.kernels import loss_kernel

ORDERS, OUTPUTS = 60, 24


Knots = list[tuple[mp.mpf, mp.mpf, mp.mpf]]


def huber(V: mp.mpf) -> Knots:
    """(place, g there, how much h grows) of the knots, at the label 0 and a threshold of one."""
    return [(-1 - V, mp.mpf(1), 1 / (1 + V)), (1 + V, mp.mpf(-1), -1 / (1 + V))]


def hinge(V: mp.mpf) -> Knots:
    """The same at the label 1."""
    return [(1 - V, mp.mpf(1), 1 / V), (mp.mpf(1), mp.mpf(0), -1 / V)]


def wanted(knots: Knots, center: mp.mpf, spread: mp.mpf) -> np.ndarray:
    """By parts: g falls with -h, the derivative of h are steps at the knots."""
    z = [(place - center) / spread for place, _, _ in knots]
    steps = [spread * step for _, _, step in knots]

    def below(x: mp.mpf) -> mp.mpf:  # E max(0, g - x) of a standard normal g
        return mp.npdf(x) - x * mp.ncdf(-x)

    found = [knots[0][1] - sum(step * below(x) for x, step in zip(z, steps, strict=True))]
    found.append(-sum(step * mp.ncdf(-x) for x, step in zip(z, steps, strict=True)))
    here = [(mp.npdf(x), mp.mpf(0)) for x in z]
    for n in range(2, ORDERS):
        total = -sum(step * first for step, (first, _) in zip(steps, here, strict=True))
        found.append(total / mp.sqrt(mp.factorial(n)))
        here = [(x * a - (n - 2) * b, a) for x, (a, b) in zip(z, here, strict=True)]
    return np.array([float(each) for each in found])


@pytest.mark.parametrize(("name", "label", "knots"), [("huber", 0.0, huber), ("hinge", 1.0, hinge)])
def test_series_of_quadratic_pieces(name: str, label: float, knots: Callable[[mp.mpf], Knots]) -> None:
    """Of responses from 1e-13 on, where a kink is narrower than rounding of its place; ends of a part of 1e-3 spreads
    cancel to 2e-13.
    """
    loss = Fit(1.0, 0.1, name).loss
    rng = np.random.default_rng(1)
    center, spread = 1.5 * rng.normal(size=OUTPUTS), np.exp(rng.normal(size=OUTPUTS))
    V = np.geomspace(1e-13, 1e2, OUTPUTS)
    rule = Rule(gauss_rule(44), 44, np.array(list(loss.values), dtype=float), 0.0)
    found = np.empty((OUTPUTS, ORDERS))
    labels = np.full(OUTPUTS, label)
    loss_kernel(loss).LOSS.slope_series(rule, labels, Output(center, spread, V), np.zeros(SCRATCH_SHAPE), found)
    with mp.workdps(60):
        for i in range(OUTPUTS):
            exact = wanted(knots(mp.mpf(V[i])), mp.mpf(center[i]), mp.mpf(spread[i]))
            assert found[i] == pytest.approx(exact, abs=4e-13 * float(np.sqrt(np.sum(exact**2)))), i
