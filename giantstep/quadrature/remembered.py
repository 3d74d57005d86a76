"""Remembering results by their size: tables of few nodes by the hundred, of millions of nodes one or two."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, fields
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np

Value = TypeVar("Value")


@dataclass(eq=False)
class _Kept(Generic[Value]):
    """A result, its size when that was last taken, and whether it was used since."""

    value: Value
    size: int = 0
    used: bool = False


class Remembered(Generic[Value]):
    """A function whose results, never None, are remembered by its hashable arguments, those used last, as long as all
    of them fit.

    bytes_of: the size of a result, which may grow while it is used; most: bytes of all together. One that does not fit
    by itself is not kept.
    """

    def __init__(self, function: Callable[..., Value], bytes_of: Callable[[Value], int], most: int) -> None:
        self.function, self.bytes_of, self.most = function, bytes_of, most
        self.lock = Lock()
        self.cache_clear()

    def cache_clear(self) -> None:
        """Forget all results."""
        with self.lock:
            self.known: OrderedDict[Hashable, _Kept[Value]] = OrderedDict()
            self.used: list[_Kept[Value]] = []  # since sizes were last taken
            self.held = 0

    def __call__(self, *given: Hashable) -> Value:
        """The result, remembered or new."""
        with self.lock:
            if (known := self.known.get(given)) is not None:
                self.known.move_to_end(given)
                self._use(known)
                return known.value
        found = self.function(*given)
        with self.lock:
            if given not in self.known:
                self._keep(given, _Kept(found))
        return found

    def _use(self, kept: _Kept[Value]) -> None:
        if not kept.used:
            kept.used = True
            self.used.append(kept)

    def _keep(self, given: Hashable, new: _Kept[Value]) -> None:
        self.known[given] = new
        self._use(new)
        for kept in self.used:
            size, kept.used = self.bytes_of(kept.value), False
            self.held, kept.size = self.held + size - kept.size, size
        self.used = []
        if new.size > self.most:
            self._forget(given)
        while self.held > self.most:
            self._forget(next(iter(self.known)))
        if given in self.known:
            self._use(new)  # its size may grow at once

    def _forget(self, given: Hashable) -> None:
        self.held -= self.known.pop(given).size


def bytes_of(*records: Any) -> int:
    """Bytes of the arrays that are fields of dataclasses, each array once."""
    parts = [getattr(record, part.name) for record in records for part in fields(record)]
    return sum({id(part): part.nbytes for part in parts if isinstance(part, np.ndarray)}.values())
