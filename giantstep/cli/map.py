"""The command map: the test error over two keys, into a file and a picture."""

from __future__ import annotations

import argparse

import giantstep as gs
from giantstep.cli.options import Subparsers, add_model, add_tolerance, command, model_of, set_keys
from giantstep.cli.pictures import add_plot, plot
from giantstep.cli.processes import add_workers, check_files, check_workers, resumable, telling, workers
from giantstep.cli.progress import Bars
from giantstep.cli.text import aligned
from giantstep.spec.errors import BadInput, NotConverged


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = command(
        subparsers,
        "map",
        "a diagram of the test error over two keys, with the line of the optimum",
        "giantstep map model.toml --x fit.samples=0.1:4:40 --y step.learning_rate=0.1:10:40:log --plot map.png\n"
        "  giantstep map model.toml --x fit.samples=0.1:4:12 --y network.width=0.2:2:12 --optimum fit.ridge",
        _map,
    )
    add_model(parser)
    for axis in ("x", "y"):
        parser.add_argument(
            f"--{axis}", required=True, metavar="KEY=RANGE", help="start:stop:count, start:stop:count:log or v1,v2,v3"
        )
    parser.add_argument("--optimum", metavar="KEY", help="a third key that is tuned in every point, as fit.ridge")
    parser.add_argument(
        "--refine",
        type=int,
        default=2,
        metavar="N",
        help="add lines to the grid where the error changes fast, in N rounds (default 2; 0: the grid as given)",
    )
    parser.add_argument("--dimension", type=int, metavar="D", help="include the leading finite-size correction")
    parser.add_argument("--output", metavar="FILE", help="write the points: .json, .csv or .nc")
    add_plot(parser, "the map")
    add_workers(parser)
    add_tolerance(parser)


def _map(arguments: argparse.Namespace) -> int:
    with telling(arguments.output or arguments.plot):
        return _run(arguments)


def _run(arguments: argparse.Namespace) -> int:
    model = model_of(arguments)
    _check(arguments)
    with resumable(arguments.output or arguments.plot) as checkpoint:
        with Bars() as bars, workers(arguments) as executor:
            found = gs.map(
                model,
                arguments.x,
                arguments.y,
                optimum=arguments.optimum,
                refine=arguments.refine,
                dimension=arguments.dimension,
                tolerance=arguments.tolerance,
                executor=executor,
                progress=bars,
                checkpoint=checkpoint,
            )
        if arguments.output:
            found.dataset.write(arguments.output)
        code = _report(found)  # before the picture, which takes longest and may fail
        plot(found, arguments)
    files = [name for name in (arguments.output, arguments.plot) if name]
    if files:
        print(f"written: {', '.join(files)}")
    return code


def _check(arguments: argparse.Namespace) -> None:
    """Everything that can be refused before the work starts."""
    for text in (arguments.x, arguments.y):
        key = text.partition("=")[0].strip()
        if key in set_keys(arguments):
            raise BadInput(f"{key} is both set and an axis", f"leave out --set {key}=...")
    check_workers(arguments)
    check_files(arguments)


def _report(found: gs.Map) -> int:
    """Print where the error is least and what could not be solved; exit code 3 where a point has no number."""
    best, data = found.least(), found.dataset
    lines = [("points", f"{len(data)}", f"{len(found.x.values)} x {len(found.y.values)}")]
    if best is not None:
        lines.append(("least test error", f"{data.numbers('test_error')[best]:.9g}", f"at {data.point(best)}"))
        if found.optimum is not None:
            lines.append((found.optimum, f"{data.numbers(found.optimum)[best]:.6g}", "its best value there"))
        if ends := found.ends(best):
            lines.append(("at an end", ", ".join(ends), "of the range: the error may be less beyond it"))
    failures = list(data.failures())
    if failures:
        row, reason = failures[0]
        lines.append(("not solved", str(len(failures)), f"the first at {data.point(row)}: {reason}"))
    print(aligned(lines))
    return NotConverged.exit_code if failures else 0
