"""Commands about one point: solve, simulate."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from giantstep.cli.options import (
    Subparsers,
    add_model,
    add_simulation,
    add_tolerance,
    command,
    model_of,
)

if TYPE_CHECKING:
    from giantstep.law.spike import SpikeParameters
    from giantstep.observe.gains import Gains
    from giantstep.observe.simulate import Simulation
    from giantstep.system.result import Result


def add(subparsers: Subparsers) -> None:
    """Declare the commands."""
    solve = command(
        subparsers,
        "solve",
        "solve the saddle-point equations of a model: one point of a learning curve",
        "giantstep solve model.toml --set fit.samples=1.5 fit.ridge=0.1 --json",
        _solve,
    )
    add_model(solve)
    solve.add_argument(
        "--dimension", type=int, metavar="D", help="include the leading finite-size correction at d = D"
    )
    add_tolerance(solve)
    solve.add_argument("--json", action="store_true", help="print one JSON object")

    simulate = command(
        subparsers,
        "simulate",
        "simulate the finite-size system of a model",
        "giantstep simulate model.toml --dimension 1000 --seeds 20 --what network",
        _simulate,
    )
    add_model(simulate)
    simulate.add_argument("--dimension", type=int, required=True, metavar="D", help="input dimension d")
    add_simulation(simulate, None)
    simulate.add_argument("--json", action="store_true", help="print one JSON object")


def _solve(arguments: argparse.Namespace) -> int:
    model = model_of(arguments)
    from giantstep.system.solve import solve

    result = solve(model, dimension=arguments.dimension, tolerance=arguments.tolerance)
    found = _gains(result, arguments.tolerance)
    if arguments.json:
        more = {} if found is None else {"gains": found.to_dict()}
        print(json.dumps({**result.to_dict(), **more}, indent=2))
        return 0
    print(aligned([*_solved(result), *([] if found is None else _gained(found))]))
    return 0


def _gains(result: Result, tolerance: float) -> Gains | None:
    """Over random features, of a step below the giant one."""
    from giantstep.law.intermediate_steps import is_intermediate

    if not is_intermediate(result.model):
        return None
    from giantstep.observe.baselines import random_features
    from giantstep.observe.gains import gains_of
    from giantstep.system.solve import solve

    return gains_of(result, solve(random_features(result.model), dimension=result.dimension, tolerance=tolerance))


def _gained(found: Gains) -> list[tuple[str, str, str]]:
    lines = [
        ("gain in test error", _number(found.test), "over random features"),
        ("gain in train error", _number(found.train), ""),
        ("gain in objective", _number(found.objective), "2/n of the minimum that is trained"),
    ]
    if found.powers is not None:
        powers = "  ".join(str(power) for power in found.powers) or "none"
        lines.append(("powers of kappa", powers, f"features with a free overlap; order l = {found.order}"))
    return lines


def _solved(result: Result) -> list[tuple[str, str, str]]:
    spike, loss, crossover = result.spike, result.model.fit.loss, result.crossover_dimension
    size = "d -> infinity" if result.dimension is None else f"with the correction at d = {result.dimension}"
    lines = [
        ("test error", _number(result.test_error), f"{loss.test_error}, {size}"),
        ("train error", _number(result.train_error), f"{loss.train_error} on the training set"),
        ("spike strength r", _number(spike.strength), ""),
        *_alignment(spike),
        ("bulk variance c", _numbers(spike.bulk_variance), ""),
    ]
    if result.model.network.trains_bias:
        lines.append(("bias", _number(result.bias), "trained with the readout"))
    for name, values in result.order_parameters.items():
        rows = values.tolist() if values.ndim > 1 else [values.tolist()]
        for index, row in enumerate(rows):
            lines.append((name if index == 0 else "", _numbers(row), ""))
    return [
        *lines,
        ("free energy", _number(result.free_energy), "minimum of the training objective over d"),
        (
            "training loss over d",
            _number(result.training_loss),
            "from the errors: must equal the free energy",
        ),
        ("residual", f"{result.residual:.1e}", "worst relative residual of all equations"),
        ("quadrature error", f"{result.quadrature_error:.1e}", "relative, of the test error"),
        *([("crossover dimension", f"{crossover:.3g}", _crossover(crossover, result.dimension))] if crossover else []),
        ("time", f"{result.seconds:.3g} s", ""),
    ]


def _alignment(spike: SpikeParameters) -> list[tuple[str, str, str]]:
    """Of the spike with the target; of several directions a row for each, and the loadings of every block."""
    if spike.directions is None:
        return [("alignment gamma", _numbers(spike.alignments), "")]
    given = spike.directions
    lines = []
    for title, rows, words in (
        ("alignment gamma", given.overlaps, "a row for each direction of the spike"),
        ("loadings", given.loadings, "a row for each block, strength included"),
    ):
        lines += [(title if i == 0 else "", _numbers(row), words if i == 0 else "") for i, row in enumerate(rows)]
    return lines


def _crossover(crossover: float, dimension: int | None) -> str:
    if dimension is None and crossover > 100.0:
        return "the limit holds only far above it: give --dimension for a finite network"
    return "terms of finite size are small where d is far above it"


def _simulate(arguments: argparse.Namespace) -> int:
    model = model_of(arguments)
    from giantstep.cli.progress import Bars
    from giantstep.observe.simulate import simulate

    with Bars() as bars:
        done = simulate(
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


def _simulated(done: Simulation) -> list[tuple[str, str, str]]:
    from giantstep.observe.simulate import RUNG_NAMES

    model = done.model
    sizes = f"n/d = {model.fit.samples:.6g}, p/d = {model.network.width:.6g}"
    if model.step is not None:
        sizes += f", n0/d = {model.step.samples:.6g}"
    return [
        ("test error", _with_error(done, "test_error"), model.fit.loss.test_error),
        ("train error", _with_error(done, "train_error"), f"{model.fit.loss.train_error} on the training set"),
        ("simulated", done.what, RUNG_NAMES[done.what]),
        ("dimension", str(done.dimension), f"{sizes} of whole numbers"),
        ("seeds", str(done.seeds), "errors are standard errors over them" if done.seeds > 1 else ""),
        ("time", f"{done.seconds:.3g} s", ""),
    ]


def _with_error(done: Simulation, name: str) -> str:
    mean, error = float(done.mean(name).item()), float(done.standard_error(name).item())
    if not math.isfinite(error):
        return f"{mean:.6g} (one seed: no standard error)"
    return f"{mean:.6g} +- {error:.2g}"


def aligned(lines: Sequence[tuple[str, str, str]]) -> str:
    """Lines of name, value and remark in columns."""
    first = max(len(name) for name, _, _ in lines)
    second = max((len(value) for _, value, remark in lines if remark), default=0)
    return "\n".join(
        f"{name:<{first}}  {value:<{second if remark else 0}}  {remark}".rstrip()
        for name, value, remark in lines
    )


def _number(value: float) -> str:
    return f"{value:.12g}"


def _numbers(values: Sequence[float]) -> str:
    return "  ".join(f"{value:.9g}" for value in values)
