"""The command derive: the coefficients and equations of a model."""

from __future__ import annotations

import argparse

from giantstep.cli.options import Subparsers, add_model, command, model_of


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    derive = command(
        subparsers,
        "derive",
        "print the derived coefficients and equations of a model",
        "giantstep derive model.toml --format latex --steps > appendix.tex",
        _derive,
    )
    add_model(derive)
    derive.add_argument("--format", choices=("text", "latex", "markdown"), default="text", help="default: text")
    derive.add_argument(
        "--of",
        choices=("solve", "decompose", "optimal", "rates"),
        default="solve",
        help="the equations of this command (default: solve)",
    )
    derive.add_argument("--steps", action="store_true", help="print the whole derivation, step by step")


def _derive(arguments: argparse.Namespace) -> int:
    model = model_of(arguments)
    from giantstep.law.derivation import render  # loads SymPy

    print(render(model, arguments.format, arguments.steps, arguments.of))
    return 0
