"""The model: what is trained, on what target, with which loss. Frozen records, from Python or a TOML file.

Each field is declared once, as a type annotated with its kind; checks, messages, the list of keys, reading
and writing all follow from that declaration (``giantstep.spec.tables``).

Sources: [CUI24] Cui et al. 2024, arXiv:2402.04980.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, Self, cast

from derive.language.catalogue import lookup
from derive.language.grammar import parse, shorten
from derive.language.parity import parity
from giantstep.spec.arguments import checked_table
from giantstep.spec.errors import BadInput
from giantstep.spec.fit_loss import FitLoss, LossKind
from giantstep.spec.fit_penalty import FitPenalty, PenaltyKind
from giantstep.spec.inputs_table import Inputs as Inputs
from giantstep.spec.labels_of_loss import check_labels
from giantstep.spec.metrics import Metrics, MetricsKind
from giantstep.spec.model_file import read_file
from giantstep.spec.nearest import nearest_keys
from giantstep.spec.readout_table import Readout as Readout
from giantstep.spec.spike_table import Spike as Spike
from giantstep.spec.spike_table import check_blocks, check_indices
from giantstep.spec.step_table import Step as Step
from giantstep.spec.step_table import (
    check_several,
    check_with_inputs,
    chosen_steps,
    numbered_step,
    steps_of,
    unnumbered,
)
from giantstep.spec.tables import NO_KEY, Table, build, keys_of, shown_plainly, tables_of, toml_text
from giantstep.spec.target_table import Target as Target
from giantstep.spec.validate import Choice, Expression, Number, NumberOrWord, wrong
from giantstep.spec.written_values import value_of_text

Bulk = Literal["isotropic", "trained", "matrix", "inputs"]

TRAINED = "trained"
_CHANGES = '{"fit.samples": 1.5}'


@shown_plainly
@dataclass(frozen=True)
class Network(Table):
    """Two-layer network f(x) = (1/sqrt p) sum_k a_k sigma(w_k.x + bias), width = p/d. [CUI24] eq. (1)

    The bias is a number, or "trained" with the readout. Initial rows are uniform on the unit sphere, or Gaussian: their
    norms vary then, which an activation with an even part feels.
    """

    path: ClassVar[str] = "network"
    activation: Annotated[str, Expression(varying=True)]
    width: Annotated[float, Number("the number of neurons over the dimension, beta = p/d", positive=True)]
    readout: Readout = field(default_factory=Readout)
    bias: Annotated[float | str, NumberOrWord(Number("the fixed bias of every neuron"), TRAINED)] = 0.0
    initialisation: Annotated[str, Choice(("sphere", "gaussian"))] = "sphere"

    @property
    def trains_bias(self) -> bool:
        """Whether the bias of all neurons is trained, with the readout. [CUI24, App. C.8]"""
        return self.bias == TRAINED

    @property
    def radial(self) -> float:
        """d/2 times the variance of the squared norms of initial rows: 1 of Gaussian rows, 0 on the sphere."""
        return 1.0 if self.initialisation == "gaussian" else 0.0

    @property
    def initial_bias(self) -> float:
        """The bias in the gradient step: the fixed one, or zero where it is trained afterwards."""
        return 0.0 if isinstance(self.bias, str) else self.bias


@shown_plainly
@dataclass(frozen=True)
class Fit(Table):
    """Fit of the readout on fresh samples = n/d: minimise sum_i loss(y_i, f_i) + (ridge/2) |a|^2, no 1/n.

    ``loss``: a registered name, an expression in y and f, a table with the name and parameters, or a FitLoss;
    ``penalty``: sum_k penalty(a_k) beside the ridge, in the same ways, an expression in a.
    """

    path: ClassVar[str] = "fit"
    samples: Annotated[float, Number("the number of samples over the dimension, alpha = n/d", positive=True)]
    ridge: Annotated[float, Number("the strength lambda of the ridge penalty", positive=True)]
    loss: Annotated[FitLoss, LossKind()] = FitLoss("square")
    penalty: Annotated[FitPenalty | None, PenaltyKind()] = None


@shown_plainly
@dataclass(frozen=True)
class Model(Table):
    """Everything a solve needs; hashable and picklable. Raises BadInput for impossible values.

    With ``step`` the network takes a giant step, with ``spike`` the spiked model is given directly, with
    neither it is plain random features. ``earlier_steps``: those before it, in order, each on samples of its own; a
    list of steps may be given for ``step``. ``inputs``: their covariance, isotropic where left out. ``metrics``: what
    else ``metrics`` and ``solve`` of the command line average over labels and outputs, expressions in y and f by name.
    """

    network: Network
    target: Target
    fit: Fit
    step: Step | None = None
    spike: Spike | None = None
    inputs: Inputs | None = None
    earlier_steps: tuple[Step, ...] = field(default=(), metadata=NO_KEY)
    metrics: Annotated[Metrics | None, MetricsKind()] = None

    def __post_init__(self) -> None:
        given: object = self.step
        if isinstance(given, list | tuple):
            *earlier, last = steps_of(given) or (None,)
            object.__setattr__(self, "step", last)
            object.__setattr__(self, "earlier_steps", (*self.earlier_steps, *earlier))
        super().__post_init__()

    @property
    def steps(self) -> tuple[Step, ...]:
        """All giant steps in order."""
        return self.earlier_steps if self.step is None else (*self.earlier_steps, self.step)

    def check(self) -> None:
        """Raises BadInput for fields that do not go together."""
        if self.earlier_steps and self.step is None:
            raise BadInput("the model has earlier steps and no last one", "give the last one as step")
        check_several(self.steps)
        if self.step is not None and self.spike is not None:
            raise _both()
        if self.network.readout.biases is not None:
            self._check_biases()
        if self.network.readout.density is not None and self.bulk == "matrix":
            raise BadInput(
                'network.readout.density is given with step.bulk = "matrix", whose rows belong to readout values',
                "give network.readout.values and fractions, and the array 'block' of the file",
            )
        if self.spike is not None:
            check_blocks(self.spike, self.network.readout)
            check_indices(self.spike, self.target.link, self.target.indices)
        check_labels(self.fit.loss, self.target)
        if self.inputs is not None:
            self.inputs.check_activation(self.network.activation)
            self.inputs.check_indices(self.target.indices)
            check_with_inputs(self.step)
        if self.fit.penalty is not None:
            self._check_penalty(self.fit.penalty)

    def _check_biases(self) -> None:
        """Raises BadInput where blocks with biases of their own have no law."""
        reasons = {
            "network.bias is trained, which is one bias for all neurons": self.network.trains_bias,
            "step.exponent is below 1/2, where the features are those of untrained neurons of one bias": any(
                step.exponent < 0.5 for step in self.steps
            ),
            f"step.bulk = {self.bulk!r} is known for neurons of one bias": self.bulk in ("trained", "matrix"),
        }
        biases = list(self.network.readout.biases or ())
        hint = 'give step.bulk = "isotropic", or leave network.readout.biases out'
        if len({*biases}) == 1:
            hint = f"give network.bias = {self.network.initial_bias + biases[0]!r} in place of network.readout.biases"
        for reason, holds in reasons.items():
            if holds:
                raise BadInput(f"network.readout.biases = {shorten(biases)}: {reason}", hint)

    def _check_penalty(self, penalty: FitPenalty) -> None:
        """Raises BadInput where readouts under a penalty have no law."""
        where = "[inputs]" if self.inputs is not None else f"step.bulk = {self.bulk!r}"
        reasons = {
            "network.bias is trained": self.network.trains_bias,
            'network.initialisation is "gaussian", whose norms of rows readouts align with': bool(self.network.radial),
            f"{where} has directions that readouts feel": self.bulk != "isotropic",
            "step.exponent is below 1/2": any(step.exponent < 0.5 for step in self.steps),
        }
        for reason, holds in reasons.items():
            if holds:
                raise BadInput(
                    f"fit.penalty = {penalty}: {reason}, for which no law of readouts under a penalty is known",
                    "leave fit.penalty out, or take isotropic rows of unit norm around a giant step, and a fixed bias",
                )
        step = "" if self.step is None and self.spike is None else ", at a dimension that is given"
        odd = parity(parse(lookup(self.network.activation).expression)) == -1
        if not penalty.even and (not odd or any(self.network.readout.offsets(self.network.initial_bias))):
            raise BadInput(
                f"fit.penalty = {penalty}: it is not the same for a and -a, so that readouts have a mean, which "
                "features with an even part feel without bound",
                f"take a penalty that is even in a; or an odd activation without bias{step}",
            )

    @property
    def bulk(self) -> Bulk:
        """The spectral law of the rows around the spike: that of [inputs] where there are some, or step.bulk."""
        if self.inputs is not None:
            return "inputs"
        return "isotropic" if self.step is None else cast(Bulk, self.step.bulk)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str], changes: Mapping[str, Any] = MappingProxyType({})) -> Self:
        """Read a model file, with values changed as by ``replace`` before they are checked.

        Raises BadInput where it cannot be read, is not TOML, or is not a model.
        """
        data, shown = read_file(path)
        _require_keys(checked_table("changes", changes, _CHANGES))
        try:
            return cls._changed(data, changes) if changes else cls.from_dict(data)
        except BadInput as error:
            changed = f" with {shorten(', '.join(changes), 200)} changed" if changes else ""
            raise BadInput(f"{shown}{changed}: {error.message}", error.hint) from None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The model of nested dictionaries, as a model file has them. Raises BadInput."""
        steps = data.get("step") if isinstance(data, Mapping) else None
        if steps not in (None, []) and data.get("spike") is not None:  # before what one of them may lack
            raise _both()
        if not isinstance(steps, list):
            return build(cls, data, "")
        found = build(cls, {name: table for name, table in data.items() if name != "step"}, "")
        *earlier, last = steps_of(steps) or (None,)
        return replace(found, step=last, earlier_steps=tuple(earlier))

    def to_dict(self) -> dict[str, Any]:
        """The model as nested dictionaries and lists, absent tables left out; several steps as a list."""
        found = super().to_dict()
        if self.earlier_steps:
            found["step"] = [step.to_dict() for step in self.steps]
        return found

    def replace(self, changes: Mapping[str, Any] = MappingProxyType({}), **tables: Any) -> Self:
        """A model with some values changed: ``replace({"fit.samples": 1.5})``, or ``replace(fit={"samples": 1.5})``.

        The second form keeps what a table holds and is not named. In the first one a key is all that its value says:
        ``{"fit": {"samples": 1.5}}`` is a table with nothing but samples, as is a record (``fit=Fit(...)``). None
        removes [step] or [spike]; an absent table is made. Equal readout fractions stay equal when values change. Text
        given for a number, a list or a table is read as TOML: a command line can pass ``fit.samples=1.5``. Of several
        steps ``step.samples`` changes each, ``step.2.samples`` the second.
        Raises BadInput for an unknown key and for a model that is not possible.
        """
        allowed = allowed_keys()
        changes = {**checked_table("changes", changes, _CHANGES), **_dotted(tables)}
        if all(key in allowed and self._has_number(key, value) for key, value in changes.items()):
            return self._with_numbers(changes)
        _require_keys(changes)
        found = self._changed(self.to_dict(), changes)
        if any(key.split(".")[0] == "network" for key in changes):
            return found
        return replace(found, network=self.network)  # dictionaries do not have the nodes of a density

    @classmethod
    def _changed(cls, data: dict[str, Any], changes: Mapping[str, Any]) -> Self:
        """The model of nested dictionaries with some values changed; it is checked once, as a whole."""
        present = set(data)
        # a table before what is in it, in whatever order they are given
        for key in sorted(changes, key=lambda key: unnumbered(key).count(".")):
            last = key.rpartition(".")[2]
            for table in _tables_with(data, key):
                table[last] = value_of_text(changes[key], text=bool(_holds_text(key)))
        if "network.readout.values" in changes and "network.readout.fractions" not in changes:
            _equal_again(data["network"]["readout"])
        try:
            return cls.from_dict({name: table for name, table in data.items() if table is not None})
        except BadInput as error:
            raise _explained(present, changes, error) from None

    def number_at(self, key: str) -> float:
        """The number of a dotted key, those of a loss or a penalty included; of several steps that of the last.

        Raises BadInput for what is no key, and where it holds no number.
        """
        _require_keys({key: None})
        found: Any = self.to_dict()
        for name in key.split("."):
            if isinstance(found, list):
                found = found[-1] if not name.isdigit() else found
            if isinstance(found, list):
                found = found[int(name) - 1] if int(name) <= len(found) else None
            else:
                found = found.get(name) if isinstance(found, Mapping) else None
        if isinstance(found, bool) or not isinstance(found, int | float):
            raise BadInput(f"{key} is no number of this model", "give a key that holds one, as fit.ridge")
        return float(found)

    def _has_number(self, key: object, value: object) -> bool:
        """Whether a change puts a number in place of one that is there: the step of a sweep."""
        table, _, field = str(key).partition(".")
        if table == "step" and self.earlier_steps:
            return False
        present = getattr(getattr(self, table, None), field, None)
        return isinstance(value, int | float) and isinstance(present, int | float)

    def _with_numbers(self, changes: Mapping[str, Any]) -> Self:
        tables: dict[str, dict[str, Any]] = {}
        for key, value in changes.items():
            table, _, field = key.partition(".")
            tables.setdefault(table, {})[field] = value
        return replace(self, **{name: replace(getattr(self, name), **new) for name, new in tables.items()})

    def to_toml(self) -> str:
        """The text of a model file that ``from_toml`` reads back as an equal model."""
        sections = []
        for name, entry in self.to_dict().items():
            head, tables = (f"[[{name}]]", entry) if isinstance(entry, list) else (f"[{name}]", [entry])
            for table in tables:
                lines = [f"{key} = {toml_text(value)}" for key, value in table.items()]
                sections.append("\n".join([head, *lines]))
        return "\n\n".join(sections) + "\n"


def _require_keys(changes: Mapping[str, Any]) -> None:
    """Raise BadInput for a change of what is no key of a model."""
    for key in changes:
        if not isinstance(key, str) or _holds_text(key) is None:
            table = key.removesuffix(".name") if isinstance(key, str) else key
            named = table != key and table in allowed_keys()
            hint = f"the name is that of {table} itself: set {table}" if named else nearest_keys(key, allowed_keys())
            raise BadInput(f"unknown key {shorten(key)}", hint)


def _explained(present: set[str], changes: Mapping[str, Any], error: BadInput) -> BadInput:
    """The error, or one that says that a change is a whole table, or of a table that the model does not have."""
    for key, value in changes.items():
        if isinstance(value, Mapping) and key in present:
            hint = f"change single keys to keep the rest of [{key}], as {key}.{next(iter(value), '')}"
            return BadInput(f"{key} was given as a whole table: {error.message}", hint)
        table = key.partition(".")[0]
        if table not in (key, "metrics") and table not in present and table not in changes:
            reason = (
                f"{key} was given, and the model has no [{table}]; with the given keys as [{table}]: {error.message}"
            )
            other = {"step": "spike", "spike": "step"}.get(table) in present  # of which a model has one
            return BadInput(
                reason, error.hint if other else f"write [{table}] in the model first, or change keys that it has"
            )
    return error


def _equal_again(readout: dict[str, Any]) -> None:
    """Leave out fractions that were equal, where there are more or fewer values now."""
    if len({*readout.get("fractions", ())}) == 1:
        del readout["fractions"]


def _tables_with(data: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The tables of a model as dictionaries that hold a key, made where absent. Raises BadInput."""
    if key.startswith("step.") and (isinstance(data.get("step"), list) or numbered_step(key) is not None):
        return chosen_steps(data.get("step", []), key)
    inner, names = data, key.split(".")
    for depth, table in enumerate(names[:-1], start=1):
        if isinstance(inner.get(table), str) and _holds_text(".".join(names[:depth])):  # a loss without parameters
            inner[table] = {"name": inner[table]}
        inner = inner.setdefault(table, {"name": Fit.loss.name} if table == "loss" else {})
        if not isinstance(inner, dict):
            raise wrong(table, inner, "a table")
    return [inner]


def _both() -> BadInput:
    return BadInput("the model has both [step] and [spike]", "keep one of them, or neither")


@lru_cache(maxsize=1)
def allowed_keys() -> Mapping[str, bool]:
    """Every dotted key of a model file, tables included, in file order; True where it holds text."""
    return keys_of(Model)


def _holds_text(key: str) -> bool | None:
    """Whether a key holds text; None for one that is none. The names of metrics are the user's."""
    return True if key.startswith("metrics.") else allowed_keys().get(unnumbered(key))


@lru_cache(maxsize=1)
def value_keys() -> Mapping[str, bool]:
    """The keys of ``allowed_keys`` that hold a value: what can be swept."""
    tables = tables_of(Model)
    return MappingProxyType({key: text for key, text in allowed_keys().items() if key not in tables})


def _dotted(tables: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Changes by dotted key; tables of the model are entered, other values are not."""
    found: dict[str, Any] = {}
    for name, value in tables.items():
        key = f"{prefix}{name}"
        inside = isinstance(value, Mapping) and key in tables_of(Model)
        found |= _dotted(value, f"{key}.") if inside else {key: value}
    return found
