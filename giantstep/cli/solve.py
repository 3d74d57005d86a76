"""The command solve: one point of a learning curve."""

from __future__ import annotations

import argparse
import json
import math
from typing import TYPE_CHECKING

import giantstep as gs
from giantstep.cli.options import Subparsers, add_model, add_tolerance, command, model_of
from giantstep.cli.text import Line, aligned, number, numbers
from giantstep.spec.defaults import formulas, parameters_at_default

if TYPE_CHECKING:
    from giantstep.law.spike import SpikeParameters
    from giantstep.spec.metrics import Metrics

_MEANING = {
    "psi": "readout along the rest of the target, theta - gamma v",
    "norm": "readout along the norms of the rows (o)",
}  # of order parameters without a name of the field, or that need a basis
_OF_INDICES = "along t in z = gamma kappa + L t, L the Cholesky factor of 1 - gamma gamma^T"  # psi


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    solve = command(
        subparsers,
        "solve",
        "solve the saddle-point equations of a model: one point of a learning curve",
        "giantstep solve model.toml --set fit.samples=1.5 fit.ridge=0.1 --json",
        _solve,
    )
    add_model(solve)
    solve.add_argument(
        "--dimension",
        type=int,
        metavar="D",
        help="include the leading finite-size correction at d = D, for the ratios that are given: networks, and curve, "
        "have whole numbers of neurons and samples",
    )
    add_tolerance(solve)
    solve.add_argument("--json", action="store_true", help="print one JSON object")


def _solve(arguments: argparse.Namespace) -> int:
    model = model_of(arguments)  # a bad model loads no solver
    from giantstep.observe.gains import gains_over_random_features  # nor does help

    result = gs.solve(model, dimension=arguments.dimension, tolerance=arguments.tolerance)
    found = gains_over_random_features(result, arguments.tolerance)
    measured = None if model.metrics is None else _metrics(result, model.metrics)
    if arguments.json:
        parts = {"gains": found, "metrics": measured}
        more = {name: part.to_dict() for name, part in parts.items() if part is not None}
        if measured is not None and measured.left_out:
            more["metrics_left_out"] = {name: str(error) for name, error in measured.left_out.items()}
        print(json.dumps({**result.to_dict(), **more}, indent=2))
        return 0
    lines = [] if measured is None else _measured(measured)
    print(aligned([*_solved(result), *lines, *([] if found is None else _gained(found))]))
    return 0


def _metrics(result: gs.Result, wanted: Metrics) -> gs.Measured:
    from giantstep.observe.metrics import measured_at  # most models have none

    return measured_at(result, wanted)


def _measured(found: gs.Measured) -> list[Line]:
    """The mean of each; where there is none, why."""
    return [
        (name, "not known", str(found.left_out[name]))
        if name in found.left_out
        else (name, number(found.values[name]), f"mean of {text} over fresh samples")
        for name, text in found.expressions.entries
    ]


def _gained(found: gs.Gains) -> list[Line]:
    lines = [
        ("gain in test error", number(found.test), "over random features"),
        ("gain in train error", number(found.train), ""),
        ("gain in objective", number(found.objective), "2/n of the minimum that is trained"),
    ]
    if found.powers is not None:
        powers = "  ".join(str(power) for power in found.powers) or "none"
        words = f"that the readout fits freely; the step is of order l = {found.order} of [MON23]"
        lines.append(("powers of kappa", powers, words))
    return lines


def _solved(result: gs.Result) -> list[Line]:
    spike, loss, crossover = result.spike, result.model.fit.loss, result.crossover_dimension
    size = "d -> infinity" if result.dimension is None else result.correction
    lines = [
        ("test error", number(result.test_error), f"{loss.test_error}, {size}"),
        *_of_signs(result),
        ("train error", number(result.train_error), f"{loss.train_error} on the training set"),
        ("spike strength r", number(spike.strength), ""),
        *_alignment(spike),
        *_steps(result),
        ("bulk variance c", numbers(spike.bulk_variance), _bulk(result.model)),
    ]
    if result.model.network.trains_bias:
        lines.append(("bias", number(result.bias), "trained with the readout"))
    nodes = result.nodes_of_readout
    if nodes is not None:
        lines.append(("readout nodes u", numbers(nodes.values), "of the density; order parameters are those of them"))
    meaning = {**_MEANING, "psi": _OF_INDICES} if result.model.target.indices > 1 else _MEANING
    for name, values in result.order_parameters.items():
        if nodes is not None and name in ("Q1", "V1"):
            continue  # of K x K numbers, which --json has
        rows = values.tolist() if values.ndim > 1 else [values.tolist()]
        for index, row in enumerate(rows):
            lines.append((name if index == 0 else "", numbers(row), meaning.get(name, "") if index == 0 else ""))
    return [
        *lines,
        ("free energy", number(result.free_energy), "minimum of the training objective over d"),
        (
            "training loss over d",
            number(result.training_loss),
            "from the errors: must equal the free energy",
        ),
        ("residual", f"{result.residual:.1e}", "worst relative residual of all equations"),
        ("quadrature error", f"{result.quadrature_error:.1e}", "relative, of the test error"),
        *([("crossover dimension", f"{crossover:.3g}", _crossover(crossover, result.dimension))] if crossover else []),
        *_unsettled(result),
        *_taken(result.model),
        ("time", f"{result.seconds:.3g} s", ""),
    ]


def _of_signs(result: gs.Result) -> list[Line]:
    """What a classifier is judged by, where the loss does not tell that it is one."""
    if not result.leaves_out_signs:
        return []
    return [("", "", 'for the probability of a wrong sign write [metrics] wrong = "y*f < 0"')]


def _taken(model: gs.Model) -> list[Line]:
    """What may have been taken without being asked for: default parameters, and formulas of names."""
    parameters, known = parameters_at_default(model), formulas(model)
    return [(key, f"{value:g}", "its default value") for key, value in parameters.items()] + [
        (key, formula, "what the name stands for") for key, formula in known.items()
    ]


def _steps(result: gs.Result) -> list[Line]:
    """Of several steps how the alignment grew."""
    if not result.model.earlier_steps:
        return []
    lines = []
    for count, state in enumerate(result.steps, start=1):
        overlaps = numbers([overlap for row in state.overlaps for overlap in row])
        length = math.sqrt(sum(x * x for row in state.loadings for x in row))
        words = "overlaps with the target, and length of the loadings of all blocks" if count == 1 else ""
        lines.append((f"after step {count}", f"{overlaps}, {length:.6g}", words))
    return lines


def _bulk(model: gs.Model) -> str:
    """Whose rows these are around the spike, where a step left it and the equations of its own bulk are not solved."""
    if model.step is None or model.bulk not in ("isotropic", "inputs"):
        return ""
    told = "of spiked random features; "
    underived = model.inputs is not None or model.fit.penalty is not None or model.step.batch == "same"
    return told + ("for a network simulate --what network" if underived else 'step.bulk = "trained" is the network')


def _alignment(spike: SpikeParameters) -> list[Line]:
    """Of the spike with the target; of several directions a row for each, and the loadings of every block."""
    if spike.directions is None:
        return [("alignment gamma", numbers(spike.alignments), "")]
    given = spike.directions
    lines = []
    for title, rows, words in (
        ("alignment gamma", given.overlaps, "a row for each direction of the spike"),
        ("loadings", given.loadings, "a row for each block, strength included"),
    ):
        lines += [(title if i == 0 else "", numbers(row), words if i == 0 else "") for i, row in enumerate(rows)]
    return lines


def _unsettled(result: gs.Result) -> list[Line]:
    settled = result.settled_dimension
    if result.dimension is None and result.model.network.readout.continuous:
        return [("settled dimension", "not known", "of a density: the limit may be approached slowly, see --dimension")]
    if settled is None or not result.is_unsettled:
        return []
    from giantstep.observe.deviation.deviation import has_deviation  # few results need it

    if math.isinf(settled):
        return [("settled dimension", "none", "at any d some data sets have mean outputs so large that errors are too")]
    words = "below this d the mean output varies so much between data sets that networks have other errors"
    if has_deviation(result.model):
        words += ": give --dimension to decompose --deviation"
    return [("settled dimension", f"{settled:.2g}", words)]


def _crossover(crossover: float, dimension: int | None) -> str:
    if dimension is None and crossover > 100.0:
        return f"the known correction is below 1 % from d = {100.0 * crossover:.1g} on; below give --dimension"
    if crossover < 1.0:
        return "the known correction is small at any dimension; others of 1/d are left out"
    return (
        f"at a finite d the training objective is larger by the part {crossover:.2g}/d (1 % at d = "
        f"{100.0 * crossover:.2g}); other terms of 1/d are left out"
    )
