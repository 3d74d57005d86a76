"""The command decompose: bias, variances and ensembles."""

from __future__ import annotations

import argparse
from typing import Any

import giantstep as gs
from giantstep.cli.options import Subparsers, add_accuracy, add_model, add_simulation, command, model_of, range_of
from giantstep.cli.pictures import add_plot, check_plot, plot
from giantstep.cli.progress import Bars
from giantstep.spec.errors import NotConverged

_BETWEEN_ROWS = 10  # the table has a row for each tenth output of the picture, else it would be too long


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    decompose = command(
        subparsers,
        "decompose",
        "bias and variance of the test error, by what is random in a fit, and ensembles of several fits",
        "giantstep decompose model.toml --members 10\n"
        "  giantstep decompose model.toml --sweep fit.samples=0.2:3:40 --plot variance.pdf",
        _decompose,
    )
    add_model(decompose)
    decompose.add_argument("--members", type=int, default=2, metavar="K", help="ensembles of up to K fits (default 2)")
    decompose.add_argument(
        "--share",
        metavar="S+S",
        help="what the fits of an ensemble share of batch, data, noise, initialisation (default: all but the "
        "initialisation, only what is held where that is held, all where samples are drawn again)",
    )
    decompose.add_argument(
        "--given", default="", metavar="S+S", help="sources that are held; their variance counts as bias"
    )
    again = decompose.add_mutually_exclusive_group()
    again.add_argument("--bootstrap", action="store_true", help="each fit takes n of the n samples with replacement")
    again.add_argument("--subsample", type=float, metavar="F", help="each fit takes this fraction of the samples")
    decompose.add_argument("--sweep", metavar="KEY=RANGE", help="at every value of a key, as in curve")
    decompose.add_argument(
        "--scores",
        metavar="LOW:HIGH",
        help="calibration of a margin loss: P(label 1 | output) at outputs between: 241 in a picture and as "
        "JSON, each tenth of them in the table",
    )
    decompose.add_argument(
        "--deviation",
        action="store_true",
        help="how much the test error of one fit varies between draws (its standard deviation at --dimension)",
    )
    decompose.add_argument("--simulate", action="store_true", help="simulate pairs of fits too (needs --dimension)")
    add_accuracy(decompose)
    add_simulation(decompose)
    add_plot(decompose, "bias and variances, stacked")


def _decompose(arguments: argparse.Namespace) -> int:
    model = model_of(arguments)
    check_plot(arguments)
    names = ("members", "share", "given", "bootstrap", "subsample", "dimension", "tolerance", "deviation")
    options: dict[str, Any] = {name: getattr(arguments, name) for name in names}
    if arguments.simulate:
        options |= {name: getattr(arguments, name) for name in ("simulate", "seeds", "what", "seed")}
    if arguments.scores is not None:
        (low, high), last = range_of("--scores", arguments.scores), 24 * _BETWEEN_ROWS
        options["scores"] = [low + (high - low) * place / last for place in range(last + 1)]
    if arguments.sweep is None:
        found = gs.decompose(model, **options)
        plot(found, arguments)
        print(found.to_json() if arguments.json else _table(found))
        return 0
    with Bars() as bars:
        along = gs.decompose_along(model, arguments.sweep, progress=bars.message, **options)
    plot(along, arguments)
    print(along.to_json() if arguments.json else _lines(along))
    return 0 if all(point is not None for point in along.points) else NotConverged.exit_code


def _table(found: gs.Decomposition) -> str:
    """Errors, parts, pairs and ensembles, a line each."""
    lines = [f"{'test error':<44} {found.test_error:>14.9g}"]
    if found.deviation is not None:
        lines += _deviation(found.deviation)
    if found.bias_squared is not None:
        lines.append(f"{'bias squared':<44} {found.bias_squared:>14.9g}")
        lines += [f"{f'variance: {name}':<44} {value:>14.9g}" for name, value in found.variance.items()]
    lines += ["", f"{'two fits that share':<44} {'E (f1-f2)^2/2':>14} {'their mean':>14}"]
    for name, pair in found.pairs.items():
        lines.append(f"{name or 'nothing':<44} {pair.half_mean_square:>14.9g} {pair.ensemble_of_2:>14.9g}")
    lines += ["", f"test error of the mean of k fits that share {found.members_share or 'nothing'}"]
    lines += [f"{k:<44} {value:>14.9g}" for k, value in found.ensemble.items()]
    for told in found.calibration.values():
        lines += ["", f"{f'output of the mean of {told.members}':<44} {'P(label 1)':>14} {'density':>14}"]
        rows = zip(*(each[::_BETWEEN_ROWS] for each in (told.scores, told.probability, told.density)), strict=True)
        lines += [f"{score:<44.6g} {chance:>14.9g} {density:>14.9g}" for score, chance, density in rows]
    if found.simulation is not None:
        run = found.simulation
        lines += ["", f"simulated: {run.what}, d = {run.dimension}, {run.seeds} seeds; mean (standard error)"]
        lines.append(f"{'two fits that share':<44} {'E (f1-f2)^2/2':>22} {'their mean':>22}")
        means = run.to_dict()
        for name, half in means["half_mean_square"].items():
            both = _with_bar(half), _with_bar(means["ensemble_of_2"][name])
            lines.append(f"{name or 'nothing':<44} {both[0]:>22} {both[1]:>22}")
    return "\n".join(lines)


def _with_bar(told: dict[str, float | None]) -> str:
    """A mean with its standard error, where several seeds tell one."""
    error = told["standard_error"]
    return f"{told['mean']:.6g}" + ("" if error is None else f" ({error:.2g})")


def _deviation(found: gs.Deviation) -> list[str]:
    """The standard deviation of the test error at the dimension, and d times the variance by source."""
    lines = [f"{f'd times its variance between draws: {k}':<44} {v:>14.9g}" for k, v in found.variance.items()]
    if found.standard_deviation is not None:
        told = f"its standard deviation at d = {found.result.dimension}"
        lines.insert(0, f"{told:<44} {found.standard_deviation:>14.9g}")
    if found.mean is not None:
        told = f"mean test error of fits at d = {found.result.dimension}"
        lines.insert(0, f"{told:<44} {found.mean:>14.9g}")
    return lines + [f"left out: {name}: {reason}" for name, reason in found.not_derived.items()]


def _lines(found: gs.Decompositions) -> str:
    """A line for each point."""
    rows = []
    for value, point, reason in zip(found.sweep.values, found.points, found.reasons, strict=True):
        if point is None:
            rows.append(f"{value:>12.6g}  {reason}")
            continue
        if not rows:
            rows.append("  ".join([f"{found.sweep.key:>12}", f"{'test error':>14}", *_head(point)]))
        parts = [] if point.bias_squared is None else [point.bias_squared, *point.variance.values()]
        rows.append("  ".join([f"{value:>12.6g}", f"{point.test_error:>14.9g}", *(f"{x:>14.6g}" for x in parts)]))
    return "\n".join(rows)


def _head(point: gs.Decomposition) -> list[str]:
    return [] if point.bias_squared is None else [f"{name:>14}" for name in ("bias squared", *point.variance)]
