"""A line on the terminal where a command has said nothing for two seconds: that it works, and for how long.

Where standard error is a file or a pipe, such a line is added every minute.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

QUIET = 2.0  # seconds
MINUTE = 60.0  # between lines in a file
COMPILING = "giantstep: compiling new functions or equations, {}; it may take a minute"
ONCE = "once"
EACH_TIME = "again at each call, as there is no folder to keep them in: set {} to one that can be written"
_EXPRESSIONS = "giantstep.spec.emission"
_COMPILERS = ("numba.core.", "giantstep.system.first_compilation", _EXPRESSIONS)
_ERASE = "\r\x1b[K"


class Heartbeat:
    """What is being done and for how long, rewritten every second on a terminal as long as nothing else is written."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal, self._lock, self._ended = terminal, threading.RLock(), threading.Event()
        self._start = self._written = time.monotonic()
        self._shown, self._doing = False, "working"
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def start(self) -> None:
        """Begin to count."""
        self._thread.start()

    def stop(self) -> None:
        """Erase the line, for good."""
        self._ended.set()
        self.erase()

    def say(self, doing: str) -> None:
        """Show at once what is being done now; the seconds count from here."""
        with self._lock:
            self._start, self._doing = time.monotonic(), doing
            self._show(doing)

    def erase(self) -> None:
        """Make room for what is written now."""
        with self._lock:
            self._written = time.monotonic()
            if self._shown:
                self._terminal.write(_ERASE)
                self._terminal.flush()
                self._shown = False

    def write(self, stream: TextIO, text: str) -> int:
        """Write to a stream on the same terminal."""
        with self._lock:
            if text:  # a bar that closes writes nothing
                self.erase()
            return stream.write(text)

    def _beat(self) -> None:
        counted = -1
        while not self._ended.wait(QUIET / 4.0):
            with self._lock:
                now = time.monotonic()
                waits = now - self._written < QUIET / 2.0 or self._ended.is_set()
                if waits or (self._shown and int(now - self._start) == counted):
                    continue
                counted = int(now - self._start)
                self._show(f"{self._doing}, {counted} s")

    def _show(self, line: str) -> None:
        try:
            self._terminal.write(f"{_ERASE}{line}")
            self._terminal.flush()
        except (OSError, ValueError):  # nobody listens
            self._ended.set()
        self._shown = True


class Lines:
    """The same for a file or a pipe: a line every minute, and one where two seconds were spent on compiling."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._ended = stream, threading.Event()
        self._doing, self._told = "working", False
        self._start = time.monotonic()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Begin to count."""
        self._thread.start()

    def stop(self) -> None:
        """Write no more."""
        self._ended.set()

    def say(self, doing: str) -> None:
        """What the next line says is being done; its seconds count from the start."""
        self._doing = doing

    def write(self, stream: TextIO, text: str) -> int:
        """Write to the stream."""
        return stream.write(text)

    def _watch(self) -> None:
        compiles, written = self._start, self._start
        while not self._ended.wait(min(QUIET, MINUTE) / 4.0):
            now, compiler = time.monotonic(), "" if self._told else compiling()
            if not compiler:
                compiles = now
            elif now - compiles >= QUIET:
                self._told = True
                self._line(COMPILING.format(_how_often(compiler)))
            if now - written >= MINUTE:
                written = now
                self._line(f"giantstep: {self._doing}, {now - self._start:.0f} s")

    def _line(self, text: str) -> None:
        with suppress(OSError, ValueError):  # nobody listens
            print(text, file=self._stream, flush=True)


class Stream:
    """A stream that tells what is being done, or is on the same terminal as one that does. say: of the heartbeat."""

    def __init__(self, stream: TextIO, heart: Heartbeat | Lines) -> None:
        self._stream, self._heart = stream, heart
        self.say = heart.say

    @property
    def rewrites(self) -> bool:
        """Whether what is done is shown at once, in the place of what was."""
        return isinstance(self._heart, Heartbeat)

    def write(self, text: str) -> int:
        """As the stream."""
        return self._heart.write(self._stream, text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def heartbeat() -> Iterator[None]:
    """Within: a terminal never shows nothing new for more than two seconds, a file or a pipe for a minute."""
    if sys.stderr is None:
        yield
        return
    terminal = sys.stderr.isatty()
    heart: Heartbeat | Lines = Heartbeat(sys.stderr) if terminal else Lines(sys.stderr)
    streams = sys.stdout, sys.stderr
    if terminal and sys.stdout is not None and sys.stdout.isatty():
        sys.stdout = Stream(sys.stdout, heart)
    sys.stderr = Stream(sys.stderr, heart)
    heart.start()
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams
        heart.stop()


def compiling() -> str:
    """The module of a compiler that the main thread waits for, by its calls; empty where it waits for none.

    A compiler that is still being imported compiles nothing: the first of its calls is then the body of a module, and
    what another thread imported of it meanwhile would be a part.
    """
    frame, found = sys._current_frames().get(threading.main_thread().ident or 0), ""
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if frame.f_code.co_name == "<module>" and name.startswith(("numba", *_COMPILERS)):
            found = ""
        elif name.startswith(_COMPILERS):
            found = name
        frame = frame.f_back
    return found


def _how_often(compiler: str) -> str:
    """Whether what is compiled is kept; if not, the variable that names a folder for it."""
    # what is needed here is loaded where something compiles
    from generated.runtime.kept_code import can_keep
    from giantstep.spec import user_cache

    if user_cache.can_keep() if compiler == _EXPRESSIONS else can_keep():
        return ONCE
    given = compiler == _EXPRESSIONS and os.environ.get("GIANTSTEP_CACHE")
    return EACH_TIME.format("GIANTSTEP_CACHE" if given else "XDG_CACHE_HOME")
