"""Remembering results by their size: tables of few nodes by the hundred, of millions of nodes one or two."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import fields
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np

Value = TypeVar("Value")


class Remembered(Generic[Value]):
    """A function whose results, never None, are remembered by its hashable arguments, those used last, as long as all
    of them fit.

    bytes_of: the size of a result; most: bytes of all together. One that does not fit by itself is not kept.
    """

    def __init__(self, function: Callable[..., Value], bytes_of: Callable[[Value], int], most: int) -> None:
        self.function, self.bytes_of, self.most = function, bytes_of, most
        self.lock = Lock()
        self.cache_clear()

    def cache_clear(self) -> None:
        """Forget all results."""
        with self.lock:
            self.known: OrderedDict[Hashable, Value] = OrderedDict()
            self.held = 0

    def __call__(self, *given: Hashable) -> Value:
        """The result, remembered or new."""
        with self.lock:
            if (known := self.known.get(given)) is not None:
                self.known.move_to_end(given)
                return known
        found = self.function(*given)
        with self.lock:
            self._keep(given, found)
        return found

    def _keep(self, given: Hashable, found: Value) -> None:
        size = self.bytes_of(found)
        if size > self.most or given in self.known:
            return
        self.known[given] = found
        self.held += size
        while self.held > self.most:
            self.held -= self.bytes_of(self.known.popitem(last=False)[1])


def bytes_of(*records: Any) -> int:
    """Bytes of the arrays that are fields of dataclasses, each array once."""
    parts = [getattr(record, part.name) for record in records for part in fields(record)]
    return sum({id(part): part.nbytes for part in parts if isinstance(part, np.ndarray)}.values())
