"""The command tune: the parameters of a model with the least test error, or the least metric."""

from __future__ import annotations

import argparse

import giantstep as gs
from giantstep.cli.options import Subparsers, add_accuracy, add_model, command, keys_of, model_of, range_of
from giantstep.cli.progress import Bars
from giantstep.cli.text import Line, aligned
from giantstep.spec.errors import BadInput
from giantstep.spec.files import write_atomic


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    tune = command(
        subparsers,
        "tune",
        "the ridge, the learning rate, ... with the least test error, or the least metric",
        "giantstep tune model.toml --over fit.ridge,step.learning_rate --range fit.ridge=1e-4:100",
        _tune,
    )
    add_model(tune)
    tune.add_argument("--over", default="fit.ridge", metavar="KEY[,KEY]", help="what is tuned (default fit.ridge)")
    tune.add_argument(
        "--range", action="append", default=[], metavar="KEY=LOW:HIGH", help="where to look; may be repeated"
    )
    tune.add_argument(
        "--metric",
        metavar="NAME",
        help='made least in place of the test error: a name of [metrics], or an expression in y and f, as "y*f < 0"',
    )
    tune.add_argument("--write", metavar="FILE", help="write the model at the optimum as a model file")
    add_accuracy(tune)


def _tune(arguments: argparse.Namespace) -> int:
    model, ranges = model_of(arguments), dict(_range(text) for text in arguments.range)
    accuracy = {"dimension": arguments.dimension, "tolerance": arguments.tolerance}
    over, metric = keys_of(arguments.over), arguments.metric
    with Bars() as bars:
        found = gs.tune(model, over, metric=metric, ranges=ranges, progress=bars, **accuracy)
    if arguments.write:
        write_atomic(arguments.write, found.model.to_toml().encode("utf-8"))
    print(found.to_json() if arguments.json else aligned(_tuned(found)))
    return 0


def _range(text: str) -> tuple[str, tuple[float, float]]:
    key, equals, ends = text.partition("=")
    if not equals:
        raise BadInput(f"--range {text!r} is not understood", "write KEY=LOW:HIGH, for example fit.ridge=1e-4:100")
    return key.strip(), range_of("--range", ends)


def _tuned(found: gs.Tuned) -> list[Line]:
    before = "" if found.before is None else f"{found.before:.6g} before"
    lines = [(found.objective, f"{found.value:.12g}", before)]
    if found.metric is not None:
        lines.append(("test error", f"{found.test_error:.12g}", ""))
    for key, value in found.values.items():
        more = ", at the edge of its range" if key in found.at_edge else ""
        more += f"; any is as good: the {found.objective} does not depend on it, to 1e-6" if key in found.flat else ""
        lines.append((key, f"{value:.9g}", f"d {found.objective}/d log = {found.gradient[key]:.1e}{more}"))
    return [
        *lines,
        ("gradient norm", f"{found.gradient_norm:.1e}", f"relative to the {found.objective}, edges left out"),
        ("residual", f"{found.result.residual:.1e}", "worst relative residual of all equations at the optimum"),
        ("solutions", str(found.solves), ""),
    ]
