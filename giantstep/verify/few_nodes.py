"""Rungs of any convex loss: solution, errors and recorded equations on few nodes, against the twin."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import mpmath
import numpy as np

from codegen.coupled_twin import OBSERVABLES, places
from codegen.label_twin import Channel, Step
from codegen.output_twin import Fields, LossCurve, misclassification, node_averages
from codegen.structure import nodes_of, residual
from derive.blocks import KAPPA, Definition, block_field
from derive.directions import directions_of
from derive.evaluate import Evaluator, Place, State
from derive.losses import analyse_loss, loss_of_entry
from derive.saddle import SaddleSystem
from giantstep.law.derivation import system_of
from giantstep.spec.errors import NotConverged
from giantstep.spec.model import Model
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.discretisation import Level
from giantstep.system.newton import newton
from giantstep.system.problem import problem_of
from giantstep.system.result import Result
from giantstep.system.solve import solve
from giantstep.verify.check import Check
from giantstep.verify.coupled_system import Solved, channel_of, order_of, state_of
from giantstep.verify.recorded_equations import recorded_equations

_DIGITS = 22
_DIMENSION = 300  # where several blocks are compared: m is determined well enough there
_OUTPUT, _HALVINGS = 96, 2  # steps of the output and halvings of those of t: resolved beyond doubt
_LIGHT = 1e-6  # weight of a node below which the output is not integrated again


@dataclass(frozen=True)
class _Compared:
    """A solution of the kernels on few nodes of kappa, and every number of the twin there."""

    solved: Solved
    system: SaddleSystem
    averages: _Averages
    state: State
    observables: Mapping[str, Any]


def twin_checks(model: Model, result: Result) -> Iterator[Check]:
    """Everything about the solution on few nodes; several blocks at d = 300."""
    solved = _few_nodes(model, result)
    if solved is None:
        yield Check("solution on a few nodes of kappa", math.inf, 0.0)
        return
    with mpmath.workdps(_DIGITS):
        compared = _evaluated(model, solved)
        yield Check("order parameters: Newton step of the twin", _newton_step(compared), 1e-9)
        yield Check("errors and free energy: kernels against twin", _observed(model, compared), 1e-9)
        state = replace(compared.state, symbols={**compared.state.symbols, **compared.observables})
        count, worst = recorded_equations(compared.system.derivation, state, 1e-2 * _readout(compared))
        # the state is that of the kernels: their solution is what limits the difference
        yield Check(f"recorded equations at the solution: {count} steps", worst, 1e-8)


def _few_nodes(model: Model, result: Result) -> Solved | None:
    """The system on one node a panel, solved: what it solves need not be a converged integral."""
    dimension, start = result.dimension, result
    if len(model.network.readout.values) > 1:
        dimension, start = _DIMENSION, _at_dimension(model, result)
    problem = problem_of(model, dimension, result.bias)
    for order in (1, 2, 3):
        system = CoupledSystem(problem, Level(order, _OUTPUT, 0, _HALVINGS))
        outcome = newton(system, system.unknowns(order_of(problem, start)))
        if outcome.converged:
            system.residual(outcome.x)
            return Solved(system, outcome.x)
    return None


def _at_dimension(model: Model, result: Result) -> Result:
    """The solution at the dimension of the comparison, at the bias of the given one."""
    fixed = replace(model, network=replace(model.network, bias=result.bias))
    try:
        return solve(fixed, dimension=_DIMENSION)
    except NotConverged:
        return result


def _evaluated(model: Model, solved: Solved) -> _Compared:
    kernel, loss, system = solved.system, model.fit.loss, system_of(model)
    curve = LossCurve(analyse_loss(loss_of_entry(loss.entry)), dict(loss.parameters))
    bare = state_of(system, kernel, _families(solved))
    heavy = [i for i, weight in enumerate(bare.weight) if weight >= _LIGHT]
    averages = _Averages(curve, channel_of(model, kernel.problem), system.directions, heavy)
    state = _with_all(system, averages.put(_with_definitions(system, solved, bare)), solved)
    evaluator = Evaluator(state)
    observables = {name: evaluator.value(getattr(system, name)) for name in OBSERVABLES}
    return _Compared(solved, system, averages, state, observables)


@dataclass(frozen=True)
class _Averages:
    """Averages over the output by quadrature at the nodes that count; elsewhere those of the kernel stay."""

    curve: LossCurve
    channel: Channel
    directions: int
    heavy: list[int]

    def put(self, state: State) -> State:
        """The state with its averages."""
        fields = self.fields(state)
        columns = {name: list(values) for name, values in state.columns.items()}
        for i in self.heavy:
            for name, value in self.at(state.kappa[i], fields[i]).items():
                columns[name, ()][i] = value
        return replace(state, columns=columns)

    def at(self, kappa: Any, fields: Fields) -> dict[str, Any]:
        """avg_M, avg_g, avg_gg, avg_h and avg_tg at one node."""
        c, steps = self.channel, self.channel.steps()
        parts = [c] if steps is None else [
            _OfStep(c.link, c.alignments, c.flips, c.probit, c.noise, step) for step in steps
        ]  # fmt: skip
        found = [node_averages(self.curve, part, kappa, fields) for part in parts]
        return {name: mpmath.fsum(values[name] for values in found) for name in found[0]}

    def fields(self, state: State) -> list[Fields]:
        """The law of the output at every node."""
        evaluator = Evaluator(state)
        names = ("V", "mean", "Delta", *directions_of("slope", self.directions))
        columns = (evaluator.nodes(block_field(name)(KAPPA)) for name in names)
        return [
            Fields(v, mean, tuple(slopes), delta) for v, mean, delta, *slopes in zip(*columns, strict=True)
        ]


@dataclass(frozen=True)
class _OfStep(Channel):
    """The part of a channel where the link has one of its values: its output has one centre."""

    only: Step | None = None

    def steps(self) -> list[Step] | None:
        return None if self.only is None else [self.only]


def _families(solved: Solved) -> dict[str, dict[Place, Any]]:
    """The vector of unknowns as members of the families, exactly."""
    found: dict[str, dict[Place, Any]] = {}
    values = iter(solved.x.tolist())
    for name in solved.system.kernel.UNKNOWNS:
        members = found.setdefault(name, {})
        for place in places(name, solved.system.blocks):
            members[place] = members[place[::-1]] = mpmath.mpf(next(values))
    return found


def _with_definitions(system: SaddleSystem, solved: Solved, state: State) -> State:
    """The state where every other family follows from the unknowns."""
    return replace(state, definitions={**state.definitions, **_following(system, solved)})


def _following(system: SaddleSystem, solved: Solved) -> dict[str, Definition]:
    known = solved.system.kernel.UNKNOWNS
    return {
        e.unknown: Definition(e.unknown, e.indices, e.body)
        for e in system.equations
        if e.unknown not in known
    }


def _with_all(system: SaddleSystem, state: State, solved: Solved) -> State:
    """The state with every family as numbers."""
    evaluator, following = Evaluator(state), _following(system, solved)
    numbers = {name: evaluator.family(d.body, d.indices) for name, d in following.items()}
    kept = {name: d for name, d in state.definitions.items() if name not in following}
    return replace(state, families={**state.families, **numbers}, definitions=kept)


def _newton_step(compared: _Compared) -> float:
    """What the twin's residual would still change, relative to the unknowns."""
    kernel, x = compared.solved.system, compared.solved.x
    evaluator, nodes = Evaluator(compared.state), nodes_of(compared.system)
    found = {
        name: evaluator.family(residual(nodes[name]), nodes[name].indices) for name in kernel.kernel.UNKNOWNS
    }
    right = np.array([float(found[name][place]) for name in found for place in places(name, kernel.blocks)])
    kernel.residual(x)
    scale, matrix = kernel.scale(x), kernel.jacobian()
    rows = np.max(np.abs(matrix * scale), axis=1)
    rows[rows == 0.0] = 1.0
    step = np.linalg.lstsq(matrix * scale / rows[:, None], right / rows, rcond=1e-13)[0]
    return float(np.max(np.abs(step)))


def _observed(model: Model, compared: _Compared) -> float:
    found = dict(zip(OBSERVABLES, compared.solved.system.observables(), strict=True))
    exact = dict(compared.observables)
    exact["train_error"] *= model.fit.loss.entry.error_scale
    if model.fit.loss.form == "margin":
        exact["test_error"] = _misclassified(compared)
    return max(abs(float(found[name]) / float(exact[name]) - 1.0) for name in OBSERVABLES)


def _misclassified(compared: _Compared) -> Any:
    """P(y f < 0) of the clean label."""
    state, averages = compared.state, compared.averages
    nodes = zip(state.weight, state.kappa, averages.fields(state), strict=True)
    return mpmath.fsum(w * misclassification(averages.channel, kappa, fields) for w, kappa, fields in nodes)


def _readout(compared: _Compared) -> float:
    """The order of magnitude of the readout: root of the largest overlap."""
    return math.sqrt(
        max(float(abs(x)) for name in ("Q1", "Q2") for x in compared.state.families[name].values())
    )
