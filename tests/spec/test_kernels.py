"""Gaussian averages of functions that tend to zero on one side by cancellation."""

from __future__ import annotations

import numpy as np
import pytest

import giantstep as gs
from giantstep.spec.errors import NotConverged
from giantstep.spec.expressions import numpy_function
from giantstep.spec.kernels import coefficients, emitted_loss


@pytest.mark.parametrize("shifted, plain, constant", [("tanh(2*z)+1", "tanh(2*z)", 1.0), ("erf(z)-1", "erf(z)", -1.0)])
def test_a_constant_moves_the_mean_only(shifted: str, plain: str, constant: float) -> None:
    """On one side f is a difference of numbers of order one; errors there count beside the rest."""
    s = np.linspace(-9.0, 9.0, 61)
    found, known = coefficients(shifted, s, 0.3), coefficients(plain, s, 0.3)
    np.testing.assert_allclose(found[0], known[0] + constant, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(found[1], known[1], rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(np.sqrt(found[2]), np.sqrt(known[2]), rtol=0.0, atol=1e-9)


def test_shifts_that_are_all_far_out_count_beside_the_middle() -> None:
    """Panels about a place far out ask for nothing else; without a middle all of f is rounding, as it may be."""
    s = np.linspace(-27.0, -18.0, 61)
    found, known = coefficients("tanh(z)+1", s, 2.0, middle=0.0), coefficients("tanh(z)", s, 2.0)
    np.testing.assert_allclose(found[0], known[0] + 1.0, rtol=0.0, atol=1e-14)
    with pytest.raises(NotConverged, match="estimated error"):
        coefficients("tanh(z)+1", s, 2.0)


def test_what_is_inaccurate_where_it_counts_is_refused() -> None:
    with pytest.raises(NotConverged, match="estimated error"):
        coefficients("exp(z**2/4)", np.linspace(-3.0, 3.0, 7), 4.0)


def test_a_fit_of_it_is_solved() -> None:
    """A target with a constant that the readout can represent by the mean of its features alone."""
    given = {
        "network": {"activation": "tanh(z)+1", "width": 0.8},
        "spike": {"strength": 1.2, "alignment": 0.7, "bulk_variance": 1.1},
        "target": {"link": "tanh(2*z)+1"},
        "fit": {"samples": 2.0, "ridge": 0.1},
    }
    found = gs.solve(gs.Model.from_dict(given))
    assert found.residual < 1e-12 and found.quadrature_error < 1e-10


@pytest.mark.parametrize("text", ["exp(-20*z**2)*sin(9*z)", "exp(-z**2)*cos(3*z)"])
def test_a_wave_in_a_window_has_a_frequency_that_depends_on_the_variance(text: str) -> None:
    """Against the definition on a hundred panels of 40 Gauss-Legendre nodes."""
    shifts, variance = np.array([-1.0, 0.3, 2.0]), 0.7
    points, weights = np.polynomial.legendre.leggauss(40)
    g = 0.09 * (2.0 * np.arange(100)[:, None] - 99.0 + points).ravel()
    weight = 0.09 * np.tile(weights, 100) * np.exp(-0.5 * g * g) / np.sqrt(2.0 * np.pi)
    values = numpy_function(text)(shifts[:, None] + np.sqrt(variance) * g)[0]
    mu0, mu1 = values @ weight, (values * g) @ weight
    expected = np.stack([mu0, mu1, values**2 @ weight - mu0**2 - mu1**2])
    assert np.max(np.abs(coefficients(text, shifts, variance) - expected)) < 1e-13


def test_a_loss_whose_curvature_overflows_is_text_that_runs() -> None:
    """A number that is infinite has a name in a module; it was written as ``inf``."""
    assert "curvature=math.inf," in emitted_loss("exp(exp(y-f))")
