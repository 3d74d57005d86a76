"""Commands about the equations: derive, generate, verify."""

from __future__ import annotations

import argparse

from giantstep.cli.options import Subparsers, add_model, command, model_of


def add(subparsers: Subparsers) -> None:
    """Declare the commands."""
    derive = command(
        subparsers,
        "derive",
        "print the derived coefficients and equations of a model",
        "giantstep derive model.toml --format latex --steps > appendix.tex",
        _derive,
    )
    add_model(derive)
    derive.add_argument(
        "--format", choices=("text", "latex", "markdown"), default="text", help="default: text"
    )
    derive.add_argument("--steps", action="store_true", help="print the whole derivation, step by step")

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

    verify = command(
        subparsers,
        "verify",
        "run the ladder of checks for a model; exit 1 where one fails",
        "giantstep verify model.toml",
        _verify,
    )
    add_model(verify)


def _derive(arguments: argparse.Namespace) -> int:
    model = model_of(arguments)
    from giantstep.law.derivation import render

    print(render(model, arguments.format, arguments.steps))
    return 0


def _generate(arguments: argparse.Namespace) -> int:
    from giantstep.spec.model import Model

    models = [Model.from_toml(path) for path in arguments.models]
    from giantstep.spec.generate import generate

    return 0 if generate(models, arguments.check, _echo) else 1


def _verify(arguments: argparse.Namespace) -> int:
    model = model_of(arguments)
    from giantstep.verify.run import verify

    return 0 if verify(model, _echo) else 1


def _echo(line: str) -> None:
    print(line, flush=True)
