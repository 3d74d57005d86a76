"""The command steps: what several giant steps are worth."""

from __future__ import annotations

import argparse

import giantstep as gs
from giantstep.cli.options import Subparsers, add_model, command, model_of
from giantstep.cli.pictures import add_plot, check_plot, plot
from giantstep.cli.progress import Bars


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    steps = command(
        subparsers,
        "steps",
        "overlap and errors against the number of giant steps, all like the last one of the model, with a batch for "
        "each and with one budget for all",
        "giantstep steps model.toml --most 6 --plot steps.pdf",
        _steps,
    )
    add_model(steps)
    steps.add_argument("--most", type=int, default=6, metavar="N", help="the largest number of steps (default 6)")
    steps.add_argument(
        "--total", type=float, metavar="A", help="samples over d that all steps share (default: those of the model)"
    )
    steps.add_argument("--dimension", type=int, metavar="D", help="with the correction of that input dimension")
    steps.add_argument("--seeds", type=int, default=0, metavar="S", help="simulate so many networks of that dimension")
    steps.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the random numbers (default 0)")
    add_plot(steps, "overlap and test error")
    steps.add_argument("--json", action="store_true", help="print one JSON object")


def _steps(arguments: argparse.Namespace) -> int:
    model = model_of(arguments)
    check_plot(arguments)
    with Bars() as bars:
        found = gs.steps(
            model,
            arguments.most,
            total=arguments.total,
            dimension=arguments.dimension,
            seeds=arguments.seeds,
            seed=arguments.seed,
            progress=bars.message,
        )
    plot(found, arguments)
    print(found.to_json() if arguments.json else table(found))
    return 0


def table(found: gs.Steps) -> str:
    """A line for each number of steps, both ways side by side."""
    words = "samples, the same for each step" if found.repeated else "samples for each step"
    each, total = f"{found.each[-1].samples:g} d {words}", f"{found.total:g} d samples in all"
    lines = [
        f"{'':>5}  {each:^42}  {total:^42}".rstrip(),
        f"{'steps':>5}  " + "  ".join([f"{'overlap':>12} {'test error':>14} {'train error':>14}"] * 2),
    ]
    for one, other in zip(found.each, found.shared, strict=True):
        lines.append(f"{one.steps:>5}  {_cells(one)}  {_cells(other)}")
        if one.simulation is not None or other.simulation is not None:
            lines.append(f"{'':>5}  {_measured(one)}  {_measured(other)}".rstrip())
    reasons = {point.reason for point in (*found.each, *found.shared) if point.reason}
    runs = [point.simulation for point in (*found.each, *found.shared) if point.simulation is not None]
    if runs:
        of = f"d = {runs[0].dimension}, {runs[0].seeds} seeds"
        lines.append(f"below each: simulated networks, {of}; error (standard error)")
    return "\n".join([*lines, *sorted(reasons), *([found.remark] if found.remark else [])])


def _cells(point: gs.StepsPoint) -> str:
    if point.result is None:
        return f"{'-':>12} {'-':>14} {'-':>14}"
    overlap = " ".join(f"{value:.4f}" for value in point.overlaps)
    return f"{overlap:>12} {point.result.test_error:>14.9g} {point.result.train_error:>14.9g}"


def _measured(point: gs.StepsPoint) -> str:
    """What simulated networks have in the place of the same cells."""
    run = point.simulation
    if run is None:
        return f"{'':>12} {'':>14} {'':>14}"
    overlap = "" if point.measured is None else " ".join(f"{value:.4f}" for value in point.measured.mean(axis=0))
    names = ("test_error", "train_error")
    errors = (f"{run.mean(name).item():.4g} ({run.standard_error(name).item():.1g})" for name in names)
    return f"{overlap:>12} " + " ".join(f"{words:>14}" for words in errors)
