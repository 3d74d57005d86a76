"""A model file to begin with: every key with its meaning, what may be left out as a comment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING
from typing import Any, cast

from giantstep.spec.common_model import model
from giantstep.spec.model import Model
from giantstep.spec.schema import meaning_of
from giantstep.spec.tables import Declared, Table, about, declared, fields_with_keys, plain, toml_text

_EXAMPLES = {
    "target.channel": '"logit"',
    "fit.penalty": '{ name = "elastic_net", l1 = 0.1 }',
    "step.matrix": '"bulk.npy"',
    "spike.strength": "1.5",
    "spike.alignment": "0.8",
    "spike.bulk_variance": "1.2",
    "spike.loadings": "[[1.0, 0.0], [0.5, 1.0]]",
    "inputs.eigenvalues": "[2.0, 0.5]",
    "inputs.weights": "[0.3, 0.7]",
    "inputs.capacity": "0.4",
    "inputs.file": '"covariance.npy"',
    "inputs.target": "[1.0, 0.5]",
    "inputs.source": "0.3",
}
_HEAD = """\
# A model of giantstep. Lines that begin with "# " may be left out; where they have a default, it is shown.
# Functions and losses by name: giantstep list. Or an expression: activation = "tanh(2*z)",
# loss = "sqrt(1 + (y - f)**2) - 1" (pseudo-Huber). All keys in a form for editors: giantstep schema.
"""

_METRICS = """
# what else is averaged over fresh labels y and outputs f
# [metrics]
# zero_one = "y*f < 0"
"""


def template() -> str:
    """The text of the file; it reads as the model of ``giantstep.model()``."""
    given = model().to_dict()
    tables = (_table(name, item, given.get(name)) for name, item in declared(Model).items() if item.table is not None)
    return _HEAD + "".join(tables) + _METRICS


def _table(name: str, item: Declared, given: dict[str, Any] | None) -> str:
    table = cast(type[Table], item.table)
    mark = "" if given is not None else "# "
    lines = list(_lines(name, table, given))
    width = max(len(line) for line, _ in lines)
    shown = "\n".join(f"{line:<{width}}  # {meaning}" for line, meaning in lines)
    return f"\n# {about(table)}\n{mark}[{name}]\n{shown}\n"


def _lines(name: str, table: type[Table], given: dict[str, Any] | None) -> Iterator[tuple[str, str]]:
    """(assignment, meaning) of every key."""
    items = declared(table)
    for entry in fields_with_keys(table):
        key, needed = f"{name}.{entry.name}", given is not None and items[entry.name].required
        default = entry.default_factory() if entry.default_factory is not MISSING else entry.default
        if given is not None and entry.name in given and needed:
            value = toml_text(given[entry.name])
        elif default in (MISSING, None):
            value = _EXAMPLES[key]
        else:
            value = toml_text(plain(default))
        inner = items[entry.name].table
        meaning = about(inner) if inner is not None else meaning_of(key)
        yield f"{'' if needed else '# '}{entry.name} = {value}", meaning
