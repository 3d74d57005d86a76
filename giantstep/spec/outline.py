"""A model in a few words, for results that tell which model they are of."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import MISSING

from giantstep.spec.model import Model
from giantstep.spec.tables import Table, fields_with_keys


def outline(model: Model, swept: Collection[str] = ()) -> str:
    """A model on one line: what is not left at its default; of the keys that are swept no value."""
    parts = []
    for table in model.to_dict():
        records = model.steps if table == "step" else [getattr(model, table)]
        for number, record in enumerate(records, start=1):
            shown = {name: _short(value) for name, value in record.to_dict().items() if not _is_default(record, name)}
            inner = {key.removeprefix(f"{table}.").partition(".")[0] for key in swept if key.startswith(f"{table}.")}
            shown |= dict.fromkeys(sorted(inner), "(swept)")
            words = "" if table in ("network", "target") else f"{table} "
            words += f"{number} " if len(records) > 1 else ""
            parts.append(words + " ".join(f"{name}={value}" for name, value in shown.items()))
    return "; ".join(parts)


def _is_default(record: Table, name: str) -> bool:
    item = next((each for each in fields_with_keys(type(record)) if each.name == name), None)
    if item is None:  # the name of a metric is the user's
        return False
    made = item.default if item.default_factory is MISSING else item.default_factory()
    return bool(getattr(record, name) == made)


def _short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return "{" + " ".join(f"{name}={_short(entry)}" for name, entry in value.items()) + "}"
    if isinstance(value, list):
        shown = [_short(entry) for entry in value[:4]] + (["..."] if len(value) > 4 else [])
        return "[" + ", ".join(shown) + "]"
    return str(value)
