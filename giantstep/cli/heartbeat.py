"""A line on the terminal where a command has said nothing for two seconds: that it works, and for how long."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

QUIET = 2.0  # seconds
_ERASE = "\r\x1b[K"


class Heartbeat:
    """Seconds since the start, rewritten every second on a terminal as long as nothing else is written there."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal, self._lock, self._ended = terminal, threading.RLock(), threading.Event()
        self._start = self._written = time.monotonic()
        self._shown = False
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def start(self) -> None:
        """Begin to count."""
        self._thread.start()

    def stop(self) -> None:
        """Erase the line, for good."""
        self._ended.set()
        self.erase()

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
                try:
                    self._terminal.write(f"{_ERASE}working, {counted} s")
                    self._terminal.flush()
                except (OSError, ValueError):  # nobody listens
                    return
                self._shown = True


class _Stream:
    """A stream on the terminal: the line is erased before anything is written."""

    def __init__(self, stream: TextIO, heart: Heartbeat) -> None:
        self._stream, self._heart = stream, heart

    def write(self, text: str) -> int:
        """As the stream."""
        return self._heart.write(self._stream, text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def heartbeat() -> Iterator[None]:
    """Within: a terminal never shows nothing new for more than two seconds. Files and pipes get nothing of it."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    heart, streams = Heartbeat(sys.stderr), (sys.stdout, sys.stderr)
    if sys.stdout is not None and sys.stdout.isatty():
        sys.stdout = _Stream(sys.stdout, heart)
    sys.stderr = _Stream(sys.stderr, heart)
    heart.start()
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams
        heart.stop()
