"""Records that are the tables of a model file: declared once, then checked, read and written from that declaration.

Each field is a type annotated with its kind (``giantstep.spec.validate``), or another table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields
from functools import lru_cache
from types import MappingProxyType, UnionType
from typing import Annotated, Any, ClassVar, TypeVar, cast, get_args, get_origin, get_type_hints

from derive.language.grammar import shorten
from giantstep.spec.errors import BadInput
from giantstep.spec.nearest import nearest
from giantstep.spec.shown import html_table
from giantstep.spec.validate import Kind, wrong

NO_KEY = MappingProxyType({"key": False})  # metadata of a field that is no key of its own in a model file
_T = TypeVar("_T", bound="Table")
_C = TypeVar("_C")


class Table:
    """Base of the records that are tables of a model file: every field is checked when a record is made."""

    path: ClassVar[str] = ""
    example: ClassVar[str] = ""  # of a value, where another kind of value looks like one

    def __post_init__(self) -> None:
        for name, item in declared(type(self)).items():
            value = getattr(self, name)
            if item.kind is not None:
                checked = item.kind.check(_join(self.path, name), value)
                object.__setattr__(self, name, checked)
            elif not (isinstance(value, _table(item)) or value is None and item.optional):
                record = f"a gs.{_table(item).__name__}"
                hint = "Model.from_dict takes tables that are dictionaries" if isinstance(value, Mapping) else ""
                raise wrong(_join(self.path, name), value, record, hint)
        self.check()

    def check(self) -> None:
        """Conditions that involve more than one field. Raises BadInput."""

    def to_dict(self) -> dict[str, Any]:
        """The record as nested dictionaries and lists, absent tables left out."""
        values = ((name, getattr(self, name)) for name in declared(type(self)))
        return {name: plain(value) for name, value in values if value is not None}

    def to_json(self) -> str:
        """``to_dict`` as JSON."""
        return json.dumps(self.to_dict(), indent=2)

    def _repr_html_(self) -> str:
        entries = _leaves(self.to_dict(), self.path)
        return html_table(type(self).__name__, [[key, value] for key, value in entries.items()])


def shown_plainly(cls: type[_C]) -> type[_C]:
    """A record whose signature in help() has the types of its fields, and not what is checked of them."""
    made = cast(Any, cls.__init__)
    made.__annotations__ = {
        name: get_args(hint)[0] if get_origin(hint) is Annotated else hint
        for name, hint in made.__annotations__.items()
    }
    return cls


@dataclass(frozen=True)
class Declared:
    """What the annotation of a field says: a kind of value, or a table that may be optional."""

    kind: Kind | None
    table: type[Table] | None
    optional: bool
    required: bool


def declared(cls: type[Table]) -> Mapping[str, Declared]:
    """The fields of a table in file order."""
    return _read_declarations(cast(Any, cls))


def fields_with_keys(cls: Any) -> list[Field[Any]]:
    """The fields of a table that are keys of a model file."""
    return [item for item in fields(cls) if item.metadata.get("key", True)]


@lru_cache(maxsize=32)
def _read_declarations(cls: Any) -> Mapping[str, Declared]:
    hints = get_type_hints(cls, include_extras=True)
    found = {}
    for item in fields_with_keys(cls):
        hint = hints[item.name]
        required = item.default is MISSING and item.default_factory is MISSING
        kind = get_args(hint)[1] if get_origin(hint) is Annotated else None
        optional = isinstance(hint, UnionType)
        table = None if kind is not None else get_args(hint)[0] if optional else hint
        found[item.name] = Declared(kind, table, optional, required)
    return MappingProxyType(found)


def keys_of(cls: type[Table], prefix: str = "") -> Mapping[str, bool]:
    """Every dotted key below a table, inner tables included, in file order; True where it holds text."""
    keys: dict[str, bool] = {}
    for name, item in declared(cls).items():
        key = _join(prefix, name)
        keys[key] = item.kind is not None and item.kind.text
        if item.kind is not None:
            keys.update(dict.fromkeys((_join(key, inner) for inner in item.kind.inner), False))
        if item.table is not None:
            keys.update(keys_of(item.table, key))
    return MappingProxyType(keys)


def tables_of(cls: type[Table], prefix: str = "") -> tuple[str, ...]:
    """The dotted keys that are tables and hold no value themselves."""
    return _read_tables(cast(Any, cls), prefix)


@lru_cache(maxsize=32)
def _read_tables(cls: Any, prefix: str) -> tuple[str, ...]:
    found: list[str] = []
    for name, item in declared(cls).items():
        if item.table is not None:
            found += [_join(prefix, name), *tables_of(item.table, _join(prefix, name))]
    return tuple(found)


def build(cls: type[_T], data: object, path: str) -> _T:
    """A record from a mapping, its inner tables built first; keys are checked here, values by the record.

    Raises BadInput.
    """
    items = declared(cls)
    where = f"[{path}]" if path else "the model"
    if not isinstance(data, Mapping):
        example = f"for example {cls.example}" if cls.example else ""
        raise wrong(path or "the model", data, f"a table with the keys {', '.join(items)}", example)
    for key in data:
        if key not in items:
            raise BadInput(f"unknown key {shorten(key)} in {where}", nearest(key, items, where))
    for name, item in items.items():
        if item.required and name not in data:
            key = _join(path, name)
            if item.table is not None:
                raise BadInput(f"the table [{key}] is missing: {_lowered(about(item.table))}", "add it")
            raise BadInput(f"{key} is missing: {cast(Kind, item.kind).purpose()}", f"add it to {where}")
    values = {
        name: value if items[name].table is None else build(_table(items[name]), value, _join(path, name))
        for name, value in data.items()
    }
    return cls(**values)


def about(table: type[Table]) -> str:
    """What a table is: the first sentence of its documentation."""
    first = " ".join((table.__doc__ or "").partition("\n\n")[0].split())
    return first.partition("; ")[0].partition(" [")[0]


def plain(value: object) -> Any:
    """Nested dictionaries, lists, texts and numbers, as a model file has them."""
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    written = getattr(value, "to_dict", None)
    if written is not None and not isinstance(value, type):
        return written()
    return [plain(entry) for entry in value] if isinstance(value, tuple) else value


def _leaves(table: Mapping[str, Any], prefix: str) -> dict[str, str]:
    """Dotted keys below a table, with their values as a model file has them."""
    found: dict[str, str] = {}
    for name, value in table.items():
        key = _join(prefix, name)
        found |= _leaves(value, key) if isinstance(value, Mapping) else {key: toml_text(value)}
    return found


def toml_text(value: object) -> str:
    """A plain value as TOML, tables inline."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml_text(entry)}" for key, entry in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(toml_text(entry) for entry in value) + "]"
    return json.dumps(value) if isinstance(value, str) else repr(value)


def _lowered(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}".rstrip(".").replace("``", "")


def _table(item: Declared) -> type[Table]:
    return cast(type[Table], item.table)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
