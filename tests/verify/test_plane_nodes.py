"""Nodes of the second quadrature on lines of the plane of kappa, for what turns on curves within very little."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr

import giantstep as gs
from giantstep.verify.certificate import certificate
from giantstep.verify.plane_nodes import OutOfReach, plane_nodes

Array = np.ndarray


def inside(spread: float, radius: float = 1.3) -> object:
    """The probability that a blurred circle covers kappa."""

    def function(kappa: Array) -> Array:
        return np.asarray(ndtr((radius - np.hypot(*kappa.T)) / spread)[None])

    return function


@pytest.mark.parametrize("spread", [0.3, 0.03])
def test_a_blurred_circle(spread: float) -> None:
    found = plane_nodes(inside(spread), 1e-9, lambda size: size)  # type: ignore[arg-type]
    exact, _ = quad(
        lambda r: r * math.exp(-0.5 * r * r) * ndtr((1.3 - r) / spread), 0.0, 9.0, points=[1.3], epsabs=1e-13
    )
    assert found.weight.sum() == pytest.approx(1.0, rel=1e-12)
    assert float(found.values[0] @ found.weight) == pytest.approx(exact, rel=1e-8)
    assert found.error <= 3e-9


def test_what_needs_too_many_nodes_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[OutOfReach.__module__], "_MANY", 20_000)
    with pytest.raises(OutOfReach):
        plane_nodes(inside(1e-4), 1e-9, lambda size: size)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(("loss", "ridge"), [("hinge", 10.0), ("huber", 100.0), ("absolute", 10.0)])
def test_answers_that_vary_little_are_certified(loss: str, ridge: float) -> None:
    """A grid settles to a few per cent there."""
    model = gs.solve("examples/two_spikes.toml").model.replace(fit={"loss": loss, "ridge": ridge})
    found = certificate(gs.solve(model))
    assert found.holds and not found.unsettled
    assert max(found.equations.values()) < 1e-9
