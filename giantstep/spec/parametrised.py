"""A registered name or an expression with its parameters, as [fit] gives a loss and a penalty. Knows no SymPy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Protocol

from derive.language.grammar import did_you_mean, shorten
from derive.language.loss_catalogue import ParameterEntry
from giantstep.spec.errors import BadInput
from giantstep.spec.symbolic import as_text
from giantstep.spec.validate import LARGEST, Kind, Number, wrong


class Entry(Protocol):
    """What a catalogue says of a name: its own one, and its parameters."""

    @property
    def name(self) -> str: ...
    @property
    def expression(self) -> str: ...
    @property
    def parameters(self) -> tuple[ParameterEntry, ...]: ...


@dataclass(frozen=True)
class Words:
    """What messages call it: its key, the thing itself, what it is for, what is allowed and an example."""

    key: str
    noun: str
    purpose: str
    allowed: str
    example: str


class ParametrisedKind(Kind):
    """The kind of such a field: text, a table with a name and parameters, or the record itself, ``made``."""

    text = True
    made: ClassVar[Any]
    words: ClassVar[Words]
    variables: ClassVar[tuple[str, ...]]

    def check(self, key: str, value: object) -> Any:
        """The record. Raises BadInput naming the key, the value and what is allowed."""
        if isinstance(value, self.made):
            return value
        value = as_text(key, value, self.variables)
        if isinstance(value, str):
            return self.made(value)
        if not isinstance(value, Mapping):
            raise wrong(key, value, self.words.allowed, self.words.example)
        given = dict(value)
        if "name" not in given:
            raise BadInput(f"{key}.name is missing: it says which {self.words.noun} is taken", self.words.example)
        return self.made(given.pop("name"), given)

    def purpose(self) -> str:
        """What it is for, and how it is given."""
        return self.words.purpose


def parameter_names(entries: Iterable[Entry]) -> tuple[str, ...]:
    """The names of all parameters of some entries, each once."""
    return tuple(dict.fromkeys(parameter.name for entry in entries for parameter in entry.parameters))


def plain_table(name: str, parameters: tuple[tuple[str, float], ...]) -> str | dict[str, Any]:
    """What a model file holds: the text, or a table where there are parameters."""
    return {"name": name, **dict(parameters)} if parameters else name


def in_words(name: str, parameters: tuple[tuple[str, float], ...]) -> str:
    """name(parameter=value, ...)."""
    given = ", ".join(f"{key}={value:g}" for key, value in parameters)
    return f"{name}({given})" if given else name


def filled(entry: Entry, given: object, words: Words) -> tuple[tuple[str, float], ...]:
    """Every parameter, checked, in the catalogue's order; the defaults where none is given. Raises BadInput."""
    names = tuple(parameter.name for parameter in entry.parameters)
    values, shown = _as_mapping(given, words), entry.expression if entry.name.startswith("user_") else entry.name
    for name, value in values.items():
        if name not in names:
            hint = did_you_mean(name, names) if isinstance(name, str) else ""
            plain = isinstance(name, str) and name.isidentifier() and name.isascii()
            key = f"{words.key}.{name if plain else shorten(name)}"
            raise BadInput(
                f"{key} = {shorten(value)} is not a parameter of the {words.noun} {shorten(shown)}",
                f"{hint}it has the parameters {', '.join(names)}" if names else "it has no parameters",
            )
    return tuple((item.name, _checked(item, words, values.get(item.name, item.default))) for item in entry.parameters)


def _checked(item: ParameterEntry, words: Words, value: object) -> float:
    """A parameter in its interval. Raises BadInput."""
    try:
        return _range(item, words).check(f"{words.key}.{item.name}", value)
    except BadInput as error:
        at_low = isinstance(value, Real) and value == item.low
        raise BadInput(error.message, item.at_low if at_low else error.hint) from None


def _as_mapping(parameters: object, words: Words) -> Mapping[object, object]:
    try:
        return dict(parameters)  # type: ignore[call-overload,no-any-return]
    except (TypeError, ValueError):
        raise wrong(words.key, parameters, "a table of parameters", words.example) from None


def _range(item: ParameterEntry, words: Words) -> Number:
    """The interval of a parameter, within what any number of a model may be."""
    title = f"the parameter {item.name} of the {words.noun}"
    if item.reaches_low:
        return Number(title, item.low, min(item.high, LARGEST))
    return Number(title, max(item.low, -LARGEST), min(item.high, LARGEST), open=True)
