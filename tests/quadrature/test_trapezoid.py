"""Evenly spaced nodes of kappa: as few as smooth averages need, and none where panels have fewer."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr

from giantstep.quadrature.mesh import Term
from giantstep.quadrature.trapezoid import even_nodes

FEATURES = (Term("tanh", 1.2, 0.0, 1.3), Term("relu", -0.7, 0.2, 0.9))


@pytest.mark.parametrize("blur", [3.0, 1.0, 0.5])
@pytest.mark.parametrize("place", [0.0, 0.3])
def test_blurred_steps_times_squares_of_features_are_averaged_to_the_last_digits(blur: float, place: float) -> None:
    """A jump given kappa, blurred as a label on that scale is: nothing is sharper."""
    found = even_nodes(FEATURES, blur, 8, 0)
    assert found is not None
    kappa, weight = found
    for term in FEATURES:

        def of(kappa: float, term: Term = term) -> float:
            mu0 = term.coefficients(np.array([kappa]))[0, 0]
            return float(mu0**2 * ndtr((kappa - place) / blur) * math.exp(-0.5 * kappa**2) / math.sqrt(2.0 * math.pi))

        exact = quad(of, -12.0, 12.0, points=[-2.0, place, 2.0], epsabs=1e-15, epsrel=1e-13, limit=400)[0]
        mu0 = term.coefficients(kappa)[0]
        assert weight @ (mu0**2 * ndtr((kappa - place) / blur)) == pytest.approx(exact, rel=2e-13)


def test_an_order_more_and_halvings_bring_nodes_closer_together() -> None:
    spacings = []
    for order, halvings in ((7, 0), (8, 0), (8, 1)):
        found = even_nodes(FEATURES, 1.0, order, halvings)
        assert found is not None
        kappa, weight = found
        spacings.append(float(kappa[1] - kappa[0]))
        assert np.array_equal(kappa, -kappa[::-1]) and weight.sum() == pytest.approx(1.0, rel=1e-14)
    assert np.array(spacings) / spacings[1] == pytest.approx([8.0 / 7.0, 1.0, 0.5])


@pytest.mark.parametrize("width", [0.09, 0.0])
def test_what_is_sharp_is_left_to_panels(width: float) -> None:
    assert even_nodes(FEATURES, width, 8, 0) is None
    assert even_nodes((Term("tanh", 8.0, 0.0, 0.5),), math.inf, 8, 0) is None
