"""Metrics of a model as columns of curves, maps and simulations, in checks and in pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import giantstep as gs
from giantstep.cli.main import main
from giantstep.verify.simulation import simulation_checks

METRICS = {"wrong": "y*f < 0", "large": "f**2"}
MODEL = gs.model("tanh", link="sign", learning_rate=1.0, step_samples=4.0, samples=2.0, ridge=0.1).replace(
    metrics=METRICS
)


def test_a_curve_has_a_column_for_each(tmp_path: Path) -> None:
    """Those of ``gs.metrics``, at infinite size, without a step and at a dimension; the simulation beside them."""
    found = gs.curve(MODEL, "fit.samples=1,2", dimension=80, simulate=True, seeds=6)
    for row, samples in enumerate((1.0, 2.0)):
        there = MODEL.replace({"fit.samples": samples})
        for name in METRICS:
            assert found.numbers(name)[row] == gs.metrics(there).values[name]
            assert np.isfinite(found.numbers(f"random_features_{name}")[row])
            at_size = gs.metrics(gs.simulate(there, dimension=80, seeds=1).model, dimension=80).values[name]
            assert found.numbers(f"finite_size_{name}")[row] == pytest.approx(at_size, rel=1e-12)
            seen = gs.simulate(there, dimension=80, seeds=6)
            assert np.isfinite(seen.mean(name)).all()
            assert abs(found.numbers(f"simulation_{name}_z_score")[row]) < 6.0
    without = gs.curve(MODEL.replace(metrics=None), "fit.samples=1,2")
    np.testing.assert_array_equal(found.numbers("test_error"), without.numbers("test_error"))
    assert not np.array_equal(found.numbers("wrong"), found.numbers("test_error"))
    found.write(tmp_path / "curve.json")
    assert gs.Dataset.read(tmp_path / "curve.json") == found


def test_many_points_have_them_too() -> None:
    found = gs.solve_many(MODEL, {"fit.ridge": np.array([0.1, 1.0])})
    assert found.numbers("wrong")[0] == gs.metrics(MODEL).values["wrong"]
    assert np.isfinite(found.numbers("large")).all()


def test_a_map_has_them_also_where_a_key_is_tuned() -> None:
    axes = {"fit.samples": [1.0, 2.0]}, {"fit.ridge": [0.1, 1.0]}
    found = gs.map(MODEL, *axes, refine=0)
    assert found.values("wrong")[0, 1] == gs.metrics(MODEL).values["wrong"]
    tuned = gs.map(MODEL, axes[0], {"network.width": [0.5, 1.0]}, optimum="fit.ridge", refine=0)
    best = gs.tune(MODEL.replace({"fit.samples": 1.0, "network.width": 0.5}))
    assert tuned.values("wrong")[0, 0] == pytest.approx(gs.metrics(best.model).values["wrong"], rel=1e-9)


def test_one_that_does_not_settle_leaves_the_rest() -> None:
    hard = MODEL.replace({"metrics.hard": "1/abs(f)"})
    found = gs.curve(hard, "fit.samples=2,3", baselines=False)
    assert set(found["status"]) == {"ok"} and np.isfinite(found.numbers("wrong")).all()
    assert np.isnan(found.numbers("hard")).all() and "metrics.hard" in found["reason"][0]


@pytest.mark.parametrize("name", ["test_error", "status", "m_1", "finite_size_wrong"])
def test_a_name_of_another_column_is_refused(name: str) -> None:
    with pytest.raises(gs.BadInput, match=f"{name} is the name of a number"):
        MODEL.replace(metrics={name: "f"})


def test_checks_compare_them_with_networks() -> None:
    labels = [check.name.partition(":")[0] for check in simulation_checks(MODEL, 60, 4)]
    assert labels == ["test error", "train error", "wrong", "large"]


def test_pictures_show_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    curve = gs.curve(MODEL, "fit.samples=1,2,3", baselines=False)
    assert gs.plot(curve, error="wrong").axes[0].get_ylabel() == "wrong  mean y*f < 0"
    found = gs.map(MODEL, "fit.samples=1,2", "fit.ridge=0.1,1", refine=0)
    drawn = gs.plot(found, error="large").axes
    assert drawn[1].get_ylabel() == "large"
    np.testing.assert_array_equal(np.ravel(drawn[0].collections[0].get_array()), found.values("large").ravel())
    below = gs.curve(MODEL.replace(metrics={"below": "-f**2"}), "fit.samples=1,2,3", baselines=False)
    low, high = gs.plot(below, error="below").axes[0].get_ylim()
    assert low < below.numbers("below").min() and below.numbers("below").max() < high < 0.1
    with pytest.raises(gs.BadInput, match="there are test_error, train_error, wrong, large"):
        gs.plot(curve, error="wrongs")
    saved, picture = str(tmp_path / "curve.json"), str(tmp_path / "curve.png")
    curve.write(saved)
    assert main(["plot", saved, picture, "--error", "wrong"]) == 0
    assert main(["plot", saved, picture, "--error", "none"]) == 2
    assert "there are test_error" in capsys.readouterr().err
