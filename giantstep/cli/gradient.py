"""The command gradient: what a change of a parameter does to the errors."""

from __future__ import annotations

import argparse

import giantstep as gs
from giantstep.cli.options import Subparsers, add_accuracy, add_model, command, model_of


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    gradient = command(
        subparsers,
        "gradient",
        "exact derivatives of the errors in ridge, samples, width, learning rate, penalty, by implicit differentiation",
        "giantstep gradient model.toml --keys fit.ridge,step.learning_rate --json",
        _gradient,
    )
    add_model(gradient)
    gradient.add_argument(
        "--keys",
        metavar="KEY[,KEY]",
        help="what to differentiate in: fit.ridge, fit.samples, network.width, step.learning_rate, spike.strength, "
        "spike.bulk_variance, fit.penalty.l1, fit.penalty.bound, fit.penalty.steepness (default: all that the model "
        "has)",
    )
    add_accuracy(gradient)


def _gradient(arguments: argparse.Namespace) -> int:
    model = model_of(arguments)
    found = gs.gradient(model, arguments.keys, dimension=arguments.dimension, tolerance=arguments.tolerance)
    print(found.to_json() if arguments.json else "\n".join(_slopes(found, [] if arguments.keys else _left_out(found))))
    return 0


def _slopes(found: gs.Gradient, left_out: list[str]) -> list[str]:
    rows = [("derivative in", "test error", "train error", "free energy")]
    for key in found.test_error:
        test, train, energy = found.test_error[key], found.train_error[key], found.free_energy[key]
        rows.append((key, f"{test:.9g}", f"{train:.9g}", f"{energy:.9g}"))
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [
        *lines,
        *left_out,
        "",
        f"residual {found.residual:.1e} of the linear equations, error {found.error:.1e} of quadrature",
    ]


def _left_out(found: gs.Gradient) -> list[str]:
    """The keys without a derivative, those of one reason together."""
    keys: dict[str, list[str]] = {}
    for key, reason in found.left_out.items():
        keys.setdefault(reason, []).append(key)
    if not keys:
        return []
    return ["", "no derivatives are made in"] + [f"  {', '.join(names)}: {reason}" for reason, names in keys.items()]
