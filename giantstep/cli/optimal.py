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
    optimal.add_argument("--dimension", type=int, metavar="D", help="run message passing on samples at this dimension")
    optimal.add_argument("--seeds", type=int, default=10, metavar="S", help="so many times (default 10)")
    optimal.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the random numbers (default 0)")
    optimal.add_argument("--json", action="store_true", help="print one JSON object")


def _optimal(arguments: argparse.Namespace) -> int:
    found = gs.optimal(model_of(arguments), dimension=arguments.dimension, seeds=arguments.seeds, seed=arguments.seed)
    print(found.to_json() if arguments.json else str(found))
    return 0
