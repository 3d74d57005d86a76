"""The command bounds: what the model can and cannot reach, beside the baselines."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import giantstep as gs
from giantstep.cli.options import Subparsers, add_model, command, model_of, range_of
from giantstep.cli.pictures import add_plot, check_plot, plot
from giantstep.cli.progress import Bars
from giantstep.cli.text import Line, aligned

if TYPE_CHECKING:
    from giantstep.observe.bound import Bound


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    bounds = command(
        subparsers,
        "bounds",
        "bounds on the test error for any samples, width and ridge, least over the learning rate, and baselines",
        "giantstep bounds model.toml --degree 5",
        _bounds,
    )
    add_model(bounds)
    bounds.add_argument(
        "--degree", type=int, default=3, metavar="K", help="best polynomials up to this degree (default 3)"
    )
    bounds.add_argument(
        "--rates", default="1e-3:1e3", metavar="LOW:HIGH", help="learning rates that are searched (default 1e-3:1e3)"
    )
    bounds.add_argument("--no-search", action="store_true", help="leave out the minimum over the learning rate")
    bounds.add_argument("--dimension", type=int, metavar="D", help="of a step below the giant one (exponent < 1/2)")
    add_plot(bounds, "the functions that attain the bounds")
    bounds.add_argument("--json", action="store_true", help="print one JSON object")


def _bounds(arguments: argparse.Namespace) -> int:
    model, rates = model_of(arguments), range_of("--rates", arguments.rates)
    check_plot(arguments)
    how = {"degree": arguments.degree, "optimise": not arguments.no_search, "dimension": arguments.dimension}
    with Bars() as bars:
        found = gs.bounds(model, rates=rates, progress=bars, **how)
    if arguments.plot is not None:
        plot(found.functions(), arguments)
    print(found.to_json() if arguments.json else aligned(_lines(found)))
    return 0


def _lines(found: gs.Bounds) -> list[Line]:
    given = "at the model's spike" if found.model.step is None else "at this learning rate"
    lines = [
        _line("lower bound", found.lower, f"any readout, {given}"),
        _line("upper bound", found.upper, f"best ridge of the square loss, {given}"),
    ]
    if found.first_upper is not None:
        words = "the same at the first minimum downhill from a bias of zero, where solve has it as the ridge grows"
        lines.append(_line("upper bound there", found.first_upper, words))
    every = " in every step" if len(found.model.steps) > 1 else ""
    for name, bound in (("least lower bound", found.best_lower), ("least upper bound", found.best_upper)):
        if bound is not None:
            edge = ", the edge of the range" if bound.at_edge else ""
            lines.append(_line(name, bound, f"at step.learning_rate = {bound.learning_rate:.6g}{every}{edge}"))
    for degree, value in found.polynomial.items():
        kind = {0: "best constant", 1: "best linear predictor"}.get(degree, f"best polynomial of degree {degree}")
        remark = "kernels and random features with n, p of order d" if degree == 1 else ""
        lines.append((kind, f"{value:.12g}", remark or (f"kernels with n of order d^{degree}" if degree else "")))
    return lines


def _line(name: str, bound: Bound, remark: str) -> Line:
    bias = f", bias {bound.bias:.6g}{bound.beyond}" if bound.bias else ""
    return (name, f"{bound.value:.12g}", remark + bias)
