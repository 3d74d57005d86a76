"""The page of the Python interface: every public name with its docstring."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Any

import giantstep as gs
from giantstep.spec.tables import Table

_WORDS = {
    "Verbs": "Each takes a model; most take the path of a model file too.",
    "Other functions": "They make models, draw, and say what there is.",
    "The model": "Frozen records, checked when they are made.",
    "Results": "What the verbs give back.",
    "Errors": "Each says what was given, what is allowed, and how to go on.",
}


def page() -> str:
    """The page, in reStructuredText."""
    groups = _groups((name, getattr(gs, name)) for name in dir(gs) if not name.startswith("_"))
    parts = [
        "Python interface\n================\n\n.. py:module:: giantstep\n\n"
        "``import giantstep as gs``. Names are loaded at first use: the import is fast.\n"
    ]
    for title, names in groups.items():
        entries = "\n".join(f".. auto{entry}\n" for entry in names)
        parts.append(f"{title}\n{'-' * len(title)}\n\n{_WORDS[title]}\n\n{entries}")
    return "\n".join(parts)


def _groups(items: Iterable[tuple[str, Any]]) -> Mapping[str, list[str]]:
    groups: dict[str, list[str]] = {title: [] for title in _WORDS}
    for name, value in items:
        groups[_group(value)].append(_directive(name, value))
    return groups


def _group(value: Any) -> str:
    if not isinstance(value, type):
        first = next(iter(inspect.signature(value).parameters), "")
        return "Verbs" if first in ("model", "models") else "Other functions"
    if issubclass(value, Exception):
        return "Errors"
    return "The model" if issubclass(value, Table | gs.FitLoss) else "Results"


def _directive(name: str, value: Any) -> str:
    if isinstance(value, type):
        return f"{'exception' if issubclass(value, Exception) else 'class'}:: giantstep.{name}"
    return f"function:: giantstep.{name}{_signature(value)}"


class _Words(str):
    """An annotation without quotes."""

    def __repr__(self) -> str:
        return str(self)


def _signature(function: Any) -> str:
    """As help() shows it."""
    found = inspect.signature(function)
    parameters = [one.replace(annotation=_words(one.annotation)) for one in found.parameters.values()]
    shown = found.replace(parameters=parameters, return_annotation=_words(found.return_annotation))
    return re.sub(r"<built-in function (\w+)>", r"\1", str(shown))


def _words(annotation: Any) -> Any:
    return _Words(annotation) if isinstance(annotation, str) else annotation
