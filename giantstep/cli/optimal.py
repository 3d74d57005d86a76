"""The command optimal: what any estimator could reach with the samples of a model."""

from __future__ import annotations

import argparse

import giantstep as gs
from giantstep.cli.options import Subparsers, add_model, command, model_of


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    optimal = command(
        subparsers,
        "optimal",
        "the least test error that any estimator reaches with the same samples, and from how many on it finds anything",
        "giantstep optimal model.toml --json",
        _optimal,
    )
    add_model(optimal)
    optimal.add_argument("--json", action="store_true", help="print one JSON object")


def _optimal(arguments: argparse.Namespace) -> int:
    found = gs.optimal(model_of(arguments))
    print(found.to_json() if arguments.json else str(found))
    return 0
