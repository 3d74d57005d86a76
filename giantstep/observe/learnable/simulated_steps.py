"""Simulated giant steps of a model, for comparison with the staircase that the theory predicts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from derive.language.catalogue import lookup
from derive.language.grammar import parse
from giantstep.observe.learnable.overlaps import GiantSteps
from giantstep.observe.learnable.result import Learnability
from giantstep.simulate.errors import SimulationError
from giantstep.simulate.giant_steps import GiantStepSystem, Labels, giant_steps
from giantstep.spec.counts import checked_count
from giantstep.spec.errors import BadInput
from giantstep.spec.expressions import Array, numpy_function
from giantstep.spec.link import link_values, may_jump
from giantstep.spec.model import Model, Target

_MOST_STEPS = 50


def simulate_steps(
    model: Model,
    theory: Learnability,
    *,
    dimension: int,
    seeds: int,
    steps: int | tuple[int, ...] | None,
    samples: float,
    rate: float,
    seed: int,
) -> GiantSteps:
    """The steps of the theory at dimension d, and one more of the last order; or so many, or of these orders.

    Raises BadInput.
    """
    activation = model.network.activation
    if may_jump(parse(lookup(activation).expression)):
        raise BadInput(
            f"the activation {activation} has jumps, so its gradient is a delta function",
            "choose an activation without jumps",
        )
    if not theory.stages:
        raise BadInput(
            f"target.link = {theory.link!r} has no direction that is found up to degree {theory.degree}",
            "give another link, or a larger degree",
        )
    orders = _orders(theory, steps)
    system = GiantStepSystem(
        activation=numpy_function(activation),
        labels=_labels(model.target),
        indices=theory.indices,
        groups=tuple(stage.directions for stage in theory.stages),
        orders=orders,
        width=model.network.width,
        bias=model.network.initial_bias,
        samples=float(samples),
        rate=float(rate),
    )
    try:
        found = giant_steps(system, dimension, seeds, seed=seed)
    except SimulationError as error:
        raise BadInput(f"the steps cannot be simulated: {error}", "change the dimension, samples or seeds") from None
    return GiantSteps(tuple(", ".join(stage.names) for stage in theory.stages), found, samples, rate)


def checked_orders(steps: object) -> int | tuple[int, ...]:
    """A number of steps, or the order of each. Raises BadInput."""
    if isinstance(steps, str | bytes | Mapping) or not isinstance(steps, Iterable):
        return checked_count("steps", steps, 1)
    given = tuple(checked_count("the order of a step", order, 1) for order in steps)
    if not 0 < len(given) <= _MOST_STEPS:
        raise BadInput(f"{len(given)} steps are not allowed", f"give 1 to {_MOST_STEPS} orders")
    return given


def _orders(theory: Learnability, steps: int | tuple[int, ...] | None) -> tuple[int, ...]:
    """The orders of the stages that the activation sees (of all of them where it sees none), the last one repeated."""
    if isinstance(steps, tuple):
        return steps
    orders = [stage.order for stage in (theory.seen or theory.stages)]
    count = len(orders) + 1 if steps is None else steps
    if count > _MOST_STEPS:
        raise BadInput(f"steps = {count} are too many", f"at most {_MOST_STEPS} are taken")
    return tuple((orders + [orders[-1]] * count)[:count])


def _labels(target: Target) -> Labels:
    """The labels of a target at its indices, noise included."""
    values = link_values(target.link)

    def draw(points: Array, source: np.random.Generator) -> Array:
        if target.probit:
            points = points + math.sqrt(target.probit) * source.standard_normal(points.shape)
        labels = values(points)
        if target.noise:
            labels = labels + math.sqrt(target.noise) * source.standard_normal(labels.shape)
        if target.flips:
            labels = np.where(source.random(labels.shape) < target.flips, -labels, labels)
        return labels

    return draw
