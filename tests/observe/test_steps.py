"""What several steps are worth: each point is the model solved by itself, at its batch; the picture has all of them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import giantstep as gs
from giantstep.cli.steps import table

MODEL = gs.model("tanh", link="sign", step_samples=3.0, width=0.8)


def test_points_are_solutions() -> None:
    found = gs.steps(MODEL, 3, total=6.0)
    assert [point.samples for point in found.each] == [0.0, 3.0, 3.0, 3.0]
    assert [point.samples for point in found.shared] == [0.0, 6.0, 3.0, 2.0]
    assert found.each[2].result is not None and found.shared[2].result is not None
    assert found.each[2].result.model == found.shared[2].result.model
    two = gs.solve(MODEL.replace({"step": [{"samples": 3.0, "learning_rate": 1.0}] * 2}))
    assert found.each[2].result is not None and found.each[2].result.test_error == two.test_error
    assert found.each[2].overlaps == pytest.approx((two.spike.alignment,), rel=1e-12)
    without = gs.solve(MODEL.replace(step=None))
    assert found.each[0].result is not None and found.each[0].result.test_error == without.test_error
    assert found.each[0].overlaps == (0.0,)


def test_the_bulk_is_that_of_the_last_step() -> None:
    """The points were those of isotropic rows, whatever step.bulk said."""
    trained = MODEL.replace({"step.bulk": "trained", "network.activation": "relu"})
    found = gs.steps(trained, 2)
    one, two = (found.each[number].result for number in (1, 2))
    assert one is not None and one.test_error == gs.solve(trained).test_error
    last = {"samples": 3.0, "learning_rate": 1.0, "bulk": "trained"}
    several = trained.replace({"step": [{"samples": 3.0, "learning_rate": 1.0}, last]})
    assert two is not None and two.test_error == pytest.approx(gs.solve(several).test_error, rel=1e-12)
    isotropic = gs.steps(trained.replace({"step.bulk": "isotropic"}), 2).each[2].result
    assert isotropic is not None and abs(isotropic.test_error / two.test_error - 1.0) > 1e-3


def test_the_budget_is_that_of_the_steps_given() -> None:
    several = MODEL.replace({"step": [{"samples": 1.0, "learning_rate": 1.0}, {"samples": 4.0, "learning_rate": 2.0}]})
    found = gs.steps(several, 1)
    assert found.total == 5.0 and found.each[1].samples == 4.0 and found.shared[1].samples == 5.0
    assert found.each[1].result is not None and found.each[1].result.model.step == gs.Step(4.0, 2.0)
    assert "all are like its last one (learning rate 2)" in table(found)  # of 4 and 1 there is no point
    assert "all are like" not in table(gs.steps(MODEL, 1))


def test_steps_on_one_batch_beside_fresh_ones(tmp_path: Path) -> None:
    """One batch is the whole budget; three uses of it have no law, and the point says so."""
    again = {"samples": 3.0, "learning_rate": 1.0, "batch": "same"}
    given = MODEL.replace({"step": [{**again, "batch": "fresh"}, again]})
    found = gs.steps(given, 3)
    assert found.repeated and found.total == 3.0 and [point.samples for point in found.shared] == [0.0, 3.0, 1.5, 1.0]
    second = found.each[2].result
    assert second is not None and second.model == given
    assert found.each[3].result is None and "three times" in found.each[3].reason
    assert found.shared[3].result is not None
    gs.plot(found, tmp_path / "steps.png")
    assert (tmp_path / "steps.png").stat().st_size > 10_000


def test_networks_where_there_is_no_theory_and_the_other_way_round() -> None:
    """Each is told where the other cannot be; JSON has no nan."""
    again = {"samples": 3.0, "learning_rate": 1.0, "batch": "same"}
    given = MODEL.replace({"step": [{**again, "batch": "fresh"}, again]})
    found = gs.steps(given, 3, dimension=60, seeds=2)
    last = found.each[3]
    assert last.result is None and last.simulation is not None and last.measured is None
    told = json.loads(found.to_json(), parse_constant=lambda name: pytest.fail(name))["each"][3]
    assert told["overlaps"] == [None] and told["simulation"]["overlaps"] is None
    assert told["simulation"]["test_error"]["mean"] > 0.0
    few = gs.steps(MODEL.replace({"step.samples": 1e-3}), 1, dimension=50, seeds=2)
    assert few.each[1].result is not None and few.each[1].simulation is None
    assert "cannot be run" in few.each[1].reason and "cannot be run" in table(few)


def test_simulated_points(tmp_path: Path) -> None:
    """Overlaps of networks at d = 200 with the span of the rows' means: four standard errors and 10/d."""
    staircase = gs.model("relu", link="z1+z1*z2", readout=[1.0, -0.5], step_samples=3.0)
    found = gs.steps(staircase, 2, dimension=200, seeds=6)
    second = found.each[2]
    assert second.measured is not None and second.measured.shape == (6, 2)
    error = second.measured.std(axis=0, ddof=1) / math.sqrt(6)
    assert all(abs(second.measured.mean(axis=0) - second.overlaps) < 4.0 * error + 10.0 / 200)
    assert found.each[1].overlaps[1] == pytest.approx(0.0, abs=1e-10) and second.overlaps[1] > 0.3
    drawn = gs.plot(found, tmp_path / "steps.png")
    assert (tmp_path / "steps.png").stat().st_size > 10_000
    # both families have the same network after one step: beside each other, neither hides
    marks = [line.get_xdata() for line in drawn.axes[1].lines if line.get_marker() in ("o", "s")]
    places = np.concatenate([np.asarray(line, dtype=float) for line in marks])
    assert len(places) == len(set(places)) == 6
    assert set(found.to_dict()["each"][2]["simulation"]) >= {"test_error", "overlaps", "dimension"}
    words = table(found)
    assert f"{second.measured.mean(axis=0)[1]:.4f}" in words and "d = 200, 6 seeds" in words


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        (MODEL.replace(step=None), {}, "no giant step"),
        (MODEL.replace({"step.exponent": 0.3}), {}, "no giant step"),
        (MODEL, {"most": 0}, "most = 0"),
        (MODEL, {"total": -1.0}, "total = -1.0"),
        (MODEL, {"seeds": 3}, "needs a dimension"),
    ],
)
def test_what_is_refused(model: gs.Model, options: dict[str, float], words: str) -> None:
    with pytest.raises(gs.BadInput, match=words):
        gs.steps(model, **options)  # type: ignore[arg-type]


def test_a_point_without_a_solution_says_why() -> None:
    """Four readout values part along four directions in time, and three are solved for."""
    found = gs.steps(gs.model("relu", link="tanh", readout=[1.0, 0.5, -0.7, 0.2]), 2)
    assert found.each[1].result is not None
    assert found.each[2].result is None and "4 directions" in found.each[2].reason
