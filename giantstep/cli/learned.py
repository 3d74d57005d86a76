"""The command learned: the function that the network has learned."""

from __future__ import annotations

import argparse

import giantstep as gs
from giantstep.cli.options import Subparsers, add_model, add_tolerance, command, model_of
from giantstep.cli.pictures import add_plot, check_plot, plot
from giantstep.cli.text import aligned
from giantstep.spec.errors import BadInput


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    learned = command(
        subparsers,
        "learned",
        "the function learned: mean output (of counts the mean label) given theta.x and given v.x, against the target",
        "giantstep learned model.toml --simulate --dimension 500 --plot learned.png",
        _learned,
    )
    add_model(learned)
    learned.add_argument("--index", type=int, default=1, metavar="I", help="index of the target (default 1)")
    learned.add_argument("--reach", type=float, default=3.0, metavar="R", help="from -R to R (default 3)")
    learned.add_argument("--points", type=int, default=121, metavar="N", help="number of points (default 121)")
    learned.add_argument("--dimension", type=int, metavar="D", help="include the leading finite-size correction")
    add_tolerance(learned)
    learned.add_argument("--simulate", action="store_true", help="simulate it as well (needs --dimension)")
    learned.add_argument("--seeds", type=int, default=10, metavar="S", help="number of systems (default 10)")
    learned.add_argument("--bins", type=int, default=15, metavar="B", help="bins of the simulation (default 15)")
    learned.add_argument("--what", choices=("srf", "network"), default="srf", help="what is simulated (default srf)")
    learned.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the random numbers (default 0)")
    add_plot(learned, "it")
    learned.add_argument("--json", action="store_true", help="print one JSON object")


def _learned(arguments: argparse.Namespace) -> int:
    model = model_of(arguments)
    import numpy as np  # help and bad arguments do without

    reach = arguments.reach
    if not 0.0 < reach <= 30.0 or not 2 <= arguments.points <= 100_000:
        raise BadInput(
            f"--reach {reach:g} with --points {arguments.points} is no range",
            "give a reach between 0 and 30 and 2 to 100000 points",
        )
    check_plot(arguments)
    found = gs.learned(
        model,
        at=np.linspace(-reach, reach, arguments.points),
        index=arguments.index,
        dimension=arguments.dimension,
        tolerance=arguments.tolerance,
        simulate=arguments.simulate,
        seeds=arguments.seeds,
        what=arguments.what,
        seed=arguments.seed,
        bins=arguments.bins,
    )
    plot(found, arguments)
    print(found.to_json() if arguments.json else "\n".join(_tables(found)))
    return 0


def _tables(found: gs.Learned) -> list[str]:
    """Along each direction: a few of the points, the simulated ones where there are any."""
    blocks = []
    several, count = found.result.model.target.indices > 1, len(found.along_spikes)
    names = [f"theta_{found.index}.x" if several else "theta.x"]
    learned = "learned" if found.mean_is == "f" else f"learned {found.mean_is}"
    names += ["v.x"] if count == 1 else [f"v_{number}.x" for number in range(1, count + 1)]
    for axis, (name, profile) in enumerate(zip(names, (found.along_target, *found.along_spikes), strict=True)):
        stride = max(1, (len(profile.at) - 1) // 12)
        lines = [(name, learned, "target")]
        columns = zip(profile.at[::stride], profile.mean[::stride], profile.target[::stride], strict=True)
        lines += [(f"{at:.4g}", f"{mean:.6g}", f"{target:.6g}") for at, mean, target in columns]
        blocks += [aligned(lines), ""]
        points = found.points
        if points is not None:
            lines = [(f"{name} in", "simulated", "theory in the bin")]
            lines += [
                (f"{low:.3g} to {high:.3g}", f"{mean:.4g} +- {error:.1g}", f"{theory:.4g}")
                for low, high, mean, error, theory in zip(
                    points.edges[:-1],
                    points.edges[1:],
                    points.mean[axis],
                    points.standard_error[axis],
                    points.theory[axis],
                    strict=True,
                )
            ]
            blocks += [aligned(lines), ""]
    return blocks[:-1]
