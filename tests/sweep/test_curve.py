"""Learning curves: numbers, baselines, failures, executors, interruption."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import tracemalloc
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sweep_cases import before_each_point, solved_points

from giantstep.observe.baselines import best_linear_error, random_features
from giantstep.observe.simulate import simulate_seed
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.model import Model
from giantstep.sweep.checkpoint import Checkpoint, Outcome
from giantstep.sweep.curve import curve
from giantstep.system.solve import solve

MODEL = Model.from_dict(
    {
        "network": {"activation": "tanh", "width": 1.0},
        "step": {"samples": 2.0, "learning_rate": 1.5},
        "target": {"link": "tanh", "noise": 0.1},
        "fit": {"samples": 2.0, "ridge": 0.05},
    }
)
SPIKED = MODEL.replace({"step": None, "spike": {"strength": 1.0, "alignment": 0.8, "bulk_variance": 1.2}})


# --- curves


def test_every_number_is_that_of_a_single_solve() -> None:
    found = curve(MODEL, ["fit.samples=0.5,1,2", "network.width=0.8,1.5"])
    assert len(found) == 6
    for row in range(6):
        model = MODEL.replace(dict(found.grid.changes(row)))
        alone = solve(model)
        assert found.numbers("test_error")[row] == alone.test_error
        assert found.numbers("train_error")[row] == alone.train_error
        assert found.numbers("zeta_1")[row] == alone.order_parameters["zeta"][0]
        assert found.numbers("Q1_11")[row] == alone.order_parameters["Q1"][0, 0]
        assert found.numbers("spike_strength")[row] == alone.spike.strength
        without = solve(random_features(model))
        assert found.numbers("random_features_test_error")[row] == without.test_error
    assert set(found["status"]) == {"ok"} and set(found["reason"]) == {""}


def test_best_linear_error_in_closed_form() -> None:
    """E sign^2 - (E z sign)^2 = 1 - 2/pi; |z| is even: its variance, 1 - 2/pi too; He_2 keeps its 2."""
    assert best_linear_error("sign") == pytest.approx(1.0 - 2.0 / np.pi, abs=1e-12)
    assert best_linear_error("linear") == pytest.approx(0.0, abs=1e-12)
    assert best_linear_error("abs") == pytest.approx(1.0 - 2.0 / np.pi, abs=1e-12)
    assert best_linear_error("quadratic") == pytest.approx(2.0, abs=1e-12)
    found = curve(MODEL, "target.link=sign,linear")
    np.testing.assert_allclose(found.numbers("best_linear_test_error"), [1.0 - 2.0 / np.pi, 0.0], atol=1e-12)


def test_the_best_linear_error_of_drawn_labels_is_that_of_their_mean() -> None:
    """exp(z/2): the square of its mean is exp(1/4), that of its slope a quarter of this."""
    drawn = {"target.link": "z/2", "target.channel": "poisson", "target.noise": 0.0}
    counts = MODEL.replace(drawn)
    found = curve(counts, {"fit.samples": [2.0]})
    wanted = np.exp(0.5) - 1.25 * np.exp(0.25)
    np.testing.assert_allclose(found.numbers("best_linear_test_error"), [wanted], rtol=1e-10)


def test_random_features_are_solved_once_where_only_the_step_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = solved_points(monkeypatch)
    found = curve(MODEL, "step.learning_rate=0.5,1,2,4")
    assert len(calls) == 4 + 1
    assert len(np.unique(found.numbers("random_features_test_error"))) == 1
    calls.clear()
    curve(MODEL, "step.learning_rate=0.5,1", baselines=False)
    assert len(calls) == 2


def test_what_the_best_estimator_is_not_told_is_kept() -> None:
    """The alignment of a given spike, where some point has one; networks that are given it may do better."""
    told = curve(SPIKED, "spike.alignment=0,0.8", baselines=False, optimal=True)
    assert "alignment" in told.options["optimal"]["ignores"]
    assert "alignment" in json.loads(told.to_json())["options"]["optimal"]["ignores"]
    untold = curve(MODEL, "fit.samples=1", baselines=False, optimal=True)
    assert untold.options["optimal"]["ignores"] == "" and "optimal" not in curve(MODEL, "fit.samples=1").options


def test_points_that_fail_have_no_number_but_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(model: Model) -> None:
        if model.fit.samples == 1.0:
            raise NotConverged("did not settle", "try something else")
        if model.fit.samples == 3.0:
            raise BadInput("cannot be", "change it")

    before_each_point(monkeypatch, fail)
    found = curve(MODEL, "fit.samples=0.5,1,2,3", baselines=False)
    assert found["status"] == ("ok", "not_converged", "ok", "impossible")
    assert found["reason"] == ("", "did not settle; try something else", "", "cannot be; change it")
    assert np.isnan(found.numbers("test_error")).tolist() == [False, True, False, True]
    assert [row for row, _ in found.failures()] == [1, 3]
    assert json.loads(found.to_json())["columns"]["test_error"][1] is None


def test_a_sweep_without_any_possible_point_is_bad_input() -> None:
    with pytest.raises(BadInput, match="jumps"):
        curve(MODEL.replace({"network.activation": "sign"}), "fit.samples=1,2")


@pytest.mark.parametrize(
    ("sweep", "options"),
    [
        ("fit.samples=-1:2:5", {}),
        ("fit.samples=1:2:5", {"simulate": True}),
        ("fit.samples=1:2:5", {"dimension": 1}),
        ("fit.samples=1:2:5", {"simulate": True, "dimension": 50, "seeds": 0}),
        ("fit.samples=1:2:5", {"simulate": True, "dimension": 50, "what": "other"}),
        ("fit.samples=1:2:5", {"simulate": True, "dimension": 50, "simulate_points": 0}),
        ("fit.samples=1:2:5", {"tolerance": 0.0}),
        ("network.activation=tanh,nonsense(z)", {}),
        ("spike.strength=1,2", {}),
    ],
)
def test_what_is_impossible_is_refused_before_any_solve(
    monkeypatch: pytest.MonkeyPatch, sweep: str, options: dict[str, Any]
) -> None:
    calls = solved_points(monkeypatch)
    with pytest.raises(BadInput):
        curve(MODEL, sweep, **options)
    assert not calls


def test_executors_give_the_same_bytes() -> None:
    sweeps = ["fit.samples=0.2:3:70", "fit.ridge=0.01,1"]
    options: dict[str, Any] = {"simulate": True, "dimension": 30, "seeds": 3, "simulate_points": 3}
    solved = curve(MODEL, sweeps, **options)
    assert not any(solved["reason"])
    here = solved.to_json()
    with ThreadPoolExecutor(3) as pool:
        assert curve(MODEL, sweeps, executor=pool, **options).to_json() == here
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        assert curve(MODEL, sweeps, executor=processes, **options).to_json() == here


def test_progress_counts_every_unit_of_every_stage() -> None:
    seen: list[tuple[str, int, int]] = []
    curve(
        MODEL,
        "fit.samples=1,2",
        simulate=True,
        dimension=20,
        seeds=2,
        progress=lambda *told: seen.append(told),
    )
    assert [one for one in seen if one[0] == "theory"] == [("theory", 1, 2), ("theory", 2, 2)]
    assert {stage for stage, done, total in seen if done == total} == {
        "theory",
        "random features",
        "finite size",
        "simulation",
    }


# --- interruption


def test_an_interrupted_sweep_goes_on_where_it_stopped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    sweep, kept = "fit.samples=0.2:3:150", tmp_path / "c.partial.jsonl"
    whole = curve(MODEL, sweep).to_json()
    calls = solved_points(monkeypatch, stop_at=100)
    with pytest.raises(KeyboardInterrupt):
        curve(MODEL, sweep, checkpoint=kept)
    assert len(kept.read_bytes().splitlines()) == 64  # whole chunks
    calls = solved_points(monkeypatch)
    again = curve(MODEL, sweep, checkpoint=kept)
    assert len(calls) == 150 - 64 + 150  # theory, then all of the random features
    assert again.to_json() == whole
    calls.clear()
    assert curve(MODEL, sweep, checkpoint=kept).to_json() == whole
    assert not calls


def test_torn_and_foreign_lines_are_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    sweep, kept = "fit.samples=1,2,3", tmp_path / "c.partial.jsonl"
    whole = curve(MODEL, sweep, baselines=False, checkpoint=kept).to_json()
    lines = kept.read_bytes().splitlines(keepends=True)
    assert len(lines) == 3
    foreign = b'{"key": "x"}\n[1]\nnull\n\xff\xfe\n{"key":"k","status":"ok","values":{"a":"b"},"reason":""}\n'
    kept.write_bytes(foreign + lines[0] + lines[1] + lines[2][:40])
    calls = solved_points(monkeypatch)
    assert curve(MODEL, sweep, baselines=False, checkpoint=kept).to_json() == whole
    assert len(calls) == 1
    calls.clear()
    assert curve(MODEL, sweep, baselines=False, checkpoint=kept).to_json() == whole
    assert not calls  # what was appended after the torn line can be read


def test_finished_points_stay_on_the_disk(tmp_path: Path) -> None:
    """In memory is where they are: a key, a place and a slot of a table, less than half a kilobyte in all."""
    values = {f"column {number}": number / 7 for number in range(30)}
    with Checkpoint(tmp_path / "kept") as store:
        store.add({"first": Outcome("ok", values)})
        tracemalloc.start()
        store.add({f"{number:032x}": Outcome("ok", values | {"column 0": number}) for number in range(400)})
        used = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert len(store) == 401 and used < 400 * 500
        assert store.get("first") == Outcome("ok", values) and store.get("second") is None
        assert store.get(f"{123:032x}") == Outcome("ok", values | {"column 0": 123})
        store.add({"last": Outcome("not_converged", {}, "why")})
    with Checkpoint(tmp_path / "kept") as store:
        assert len(store) == 402 and store.get("last") == Outcome("not_converged", {}, "why")
        assert store.get(f"{299:032x}") == Outcome("ok", values | {"column 0": 299})


@pytest.mark.parametrize(
    ("old", "new"), [(b"1", b"2"), (b"test_error", b"test_erroR"), (b"0.", b"NaN"), (b"ok", b"no")]
)
def test_a_changed_line_is_computed_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, old: bytes, new: bytes
) -> None:
    sweep, kept = "fit.samples=1,2,3", tmp_path / "c.partial.jsonl"
    whole = curve(MODEL, sweep, baselines=False, checkpoint=kept).to_json()
    first, *others = kept.read_bytes().splitlines(keepends=True)
    start = first.index(b'"ok"')
    changed = first[:start] + first[start:].replace(old, new, 1)
    assert changed != first
    kept.write_bytes(b"".join([changed, *others]))
    calls = solved_points(monkeypatch)
    assert curve(MODEL, sweep, baselines=False, checkpoint=kept).to_json() == whole
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("change", "options"),
    [({"fit.ridge": 0.06}, {}), ({"target.noise": 0.2}, {}), ({}, {"tolerance": 1e-9})],
)
def test_a_changed_model_or_option_reuses_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, change: dict[str, Any], options: dict[str, Any]
) -> None:
    kept = tmp_path / "c.partial.jsonl"
    curve(MODEL, "fit.samples=1,2", baselines=False, checkpoint=kept)
    calls = solved_points(monkeypatch)
    curve(MODEL.replace(change), "fit.samples=1,2", baselines=False, checkpoint=kept, **options)
    assert len(calls) == 2


def test_a_first_point_without_known_rows_leaves_the_others() -> None:
    """Where two steps on one batch have few samples, too many nodes are needed."""
    step = {"samples": 0.01, "learning_rate": 1.0}
    model = MODEL.replace({"step": [step, {**step, "batch": "same"}], "target.link": "He(3,z)/sqrt(6)"})
    found = curve(model, "step.samples=0.01,4", baselines=False)
    few, many = found["test_error"]
    assert np.isnan(few) and 1.0 < many < 1.6
    assert "too many nodes" in found["reason"][0]


def test_finished_seeds_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kept = tmp_path / "c.partial.jsonl"
    options: dict[str, Any] = {"simulate": True, "dimension": 30, "seeds": 4, "checkpoint": kept}
    ran: list[Any] = []

    def counting(*arguments: Any) -> Any:
        ran.append(arguments)
        return simulate_seed(*arguments)

    def stopping(*arguments: Any) -> Any:
        if len(ran) == 2:
            raise KeyboardInterrupt
        return counting(*arguments)

    monkeypatch.setattr("giantstep.sweep.tasks.simulate_seed", stopping)
    with pytest.raises(KeyboardInterrupt):
        curve(MODEL, "fit.samples=1,2", **options)
    monkeypatch.setattr("giantstep.sweep.tasks.simulate_seed", counting)
    found = curve(MODEL, "fit.samples=1,2", **options)
    assert len(ran) == 4
    monkeypatch.undo()
    assert found.to_json() == curve(MODEL, "fit.samples=1,2", **{**options, "checkpoint": None}).to_json()


def test_a_checkpoint_that_holds_nothing_is_not_left_behind(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="jumps"):
        curve(MODEL.replace({"network.activation": "sign"}), "fit.samples=1,2", checkpoint=tmp_path / "c.jsonl")
    assert not list(tmp_path.iterdir())


def test_an_unwritable_checkpoint_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be kept"):
        curve(MODEL, "fit.samples=1,2", checkpoint=tmp_path / "none" / "c.jsonl")


_SLOW = """
import sys, time
from importlib import import_module
module = import_module("giantstep.sweep.tasks")
genuine = module.run_all
def slow(units):
    time.sleep(0.02 * len(units))
    return genuine(units)
module.run_all = slow
from giantstep.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def test_killing_the_program_leaves_no_half_written_file(tmp_path: Path) -> None:
    model, output = tmp_path / "m.toml", tmp_path / "c.json"
    model.write_text(MODEL.to_toml())
    command = [
        "curve",
        str(model),
        "--sweep",
        "fit.samples=0.2:3:640",
        "--output",
        str(output),
        "--no-baselines",
    ]
    kept = Path(f"{output}.partial.jsonl")
    program = subprocess.Popen(
        [sys.executable, "-c", _SLOW, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 120
    while not (kept.exists() and kept.stat().st_size) and program.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    program.kill()
    assert program.wait() != 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.json.partial.jsonl", "m.toml"]
    finished = len(kept.read_bytes().splitlines())
    assert 0 < finished < 640
    again = subprocess.run(
        [sys.executable, "-m", "giantstep.cli", *command], capture_output=True, text=True, check=True
    )
    assert "finished points" in again.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.json", "m.toml"]
    assert output.read_text() == curve(MODEL, "fit.samples=0.2:3:640", baselines=False).to_json()
