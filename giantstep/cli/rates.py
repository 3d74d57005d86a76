"""The command rates: how fast the test error falls with the samples for power laws of inputs and target."""

from __future__ import annotations

import argparse

import giantstep as gs
from giantstep.cli.options import Subparsers, add_model, command, model_of
from giantstep.cli.pictures import add_plot, check_plot, plot


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    rates = command(
        subparsers,
        "rates",
        "how fast the test error falls with the samples, for inputs and a target that follow power laws",
        "giantstep rates model.toml --width 1.2 --ridge 0.5",
        _rates,
    )
    add_model(rates)
    rates.add_argument("--width", type=float, default=1.0, metavar="Q", help="N^Q neurons for N samples (default 1)")
    rates.add_argument(
        "--ridge", type=float, default=1.0, metavar="L", help="a ridge that grows as N^(1-L) (default 1: constant)"
    )
    add_plot(rates, "the solved test error and the derived exponent")
    rates.add_argument("--json", action="store_true", help="print one JSON object")


def _rates(arguments: argparse.Namespace) -> int:
    model = model_of(arguments)
    check_plot(arguments)
    found = gs.rates(model, width=arguments.width, ridge=arguments.ridge)
    if arguments.plot is not None:
        plot(found, arguments)
    print(found.to_json() if arguments.json else str(found))
    return 0
