"""The command completion: a script with which a shell completes commands and options."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from giantstep.cli.options import Parser, Subparsers, command
from giantstep.spec.errors import BadInput

SHELLS = ("bash", "zsh", "fish")


def add(subparsers: Subparsers, whole: Callable[[], Parser]) -> None:
    """Declare the command; ``whole`` makes the parser of all commands."""
    parser = command(
        subparsers,
        "completion",
        "print a script that completes commands and options in bash, zsh or fish",
        "giantstep completion bash > ~/.local/share/bash-completion/completions/giantstep",
        lambda arguments: _completion(arguments, whole()),
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell")


def _completion(arguments: argparse.Namespace, whole: Parser) -> int:
    try:
        import shtab  # an optional dependency
    except ImportError:
        raise BadInput("shtab is not installed", "pip install 'giantstep[completion]'") from None
    print(shtab.complete(whole, arguments.shell))
    return 0
