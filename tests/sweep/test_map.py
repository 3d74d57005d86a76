"""Maps of the error over two keys: their points, added lines, the optimum, files and pictures."""

from __future__ import annotations

import pickle
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.draw.map import map_figure
from giantstep.draw.plot import plot
from giantstep.sweep.checkpoint import Checkpoint

map_module = import_module("giantstep.sweep.map")  # the package has the function of that name
X, Y = "fit.samples=0.5:3:4", "step.learning_rate=0.3:10:7:log"


@pytest.fixture(scope="module")
def model() -> gs.Model:
    return gs.Model(
        network=gs.Network("tanh", width=0.5),
        step=gs.Step(samples=16.0, learning_rate=1.0),
        target=gs.Target("sign"),
        fit=gs.Fit(samples=2.0, ridge=0.1),
    )


@pytest.fixture(scope="module")
def found(model: gs.Model) -> gs.Map:
    return gs.map(model, X, Y)


def test_points_are_those_of_solve(model: gs.Model, found: gs.Map) -> None:
    columns = found.dataset
    for row in (0, 5, len(columns) - 1):
        alone = gs.solve(model.replace(dict(columns.grid.changes(row))))
        assert columns.numbers("test_error")[row] == pytest.approx(alone.test_error, rel=1e-12, abs=0.0)
    x, y = found.x.values, found.y.values
    assert found.test_error.shape == (len(y), len(x))
    assert columns.numbers("fit.samples")[: len(x)].tolist() == list(x)  # x runs fastest


def test_a_dimension_adds_the_correction_and_rounds_no_key(model: gs.Model) -> None:
    """Numbers stood beside other samples and widths than those that they were of."""
    found = gs.map(model, "fit.samples=0.761,0.77", "network.width=0.3162,0.3167", refine=0, dimension=300)
    for row in range(4):
        alone = gs.solve(model.replace(dict(found.dataset.grid.changes(row))), dimension=300)
        assert found.dataset.numbers("test_error")[row] == alone.test_error


def test_lines_are_added_where_the_error_changes(model: gs.Model, found: gs.Map) -> None:
    coarse = gs.map(model, X, Y, refine=0)
    assert set(coarse.y.values) < set(found.y.values)
    error = np.log(found.test_error)
    largest = np.abs(np.diff(error, axis=0)).max(axis=1)
    before = np.abs(np.diff(np.log(coarse.test_error), axis=0)).max()
    assert largest.max() < 0.6 * before  # two rounds halve the steepest steps once or twice


def test_the_line_of_the_optimum_is_what_tune_finds(model: gs.Model, found: gs.Map) -> None:
    """The vertex of a parabola misses the minimum by the third derivative: by less than a hundredth of a line's step
    for a step that changes the error by a few per cent.
    """
    for place in (0, len(found.x.values) - 1):
        at = model.replace({"fit.samples": float(found.x.values[place])})
        best = gs.tune(at, "step.learning_rate").values["step.learning_rate"]
        assert np.log(found.line()[place]) == pytest.approx(np.log(best), abs=0.02)
    narrow = gs.map(model, X, "step.learning_rate=0.3:1:5", refine=0)
    assert np.isnan(narrow.line()).all()  # the least error is at the end of the range
    best = narrow.least()
    assert best is not None and "step.learning_rate" in narrow.ends(best)
    assert (
        "at an end of the range" in str(narrow)
        and "step.learning_rate" in dict(narrow.summary())["at an end of the range"]
    )


def test_a_third_key_is_tuned_in_every_point(model: gs.Model) -> None:
    tuned = gs.map(model, "fit.samples=1,3", "step.learning_rate=0.5,2", optimum="fit.ridge", refine=0)
    point = dict(tuned.dataset.grid.changes(3))
    best = gs.tune(model.replace(point), "fit.ridge")
    assert tuned.dataset.numbers("fit.ridge")[3] == pytest.approx(best.values["fit.ridge"], rel=1e-6)
    assert tuned.test_error[1, 1] == pytest.approx(best.test_error, rel=1e-10)
    assert tuned.ends(3) == ("fit.samples", "step.learning_rate", *best.at_edge)
    assert np.all(tuned.test_error <= gs.map(model, "fit.samples=1,3", "step.learning_rate=0.5,2", refine=0).test_error)


def test_tuned_points_are_kept_as_they_end(model: gs.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted within the third point of four, two are there."""
    calls, right = [], map_module.tune

    def interrupted(*given: Any, **options: Any) -> gs.Tuned:
        calls.append(given)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return right(*given, **options)

    monkeypatch.setattr(map_module, "tune", interrupted)
    axes = "fit.samples=1,3", "step.learning_rate=0.5,2"
    with pytest.raises(KeyboardInterrupt):
        gs.map(model, *axes, optimum="fit.ridge", refine=0, checkpoint=tmp_path / "kept")
    with Checkpoint(tmp_path / "kept") as kept:
        assert len(kept) == 2


def test_finished_points_are_kept_and_used_again(model: gs.Model, tmp_path: Path) -> None:
    def stop(*now: object) -> None:
        if now[0] == "finer 1":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gs.map(model, X, Y, checkpoint=tmp_path / "kept", progress=stop)
    with Checkpoint(tmp_path / "kept") as store:
        assert len(store) >= 4 * 7
    again = gs.map(model, X, Y, checkpoint=tmp_path / "kept")
    assert np.array_equal(again.test_error, gs.map(model, X, Y).test_error)


def test_files_hold_the_map(found: gs.Map, tmp_path: Path) -> None:
    found.dataset.write(tmp_path / "map.json")
    read = gs.Map.from_dataset(gs.Dataset.read(tmp_path / "map.json"))
    assert np.array_equal(read.test_error, found.test_error) and read.optimum is None
    assert read.x == found.x and read.to_json() == found.to_json()
    with pytest.raises(gs.BadInput, match="a curve and no map"):
        gs.Map.from_dataset(gs.curve(found.dataset.model, "fit.samples=1,2", baselines=False))


def test_pictures(found: gs.Map, tmp_path: Path) -> None:
    plot(found, tmp_path / "map.png")
    assert (tmp_path / "map.png").read_bytes()[:4] == b"\x89PNG"
    axes = map_figure(found).axes[0]
    assert axes.get_yscale() == "log" and axes.get_xscale() == "linear" and axes.patch.get_hatch() is None
    error = found.dataset.numbers("test_error").copy()
    error[0] = np.nan
    holes = replace(found.dataset, columns={**found.dataset.columns, "test_error": error})
    axes = map_figure(replace(found, dataset=holes)).axes[0]
    assert axes.patch.get_hatch() and "not solved" in axes.get_legend_handles_labels()[1]


@pytest.mark.parametrize(
    ("x", "y", "optimum", "words"),
    [
        ("fit.samples=1,2", "target.link=sign,tanh", None, "needs at least two numbers"),
        ("fit.samples=1,2", "fit.samples=1,2", None, "swept twice"),
        ("fit.samples=1,2", "fit.ridge=1,2", "fit.ridge", "is an axis of the map"),
        ("fit.samples=1,2", "fit.ridge=1,2", "target.link", "target.link"),
        ("fit.samples=-2,-1", "fit.ridge=1,2", None, "no point|greater than 0|> 0|fit.samples"),
    ],
)
def test_bad_input_is_refused(model: gs.Model, x: str, y: str, optimum: str | None, words: str) -> None:
    with pytest.raises(gs.BadInput, match=words):
        gs.map(model, x, y, optimum=optimum)


def test_axes_are_arrays_by_key_too(model: gs.Model) -> None:
    texts = gs.map(model, "fit.samples=0.5:2:4", "fit.ridge=0.1,1", refine=0)
    arrays = gs.map(model, {"fit.samples": np.linspace(0.5, 2.0, 4)}, {"fit.ridge": np.array([0.1, 1.0])}, refine=0)
    assert arrays == texts and gs.map(model, "fit.samples=0.5:2:4", "fit.ridge=0.1,2", refine=0) != texts
    assert pickle.loads(pickle.dumps(texts)) == texts == gs.Map.from_dataset(gs.Dataset.from_json(texts.to_json()))
    with pytest.raises(gs.BadInput, match="one key, not 2"):
        gs.map(model, {"fit.samples": [1.0, 2.0], "fit.ridge": [0.1, 1.0]}, "network.width=1:2:3")
