"""Points that go to a Zarr store in parts: killed and resumed, the bits are those of one run in memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sweep_cases import before_each_point

import giantstep as gs

zarr = pytest.importorskip("zarr")
MODEL = gs.model("linear", link="cubic", noise=0.1)
VALUES: dict[str, Any] = {"fit.samples": np.linspace(0.2, 3.0, 50), "fit.ridge": np.geomspace(1e-3, 1.0, 12)[:, None]}
SCRIPT = """
import sys, time
import numpy as np
import giantstep as gs
values = {"fit.samples": np.linspace(0.2, 3.0, 50), "fit.ridge": np.geomspace(1e-3, 1.0, 12)[:, None]}

def slowly(stage, done, total):
    time.sleep(0.02)

gs.solve_into(gs.model("linear", link="cubic", noise=0.1), sys.argv[1], values, chunk=20, progress=slowly)
"""


def same(path: Path, expected: gs.Dataset) -> None:
    found = gs.Dataset.read(path)
    assert list(found.columns) == list(expected.columns) and found.shape == expected.shape
    for name, column in expected.columns.items():
        if isinstance(column, np.ndarray):
            assert np.asarray(found[name]).tobytes() == column.tobytes(), name
        else:
            assert found[name] == column


def test_killed_and_resumed_it_has_the_bits_of_one_run(tmp_path: Path) -> None:
    expected = gs.solve_many(MODEL, VALUES)
    path, journal = tmp_path / "p.zarr", tmp_path / "p.zarr.partial.jsonl"
    environment = {**os.environ, "PYTHONPATH": str(Path(gs.__file__).parents[1])}
    child = subprocess.Popen([sys.executable, "-c", SCRIPT, str(path)], env=environment)
    try:
        until = time.monotonic() + 120.0
        while not (journal.exists() and len(journal.read_bytes().splitlines()) >= 4):
            assert child.poll() is None and time.monotonic() < until
            time.sleep(0.005)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    kept = len(journal.read_bytes().splitlines())
    assert 4 <= kept < 30
    with pytest.raises(gs.BadInput, match="is not finished"):
        gs.Dataset.read(path)
    solved: list[int] = []
    found = gs.solve_into(MODEL, path, VALUES, chunk=20, progress=lambda stage, done, total: solved.append(done))
    # a part that is known tells once, one that is solved also from within
    assert len(solved) == 2 * 30 - kept and solved[-1] == 600
    assert found == path and not journal.exists()
    same(path, expected)


def test_a_part_that_was_changed_is_solved_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from giantstep.sweep.checkpoint import Checkpoint

    path = tmp_path / "p.zarr"
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "remove", lambda self: None)
        gs.solve_into(MODEL, path, VALUES, chunk=100)
    group = zarr.open_group(path, mode="r+")
    group["test_error"][150] = 0.0
    (path / "train_error" / "c" / "3").write_bytes(b"torn")
    solved: list[int] = []
    gs.solve_into(MODEL, path, VALUES, chunk=100, progress=lambda stage, done, total: solved.append(done))
    assert solved == [100, 200, 200, 300, 400, 400, 500, 600]
    same(path, gs.solve_many(MODEL, VALUES))


def test_a_finished_store_tells_what_is_damaged(tmp_path: Path) -> None:
    path = gs.solve_into(MODEL, tmp_path / "p.zarr", VALUES, chunk=100)
    zarr.open_group(path, mode="r+")["test_error"][150] = 0.0
    with pytest.raises(gs.BadInput, match="points 100 to 199 are damaged"):
        gs.Dataset.read(path)
    solved: list[int] = []
    gs.solve_into(MODEL, path, VALUES, chunk=100, progress=lambda stage, done, total: solved.append(done))
    assert solved == [100, 200, 200, 300, 400, 500, 600]
    same(path, gs.solve_many(MODEL, VALUES))


def test_reasons_of_failed_points_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of points that fail alone, and of a part where none is possible; a second call solves nothing again."""
    from giantstep.sweep.checkpoint import Checkpoint

    monkeypatch.setattr(Checkpoint, "remove", lambda self: None)

    def fail(model: gs.Model) -> None:
        if model.fit.samples >= 1.0:
            raise gs.NotConverged("did not settle", "try something else")

    before_each_point(monkeypatch, fail)
    values = {"fit.samples": [0.5, 0.6, 1.0, 0.7, 2.0, 3.0]}
    path = gs.solve_into(MODEL, tmp_path / "p.zarr", values, chunk=2)
    found, expected = gs.Dataset.read(path), gs.solve_many(MODEL, values)
    assert found["status"] == ("ok", "ok", *("not_converged", "ok"), *("not_converged",) * 2)
    assert found["reason"] == expected["reason"] and found["reason"][2:4] == ("did not settle; try something else", "")
    told: list[int] = []
    gs.solve_into(MODEL, path, values, chunk=2, progress=lambda stage, done, total: told.append(done))
    assert told == [2, 4, 6]  # a part that is solved tells from within, too


def test_what_is_stored_names_itself(tmp_path: Path) -> None:
    path = gs.solve_into(MODEL, tmp_path / "p.zarr", {"fit.samples": [0.5, 1.0, 1.5]}, chunk=2, executor=1)
    xarray = pytest.importorskip("xarray")
    with xarray.open_zarr(path, consolidated=False) as found:
        assert found.sizes == {"point": 3}
        assert found["test_error"].attrs["long_name"] == "test error"
        assert found["status"].attrs["flag_meanings"] == "ok not_converged impossible"
        assert found["status"].values.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("values", "name", "words"),
    [
        ({}, "p.zarr", "the values are"),
        ({"fit.samples": ["a"]}, "p.zarr", "the values of fit.samples are"),
        ({"fit.samples": [1.0, 2.0], "fit.ridge": [1.0, 2.0, 3.0]}, "p.zarr", "shapes"),
        ({"fit.samples": [-1.0]}, "p.zarr", "fit.samples"),
        ({"fit.samples": [1.0, -1.0, 1.0]}, "p.zarr", "fit.samples = -1"),
        ({"fit.samples": []}, "p.zarr", "there are no values"),
        ({"fit.sample": [1.0]}, "p.zarr", "fit.sample"),
        ({"fit.samples": [1.0]}, "p.nc", "ending"),
        ({"fit.samples": [1.0]}, "file/p.zarr", "cannot write"),
    ],
)
def test_what_cannot_be_solved_is_refused(values: dict[str, Any], name: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(gs.BadInput, match=words):
        gs.solve_into(MODEL, tmp_path / name, values)


def test_a_store_of_other_points_is_left_alone(tmp_path: Path) -> None:
    path = gs.solve_into(MODEL, tmp_path / "p.zarr", {"fit.samples": [0.5, 1.0]})
    for model, samples in ((MODEL, [1.0]), (MODEL, [0.5, 2.0]), (gs.model(), [0.5, 1.0])):
        with pytest.raises(gs.BadInput, match="holds other points"):
            gs.solve_into(model, path, {"fit.samples": samples})
    (tmp_path / "folder.zarr").mkdir()
    with pytest.raises(gs.BadInput, match="is no Zarr store"):
        gs.solve_into(MODEL, tmp_path / "folder.zarr", {"fit.samples": [1.0]})
