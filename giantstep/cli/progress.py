"""Progress: bars on a terminal, words for the lines that a file gets."""

from __future__ import annotations

import sys
from typing import Any

from giantstep.cli.heartbeat import Stream
from giantstep.spec import bars


class Bars(bars.Bars):
    """One bar per stage of a sweep on standard error; what a line every minute says where that is no terminal.

    A context manager.
    """

    def __init__(self) -> None:
        super().__init__(_bar if sys.stderr is not None and sys.stderr.isatty() else None)

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show a stage of several units as a bar, one of a single unit by its name and the seconds it takes."""
        heart = sys.stderr
        if isinstance(heart, Stream) and not heart.rewrites:
            of_all = f" of {total}" if total else ""  # of some stages the number is not known before
            heart.say(stage if total == 1 else f"{stage}: {done}{of_all}")
        elif stage != self._stage and isinstance(heart, Stream):
            self.close()
            heart.say(stage)
        if total != 1 or not isinstance(heart, Stream):
            super().__call__(stage, done, total)
        self._stage = stage

    def __exit__(self, *exception: Any) -> None:
        super().__exit__(*exception)
        if isinstance(sys.stderr, Stream):
            sys.stderr.say("working")


def _bar(total: int, stage: str) -> Any:
    from tqdm import tqdm  # help does without

    return tqdm(total=total, desc=stage, leave=False, dynamic_ncols=True, file=sys.stderr)
