"""What a caller gives to a verb beside the model: switches, names, ranges, tables. Each check has its words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np

from derive.language.grammar import shorten
from giantstep.spec.errors import BadInput
from giantstep.spec.validate import wrong


def checked_flag(name: str, value: object) -> bool:
    """True or False; any other value, as "no", would count as true. Raises BadInput."""
    if not isinstance(value, bool | np.bool_):
        raise wrong(name, value, "True or False")
    return bool(value)


def checked_names(name: str, value: object, example: str) -> tuple[str, ...]:
    """One text, or a list of texts, as a tuple in which each stands once. Raises BadInput."""
    names = (value,) if isinstance(value, str) else value
    if isinstance(names, Mapping | bytes) or not isinstance(names, Iterable):
        raise wrong(name, value, f"text, or a list of texts, as {example}")
    names = tuple(names)
    if not all(isinstance(one, str) for one in names):
        raise wrong(name, value, f"text, or a list of texts, as {example}")
    return tuple(dict.fromkeys(names))


def checked_numbers(name: str, value: object, example: str) -> tuple[Any, ...]:
    """The entries of a list or of an array; what they may be is another question. Raises BadInput."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable) or np.ndim(np.asarray(value)) == 0:
        raise wrong(name, value, f"a list of numbers, as {example}")
    return tuple(value)


def checked_range(name: str, value: object) -> tuple[float, float]:
    """The two ends of a range of positive numbers. Raises BadInput."""
    ends = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping) else ()
    if len(ends) != 2 or not all(isinstance(end, Real) and not isinstance(end, bool) for end in ends):
        raise wrong(name, value, "two numbers, as (0.01, 100.0)")
    low, high = map(float, ends)
    if not 0.0 < low < high < np.inf:
        raise BadInput(f"{name} = {low:g} to {high:g} is empty", "give 0 < LOW < HIGH")
    return low, high


def checked_table(name: str, value: object, example: str) -> Mapping[Any, Any]:
    """A dictionary, or another mapping. Raises BadInput."""
    if not isinstance(value, Mapping):
        raise wrong(name, value, f"a dictionary, as {example}")
    return value


def checked_call(name: str, value: object, example: str) -> Callable[..., Any]:
    """A function. Raises BadInput."""
    if not callable(value):
        raise BadInput(f"{name} = {shorten(value)} cannot be called", f"give a function, as {example}")
    return value
