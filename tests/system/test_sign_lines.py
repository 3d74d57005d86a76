"""Signs of an output that turn on curves of the plane of kappa, judged along lines that cross them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import ndtr

import giantstep as gs
from giantstep.law.labels import label_law
from giantstep.quadrature.plane import Plane
from giantstep.spec.model import Target
from giantstep.system.judged_signs import JudgedSigns
from giantstep.system.misclassification import wrong_sign
from giantstep.system.sign_lines import sign_functions
from giantstep.system.sign_panels import Output

Array = np.ndarray
GAMMA, WIDTH = 0.8, 0.6  # the label: sign(GAMMA kappa_1 + WIDTH t)
EDGES = np.linspace(-9.0, 9.0, 10)
LABELS = label_law(Target(link="sign"), ((GAMMA,), (0.0,)), np.zeros((1, 2)))
NODES, WEIGHTS = np.polynomial.legendre.leggauss(100)


def error(mean: Callable[[Array, Array], Array], spread: float) -> float:
    """P(y f < 0) of an output of this mean and spread, along lines."""

    def at(kappa: Array) -> Output:
        one = np.ones(len(kappa))
        first, second = kappa.T
        return Output(first.copy(), mean(first, second), 0.0 * one[None], spread**2 * one, LABELS)

    rough, (kappa, weight) = Plane(*sign_functions(at), longest=2.0, edges=EDGES, steep=np.empty(0)).nodes()
    assert rough[1] @ wrong_sign(at(rough[0])) == pytest.approx(weight @ wrong_sign(at(kappa)), rel=1e-11)
    assert weight.sum() == pytest.approx(1.0, rel=1e-12)
    return float(weight @ wrong_sign(at(kappa)))


def test_what_is_no_number_stays_so() -> None:
    """It asks for no finer nodes, of which there would be too many."""
    plane = Plane(lambda kappa: np.full((1, len(kappa)), np.nan), lambda kappa: kappa.T, 2.0, EDGES, np.empty(0))
    (_, _), (kappa, weight) = plane.nodes()
    assert len(kappa) < 200_000 and weight.sum() == pytest.approx(1.0, rel=1e-12)


def density(x: Array) -> Array:
    return np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)


def test_a_curve_that_lines_cross() -> None:
    """To what is left without a spread, of its square: an integral over both sides of the curve."""
    second = 9.0 * NODES
    turn, wrong = 0.3 + 0.2 * np.sin(second), 0.0
    for low, high, label in ((-9.0, turn, 1.0), (turn, 9.0, -1.0)):
        first = 0.5 * (high + low) + 0.5 * (high - low) * NODES[:, None]
        missed = ndtr(label * GAMMA / WIDTH * first) * density(first) * density(second)
        wrong += float(9.0 * WEIGHTS @ (0.5 * (high - low) * missed).T @ WEIGHTS)
    found = error(lambda x, y: np.expm1(x - 0.3 - 0.2 * np.sin(y)), 1e-6)
    assert found == pytest.approx(wrong, rel=1e-11)


def test_a_curve_that_lines_touch() -> None:
    """Beside a circle averages along lines are roots of the distance; lines lie closer together there."""
    angle, radius = np.pi * np.arange(200) / 100.0, 0.5 + 0.5 * NODES
    first = 0.5 + radius[:, None] * np.cos(angle)
    share = radius[:, None] * density(first) * density(radius[:, None] * np.sin(angle)) * math.pi / 100.0
    inside = 0.5 * WEIGHTS @ ((2.0 * ndtr(GAMMA / WIDTH * first) - 1.0) * share).sum(axis=1)
    found = error(lambda x, y: (x - 0.5) ** 2 + y * y - 1.0, 1e-4)
    assert found == pytest.approx(0.5 + inside, rel=1e-6)


def test_axes_are_left_for_lines_where_they_do_not_settle(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an ordinary ridge leaves smooth is told alike on axes and along lines."""
    given = {
        "network": {"activation": "tanh", "width": 1.0, "readout": {"values": [1.0, -0.5], "fractions": [0.5, 0.5]}},
        "spike": {
            "strength": 1.0,
            "alignment": [0.7, 0.2],
            "bulk_variance": 1.0,
            "loadings": [[0.9, -0.2], [-0.4, 0.5]],
        },
        "target": {"link": "sign"},
        "fit": {"samples": 2.0, "loss": "logistic", "ridge": 1.0},
    }
    model = gs.Model.from_dict(given)
    on_axes = gs.solve(model).test_error
    monkeypatch.setattr("giantstep.system.judged_signs._AS_LINES", 0)
    judged: list[int] = []
    in_parts = JudgedSigns._in_parts

    def counted(self: JudgedSigns, kappa: Array, weight: Array) -> object:
        judged.append(kappa.ndim)
        return in_parts(self, kappa, weight)

    monkeypatch.setattr(JudgedSigns, "_in_parts", counted)
    assert gs.solve(model).test_error == pytest.approx(on_axes, rel=1e-10)
    assert 2 in judged
