"""Few samples of labels of which one sign is rare: found on a path from more samples."""

from __future__ import annotations

import math

import pytest
from numpy.polynomial.hermite_e import hermegauss
from scipy.optimize import brentq
from scipy.stats import norm

import giantstep as gs
from giantstep.spec.errors import NotConverged
from giantstep.system import first_solution

VARIANCE, PLACE = 10.0, 2.5
RARE = gs.Model.from_dict(
    {
        "network": {"activation": "z**2", "width": 0.7},
        "spike": {"strength": 0.0, "alignment": 0.5, "bulk_variance": VARIANCE},
        "target": {"link": f"1-2*step(z-{PLACE})"},
        "fit": {"samples": 0.0976, "ridge": 1.0, "loss": "logistic"},
    }
)


def slope(output: float, label: int, response: float) -> float:
    """That of log(1 + exp(-y f)) at its proximal point f, where f + V loss'(y, f) is the output."""

    def off(f: float) -> float:
        return f - output - response * label / (1.0 + math.exp(label * f))

    edge = abs(output) + response + 1.0
    return -label / (1.0 + math.exp(label * brentq(off, -edge, edge, xtol=1e-14, rtol=1e-14)))


def test_the_mean_output_balances_both_signs() -> None:
    """z^2 of N(0, c) has mean c, variance 2 c^2 and no linear part: the output is N(m c, 2 c^2 Q2), whatever the label
    is. At infinite dimension m has no ridge, so that E slope = 0; all labels are taken for the frequent one.

    Proximal points are known to 1e-13, and to 1e-11 relative to slopes of 4e-3.
    """
    found = gs.solve(RARE)
    mean, noise, response = (
        VARIANCE**n * found.order_parameters[name][0] for n, name in ((1, "m"), (2, "Q2"), (2, "V2"))
    )
    nodes, weights = hermegauss(24)
    balance = {
        label: sum(
            weight * slope(mean + math.sqrt(2.0 * noise) * node, label, 2.0 * response)
            for node, weight in zip(nodes.tolist(), (weights / weights.sum()).tolist(), strict=True)
        )
        for label in (1, -1)
    }
    rare = norm.sf(PLACE)
    assert rare * balance[-1] == pytest.approx(-(1.0 - rare) * balance[1], rel=1e-9)
    assert found.test_error == pytest.approx(rare, rel=1e-9)


def test_without_that_path_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = first_solution.Outcome(None, 0, False)
    monkeypatch.setattr(first_solution, "_from_more_samples", lambda *_: failed)
    with pytest.raises(NotConverged, match="not solved"):
        gs.solve(RARE)
