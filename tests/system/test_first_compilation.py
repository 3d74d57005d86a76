"""The first compilation in two processes: kernels end up in numba's cache, and a failure there costs nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import giantstep.system.first_compilation as warm_module
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.kernels import solver_kernel
from giantstep.spec.model import Fit, Model, Network, Spike, Target
from giantstep.system.first_compilation import is_cold, warming

HEAD = """
from giantstep import Fit, Model, Network, Readout, Spike, Step, Target, solve
from giantstep.spec.kernels import function_kernel, solver_kernel

def hits(kernel):
    return sum(kernel.stats.cache_hits.values())

def terms_hits(name):
    return function_kernel(name).FUNCTION.closed.terms.code.cache_hits
"""
ONE = """
model = Model(Network("cubic", 1.0), Target("linear"), Fit(2.0, 0.1), spike=Spike(1.0, 0.5, 1.0))
print(repr(solve(model).test_error))
for name in ("cubic", "linear"):
    print(terms_hits(name))
"""
TWO = """
network = Network("cubic", 1.0, Readout((1.0, -0.5), (0.5, 0.5)))
model = Model(network, Target("linear"), Fit(2.0, 0.1), Step(2.0, 1.0))
print(repr(solve(model).test_error))
solver = solver_kernel("square")
print(terms_hits("cubic"))
for kernel in (solver._equations_6, solver.solve):
    print(hits(kernel))
"""


def _twice(script: str, folder: Path) -> list[list[str]]:
    """What two processes print that share a cache, empty at first."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    command = [sys.executable, "-c", HEAD + script]
    return [
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()
        for _ in range(2)
    ]


def _model(loss: str = "square") -> Model:
    spike = Spike(1.0, 0.5, 1.0)
    return Model(Network("linear", 1.0), Target("cubic"), Fit(2.0, 0.1, FitLoss(loss)), spike=spike)


def test_functions_compiled_by_the_other_process_are_found(tmp_path: Path) -> None:
    first, second = _twice(ONE, tmp_path)
    assert first[1:] == ["1", "1"]  # not compiled by this process
    assert first == second


def test_a_part_of_the_solver_compiled_by_the_other_process_is_found(tmp_path: Path) -> None:
    first, second = _twice(TWO, tmp_path)
    assert first[1] == second[1] == "1"
    assert (first[3], second[3]) == ("0", "1")  # the entry is compiled by the process that solves, once
    assert first[0] == second[0]


def test_a_kernel_is_cold_until_compiled() -> None:
    warm_module.compile_solver(1)
    assert not is_cold(solver_kernel("square").solve)


@pytest.mark.parametrize("loss", ["square", "huber"])
def test_a_child_that_cannot_start_is_no_error(monkeypatch: pytest.MonkeyPatch, loss: str) -> None:
    started = []

    def refuse(*arguments: object, **_: object) -> None:
        started.append(arguments)
        raise OSError("no more processes")

    monkeypatch.setattr(warm_module, "is_cold", lambda kernel: True)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    warm_module._once_cold.cache_clear()
    for _ in range(2):  # what stays cold, as the process it was left to could not start, is not tried again
        with warming(_model(loss)):
            assert len(started) == 1
    warm_module._once_cold.cache_clear()


def test_nothing_is_started_when_the_solver_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions compile as fast as a process starts."""
    monkeypatch.setattr(warm_module, "is_cold", lambda kernel: False)
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a process was started"))
    warm_module._once_cold.cache_clear()
    with warming(_model()):
        pass
    warm_module._once_cold.cache_clear()


@pytest.mark.parametrize("loss", ["square", "huber"])
def test_what_the_other_process_runs_compiles_everything(loss: str, capsys: pytest.CaptureFixture[str]) -> None:
    warm_module.compile_beside(_model(loss))
    assert capsys.readouterr().out == "\n"


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_is_told_what_takes_so_long(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once, on stderr; scripts read nothing new."""
    monkeypatch.setattr(warm_module, "is_cold", lambda kernel: True)
    monkeypatch.setattr(warm_module, "_child", lambda model: None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    warm_module._once_cold.cache_clear()
    for _ in range(2):
        with warming(_model()):
            pass
    warm_module._once_cold.cache_clear()
    found = capsys.readouterr()
    assert (found.out, found.err) == ("", f"{warm_module.ANNOUNCEMENT}\n" * terminal)
