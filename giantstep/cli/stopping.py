"""Signals that ask the program to stop: they end it as Ctrl-C does, with what is finished saved."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stopped(KeyboardInterrupt):
    """SIGTERM or SIGHUP came; ``code``: of the exit, 128 and the number of the signal."""

    def __init__(self, code: int, words: str = "") -> None:
        super().__init__(*([words] if words else []))
        self.code = code


@contextmanager
def stopping() -> Iterator[None]:
    """Within: signals that would end the program raise Stopped in the main thread. What ignores them goes on so."""
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    kinds = [getattr(signal, name) for name in names if threading.current_thread() is threading.main_thread()]
    kinds = [kind for kind in kinds if signal.getsignal(kind) is signal.SIG_DFL]
    for kind in kinds:
        signal.signal(kind, _raise)
    try:
        yield
    finally:
        for kind in kinds:
            signal.signal(kind, signal.SIG_DFL)


def _raise(number: int, frame: FrameType | None) -> None:
    raise Stopped(128 + number)
