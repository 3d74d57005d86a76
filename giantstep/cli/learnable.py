"""The command learnable: which directions of a target giant steps find, and at what price."""

from __future__ import annotations

import argparse
import json

import giantstep as gs
from giantstep.cli.options import Subparsers, add_model, command, model_of
from giantstep.cli.pictures import add_plot, check_plot, plot
from giantstep.spec.errors import BadInput


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    learnable = command(
        subparsers,
        "learnable",
        "leap and staircase of a target: what giant steps, SGD and kernels find, and with how many samples",
        'giantstep learnable model.toml --set target.link="z1 + z1*z2*z3"\n'
        "  giantstep learnable model.toml --simulate --dimension 64 --seeds 8 --plot overlaps.png",
        _learnable,
    )
    add_model(learnable)
    learnable.add_argument("--simulate", action="store_true", help="simulate the giant steps (needs --dimension)")
    learnable.add_argument("--dimension", type=int, metavar="D", help="input dimension d of the simulation")
    learnable.add_argument("--seeds", type=int, default=4, metavar="S", help="number of networks (default 4)")
    learnable.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the random numbers (default 0)")
    learnable.add_argument(
        "--steps",
        metavar="T",
        help="number of steps, or their orders as in 1,1,2 (default: the stages of the theory and one more)",
    )
    learnable.add_argument(
        "--samples",
        type=float,
        default=32.0,
        metavar="C",
        help="a step of order l has C d^l samples (default 32)",
    )
    learnable.add_argument(
        "--rate",
        type=float,
        default=3.0,
        metavar="A",
        help="and the learning rate A p d^((l-1)/2) (default 3)",
    )
    add_plot(learnable, "the staircase, or the simulated overlaps")
    learnable.add_argument("--json", action="store_true", help="print one JSON object")


def _learnable(arguments: argparse.Namespace) -> int:
    model = model_of(arguments)
    if arguments.simulate and arguments.dimension is None:
        raise BadInput("--simulate needs a dimension", "give for example --dimension 64")
    check_plot(arguments)
    result = gs.learnable(
        model,
        dimension=arguments.dimension if arguments.simulate else None,
        seeds=arguments.seeds,
        steps=_steps(arguments.steps),
        samples=arguments.samples,
        rate=arguments.rate,
        seed=arguments.seed,
    )
    plot(result, arguments)
    print(json.dumps(result.to_dict(), indent=2, allow_nan=False) if arguments.json else str(result))
    return 0


def _steps(text: str | None) -> int | tuple[int, ...] | None:
    """A number, or orders with commas. Raises BadInput."""
    if text is None:
        return None
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise BadInput(f"--steps {text!r} is not understood", "write a number, or orders as in 1,1,2") from None
    return numbers if "," in text else numbers[0]
