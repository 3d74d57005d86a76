"""Progress bars of sweeps and simulations: how much of a stage is done, and when it will be."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

from derive.language.grammar import shorten
from giantstep.spec.errors import BadInput

#: progress(stage, done, total) follows the work; "auto": a bar of tqdm, in notebooks and terminals.
Progress: TypeAlias = Callable[[str, int, int], object]
GivenProgress: TypeAlias = Progress | Literal["auto"] | None
#: progress(done, total, message) follows a simulation.
Messages: TypeAlias = Callable[[int, int, str], object]
GivenMessages: TypeAlias = Messages | Literal["auto"] | None


class Bars:
    """One bar for each stage; make: of its total and name, None for no bars. A context manager."""

    def __init__(self, make: Callable[[int, str], Any] | None) -> None:
        self._make, self._stage = make, ""
        self.bar: Any = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` units of a stage are finished."""
        if self._make is None:
            return
        if stage != self._stage:
            self.close()
            self._stage, self.bar = stage, self._make(total, stage)
        self.bar.update(done - self.bar.n)

    def message(self, done: int, total: int, message: str, stage: str = "simulation") -> None:
        """The same with words beside the bar for what is being done."""
        self(stage, done, total)
        if self.bar is not None:
            self.bar.set_postfix_str(message)

    def close(self) -> None:
        """Remove the bar."""
        if self.bar is not None:
            self.bar.close()
        self.bar, self._stage = None, ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@contextmanager
def progress_of(given: GivenProgress) -> Iterator[Progress | None]:
    """What a verb tells of its progress: nobody, the function that is given, or bars. Raises BadInput."""
    if given is None or callable(given):
        yield given
        return
    if given != "auto":
        raise BadInput(
            f"progress = {shorten(given)} is not known", 'give "auto", or a function of (stage, done, total)'
        )
    with Bars(_tqdm()) as bars:
        yield bars


@contextmanager
def messages_of(given: GivenMessages, stage: str = "simulation") -> Iterator[Messages | None]:
    """The same for what tells in words what is being done, in one stage. Raises BadInput."""
    if given is None or callable(given):
        yield given
        return
    with progress_of(given) as bars:
        yield partial(bars.message, stage=stage) if isinstance(bars, Bars) else None


def _tqdm() -> Callable[[int, str], Any] | None:
    """Makes bars; None, with a warning that says why, where there can be none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a notebook has no widgets: it gets bars of text
            from tqdm.auto import tqdm  # loads what draws in notebooks
    except ImportError as error:
        warnings.warn(f"no progress is shown, tqdm cannot be loaded: {error}", stacklevel=2)
        return None
    return lambda total, stage: tqdm(total=total, desc=stage, leave=False, dynamic_ncols=True)
