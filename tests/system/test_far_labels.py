"""Losses that grow faster than the square: labels that no data set holds, or that nodes do not reach, decide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from giantstep.observe.gradient.gradient import gradient
from giantstep.spec.errors import NotConverged
from giantstep.spec.model import Model
from giantstep.system import coupled_solver
from giantstep.system.far_labels import decided_by_far_labels, outgrows_squares, seldom_hint, share_beyond
from giantstep.system.problem import problem_of
from giantstep.system.resolution import FINE
from giantstep.system.saturated_outputs import above_lower_floor
from giantstep.system.solve import solve
from giantstep.system.system_of_problem import coupled_at

QUARTIC = "(y-f)**4/4"


def model(link: str, loss: Any = QUARTIC, strength: float = 2.0) -> Model:
    return Model.from_dict(
        {
            "network": {"activation": "tanh", "width": 0.5},
            "spike": {"strength": strength, "alignment": 0.9, "bulk_variance": 1.0},
            "target": {"link": link},
            "fit": {"samples": 2.0, "ridge": 0.1, "loss": loss},
        }
    )


@pytest.mark.parametrize("loss", ["huber", "log_cosh", "absolute"])
def test_losses_of_the_catalogue_feel_labels_as_their_squares_at_most(loss: str) -> None:
    assert not outgrows_squares(model("z", loss).fit.loss)


def test_labels_that_no_data_set_holds_are_named() -> None:
    """Where tanh saturates the envelope is the loss, whose mean is that of exp(8 z): labels 8 deviations out."""
    with pytest.raises(NotConverged, match="so far out that no data set holds one"):
        solve(model("exp(2*z)", strength=6.0))
    assert decided_by_far_labels(problem_of(model("z**3"))) is None


@pytest.mark.parametrize(
    ("link", "samples"), [("0.25*z**3", "3e+03 samples"), ("0.05*z**3", "4e+10 samples")], ids=["most", "far"]
)
def test_labels_that_few_samples_have_are_counted(link: str, samples: str) -> None:
    """Where tanh saturates, cosh feels exp(0.25 z^3) of labels: most of it four deviations out, or a little seven."""
    found = seldom_hint(problem_of(model(link, "cosh(y-f)")))
    assert samples in found and "lower the learning rate or the spike's strength" in found
    assert not seldom_hint(problem_of(model("tanh(z)", "cosh(y-f)")))
    assert not seldom_hint(problem_of(model(link, "huber")))


def test_the_share_beyond_the_nodes_is_that_of_the_moment() -> None:
    """At outputs that do not follow, g is y^3 and E g^2 of exp(1.2 z) is about 7.2, of which a share is beyond the
    nodes of kappa; a Gaussian falls faster and faster there, so that what is carried on is a bound.
    """
    link = model("exp(1.2*z)", strength=0.0).replace({"spike.alignment": 1.0})
    system = coupled_at(problem_of(link), FINE[0])
    system.evaluate(system.unknowns(_held(system.blocks)))
    truth = norm.sf(np.max(system.kappa) - 7.2)
    assert truth < share_beyond(system) < 1.2 * truth


def _held(blocks: int) -> dict[str, np.ndarray]:
    one, small, spread = np.ones(blocks), np.full(blocks, 1e-16), np.full(blocks, 1e-4)
    zero = {name: np.zeros((blocks, 1)) for name in ("zeta", "psi")}
    return {"m": 0.0 * one, **zero, "Q1": np.diag(spread), "Q2": spread, "V1": np.diag(small), "V2": small}


def test_an_answer_without_the_labels_beyond_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    found = model("z**2")
    assert solve(found).test_error > 0.0
    monkeypatch.setattr(coupled_solver, "share_beyond", lambda _: 3e-9)
    with pytest.raises(NotConverged, match=r"share 3e-09.*tolerance = 1e-8"):
        solve(found)
    assert solve(found, tolerance=1e-8).test_error > 0.0


#: Where relu vanishes the floor of V tells the envelope of labels far out.
VANISHING = model("0.05*z**3", "cosh(y-f)", strength=1.865).replace(
    {"network.activation": "relu", "spike.alignment": 0.804, "spike.bulk_variance": 6.0}
)


def test_labels_beyond_are_judged_above_the_floor_that_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above a lower one there is more of them: 5e-7 of what is averaged is beyond the nodes, and not 1e-12."""
    found: list[Any] = []

    def seen(*given: Any) -> Any:
        found.append(above_lower_floor(*given))
        return found[-1]

    monkeypatch.setattr(coupled_solver, "above_lower_floor", seen)
    with pytest.raises(NotConverged, match="make up a share .e-07 of what the equations average"):
        solve(VANISHING, tolerance=1e-7)
    lower = found[-1]
    assert lower is not None and 0.0 < lower[2] < 1e-10  # two resolutions are compared there as well


def test_derivatives_are_those_above_the_floor_that_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Known to a few times the 5e-7 that is beyond the nodes; above the other floor they are 9e-6 off."""
    monkeypatch.setattr("giantstep.observe.gradient.gradient._SETTLED", 1e-6)  # of two resolutions, not of three
    found = gradient(VANISHING, ("fit.ridge",), tolerance=1e-5)
    below, above = (solve(VANISHING.replace({"fit.ridge": 0.1 + h}), tolerance=1e-5).test_error for h in (-1e-4, 1e-4))
    assert found.error < 1e-6
    assert found.test_error["fit.ridge"] == pytest.approx((above - below) / 2e-4, rel=2.5e-6)
