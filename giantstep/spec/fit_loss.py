"""The loss of a fit with its parameters, as the model file gives it. Knows no SymPy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from derive.language.grammar import ExpressionError
from derive.language.loss_catalogue import REGISTERED, VARIABLES, Form, LossEntry, lookup
from giantstep.spec.errors import BadInput
from giantstep.spec.parametrised import ParametrisedKind, Words, filled, in_words, parameter_names, plain_table
from giantstep.spec.prediction import Prediction, prediction
from giantstep.spec.validate import wrong

_WORDS = Words(
    "fit.loss",
    "loss",
    "the loss of a sample: a registered name, an expression in y and f, or a table with the name and parameters",
    f"the name of a loss ({', '.join(REGISTERED)}), an expression in y and f, or a table with its name",
    'for example "logistic", "log(cosh(y - f))" or { name = "huber", delta = 1.0 }',
)


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
        object.__setattr__(self, "parameters", filled(entry, self.parameters, _WORDS))

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
    def label_range(self) -> tuple[float, float]:
        """The least and the largest label that the loss is a likelihood of."""
        entry = self.entry
        most = dict(self.parameters)[entry.most] if isinstance(entry.most, str) else entry.most
        return entry.least, most

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
        return plain_table(self.name, self.parameters)

    def __str__(self) -> str:
        return in_words(self.name, self.parameters)


def _entry(name: object) -> LossEntry:
    if not isinstance(name, str):
        raise wrong(_WORDS.key, name, _WORDS.allowed, _WORDS.example)
    return _looked_up(name)


@lru_cache(maxsize=256)
def _looked_up(name: str) -> LossEntry:
    try:
        return lookup(name)
    except ExpressionError as error:
        raise BadInput(f"{_WORDS.key}: {error.message}", error.hint) from None


class LossKind(ParametrisedKind):
    """The kind of the field ``fit.loss``: text, a table, or a FitLoss."""

    made = FitLoss
    words = _WORDS
    variables = VARIABLES
    inner = parameter_names(REGISTERED.values())
