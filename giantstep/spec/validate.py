"""What a field of the model may hold: the kinds of values, each with its check and its words for an error."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import lru_cache
from numbers import Real
from typing import ClassVar

import numpy as np

from derive.language.grammar import ExpressionError, did_you_mean, shorten
from giantstep.spec.errors import BadInput
from giantstep.spec.expressions import numpy_values
from giantstep.spec.symbolic import as_text

LARGEST = 1e12
SMALLEST = 1e-12
MAX_BLOCKS = 256

REACH = 30.0
# E f(z)^2 is finite if f grows slower than exp(z^2/4); at |z| = 30 that is exp(225).
TOO_LARGE = math.exp(200.0)
GROWS_TOO_FAST = (
    "it grows too fast: at a distance of 30 from zero it is beyond e^200, where Gaussian moments do not exist or are "
    "too large for double precision"
)


class Kind:
    """A kind of value.

    ``text``: it is text, so that ``--set key=text`` needs no quotes; ``inner``: the names of numbers that can be
    set inside it, as in ``fit.loss.delta``.
    """

    text: ClassVar[bool] = False
    inner: ClassVar[tuple[str, ...]] = ()

    def check(self, key: str, value: object) -> object:
        """The value in the form the model stores. Raises BadInput naming ``key``."""
        raise NotImplementedError

    def purpose(self) -> str:
        """What the key is, in words."""
        raise NotImplementedError


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
    """The error for a value that is not of the kind that a key takes."""
    return BadInput(f"{key} = {shorten(value)} ({type_name(value)}) is not allowed: give {allowed}", hint)


@dataclass(frozen=True)
class Number(Kind):
    """A finite real number within bounds; a bool is not a number, a text is not either.

    ``low`` is the smallest allowed value, ``positive`` excludes zero, ``open`` excludes both bounds. What is beyond a
    bound by no more than ``rounding`` is that bound.
    """

    meaning: str
    low: float = -LARGEST
    high: float = LARGEST
    positive: bool = False
    open: bool = False
    rounding: float = 0.0

    def check(self, key: str, value: object) -> float:
        """The value as a float. Raises BadInput naming the key, the value and the bounds."""
        value = value.tolist() if isinstance(value, np.generic) else value
        if isinstance(value, bool) or not isinstance(value, Real):
            raise wrong(key, value, self.wanted, "write the number without quotes" if _quoted(value) else "")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if self.low - self.rounding <= number <= self.high + self.rounding:
            number = min(max(number, self.low), self.high)
        if not (math.isfinite(number) and self.lowest <= number <= self.highest):
            raise self.outside(key, value, self.allowed)
        return number + 0.0  # -0.0 becomes 0.0: equal models print alike

    def purpose(self) -> str:
        """What the number is."""
        return self.meaning

    def outside(self, key: str, value: object, allowed: str) -> BadInput:
        """The error for a number that is not allowed."""
        return BadInput(f"{key} = {shorten(value)} is not allowed as {self.meaning}: give {allowed}")

    @property
    def wanted(self) -> str:
        """What to give in place of something that is no number."""
        return f"{self.allowed}, as {self.meaning}"

    @property
    def lowest(self) -> float:
        """The smallest allowed value."""
        return SMALLEST if self.positive else self.low + SMALLEST * self.open

    @property
    def highest(self) -> float:
        """The largest allowed value."""
        return min(self.high - SMALLEST, math.nextafter(self.high, 0.0)) if self.open else self.high

    @property
    def allowed(self) -> str:
        """The bounds in words."""
        if self.open:
            return f"a number between {self.low:g} and {self.high:g}, both excluded"
        if self.positive:
            return f"a finite number > 0 (from {SMALLEST:g} to {self.high:g})"
        if self.low == 0.0:
            return f"a finite number >= 0 (at most {self.high:g})"
        return f"a finite number between {self.low:g} and {self.high:g}"


@dataclass(frozen=True)
class Count(Kind):
    """A whole number within bounds."""

    meaning: str
    low: int
    high: int

    def check(self, key: str, value: object) -> int:
        """The value as an int. Raises BadInput naming the key, the value and the bounds."""
        kind = Number(self.meaning)
        number = kind.check(key, value)
        if number != int(number) or not self.low <= number <= self.high:
            raise kind.outside(key, value, f"a whole number between {self.low} and {self.high}")
        return int(number)

    def purpose(self) -> str:
        """What the number is."""
        return self.meaning


@dataclass(frozen=True)
class Optional(Kind):
    """Another kind, or nothing."""

    kind: Kind

    def check(self, key: str, value: object) -> object:
        """The value as that kind stores it, None where there is none. Raises BadInput naming the key."""
        return None if value is None else self.kind.check(key, value)

    def purpose(self) -> str:
        """That of the other kind."""
        return self.kind.purpose()


@dataclass(frozen=True)
class NumberOrWord(Kind):
    """A number, or exactly one word in its place."""

    number: Number
    word: str

    def check(self, key: str, value: object) -> float | str:
        """The value as a float, or the word. Raises BadInput naming the key, the value and what is allowed."""
        if not isinstance(value, str):
            return self.number.check(key, value)
        if value.strip() == self.word:
            return self.word
        meant = did_you_mean(value, (self.word,)).strip()
        hint = "write the number without quotes" if _quoted(value) else meant
        raise wrong(key, value, f'{self.number.wanted}; or "{self.word}"', hint)

    def purpose(self) -> str:
        """What the number is, and the word."""
        return f'{self.number.meaning}, or "{self.word}"'


def _quoted(value: object) -> bool:
    try:
        return isinstance(value, str) and float(value) is not None
    except ValueError:
        return False


@dataclass(frozen=True)
class Numbers(Kind):
    """A list of 1 to ``most`` numbers, each of the kind ``item``; ``alone`` takes a number too, ``same`` gives one back
    for a list of one.
    """

    item: Number
    most: int = MAX_BLOCKS
    alone: bool = False
    same: bool = False

    def check(self, key: str, value: object) -> tuple[float, ...] | float:
        """The values as a tuple of floats. Raises BadInput naming the key and the entry."""
        value = value.tolist() if isinstance(value, np.ndarray) else value
        if self.alone and not isinstance(value, list | tuple):
            return self.item.check(key, value)
        if not isinstance(value, list | tuple) or not 1 <= len(value) <= self.most:
            raise wrong(key, value, f"a list of 1 to {self.most} numbers", "for example [1.0, -1.0]")
        numbers = tuple(self.item.check(f"{key}[{i}]", entry) for i, entry in enumerate(value))
        return numbers[0] if self.same and len(numbers) == 1 else numbers

    def purpose(self) -> str:
        """What each number is."""
        return self.item.meaning


@dataclass(frozen=True)
class Choice(Kind):
    """One of a few words; ``later`` maps recognised words to the sentence that says why they are refused."""

    words: tuple[str, ...]
    later: tuple[tuple[str, str], ...] = ()
    text = True

    def check(self, key: str, value: object) -> str:
        """The word. Raises BadInput naming the words that are allowed."""
        allowed = " or ".join(f'"{word}"' for word in self.words)
        if not isinstance(value, str):
            raise wrong(key, value, allowed)
        word = value.strip()
        if word in self.words:
            return word
        refusal = dict(self.later).get(word)
        if refusal:
            raise BadInput(f"{key} = {shorten(value)} cannot be solved: {refusal}", f"use {allowed}")
        known = (*self.words, *dict(self.later))
        raise wrong(key, value, allowed, did_you_mean(word, known).strip())

    def purpose(self) -> str:
        """The words."""
        return f"one of {', '.join(self.words)}"


@dataclass(frozen=True)
class FileName(Kind):
    """The path of a file, or nothing."""

    ending: str
    text = True

    def check(self, key: str, value: object) -> str | None:
        """The path. Raises BadInput for what is no text."""
        if value is None:
            return None
        value = os.fspath(value) if isinstance(value, os.PathLike) else value
        if not isinstance(value, str) or not value.strip() or "\0" in value:
            raise wrong(key, value, self.purpose())
        return value.strip()

    def purpose(self) -> str:
        """What kind of file it is."""
        return f"the path of a file, ending in {self.ending}"


@dataclass(frozen=True)
class Expression(Kind):
    """A registered function or an expression in z; ``varying`` refuses one that is constant."""

    varying: bool = False
    text = True

    def check(self, key: str, value: object) -> str:
        """The text, stripped. Raises BadInput where it does not parse or has no finite Gaussian moments."""
        value = as_text(key, value, ("z",))
        if not isinstance(value, str):
            raise wrong(key, value, "the name of a function or an expression in z", 'for example "tanh"')
        text = value.strip()
        try:
            problem = unusable(text, self.varying)
        except ExpressionError as error:
            raise BadInput(f"{key}: {error.message}", error.hint) from None
        if problem:
            raise BadInput(f"{key} = {shorten(value)} is not allowed: {problem}", hint_for(problem))
        return text

    def purpose(self) -> str:
        """What function it is."""
        return "the activation sigma of a neuron: a registered name or an expression in z"


def hint_for(problem: str) -> str:
    """What to do about a function that is not usable."""
    if "depend" in problem:
        return "change the expression: functions take z, as leaky_relu(z)"
    if "finite real number" not in problem:
        return "change the expression"
    return (
        "change the expression: a root or logarithm takes no negative numbers, max(z, 0)**0.5 is zero there; where it "
        "has a limit, step aside: sin(z)/z as sin(z + 1e-9)/(z + 1e-9)"
    )


@lru_cache(maxsize=256)
def unusable(text: str, varying: bool) -> str:
    """Why a function of z has no finite Gaussian moments, judged by its values up to |z| = 30, or ''.

    Raises ExpressionError where the text is no function.
    """
    points = np.concatenate((np.linspace(-REACH, REACH, 241), np.geomspace(1e-9, 1e-3, 7)))
    values = numpy_values(text)(points)
    bad = points[~np.isfinite(values)]
    if np.isinf(values[:2]).all() or np.isinf(values[239:241]).all():
        return GROWS_TOO_FAST
    if bad.size:
        nearest = bad[np.argmin(np.abs(bad))]
        return f"it is not a finite real number at z = {nearest:g}"
    if max(abs(values[0]), abs(values[240])) > TOO_LARGE:
        return GROWS_TOO_FAST
    if varying and np.ptp(values) == 0.0:
        return "it does not depend on z"
    return ""
