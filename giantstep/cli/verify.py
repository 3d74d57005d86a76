"""The command verify: a model reached by several paths, as a table of checks."""

from __future__ import annotations

import argparse

import giantstep as gs
from giantstep.cli.options import Subparsers, add_model, command, model_of
from giantstep.cli.text import echo


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    verify = command(
        subparsers,
        "verify",
        "run the ladder of checks for a model; exit 1 where one fails",
        "giantstep verify model.toml",
        _verify,
    )
    add_model(verify)


def _verify(arguments: argparse.Namespace) -> int:
    model = model_of(arguments)  # a bad model loads nothing
    return 0 if gs.verify(model, echo) else 1
