"""Modules of user expressions, derived and emitted in a process of its own with a budget of time and memory.

``python -m giantstep.spec.emission`` reads a request as JSON and answers with the text of the module. What SymPy keeps
for an expression goes with the process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress

from derive.language.grammar import shorten
from giantstep.spec.errors import BadInput

SECONDS, GIBIBYTES = "GIANTSTEP_DERIVATION_SECONDS", "GIANTSTEP_DERIVATION_GIB"
_DEFAULTS: Mapping[str, float] = {SECONDS: 60.0, GIBIBYTES: 4.0}


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
    seconds, gibibytes = budget(SECONDS), budget(GIBIBYTES)
    request = json.dumps({"kind": kind, "text": text, "bytes": int(gibibytes * 2**30)})
    command = [sys.executable or "python3", "-P", "-m", "giantstep.spec.emission"]
    try:
        done = subprocess.run(
            command, input=request, capture_output=True, text=True, timeout=seconds, env=environment(), check=False
        )
    except subprocess.TimeoutExpired:
        raise _too_hard(kind, text, f"takes more than {seconds:g} s") from None
    found = _read(done.stdout)
    if found is None:
        if done.returncode > 0 and "MemoryError" not in done.stderr:
            raise RuntimeError(f"the derivation of {text!r} failed:\n{done.stderr[-4000:]}")
        raise _too_hard(kind, text, f"takes more than {gibibytes:g} GiB")
    return module_of(kind, text, found)


def module_of(kind: str, text: str, found: Mapping[str, str]) -> str:
    """The module in an answer. Raises Refused and BadInput as `emitted` does."""
    if "text" in found:
        return found["text"]
    if "nested" in found:
        raise _too_hard(kind, text, "is nested too deeply for SymPy")
    raise Refused(found["message"], found["hint"])


def budget(name: str) -> float:
    """The budget of time (seconds) or memory (GiB) of one derivation. Raises BadInput for what is no number."""
    given = os.environ.get(name, "")
    with suppress(ValueError):
        if not given or 0.0 < float(given) < 1e6:
            return float(given or _DEFAULTS[name])
    raise BadInput(f"{name} is {given!r}", f"it must be a positive number; without it {_DEFAULTS[name]:g} holds")


def environment() -> dict[str, str]:
    """This process's environment, with its own search path: a child imports the same packages."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}


def _too_hard(kind: str, text: str, reason: str) -> BadInput:
    return BadInput(
        f"the {kind} {shorten(text)} is too hard to derive: it {reason}",
        f"write it more simply, or allow more: {SECONDS} (now {budget(SECONDS):g}), {GIBIBYTES} "
        f"(now {budget(GIBIBYTES):g})",
    )


def _read(written: str) -> dict[str, str] | None:
    try:
        found: dict[str, str] = json.loads(written)
    except ValueError:
        return None
    return found


# --- in the process of its own -----------------------------------------------------------------------------------


def _function() -> Callable[[str], str]:
    from codegen.functions import emit  # SymPy takes half a second to load

    return lambda text: emit(text).text


def _loss() -> Callable[[str], str]:
    from codegen.losses import emit_analysed  # as above
    from derive.loss.convexity import check_convex
    from derive.loss.loss import analyse_loss, loss_of

    def emit(text: str) -> str:
        loss = loss_of(text)
        check_convex(loss)
        return emit_analysed(analyse_loss(loss)).text

    return emit


_KINDS: Mapping[str, Callable[[], Callable[[str], str]]] = {"function": _function, "loss": _loss}


def _limit(size: int) -> None:
    """Let allocations beyond a number of bytes fail, where the system can."""
    with suppress(ImportError, ValueError, OSError):
        import resource  # not on Windows

        resource.setrlimit(resource.RLIMIT_AS, (size, size))


def answer(kind: str, text: str, prepare: Callable[[], None] = lambda: None) -> dict[str, str]:
    """The module of an expression, or why there is none; ``prepare`` is called when all is loaded."""
    emit = _KINDS[kind]()
    prepare()
    try:
        return {"text": emit(text)}
    except RecursionError:
        return {"nested": ""}
    except ValueError as error:
        return {"message": getattr(error, "message", str(error)), "hint": getattr(error, "hint", "")}


def _main() -> None:
    request = json.load(sys.stdin)
    json.dump(answer(request["kind"], request["text"], lambda: _limit(request["bytes"])), sys.stdout)


if __name__ == "__main__":
    _main()
