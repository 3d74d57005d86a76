"""The page of the model file: every key, from the tables that check it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from plain_text import as_markdown, cell, table

from giantstep.spec.errors import BadInput
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.fit_penalty import FitPenalty
from giantstep.spec.metrics import Metrics
from giantstep.spec.model import Model
from giantstep.spec.tables import Table, declared, plain, toml_text
from giantstep.spec.target_channel import Channel
from giantstep.spec.validate import Kind

#: A value of every key, in TOML; the tests give each to its check.
EXAMPLES: Mapping[str, str] = {
    "network.activation": '"tanh"',
    "network.width": "0.5",
    "network.readout.values": "[1.0, -1.0]",
    "network.readout.fractions": "[0.5, 0.5]",
    "network.readout.density": '"gaussian"',
    "network.readout.biases": "[0.0, 0.4]",
    "network.bias": '"trained"',
    "network.initialisation": '"gaussian"',
    "target.link": '"sign(z1*z2)"',
    "target.noise": "0.25",
    "target.flips": "0.05",
    "target.probit": "0.1",
    "target.channel": '"logit"',
    "fit.samples": "2.0",
    "fit.ridge": "0.1",
    "fit.loss": '{ name = "huber", delta = 0.5 }',
    "fit.penalty": '{ name = "elastic_net", l1 = 0.2 }',
    "step.samples": "16.0",
    "step.learning_rate": "1.0",
    "step.bulk": '"trained"',
    "step.exponent": "0.3",
    "step.matrix": '"bulk.npy"',
    "step.batch": '"fresh"',
    "spike.strength": "1.5",
    "spike.alignment": "[0.7, 0.5]",
    "spike.bulk_variance": "1.2",
    "spike.loadings": "[[1.0, 0.0], [0.3, 1.0]]",
    "inputs.eigenvalues": "[2.0, 0.2]",
    "inputs.weights": "[0.3, 0.7]",
    "inputs.capacity": "0.4",
    "inputs.file": '"covariance.npy"',
    "inputs.modes": "600",
    "inputs.target": "[[1.0, 0.5], [0.5, -1.0]]",
    "inputs.source": "0.3",
    "metrics": '{ zero_one = "y*f < 0", coverage = "abs(y - f) < 2" }',
}
_TYPES: Mapping[object, str] = {
    float: "number",
    int: "whole number",
    str: "text",
    **dict.fromkeys((FitLoss, FitPenalty, Channel), "text or table"),
}
_NOWHERE = object()  # a value that no key takes


def page() -> str:
    """The page, in Markdown."""
    words = as_markdown("\n".join((Model.__doc__ or "").split("\n    ")))
    optional = [name for name, item in declared(Model).items() if item.optional]
    parts = [
        f"# Model file\n\n{words}\n\nA model file is TOML with the tables below. The tables "
        f"{', '.join(f'`[{name}]`' for name in optional)} may be left out. "
        "A key that is not listed here is refused. Keys are written with their table elsewhere: `fit.samples` in "
        "`--set fit.samples=1.5`, in sweeps and in `Model.replace`. `gs.schema()` is the same as a JSON schema, for "
        "editors and forms.\n"
    ]
    return "\n".join([*parts, *_tables(Model, "")])


def keys(cls: type[Table] = Model, prefix: str = "") -> Iterator[tuple[str, Kind]]:
    """Every key that holds a value, in file order, with what checks it."""
    for name, item in declared(cls).items():
        key = f"{prefix}{name}"
        if item.kind is not None:
            yield key, item.kind
        elif item.table is not None:
            yield from keys(item.table, f"{key}.")


def _tables(cls: type[Table], prefix: str) -> Iterator[str]:
    for name, item in declared(cls).items():
        if item.kind is not None and not prefix:
            yield _metrics(item.kind)
        if item.table is not None:
            yield _section(item.table, f"{prefix}{name}")
            yield from _tables(item.table, f"{prefix}{name}.")


def _metrics(kind: Kind) -> str:
    """The table whose keys are names of the user's."""
    words = as_markdown("\n".join(line.strip() for line in (Metrics.__doc__ or "").split("\n")).strip())
    row = ["any name", "text", as_markdown(allowed(kind)), "left out", cell(EXAMPLES["metrics"])]
    return f"## `[metrics]`\n\n{words}\n\n{table(['key', 'type', 'allowed', 'default', 'example'], [row])}"


def _section(cls: type[Table], path: str) -> str:
    hints = get_type_hints(cls, include_extras=True)
    rows = [_row(f"{path}.{one.name}", one, hints[one.name]) for one in fields(cls) if _holds_value(hints[one.name])]
    words = as_markdown("\n".join(line.strip() for line in (cls.__doc__ or "").split("\n")).strip())
    return f"## `[{path}]`\n\n{words}\n\n{table(['key', 'type', 'allowed', 'default', 'example'], rows)}"


def _holds_value(hint: Any) -> bool:
    return get_origin(hint) is Annotated


def _row(key: str, one: Field[Any], hint: Any) -> list[str]:
    return [
        cell(key.rpartition(".")[2]),
        _type(get_args(hint)[0]),
        as_markdown(allowed(get_args(hint)[1])),
        _default(one),
        cell(EXAMPLES[key]),
    ]


def allowed(kind: Kind) -> str:
    """What a key may hold, in the words of the errors that wrong values meet: of a list, also of what is in it."""
    found = [_refusal(kind, value) for value in (_NOWHERE, [_NOWHERE], [[_NOWHERE]])]
    return ", each ".join(dict.fromkeys(found))


def _refusal(kind: Kind, value: object) -> str:
    try:
        kind.check("", value)
    except BadInput as error:
        return error.message.partition(": give ")[2]
    raise ValueError(f"{kind} takes any value")


def _type(hint: Any) -> str:
    if hint in _TYPES:
        return _TYPES[hint]
    if get_origin(hint) is tuple:
        item = get_args(hint)[0]
        return "list of rows" if get_origin(item) is tuple else f"list of {_TYPES[item]}s"
    return " or ".join(_type(one) for one in get_args(hint) if one is not NoneType)


def _default(one: Field[Any]) -> str:
    if one.default is MISSING:
        return "must be given"
    return "left out" if one.default is None else cell(toml_text(plain(one.default)))
