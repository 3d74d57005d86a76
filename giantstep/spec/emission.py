"""Modules of user expressions and their machine code, made by another process with a budget of time and memory.

What SymPy and the compiler keep of an expression goes there: see ``workshop``.
"""

from __future__ import annotations

import atexit
import base64
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

from derive.language.grammar import shorten
from giantstep.spec.errors import BadInput
from giantstep.spec.workshop import TOO_LONG

SECONDS, GIBIBYTES = "GIANTSTEP_DERIVATION_SECONDS", "GIANTSTEP_DERIVATION_GIB"
_DEFAULTS: Mapping[str, float] = {SECONDS: 60.0, GIBIBYTES: 4.0}
_PATIENCE = 10.0  # seconds waited for one of processor time, which others may need too
_START = 60.0  # seconds waited at least: the other process has to load much before it begins


class Refused(ValueError):
    """An expression that the engine does not take: ``message`` says why and ``hint`` what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def emitted(kind: str, text: str) -> str:
    """The module of a "function" of z or of a "loss".

    Raises Refused where the expression is none or has no kernel, BadInput where it takes more than the budget.
    """
    return module_of(kind, text, _asked(kind, text, f"the {kind} {shorten(text)} is too hard to derive"))


def module_of(kind: str, text: str, found: Mapping[str, Any]) -> str:
    """The module in an answer. Raises Refused and BadInput as `emitted` does."""
    if "text" in found:
        return str(found["text"])
    if "nested" in found:
        raise _beyond(f"the {kind} {shorten(text)} is too hard to derive", "is nested too deeply for SymPy")
    raise Refused(found["message"], found["hint"])


def machine_code(title: str, text: str) -> dict[str, tuple[str, bytes]]:
    """Of the functions in an emitted module that are called by address: by name the entry and the object file.

    title: of the module, in messages. Raises BadInput where it takes more than the budget.
    """
    subject = f"the {title} is too hard to compile"
    found = _asked("code", text, subject)
    if "code" not in found:
        raise _beyond(subject, found.get("message") or "is nested too deeply for the compiler")
    return {name: (entry, base64.b64decode(content)) for name, (entry, content) in found["code"].items()}


def budget(name: str) -> float:
    """The budget of processor time (seconds) or memory (GiB) of a derivation. Raises BadInput for what is no number."""
    given = os.environ.get(name, "")
    with suppress(ValueError):
        if not given or 0.0 < float(given) < 1e6:
            return float(given or _DEFAULTS[name])
    raise BadInput(f"{name} is {given!r}", f"it must be a positive number; without it {_DEFAULTS[name]:g} holds")


def environment() -> dict[str, str]:
    """This process's environment, with its own search path: a child imports the same packages."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}


def _asked(kind: str, text: str, subject: str) -> Mapping[str, Any]:
    seconds, gibibytes = budget(SECONDS), budget(GIBIBYTES)
    patience = max(_START, _PATIENCE * seconds)
    request = json.dumps({"kind": kind, "text": text, "bytes": int(gibibytes * 2**30), "seconds": seconds})
    try:
        found = _workshop(os.getpid()).ask(request, patience)
    except TimeoutError:
        raise _beyond(
            subject, f"had no end after {patience:g} s, however little of them the processor had for it"
        ) from None
    if found == TOO_LONG:
        raise _beyond(subject, f"takes more than {seconds:g} s of processor time")
    if "memory" in found:
        raise _beyond(subject, f"takes more than {gibibytes:g} GiB")
    if "failed" in found:
        raise RuntimeError(f"the derivation of {shorten(text)} failed:\n{found['failed']}")
    return found


def _beyond(subject: str, reason: str) -> BadInput:
    return BadInput(
        f"{subject}: it {reason}",
        f"write it more simply, or allow more: {SECONDS} (now {budget(SECONDS):g}), {GIBIBYTES} "
        f"(now {budget(GIBIBYTES):g})",
    )


@lru_cache(maxsize=1)
def _workshop(process: int) -> _Workshop:
    """The other process of this one, by its number: a copy of this process needs its own."""
    found = _Workshop(process)
    atexit.register(found.close)
    return found


class _Workshop:
    """The other process, started when it is asked and not there."""

    def __init__(self, owner: int) -> None:
        self._owner, self._lock = owner, threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def ask(self, request: str, seconds: float) -> Mapping[str, Any]:
        """The answer. Raises TimeoutError where there is none in time."""
        with self._lock:
            found = self._answer(request, seconds)
            if found is None:  # it left for lack of work as we began
                found = self._answer(request, seconds)
            return {"failed": "the other process left"} if found is None else found

    def close(self) -> None:
        """End it, with what it is doing."""
        process, self._process = self._process, None
        if process is None or os.getpid() != self._owner:
            return
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)  # its copies too
            else:
                process.kill()
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                stream.close()  # type: ignore[union-attr]
        process.wait()

    def _answer(self, request: str, seconds: float) -> Mapping[str, Any] | None:
        """None where the process has left of its own accord."""
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = _started()
        process, end = self._process, time.monotonic() + seconds
        alarm = threading.Timer(seconds, self.close)
        alarm.daemon = True
        alarm.start()
        try:
            line = _exchanged(process, request)
        except BaseException:
            self.close()
            raise
        finally:
            alarm.cancel()
        if line.endswith("\n"):
            found: Mapping[str, Any] = json.loads(line)
            return found
        self.close()
        if time.monotonic() >= end:
            raise TimeoutError
        if process.returncode > 0:
            return {"failed": f"the other process ended with code {process.returncode}"}
        return None if process.returncode == 0 else {"memory": ""}


def _started() -> subprocess.Popen[str]:
    command = [sys.executable or "python3", "-P", "-m", "giantstep.spec.workshop"]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**environment(), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
        text=True,
        encoding="utf-8",
        start_new_session=True,  # signals of a terminal are for this process
    )


def _exchanged(process: subprocess.Popen[str], request: str) -> str:
    """What the process writes to a request; nothing where it ends before."""
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(f"{request}\n")
        process.stdin.flush()
        return process.stdout.readline()
    except (OSError, ValueError):  # ended, or closed by the alarm
        return ""
