"""Kernels in plain Python: the very same functions without their compiler, for numbers of any kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from generated.runtime.contractions import short


def uncompiled(kernel: Any, **constants: float) -> Callable[..., Any]:
    """A compiled function as plain Python, with all that it calls; constants: other values of some that these name."""
    function = _Plain(constants).function(kernel.py_func)

    def called(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):  # compiled code does not warn
            return function(*arguments)

    return called


class _Plain:
    """Functions that call plain Python only."""

    def __init__(self, constants: Mapping[str, float]) -> None:
        self.known: dict[FunctionType, Callable[..., Any]] = {}
        self.constants = constants

    def function(self, compiled: FunctionType) -> Callable[..., Any]:
        """The function, its compiled callees replaced."""
        if compiled not in self.known:
            code, given = compiled.__code__, compiled.__globals__
            names = {"__builtins__": given["__builtins__"]}
            self.known[compiled] = FunctionType(code, names, compiled.__name__, compiled.__defaults__)
            names |= {name: self._value(given[name]) for name in code.co_names if name in given}
            names |= self.constants
        return self.known[compiled]

    def _value(self, value: Any) -> Any:
        if isinstance(value, Dispatcher):
            return self.function(value.py_func)
        return (lambda: None) if isinstance(value, type(short)) else value  # what asks the compiler for something
