"""Gaussian averages of functions that tend to zero on one side by cancellation."""

from __future__ import annotations

import numpy as np
import pytest

import giantstep as gs
from giantstep.spec.errors import NotConverged
from giantstep.spec.kernels import coefficients


@pytest.mark.parametrize("shifted, plain, constant", [("tanh(2*z)+1", "tanh(2*z)", 1.0), ("erf(z)-1", "erf(z)", -1.0)])
def test_a_constant_moves_the_mean_only(shifted: str, plain: str, constant: float) -> None:
    """On one side f is a difference of numbers of order one; errors there count beside the rest."""
    s = np.linspace(-9.0, 9.0, 61)
    found, known = coefficients(shifted, s, 0.3), coefficients(plain, s, 0.3)
    np.testing.assert_allclose(found[0], known[0] + constant, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(found[1], known[1], rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(np.sqrt(found[2]), np.sqrt(known[2]), rtol=0.0, atol=1e-9)


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
