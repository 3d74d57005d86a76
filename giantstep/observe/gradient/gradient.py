"""Exact derivatives of a solution in parameters of its model, by implicit differentiation of the derived system.

The equations F(x; theta) = 0 of any loss, the square loss among them, give dx/dtheta = -(dF/dx)^-1 dF/dtheta with the
Newton matrix of the solver; dF/dtheta and the errors' derivatives come from generated tangents (derive.sensitivity).
A parameter enters explicitly (ridge, samples, width) or through the strength of the spike and the covariance of the
bulk, which move the conditional coefficients of the features. A trained bias follows by the same theorem, from
dPhi/dbias = 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from giantstep.law.known_indices import in_known
from giantstep.observe.gradient.parameter import Parameter, Rates
from giantstep.observe.gradient.parameter_directions import Direction, check_key, direction_of, keys_for, left_out
from giantstep.observe.gradient.sensitivity import Sensitivity
from giantstep.observe.gradient.trained_bias import bias_direction, bias_rates
from giantstep.spec.arguments import checked_names
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.given import takes_model
from giantstep.spec.model import Model
from giantstep.spec.outline import outline
from giantstep.spec.shown import Row, Shown, numbers
from giantstep.system.causes import settling_hint
from giantstep.system.derivative_levels import Resolution, for_derivatives
from giantstep.system.exact_output import is_exact, nothing_left
from giantstep.system.held_means import at_a_dimension_of_no_means
from giantstep.system.merged_blocks import Members, merged
from giantstep.system.problem import Problem, problem_of
from giantstep.system.reduced_order import order_of
from giantstep.system.result import Result
from giantstep.system.solve import solve
from giantstep.system.solved_again import solved_again
from giantstep.system.span import hidden_rates, span_of

Array = np.ndarray
_SETTLED, _WORST = 1e-8, 1e-6  # change between orders of quadrature that is worked for, and that is allowed
_FEWER, _NOTHING = 1e-7, 1e-14  # of the free energy of a sample: training errors with fewer digits, with none
_TINY = 1e-290  # of an error that is zero, as all that moves it
_OF_CONSTANTS = frozenset(("fit.ridge", "fit.samples", "network.width"))  # that leave a constant output where it is
_CERTIFIED = 1e-7  # relative residual of the linear equations that the derivative of the solution is held to


@dataclass(frozen=True, repr=False, eq=False)
class Gradient(Shown):
    """Derivatives of the errors and of the free energy, key -> number, at the solution ``result``.

    residual: worst relative residual of the linear equations; error: change of the derivatives in the logarithms of the
    keys between two resolutions, relative to the largest of the same number or to that number, the worst of the three.
    Of a training error next to nothing it is relative to 1e-7 of the free energy per sample; where rounding leaves
    nothing of it, its derivatives are zero.
    """

    result: Result
    test_error: Mapping[str, float]
    train_error: Mapping[str, float]
    free_energy: Mapping[str, float]
    residual: float
    error: float

    @property
    def left_out(self) -> Mapping[str, str]:
        """Key -> why there is no derivative in it, of all numbers that the model has."""
        return left_out(self.result.model)

    def summary(self) -> list[Row]:
        """The derivatives, their certificates, the model."""
        return [
            ("of the test error", numbers(self.test_error)),
            ("of the train error", numbers(self.train_error)),
            ("of the free energy", numbers(self.free_energy)),
            ("left out", ", ".join(self.left_out) or "nothing"),
            ("certificates", f"residual {self.residual:.1e}, resolution {self.error:.1e}"),
            ("model", outline(self.result.model)),
        ]

    def to_dict(self) -> dict[str, Any]:
        """The object of ``gradient --json``."""
        return {
            "gradient": {name: dict(getattr(self, name)) for name in ("test_error", "train_error", "free_energy")},
            "left_out": dict(self.left_out),
            "residual": self.residual,
            "error": self.error,
            **{name: getattr(self.result, name) for name in ("test_error", "train_error", "free_energy")},
            "dimension": self.result.dimension,
            "model": self.result.model.to_dict(),
        }


@takes_model
def gradient(
    model: Model,
    keys: Sequence[str] | str | None = None,
    *,
    dimension: int | None = None,
    tolerance: float = 1e-10,
    start: Result | None = None,
) -> Gradient:
    """Derivatives of test error, train error and free energy in the given keys (default: all there are).

    keys: a key, a list of them, or text as "fit.ridge,fit.samples", of fit.ridge, fit.samples, network.width,
    step.learning_rate or spike.strength and spike.bulk_variance, and fit.penalty.l1, fit.penalty.bound,
    fit.penalty.steepness of a penalty that has them.
    Raises BadInput for a key without a derivative, NotConverged where the solution or its derivative is not found to
    its accuracy. Source: implicit function theorem on [CUI24] Result 3.3, App. C.
    """
    listed = keys_for(model) if keys is None else checked_names("keys", keys, '["fit.ridge", "fit.samples"]')
    chosen = tuple(dict.fromkeys(key.strip() for names in listed for key in names.split(",") if key.strip()))
    if not chosen:
        raise BadInput("no key is given to differentiate in", f"choose among {', '.join(keys_for(model))}")
    for key in chosen:
        check_key(model, key)
    result = solve(model, dimension=dimension, tolerance=tolerance, start=start)
    model = result.vocabulary
    problem, members = merged(
        problem_of(model, dimension, result.bias, intermediate=True), opposite=not model.network.trains_bias
    )
    parameters = {key: Parameter(in_known(model), key) for key in chosen}
    order = members.gathered(order_of(problem, result))
    if is_exact(result):
        raise nothing_left("to move with a parameter")
    if not np.any(order["Q2"] > 0.0):
        return _of_zero_readout(result, chosen)
    problem = at_a_dimension_of_no_means(problem, order)
    found, residual, error = _settled(problem, members, order, parameters, result)
    if not residual <= _CERTIFIED:
        raise NotConverged(
            f"the linear equations of the derivative are solved to {residual:.1e} only", settling_hint(problem)
        )
    if not error <= _WORST:
        raise NotConverged(
            f"the derivative changes by {error:.1e} (relative) between orders of quadrature", settling_hint(problem)
        )
    test, train, energy = ({key: found[key][place] for key in chosen} for place in range(3))
    return Gradient(result, test, train, energy, residual, error)


def _of_zero_readout(result: Result, keys: Sequence[str]) -> Gradient:
    """Where loss or penalty keep the readout at zero: the output stays, and the free energy is that of so many samples
    and, of a penalty that costs something there, neurons.

    Raises NotConverged where the output is not zero, but a mean that keys may move.
    """
    if np.any(result.order_parameters["m"]) and (result.spike.strength or not _OF_CONSTANTS.issuperset(keys)):
        raise NotConverged(
            "the readout vanishes but for the mean of the output, which moves in jumps",
            f"lower fit.ridge, give a dimension, or choose among {', '.join(sorted(_OF_CONSTANTS))} without a spike",
        )
    still = dict.fromkeys(keys, 0.0)
    model = result.model
    of_sample = result.train_error / model.fit.loss.entry.error_scale
    of_key = {"fit.samples": of_sample, "network.width": result.penalty / model.network.width}
    return Gradient(result, still, still, {key: of_key.get(key, 0.0) for key in keys}, 0.0, 0.0)


def _settled(
    problem: Problem, members: Members, order: Mapping[str, Array], parameters: Mapping[str, Parameter], result: Result
) -> tuple[dict[str, Rates], float, float]:
    """(derivatives, residual, error) at the first resolution that agrees with the one before it."""
    units = {key: parameter.unit for key, parameter in parameters.items()}
    unit, objective = np.array(list(units.values())), abs(result.free_energy)
    share = objective / problem.parameters.samples  # of a sample: a training error may be next to nothing
    told = np.array([abs(result.test_error), max(abs(result.train_error), _FEWER * share), objective])
    fitted = abs(result.train_error) <= _NOTHING * share  # no digit is left of what moves it
    found: dict[str, Rates] = {}
    before, worst, error = found, 0.0, math.inf
    for resolution in for_derivatives(problem, order):
        found, worst, left = _derivatives(problem, members, order, parameters, resolution)
        if fitted:
            found = {key: (test, 0.0, energy) for key, (test, _, energy) in found.items()}
        if before:
            rates, earlier = (np.array([one[key] for key in units]) for one in (found, before))
            changes, sizes = (unit[:, None] * np.abs(rows) for rows in (rates - earlier, rates))
            changes[:, 0] += unit * np.array([left[key] for key in units])
            error = float(np.max(changes.max(axis=0) / np.maximum(sizes.max(axis=0), np.maximum(told, _TINY))))
            if error <= _SETTLED:
                break
        before = found
    return found, worst, error


def _derivatives(
    problem: Problem,
    members: Members,
    order: Mapping[str, Array],
    parameters: Mapping[str, Parameter],
    resolution: Resolution,
) -> tuple[dict[str, Rates], float, dict[str, float]]:
    """(key -> derivatives of the three observables, worst residual, key -> error of that of the test error that the
    response of a trained bias leaves) at one resolution.
    """

    def directions(there: Problem) -> list[Direction]:
        return [direction_of(parameter.model, there, members, parameter.key) for parameter in parameters.values()]

    sensitivity = _sensitivity(problem, order, resolution)
    found = {key: sensitivity.along(way) for key, way in zip(parameters, directions(problem), strict=True)}
    if not problem.model.network.trains_bias:
        return found, sensitivity.worst, dict.fromkeys(found, 0.0)

    def energies(bias: float) -> list[float]:
        there = problem.with_bias(bias)
        moved = _sensitivity(there, order, resolution)
        return [moved.along(way)[2] for way in (*directions(there), bias_direction(there))]

    rates, of_bias = bias_rates(problem, tuple(parameters), energies), sensitivity.along(bias_direction(problem))
    for key, (test, train, energy) in found.items():  # the free energy is stationary in the bias
        rate, _ = rates[key]
        found[key] = test + rate * of_bias[0], train + rate * of_bias[1], energy
    return found, sensitivity.worst, {key: abs(of_bias[0]) * off for key, (_, off) in rates.items()}


def _sensitivity(problem: Problem, order: Mapping[str, Array], resolution: Resolution) -> Sensitivity:
    """The solution near given order parameters at one resolution, ready to be moved. Raises NotConverged."""
    system = solved_again(problem, order, *resolution)
    if system is None:
        span = span_of(problem)
        if span is not None and span.cancels:
            raise hidden_rates()
        raise NotConverged("the solution is lost at the resolution of its derivative", settling_hint(problem))
    return Sensitivity(system)
