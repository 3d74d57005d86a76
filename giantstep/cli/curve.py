"""The command curve: learning curves, into a file, a picture, or a table on the terminal."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import giantstep as gs
from giantstep.cli.options import (
    Subparsers,
    add_model,
    add_simulation,
    add_tolerance,
    command,
    model_of,
    set_keys,
)
from giantstep.cli.pictures import add_plot, plot
from giantstep.cli.processes import add_workers, check_files, check_workers, resumable, telling, workers
from giantstep.cli.progress import Bars
from giantstep.spec.errors import BadInput, NotConverged

if TYPE_CHECKING:
    from giantstep.sweep.grid import Grid


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    curve = command(
        subparsers,
        "curve",
        "learning curves: theory, baselines, and simulation on top",
        "giantstep curve model.toml --sweep fit.samples=0.2:3:30 --output curve.json --plot curve.pdf\n"
        "  giantstep curve model.toml --sweep fit.ridge=1e-3:10:20:log network.width=1,2 --simulate --dimension 500",
        _curve,
    )
    add_model(curve)
    curve.add_argument(
        "--sweep",
        action="append",
        required=True,
        metavar="KEY=RANGE",
        help="start:stop:count, start:stop:count:log or v1,v2,v3; the first is the x axis, a second makes a family",
    )
    curve.add_argument("--simulate", action="store_true", help="simulate some of the points (needs --dimension)")
    curve.add_argument(
        "--dimension",
        type=int,
        metavar="D",
        help="input dimension d of the simulation; adds the theory at that finite size beside the limit, with whole "
        "numbers of neurons and samples as the simulation has, where solve --dimension takes the ratios that are given",
    )
    add_simulation(curve)
    curve.add_argument(
        "--simulate-points",
        type=int,
        default=12,
        metavar="N",
        help="simulate at most N points of each curve, spread over it (default 12)",
    )
    curve.add_argument("--output", metavar="FILE", help="write the points: .json, .csv or .nc")
    add_plot(curve, "the curves")
    add_workers(curve)
    curve.add_argument(
        "--no-baselines", action="store_true", help="leave out random features and the best linear predictor"
    )
    curve.add_argument(
        "--optimal",
        action="store_true",
        help="add what the best estimator reaches with all samples, not told the alignment of a [spike]",
    )
    curve.add_argument("--json", action="store_true", help="print the dataset as one JSON object")
    add_tolerance(curve)


def _curve(arguments: argparse.Namespace) -> int:
    with telling(arguments.output or arguments.plot):
        return _run(arguments)


def _run(arguments: argparse.Namespace) -> int:
    model = model_of(arguments)
    from giantstep.sweep.grid import grid_of  # help and bad arguments do without

    grid = grid_of(arguments.sweep)
    _check(arguments, grid)
    with resumable(arguments.output or arguments.plot) as checkpoint:
        with Bars() as bars, workers(arguments) as executor:
            dataset = gs.curve(
                model,
                grid.sweeps,
                simulate=arguments.simulate,
                dimension=arguments.dimension,
                seeds=arguments.seeds,
                what=arguments.what,
                seed=arguments.seed,
                simulate_points=arguments.simulate_points,
                executor=executor,
                progress=bars,
                checkpoint=checkpoint,
                baselines=not arguments.no_baselines,
                optimal=arguments.optimal,
                tolerance=arguments.tolerance,
            )
        _write(arguments, dataset)
    return _report(arguments, dataset)


def _check(arguments: argparse.Namespace, grid: Grid) -> None:
    """Everything that can be refused before the work starts."""
    swept = {sweep.key for sweep in grid.sweeps}
    for key in sorted(set_keys(arguments) & swept):
        raise BadInput(f"{key} is both set and swept", f"leave out --set {key}=...")
    if arguments.simulate and arguments.dimension is None:
        raise BadInput("--simulate needs a dimension", "give for example --dimension 1000")
    check_workers(arguments)
    check_files(arguments)


def _write(arguments: argparse.Namespace, dataset: gs.Dataset) -> None:
    if arguments.output:
        dataset.write(arguments.output)
    plot(dataset, arguments)


def _report(arguments: argparse.Namespace, dataset: gs.Dataset) -> int:
    """Print what was done and how it is known to be right; exit code 3 where a point has no number."""
    from giantstep.report.dataset import report, table  # help and bad arguments do without
    from giantstep.report.gaps import gaps

    code = 0 if all(status == "ok" for status in dataset["status"]) else NotConverged.exit_code
    if arguments.json:
        print(dataset.to_json(), end="")
        return code
    if not arguments.output:
        print(table(dataset))
        print()
    print("\n".join([report(dataset), *gaps(dataset)]))
    files: list[Any] = [name for name in (arguments.output, arguments.plot) if name]
    if files:
        print(f"written: {', '.join(files)}")
    return code
