"""Steps below the giant one: which polynomials of kappa are features in the limit, and the step at a finite dimension.

Source: [MON23]; THEORY section 7. Derived in derive.polynomial_spikes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from generated.step import ORDERS, cost_exponent, mean_features
from giantstep.law.gradient_step import scale_of_step
from giantstep.law.moments import hermite_moments
from giantstep.spec.errors import BadInput
from giantstep.spec.kernels import function_kernel
from giantstep.spec.model import Model, Network, Step, Target


def is_intermediate(model: Model) -> bool:
    """Whether the model takes a step below the giant one."""
    return model.step is not None and model.step.exponent < 0.5


def at_strength(model: Model, dimension: int) -> Model:
    """The model with the giant step whose strength is that of its own step at a dimension."""
    if not is_intermediate(model):
        return model
    assert model.step is not None
    rate = model.step.learning_rate * dimension ** (model.step.exponent - 0.5)
    return replace(model, step=replace(model.step, learning_rate=rate, exponent=0.5))


def order_of(model: Model) -> int:
    """The largest power of kappa that is a feature, if activation and readout allow it.

    Raises BadInput where it is too large, or where the exponent lies between two orders.
    """
    assert model.step is not None
    exponent = model.step.exponent
    costs = [cost_exponent(k, exponent) for k in range(1, ORDERS + 2)]
    at_boundary = min(abs(cost) for cost in costs) < 1e-9
    order = sum(1 for cost in costs if cost < 0.0)
    if at_boundary or order > ORDERS:
        reason = (
            "is where one more power of kappa begins to be learned, at a strength that the limit does not fix"
            if at_boundary
            else f"makes more than {ORDERS} powers of kappa features"
        )
        raise BadInput(
            f"step.exponent = {exponent!r} {reason}",
            "give a dimension, or an exponent e with (l-1)/(2l) < e < l/(2l+2) for the powers up to l",
        )
    return order


def powers_of(model: Model) -> tuple[int, ...]:
    """Orders of the mean features that are features with a free overlap; that of order k has the degree k."""
    return tuple(polynomials_of(model))


def polynomials_of(model: Model) -> dict[int, tuple[float, ...]]:
    """The polynomials of kappa that are features, by their order in the strength: coefficients, lowest power first.

    They are the orders of the mean features up to that of the step, as far as the readouts at initialisation take
    values enough to tell them apart, and new in the span of those before. Raises BadInput.
    """
    network, step = model.network, model.step
    assert step is not None
    orders = _orders(network, step, model.target)[: 1 + (order_of(model) if step.learning_rate > 0.0 else 0)]
    values = np.array(sorted(set(network.readout.values)))
    values = values / np.abs(values).max()
    told_apart: list[int] = []
    chosen: dict[int, tuple[float, ...]] = {}
    for k, polynomial in enumerate(orders):
        directions = np.stack([values**power for power in (*told_apart, k)])
        if not any(polynomial) or np.linalg.matrix_rank(directions, tol=1e-9) <= len(told_apart):
            continue
        told_apart.append(k)
        if _is_new(polynomial, list(chosen.values())):
            chosen[k] = polynomial
    return chosen


def _is_new(polynomial: tuple[float, ...], known: list[tuple[float, ...]]) -> bool:
    """Whether a polynomial, with largest coefficient one, is not in the span of those known."""
    width = max(map(len, (polynomial, *known)))
    rows = np.array([[*each, *[0.0] * (width - len(each))] for each in (*known, polynomial)])
    return bool(np.linalg.matrix_rank(rows, tol=1e-9) == len(rows))


@lru_cache(maxsize=64)
def _orders(network: Network, step: Step, target: Target) -> tuple[tuple[float, ...], ...]:
    """The orders of the mean features in the strength, with largest coefficient one; zeros where one vanishes."""
    kernel = function_kernel(network.activation)
    moments = hermite_moments(network.activation, kernel.BREAKPOINTS, 2 * ORDERS, network.initial_bias)
    rho, drift, spread = scale_of_step(network, step, target)
    found = mean_features(rho, drift, spread, moments)
    largest = max(map(abs, moments))
    size = max(abs(rho), abs(drift), spread**0.5)
    scaled = []
    for k, polynomial in enumerate(found):
        top = max(map(abs, polynomial))
        vanishes = top <= 1e-12 * largest * size**k
        # what cancels to rounding beside the largest coefficient vanishes
        scaled.append(tuple(0.0 if vanishes or abs(c) < 1e-12 * top else c / top for c in polynomial))
    return tuple(scaled)


def refused(what: str) -> BadInput:
    """The error for what knows nothing of steps below the giant one."""
    return BadInput(
        f"{what} is not defined in the limit of a step below the giant one, step.exponent < 1/2",
        "give a dimension, at which the step has a strength; or use solve, curve or gains",
    )
