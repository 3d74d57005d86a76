"""What a field of the model may hold: the kinds of values, each with its check and its words for an error."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import lru_cache
from numbers import Real
from typing import Protocol

import numpy as np

from derive.catalogue import lookup
from derive.grammar import ExpressionError, did_you_mean, parse, shorten
from giantstep.errors import BadInput
from giantstep.functions import numpy_function

LARGEST = 1e12
SMALLEST = 1e-12
MAX_BLOCKS = 64


class Kind(Protocol):
    """A kind of value: ``check`` returns the normalised value or raises BadInput naming ``key``."""

    def check(self, key: str, value: object) -> object:
        """The value in the form the model stores."""

    @property
    def text(self) -> bool:
        """Whether the field holds text, so that ``--set key=text`` needs no quotes."""


def type_name(value: object) -> str:
    """The kind of a value, in the words of a model file."""
    names: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (bool, "a truth value"),
        (int, "a number"),
        (float, "a number"),
        (str, "text"),
        ((list, tuple), "a list"),
        (Mapping, "a table"),
        ((datetime, date, time), "a date or time"),
        (type(None), "nothing"),
    )
    return next((name for kind, name in names if isinstance(value, kind)), f"a {type(value).__name__}")


def wrong(key: str, value: object, allowed: str, hint: str = "") -> BadInput:
    """The error for a value that a key cannot take."""
    return BadInput(
        f"{key} = {shorten(value)} ({type_name(value)}) is not allowed: it must be {allowed}", hint
    )


@dataclass(frozen=True)
class Number:
    """A finite real number within bounds; a bool is not a number, a text is not either.

    ``positive`` excludes zero; ``low`` is the smallest allowed value; ``later`` maps words that are known but
    not solved to the sentence that says so.
    """

    meaning: str
    low: float = -LARGEST
    high: float = LARGEST
    positive: bool = False
    later: tuple[tuple[str, str], ...] = ()
    text: bool = False

    def check(self, key: str, value: object) -> float:
        """The value as a float. Raises BadInput naming the key, the value and the bounds."""
        if isinstance(value, str) and value in dict(self.later):
            raise BadInput(
                f'{key} = "{value}" cannot be solved: {dict(self.later)[value]}', f"give {self.allowed}"
            )
        value = value.tolist() if isinstance(value, np.generic) else value
        if isinstance(value, bool) or not isinstance(value, Real):
            raise wrong(key, value, self.allowed, "write the number without quotes" if _quoted(value) else "")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not (math.isfinite(number) and self.lowest <= number <= self.high):
            raise wrong(key, value, self.allowed)
        return number + 0.0  # -0.0 becomes 0.0: equal models print alike

    @property
    def lowest(self) -> float:
        """The smallest allowed value."""
        return SMALLEST if self.positive else self.low

    @property
    def allowed(self) -> str:
        """The bounds in words."""
        if self.positive:
            return f"a number > 0 (from {SMALLEST:g} to {self.high:g}), {self.meaning}"
        if self.low == 0.0:
            return f"a number >= 0 (at most {self.high:g}), {self.meaning}"
        return f"a number between {self.low:g} and {self.high:g}, {self.meaning}"


def _quoted(value: object) -> bool:
    try:
        return isinstance(value, str) and float(value) is not None
    except ValueError:
        return False


@dataclass(frozen=True)
class Numbers:
    """A list of 1 to 64 numbers, one per block of neurons, each of the kind ``item``."""

    item: Number
    text: bool = False

    def check(self, key: str, value: object) -> tuple[float, ...]:
        """The values as a tuple of floats. Raises BadInput naming the key and the entry."""
        value = value.tolist() if isinstance(value, np.ndarray) else value
        if not isinstance(value, list | tuple) or not 1 <= len(value) <= MAX_BLOCKS:
            raise wrong(key, value, f"a list of 1 to {MAX_BLOCKS} numbers", "for example [1.0, -1.0]")
        return tuple(self.item.check(f"{key}[{i}]", entry) for i, entry in enumerate(value))


@dataclass(frozen=True)
class Choice:
    """One of a few words; ``later`` maps recognised words to the sentence that says why they are refused.

    An expression in ``variables`` in place of a word is recognised, and refused with ``refusal``.
    """

    words: tuple[str, ...]
    later: tuple[tuple[str, str], ...] = ()
    variables: tuple[str, ...] = ()
    refusal: str = ""
    text: bool = True

    def check(self, key: str, value: object) -> str:
        """The word. Raises BadInput naming the words that are allowed."""
        allowed = " or ".join(f'"{word}"' for word in self.words)
        if not isinstance(value, str):
            raise wrong(key, value, allowed)
        word = value.strip()
        if word in self.words:
            return word
        refusal = dict(self.later).get(word) or self._expression(word)
        if refusal:
            raise BadInput(f"{key} = {shorten(value)} cannot be solved: {refusal}", f"use {allowed}")
        known = (*self.words, *dict(self.later))
        raise wrong(key, value, allowed, did_you_mean(word, known).strip())

    def _expression(self, word: str) -> str:
        try:
            return self.refusal if self.variables and parse(word, self.variables) else ""
        except ExpressionError:
            return ""


@dataclass(frozen=True)
class Expression:
    """A registered function or an expression in z; ``varying`` refuses one that is constant."""

    varying: bool = False
    text: bool = True

    def check(self, key: str, value: object) -> str:
        """The text, stripped. Raises BadInput where it does not parse or has no finite Gaussian moments."""
        if not isinstance(value, str):
            raise wrong(key, value, "the name of a function or an expression in z", 'for example "tanh"')
        text = value.strip()
        try:
            problem = _problem(text, self.varying)
        except ExpressionError as error:
            raise BadInput(f"{key}: {error.message}", error.hint) from None
        if problem:
            raise BadInput(f"{key} = {shorten(value)} is not allowed: {problem}", "change the expression")
        return text


@lru_cache(maxsize=256)
def _problem(text: str, varying: bool) -> str:
    """Why a function has no finite Gaussian moments, judged by its values up to |z| = 30, or ''."""
    lookup(text)
    points = np.concatenate((np.linspace(-30.0, 30.0, 241), np.geomspace(1e-9, 1e-3, 7)))
    values, _ = numpy_function(text)(points)
    bad = points[~np.isfinite(values)]
    if bad.size:
        nearest = bad[np.argmin(np.abs(bad))]
        return f"it is not a finite real number at z = {nearest:g}"
    # E f(z)^2 is finite if f grows slower than exp(z^2/4); at |z| = 30 that is exp(225).
    if max(abs(values[0]), abs(values[240])) > math.exp(200.0):
        return "it grows too fast for its Gaussian moments to exist"
    if varying and np.ptp(values) == 0.0:
        return "it does not depend on z"
    return ""
