"""The command simulate: the finite-size system of a model."""

from __future__ import annotations

import argparse
import json
import math
from typing import TYPE_CHECKING

import giantstep as gs
from giantstep.cli.options import Subparsers, add_model, add_simulation, command, model_of
from giantstep.cli.progress import Bars
from giantstep.cli.text import Line, aligned

if TYPE_CHECKING:
    from giantstep.observe.simulate import Simulation


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    simulate = command(
        subparsers,
        "simulate",
        "simulate the finite-size system of a model",
        "giantstep simulate model.toml --dimension 1000 --seeds 20 --what network",
        _simulate,
    )
    add_model(simulate)
    simulate.add_argument("--dimension", type=int, required=True, metavar="D", help="input dimension d")
    add_simulation(simulate)
    simulate.add_argument("--json", action="store_true", help="print one JSON object")


def _simulate(arguments: argparse.Namespace) -> int:
    model = model_of(arguments)
    with Bars() as bars:
        done = gs.simulate(
            model,
            dimension=arguments.dimension,
            seeds=arguments.seeds,
            what=arguments.what,
            seed=arguments.seed,
            progress=bars.message,
        )
    if arguments.json:
        print(json.dumps(done.to_dict(), indent=2, allow_nan=False))
        return 0
    print(aligned(_simulated(done)))
    return 0


def _simulated(done: Simulation) -> list[Line]:
    model = done.model
    sizes = f"n/d = {model.fit.samples:.6g}, p/d = {model.network.width:.6g}"
    if model.step is not None:
        sizes += f", n0/d = {', '.join(f'{step.samples:.6g}' for step in model.steps)}"
    entries = () if model.metrics is None else model.metrics.entries
    return [
        ("test error", _with_error(done, "test_error"), model.fit.loss.test_error),
        ("train error", _with_error(done, "train_error"), f"{model.fit.loss.train_error} on the training set"),
        *((name, _with_error(done, name), f"mean of {text} over fresh samples") for name, text in entries),
        ("simulated", done.what, done.meaning),
        ("dimension", str(done.dimension), f"{sizes}: ratios of whole numbers at this d"),
        ("seeds", str(done.seeds), "errors are standard errors over them" if done.seeds > 1 else ""),
        *([("left out", str(len(done.without_minimum)), done.left_out)] if done.without_minimum else []),
        ("time", f"{done.seconds:.3g} s", ""),
    ]


def _with_error(done: Simulation, name: str) -> str:
    mean, error = float(done.mean(name).item()), float(done.standard_error(name).item())
    if not math.isfinite(error):
        return f"{mean:.6g} (one seed: no standard error)"
    return f"{mean:.6g} +- {error:.2g}"
