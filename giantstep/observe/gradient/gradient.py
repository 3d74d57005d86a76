"""Exact derivatives of a solution in parameters of its model, by implicit differentiation of the derived system.

The equations F(x; theta) = 0 of any loss, the square loss among them, give dx/dtheta = -(dF/dx)^-1 dF/dtheta with the
Newton matrix of the solver; dF/dtheta and the motion of the errors come from generated tangents (derive.sensitivity),
or from differences of F where there are none. A parameter enters explicitly (ridge, samples, width) or through the
strength of the spike and the variance of the bulk, which move the conditional coefficients of the features. A trained
bias follows by the same theorem, from dPhi/dbias = 0.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from giantstep.observe.gradient.differences import ByDifferences, needs_differences
from giantstep.observe.gradient.linear import solved
from giantstep.observe.gradient.parameter import Parameter, Rates
from giantstep.observe.gradient.parameter_directions import Direction, check_key, direction_of, keys_for
from giantstep.observe.gradient.trained_bias import bias_direction, bias_rates
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.kernels import generated_module
from giantstep.spec.model import Model
from giantstep.system.bulk_system import coupled_at
from giantstep.system.coupled_solver import FINE, reduced_order, refined
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.discretisation import Level
from giantstep.system.merged_blocks import Members, merged
from giantstep.system.misclassification import wrong_sign_slopes
from giantstep.system.newton import newton
from giantstep.system.problem import Problem, problem_of
from giantstep.system.result import Result
from giantstep.system.solve import solve
from giantstep.system.state import State

Array = np.ndarray
_SETTLED, _WORST = 1e-8, 1e-6  # change between orders of quadrature that is worked for, and that is allowed
_STILL = 1e-3  # of the largest relative motion: rounding of the others' is seen in what moves less
_APPEARS = 1e-9  # of the largest rate of a feature: what rounding leaves of a combination that stays zero
_CERTIFIED = 1e-7  # relative residual of the linear equations that the motion of the solution is held to


@dataclass(frozen=True)
class Gradient:
    """Derivatives of the errors and of the free energy, key -> number, at the solution ``result``.

    residual: worst relative residual of the linear equations; error: change of the derivatives of the test error in the
    logarithms of the keys between two resolutions, relative to the largest of them or to the test error.
    """

    result: Result
    test_error: Mapping[str, float]
    train_error: Mapping[str, float]
    free_energy: Mapping[str, float]
    residual: float
    error: float

    def to_dict(self) -> dict[str, Any]:
        """The object of ``gradient --json``."""
        return {
            "gradient": {name: dict(getattr(self, name)) for name in ("test_error", "train_error", "free_energy")},
            "residual": self.residual,
            "error": self.error,
            **{name: getattr(self.result, name) for name in ("test_error", "train_error", "free_energy")},
            "dimension": self.result.dimension,
            "model": self.result.model.to_dict(),
        }

    def to_json(self) -> str:
        """``to_dict`` as JSON."""
        return json.dumps(self.to_dict(), indent=2)


def gradient(
    model: Model,
    keys: Sequence[str] | str | None = None,
    *,
    dimension: int | None = None,
    tolerance: float = 1e-10,
    start: Result | None = None,
) -> Gradient:
    """Derivatives of test error, train error and free energy in the given keys (default: all there are).

    Keys: fit.ridge, fit.samples, network.width, and step.learning_rate or spike.strength, spike.bulk_variance.
    Raises BadInput for a key without a derivative, NotConverged where the solution or its derivative is not found to
    its accuracy. Source: implicit function theorem on [CUI24] Result 3.3, App. C.
    """
    chosen = (keys,) if isinstance(keys, str) else keys_for(model) if keys is None else tuple(keys)
    if not chosen:
        raise BadInput("no key is given to differentiate in", f"choose among {', '.join(keys_for(model))}")
    for key in chosen:
        check_key(model, key)
    result = solve(model, dimension=dimension, tolerance=tolerance, start=start)
    problem, members = merged(
        problem_of(model, dimension, result.bias, powers=True), opposite=not model.network.trains_bias
    )
    parameters = {key: Parameter(model, key, dimension) for key in chosen}
    told = reduced_order(problem, result.order_parameters)
    assert told is not None
    order = members.gathered(told)
    if not np.any(order["Q2"] > 0.0):
        raise NotConverged("the readout vanishes: nothing moves with a parameter", "lower fit.ridge")
    found, residual, error = _settled(problem, members, order, parameters, result)
    if not residual <= _CERTIFIED:
        raise NotConverged(
            f"the linear equations of the derivative are solved to {residual:.1e} only", "raise fit.ridge"
        )
    if not error <= _WORST:
        raise NotConverged(
            f"the derivative changes by {error:.1e} (relative) between orders of quadrature", "raise fit.ridge"
        )
    test, train, energy = (MappingProxyType({key: found[key][place] for key in chosen}) for place in range(3))
    return Gradient(result, test, train, energy, residual, error)


def _settled(
    problem: Problem, members: Members, order: Mapping[str, Array], parameters: Mapping[str, Parameter], result: Result
) -> tuple[dict[str, Rates], float, float]:
    """(derivatives, residual, error) at the first resolution that agrees with the one before it."""
    units = {key: parameter.unit for key, parameter in parameters.items()}
    found: dict[str, Rates] = {}
    before, worst, error = found, 0.0, math.inf
    for level in _levels(problem):
        found, worst = _derivatives(problem, members, order, parameters, level)
        if before:
            changes = [abs(found[key][0] - before[key][0]) * unit for key, unit in units.items()]
            sizes = [abs(found[key][0]) * unit for key, unit in units.items()]
            error = max(changes) / max(*sizes, abs(result.test_error))
            if error <= _SETTLED:
                break
        before = found
    return found, worst, error


def _levels(problem: Problem) -> tuple[Level, ...]:
    """Resolutions that are compared. Derivatives have the kinks and jumps of the loss's curvature in t: more nodes
    there than a solution needs; of several indices, whose links are smooth, the nodes are too many for that.
    """
    _, fine = FINE
    if problem.model.target.indices > 1:
        return (*FINE, refined(fine, 1), refined(fine, 2))
    return (
        fine,
        replace(fine, order=fine.order + 1, output=60, labels=2),
        replace(fine, order=fine.order + 1, output=90, labels=4, halvings=1),
    )


def _derivatives(
    problem: Problem, members: Members, order: Mapping[str, Array], parameters: Mapping[str, Parameter], level: Level
) -> tuple[dict[str, Rates], float]:
    """(key -> derivatives of the three observables, worst residual) at one resolution."""
    moving = _moving(problem, members, order, level)
    found = {key: moving.along(parameter) for key, parameter in parameters.items()}
    if not problem.model.network.trains_bias:
        return found, moving.worst

    def energies(bias: float, along: Sequence[Parameter | None]) -> list[float]:
        there = _moving(problem.with_bias(bias), members, order, level)
        return [there.along(parameter)[2] for parameter in along]

    rates, of_bias = bias_rates(problem, parameters, energies), moving.along(None)
    for key, (test, train, energy) in found.items():  # the free energy is stationary in the bias
        found[key] = test + rates[key] * of_bias[0], train + rates[key] * of_bias[1], energy
    return found, moving.worst


def _moving(problem: Problem, members: Members, order: Mapping[str, Array], level: Level) -> Moving:
    """The solution near given order parameters at one resolution, ready to be moved. Raises NotConverged."""
    system = coupled_at(problem, level)
    outcome = newton(system, system.unknowns(order), most=12)
    if not outcome.converged:
        raise NotConverged("the solution is lost at the resolution of its derivative", "raise fit.ridge")
    system.residual(outcome.x)
    return ByDifferences(system) if needs_differences(problem) else ByTangents(system, members)


class ByTangents:
    """Derivatives along parameters by the generated tangents; ``worst``: residual of the linear equations."""

    def __init__(self, system: CoupledSystem, members: Members) -> None:
        self.motion, self.members = Motion(system), members

    @property
    def worst(self) -> float:
        """Worst relative residual so far."""
        return self.motion.worst

    def along(self, parameter: Parameter | None) -> Rates:
        """Derivatives of the observables in a parameter, in the bias for None."""
        problem = self.motion.system.problem
        if parameter is None:
            return self.motion.along(bias_direction(problem))
        return self.motion.along(direction_of(parameter.model, problem, self.members, parameter.key))


Moving = ByTangents | ByDifferences


class Motion:
    """How the solution in the workspace of a system moves along directions."""

    def __init__(self, system: CoupledSystem, matrix: Array | None = None) -> None:
        self.system, self.worst = system, 0.0
        self.module = generated_module(f"generated.systems.tangents_{system.directions}")
        self.matrix = system.jacobian().copy() if matrix is None else matrix
        names = [name for name in system.room if not name.startswith(("d_", "residual_"))]
        self.state = {name: system.view(name).copy() for name in names}

    def along(self, direction: Direction) -> tuple[float, float, float]:
        """Derivatives of (test error, training error, free energy) along a direction, the unknowns following."""
        system = self.system
        change = self._change(direction)
        force, _, _ = self._response(direction, change, np.zeros(len(system.first)))
        scale = system.scale(system.work[system.first])
        moved = -solved(self.matrix, force, scale)
        left, observables, _ = self._response(direction, change, moved)
        # what stands still by symmetry is held against the others' motion relative to their size
        least = _STILL * float(np.max(np.abs(moved) / scale)) * scale
        terms = np.abs(self.matrix) @ np.maximum(np.abs(moved), least)
        self.worst = max(self.worst, float(np.max(np.abs(left) / np.maximum(terms, 1e-300))))
        test, train, energy = (float(value) for value in observables)
        if system.loss.FORM == "margin":
            test = self._wrong_sign(direction, moved)
        return test, train * system.problem.model.fit.loss.entry.error_scale, energy

    def _change(self, direction: Direction) -> Array:
        """Rates [3, K, N] of the functions in the table, orthonormal ones in the place of the mean features.

        Raises BadInput where a combination of these that vanishes does not stay zero: the error jumps there.
        """
        system = self.system
        change, span = direction.change(system.problem.blocks, system.kappa), system.span
        if span is None:
            return change
        appearing, size = np.einsum("bw,bn->wn", span.null, change[0]), np.abs(change).max()
        if np.any(np.abs(appearing) > _APPEARS * size * np.abs(span.null).sum(axis=0)[:, None]):
            raise BadInput(
                "the mean features are linearly dependent here and nowhere near, so that the errors at infinite "
                "dimension jump and have no derivative",
                "give a dimension, or move the parameter a little",
            )
        change[0] = span.functions(change[0].T).T
        return change

    def _response(
        self, direction: Direction, change: Array, moved: Array
    ) -> tuple[Array, tuple[float, float, float], Mapping[str, Array]]:
        system = self.system
        room = State(system.kernel, system.blocks, 0)
        room.work[system.first], room.work[system.second] = moved, moved
        moves = {name: room[name].copy() for name in system.kernel.UNKNOWNS}
        residuals, observables, fields = self.module.response(
            system.table, change, system.problem.fraction, system.parameters, direction.rates, self.state, moves
        )
        for name, values in residuals.items():
            room[name][...] = values
        return room.work[system.first], observables, fields

    def _wrong_sign(self, direction: Direction, moved: Array) -> float:
        """The slope of the test error of a loss of the margin, on panels that resolve the sign of the output."""
        signs = self.system.where_signs_turn()
        motion = self if signs is self.system else Motion(signs, self.matrix)
        _, _, fields = motion._response(direction, motion._change(direction), moved)
        of_mean, of_slope, of_delta = wrong_sign_slopes(signs.output())
        slopes = np.stack([fields[name] for name in signs.kernel.SLOPES])
        rate = of_mean * fields["mean"] + (of_slope * slopes).sum(axis=0) + of_delta * fields["Delta"]
        return float(signs.table[:, 1] @ rate)
