"""The table that a curve returns: its formats, their bytes, and writing without half-written files."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import pickle
import re
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from giantstep.report.dataset import report, table
from giantstep.spec.errors import BadInput
from giantstep.spec.files import check_writable, write_atomic
from giantstep.spec.model import Model
from giantstep.sweep.dataset import Dataset
from giantstep.sweep.grid import Grid, Sweep
from giantstep.sweep.points import Points

MODEL = Model.from_dict(
    {
        "network": {"activation": "tanh", "width": 1.0},
        "target": {"link": "tanh"},
        "fit": {"samples": 2.0, "ridge": 0.05},
    }
)


def dataset(**changes: Any) -> Dataset:
    """Two functions by three sample sizes; the second point has no number, and its reason needs quoting."""
    grid = Grid((Sweep("fit.samples", (0.1, 1.0, 1.0 / 3.0)), Sweep("network.activation", ("tanh", "erf"))))
    fields: dict[str, Any] = {
        "model": MODEL,
        "grid": grid,
        "columns": {
            "fit.samples": np.array(grid.column(0), dtype=float),
            "network.activation": grid.column(1),
            "test_error": np.array([0.1, math.nan, 0.3, 1e-300, 5.0, 6.0]),
            "residual": np.array([1e-12, math.nan, 1e-13, 1e-12, 1e-12, 1e-11]),
            "quadrature_error": np.array([1e-12, math.nan, 1e-13, 1e-12, 1e-12, 1e-11]),
            "status": ("ok", "not_converged", "ok", "ok", "ok", "ok"),
            "reason": ("", 'a "reason", with \u03b1\nand a line', "", "", "", ""),
        },
        "options": {"dimension": None, "tolerance": 1e-10, "simulation": None},
        "versions": {"giantstep": "0"},
    }
    return Dataset(**{**fields, **changes})


def test_json_is_strict_and_comes_back_equal(tmp_path: Path) -> None:
    data = dataset()
    found = json.loads(data.to_json(), parse_constant=lambda name: pytest.fail(name))
    assert found["columns"]["test_error"] == [0.1, None, 0.3, 1e-300, 5.0, 6.0]
    assert found["sweeps"][0] == {"key": "fit.samples", "values": [0.1, 1.0, 1.0 / 3.0], "log": False}
    data.write(tmp_path / "c.JSON".lower())
    again = Dataset.read(tmp_path / "c.json")
    assert again.to_json() == data.to_json() and again == data == pickle.loads(pickle.dumps(data))
    assert again.model == MODEL and again.grid == data.grid
    np.testing.assert_array_equal(again.numbers("test_error"), data.numbers("test_error"))
    assert again["reason"] == data["reason"]


def test_csv_has_a_line_per_point_and_exact_numbers() -> None:
    rows = list(csv.DictReader(io.StringIO(dataset().to_csv())))
    assert [float(row["fit.samples"]) for row in rows] == [0.1, 1.0, 1.0 / 3.0] * 2
    assert [row["network.activation"] for row in rows] == ["tanh"] * 3 + ["erf"] * 3
    assert [row["test_error"] for row in rows][:2] == ["0.1", ""]
    assert float(rows[3]["test_error"]) == 1e-300
    assert rows[1]["reason"] == 'a "reason", with \u03b1\nand a line'


def test_xarray_has_one_dimension_per_sweep(tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    data = dataset()
    found = data.to_xarray()
    assert dict(found.sizes) == {"network.activation": 2, "fit.samples": 3}
    assert found["test_error"].sel({"network.activation": "erf", "fit.samples": 1.0}).item() == 5.0
    data.write(tmp_path / "c.nc")
    first = (tmp_path / "c.nc").read_bytes()
    with xarray.open_dataset(tmp_path / "c.nc") as read:
        np.testing.assert_array_equal(read["test_error"].values, found["test_error"].values)
        assert read["reason"].values[0, 1] == 'a "reason", with \u03b1\nand a line'
        assert Model.from_dict(json.loads(read.attrs["model"])) == MODEL
    data.write(tmp_path / "c.nc")
    assert (tmp_path / "c.nc").read_bytes() == first


def test_without_xarray_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(BadInput) as caught:
        dataset().write(tmp_path / "c.nc")
    assert "pip install" in caught.value.hint
    assert not list(tmp_path.iterdir())


def test_nothing_of_it_can_be_changed() -> None:
    data = dataset()
    with pytest.raises(FrozenInstanceError):
        data.model = MODEL  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        data.numbers("test_error")[0] = 1.0
    with pytest.raises(TypeError):
        data.columns["x"] = ()  # type: ignore[index]


def test_unknown_columns_name_the_known_ones() -> None:
    with pytest.raises(BadInput) as caught:
        dataset()["tset_error"]
    assert "test_error" in caught.value.hint
    assert np.isnan(dataset().numbers("tset_error")).all()
    assert "test_error" in dataset() and "tset_error" not in dataset()
    with pytest.raises(BadInput, match="rows"):
        dataset(columns={"x": np.zeros(5)})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"format": "giantstep-curve-1"}',
        '{"format": "giantstep-curve-2", "columns": {}}',
        dataset().to_json().replace('"log": false', '"lag": false'),
        dataset().to_json().replace("0.3", '"a"'),
        dataset().to_json().replace("[0.1, null, ", "[0.1, "),
        dataset().to_json().replace('"fit.samples", "values"', '"fit.sample", "values"'),
        "[" * 100_000,
    ],
)
def test_damaged_files_are_bad_input(text: str) -> None:
    with pytest.raises(BadInput):
        Dataset.from_json(text)


def test_only_known_endings_are_written_and_read(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="ending"):
        dataset().write(tmp_path / "c.txt")
    with pytest.raises(BadInput):
        Dataset.read(tmp_path / "c.csv")
    with pytest.raises(BadInput, match="cannot be read"):
        Dataset.read(tmp_path / "none.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("failing", ["replace", "fsync"])
def test_a_failed_write_leaves_the_old_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, failing: str) -> None:
    path = tmp_path / "c.json"
    path.write_text("old")

    def refuse(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(f"giantstep.spec.files.os.{failing}", refuse)
    with pytest.raises(BadInput, match="No space left"):
        dataset().write(path)
    assert path.read_text() == "old"
    assert [found.name for found in tmp_path.iterdir()] == ["c.json"]


def test_links_are_followed_and_modes_are_ordinary(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    write_atomic(tmp_path / "link.json", b"x")
    assert (tmp_path / "link.json").is_symlink() and (tmp_path / "real.json").read_bytes() == b"x"
    (tmp_path / "plain").write_bytes(b"x")
    assert os.stat(tmp_path / "real.json").st_mode == os.stat(tmp_path / "plain").st_mode


def test_places_that_cannot_be_written_are_found_in_advance(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder.json").mkdir()
    for bad in ("none/c.json", "file/c.json", "folder.json", "c.txt", "c", "x" * 300 + ".json", "a\0.json"):
        with pytest.raises(BadInput) as caught:
            check_writable(tmp_path / bad, (".json",))
        assert caught.value.hint
    (tmp_path / "c.json").write_text("old")
    check_writable(tmp_path / "c.json", (".json",))
    assert (tmp_path / "c.json").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.json", "file", "folder.json"]


def test_report_counts_names_failures_and_scores() -> None:
    text = report(dataset())
    assert "5 of 6 points" in text and "worst residual 1.0e-11" in text
    assert 'fit.samples = 1, network.activation = tanh: a "reason"' in text
    columns = dict(dataset().columns)
    columns |= {
        "simulation_test_error": np.array([1.0, math.nan, 1.0, 1.0, 1.0, 1.0]),
        "simulation_test_error_z_score": np.array([1.0, math.nan, -3.0, 1.0, 1.0, 2.0]),
    }
    options = {"dimension": 50, "simulation": {"what": "srf", "seeds": 3, "seed": 0}}
    text = report(dataset(columns=columns, options=options))
    # of three seeds: z = 1, 2, 3 are as rare as 0.80, 1.32, 1.67 (Student's law of 2: half t/sqrt(2 + t^2))
    assert "largest -1.7, root mean square 1.14" in text and "5 points" in text
    assert "points of one curve share their networks and are correlated" in text


def test_table_shows_every_point_and_no_number_for_a_failure() -> None:
    lines = table(dataset()).splitlines()
    assert len(lines) == 7
    assert lines[0].split() == ["fit.samples", "network.activation", "test", "error"]
    assert lines[2].split() == ["1", "tanh", "-"]
    assert len({len(line) for line in lines}) == 1


def test_table_shows_the_theory_at_the_dimension_beside_the_limit() -> None:
    """Each finite size follows its limit, metrics too: scores of a simulation are against it."""
    columns = {
        **dataset().columns,
        "finite_size_test_error": np.arange(6.0),
        "wrong": np.full(6, 0.5),
        "finite_size_wrong": np.full(6, 0.25),
        "simulation_test_error": np.arange(6.0),
    }
    data = dataset(
        model=MODEL.replace({"metrics.wrong": "y*f < 0"}),
        columns=columns,
        options={"dimension": 50, "tolerance": 1e-10, "simulation": None},
    )
    lines = [re.split("  +", line.strip()) for line in table(data).splitlines()]
    size = "at d = 50"
    assert lines[0] == ["fit.samples", "network.activation", "test error", size, "wrong", size, "simulated"]
    assert lines[3][2:] == ["0.3", "2", "0.5", "0.25", "2"]
    assert "finite_size_test_error" in data._repr_html_()


def test_report_says_what_the_best_estimator_is_not_told() -> None:
    options = {"dimension": None, "tolerance": 1e-10, "simulation": None}
    assert "not counted" not in report(dataset(options={**options, "optimal": {"ignores": ""}}))
    said = report(dataset(options={**options, "optimal": {"ignores": "the alignment of [spike]"}}))
    assert "not counted is the alignment of [spike]" in said


@pytest.mark.parametrize("suffix", [".json", ".nc", ".csv"])
def test_every_file_is_read_back(suffix: str, tmp_path: Path) -> None:
    data, path = dataset(), tmp_path / f"c{suffix}"
    data.write(path)
    back = Dataset.read(path, model=MODEL)
    assert back.grid == data.grid and back.model == data.model
    assert back.to_dict()["columns"] == data.to_dict()["columns"]
    if suffix != ".csv":
        assert back.to_json() == data.to_json()


def test_points_are_read_back(tmp_path: Path) -> None:
    points = Points(
        {"fit.samples": np.array([1.0, 3.0, 2.0, 1.5]), "target.link": ("tanh", "erf", "erf", "tanh")}, (2, 2)
    )
    columns = {
        **points.values,
        "test_error": np.array([0.1, 0.2, math.nan, 0.4]),
        "status": ("ok",) * 4,
        "reason": ("",) * 4,
    }
    data = Dataset(MODEL, points, columns, {}, {})
    for name in ("p.json", "p.nc"):
        data.write(tmp_path / name)
        assert Dataset.read(tmp_path / name).to_json() == data.to_json()
    data.write(tmp_path / "p.csv")
    assert Dataset.read(tmp_path / "p.csv", MODEL).to_csv() == data.to_csv()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("c.csv", b"a,b\n1,2\n", "no column of a key"),
        ("c.csv", b"fit.samples,test_error\n1\n", "not CSV"),
        ("c.csv", b"fit.samples,test_error\n1,x\n", "holds no numbers"),
        ("c.nc", b"no file of its kind", "no dataset"),
        ("c.txt", b"", "must end in"),
    ],
)
def test_what_is_no_dataset_says_so(name: str, content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=words):
        Dataset.read(tmp_path / name, MODEL)


def test_a_table_without_a_model_asks_for_one(tmp_path: Path) -> None:
    dataset().write(tmp_path / "c.csv")
    with pytest.raises(BadInput, match="holds no model"):
        Dataset.read(tmp_path / "c.csv")


def test_pandas_has_the_columns_and_their_words() -> None:
    frame = dataset().to_pandas()
    assert list(frame.columns) == list(dataset().columns)
    assert frame["test_error"].isna().tolist() == [False, True, False, False, False, False]
    assert frame.attrs["long_name"]["fit.samples"] == "the number of samples over the dimension, alpha = n/d"
    assert frame.attrs["model"] == MODEL.to_dict()


def test_labelled_arrays_have_names_and_units() -> None:
    found = dataset().to_xarray()
    assert found["fit.samples"].attrs == {
        "long_name": "the number of samples over the dimension, alpha = n/d",
        "units": "1",
    }
    assert found["test_error"].attrs == {"long_name": "test error", "units": "1"}
    assert "units" not in found["status"].attrs


def test_rows_are_selected_by_values() -> None:
    data = dataset()
    one = data.sel({"network.activation": "erf"})
    assert one.grid.keys == ("fit.samples",) and one.model.network.activation == "erf"
    assert one["test_error"].tolist() == data["test_error"][3:].tolist()
    assert "network.activation" not in one.columns
    part = data.sel({"fit.samples": slice(0.2, 1.0)})
    assert part.shape == (2, 2) and part["test_error"].tolist()[1] == 0.3
    assert data.sel({"fit.samples": 0.3, "network.activation": "tanh"}, nearest=True)["test_error"].tolist() == [0.3]
    assert data.sel({"fit.samples": [0.1, 1.0]}).shape == (2, 2)
    for choice, words in (
        ({"fit.samples": 0.3}, "nearest=True takes it"),
        ({"fit.samples": "0.1"}, "give a number"),
        ({"fit.sampels": 0.1}, "did you mean 'fit.samples'"),
        ({"network.activation": "ref"}, "did you mean 'erf'"),
        ({"network.activation": slice("a", "b")}, r"slice\(low, high\)"),
        ({"fit.samples": slice(7.0, 8.0)}, "no point"),
    ):
        with pytest.raises(BadInput, match=words):
            data.sel(choice)
    with pytest.raises(KeyError):
        data.sel({"fit.ridge": 0.1})


def test_points_are_selected_by_values() -> None:
    points = Points({"fit.samples": np.array([1.0, 3.0, 2.0])}, (3,))
    data = Dataset(MODEL, points, {**points.values, "test_error": np.array([0.1, 0.2, 0.3])}, {}, {})
    assert data.sel({"fit.samples": slice(1.5, None)})["test_error"].tolist() == [0.2, 0.3]


@pytest.mark.parametrize("name", ["test_error", "status"])
def test_datasets_that_differ_anywhere_are_not_equal(name: str) -> None:
    data = dataset()
    column = data.columns[name]
    other = column + np.eye(6)[5] if isinstance(column, np.ndarray) else (*column[:5], "impossible")
    assert data != dataset(columns={**data.columns, name: other}) and data != dataset(versions={"giantstep": "1"})
    assert data != dataset(columns={key: value for key, value in data.columns.items() if key != name})
    assert (data == name) is False
    rows = Points({"fit.samples": np.array([1.0, 2.0])}, (2,))
    assert rows == Points({"fit.samples": np.array([1.0, 2.0])}, (2,))
    assert rows != Points({"fit.samples": np.array([1.0, 3.0])}, (2,)) and rows != Points(rows.values, (1, 2))


def test_rows_of_several_losses_say_which_error_they_hold(tmp_path: Path) -> None:
    """In columns of every format, in the table and in the summary; not where the losses have one kind."""
    grid = Grid((Sweep("fit.loss", ("square", "hinge")),))
    columns = {
        "fit.loss": ("square", "hinge"),
        "test_error": np.array([0.4, 0.1]),
        "train_error": np.array([0.2, 0.3]),
        "status": ("ok", "ok"),
        "reason": ("", ""),
    }
    found = Dataset(MODEL, grid, columns, {}, {})
    assert found["test_error_is"] == ("E (f_* - f)^2", "P(f_* f < 0)")
    assert found["train_error_is"] == ("mean (y - f)^2", "mean loss (hinge)")
    assert [line.split("  ")[-1].strip() for line in table(found).split("\n")[1:]] == [
        "mean (y - f)^2",
        "mean loss (hinge)",
    ]
    assert "test error E (f_* - f)^2" in str(found) and "test error P(f_* f < 0)" in str(found)
    found.write(tmp_path / "curve.csv")
    assert Dataset.read(tmp_path / "curve.csv", found.model)["test_error_is"] == found["test_error_is"]
    assert Dataset.from_json(found.to_json()) == found
    one_kind = Dataset(found.model, Grid((Sweep("fit.loss", ("square", "huber")),)), columns, {}, {})
    assert "test error is" not in table(one_kind)
    assert "test_error_is" not in Dataset(found.model, Grid((Sweep("fit.ridge", (0.1, 1.0)),)), columns, {}, {})
