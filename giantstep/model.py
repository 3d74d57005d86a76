"""The model: what is trained, on what target, with which loss. Frozen records, from Python or a TOML file.

Each field is declared once, as a type annotated with its kind; checks, messages, the list of keys, reading
and writing all follow from that declaration.

Sources: [CUI24] Cui et al. 2024, arXiv:2402.04980.
"""

import json
import math
import os
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import lru_cache
from types import MappingProxyType, UnionType
from typing import Annotated, Any, ClassVar, Self, TypeVar, cast, get_args, get_origin, get_type_hints

from derive.grammar import did_you_mean, shorten
from giantstep.errors import BadInput
from giantstep.validate import SMALLEST, Choice, Expression, Kind, Number, Numbers, wrong

MAX_FILE_BYTES = 1_000_000

_SQUARE_ONLY = "this version solves the square loss only"
_LATER_LOSSES = ("logistic", "hinge", "squared_hinge", "huber", "absolute", "exponential", "quantile")


_T = TypeVar("_T", bound="Table")


class Table:
    """Base of the records that are tables of a model file: every field is checked when a record is made."""

    path: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for name, declared in _declared(type(self)).items():
            value = getattr(self, name)
            if declared.kind is not None:
                checked = declared.kind.check(_join(self.path, name), value)
                object.__setattr__(self, name, checked)
            elif not (isinstance(value, _table(declared)) or value is None and declared.optional):
                raise wrong(_join(self.path, name), value, "a table")
        self.check()

    def check(self) -> None:
        """Conditions that involve more than one field. Raises BadInput."""

    def to_dict(self) -> dict[str, Any]:
        """The record as nested dictionaries and lists, absent tables left out."""
        values = ((item.name, getattr(self, item.name)) for item in fields(cast(Any, self)))
        return {name: _plain(value) for name, value in values if value is not None}


@dataclass(frozen=True)
class Readout(Table):
    """Readout at initialisation, a0_k = u_k/sqrt(p): values u_b, each held by a fraction pi_b of the neurons.

    The fractions must sum to 1 to 1e-9 and are then made to do so exactly. [CUI24, App. D]
    """

    path: ClassVar[str] = "network.readout"
    values: Annotated[tuple[float, ...], Numbers(Number("the readout value of a block"))] = (1.0,)
    fractions: Annotated[
        tuple[float, ...], Numbers(Number("the fraction of neurons in a block", high=1.0, positive=True))
    ] = (1.0,)

    def check(self) -> None:
        """Raises BadInput for lists of different lengths, fractions not summing to 1 and values all zero."""
        if len(self.values) != len(self.fractions):
            raise BadInput(
                f"{self.path}: values has {len(self.values)} entries and fractions has {len(self.fractions)}",
                "give one fraction for each value, as in values = [1.0, -1.0], fractions = [0.5, 0.5]",
            )
        if not any(self.values):
            raise BadInput(
                f"{self.path}.values = {shorten(list(self.values))} are all zero", "one must not be zero"
            )
        total = math.fsum(self.fractions)
        if abs(total - 1.0) > 1e-9:
            raise BadInput(
                f"{self.path}.fractions = {shorten(list(self.fractions))} sum to {total:.12g}",
                "they must sum to 1",
            )
        object.__setattr__(self, "fractions", _summing_to_one(self.fractions))


@dataclass(frozen=True)
class Network(Table):
    """Two-layer network f(x) = (1/sqrt p) sum_k a_k sigma(w_k.x + bias), width = p/d. [CUI24] eq. (1)"""

    path: ClassVar[str] = "network"
    activation: Annotated[str, Expression(varying=True)]
    width: Annotated[float, Number("beta = p/d", positive=True)]
    readout: Readout = field(default_factory=Readout)
    bias: Annotated[
        float,
        Number(
            "the fixed bias of every neuron", later=(("trained", "this version solves a fixed bias only"),)
        ),
    ] = 0.0


@dataclass(frozen=True)
class Step(Table):
    """One giant gradient step: samples = n0/d, learning_rate = eta/d. [CUI24, Result 3.1]"""

    path: ClassVar[str] = "step"
    samples: Annotated[float, Number("alpha0 = n0/d", positive=True)]
    learning_rate: Annotated[float, Number("eta_tilde = eta/d", low=0.0)]
    bulk: Annotated[
        str, Choice(("isotropic",), later=(("trained", "this version solves the isotropic bulk only"),))
    ] = "isotropic"


@dataclass(frozen=True)
class Spike(Table):
    """A spiked random-feature model given directly; a block of readout value u has strength r u and bulk
    variance 1 + u^2 (c - 1). [CUI24, Result 3.1]
    """

    path: ClassVar[str] = "spike"
    strength: Annotated[float, Number("the strength r of the spike", low=0.0)]
    alignment: Annotated[float, Number("the alignment gamma of spike and target", low=-1.0, high=1.0)]
    bulk_variance: Annotated[float, Number("the squared norm c of a bulk row", positive=True)]


@dataclass(frozen=True)
class Target(Table):
    """Labels y = link(theta.x) + Gaussian noise of variance ``noise``, in both batches; |theta| = 1."""

    path: ClassVar[str] = "target"
    link: Annotated[str, Expression()]
    noise: Annotated[float, Number("the variance of the label noise", low=0.0)] = 0.0


@dataclass(frozen=True)
class Fit(Table):
    """Fit of the readout on fresh samples = n/d: minimise sum_i (y_i - f_i)^2/2 + (ridge/2) |a|^2, no 1/n."""

    path: ClassVar[str] = "fit"
    samples: Annotated[float, Number("alpha = n/d", positive=True)]
    ridge: Annotated[float, Number("lambda", positive=True)]
    loss: Annotated[
        str,
        Choice(
            ("square",),
            later=tuple((name, _SQUARE_ONLY) for name in _LATER_LOSSES),
            variables=("y", "f"),
            refusal=_SQUARE_ONLY,
        ),
    ] = "square"


@dataclass(frozen=True)
class Model(Table):
    """Everything a solve needs; hashable and picklable. Raises BadInput for impossible values.

    With ``step`` the network takes a giant step, with ``spike`` the spiked model is given directly, with
    neither it is plain random features.
    """

    network: Network
    target: Target
    fit: Fit
    step: Step | None = None
    spike: Spike | None = None

    def check(self) -> None:
        """Raises BadInput for [step] together with [spike] and for a block without bulk variance."""
        if self.step is not None and self.spike is not None:
            raise BadInput("the model has both [step] and [spike]", "keep one of them, or neither")
        if self.spike is None:
            return
        for value in self.network.readout.values:
            # 1 + u^2 (c - 1), written so that u = 1 gives c without rounding.
            variance = (1.0 - value**2) + value**2 * self.spike.bulk_variance
            if variance < SMALLEST:
                raise BadInput(
                    f"spike.bulk_variance = {self.spike.bulk_variance!r} gives the block with readout value "
                    f"{value!r} the bulk variance 1 + value^2 (c - 1) = {variance:.6g}",
                    f"it must be > 0: give a bulk_variance above {1.0 - 1.0 / value**2:.6g}",
                )

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model file. Raises BadInput where it cannot be read, is not TOML, or is not a model."""
        if not isinstance(path, str | os.PathLike):
            raise wrong("the path of the model file", path, "text or a Path")
        shown = shorten(os.fspath(path), 200)
        try:
            with open(path, "rb") as stream:
                content = stream.read(MAX_FILE_BYTES + 1)
        except FileNotFoundError:
            raise BadInput(f"the model file {shown} does not exist", "check the path") from None
        except IsADirectoryError:
            raise BadInput(f"{shown} is a folder", "give the path of a model file, ending in .toml") from None
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise BadInput(f"the model file {shown} cannot be read: {reason}") from None
        if len(content) > MAX_FILE_BYTES:
            raise BadInput(f"{shown} is larger than {MAX_FILE_BYTES} bytes", "it is not a model file")
        try:
            data = tomllib.loads(content.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise BadInput(f"{shown} is not UTF-8 text (byte {error.start})", "save it as UTF-8") from None
        except (ValueError, RecursionError) as error:
            reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise BadInput(
                f"{shown} is not valid TOML: {reason}", 'a line looks like: activation = "tanh"'
            ) from None
        try:
            return cls.from_dict(data)
        except BadInput as error:
            raise BadInput(f"{shown}: {error.message}", error.hint) from None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The model of nested dictionaries, as a model file has them. Raises BadInput."""
        return _build(cls, data, "")

    def replace(self, changes: Mapping[str, Any]) -> Self:
        """A model with some values changed: ``{"fit.samples": 1.5}``.

        A table is set by its name, and [step] or [spike] removed by None; an absent table is made. Text given
        for a number, a list or a table is read as TOML: a command line can pass ``fit.samples=1.5``.
        Raises BadInput for an unknown key and for a model that is not possible.
        """
        allowed = allowed_keys()
        if all(key in allowed and self._has_number(key, value) for key, value in changes.items()):
            return self._with_numbers(changes)
        data = self.to_dict()
        for key, value in changes.items():
            if not isinstance(key, str) or key not in allowed:
                names = tuple(allowed)
                hint = did_you_mean(key, names) if isinstance(key, str) else ""
                raise BadInput(f"unknown key {shorten(key)}", f"{hint}allowed keys are {', '.join(names)}")
            *tables, last = key.split(".")
            inner = data
            for table in tables:
                inner = inner.setdefault(table, {})
                if not isinstance(inner, dict):
                    raise wrong(table, inner, "a table")
            inner[last] = _from_text(value, quoted_only=allowed[key])
        return type(self).from_dict({name: table for name, table in data.items() if table is not None})

    def _has_number(self, key: object, value: object) -> bool:
        """Whether a change puts a number in place of one that is there: the step of a sweep."""
        table, _, field = str(key).partition(".")
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
        for name, table in self.to_dict().items():
            lines = [f"{key} = {_toml_value(value)}" for key, value in table.items()]
            sections.append("\n".join([f"[{name}]", *lines]))
        return "\n\n".join(sections) + "\n"


@dataclass(frozen=True)
class _Declared:
    """What the annotation of a field says: a kind of value, or a table that may be optional."""

    kind: Kind | None
    table: type[Table] | None
    optional: bool
    required: bool


def _declared(cls: type[Table]) -> Mapping[str, _Declared]:
    return _read_declarations(cast(Any, cls))


@lru_cache(maxsize=32)
def _read_declarations(cls: Any) -> Mapping[str, _Declared]:
    hints = get_type_hints(cls, include_extras=True)
    found = {}
    for item in fields(cls):
        hint = hints[item.name]
        required = item.default is MISSING and item.default_factory is MISSING
        kind = get_args(hint)[1] if get_origin(hint) is Annotated else None
        optional = isinstance(hint, UnionType)
        table = None if kind is not None else get_args(hint)[0] if optional else hint
        found[item.name] = _Declared(kind, table, optional, required)
    return MappingProxyType(found)


def allowed_keys(cls: type[Table] = Model, prefix: str = "") -> Mapping[str, bool]:
    """Every dotted key of a model file, tables included, in file order; True where it holds text."""
    keys: dict[str, bool] = {}
    for name, declared in _declared(cls).items():
        keys[_join(prefix, name)] = declared.kind is not None and declared.kind.text
        if declared.table is not None:
            keys.update(allowed_keys(declared.table, _join(prefix, name)))
    return MappingProxyType(keys)


def _build(cls: type[_T], data: object, path: str) -> _T:
    """A record from a mapping, its inner tables built first; keys are checked here, values by the record."""
    declared = _declared(cls)
    where = f"[{path}]" if path else "the model"
    if not isinstance(data, Mapping):
        raise wrong(path or "the model", data, f"a table with the keys {', '.join(declared)}")
    for key in data:
        if key not in declared:
            hint = did_you_mean(key, tuple(declared)) if isinstance(key, str) else ""
            raise BadInput(
                f"unknown key {shorten(key)} in {where}", f"{hint}allowed keys are {', '.join(declared)}"
            )
    for name, item in declared.items():
        if item.required and name not in data:
            key = _join(path, name)
            missing = f"the table [{key}]" if item.table else key
            raise BadInput(f"{missing} is missing", f"add it; {where} has the keys {', '.join(declared)}")
    values = {
        name: value
        if declared[name].table is None
        else _build(_table(declared[name]), value, _join(path, name))
        for name, value in data.items()
    }
    return cls(**values)


def _table(declared: _Declared) -> type[Table]:
    return cast(type[Table], declared.table)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _plain(value: object) -> Any:
    if isinstance(value, Table):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _from_text(value: Any, quoted_only: bool) -> Any:
    """The TOML value that a text from the command line stands for; a bare word stands for itself."""
    if not isinstance(value, str) or quoted_only and value.strip()[:1] not in ('"', "'"):
        return _plain(value)
    try:
        read = tomllib.loads(f"value = {value.strip()}")
    except (ValueError, RecursionError):
        return value
    return read["value"] if len(read) == 1 else value


def _summing_to_one(fractions: tuple[float, ...]) -> tuple[float, ...]:
    """The fractions, the rounding error of their sum put on the largest: ``math.fsum`` is exactly 1."""
    if math.fsum(fractions) == 1.0:
        return fractions
    scaled = [value / math.fsum(fractions) for value in fractions]
    largest = max(range(len(scaled)), key=scaled.__getitem__)
    scaled[largest] += math.fsum((1.0, *(-value for value in scaled)))
    return tuple(scaled)


def _toml_value(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml_value(entry)}" for key, entry in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_toml_value(entry) for entry in value) + "]"
    return json.dumps(value) if isinstance(value, str) else repr(value)
