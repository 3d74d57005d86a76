"""Directions in the space of models: what a change of one key does to parameters and coefficients of the equations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from generated.systems import slopes
from giantstep.law.gradient_step import step_arguments
from giantstep.law.intermediate_steps import is_intermediate
from giantstep.observe.gradient.coefficient_slopes import slopes_along
from giantstep.quadrature.panels import Term
from giantstep.spec.errors import BadInput
from giantstep.spec.model import Model
from giantstep.system.merged_blocks import Members
from giantstep.system.problem import Problem

Array = np.ndarray


@dataclass(frozen=True)
class Direction:
    """Rates of (alpha, beta, ridge), and of strength and bulk variance of every block: shift[K] = d(u_b r), bulk[K];
    offset: of the bias of all blocks.
    """

    rates: tuple[float, float, float]
    shift: Array
    bulk: Array
    offset: float = 0.0

    @property
    def moves_features(self) -> bool:
        """Whether the coefficients of the features change."""
        return bool(np.any(self.shift) or np.any(self.bulk) or self.offset)

    def change(self, blocks: tuple[Term, ...], kappa: Array) -> Array:
        """Rates of mu0, mu1, mu2sq at nodes of kappa: shape [3, K, N]."""
        found = np.zeros((3, len(blocks), len(kappa)))
        if self.moves_features:
            places = tuple(kappa.tolist())
            for b, term in enumerate(blocks):
                slopes = slopes_along(term, places)
                found[:, b] = slopes[:3] * (self.shift[b] * kappa + self.offset) + slopes[3:] * self.bulk[b]
                if term.polynomial is not None:  # in the limit of a small step: of no bias
                    found[0, b] = 0.0
        return found


def direction_of(model: Model, problem: Problem, members: Members, key: str) -> Direction:
    """The direction of a key of a model; ``members``: where the block of each readout value went in its problem.

    At a dimension the problem of a step below the giant one is that of a giant step of another learning rate; in the
    limit its features know neither learning rate nor width. Raises BadInput for a key that has none.
    """
    check_key(model, key)
    found = _KEYS[key](problem, members)
    if model.step is None or not is_intermediate(model) or not found.moves_features:
        return found
    factor = float(problem.parameters[4]) ** (0.5 - model.step.exponent) if key == "step.learning_rate" else 1.0
    return replace(found, shift=factor * found.shift, bulk=factor * found.bulk)


def check_key(model: Model, key: str) -> None:
    """Raise BadInput unless the solution of this model has a derivative in this key."""
    if key not in _KEYS:
        raise BadInput(f"there is no derivative in {key!r}", f"choose among {', '.join(_KEYS)}")
    table = key.partition(".")[0]
    if table in ("step", "spike") and getattr(model, table) is None:
        raise BadInput(f"the model has no [{table}], so nothing depends on {key}", f"choose among {_others(model)}")
    if key not in keys_for(model):
        raise BadInput(
            f"{key} is the number of rows of step.matrix, which has no derivative", f"choose among {_others(model)}"
        )


def keys_for(model: Model) -> tuple[str, ...]:
    """The keys that the solution of a model has derivatives in; a given bulk has the width that it has."""
    present = (key for key in _KEYS if getattr(model, key.partition(".")[0]) is not None)
    given = model.step is not None and model.step.bulk == "matrix"
    return tuple(key for key in present if not (given and key == "network.width"))


def _others(model: Model) -> str:
    return ", ".join(keys_for(model))


def _still(problem: Problem) -> Array:
    return np.zeros(len(problem.blocks))


def _parameter(place: int) -> Callable[[Problem, Members], Direction]:
    def direction(problem: Problem, members: Members) -> Direction:
        rates = tuple(1.0 if i == place else 0.0 for i in range(3))
        return Direction((rates[0], rates[1], rates[2]), _still(problem), _still(problem))

    return direction


def _width(problem: Problem, members: Members) -> Direction:
    """A wider network at the same learning rate has a smaller A = eta_tilde/beta."""
    still = _still(problem)
    if problem.model.step is None:
        return Direction((0.0, 1.0, 0.0), still, still)
    shift, bulk = _of_rate(problem, members)
    factor = -problem.model.step.learning_rate / problem.model.network.width
    return Direction((0.0, 1.0, 0.0), factor * shift, factor * bulk)


def _learning_rate(problem: Problem, members: Members) -> Direction:
    return Direction((0.0, 0.0, 0.0), *_of_rate(problem, members))


def _of_rate(problem: Problem, members: Members) -> tuple[Array, Array]:
    """Rates of u_b r and c_b in the learning rate, of the blocks of the problem."""
    model = problem.model
    if is_intermediate(model):  # in the limit
        return _still(problem), _still(problem)
    given = step_arguments(model)
    assert model.step is not None
    values, scale = model.network.readout.values, 1.0 / model.network.width
    strength = scale * slopes.strength_slope(given.rate, given.samples, given.mu1, given.length, given.e2)
    strength = abs(strength)  # the direction of the spike absorbs the sign
    shift = np.array([u * strength for u in values])
    moments = (given.s0, given.e2, given.sigma2, given.variance)
    bulk = np.array([scale * slopes.bulk_variance_slope(given.rate, given.samples, u, *moments) for u in values])
    return _of_blocks(problem, members, shift * members.shift), _of_blocks(problem, members, bulk)


def _strength(problem: Problem, members: Members) -> Direction:
    values = np.array(problem.model.network.readout.values)
    return Direction((0.0, 0.0, 0.0), _of_blocks(problem, members, values * members.shift), _still(problem))


def _bulk_variance(problem: Problem, members: Members) -> Direction:
    values = np.array(problem.model.network.readout.values)
    return Direction((0.0, 0.0, 0.0), _still(problem), _of_blocks(problem, members, values**2))


def _of_blocks(problem: Problem, members: Members, rates: Array) -> Array:
    """Rates of the distinct blocks. Raises BadInput where blocks that are the same move apart."""
    found = _still(problem)
    found[members.block] = rates
    if np.any(np.abs(found[members.block] - rates) > 1e-12 * np.abs(rates).max(initial=0.0)):
        raise BadInput(
            "blocks with different readout values have the same features here, and no derivative",
            "move away from a step of learning rate zero",
        )
    return found


_KEYS: Mapping[str, Callable[[Problem, Members], Direction]] = {
    "fit.ridge": _parameter(2),
    "fit.samples": _parameter(0),
    "network.width": _width,
    "step.learning_rate": _learning_rate,
    "spike.strength": _strength,
    "spike.bulk_variance": _bulk_variance,
}
