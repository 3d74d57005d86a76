"""Sweeps on a Dask cluster: the same bytes as in one process, also where a worker is killed on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import giantstep as gs
from giantstep.cli.main import main

distributed = pytest.importorskip("distributed", reason="the extra cluster is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
SWEEP = ["fit.samples=0.1:4:150", "step.learning_rate=0.5,1,2"]
TEXT = """
[network]
activation = "tanh"
width = 0.5
[step]
samples = 16.0
learning_rate = 1.0
[target]
link = "sign"
[fit]
samples = 2.0
ridge = 0.1
loss = "logistic"
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.toml"
    path.write_text(TEXT)
    gs.solve(path)  # compiled before the workers start
    return path


def cluster() -> Any:
    return distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)


def test_a_killed_worker_changes_no_byte(model: Path) -> None:
    alone = gs.curve(model, SWEEP, baselines=False)
    with cluster() as workers, distributed.Client(workers) as client:
        victim = next(iter(workers.workers.values())).pid
        done = []

        def progress(stage: str, count: int, total: int) -> None:
            done.append(count)
            if len(done) == 100:
                os.kill(victim, signal.SIGKILL)

        shared = gs.curve(model, SWEEP, baselines=False, executor=client.get_executor(), progress=progress)
    assert max(done) == 450 and shared.to_json() == alone.to_json()


def test_the_command_on_a_cluster(model: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    saved = tmp_path / "curve.json"
    with cluster() as workers:
        command = ["curve", str(model), "--sweep", SWEEP[0], "--no-baselines", "--output", str(saved)]
        assert main([*command, "--cluster", workers.scheduler_address]) == 0
    first = saved.read_bytes()
    saved.unlink()
    assert main([*command, "--cluster", workers.scheduler_address]) == 2  # it has gone
    assert "no Dask scheduler answers" in capfd.readouterr().err
    assert main(command) == 0 and saved.read_bytes() == first


def test_the_example_of_a_million_points_on_fewer(model: Path, tmp_path: Path) -> None:
    """A worker is killed on the way; what is stored are the bits of one process."""
    script = Path(__file__).parents[2] / "examples" / "million_points.py"
    environment = {**os.environ, "PYTHONPATH": str(Path(gs.__file__).parents[1])}
    command = [sys.executable, str(script), "80"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    assert "a worker is killed" in done.stdout and "6400 of them ok" in done.stdout
    assert "the same bits in one process: True" in done.stdout


def test_jobs_and_cluster_exclude_each_other(model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["curve", str(model), "--sweep", "fit.samples=1,2", "--jobs", "2", "--cluster", "tcp://localhost:1"]) == 2
    )
    assert "leave out --jobs" in capfd.readouterr().err
