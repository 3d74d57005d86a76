"""Kernels in plain Python: the very same functions without their compiler, for as few calls as it is not worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain, repeat
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from generated.runtime.contractions import short

_FEW = 20  # calls that take less time than the compiler


def is_kept(kernel: Any) -> bool:
    """Whether the machine code of a function is on disk."""
    folder, code = kernel.stats.cache_path, kernel.py_func.__code__
    return folder is not None and any(Path(folder).glob(f"{Path(code.co_filename).stem}.{code.co_name}-*.nbi"))


def sparing(kernel: Any) -> Callable[..., Any]:
    """A kernel for one call: compiled where its machine code is there or it is called often, else in plain Python."""
    return kernel if kernel.signatures else next(_for_calls(kernel))


@lru_cache(maxsize=16)
def _for_calls(kernel: Any) -> Iterator[Callable[..., Any]]:
    return chain(repeat(uncompiled(kernel), 0 if is_kept(kernel) else _FEW), repeat(kernel))


def uncompiled(kernel: Any) -> Callable[..., Any]:
    """A compiled function as plain Python, with all that it calls."""
    function = _Plain().function(kernel.py_func)

    def called(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):  # compiled code does not warn
            return function(*arguments)

    return called


class _Plain:
    """Functions that call plain Python only."""

    def __init__(self) -> None:
        self.known: dict[FunctionType, Callable[..., Any]] = {}

    def function(self, compiled: FunctionType) -> Callable[..., Any]:
        """The function, its compiled callees replaced."""
        if compiled not in self.known:
            code, given = compiled.__code__, compiled.__globals__
            names = {"__builtins__": given["__builtins__"]}
            self.known[compiled] = FunctionType(code, names, compiled.__name__, compiled.__defaults__)
            names |= {name: self._value(given[name]) for name in code.co_names if name in given}
        return self.known[compiled]

    def _value(self, value: Any) -> Any:
        if isinstance(value, Dispatcher):
            return self.function(value.py_func)
        return (lambda: None) if isinstance(value, type(short)) else value  # what asks the compiler for something
