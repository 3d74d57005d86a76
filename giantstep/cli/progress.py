"""Progress bars, on a terminal only."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, Self


class Bars:
    """One bar per stage of a sweep on standard error; silent where that is not a terminal. A context manager."""

    def __init__(self) -> None:
        self._visible = sys.stderr is not None and sys.stderr.isatty()
        self._stage = ""
        self._bar: Any = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` units of a stage are finished."""
        if not self._visible:
            return
        if stage != self._stage:
            from tqdm import tqdm  # help does without

            self.close()
            self._stage = stage
            self._bar = tqdm(total=total, desc=stage, leave=False, dynamic_ncols=True, file=sys.stderr)
        self._bar.update(done - self._bar.n)

    def message(self, done: int, total: int, message: str) -> None:
        """The same for a simulation, whose stages have names of their own."""
        self("simulation", done, total)
        if self._bar is not None:
            self._bar.set_postfix_str(message)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()
        self._bar, self._stage = None, ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
