"""The law of readouts under a penalty: every step at 50 digits, and the closed averages of soft thresholding."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from derive.check import check_derivation
from derive.language.penalties import REGISTERED, lookup
from derive.penalised_pair import pair_law
from derive.penalty import penalty_law
from generated import penalty as law


def test_every_step_is_compared_or_says_why_not() -> None:
    found = {check.label: check for check in check_derivation(penalty_law().derivation)}
    left = {label for label, check in found.items() if check.outcome == "not evaluable"}
    assert left == {"mean penalty"}
    compared = [check for check in found.values() if check.outcome == "compared"]
    assert len(compared) == 31 and max(check.error for check in compared) < 1e-50


def test_every_step_of_two_fits_is_compared() -> None:
    found = check_derivation(pair_law().derivation)
    assert {check.outcome for check in found} == {"given", "compared"}
    assert max(check.error for check in found if check.outcome == "compared") < 1e-50


def soft_thresholding(l1: float, width: float, variance: float) -> dict[str, float]:
    """Averages of the envelope of l1 |a| at a Gaussian argument, by hand: Huber's function of threshold l1 V."""
    spread = np.sqrt(variance)
    s = l1 * width / spread
    tail, bump = ndtr(-s), np.exp(-(s**2) / 2) / np.sqrt(2 * np.pi)
    inside = variance * (1 - 2 * tail - 2 * s * bump)  # E w^2 where the threshold holds the readout
    return {
        "avg_h": (1 - 2 * tail) / width,
        "avg_gg": inside / width**2 + l1**2 * 2 * tail,
        "avg_M": inside / (2 * width) + 2 * l1 * (spread * bump - l1 * width * tail / 2),
    }


@pytest.mark.parametrize(("l1", "width", "variance"), [(0.3, 1.2, 0.7), (2.0, 0.4, 3.0)])
def test_readouts_of_soft_thresholding(l1: float, width: float, variance: float) -> None:
    """T and Q2 are the mean slope and square of the thresholded Gaussian; the energy is that of its objective."""
    of = soft_thresholding(l1, width, variance)
    response, norm, mean = law.readouts(1.7, 0.6, width, variance, 0.0, 0.0, of["avg_h"], of["avg_gg"])
    w, weight = np.polynomial.legendre.leggauss(400)
    edge, reach = l1 * width, 12 * np.sqrt(variance)
    half = (reach - edge) / 2
    places = edge + half * (w + 1)
    p = 2 * half * weight * np.exp(-(places**2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)
    assert response == pytest.approx(1.7 * 0.6 * width * p.sum(), rel=1e-12)
    assert norm == pytest.approx(0.6 * p @ (places - edge) ** 2, rel=1e-11)
    assert law.penalty(width, of["avg_M"], of["avg_gg"]) == pytest.approx(l1 * p @ (places - edge), rel=1e-11)
    excess, field, pull = law.stand_in(1.7, 0.0, width, variance, 0.0, 0.0, of["avg_h"], of["avg_gg"])
    assert mean == pull == 0.0
    linear = 1 / (excess + 1 / width)
    assert response == pytest.approx(1.7 * 0.6 * linear, rel=1e-12)
    assert norm == pytest.approx(0.6 * (variance / width**2 + field) * linear**2, rel=1e-12)
    objective = of["avg_M"] - variance / (2 * width)
    beside = objective + (variance / width**2 + field) * linear / 2
    given = (of["avg_M"], 0.0, of["avg_h"], of["avg_gg"])
    assert law.energy(1.7, 0.6, width, variance, 0.0, *given) == pytest.approx(1.7 * 0.6 * beside, rel=1e-11)


def test_parity_and_names() -> None:
    assert {name: entry.even for name, entry in REGISTERED.items()} == {
        "elastic_net": True,
        "non_negative": False,
        "box": True,
    }
    assert lookup("lasso") is lookup("l1") is REGISTERED["elastic_net"]
    assert lookup("a**2/2").loss.name == "square" and lookup("cosh(a)").even and not lookup("exp(a)").even
    assert not lookup("max(0,a-6)").even and not lookup("a**2+max(0,a-300)**2").even
