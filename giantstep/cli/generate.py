"""The command generate: the kernels, written or checked."""

from __future__ import annotations

import argparse

import giantstep as gs
from giantstep.cli.options import Subparsers, command
from giantstep.cli.text import echo


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    generate = command(
        subparsers,
        "generate",
        "regenerate the kernels, or check them",
        "giantstep generate --check",
        _generate,
    )
    generate.add_argument(
        "models",
        nargs="*",
        metavar="MODEL",
        help="only the kernels of these models (default: all registered)",
    )
    generate.add_argument(
        "--check",
        action="store_true",
        help="change nothing; exit 1 where a kernel is not what the sources give",
    )


def _generate(arguments: argparse.Namespace) -> int:
    models = [gs.Model.from_toml(path) for path in arguments.models]
    return 0 if gs.generate(models, arguments.check, echo) else 1
