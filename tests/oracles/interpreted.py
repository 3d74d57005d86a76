"""Generated modules without their compiler: plain Python, the same arithmetic."""

from __future__ import annotations

import builtins
import linecache
import math
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import resources
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from scipy import special

from generated.runtime.compiling import POWERS, WIDTH

RUNTIME = "generated.runtime."


def interpreted(text: str, changed: Mapping[str, str] | None = None) -> ModuleType:
    """A generated module in plain Python, with the runtime in plain Python behind it.

    changed: texts of modules of the runtime that stand in for theirs, by name ("nodes").
    """
    return _Plain(dict(changed or {})).module("mutant", text)


@lru_cache
def runtime_text(name: str) -> str:
    """The text of a module of the runtime."""
    return resources.files("generated.runtime").joinpath(f"{name}.py").read_text(encoding="utf-8")


class _Plain:
    """Executes texts with an import of its own: numba does nothing, the runtime is executed in the same way.

    Modules of the runtime that need none of the changed ones are executed once for all texts.
    """

    def __init__(self, changed: dict[str, str]) -> None:
        self.changed = changed
        self.known: dict[str, Any] = {
            RUNTIME + name: made() for name, made in (("compiling", _calls), ("vector", _library), ("tiles", _products))
        }

    def module(self, name: str, text: str) -> ModuleType:
        made = ModuleType(name)
        made.__dict__["__builtins__"] = {**vars(builtins), "__import__": self._import}
        with np.errstate(all="ignore"):
            exec(_compiled(name, text), made.__dict__)
        return made

    def _import(self, name: str, into: Any = None, local: Any = None, names: Any = (), level: int = 0) -> Any:
        if name.startswith("numba"):
            return _numba()
        if not name.startswith(RUNTIME):
            return builtins.__import__(name, into, local, names, level)
        if name not in self.known:
            short = name.removeprefix(RUNTIME)
            needs_changed = not self.changed.keys().isdisjoint(_needed(short))
            text = self.changed.get(short) or runtime_text(short)
            self.known[name] = self.module(name, text) if needs_changed else _unchanged(short)
        return self.known[name]


@lru_cache(maxsize=256)
def _compiled(name: str, text: str) -> CodeType:
    filename = f"<{name} {hash(text)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    return compile(text, filename, "exec", dont_inherit=True)


@lru_cache
def _needed(name: str) -> frozenset[str]:
    """A module of the runtime and all that it imports there."""
    found = re.findall(rf"^from {re.escape(RUNTIME)}(\w+) import", runtime_text(name), re.MULTILINE)
    return frozenset([name]).union(*map(_needed, found))


@lru_cache
def _unchanged(name: str) -> ModuleType:
    """A module of the runtime with nothing changed in what it needs; no text can write to its tables."""
    made = _as_it_is().module(RUNTIME + name, runtime_text(name))
    for value in vars(made).values():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
    return made


@lru_cache
def _as_it_is() -> _Plain:
    return _Plain({})


def _numba() -> SimpleNamespace:
    def njit(*functions: Callable[..., Any], **_: Any) -> Any:
        return functions[0] if functions else lambda function: function

    return SimpleNamespace(njit=njit, types=SimpleNamespace(), intrinsic=lambda function: lambda *_: None)


def _library() -> SimpleNamespace:
    """What stands for `runtime.vector`: the functions of the C library."""

    def exp(x: float) -> float:
        return math.exp(x) if x < 709.0 else math.inf

    def tail(x: float) -> tuple[float, float]:
        return 0.5 * math.erfc(x / math.sqrt(2.0)), math.exp(-0.5 * min(x, 60.0) ** 2) / math.sqrt(2.0 * math.pi)

    def scaled_tail(x: float) -> float:
        return 0.5 * float(special.erfcx(x / math.sqrt(2.0)))

    return SimpleNamespace(exp=exp, log=math.log, log1p=math.log1p, tail=tail, scaled_tail=scaled_tail)


def _products() -> SimpleNamespace:
    """What stands for `runtime.tiles`: the same sums row by row."""

    def adds(along: bool) -> Callable[..., None]:
        def add(value: Any, source: Any, *given: Any) -> None:
            x, xi, y, ym, z, zi, zm, rows, count, length = map(int, given[:-1])
            for i in range(rows):
                for m in range(count):
                    place = z + i * zi + m * zm
                    factor = value[place : place + length] if along else value[place]
                    row = source[y + m * ym :][:length] * factor
                    value[x + i * xi :][:length] += given[-1] * row

        return add

    def add_sums(value: Any, *given: Any) -> None:
        x, xi, y, z, zi, rows, length = map(int, given[:-1])
        for i in range(rows):
            value[x + i * xi] += given[-1] * (value[y:][:length] @ value[z + i * zi :][:length])

    return SimpleNamespace(WIDTH=8, add_product=adds(False), add_along=adds(True), add_sums=add_sums)


def _calls() -> SimpleNamespace:
    """What stands for `runtime.compiling`: an address is the function itself."""

    def compiled(_: Any) -> Any:
        return lambda function: SimpleNamespace(address=function, function=function)

    def values_at(address: Any, places: Any, values: Any) -> None:
        address(len(places), places, values)

    def value_at(address: Any, place: float) -> float:
        out = np.array([place])
        address(1, out, out)
        return float(out[0])

    def closed_at(address: Any, shifts: Any, q: float, sums: Any, sizes: Any) -> None:
        address(len(shifts), shifts, q, sums.reshape(-1), sizes.reshape(-1))

    def pieces_at(address: Any, k: int, y: float, q: Any, rows: Any, first: int, count: int) -> None:
        places, slopes, curvatures, values = (rows[i, first : first + count] for i in (0, 2, 3, 4))
        address(k, y, q, count, places, values, slopes, curvatures)

    def piece_at(address: Any, k: int, y: float, q: Any, place: float) -> tuple[float, ...]:
        rooms = np.empty((3, 1))
        address(k, y, q, 1, np.array([place]), *rooms)
        return tuple(float(room[0]) for room in rooms)

    def edge_at(address: Any, k: int, y: float, q: Any) -> float:
        return float(address(k, y, q))

    def sum_of_products(rows: Any, i: int, others: Any, j: int, first: int, last: int) -> float:
        return float(rows[i, first:last] @ others[j, first:last])

    def add_polynomials(coefficients: Any, first: int, x: float, part: Any, sums: Any) -> None:
        powers = x ** np.arange(POWERS)[::-1]
        values = powers @ coefficients[first : first + POWERS]
        sums[0] += part[0] * values
        sums[1:, :4] += part[1:, None] * values[:4]

    return SimpleNamespace(
        inner=lambda function: function,
        making_inner=lambda function: function,
        within=lambda function: function,
        entry=lambda function: function,
        making_entry=lambda function: function,
        kept=lambda **_: lambda function: function,
        Compiled=Any,
        compiled=compiled,
        VALUES=None,
        CLOSED=None,
        PIECES=None,
        EDGE=None,
        values_at=values_at,
        value_at=value_at,
        closed_at=closed_at,
        pieces_at=pieces_at,
        piece_at=piece_at,
        edge_at=edge_at,
        sum_of_products=sum_of_products,
        add_polynomials=add_polynomials,
        POWERS=POWERS,
        WIDTH=WIDTH,
    )
