"""The first compilation in parallel processes: kernels end up in numba's cache, and a failure there costs nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import giantstep.warm as warm_module
from giantstep.warm import Kernel

SOLVE = """
from giantstep import Fit, Model, Network, Spike, Target, solve
from giantstep.kernels import function_kernel

model = Model(Network("cubic", 1.0), Target("linear"), Fit(2.0, 0.1), spike=Spike(1.0, 0.5, 1.0))
print(repr(solve(model).test_error))
for kernel in (function_kernel("cubic").closed, function_kernel("linear").closed):
    print(sum(kernel.stats.cache_hits.values()))
"""


def test_the_kernels_compiled_by_others_are_found(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", SOLVE]
    first, second = (
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()
        for _ in range(2)
    )
    assert first[1:] == ["1", "1"]  # not compiled by this process
    assert first == second


def test_a_kernel_is_cold_until_compiled() -> None:
    kernel = Kernel("function", "linear")
    kernel.compile()
    assert not kernel.cold()


def test_a_child_that_cannot_start_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    def refuse(*arguments: object, **_: object) -> None:
        started.append(arguments)
        raise OSError("no more processes")

    monkeypatch.setattr(Kernel, "cold", lambda self: True)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    warm_module.warm.__wrapped__("linear", "cubic", "square", 1)
    assert len(started) == 1


def test_functions_alone_are_not_worth_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """They compile as fast as a process starts."""
    monkeypatch.setattr(Kernel, "cold", lambda self: self.kind == "function")
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a process was started"))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    warm_module.warm.__wrapped__("linear", "cubic", "square", 1)
