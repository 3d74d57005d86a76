"""The points of a sweep: which keys of the model are varied, over which values, and in which order."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from derive.language.grammar import shorten
from giantstep.spec.errors import BadInput
from giantstep.spec.model import allowed_keys, value_keys
from giantstep.spec.nearest import nearest_keys
from giantstep.spec.step_table import unnumbered

MAX_POINTS = 1_000_000

Value: TypeAlias = float | str
Changes: TypeAlias = tuple[tuple[str, Value], ...]

_DASHED = re.compile(r"[\d.]+ *(?:-|\.\.+|to) *[\d.]+")  # how ranges are written elsewhere
_ENTRY = re.compile(r"(.+?)(?:\.\d+|\[\d*\])")
_GRAMMAR = "write key=start:stop:count, key=start:stop:count:log or key=v1,v2,v3"


@dataclass(frozen=True)
class Sweep:
    """One key of the model and the values it takes; ``log`` says that they are to be seen on a logarithmic axis.

    Values are finite numbers or texts (a function, a list), all of one kind and all different.
    Raises BadInput otherwise, and for a key that is not a value of a model.
    """

    key: str
    values: tuple[Value, ...]
    log: bool = False

    def __post_init__(self) -> None:
        check_key(self.key)
        values = tuple(_plain(self.key, value) for value in self.values)
        if not values:
            raise BadInput(f"the sweep over {self.key} has no values", _GRAMMAR)
        if len({isinstance(value, str) for value in values}) > 1:
            raise BadInput(f"the sweep over {self.key} mixes numbers and texts", "give one kind")
        if len(set(values)) < len(values):
            twice = next(value for value in values if values.count(value) > 1)
            raise BadInput(f"the sweep over {self.key} holds {shorten(twice)} more than once", "give it once")
        if self.log and not all(isinstance(value, float) and value > 0.0 for value in values):
            raise BadInput(f"the logarithmic sweep over {self.key} needs numbers > 0", "leave out :log")
        object.__setattr__(self, "values", values)

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers."""
        return isinstance(self.values[0], float)

    @classmethod
    def parse(cls, text: str) -> Sweep:
        """A sweep from ``key=start:stop:count[:log]`` or ``key=v1,v2,v3``. Raises BadInput."""
        key, equals, body = text.partition("=")
        key, body = key.strip(), body.strip()
        if not equals or not body:
            raise BadInput(f"the sweep {shorten(text)} has no values", _GRAMMAR)
        check_key(key)
        is_text = allowed_keys()[unnumbered(key)]
        if _DASHED.fullmatch(body):
            raise BadInput(f"the sweep {shorten(text)} is not understood", _GRAMMAR)
        if is_text or ":" not in body:
            return cls(key, tuple(_split(body) if is_text else map(_number_or_text, _split(body))))
        return _spaced(key, body)


@dataclass(frozen=True)
class Grid:
    """All combinations of some sweeps: the first is the x axis of a curve and runs fastest, the others tell
    curves of a family apart. Raises BadInput for no sweep, a key swept twice and more than 1e6 points.
    """

    sweeps: tuple[Sweep, ...]

    def __post_init__(self) -> None:
        if not self.sweeps:
            raise BadInput("a curve needs at least one sweep", "for example fit.samples=0.2:3:30")
        keys = [sweep.key for sweep in self.sweeps]
        for key in keys:
            if keys.count(key) > 1:
                raise BadInput(f"{key} is swept twice", "put all its values in one sweep")
        if len(self) > MAX_POINTS:
            raise BadInput(f"the grid has {len(self)} points", f"at most {MAX_POINTS} are allowed")

    def __len__(self) -> int:
        return math.prod(len(sweep.values) for sweep in self.sweeps)

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of values, slowest sweep first: rows reshape to it."""
        return tuple(len(sweep.values) for sweep in reversed(self.sweeps))

    @property
    def x(self) -> Sweep:
        """The sweep along the curves."""
        return self.sweeps[0]

    def changes(self, row: int) -> Changes:
        """The keys and values of one row, in the order of the sweeps."""
        found = []
        for sweep in self.sweeps:
            row, index = divmod(row, len(sweep.values))
            found.append((sweep.key, sweep.values[index]))
        return tuple(found)

    def without(self, keys: Container[str], row: int) -> Changes:
        """The changes of one row but those of some keys."""
        return tuple((key, value) for key, value in self.changes(row) if key not in keys)

    def rows_along(self, keys: Container[str]) -> NDArray[np.intp]:
        """The rows [others, along]: a line has those that differ in the values of these keys alone."""
        sweeps = self.sweeps[::-1]
        along = [axis for axis, sweep in enumerate(sweeps) if sweep.key in keys]
        others = [axis for axis in range(len(sweeps)) if axis not in along]
        place = np.arange(len(self), dtype=np.intp).reshape(self.shape).transpose([*others, *along])
        return place.reshape(-1, math.prod(len(sweeps[axis].values) for axis in along))

    def __str__(self) -> str:
        return " x ".join(f"{sweep.key} ({len(sweep.values)} values)" for sweep in self.sweeps)

    @property
    def keys(self) -> tuple[str, ...]:
        """What varies."""
        return tuple(sweep.key for sweep in self.sweeps)

    def curves(self) -> Iterator[tuple[Changes, slice]]:
        """The rows of each curve, with the values of the other sweeps that name it."""
        length = len(self.x.values)
        for start in range(0, len(self), length):
            yield self.changes(start)[1:], slice(start, start + length)

    def column(self, number: int) -> tuple[Value, ...]:
        """The value of one sweep in every row."""
        inner = math.prod(len(sweep.values) for sweep in self.sweeps[:number])
        values = self.sweeps[number].values
        repeated = [value for value in values for _ in range(inner)]
        return tuple(repeated * (len(self) // len(repeated)))


#: Text, a sweep, or values by key.
AxisLike: TypeAlias = "str | Sweep | Mapping[str, Sequence[Any] | NDArray[Any]]"
SweepLike: TypeAlias = "AxisLike | Sequence[AxisLike]"


def grid_of(sweep: SweepLike) -> Grid:
    """A grid from text, sweeps, mappings of keys to values, or a list of these. Raises BadInput."""
    items = [sweep] if isinstance(sweep, str | bytes | Sweep | Mapping) or not isinstance(sweep, Sequence) else sweep
    return Grid(tuple(one for item in items for one in _sweeps(item)))


def sweep_of(item: str | Sweep) -> Sweep:
    """One sweep, as it is or from text. Raises BadInput."""
    if isinstance(item, str | Sweep):
        return item if isinstance(item, Sweep) else Sweep.parse(item)
    raise BadInput(f"the sweep {shorten(item)} is no sweep", 'give text as "fit.samples=0.2:3:30"')


def _sweeps(item: AxisLike) -> tuple[Sweep, ...]:
    if isinstance(item, Mapping):
        return tuple(Sweep(key, tuple(_listed(key, values))) for key, values in item.items())
    return (sweep_of(item),)


def _listed(key: str, values: object) -> Sequence[Any]:
    if hasattr(values, "__array__") and np.ndim(values) == 1:  # of NumPy, xarray or pandas
        return list(np.asarray(values).tolist())
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise BadInput(f"the values of the sweep over {key} are {shorten(values)}", "give a list of values")
    return values


def check_key(key: str) -> None:
    """Raise BadInput for what is not the key of a value of a model."""
    leaves = tuple(value_keys())
    if not isinstance(key, str):
        raise BadInput(f"the sweep is over {shorten(key)}, which is no key", 'give the name of a key, as "fit.samples"')
    if unnumbered(key) in allowed_keys() and unnumbered(key) not in leaves:
        inner = ", ".join(name for name in leaves if name.startswith(f"{unnumbered(key)}."))
        raise BadInput(f"the sweep is over {key}, which is a table", f"sweep one of {inner}")
    entry = _ENTRY.fullmatch(key)
    if entry and unnumbered(entry[1]) in leaves:
        raise BadInput(
            f"the sweep is over {shorten(key)}, and entries of {entry[1]} are no keys",
            f"sweep all of it: a list as {entry[1]}=[1.0, 0.5],[1.0, -0.5], a number as {entry[1]}=0.5,1.0",
        )
    if unnumbered(key) not in leaves:
        raise BadInput(
            f"the sweep is over the unknown key {shorten(key)}",
            nearest_keys(key, leaves),
        )


def _plain(key: str, value: object) -> Value:
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(f"the sweep over {key} holds {shorten(value)}", "give numbers or texts")
    try:
        number = float(value) + 0.0
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise BadInput(f"the sweep over {key} holds {value!r}", "give finite numbers")
    return number


def _split(body: str) -> list[str]:
    """Entries between commas outside brackets and quotes: an expression or a list may hold commas itself."""
    entries, depth, quote, start = [], 0, "", 0
    for place, letter in enumerate(body):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "([":
            depth += 1
        elif letter in ")]":
            depth -= 1
        elif letter == "," and depth == 0:
            entries.append(body[start:place])
            start = place + 1
    entries = [entry.strip() for entry in (*entries, body[start:])]
    if not all(entries):
        raise BadInput(f"the sweep {shorten(body)} has an empty entry", _GRAMMAR)
    return entries


def _number_or_text(entry: str) -> Value:
    try:
        return float(entry)
    except ValueError:
        return entry


def _spaced(key: str, body: str) -> Sweep:
    parts = [part.strip() for part in body.split(":")]
    log = len(parts) == 4 and parts[3] == "log"
    if len(parts) != 3 and not log:
        raise BadInput(f"the sweep {shorten(f'{key}={body}')} is not understood", _GRAMMAR)
    ends = [_number_or_text(part) for part in parts[:2]]
    if not all(isinstance(end, float) and math.isfinite(end) for end in ends):
        raise BadInput(f"the ends of the sweep {shorten(f'{key}={body}')} are not finite numbers", _GRAMMAR)
    start, stop = (float(end) for end in ends)
    count = _count(key, parts[2])
    if log and not (start > 0.0 and stop > 0.0):
        raise BadInput(f"the logarithmic sweep over {key} needs ends > 0", "leave out :log")
    if count > 1 and start == stop:
        raise BadInput(f"the sweep over {key} starts and stops at {start:g}", "give two different ends")
    values = np.geomspace(start, stop, count) if log else np.linspace(start, stop, count)
    return Sweep(key, tuple(values.tolist()), log)


def _count(key: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:20])):
        raise BadInput(f"the count {shorten(text)} of the sweep over {key} is not a whole number > 0", _GRAMMAR)
    count = int(text[:20])
    if count > MAX_POINTS:
        raise BadInput(f"the sweep over {key} has {count} points", f"at most {MAX_POINTS} are allowed")
    return count
