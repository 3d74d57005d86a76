"""What the features of a block depend on, to many digits: see ``graded_features``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath

from giantstep.law import structured_inputs
from giantstep.law.spike import by_blocks, variance_by_value
from giantstep.quadrature.mesh import Term
from giantstep.spec.model import Model
from giantstep.system.problem import Features

DIGITS = 300  # differences of 1e-13, a few times nested, in features of strength 1e-12, to a high power


@dataclass(frozen=True)
class Block:
    """What the features of a block depend on: loadings [q] and bulk variance to many digits.

    exact: whether these follow from what is given, and are not rounded themselves; value: of the readout, to many
    digits, where they follow from it; numbers: averages D_k to many digits, of a centre that needs them.
    """

    term: Term
    loadings: tuple[Any, ...]
    variance: Any
    exact: bool
    value: Any = None
    numbers: tuple[Any, ...] = ()


def blocks_of(features: Features) -> tuple[Block, ...]:
    """The blocks; loadings and variance follow from the readout values to all digits where these are what is given."""
    with mpmath.workdps(DIGITS):
        variance = None if features.loadings is not None else _variance_by_value(features.model)
        values = {u * features.spike.strength: u for u in features.model.network.readout.values}
        found = []
        for number, term in enumerate(features.blocks):
            value = values.get(term.scale)
            if value is not None and variance is not None:
                u = mpmath.mpf(value)
                found.append(Block(term, (u * mpmath.mpf(features.spike.strength),), mpmath.mpf(variance(u)), True, u))
                continue
            row = (term.scale,) if features.loadings is None else features.loadings[number]
            found.append(Block(term, tuple(mpmath.mpf(x) for x in row), mpmath.mpf(term.variance), False))
    return tuple(found)


def _variance_by_value(model: Model) -> Callable[[Any], Any] | None:
    """The bulk variance by the readout value, in any arithmetic; None where blocks move each in its own way."""
    if model.inputs is None or model.step is None or by_blocks(model) or model.step.bulk == "matrix":
        return variance_by_value(model)
    return structured_inputs.variance_by_value(model)
