"""Ctrl-C at any moment ends a command with one sentence and 130; a terminal is never silent for long."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import giantstep
from generated.runtime import kept_code
from giantstep.cli import heartbeat
from giantstep.cli.progress import Bars

ROOT = Path(giantstep.__file__).parents[1]
EXAMPLE = str(Path(__file__).parents[2] / "examples" / "tanh_sign.toml")
# the signal comes while a module is being loaded: what the first moments of a command consist of
SCRIPT = """
import os, signal, sys

class At:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # also where this runs in the background
sys.meta_path.insert(0, At())
from giantstep.cli.main import main
sys.exit(main(["solve", sys.argv[2]]))
"""
LOADED = ["argparse", "giantstep.cli.solve", "numpy", "giantstep.spec.model", "numba", "giantstep.system.square_loss"]


@pytest.mark.parametrize("module", LOADED)
def test_an_interrupted_start_is_one_sentence(module: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", SCRIPT, module, EXAMPLE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "giantstep: interrupted\n")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_seconds_are_counted_where_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = Terminal(), Terminal()
    monkeypatch.setattr(heartbeat, "QUIET", 0.04)
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    beaten = threading.Event()
    write = err.write
    monkeypatch.setattr(err, "write", lambda text: (write(text), "working" in text and beaten.set())[0])
    with heartbeat.heartbeat():
        assert beaten.wait(20.0)
        print("found")
    assert (sys.stdout, sys.stderr) == (out, err)
    assert out.getvalue() == "found\n"  # on the same terminal, after the line was erased
    assert "working, 0 s" in err.getvalue()
    assert err.getvalue().endswith("\r\x1b[K")


def test_a_stage_is_named_and_a_bar_that_closes_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    err = Terminal()
    monkeypatch.setattr(sys, "stderr", err)
    with heartbeat.heartbeat(), Bars() as bars:
        bars("derivation", 0, 1)
        bars("derivation", 1, 1)
        sys.stderr.write("")
        assert err.getvalue() == "\r\x1b[Kderivation"
        bars("theory", 0, 42)
        assert err.getvalue().count("0/42") == 1
    assert "0/1" not in err.getvalue()


@pytest.mark.parametrize(("total", "words"), [(42, "theory: 3 of 42"), (0, "theory: 3")])
def test_files_and_pipes_get_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch, total: int, words: str) -> None:
    out, err = Terminal(), io.StringIO()
    monkeypatch.setattr(heartbeat, "MINUTE", 0.04)
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    written = threading.Semaphore(0)
    write = err.write
    monkeypatch.setattr(err, "write", lambda text: (write(text), written.release())[0])
    with heartbeat.heartbeat(), Bars() as bars:
        assert sys.stdout is out  # left alone
        bars("theory", 3, total)
        for _ in range(4):  # two lines: each is a text and its end
            assert written.acquire(timeout=20.0)
    assert (sys.stdout, sys.stderr, out.getvalue()) == (out, err, "")
    lines = set(err.getvalue().splitlines())
    assert {f"giantstep: {words}, 0 s"} <= lines <= {f"giantstep: {words}, 0 s", "giantstep: working, 0 s"}


def test_files_and_pipes_are_told_once_of_a_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    err = io.StringIO()
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setattr(heartbeat, "QUIET", 0.04)
    told = threading.Event()
    write = err.write
    monkeypatch.setattr(err, "write", lambda text: (write(text), told.set())[0])
    waits: dict[str, Any] = {"__name__": "numba.core.compiler"}
    exec("def compiled(wait, seconds):\n    wait(seconds)", waits)  # a call from a module of numba
    with heartbeat.heartbeat():
        assert not told.wait(0.2)  # nothing compiles
        waits["compiled"](told.wait, 20.0)
        assert told.is_set()
        waits["compiled"](time.sleep, 0.2)
    assert err.getvalue() == f"{heartbeat.COMPILING.format(heartbeat.ONCE)}\n"


@pytest.mark.parametrize(
    ("compiler", "given", "told"),
    [
        ("numba.core.compiler", "", "XDG_CACHE_HOME"),
        ("giantstep.spec.emission", "", "XDG_CACHE_HOME"),
        ("giantstep.spec.emission", "given", "GIANTSTEP_CACHE"),
    ],
)
def test_what_cannot_be_kept_is_told_with_the_variable_that_helps(
    compiler: str, given: str, told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Below a regular file no folder can be made."""
    nowhere = tmp_path / "file" / "folder"
    nowhere.parent.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(nowhere))
    monkeypatch.setenv("GIANTSTEP_CACHE", given and str(nowhere))
    monkeypatch.setattr(kept_code, "can_keep", lambda: True)  # beside the modules
    assert heartbeat._how_often("numba.core.compiler") == heartbeat.ONCE
    monkeypatch.setattr(kept_code, "can_keep", lambda: False)
    assert f"set {told} " in heartbeat._how_often(compiler)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "not" / "there"))
    monkeypatch.setenv("GIANTSTEP_CACHE", "")
    assert heartbeat._how_often("giantstep.spec.emission") == heartbeat.ONCE


def test_a_compiler_that_is_being_imported_compiles_nothing() -> None:
    called: dict[str, Any] = {"__name__": "numba.core.dispatcher", "compiling": heartbeat.compiling}
    exec("def compile():\n    return compiling()", called)
    assert called["compile"]() == "numba.core.dispatcher"
    for name in ("numba", "numba.core.decorators", "numba.np.arraymath"):
        imported = {"__name__": name, "compile": called["compile"]}
        exec("found = compile()", imported)
        assert imported["found"] == ""
