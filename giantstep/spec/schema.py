"""The JSON schema of a model file, from the tables that read it; what may be given where, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING
from functools import lru_cache
from typing import Any, cast

from derive.language.catalogue import NAMED
from derive.language.catalogue import REGISTERED as FUNCTIONS
from derive.language.channels import CHANNELS
from derive.language.grammar import canonical, parse
from derive.language.loss_catalogue import REGISTERED as LOSSES
from derive.language.penalties import REGISTERED as PENALTIES
from giantstep.spec.fit_loss import LossKind
from giantstep.spec.fit_penalty import PenaltyKind
from giantstep.spec.link import LinkKind
from giantstep.spec.matrix import Matrix, NumbersOrMatrix
from giantstep.spec.metrics import MetricsKind
from giantstep.spec.model import Model
from giantstep.spec.parametrised import Entry
from giantstep.spec.readout_density import DENSITIES, DensityKind
from giantstep.spec.step_table import MOST_STEPS, Step
from giantstep.spec.tables import Table, about, declared, fields_with_keys, plain
from giantstep.spec.target_channel import MOST_LABELS, TRIALS_OF_LABEL, ChannelKind
from giantstep.spec.validate import (
    Choice,
    Count,
    Expression,
    FileName,
    Kind,
    Number,
    NumberOrWord,
    Numbers,
    Optional,
)

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> dict[str, Any]:
    """The JSON schema of a model file (draft 2020-12), for editors and forms: every key, its type, range and default.

    Conditions between keys (readout values and fractions, a step or a spike, ...) are checked when a model is made.
    """
    return {"$schema": DIALECT, "title": "a model of giantstep", **_of_table(Model)}


def activations() -> dict[str, str]:
    """Registered activations and links: name -> expression in z."""
    return {**{name: entry.expression for name, entry in FUNCTIONS.items()}, **_others()}


def densities() -> dict[str, str]:
    """Registered densities of readout values: name -> expression in u, before it is normalised."""
    return dict(DENSITIES)


def channels() -> dict[str, str]:
    """Registered channels: name -> what the label is given the value s of the link."""
    return {name: entry.meaning for name, entry in CHANNELS.items()}


def losses() -> dict[str, str]:
    """Registered losses: name -> expression in y, f and the parameters of the loss."""
    return {name: entry.expression for name, entry in LOSSES.items()}


def penalties() -> dict[str, str]:
    """Registered penalties: name -> expression in a readout a and the parameters of the penalty."""
    return {name: entry.expression for name, entry in PENALTIES.items()}


@lru_cache(maxsize=256)
def meaning_of(key: str) -> str:
    """What a key of a model file is, in words."""
    name, _, inner = key.partition(".")
    table: Any = Model
    while inner:
        table = declared(table)[name].table
        name, _, inner = inner.partition(".")
        if declared(table)[name].table is None:
            break
    kind = declared(table)[name].kind
    if inner:
        return f"the parameter {inner} of the {name}"
    return cast(Kind, kind).purpose()


def _others() -> dict[str, str]:
    return {name: canonical(parse(f"{name}(z)")) for name in NAMED if name not in FUNCTIONS}


def _of_table(table: type[Table]) -> dict[str, Any]:
    items = declared(table)
    properties = {}
    for item in fields_with_keys(table):
        found = items[item.name]
        entry = _of_table(found.table) if found.table is not None else _described(cast(Kind, found.kind))
        if found.table is Step:
            entry = {"anyOf": [entry, {"type": "array", "items": entry, "maxItems": MOST_STEPS}]}
            entry["description"] = "one gradient step, or several in order as [[step]]"
        if item.default is not MISSING and item.default is not None:
            entry["default"] = plain(item.default)
        properties[item.name] = entry
    return {
        "type": "object",
        "description": about(table),
        "properties": properties,
        "required": [name for name, found in items.items() if found.required],
        "additionalProperties": False,
    }


def _described(kind: Kind) -> dict[str, Any]:
    return {**_of_kind(kind), "description": kind.purpose()}


def _of_kind(kind: Kind) -> dict[str, Any]:
    match kind:
        case Number():
            return _of_number(kind)
        case Count():
            return {"type": "integer", "minimum": kind.low, "maximum": kind.high}
        case Optional():
            return _of_kind(kind.kind)
        case NumberOrWord():
            return {"anyOf": [_described(kind.number), {"const": kind.word}]}
        case Numbers():
            several = _list_of(kind.item, kind.most)
            return {"anyOf": [_described(kind.item), several]} if kind.alone else several
        case Matrix():
            return _list_of(Numbers(kind.item, kind.columns), kind.most)
        case NumbersOrMatrix():
            return {"anyOf": [_described(kind.numbers), _described(kind.matrix)]}
        case Choice():
            return {"enum": list(kind.words)}
        case FileName():
            return {"type": "string"}
        case LossKind():
            return _of_entries(LOSSES)
        case PenaltyKind():
            return _of_entries(PENALTIES)
        case ChannelKind():
            return _of_channel()
        case MetricsKind():
            return {"type": "object", "additionalProperties": {"type": "string"}}
        case Expression():
            return {"type": "string", "examples": [*FUNCTIONS]}
        case DensityKind():
            return {"type": "string", "examples": [*DENSITIES]}
        case LinkKind():
            return {"type": "string", "examples": [*FUNCTIONS, "sign(z1*z2)"]}
    raise TypeError(f"no schema for {kind}")


def _of_number(kind: Number) -> dict[str, Any]:
    return {"type": "number", "minimum": kind.lowest, "maximum": kind.highest}


def _of_entries(entries: Mapping[str, Entry]) -> dict[str, Any]:
    """What has a registered name and parameters, or is an expression."""
    parameters = {
        item.name: {"type": "number", "description": f"a parameter of {entry.name}"}
        for entry in entries.values()
        for item in entry.parameters
    }
    table = {
        "type": "object",
        "properties": {"name": {"type": "string"}, **parameters},
        "required": ["name"],
        "additionalProperties": False,
    }
    return {"anyOf": [{"type": "string", "examples": [*entries]}, table]}


def _of_channel() -> dict[str, Any]:
    named = {"name": {"enum": [*CHANNELS]}, "trials": {**_described(TRIALS_OF_LABEL), "default": 1}}
    labels = {"labels": _list_of(Number("a label"), MOST_LABELS), "probability": {"type": "string"}}
    tables = [
        {"type": "object", "properties": each, "required": needed, "additionalProperties": False}
        for each, needed in ((named, ["name"]), (labels, [*labels]))
    ]
    return {"anyOf": [{"enum": [*CHANNELS]}, *tables]}


def _list_of(item: Kind, most: int) -> dict[str, Any]:
    return {
        "type": "array",
        "items": _described(item),
        "minItems": 1,
        "maxItems": most,
        "description": item.purpose(),
    }
