"""Optimal tuning: known optima, grids that do not do better, edges, the command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import giantstep as gs
from giantstep.cli.main import main
from giantstep.observe.bounds import bound
from giantstep.observe.tune import tune

EXAMPLE = "examples/tanh_sign.toml"
LINEAR = gs.Model.from_dict(
    {
        "network": {"activation": "linear", "width": 2e4},
        "target": {"link": "linear", "noise": 0.3},
        "fit": {"samples": 2.0, "ridge": 1.0},
    }
)


def test_the_best_ridge_of_a_linear_model_is_the_noise() -> None:
    # f = w.x with |a|^2 = d |w|^2 as the width grows: the prior of theta is matched where lambda is the noise variance
    told: list[tuple[str, int, int]] = []
    found = tune(LINEAR, progress=lambda *stage: told.append(stage))
    assert found.values["fit.ridge"] == pytest.approx(0.3, rel=1e-3)
    assert told == [*(("points over fit.ridge", k, 25) for k in range(25)), ("minima refined", 0, 1)]
    assert found.gradient_norm < 1e-8 and not found.at_edge


def test_no_ridge_of_a_fine_grid_does_better_and_the_upper_bound_is_kept() -> None:
    given = gs.Model.from_toml(EXAMPLE)
    found = tune(given)
    ridges = [*np.geomspace(1e-6, 1e4, 80), *(found.values["fit.ridge"] * np.exp([-0.02, 0.02]))]
    assert all(found.test_error <= gs.solve(given.replace({"fit.ridge": float(r)})).test_error + 1e-12 for r in ridges)
    assert found.test_error <= bound(given, "upper").value
    assert found.before == pytest.approx(gs.solve(given).test_error, rel=1e-5)
    assert found.gradient_norm < 1e-8 and found.result.residual < 1e-10


def test_two_keys_together_beat_each_alone() -> None:
    given = gs.Model.from_toml(EXAMPLE)
    both = tune(given, ["fit.ridge", "step.learning_rate"])
    assert both.gradient_norm < 1e-7 and not both.at_edge
    for key in both.values:
        assert both.test_error < tune(given, key).test_error
    center = np.log([both.values["fit.ridge"], both.values["step.learning_rate"]])
    for angle in np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False):
        ridge, rate = np.exp(center + 0.03 * np.array([np.cos(angle), np.sin(angle)]))
        there = given.replace({"fit.ridge": float(ridge), "step.learning_rate": float(rate)})
        assert gs.solve(there).test_error > both.test_error
    assert bound(both.model, "lower").value <= both.test_error <= bound(both.model, "upper").value


def test_the_optimum_is_no_worse_than_the_model_given() -> None:
    """A grid of nine points in each direction stepped over the valley that the model lies in."""
    given = gs.Model.from_dict(
        {
            "network": {"activation": "relu", "width": 3.26},
            "target": {"link": "sign", "noise": 0.2},
            "fit": {"samples": 2.37, "ridge": 0.54},
            "step": {"samples": 12.9, "learning_rate": 1.0},
        }
    )
    found = tune(given, ["fit.ridge", "step.learning_rate"])
    assert found.before is not None and found.value < found.before


def test_another_loss_is_tuned_by_its_misclassification() -> None:
    given = gs.Model.from_toml("examples/logistic_flips.toml")
    found = tune(given, ranges={"fit.ridge": (1e-2, 1e2)})
    assert found.gradient_norm < 1e-7
    for factor in (0.9, 1.1):
        ridge = factor * found.values["fit.ridge"]
        assert gs.solve(given.replace({"fit.ridge": ridge})).test_error > found.test_error


def test_a_minimum_at_the_end_of_the_range_is_said_to_be_there() -> None:
    given = gs.Model.from_toml(EXAMPLE)
    found = tune(given, ranges={"fit.ridge": (1e-3, 1.0)})
    assert found.at_edge == ("fit.ridge",) and found.values["fit.ridge"] == pytest.approx(1.0, rel=1e-5)
    assert found.gradient["fit.ridge"] < 0.0 and found.gradient_norm == 0.0


def test_a_flat_error_is_said_to_be_flat(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Random features know nothing of the sign of a product: half of all labels, at every ridge."""
    model = gs.Model.from_toml("examples/logistic_flips.toml").replace({"target.link": "sign(z1*z2)", "step": None})
    found = tune(model)
    assert found.flat == ("fit.ridge",) and found.to_dict()["flat"] == ["fit.ridge"]
    assert found.test_error == pytest.approx(0.5, abs=1e-12) and "does not depend on" in repr(found)
    path = tmp_path / "flat.toml"
    path.write_text(model.to_toml())
    assert main(["tune", str(path)]) == 0
    assert "any is as good: the test error does not depend on it" in capsys.readouterr().out
    assert not tune(gs.Model.from_toml(EXAMPLE)).flat


def test_the_finite_size_correction_moves_the_optimum() -> None:
    given = gs.Model.from_toml(EXAMPLE).replace({"step.learning_rate": 0.3})
    small, large = tune(given, dimension=200), tune(given)
    assert small.result.dimension == 200
    assert small.values["fit.ridge"] != pytest.approx(large.values["fit.ridge"], rel=1e-3)


def test_what_cannot_be_tuned_is_refused() -> None:
    given = gs.Model.from_toml(EXAMPLE)
    for over, ranges, match in (
        ([], None, "0 keys"),
        (["fit.ridge", "fit.samples", "network.width", "step.learning_rate"], None, "4 keys"),
        ("target.noise", None, "no derivative"),
        ("spike.strength", None, "spike"),
        ("fit.ridge", {"fit.ridge": (1.0, 1.0)}, "empty"),
        ("fit.ridge", {"fit.samples": (1.0, 2.0)}, "not tuned"),
    ):
        with pytest.raises(gs.BadInput, match=match):
            tune(given, over, ranges=ranges)


def test_where_nothing_can_be_solved_the_reason_is_told() -> None:
    given = gs.Model.from_toml(EXAMPLE).replace({"network.activation": "sign"})
    with pytest.raises(gs.BadInput, match="its gradient step is not defined") as caught:
        tune(given)
    assert "continuous activation" in caught.value.hint


def test_the_command_prints_and_writes_the_optimum(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "best.toml"
    options = ["--over", "fit.ridge", "--range", "fit.ridge=0.1:100"]
    assert main(["tune", EXAMPLE, *options, "--write", str(target), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    written = gs.Model.from_toml(target)
    assert written.fit.ridge == data["values"]["fit.ridge"]
    assert gs.solve(written).test_error == pytest.approx(data["test_error"], rel=1e-9)
    assert main(["tune", EXAMPLE, *options]) == 0
    assert "gradient norm" in capsys.readouterr().out
    assert main(["tune", EXAMPLE, "--range", "fit.ridge"]) == 2


def test_why_a_minimum_is_not_refined_is_told() -> None:
    """The grid is solved to six digits; ten need more nodes of the label than there are."""
    model = gs.Model.from_dict(
        {
            "network": {"activation": "gelu", "width": 1.0},
            "target": {"link": "sqrt(z1**2 + z2**2)"},
            "step": {"samples": 4.0, "learning_rate": 1.0},
            "fit": {"samples": 2.0, "ridge": 0.1},
        }
    )
    with pytest.raises(gs.NotConverged, match="could be refined: the label .* needs .* nodes"):
        tune(model)
