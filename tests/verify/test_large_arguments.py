"""Functions of ``verify`` far out, where exponentials within them overflow and they do not."""

from __future__ import annotations

import numpy as np
import pytest

from giantstep.verify.conditional_law import feature_moments, link_function

FAR = np.array([-2e4, -800.0, 800.0, 2e4])


@pytest.mark.parametrize("text", ["softplus", "log(1+exp(z))", "log(cosh(z))+log(2)", "silu"])
def test_features_far_out_are_those_of_their_asymptote(text: str) -> None:
    """Of softplus they were not numbers beyond 709, with warnings, and certificates of such models undecided."""
    left = np.abs(FAR) if "cosh" in text else np.maximum(FAR, 0.0)
    slope = np.sign(FAR) if "cosh" in text else (FAR > 0.0).astype(float)
    mu0, mu1, mu2_square = feature_moments(text, FAR, 2.25)
    np.testing.assert_allclose(mu0, left, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(mu1, 1.5 * slope, rtol=1e-7, atol=1e-12)
    assert np.all(np.abs(mu2_square) < 1e-6)
    np.testing.assert_allclose(link_function(text)(FAR), left, rtol=1e-12, atol=1e-12)
