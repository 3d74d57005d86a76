"""Steps below the giant one: which polynomials of kappa are features in the limit, and the step at a finite dimension.

Source: [MON23]; THEORY section 7. Derived in derive.polynomial_spikes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from generated.step import ORDERS, cost_exponent
from giantstep.law.mean_feature_orders import free_polynomials, orders_of, told_apart
from giantstep.spec.errors import BadInput
from giantstep.spec.model import Model

_ROUNDING = 1e-9  # of a cost's exponent
_BETWEEN = "give a dimension, or an exponent e with (l-1)/(2l) < e < l/(2l+2) for the powers up to l"


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

    Where the exponent lies between two orders, the lower one. Raises BadInput where it is too large.
    """
    assert model.step is not None
    exponent = model.step.exponent
    order = sum(1 for cost in _costs(exponent) if cost < -_ROUNDING)
    if order > ORDERS:
        raise BadInput(f"step.exponent = {exponent!r} makes more than {ORDERS} powers of kappa features", _BETWEEN)
    return order


def _costs(exponent: float) -> list[float]:
    return [cost_exponent(k, exponent) for k in range(1, ORDERS + 2)]


def powers_of(model: Model, bias: float = 0.0) -> tuple[int, ...]:
    """Orders of the mean features that are features with a free overlap; that of order k has the degree k.

    bias: the value of one that is trained.
    """
    return tuple(polynomials_of(model, bias))


def polynomials_of(model: Model, bias: float = 0.0) -> dict[int, tuple[float, ...]]:
    """The polynomials of kappa that are features, by their order in the strength: coefficients, lowest power first.

    They are the orders of the mean features up to that of the step, as far as the readouts at initialisation take
    values enough to tell them apart, and new in the span of those before. A bias that is trained frees more of them.
    Raises BadInput, also where one more begins to be learned at the exponent.
    """
    network, step = model.network, model.step
    assert step is not None
    highest = order_of(model) if step.learning_rate > 0.0 else 0
    chosen = _up_to(model, highest, bias)
    if highest > 0 and min(map(abs, _costs(step.exponent))) <= _ROUNDING:
        following = _up_to(model, highest + 1, bias)
        if network.trains_bias or highest == ORDERS or following != chosen:
            raise BadInput(
                f"step.exponent = {step.exponent!r} is where one more power of kappa, that of {highest + 1}, begins to "
                "be learned, at a strength that the limit does not fix",
                _BETWEEN,
            )
    return chosen


def _up_to(model: Model, highest: int, bias: float) -> dict[int, tuple[float, ...]]:
    """The polynomials of the orders up to a highest one."""
    network, step = model.network, model.step
    assert step is not None
    if network.trains_bias:
        return free_polynomials(network, step, model.target, highest, bias)
    orders = orders_of(network, step, model.target)[: 1 + highest]
    chosen: dict[int, tuple[float, ...]] = {}
    for k in told_apart(network, [k for k, polynomial in enumerate(orders) if any(polynomial)]):
        if _is_new(orders[k], list(chosen.values())):
            chosen[k] = orders[k]
    return chosen


def frees_at_zero(model: Model) -> bool:
    """Whether a trained bias of zero has more features than any other near it."""
    return len(polynomials_of(model, 0.0)) > len(polynomials_of(model, 1.0))


def _is_new(polynomial: tuple[float, ...], known: list[tuple[float, ...]]) -> bool:
    """Whether a polynomial, with largest coefficient one, is not in the span of those known."""
    width = max(map(len, (polynomial, *known)))
    rows = np.array([[*each, *[0.0] * (width - len(each))] for each in (*known, polynomial)])
    return bool(np.linalg.matrix_rank(rows, tol=1e-9) == len(rows))


def refused(what: str) -> BadInput:
    """The error for what knows nothing of steps below the giant one."""
    return BadInput(
        f"{what} is not defined in the limit of a step below the giant one, step.exponent < 1/2",
        "give a dimension, at which the step has a strength; or use solve, curve or gains",
    )
