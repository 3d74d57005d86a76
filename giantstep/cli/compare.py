"""The command compare: the laws of the bulk against the simulated model."""

from __future__ import annotations

import argparse

import giantstep as gs
from giantstep.cli.options import Subparsers, add_model, command, model_of
from giantstep.cli.pictures import add_plot, check_plot, plot
from giantstep.cli.progress import Bars


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    compare = command(
        subparsers,
        "compare",
        "compare the simple and the exact theory of the weights after the step with a simulated network",
        "giantstep compare model.toml --dimension 1500 --seeds 10 --plot compare.pdf",
        _compare,
    )
    add_model(compare)
    compare.add_argument("--dimension", type=int, required=True, metavar="D", help="input dimension d")
    compare.add_argument("--seeds", type=int, required=True, metavar="S", help="number of networks, at least 2")
    compare.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the random numbers (default 0)")
    add_plot(compare, "networks and laws")
    compare.add_argument("--json", action="store_true", help="print one JSON object")


def _compare(arguments: argparse.Namespace) -> int:
    model = model_of(arguments)
    check_plot(arguments)
    with Bars() as bars:
        found = gs.compare(
            model, dimension=arguments.dimension, seeds=arguments.seeds, seed=arguments.seed, progress=bars.message
        )
    plot(found, arguments)
    print(found.to_json() if arguments.json else _table(found))
    return 0


def _table(found: gs.Comparison) -> str:
    """One line for each error of each law, and who was simulated."""
    simulation = found.simulation
    lines = [f"{'':<12} {'network':>22}  {'bulk law':<10} {'predicted':>12} {'z':>7} {'z, Gaussian equivalent':>23}"]
    for error in found.errors:
        mean, spread = float(simulation.mean(error).item()), float(simulation.standard_error(error).item())
        shown, measured = error.replace("_", " "), f"{mean:.6g} +- {spread:.2g}"
        for law in found.results:
            score = found.score(law, error)
            lines.append(
                f"{shown:<12} {measured:>22}  {law:<10} {score.predicted:>12.6g} {score.z:>7.2f} {score.score:>23.2f}"
            )
            shown = measured = ""
    lines += [f"{law}: {reason}" for law, reason in found.refused.items()]
    lines.append(
        f"d = {simulation.dimension}, {simulation.seeds} networks; z: (network - predicted) in standard errors; its "
        f"Gaussian equivalent: as rare under a normal law as z under Student's law; {found.seconds:.3g} s"
    )
    return "\n".join(lines)
