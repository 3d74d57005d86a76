"""How a solution moves with a number of its model that no average over the output is about: where a curve goes on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.merged_blocks import merged, shared
from giantstep.system.problem import problem_of
from giantstep.system.result import Result, reported

Array = np.ndarray
_PLACES = {"fit.samples": 0, "fit.ridge": 2}  # among the parameters of the equations
_APART, _STEP = 1e-4, 1e-6  # of logarithms: residuals are compared; order parameters, nearly linear in the unknowns


def order_rates(result: Result, found: object, key: str) -> Mapping[str, Array] | None:
    """Derivatives of the order parameters of a result in the logarithm of ``fit.samples`` or ``fit.ridge``.

    found: what it was found on. None where they are not known: of another key, where the bias is trained, of a penalty
    and of rows with a law of their own, which follow from more than the unknowns.
    """
    model, place = result.model, _PLACES.get(key)
    if place is None or type(found) is not CoupledSystem or model.network.trains_bias:
        return None
    x, rates = found.x, _rates(found, place)
    if rates is None or not found.fields(x + _STEP * rates):
        return None
    whole = problem_of(model, result.dimension, intermediate=True)
    order = shared(found.order_parameters(), merged(whole)[1], whole.fraction)
    moved = reported(whole.outward(order), whole.spike)
    return {name: (moved[name] - values) / _STEP for name, values in result.order_parameters.items()}


def _rates(system: CoupledSystem, place: int) -> Array | None:
    """Derivatives of the unknowns in the logarithm of a parameter, at the last x; None where these are no numbers."""
    system.evaluate(system.x)
    matrix, number = system.jacobian(), system.parameters[place]
    apart = []
    for step in (_APART, -_APART):
        system.parameters[place] = number * np.exp(step)
        apart.append(system.residual_at_averages())
    system.parameters[place] = number
    try:
        rates = np.linalg.solve(matrix, (apart[1] - apart[0]) / (2.0 * _APART))
    except np.linalg.LinAlgError:
        return None
    return np.asarray(rates) if np.isfinite(rates).all() else None
