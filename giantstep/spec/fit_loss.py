"""The loss of a fit with its parameters, as the model file gives it. Knows no SymPy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from derive.language.grammar import ExpressionError, did_you_mean, shorten
from derive.language.loss_catalogue import REGISTERED, VARIABLES, Form, LossEntry, ParameterEntry, lookup
from giantstep.spec.errors import BadInput
from giantstep.spec.prediction import Prediction, prediction
from giantstep.spec.symbolic import as_text
from giantstep.spec.validate import LARGEST, Kind, Number, wrong

_KEY = "fit.loss"
_EXAMPLE = 'for example "logistic", "log(cosh(y - f))" or { name = "huber", delta = 1.0 }'
_ALLOWED = f"the name of a loss ({', '.join(REGISTERED)}), an expression in y and f, or a table with its name"


@dataclass(frozen=True)
class FitLoss:
    """A loss: a registered name or an expression in y and f, and all its parameters in the catalogue's order.

    An expression equal to a registered one takes its name. ``parameters`` may be given as a mapping or as pairs;
    what is left out has its default. Raises BadInput for a loss or a parameter that does not exist, and for a
    parameter out of range.
    """

    name: str
    parameters: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        entry = _entry(self.name)
        object.__setattr__(self, "name", entry.name if entry.name in REGISTERED else self.name.strip())
        object.__setattr__(self, "parameters", _filled(entry, _as_mapping(self.parameters)))

    @property
    def entry(self) -> LossEntry:
        """The entry of the catalogue."""
        return _entry(self.name)

    @property
    def key(self) -> str:
        """A name safe for files: the registered name, or ``user_`` and 16 hexadecimal digits."""
        return self.entry.name

    @property
    def expression(self) -> str:
        """The loss in y, f and its parameters."""
        return self.entry.expression

    @property
    def form(self) -> Form:
        """A function of f - y ("residual"), of y f with labels +-1 ("margin"), or neither ("general")."""
        return self.entry.form

    @property
    def values(self) -> tuple[float, ...]:
        """The numbers of the parameters, in the catalogue's order."""
        return tuple(value for _, value in self.parameters)

    @property
    def predicts(self) -> Prediction | None:
        """The mean label that an output stands for; None where that is the output itself or its sign."""
        entry = self.entry
        return prediction(entry.predicts, self.parameters) if entry.predicts_mean else None

    @property
    def test_error(self) -> str:
        """What the test error is, in words; f_* is the clean target."""
        if self.form == "margin":
            return "P(f_* f < 0)"
        return f"E (f_* - {self.predicts.text})^2" if self.predicts else "E (f_* - f)^2"

    @property
    def test_error_latex(self) -> str:
        """The same in LaTeX, without dollar signs."""
        if self.form == "margin":
            return r"\mathrm{P}\,(f_{\star} f < 0)"
        return rf"\mathrm{{E}}\,(f_{{\star}} - {self.predicts.latex if self.predicts else 'f'})^{{2}}"

    @property
    def train_error(self) -> str:
        """What the train error is, in words."""
        return "mean (y - f)^2" if self.key == "square" else "mean loss"

    def to_dict(self) -> str | dict[str, Any]:
        """What a model file holds: the text, or a table where there are parameters."""
        return {"name": self.name, **dict(self.parameters)} if self.parameters else self.name

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value:g}" for name, value in self.parameters)
        return f"{self.name}({given})" if given else self.name


class LossKind(Kind):
    """The kind of the field ``fit.loss``: text, a table, or a FitLoss."""

    text = True
    inner = tuple(dict.fromkeys(item.name for entry in REGISTERED.values() for item in entry.parameters))

    def check(self, key: str, value: object) -> FitLoss:
        """The loss with its parameters. Raises BadInput naming the key, the value and what is allowed."""
        if isinstance(value, FitLoss):
            return value
        value = as_text(key, value, VARIABLES)
        if isinstance(value, str):
            return FitLoss(value)
        if not isinstance(value, Mapping):
            raise wrong(key, value, _ALLOWED, _EXAMPLE)
        given = dict(value)
        if "name" not in given:
            raise BadInput(f"{key}.name is missing", _EXAMPLE)
        return FitLoss(given.pop("name"), given)  # type: ignore[arg-type]


def _entry(name: object) -> LossEntry:
    if not isinstance(name, str):
        raise wrong(_KEY, name, _ALLOWED, _EXAMPLE)
    return _looked_up(name)


@lru_cache(maxsize=256)
def _looked_up(name: str) -> LossEntry:
    try:
        return lookup(name)
    except ExpressionError as error:
        raise BadInput(f"{_KEY}: {error.message}", error.hint) from None


def _as_mapping(parameters: object) -> dict[object, object]:
    try:
        return dict(parameters)  # type: ignore[call-overload,no-any-return]
    except (TypeError, ValueError):
        raise wrong(_KEY, parameters, "a table of parameters", _EXAMPLE) from None


def _filled(entry: LossEntry, given: Mapping[object, object]) -> tuple[tuple[str, float], ...]:
    """Every parameter of the loss, checked; the defaults where none is given."""
    names = tuple(parameter.name for parameter in entry.parameters)
    for name, value in given.items():
        if name not in names:
            hint = did_you_mean(name, names) if isinstance(name, str) else ""
            plain = isinstance(name, str) and name.isidentifier() and name.isascii()
            key = f"{_KEY}.{name if plain else shorten(name)}"
            raise BadInput(
                f"{key} = {shorten(value)} is not a parameter of the loss {shorten(entry.name)}",
                f"{hint}it has the parameters {', '.join(names)}" if names else "it has no parameters",
            )
    return tuple(
        (item.name, _range(item).check(f"{_KEY}.{item.name}", given.get(item.name, item.default)))
        for item in entry.parameters
    )


def _range(item: ParameterEntry) -> Number:
    """The open interval of a parameter, within what any number of a model may be."""
    return Number(f"the parameter {item.name} of the loss", max(item.low, -LARGEST), min(item.high, LARGEST), open=True)
