"""The commands tune and gradient: the best parameters, and what a change of a parameter does."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from giantstep.cli.bounds import range_of
from giantstep.cli.options import Parser, Subparsers, add_model, add_tolerance, command, model_of
from giantstep.cli.solve import aligned
from giantstep.spec.errors import BadInput

if TYPE_CHECKING:
    from giantstep.observe.gradient.gradient import Gradient
    from giantstep.observe.tune import Tuned


def add(subparsers: Subparsers) -> None:
    """Declare the commands."""
    tune = command(
        subparsers,
        "tune",
        "the ridge, the learning rate, ... with the least test error",
        "giantstep tune model.toml --over fit.ridge,step.learning_rate --range fit.ridge=1e-4:100",
        _tune,
    )
    add_model(tune)
    tune.add_argument("--over", default="fit.ridge", metavar="KEY[,KEY]", help="what is tuned (default fit.ridge)")
    tune.add_argument(
        "--range", action="append", default=[], metavar="KEY=LOW:HIGH", help="where to look; may be repeated"
    )
    tune.add_argument("--write", metavar="FILE", help="write the model at the optimum as a model file")
    _add_common(tune)
    gradient = command(
        subparsers,
        "gradient",
        "derivatives of the errors in ridge, samples, width, learning rate: exact, by implicit differentiation",
        "giantstep gradient model.toml --keys fit.ridge,step.learning_rate --json",
        _gradient,
    )
    add_model(gradient)
    gradient.add_argument("--keys", metavar="KEY[,KEY]", help="what to differentiate in (default: all there are)")
    _add_common(gradient)


def _add_common(parser: Parser) -> None:
    parser.add_argument("--dimension", type=int, metavar="D", help="include the leading finite-size correction")
    add_tolerance(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _tune(arguments: argparse.Namespace) -> int:
    model, ranges = model_of(arguments), dict(_range(text) for text in arguments.range)
    from giantstep.observe.tune import tune

    found = tune(
        model, _keys(arguments.over), ranges=ranges, dimension=arguments.dimension, tolerance=arguments.tolerance
    )
    if arguments.write:
        from giantstep.spec.files import write_atomic

        write_atomic(arguments.write, found.model.to_toml().encode("utf-8"))
    print(found.to_json() if arguments.json else aligned(_tuned(found)))
    return 0


def _keys(text: str) -> list[str]:
    return [key.strip() for key in text.split(",") if key.strip()]


def _range(text: str) -> tuple[str, tuple[float, float]]:
    key, equals, ends = text.partition("=")
    if not equals:
        raise BadInput(f"--range {text!r} is not understood", "write KEY=LOW:HIGH, for example fit.ridge=1e-4:100")
    return key.strip(), range_of("--range", ends)


def _tuned(found: Tuned) -> list[tuple[str, str, str]]:
    before = "" if found.before is None else f"{found.before:.6g} before"
    lines = [("test error", f"{found.test_error:.12g}", before)]
    for key, value in found.values.items():
        edge = ", at the edge of its range" if key in found.at_edge else ""
        lines.append((key, f"{value:.9g}", f"d test error/d log = {found.gradient[key]:.1e}{edge}"))
    return [
        *lines,
        ("gradient norm", f"{found.gradient_norm:.1e}", "relative to the test error, edges left out"),
        ("residual", f"{found.result.residual:.1e}", "worst relative residual of all equations at the optimum"),
        ("solutions", str(found.solves), ""),
    ]


def _gradient(arguments: argparse.Namespace) -> int:
    model = model_of(arguments)
    from giantstep.observe.gradient.gradient import gradient

    keys = None if arguments.keys is None else _keys(arguments.keys)
    found = gradient(model, keys, dimension=arguments.dimension, tolerance=arguments.tolerance)
    print(found.to_json() if arguments.json else "\n".join(_slopes(found)))
    return 0


def _slopes(found: Gradient) -> list[str]:
    rows = [("derivative in", "test error", "train error", "free energy")]
    for key in found.test_error:
        test, train, energy = found.test_error[key], found.train_error[key], found.free_energy[key]
        rows.append((key, f"{test:.9g}", f"{train:.9g}", f"{energy:.9g}"))
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [*lines, "", f"residual {found.residual:.1e} of the linear equations, error {found.error:.1e} of quadrature"]
