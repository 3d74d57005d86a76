"""Directions in the space of models: what a change of one key does to parameters and coefficients of the equations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from derive.language.grammar import did_you_mean
from giantstep.law.intermediate_steps import is_intermediate
from giantstep.law.rates_by_value import ByValue
from giantstep.law.spike import by_blocks
from giantstep.observe.gradient.coefficient_slopes import slopes_along
from giantstep.observe.gradient.no_derivative import reasons
from giantstep.observe.gradient.rates_after_step import Moving, MovingSamples, StepRates, rates_after_step
from giantstep.quadrature.shift_derivatives import norm_slopes
from giantstep.spec.errors import BadInput
from giantstep.spec.model import Model
from giantstep.system.merged_blocks import Members
from giantstep.system.problem import Problem

if TYPE_CHECKING:
    from giantstep.system.graded_features import Cluster

Array = np.ndarray


@dataclass(frozen=True)
class Direction:
    """Rates of (alpha, beta, ridge), and of what every block has: loadings [K, q] along the directions of kappa (of one
    direction d(u_b r)), bulk variances [K] and, where the bulk has a spectrum of its own, covariances [K, J] over it;
    offset: of the bias of all blocks; by_value: the same of loadings and variances, where they follow from the values
    of the readout; penalty: which parameter of the penalty moves, at the rate one.
    """

    rates: tuple[float, float, float]
    loadings: Array
    bulk: Array
    spectrum: Moving | MovingSamples | None = None
    offset: float = 0.0
    by_value: ByValue | None = None
    penalty: int | None = None

    @property
    def moves_features(self) -> bool:
        """Whether the coefficients of the features change."""
        return bool(np.any(self.loadings) or np.any(self.bulk) or self.offset)

    def times(self, factor: float) -> Direction:
        """The same for a change of the model by another factor; the rates of the parameters stay."""
        moved = None if self.spectrum is None else self.spectrum.times(factor)
        by_value = None if self.by_value is None else self.by_value.times(factor)
        return replace(
            self, loadings=factor * self.loadings, bulk=factor * self.bulk, spectrum=moved, by_value=by_value
        )

    def combined(self, problem: Problem, clusters: tuple[Cluster, ...], kappa: Array) -> Array:
        """Rates of the combinations of mean features that clusters have, at nodes of kappa, [N, K]."""
        from giantstep.system.graded_rates import BlockRates, combined_rates  # loads mpmath, which most need not

        rates = BlockRates(self.loadings, self.bulk, self.offset, self.by_value)
        return combined_rates(problem, clusters, rates, kappa.reshape(len(kappa), -1))

    def change(self, problem: Problem, kappa: Array) -> Array:
        """Rates of mu0, mu1, mu2sq of a problem at nodes of kappa, [N] or [N, q]: shape [3, K, N]."""
        found = np.zeros((3, len(problem.blocks), len(kappa)))
        if self.moves_features:
            points = kappa.reshape(len(kappa), -1)
            for b, term in enumerate(problem.blocks):
                along = kappa if problem.loadings is None else points @ np.array(problem.loadings[b])
                of_shift, of_variance = np.split(slopes_along(term, tuple(along.tolist())), 2)
                found[:, b] = of_shift * (points @ self.loadings[b] + self.offset) + of_variance * self.bulk[b]
                if term.polynomial is not None:  # in the limit of a small step: of no bias
                    found[0, b] = 0.0
        return found

    def norm_change(self, problem: Problem, kappa: Array) -> Array:
        """Rates of mu_c, what mu0 changes by with the norms of the rows, at nodes of kappa, [N] or [N, q]: [K, N]."""
        found = np.zeros((len(problem.blocks), len(kappa)))
        if self.moves_features:
            points = kappa.reshape(len(kappa), -1)
            for b, term in enumerate(problem.blocks):
                of_shift, of_variance = norm_slopes(term, problem.shift(b, kappa))
                found[b] = of_shift * (points @ self.loadings[b] + self.offset) + of_variance * self.bulk[b]
        return found


_PENALTY = "fit.penalty."
_OF_ONE_STEP = ("network.width", "step.learning_rate")  # several steps move the alignments as well


def direction_of(model: Model, problem: Problem, members: Members, key: str) -> Direction:
    """The direction of a key of a model; ``members``: where the block of each readout value went in its problem.

    At a dimension the problem of a step below the giant one is that of a giant step of another learning rate; in the
    limit its features know neither learning rate nor width. Raises BadInput for a key that has none.
    """
    check_key(model, key)
    found = _KEYS[key](problem, members)
    if key != "step.learning_rate" or model.step is None or not is_intermediate(model) or not found.moves_features:
        return found
    return found.times(problem.parameters.inverse_dimension ** (0.5 - model.step.exponent))


def check_key(model: Model, key: str) -> None:
    """Raise BadInput unless the solution of this model has a derivative in this key."""
    table, why = str(key).partition(".")[0], reasons(model).get(key)
    if getattr(model, table, model) is None:
        raise BadInput(f"the model has no [{table}], so nothing depends on {key}", f"choose among {_others(model)}")
    if why is not None and (key not in _KEYS or key.startswith(_PENALTY)):
        raise BadInput(
            f"there is no derivative in {key}: {why}", f"choose among {_others(model)}, or sweep it (curve --sweep)"
        )
    if key not in _KEYS:
        raise BadInput(
            f"there is no derivative in {key!r}",
            f"{did_you_mean(str(key), keys_for(model))}choose among {_others(model)}, or sweep it (curve --sweep)",
        )
    if key.startswith(_PENALTY) and key not in keys_for(model):
        has = "no penalty" if model.fit.penalty is None else model.fit.penalty
        raise BadInput(f"{key} is no parameter of the model, which has {has}", f"choose among {_others(model)}")
    if by_blocks(model) and key in _OF_ONE_STEP:
        raise BadInput(
            f"of several steps, or blocks with biases, {key} has no derivative: each block moves in its own way",
            f"take differences of solutions, or choose among {_others(model)}",
        )
    if key == "spike.bulk_variance" and key not in keys_for(model):
        raise BadInput(
            f"{key} is a list, one number for each block, and derivatives are in single numbers",
            f"give a single number, or choose among {_others(model)}",
        )
    if key not in keys_for(model):
        raise BadInput(
            f"{key} is the number of rows of step.matrix, which has no derivative", f"choose among {_others(model)}"
        )


def keys_for(model: Model) -> tuple[str, ...]:
    """The keys that the solution of a model has derivatives in; a given bulk has the width that it has."""
    present = (key for key in _KEYS if getattr(model, key.partition(".")[0]) is not None)
    given = model.step is not None and model.step.bulk == "matrix"
    missing = _OF_ONE_STEP if by_blocks(model) else ("network.width",) if given else ()
    if model.spike is not None and isinstance(model.spike.bulk_variance, tuple):
        missing = ("spike.bulk_variance",)
    own = () if model.fit.penalty is None else tuple(_PENALTY + name for name in model.fit.penalty.moving)
    return tuple(key for key in present if key not in missing and (not key.startswith(_PENALTY) or key in own))


def left_out(model: Model) -> dict[str, str]:
    """Key -> why it is not among the derivatives, of all numbers that the model has."""
    made = keys_for(model)
    return {key: why for key, why in reasons(model).items() if key not in made}


def _others(model: Model) -> str:
    return ", ".join(keys_for(model))


def still(problem: Problem) -> Direction:
    """No change."""
    count = len(problem.blocks)
    return Direction((0.0, 0.0, 0.0), np.zeros((count, problem.rank)), np.zeros(count))


def _parameter(place: int) -> Callable[[Problem, Members], Direction]:
    def direction(problem: Problem, members: Members) -> Direction:
        rates = tuple(1.0 if i == place else 0.0 for i in range(3))
        return replace(still(problem), rates=(rates[0], rates[1], rates[2]))

    return direction


def _width(problem: Problem, members: Members) -> Direction:
    """A wider network at the same learning rate has a smaller A = eta_tilde/beta."""
    found, step = still(problem), problem.model.step
    if step is not None:
        found = _learning_rate(problem, members).times(-step.learning_rate / problem.model.network.width)
    return replace(found, rates=(0.0, 1.0, 0.0))


def _learning_rate(problem: Problem, members: Members) -> Direction:
    model = problem.model
    if is_intermediate(model):  # in the limit
        return still(problem)
    found = rates_after_step(problem)
    shift = np.array(model.network.readout.values) * found.strength
    moved = _of_blocks(problem, members, shift[:, None], found)
    if found.powers is not None:
        moved = replace(moved, by_value=ByValue(found.strength, *found.powers))
    return moved.times(1.0 / model.network.width)


def _strength(problem: Problem, members: Members) -> Direction:
    model = problem.model
    assert model.spike is not None
    if problem.spike.directions is None:
        loadings = np.array(model.network.readout.values)[:, None]
    else:
        loadings = np.array(model.spike.loadings) @ np.array(problem.spike.directions.kept)
    moved = _of_blocks(problem, members, loadings, StepRates(1.0, np.zeros(len(loadings))))
    return moved if problem.spike.directions is not None else replace(moved, by_value=ByValue(shift=1.0))


def _bulk_variance(problem: Problem, members: Members) -> Direction:
    values = np.array(problem.model.network.readout.values)
    moved = _of_blocks(problem, members, np.zeros((len(values), problem.rank)), StepRates(0.0, values**2))
    return replace(moved, by_value=ByValue(square=1.0))


def _of_blocks(problem: Problem, members: Members, loadings: Array, rates: StepRates) -> Direction:
    """The direction of the distinct blocks, from rates of the original ones; opposite ones have opposite loadings."""
    loadings = _distinct(problem, members, loadings * members.shift[:, None])
    bulk = _distinct(problem, members, rates.bulk)
    moving = rates.spectrum
    if moving is not None:
        moving = moving.of_blocks(lambda rates: _distinct(problem, members, rates))
    return Direction((0.0, 0.0, 0.0), loadings, bulk, moving)


def _distinct(problem: Problem, members: Members, rates: Array) -> Array:
    """Rates of the distinct blocks. Raises BadInput where blocks that are the same move apart."""
    found = np.zeros((len(problem.blocks), *rates.shape[1:]), rates.dtype)
    found[members.block] = rates
    if np.any(np.abs(found[members.block] - rates) > 1e-12 * np.abs(rates).max(initial=0.0)):
        raise BadInput(
            "blocks with different readout values have the same features here, and no derivative",
            "move away from a step of learning rate zero",
        )
    return found


def _penalty(name: str) -> Callable[[Problem, Members], Direction]:
    def direction(problem: Problem, members: Members) -> Direction:
        penalty = problem.model.fit.penalty
        assert penalty is not None
        return replace(still(problem), penalty=[key for key, _ in penalty.parameters].index(name))

    return direction


_KEYS: Mapping[str, Callable[[Problem, Members], Direction]] = {
    "fit.ridge": _parameter(2),
    "fit.samples": _parameter(0),
    "network.width": _width,
    "step.learning_rate": _learning_rate,
    "spike.strength": _strength,
    "spike.bulk_variance": _bulk_variance,
    **{f"{_PENALTY}{name}": _penalty(name) for name in ("l1", "bound", "steepness")},
}
