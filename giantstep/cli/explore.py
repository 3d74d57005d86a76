"""The command explore: a local page with sliders."""

from __future__ import annotations

import argparse
import sys

from giantstep.cli.options import Subparsers, add_model, command, model_of
from giantstep.spec.errors import BadInput


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = command(
        subparsers,
        "explore",
        "a local page with sliders for the main numbers of the model, until Ctrl-C",
        "giantstep explore model.toml\n  giantstep explore model.toml --port 5007 --no-browser",
        _explore,
    )
    parser.set_defaults(waits=True)  # for the user: no count of its seconds
    add_model(parser)
    parser.add_argument("--port", type=int, default=0, metavar="N", help="port of the page (default: any free one)")
    parser.add_argument("--no-browser", action="store_true", help="open no browser, print the address only")


def _explore(arguments: argparse.Namespace) -> int:
    if not 0 <= arguments.port < 65536:
        raise BadInput(f"--port {arguments.port} is no port", "give a number from 1024 to 65535, or leave it out")
    model = model_of(arguments)
    from giantstep.explore.page import movable, require_panel  # help and bad arguments do without
    from giantstep.explore.serve import serve  # the same

    require_panel()
    movable(model)  # a refusal comes before the line that says what to do
    print("the page is served until you press Ctrl-C here", file=sys.stderr, flush=True)
    serve(model, arguments.port, browser=not arguments.no_browser)
    return 0
