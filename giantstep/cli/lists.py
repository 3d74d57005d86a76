"""The commands list, schema and init: what a model file may hold, and one to begin with."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import giantstep as gs
from giantstep.cli.options import Subparsers, command
from giantstep.cli.text import aligned
from giantstep.spec.errors import BadInput
from giantstep.spec.files import check_writable, write_atomic

_OWN = {
    "activations": {"or an expression": "in z, for example z/(1 + exp(-1.5*z))"},
    "channels": {"or a table": 'of labels and their probability, for example labels -1, 1 and "sigmoid(y*s)"'},
    "densities": {"or an expression": "in u, for example exp(-abs(u)); it is normalised"},
    "penalties": {"or an expression": "convex, in a, for example abs(a)**1.5/10"},
    "losses": {"or an expression": "in y and f, for example sqrt(1 + (y - f)**2) - 1 (pseudo-Huber)"},
}
KINDS = ("activations", "losses", "penalties", "channels", "densities", "keys")


def add(subparsers: Subparsers) -> None:
    """Declare the commands."""
    lists = command(
        subparsers,
        "list",
        "list registered functions, losses, penalties, channels, densities of readouts, or the keys of a model file",
        "giantstep list losses",
        _list,
    )
    lists.add_argument("kind", metavar="KIND", nargs="?", help=f"{', '.join(KINDS)} (default: all)")
    lists.add_argument("--json", action="store_true", help="print one JSON object")
    command(
        subparsers,
        "schema",
        "print the JSON schema of a model file, for editors that complete and check",
        "giantstep schema > model.schema.json",
        _schema,
    )
    init = command(
        subparsers,
        "init",
        "write a model file to begin with, every key explained",
        "giantstep init model.toml\n  giantstep init | giantstep solve -",
        _init,
    )
    init.add_argument("file", metavar="FILE", nargs="?", help="where to write it (default: standard output)")
    init.add_argument("--force", action="store_true", help="write over a file that exists")


def _list(arguments: argparse.Namespace) -> int:
    if arguments.kind not in (None, *KINDS):
        raise BadInput(f"there is no list of {arguments.kind!r}", f"give {', '.join(KINDS)}, or nothing for all")
    kinds = KINDS if arguments.kind is None else (arguments.kind,)
    found = {kind: _entries(kind) for kind in kinds}
    if arguments.json:
        print(json.dumps(found if arguments.kind is None else found[arguments.kind], indent=2))
        return 0
    print("\n\n".join(_shown(kind, found[kind]) for kind in kinds))
    return 0


def _shown(kind: str, entries: dict[str, str]) -> str:
    own = [(f"  {words}", example, "") for words, example in _OWN.get(kind, {}).items()]
    return f"{kind}\n" + aligned([*((f"  {name}", value, "") for name, value in entries.items()), *own])


def _entries(kind: str) -> dict[str, str]:
    if kind == "activations":
        return gs.activations()
    if kind == "losses":
        return gs.losses()
    from giantstep.spec.schema import channels, densities, penalties  # help and bad arguments do without

    listed = {"densities": densities, "channels": channels, "penalties": penalties}
    if kind in listed:
        return listed[kind]()
    from giantstep.spec.model import value_keys  # help and bad arguments do without
    from giantstep.spec.schema import meaning_of

    return {key: meaning_of(key) for key in value_keys()}


def _schema(arguments: argparse.Namespace) -> int:
    print(json.dumps(gs.schema(), indent=2))
    return 0


def _init(arguments: argparse.Namespace) -> int:
    from giantstep.spec.template import template  # help and bad arguments do without

    if arguments.file is None:
        print(template(), end="")
        return 0
    if Path(arguments.file).exists() and not arguments.force:
        raise BadInput(f"the file {arguments.file!r} exists", "give another name, or --force to write over it")
    check_writable(arguments.file, (".toml",))
    write_atomic(arguments.file, template().encode())
    print(f"written: {arguments.file}")
    return 0
