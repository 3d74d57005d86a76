"""The second implementation's own search for narrow features: bounds on intervals, and panels that follow from them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from derive.scalar import scalar_function
from giantstep.verify.conditional_law import feature_moments
from giantstep.verify.enclosures import enclosure
from giantstep.verify.lambdified import numpy_of
from giantstep.verify.smooth_panels import smooth_panels

TEXTS = (
    "z*tanh(z)-exp(-z**2)",
    "sin(3*z)*cos(z-1)/(1+z**2)",
    "sqrt(1+z**2)-erf(z)*z**3",
    "log(2+sin(z))*softplus(z)",
    "abs(z-1)*sign(z)+max(z, z**2)*cosh(z/2)",
    "gelu(z)+arctan(z)/(z**4+1)**0.3",
)
PLACE = 0.5671432904097838  # exp(-z) = z


@pytest.mark.parametrize("text", TEXTS)
def test_bounds_hold_all_values_and_close_in_on_them(text: str) -> None:
    """On 200 intervals of widths 1e-6 to 4; those of the narrowest are no wider than a slope of 1000 makes them."""
    found = scalar_function(text)
    rng, edges = np.random.default_rng(7), [-math.inf, *map(float, found.breakpoints), math.inf]
    for (_, _, piece), first, last in zip(found.pieces, edges[:-1], edges[1:], strict=True):
        low = rng.uniform(-4.0, 4.0, 200)
        width = 10.0 ** rng.uniform(-6.0, math.log10(4.0), 200)
        inside = (low > first) & (low + width < last)
        low, width = low[inside], width[inside]
        least, most = enclosure(piece, found.z, low, low + width)
        values = numpy_of(piece, (found.z,))(low + width * np.linspace(0.0, 1.0, 41)[:, None])
        rounding = 1e-13 * (1.0 + np.abs(values).max(axis=0))
        assert np.all(least <= values.min(axis=0) + rounding)
        assert np.all(most >= values.max(axis=0) - rounding)
        narrow = width < 1e-3
        assert np.all((most - least)[narrow] <= 1e3 * width[narrow])


@pytest.mark.parametrize(
    ("text", "place", "width"),
    [
        ("exp(-1e6*(z-exp(-z))**2)+z", PLACE, 1e-3),
        ("exp(-1e10*(z**3-z-1)**2)+tanh(z)", 1.3247179572447460, 1e-5),
        ("tanh(1e5*(z*tanh(z)-0.7))", 0.9476111238, 1e-5),
        ("z/600+exp(-1e4*(z-1200.3)**2)", 1200.3, 1e-2),
        ("1/(1+1e8*(cos(z)-0.2)**2)", math.acos(0.2), 1e-4),
    ],
)
def test_what_is_narrow_has_narrow_panels(text: str, place: float, width: float) -> None:
    """Where a feature is, panels are no wider than some of its widths."""
    panels = smooth_panels(text)
    at = (panels.low <= place) & (panels.high >= place)
    assert np.all((panels.high - panels.low)[at] < 4.0 * width)
    assert np.min(np.abs(panels.centres() - place)) < 10.0 * width


def test_moments_of_a_narrow_feature() -> None:
    """Laplace's method, whose next term is 1e-6 of the first."""
    found = feature_moments("exp(-1e6*(z-exp(-z))**2)", np.array([0.0]), 1.0)
    leading = math.exp(-0.5 * PLACE**2) / math.sqrt(2.0) / (1e3 * (1.0 + PLACE))
    assert found[0, 0] == pytest.approx(leading, rel=3e-6)
