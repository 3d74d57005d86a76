"""A process that derives and compiles user expressions for another one: ``python -m giantstep.spec.workshop``.

Requests and answers are lines of JSON. What takes long to load is loaded once. Each request is then answered in a copy
of the process (fork), within a budget of processor time and memory: nothing that SymPy or the compiler keeps of an
expression serves or burdens the next. Without work it leaves after a minute, and with the process that asks at once.
"""

from __future__ import annotations

import base64
import gc
import json
import os
import select
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

IDLE = 60.0  # seconds

TOO_LONG = {"time": ""}  # the answer where the processor time is spent

_FIRST, _FIRST_LOSS = "tanh(2*z)", "log(1+exp(-2*y*f))"  # derived before all others: much is loaded at first use

Answer = dict[str, Any]
Work = Callable[[str], Answer]


def executed(name: str, text: str, filename: str, listed: bool = False) -> ModuleType:
    """An emitted module; listed: in ``sys.modules``, where numba looks for the module of code that it has kept."""
    module = ModuleType(name)
    module.__file__ = filename
    if listed:
        sys.modules[name] = module
    exec(compile(text, filename, "exec"), module.__dict__)
    return module


def answer(kind: str, text: str) -> Answer:
    """The module of a "function" or a "loss", or the "code" of the functions in a module; or why there is none."""
    return _answered(_work(kind), text)


@lru_cache
def _work(kind: str) -> Work:
    """What answers requests of a kind, with all that it takes loaded."""
    return _KINDS[kind]()


def _function() -> Work:
    from codegen.functions import emit  # SymPy takes half a second to load

    emit(_FIRST)
    return lambda text: {"text": emit(text).text}


def _loss() -> Work:
    from codegen.losses import emit_analysed  # as above
    from derive.loss.convexity import check_convex
    from derive.loss.loss import analyse_loss, loss_of

    def emit(text: str) -> Answer:
        loss = loss_of(text)
        check_convex(loss)
        return {"text": emit_analysed(analyse_loss(loss)).text}

    emit(_FIRST_LOSS)
    return emit


def _code() -> Work:
    from generated.functions import sign  # the compiler takes as long to load, and as long again to begin

    compiled_type = type(sign.values)
    sign.values.made()

    def compile_all(text: str) -> Answer:
        values = vars(executed("_giantstep_compiled", text, "<compiled>"))
        made = {name: value.made() for name, value in values.items() if isinstance(value, compiled_type)}
        return {"code": {name: [code.entry, base64.b64encode(code.content).decode()] for name, code in made.items()}}

    return compile_all


_KINDS: Mapping[str, Callable[[], Work]] = {"function": _function, "loss": _loss, "code": _code}


def _answered(work: Work, text: str) -> Answer:
    try:
        return work(text)
    except RecursionError:
        return {"nested": ""}
    except ValueError as error:
        return {"message": getattr(error, "message", str(error)), "hint": getattr(error, "hint", "")}


def _limit(size: int, seconds: float) -> None:
    """Let allocations of more bytes than so many fail, and end after so much processor time, where the system can."""
    with suppress(ImportError, ValueError, OSError):
        import resource  # not on Windows

        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + size, used + size))
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _within(request: Mapping[str, Any], work: Work) -> str:
    _limit(request["bytes"], request["seconds"])
    try:
        return json.dumps(_answered(work, request["text"]))
    except MemoryError:
        return ""
    except Exception:
        return json.dumps({"failed": traceback.format_exc()[-4000:]})


def _in_a_copy(request: Mapping[str, Any], work: Work) -> str:
    """The answer of a copy of this process; where it ended without, what it took too much of."""
    reading, writing = os.pipe()
    copy = os.fork()
    if copy == 0:
        with suppress(BaseException):
            os.close(reading)
            with open(writing, "w", encoding="utf-8") as pipe:
                pipe.write(_within(request, work))
        os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as pipe:
        ready, _, _ = select.select([pipe, sys.stdin], [], [])
        if sys.stdin in ready:  # nobody waits for this one
            os.kill(copy, 9)
            sys.exit()
        written = pipe.read()
    _, status = os.waitpid(copy, 0)
    return json.dumps(TOO_LONG) if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF else written


def _main() -> None:
    copies = hasattr(os, "fork")
    while not copies or select.select([sys.stdin], [], [], IDLE)[0]:
        line = sys.stdin.readline()
        if not line:
            return
        request = json.loads(line)
        try:
            work = _work(request["kind"])
            gc.freeze()  # what is there stays, shared by all copies
            written = _in_a_copy(request, work) if copies else _within(request, work)
        except Exception:
            written = json.dumps({"failed": traceback.format_exc()[-4000:]})
        print(written or json.dumps({"memory": ""}), flush=True)
        if not copies:
            return


if __name__ == "__main__":
    _main()
