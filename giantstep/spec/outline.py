"""A model in a few words, for results that tell which model they are of."""

from __future__ import annotations

from collections.abc import Mapping

from giantstep.spec.model import Model


def outline(model: Model) -> str:
    """A model on one line: what is not left at its default."""
    parts = []
    for table, entries in model.to_dict().items():
        given = ((name, value) for name, value in entries.items() if not _is_default(model, table, name))
        words = "" if table in ("network", "target") else f"{table} "
        parts.append(words + " ".join(f"{name}={_short(value)}" for name, value in given))
    return "; ".join(parts)


def _is_default(model: Model, table: str, name: str) -> bool:
    record = getattr(model, table)
    item = type(record).__dataclass_fields__[name]
    made = item.default_factory() if callable(item.default_factory) else item.default
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
