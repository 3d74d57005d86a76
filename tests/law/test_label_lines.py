"""Labels that are linear in an index: their law against panels that are halved until they agree, and models by both.

Nodes of a line cut what weighs less than 1e-16: moments of second order miss 1e-11 at most.
"""

from __future__ import annotations

import numpy as np
import pytest

from giantstep.law.label_lines import Lines, are_lines, lines_given_kappa
from giantstep.law.moments_given_kappa import moments_given_kappa
from giantstep.spec.model import Model, Target
from giantstep.system import discretisation
from giantstep.system.solve import solve

CLOSE = 1e-10
KAPPA = np.array([[-2.0], [0.3], [1.1]])
#: Links, overlaps with the spike, and noise inside the link; the last leaves nothing of one combination of indices.
LAWS = [
    ("z1*z2", (0.7, 0.4), 0.0),
    ("relu(z1)*z2 + abs(z1)", (0.7, 0.4), 0.0),
    ("z1*tanh(z2)", (0.5, -0.6), 0.3),
    ("abs(z1) + z2", (0.6, 0.8), 0.0),
    ("sign(z1)*z2 + z3**2", (0.5, 0.3, 0.2), 0.0),
]


#: Links that are linear between kinks along a direction, the last curved across it. Panels are halved once.
PIECES = [
    ("relu(z1)*relu(z2)", (0.7, 0.4), 0.0),
    ("max(z1, z2)", (0.7, -0.4), 0.0),
    ("relu(abs(z1) - abs(z2))", (0.5, 0.6), 0.0),
    ("abs(z1)*abs(z2)", (0.5, -0.6), 0.3),
    ("abs(z1**2 - z2)", (0.3, 0.2), 0.0),
    ("relu(z)", (0.7,), 0.0),
    ("abs(z) - relu(z - 1)/2 + sign(z + 1)", (-0.6,), 0.3),
]


def lines(link: str, overlaps: tuple[float, ...], probit: float, rough: bool = False) -> Lines:
    return lines_given_kappa(Target(link, probit=probit), (overlaps,), KAPPA, 0, rough)


@pytest.mark.parametrize(("link", "overlaps", "probit"), LAWS)
def test_moments_are_those_of_the_label(link: str, overlaps: tuple[float, ...], probit: float) -> None:
    found = lines(link, overlaps, probit)
    w, y, b, t = found.weight, found.label, found.slope, found.t
    exact = moments_given_kappa(link, np.array([overlaps]), KAPPA, probit, 0, False, adaptive=True)
    assert w.sum(axis=1) == pytest.approx(1.0, abs=CLOSE)
    assert (w * y).sum(axis=1) == pytest.approx(exact.mean, rel=CLOSE, abs=CLOSE)
    assert (w * (y**2 + b**2)).sum(axis=1) == pytest.approx(exact.square, rel=CLOSE, abs=CLOSE)
    linear = np.einsum("nj,njd->nd", w * y, t) + (w * b).sum(axis=1)[:, None] * found.axis
    assert linear == pytest.approx(exact.linear, rel=CLOSE, abs=CLOSE)
    covariance = np.einsum("nj,njd,nje->nde", w, t, t) + np.outer(found.axis, found.axis) + found.rest
    assert covariance == pytest.approx(np.broadcast_to(np.eye(len(overlaps)), covariance.shape), abs=CLOSE)


@pytest.mark.parametrize(("link", "overlaps", "probit"), PIECES)
def test_moments_of_pieces_are_those_of_the_label(link: str, overlaps: tuple[float, ...], probit: float) -> None:
    assert are_lines(Target(link, probit=probit), (overlaps,), "residual")
    points = lines_given_kappa(Target(link, probit=probit), (overlaps,), KAPPA, 1, False).points
    w, y, t = points.weight, points.label, points.t
    exact = moments_given_kappa(link, np.array([overlaps]), KAPPA, probit, 0, False, adaptive=True)
    assert w.sum(axis=1) == pytest.approx(1.0, abs=CLOSE)
    assert (w * y).sum(axis=1) == pytest.approx(exact.mean, rel=CLOSE, abs=CLOSE)
    assert (w * y**2).sum(axis=1) == pytest.approx(exact.square, rel=CLOSE, abs=CLOSE)
    assert np.einsum("nj,njd->nd", w * y, t) == pytest.approx(exact.linear, rel=CLOSE, abs=CLOSE)
    covariance = np.einsum("nj,njd,nje->nde", w, t, t) + points.rest
    assert covariance == pytest.approx(np.broadcast_to(np.eye(len(overlaps)), covariance.shape), abs=CLOSE)


def test_pieces_of_three_indices_have_the_mean_of_their_parts() -> None:
    """On panels that are not halved, which leave 1e-9."""
    points = lines("relu(z1)*relu(z2) + abs(z3)", (0.5, 0.3, 0.2), 0.0).points
    product = moments_given_kappa("relu(z1)*relu(z2)", np.array([[0.5, 0.3]]), KAPPA, 0.0, 0, False, adaptive=True)
    size = moments_given_kappa("abs(z1) + 0*z2", np.array([[0.2, 0.0]]), KAPPA, 0.0, 0, False, adaptive=True)
    assert (points.weight * points.label).sum(axis=1) == pytest.approx(product.mean + size.mean, rel=1e-8)


@pytest.mark.parametrize(("link", "overlaps", "probit"), LAWS)
def test_labels_one_by_one_have_the_same_moments(link: str, overlaps: tuple[float, ...], probit: float) -> None:
    found = lines(link, overlaps, probit)
    points = found.points
    assert points.weight.sum(axis=1) == pytest.approx(found.weight.sum(axis=1), rel=1e-13)
    square = (found.weight * (found.label**2 + found.slope**2)).sum(axis=1)
    assert (points.weight * points.label**2).sum(axis=1) == pytest.approx(square, rel=1e-12)
    along = np.einsum("nj,njd->nd", points.weight * points.label, points.t)
    wanted = np.einsum("nj,njd->nd", found.weight * found.label, found.t)
    assert along == pytest.approx(wanted + (found.weight * found.slope).sum(axis=1)[:, None] * found.axis, abs=1e-12)


def test_which_labels_are_lines() -> None:
    beside = ((0.7, 0.4),)
    assert are_lines(Target("relu(z1)*z2"), beside, "residual")
    assert not are_lines(Target("relu(z1)*z2"), beside, "margin")
    assert not are_lines(Target("relu(z1)*z2", channel="logit"), beside, "residual")  # type: ignore[arg-type]
    assert are_lines(Target("max(z1, z2)"), beside, "residual")
    assert not are_lines(Target("max(z1, z2)", noise=0.2), beside, "residual")
    assert not are_lines(Target("sign(z1*z2 - 1)"), beside, "residual")
    assert not are_lines(Target("abs(z1*tanh(z2) - z2)*tanh(z1)"), beside, "residual")
    for link in ("abs(z1)*tanh(z2)", "relu(z1 + z2)*relu(z2)"):  # along the first index
        assert are_lines(Target(link), beside, "residual")
    for link in ("z", "clip(z, -1, 1)", "z + sign(z)"):
        assert are_lines(Target(link), ((0.7,),), "residual")
    for link in ("tanh(z)", "relu(z)*z", "sign(z)"):
        assert not are_lines(Target(link), ((0.7,),), "residual")
    assert not are_lines(Target("relu(z)"), ((1.0,),), "residual")  # the label follows from kappa


@pytest.mark.parametrize(
    ("link", "loss", "noise"),
    [
        ("relu(z1)*relu(z2)", "log_cosh", 0.0),
        ("max(z1, 0)*z2", "huber", 0.2),
        ("z1*z2", "huber", 0.2),
    ],
)
def test_models_by_lines_and_by_points(link: str, loss: str, noise: float, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model.from_dict(
        {
            "network": {"activation": "gelu", "width": 0.5},
            "spike": {"strength": 1.2, "alignment": [0.7, 0.4], "bulk_variance": 1.3},
            "target": {"link": link, "noise": noise},
            "fit": {"samples": 2.0, "ridge": 0.1, "loss": loss},
        }
    )
    found = solve(model)
    monkeypatch.setattr(discretisation, "straight_law", lambda *_: None)
    discretisation._resolved.cache_clear()
    points = solve(model)
    discretisation._resolved.cache_clear()
    allowed = 3.0 * max(found.quadrature_error, points.quadrature_error, 1e-12)
    assert found.test_error == pytest.approx(points.test_error, rel=allowed)
    assert found.training_loss == pytest.approx(points.training_loss, rel=allowed)
