"""The penalty of a fit beside the ridge, as the model file gives it. Knows no SymPy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from derive.language.grammar import ExpressionError
from derive.language.penalties import REGISTERED, VARIABLES, PenaltyEntry, is_bound, lookup
from giantstep.spec.errors import BadInput
from giantstep.spec.parametrised import ParametrisedKind, Words, filled, in_words, parameter_names, plain_table
from giantstep.spec.validate import wrong

_WORDS = Words(
    "fit.penalty",
    "penalty",
    "the penalty beside the ridge: a registered name, a convex expression in a, or a table with name and parameters",
    f"the name of a penalty ({', '.join(REGISTERED)}), a convex expression in a, or a table with its name",
    'for example { name = "elastic_net", l1 = 0.1 } or "0.1*abs(a)"',
)


_END = "it is at the end of its range"
_BOUND = "it is so steep that it stands for a bound, and nothing depends on it"


@dataclass(frozen=True)
class FitPenalty:
    """A separable penalty, sum_k penalty(a_k): a registered name or an expression in a, and all its parameters.

    What is left out of ``parameters`` has its default. Raises BadInput for a penalty or a parameter that does not
    exist, and for a parameter out of range.
    """

    name: str
    parameters: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        entry = _entry(self.name)
        object.__setattr__(self, "name", entry.name if entry.name in REGISTERED else entry.expression)
        object.__setattr__(self, "parameters", filled(entry, self.parameters, _WORDS))

    @property
    def entry(self) -> PenaltyEntry:
        """The entry of the catalogue."""
        return _entry(self.name)

    @property
    def even(self) -> bool:
        """Whether it is the same for a and -a."""
        return self.entry.even

    @property
    def values(self) -> tuple[float, ...]:
        """The numbers of the parameters, in the catalogue's order."""
        return tuple(value for _, value in self.parameters)

    @property
    def still(self) -> Mapping[str, str]:
        """Name -> why, of the parameters that the fit has no derivative in."""
        entries = {parameter.name: parameter for parameter in self.entry.parameters}
        ends = {name: _END for name, value in self.parameters if value <= entries[name].low}
        bounds = {name: _BOUND for name, value in self.parameters if is_bound(entries[name], value)}
        return ends | bounds

    @property
    def moving(self) -> tuple[str, ...]:
        """Names of the parameters that it has derivatives in."""
        return tuple(name for name, _ in self.parameters if name not in self.still)

    def to_dict(self) -> str | dict[str, Any]:
        """What a model file holds: the text, or a table where there are parameters."""
        return plain_table(self.name, self.parameters)

    def __str__(self) -> str:
        return in_words(self.name, self.parameters)


def _entry(name: object) -> PenaltyEntry:
    if not isinstance(name, str):
        raise wrong(_WORDS.key, name, _WORDS.allowed, _WORDS.example)
    return _looked_up(name)


@lru_cache(maxsize=256)
def _looked_up(name: str) -> PenaltyEntry:
    try:
        return lookup(name)
    except ExpressionError as error:
        raise BadInput(f"{_WORDS.key}: {error.message}", error.hint) from None


class PenaltyKind(ParametrisedKind):
    """The kind of the field ``fit.penalty``: text, a table, a FitPenalty, or nothing."""

    made = FitPenalty
    words = _WORDS
    variables = VARIABLES
    inner = parameter_names(REGISTERED.values())

    def check(self, key: str, value: object) -> FitPenalty | None:
        """The penalty, None for none. Raises BadInput naming the key, the value and what is allowed."""
        return None if value is None else super().check(key, value)
