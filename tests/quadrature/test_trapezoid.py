"""Evenly spaced and graded nodes of kappa: as few as smooth averages need, and none where panels have fewer."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr

from giantstep.quadrature.mesh import Term
from giantstep.quadrature.panels import rows_at, table
from giantstep.quadrature.trapezoid import even_nodes, graded_nodes

SHARP = Term("sin(60*z)", 1.0, 0.0, 0.0)
UNSEEN = Term("exp(-1e6*(z-2.01)**2)", 1.0, 0.0, 0.0)  # between two nodes
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


@pytest.mark.parametrize(
    ("link", "gamma", "count"),
    [("sign(z-0.4)", 0.3, 110), ("sign(z-0.4)", 0.95, 110), ("sign", 0.9999, 180), ("sign", -0.9999, 180)],
)
def test_graded_nodes_average_labels_and_squares_of_features_to_the_last_digits(
    link: str, gamma: float, count: int
) -> None:
    target = Term(link, gamma, 0.0, 1.0 - gamma**2)
    found = graded_nodes((*FEATURES, target), 8, 0)
    assert found is not None and len(found[0]) < count
    kappa, weight = found
    assert np.array_equal(kappa, -kappa[::-1]) and np.array_equal(weight, weight[::-1])
    given, panels = rows_at(FEATURES, target, kappa, weight), table(FEATURES, target, 16, 1)
    products = [[rows[:, [2]] * rows[:, 5:7] ** 2, rows[:, 5:7], rows[:, 7:9] ** 2] for rows in (given, panels)]
    here, exact = (
        np.array([rows[:, 1] @ each for each in found]) for rows, found in zip((given, panels), products, strict=True)
    )
    assert np.abs(here - exact).max() < 1e-13
    assert 1e-3 < np.abs(exact).max() < 10.0


def test_graded_nodes_of_a_lower_order_are_fewer_and_halvings_double_them() -> None:
    terms = (*FEATURES, Term("sign", 0.8, 0.0, 0.36))
    counts = []
    for order, halvings in ((5, 0), (7, 0), (8, 0), (8, 1)):
        found = graded_nodes(terms, order, halvings)
        assert found is not None and found[1].sum() == pytest.approx(1.0, rel=1e-10)
        counts.append(len(found[0]))
    assert np.array(counts) / counts[2] == pytest.approx([1.0 / 1.5, (7.0 / 8.0) ** 1.5, 1.0, 2.0], rel=0.03)


@pytest.mark.parametrize("link", [Term("sign", 1.0, 0.0, 0.0), Term("sign", 0.9, -0.4, 1e-4), SHARP, UNSEEN])
def test_what_graded_nodes_do_not_resolve_is_left_to_panels(link: Term) -> None:
    assert graded_nodes((*FEATURES, link), 8, 0) is None
