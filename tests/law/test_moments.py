"""Moments of functions that have a root: by closed forms of E |z|^p and E |z + b|^p."""

from __future__ import annotations

import math

import pytest
from scipy.special import gamma, hyp1f1

import giantstep as gs
from giantstep.law.moments import activation_moments, link_moments

ROOT = "sign(z)*abs(z)**(2/3)"


def absolute(power: float, shift: float = 0.0) -> float:
    """E |z + shift|^power."""
    centred = 2.0 ** (0.5 * power) * gamma(0.5 * (1.0 + power)) / math.sqrt(math.pi)
    return float(centred * hyp1f1(-0.5 * power, 0.5, -0.5 * shift**2))


@pytest.mark.parametrize("bias", [0.0, 0.4])
def test_slopes_that_are_infinite_at_a_root_have_their_mean_square(bias: float) -> None:
    found = activation_moments(ROOT, (0.0,), bias)
    assert found.slope_square == pytest.approx(4.0 / 9.0 * absolute(-2.0 / 3.0, bias), rel=1e-12)
    slope = 2.0 / 3.0 * absolute(-1.0 / 3.0, bias)  # E f' = E z f
    assert found.linear == pytest.approx(slope, rel=1e-12)
    assert bool(found.mean) == bool(found.quadratic) == bool(bias)  # odd without a bias


def test_a_root_as_a_target() -> None:
    found = link_moments("abs(z)**0.5", (0.0,), 0.3)
    assert found.mean == pytest.approx(1.3**0.25 * absolute(0.5), rel=1e-12)
    assert found.square == pytest.approx(math.sqrt(1.3) * absolute(1.0), rel=1e-12)
    assert found.linear == (0.0,)


@pytest.mark.parametrize("text", ["sqrt(abs(z))", "sign(z)*abs(z)**0.3"])
def test_a_slope_without_a_mean_square_is_refused_for_that_reason(text: str) -> None:
    with pytest.raises(gs.BadInput, match="not square integrable") as caught:
        activation_moments(text, (0.0,))
    assert "leave out [step]" in caught.value.hint


def test_the_trained_bulk_needs_more_of_a_slope() -> None:
    with pytest.raises(gs.BadInput, match="no average") as caught:
        gs.solve(gs.model(ROOT, "sign", bulk="trained"))
    assert "isotropic" in caught.value.hint


def test_a_root_of_a_constant_is_none() -> None:
    """Steep functions need short panels; those of roots, which do not get shorter, were taken for the sqrt(2) here."""
    found = link_moments("erf(z/0.01/sqrt(2))", ())
    assert found.linear[0] == pytest.approx(math.sqrt(2.0 / math.pi) / math.sqrt(1.0 + 1e-4), rel=1e-12)
