"""The command plot: a saved curve or map drawn again."""

from __future__ import annotations

import argparse

import giantstep as gs
from giantstep.cli.options import Subparsers, command
from giantstep.cli.pictures import add_look, check_plot, plot
from giantstep.spec.files import suffix_of


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = command(
        subparsers,
        "plot",
        "draw a saved curve or map again: what --output of curve and map has written",
        "giantstep plot curve.json curve.pdf --title 'Test error' --ylog --size 5x3.5",
        _plot,
    )
    parser.add_argument("saved", metavar="SAVED", help="what was saved: .json or .nc")
    parser.add_argument("plot", metavar="PICTURE", help="the picture: .png, .svg or .pdf")
    parser.add_argument(
        "--error",
        metavar="NAME",
        default="test_error",
        help="what is drawn: test_error (the default), train_error or the name of a metric",
    )
    add_look(parser)


def _plot(arguments: argparse.Namespace) -> int:
    check_plot(arguments)
    suffix_of(arguments.saved, (".json", ".nc"))  # a .csv file holds no model
    dataset = gs.Dataset.read(arguments.saved)
    if dataset.options.get("map"):
        plot(gs.Map.from_dataset(dataset), arguments, error=arguments.error)
    else:
        plot(dataset, arguments, error=arguments.error)
    print(f"written: {arguments.plot}")
    return 0
