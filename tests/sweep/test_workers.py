"""Numbers of workers in the place of executors: the same bits, no script run twice, nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import giantstep as gs
from giantstep.spec import bars
from giantstep.sweep import workers
from giantstep.sweep.workers import executor_of

ROOT = str(Path(gs.__file__).parents[1])
MODEL = gs.model("linear", link="cubic", ridge=0.1)
SWEEP = ["fit.samples=0.5:2:70", "network.width=0.5,1"]
# without "if __name__ == '__main__'", as in a first script
SCRIPT = """
import giantstep as gs
print("begin")
model = gs.model("linear", link="cubic", ridge=0.1, noise=0.1)
print(gs.curve(model, ["fit.samples=0.5:2:70", "network.width=0.5,1"], executor=2, baselines=False).to_json())
"""


def test_a_script_may_ask_for_two_processes(tmp_path: Path) -> None:
    """It is not run again by them, and gets the bits of one process."""
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": ROOT}
    done = subprocess.run([sys.executable, str(path)], env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    begin, _, text = done.stdout.partition("\n")
    assert begin == "begin" and "begin" not in text
    model = gs.model("linear", link="cubic", ridge=0.1, noise=0.1)
    assert text.rstrip("\n") == gs.curve(model, SWEEP, baselines=False).to_json().rstrip("\n")


def test_so_many_threads_where_the_kernel_does_the_work() -> None:
    values = {"fit.samples": [0.5, 1.5], "fit.ridge": [[0.1], [1.0]]}
    alone = gs.solve_many(MODEL, values)
    assert gs.solve_many(MODEL, values, executor=2).to_json() == alone.to_json()
    with executor_of(2, threads=True) as pool:
        assert isinstance(pool, ThreadPoolExecutor)
    with executor_of(1) as nobody:
        assert nobody is None
    with ThreadPoolExecutor(1) as mine, executor_of(mine) as found:
        assert found is mine


def test_two_threads_may_start_processes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The script of the user is back in its place, in whatever order they finish."""
    main, seen, waits = sys.modules["__main__"], [], iter((0.05, 0.15))

    def started(_: object) -> None:
        seen.append(sys.modules["__main__"])
        time.sleep(next(waits))

    monkeypatch.setattr(workers.SpawnProcess, "_Popen", staticmethod(started))
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(workers._Process._Popen, (None, None)))
    assert sys.modules["__main__"] is main and len(seen) == 2 and main not in seen


def test_what_processes_need_is_compiled_before_they_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[tuple[gs.Model, int]] = []
    pool = ProcessPoolExecutor(2)

    def compiling(model: gs.Model) -> None:
        compiled.append((model, len(pool._processes)))
        raise gs.BadInput("of a point")

    monkeypatch.setattr(workers, "compile_first", compiling)
    monkeypatch.setattr(pool, "submit", lambda work, *arguments: done(work(*arguments)))
    for call in (
        lambda: gs.curve(MODEL, "fit.samples=1,2", executor=pool),
        lambda: gs.map(MODEL, "fit.samples=1,2", "fit.ridge=1,2", executor=pool, refine=0),
        lambda: gs.solve_many(MODEL, {"fit.samples": [1.0, 2.0]}, executor=pool),
    ):
        call()
        assert len(compiled) == 1 and compiled.pop()[1] == 0
    with ThreadPoolExecutor(1) as threads:
        gs.curve(MODEL, "fit.samples=1,2", executor=threads)
    assert not compiled


def done(value: Any) -> Future[Any]:
    """What is there already, as a future."""
    found: Future[Any] = Future()
    found.set_result(value)
    return found


@pytest.mark.parametrize("given", [0, -1, True, 1.5, "auto", [2]])
def test_what_is_no_executor_is_refused(given: Any) -> None:
    for call in (
        lambda: gs.curve(MODEL, "fit.samples=1,2", executor=given),
        lambda: gs.map(MODEL, "fit.samples=1,2", "fit.ridge=1,2", executor=given),
        lambda: gs.solve_many(MODEL, {"fit.samples": [1.0]}, executor=given),
    ):
        with pytest.raises(gs.BadInput, match="is no executor"):
            call()


def test_the_environment_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with executor_of(2) as pool:
        assert pool is not None and "OMP_NUM_THREADS" in os.environ
    assert "OMP_NUM_THREADS" not in os.environ


def test_bars_of_tqdm(capsys: pytest.CaptureFixture[str]) -> None:
    gs.curve(MODEL, "fit.samples=0.5:2:5", progress="auto", baselines=False)
    gs.map(MODEL, "fit.samples=0.5,2", "fit.ridge=0.1,1", progress="auto", refine=0)
    gs.solve_many(MODEL, {"fit.samples": [1.0, 2.0]}, progress="auto")
    shown = capsys.readouterr().err
    assert shown.count("theory") >= 3 and "0/5" in shown
    with pytest.raises(gs.BadInput, match='give "auto"'):
        gs.curve(MODEL, "fit.samples=1,2", progress="bar")  # type: ignore[arg-type]


def test_no_bars_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.warns(UserWarning, match="no progress is shown, tqdm cannot be loaded"):
        found = gs.solve_many(MODEL, {"fit.samples": [1.0]}, progress="auto")
    assert found["status"] == ("ok",)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with bars.progress_of(None) as nobody:
            assert nobody is None
