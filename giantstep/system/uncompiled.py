"""Kernels in plain Python: the very same functions without their compiler, for numbers of any kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from generated.runtime.contractions import short

Number = Callable[[float], Any]


def _same(value: float) -> float:
    return value


def uncompiled(kernel: Any, number: Number = _same, **constants: float) -> Callable[..., Any]:
    """A compiled function as plain Python, with all that it calls.

    number: of the kind that it computes with, from one of double precision, as the numbers in its text are; constants:
    other values of some that its text names.
    """
    function = _Plain(number, constants).function(kernel.py_func)

    def called(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):  # compiled code does not warn
            return function(*[number(value) if isinstance(value, float) else value for value in arguments])

    return called


class _Plain:
    """Functions that call plain Python only."""

    def __init__(self, number: Number, constants: Mapping[str, float]) -> None:
        self.known: dict[FunctionType, Callable[..., Any]] = {}
        self.number = number
        self.constants = {name: number(value) for name, value in constants.items()}
        self.arrays = SimpleNamespace(**{**vars(np), "inf": number(np.inf), "nan": number(np.nan)})

    def function(self, compiled: FunctionType) -> Callable[..., Any]:
        """The function, its compiled callees replaced."""
        if compiled not in self.known:
            code, given = compiled.__code__, compiled.__globals__
            code = code.replace(co_consts=self._value(code.co_consts))
            names = {"__builtins__": given["__builtins__"]}
            self.known[compiled] = FunctionType(code, names, compiled.__name__, compiled.__defaults__)
            names |= {name: self._value(given[name]) for name in code.co_names if name in given}
            names |= self.constants
        return self.known[compiled]

    def _value(self, value: Any) -> Any:
        if isinstance(value, Dispatcher):
            return self.function(value.py_func)
        if isinstance(value, float):
            return self.number(value)
        if isinstance(value, tuple):
            return tuple(self._value(each) for each in value)
        if value is np:
            return self.arrays
        return (lambda: None) if isinstance(value, type(short)) else value  # what asks the compiler for something
