"""The first compilation in two processes: kernels end up in numba's cache, and a failure there costs nothing."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import MethodType, ModuleType
from typing import Any

import pytest
from numba import typeof
from numba.core.types import BaseFunction

import giantstep.system.first_compilation as first
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.model import Fit, Model, Network, Spike, Target
from giantstep.system.first_compilation import compile_first, is_cold, share, tasks_of
from giantstep.system.kernels import loss_kernel, system_kernel
from giantstep.system.solve import solve

SCRIPT = """
import sys
from giantstep import Fit, Model, Network, Readout, Step, Target, solve
from giantstep.spec.kernels import function_kernel
from giantstep.system.kernels import system_kernel
from giantstep.spec.errors import NotConverged
from giantstep.spec.fit_loss import FitLoss

def compiled(kernel):
    return sum(kernel.stats.cache_misses.values())

network = Network("cubic", 1.0, Readout((1.0, -0.5), (0.5, 0.5)))
models = [Model(network, Target("linear"), Fit(2.0, 0.1, FitLoss(sys.argv[1])), Step(2.0, 1.0))]
a, noise, samples = 0.9554113814918994, 0.00817945945641852, 0.10805627988186074
fractions = (0.31406079179322227, 0.15062806398892029, 0.2241729477228956, 0.3111381964949618)
network = Network("leaky_relu", samples, Readout((a, -a, a, -a), fractions))
for ridge in (0.1, 1e-8):  # samples are as many as neurons: rounding of a start is felt in the last, up to a refusal
    fit = Fit(samples, ridge, FitLoss(sys.argv[1]))
    models.append(Model(network, Target("erf", noise), fit, Step(3.7687312755021627, 8.843225872965885)))
for model in models:
    try:
        found = solve(model)
        print(found.test_error.hex(), found.train_error.hex(), found.order_parameters["Q1"].tobytes().hex())
    except NotConverged as error:
        print(error.message)
solve(Model(network, Target("erf"), Fit(1.0, 0.1)))  # what compiles more, which later starts may use
system = system_kernel("isotropic")
kernels = [system_kernel("square").solve, system.fields, system.residual, system.jacobian, system.observables]
print(sum(map(compiled, kernels)), int(function_kernel("cubic").FUNCTION.closed.terms.file.read() is not None))
"""
FLIPPED = Target("sign", flips=0.1)


def _model(loss: str = "square", target: Target | None = None) -> Model:
    spike = Spike(1.0, 0.5, 1.0) if target is None or target.indices == 1 else Spike(1.0, (0.5, 0.3), 1.0)
    return Model(Network("linear", 1.0), target or Target("cubic"), Fit(2.0, 0.1, FitLoss(loss)), spike=spike)


@pytest.fixture(autouse=True)
def forget(processes_of_their_own: None) -> None:
    """What is cold is looked up once for all solves of a process."""
    first._once_cold.cache_clear()


@pytest.mark.parametrize("loss", ["square", "absolute"])
def test_nothing_is_compiled_a_second_time_and_answers_keep_their_bits(loss: str, tmp_path: Path) -> None:
    """Two processes one after the other that share a cache, empty at first, each with its helper; where the first
    compiles nothing for a start, or compiles another way, digits of the second differ.
    """
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", SCRIPT, loss]
    cold, again = (
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()
        for _ in range(2)
    )
    assert again == [*cold[:-2], "0", "1"]


def test_a_task_is_done_by_one_process(tmp_path: Path) -> None:
    done: list[str] = []
    tasks = [lambda: done.append("first"), lambda: done.append("second"), lambda: done.append("third")]
    (tmp_path / "1").touch()  # the other process is at it
    share(tasks, tmp_path)
    share(tasks, tmp_path)
    assert done == ["first", "third"]


def test_numba_is_left_as_it_was(tmp_path: Path) -> None:
    find = BaseFunction.get_call_type
    seen = []

    def task() -> None:
        seen.append(BaseFunction.get_call_type)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        share([task], tmp_path)
    assert seen != [find]
    assert BaseFunction.get_call_type is find


@pytest.mark.parametrize(
    "model",
    [
        _model("huber"),
        _model("logistic", FLIPPED),
        _model("huber", Target("sign", noise=0.2)),
        _model("log_cosh", Target("z1 + tanh(z2)", noise=0.1)),
    ],
    ids=["residual", "labels on intervals", "noise on intervals", "two indices"],
)
def test_what_is_compiled_first_is_what_a_solve_calls(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are compiled anew for other types of arguments: those of the tasks are those of a solve."""
    prepared: dict[str, Any] = {}
    called: dict[str, Any] = {}

    def note(kernel: Any, arguments: Sequence[object]) -> None:
        prepared[kernel.py_func.__name__] = tuple(map(typeof, arguments))

    def watch(module: ModuleType, name: str) -> None:
        real = getattr(module, name)

        def kernel(*arguments: object) -> object:
            law = (real.__self__.law,) if isinstance(real, MethodType) else ()  # a loss gives the first
            types = tuple(map(typeof, (*law, *arguments)))
            assert called.setdefault(name, types) == types
            return real(*arguments)

        monkeypatch.setattr(module, name, kernel)

    monkeypatch.setattr(first, "is_cold", lambda kernel: False)
    monkeypatch.setattr(first, "_compile", note)
    for task in tasks_of(model):
        task()
    for name in ("fields", "residual", "jacobian", "observables"):
        watch(system_kernel("isotropic", model.target.indices), name)
    for name in ("points", "intervals", "lines"):
        watch(loss_kernel(model.fit.loss), name)
    solve(model)
    assert called.items() <= prepared.items()
    assert len(called) == 5


def test_a_kernel_is_cold_until_compiled() -> None:
    solve(_model())
    assert not is_cold(system_kernel("square").solve)


@pytest.mark.parametrize("loss", ["square", "huber"])
def test_a_child_that_cannot_start_is_no_error(monkeypatch: pytest.MonkeyPatch, loss: str) -> None:
    started = []

    def refuse(*arguments: object, **_: object) -> None:
        started.append(arguments)
        raise OSError("no more processes")

    monkeypatch.setattr(first, "is_cold", lambda kernel: True)
    monkeypatch.setattr(first, "tasks_of", lambda model: [])
    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    for _ in range(2):  # what stays cold, as the process it was left to could not start, is not tried again
        compile_first(_model(loss))
        assert len(started) == 1


def test_nothing_is_started_when_the_solver_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions compile as fast as a process starts."""
    monkeypatch.setattr(first, "is_cold", lambda kernel: False)
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a process was started"))
    compile_first(_model())


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_is_told_what_takes_so_long(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once, on stderr; scripts read nothing new."""
    monkeypatch.setattr(first, "is_cold", lambda kernel: True)
    monkeypatch.setattr(first, "_child", lambda *_: None)
    monkeypatch.setattr(first, "tasks_of", lambda model: [])
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)  # which another test may have loaded
    for _ in range(2):
        compile_first(_model())
    found = capsys.readouterr()
    said = re.escape(first.ANNOUNCEMENT).replace(r"\{\}", r"\d+")
    assert found.out == "" and re.fullmatch(f"{said}\n" * terminal, found.err)
