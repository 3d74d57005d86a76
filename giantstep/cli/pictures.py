"""The options --plot, --title, --xlog, --ylog, --size and --style of commands that draw."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import giantstep as gs
from giantstep.cli.options import Parser
from giantstep.spec.errors import BadInput
from giantstep.spec.files import PICTURES, check_writable

if TYPE_CHECKING:
    from giantstep.draw.look import Look

LOOK = ("title", "xlog", "ylog", "size", "style")


def add_plot(parser: Parser, draws: str) -> None:
    """The option --plot and those of the look."""
    parser.add_argument("--plot", metavar="FILE", help=f"draw {draws}: .png, .svg or .pdf")
    add_look(parser)


def add_look(parser: Parser) -> None:
    """What a picture looks like."""
    group = parser.add_argument_group("the picture")
    group.add_argument("--title", metavar="TEXT", help="title in place of the model")
    for axis in ("x", "y"):
        group.add_argument(
            f"--{axis}log",
            action=argparse.BooleanOptionalAction,
            default=None,
            help=f"logarithmic {axis} axis (default: as it fits)",
        )
    group.add_argument("--size", metavar="WxH", help="width and height in inches, for example 5.4x4")
    group.add_argument("--style", metavar="NAME", help="a style of Matplotlib, for example ggplot")


def check_plot(arguments: argparse.Namespace) -> None:
    """Raises BadInput for a picture that cannot be written, and a size or a style that is none."""
    given = [name for name in LOOK if getattr(arguments, name) is not None]
    if arguments.plot is None:
        if given:
            raise BadInput(f"--{given[0]} is about a picture, and none is asked for", "give --plot FILE too")
        return
    check_writable(arguments.plot, PICTURES)
    if given:
        look_of(arguments)


def look_of(arguments: argparse.Namespace) -> Look:
    """The look that is asked for. Raises BadInput."""
    from giantstep.draw.look import Look  # loads matplotlib

    return Look(**_options(arguments))


def plot(result: Any, arguments: argparse.Namespace, **options: Any) -> None:
    """Draw a result into the file of --plot, if there is one."""
    if arguments.plot:
        gs.plot(result, arguments.plot, **_options(arguments), **options)


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    return {**{name: getattr(arguments, name) for name in LOOK}, "size": _size(arguments.size)}


def _size(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        width, height = (float(part) for part in text.lower().split("x"))
    except ValueError:
        raise BadInput(f"--size {text!r} is not understood", "write WxH in inches, for example 5.4x4") from None
    return width, height
