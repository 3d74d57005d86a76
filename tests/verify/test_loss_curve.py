"""The envelope of the checks: places next to each other begin from those that are known, and end where others do."""

from __future__ import annotations

import numpy as np
import pytest

from giantstep.spec.fit_loss import FitLoss
from giantstep.verify.loss_curve import _proximal, curve_of


@pytest.mark.parametrize("text", ["logistic", "exponential", "huber", "probit", "log(cosh(y-f)) + abs(y-f)/2"])
def test_places_in_any_order_have_the_same_envelope(text: str) -> None:
    """Rows of responses from next to none to huge; a row with repeated places, and one response twice."""
    curve = curve_of(FitLoss(text), 1.0)
    response = np.array([1e-9, 0.3, 20.0, 20.0, 1e9])
    omega = np.linspace(-1.0, 1.3, 203) * np.array([3.0, 8.0, 40.0, 1.0, 1e5])[:, None]
    omega[3, 50:90] = omega[3, 50]
    mixed = np.random.default_rng(0).permutation(omega.shape[1])
    for along, other in zip(curve.moreau(omega, response), curve.moreau(omega[:, mixed], response), strict=True):
        np.testing.assert_allclose(other, along[:, mixed], rtol=1e-12, atol=1e-300)


def test_of_places_in_order_most_take_two_steps() -> None:
    value, slope, bend = curve_of(FitLoss("logistic"), 1.0).pieces[0]
    omega, taken = np.linspace(-30.0, 30.0, 4001), []

    def counted(x: np.ndarray) -> np.ndarray:
        taken.append(len(x))
        return slope(x)

    x = _proximal(omega, np.full(len(omega), 50.0), counted, bend, -np.inf, np.inf)
    np.testing.assert_allclose(x + 50.0 * slope(x), omega, rtol=0.0, atol=1e-12)
    assert sum(taken) < 4 * len(omega)
