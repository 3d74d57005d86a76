"""The command ``giantstep``: exit 0 done, 1 a check failed, 2 bad input, 3 not converged, 70 a bug, 74 output not
written, 130 interrupted, 143 and 129 ended by SIGTERM and SIGHUP.
"""

from __future__ import annotations

import atexit
import errno
import gc
import os
import sys
import threading
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

from giantstep import __version__
from giantstep.cli.heartbeat import heartbeat
from giantstep.cli.stopping import Stopped, stopping
from giantstep.spec.errors import BadInput, GiantstepError

if TYPE_CHECKING:
    from giantstep.cli.options import Parser

#: Modules of this folder, in the order of the help; loaded in ``main``, where Ctrl-C is answered.
COMMANDS = (
    "derive",
    "generate",
    "verify",
    "report",
    "solve",
    "simulate",
    "curve",
    "map",
    "bounds",
    "optimal",
    "learnable",
    "learned",
    "spectrum",
    "steps",
    "rates",
    "decompose",
    "tune",
    "gradient",
    "compare",
    "explore",
    "plot",
    "lists",
)

BUG = 70
INTERRUPTED = 130
BROKEN_PIPE = 141
UNWRITTEN = 74
_COLLECTED = 200_000  # new objects before garbage is looked for first: what is imported is none


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code; errors are one sentence and a hint on standard error.

    With GIANTSTEP_DEBUG=1 in the environment errors are raised, with their traceback.
    """
    debug = os.environ.get("GIANTSTEP_DEBUG", "") not in ("", "0")
    if sys.stdout is None:  # it was closed before the start
        return _fail("the output could not be written: standard output is closed", "redirect it to a file", UNWRITTEN)
    try:
        with warnings.catch_warnings():
            if not debug:
                warnings.simplefilter("ignore")
            with stopping():
                code = _run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        return _quiet(BROKEN_PIPE)
    except KeyboardInterrupt as interrupt:
        if debug:
            raise
        code = interrupt.code if isinstance(interrupt, Stopped) else INTERRUPTED
        return _fail("interrupted" + (f": {interrupt}" if str(interrupt) else ""), "", code)
    except GiantstepError as error:
        if debug:
            raise
        return _fail(error.message, error.hint, error.exit_code)
    except MemoryError:
        if debug:
            raise
        return _fail(
            "there is not enough memory",
            "use a smaller dimension or grid, or fewer --jobs",
            BadInput.exit_code,
        )
    except OSError as error:
        if debug or error.errno not in (errno.ENOSPC, errno.EIO, errno.EDQUOT):
            return _bug(error, debug)
        _fail(f"the output could not be written: {error.strerror}", "free some space, or write elsewhere", UNWRITTEN)
        return _quiet(UNWRITTEN)
    except Exception as error:
        return _bug(error, debug)


def program() -> NoReturn:
    """The command as a process of its own: ``main``, and an end that does not take every module apart again."""
    collect_late()
    code = main()
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        sys.exit(code)  # waits for them
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # closed: ``main`` has said so
            continue
    os._exit(code)


def collect_late() -> None:
    """Look for garbage after as many new objects as imports and a solution make, and from then on as usual: what
    follows makes some, which holds arrays.
    """
    usual = gc.get_threshold()

    def once(phase: str, _: dict[str, int]) -> None:
        if phase == "stop" and gc.get_threshold()[0] == _COLLECTED:  # others have their reasons, for a while
            gc.callbacks.remove(once)
            gc.set_threshold(*usual)

    gc.callbacks.append(once)
    gc.set_threshold(_COLLECTED)


def _bug(error: Exception, debug: bool) -> int:
    if debug:
        raise error
    text = " ".join(str(error).split())[:300]
    return _fail(
        f"this is a bug in giantstep ({type(error).__name__}: {text})",
        "run again with GIANTSTEP_DEBUG=1 for the traceback, and report it",
        BUG,
    )


def parser(names: Sequence[str] = COMMANDS) -> Parser:
    """The parser of some commands, those of all files."""
    from giantstep.cli.options import Parser  # with the commands

    top = Parser(
        prog="giantstep",
        description="Learning curves of two-layer networks after one giant gradient step: derived, solved, checked.",
        epilog="example:\n  giantstep solve model.toml --set fit.samples=1.5\n\n"
        "exit codes: 0 done, 1 a check failed, 2 bad input, 3 not converged",
    )
    top.add_argument("--version", action="version", version=f"giantstep {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser)
    for name in names:
        import_module(f"giantstep.cli.{name}").add(commands)
    import_module("giantstep.cli.completion").add(commands, parser)
    return top


def _run(arguments: Sequence[str]) -> int:
    from giantstep.cli.options import spread  # with the commands

    first = [name for name in COMMANDS if name in arguments[:1]]
    top = parser(first or COMMANDS)  # one command starts sooner without the others
    try:
        found, unknown = top.parse_known_args(spread(arguments))
    except SystemExit as leaving:  # --help and --version
        return int(leaving.code or 0)
    if unknown:
        raise getattr(found, "parser", top).unknown(unknown)
    if not hasattr(found, "run"):
        raise BadInput("no command is given", "see: giantstep --help")
    with nullcontext() if getattr(found, "waits", False) else heartbeat():
        return int(found.run(found))


def _fail(message: str, hint: str, code: int) -> int:
    text = f"giantstep: {message}" + (f"\nhint: {hint}" if hint else "")
    try:
        print(text, file=sys.stderr, flush=True)
    except (OSError, ValueError):  # nobody listens: the exit code still says it
        return code
    return code


def _quiet(code: int) -> int:
    """Nobody reads what is written: keep the interpreter from trying once more at its end."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return code
    return code
