"""Bounds on the test error of the spiked model, whatever the samples, the width and the ridge.

Given kappa = v.x and the rest t of the target's directions the output is
    f = sum_b [m_b mu0_b(kappa) + zeta_b.kappa mu1_b(kappa)] + sum_d t_d sum_b psi_bd mu1_b(kappa) + rest,
the rest independent of the label, so that E (y - f)^2 splits into what is seen through kappa, what is seen of t through
the bulk, the label's part that is neither, and the variance of the rest.
Lower bound: no rest, and the best m, zeta, psi. Upper bound: the limit of an infinite ridge, where zeta, psi and the
rest vanish and m, which has no ridge of its own, fits the labels; the test error at the best ridge is no larger.
Neither knows the bulk: rows that are not isotropic change what is reached, not what can be. In the limit of a step
below the giant one polynomials of kappa stand in the place of mu0, and the learning rate has no part in it.
Source: [CUI24] eq. (26)-(28), App. E and eq. (132), where the spike is the target (gamma = 1, no t).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from giantstep.law.intermediate_steps import is_intermediate
from giantstep.law.known_indices import in_known
from giantstep.law.readout_law import RUNGS, at_nodes
from giantstep.observe.baselines import best_linear_error
from giantstep.observe.best_bias import AlongRates, Bounded, best_bias, first_bias
from giantstep.observe.bound import Bound
from giantstep.observe.bound_fits import lower_of, upper_of
from giantstep.observe.bound_functions import BoundFunctions, bound_functions
from giantstep.observe.conditional_model import conditional
from giantstep.observe.minimise import least_positive
from giantstep.observe.polynomial_error import polynomial_errors
from giantstep.quadrature.mesh import ORDERS
from giantstep.spec.arguments import checked_flag, checked_range
from giantstep.spec.bars import GivenProgress, Progress, progress_of
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.given import takes_model
from giantstep.spec.model import Model
from giantstep.spec.outline import outline
from giantstep.spec.shown import Pictured, Row, number, numbers
from giantstep.system.problem import Problem, problem_of

Array = np.ndarray
_BOUNDED: tuple[Bounded, Bounded] = ("lower", "upper")
RATES = (1e-3, 1e3)  # learning rates that are searched
_RATES, _RATES_WITH_BIAS = 61, 25
_SETTLED, _SEARCHED = 1e-9, 2  # change of the bound of a density between numbers of nodes; which one is searched with
_CELL = 0.999  # of the distance of two learning rates of a grid
_APART = 1e-6  # relative, of bounds of two minima of the bias


@dataclass(frozen=True, repr=False, eq=False)
class Bounds(Pictured):
    """Bounds of a model and the errors of other predictors, all mean squared errors against the clean target.

    lower, upper: at the model's own spike; best_lower, best_upper: at the learning rate, one for all steps, where each
    is least, None without a step. polynomial: degree -> error of the best polynomial of that degree; the constant is
    degree 0. dimension: of a step below the giant one. first_upper: the upper bound at the first minimum of the
    training error downhill from a bias of zero, where ``solve`` has a trained one as the ridge grows, if another one
    is lower.
    """

    model: Model
    lower: Bound
    upper: Bound
    best_lower: Bound | None
    best_upper: Bound | None
    best_linear: float
    polynomial: Mapping[int, float]
    dimension: int | None = None
    first_upper: Bound | None = None

    def functions(self, at: Sequence[float] | Array | None = None) -> BoundFunctions:
        """What attains the lower and the upper bound, along v, at points ``at`` (default: 121 between -3 and 3).

        Raises BadInput where the features know no direction. Source: [CUI24] Fig. 3; [LOU24].
        """
        return bound_functions(self.model, self.dimension, self.lower, self.upper, at)

    def summary(self) -> list[Row]:
        """The bounds, other predictors, the model."""
        found = [("bounds", f"{number(self.lower.value)} to {number(self.upper.value)}")]
        if self.best_lower is not None and self.best_upper is not None:
            both = f"{number(self.best_lower.value)} to {number(self.best_upper.value)}"
            found.append(("at the best learning rate", both))
        if self.first_upper is not None:
            first = self.first_upper
            found.append(("upper, first bias", f"{number(first.value)} at {number(first.bias)}, where solve has it"))
        degrees = {f"degree {degree}": value for degree, value in self.polynomial.items()}
        return [
            *found,
            ("best linear predictor", number(self.best_linear)),
            ("best polynomials", numbers(degrees)),
            ("model", outline(self.model)),
        ]

    def named(self) -> dict[str, float]:
        """All errors by name, the bounds first."""
        best = {"lower, best rate": self.best_lower, "upper, best rate": self.best_upper}
        polynomials = {f"polynomials of degree {degree}": value for degree, value in self.polynomial.items()}
        return {
            "lower": self.lower.value,
            "upper": self.upper.value,
            **{name: bound.value for name, bound in best.items() if bound is not None},
            "linear": self.best_linear,
            **polynomials,
        }

    def to_dict(self) -> dict[str, Any]:
        """The object of ``bounds --json``."""
        best = {"best_lower": self.best_lower, "best_upper": self.best_upper}
        return {
            "lower": self.lower.to_dict(),
            "upper": self.upper.to_dict(),
            **{name: None if bound is None else bound.to_dict() for name, bound in best.items()},
            "first_upper": None if self.first_upper is None else self.first_upper.to_dict(),
            "best_linear": self.best_linear,
            "polynomial": {str(degree): value for degree, value in self.polynomial.items()},
            "model": self.model.to_dict(),
        }


@takes_model
def bounds(
    model: Model,
    *,
    degree: int = 3,
    rates: tuple[float, float] = RATES,
    optimise: bool = True,
    dimension: int | None = None,
    progress: GivenProgress = None,
) -> Bounds:
    """Lower and upper bound of a model, minimised over the learning rate as well, and baselines up to ``degree``.

    rates: the range of learning rates; ``optimise=False`` leaves the search out; dimension: of a step below the giant
    one, which has a strength there, and no limit. progress(stage, done, total) follows the learning rates that are
    searched; "auto": a bar. The upper bound is that of the square loss at its best ridge. Raises
    BadInput for a loss whose test error is no squared error of its output, and NotConverged where kappa is not
    resolved or a spike is lost in rounding. Source: [CUI24] eq. (26)-(28), (132); docs/theory.md, section 7.
    """
    if model.fit.loss.form == "margin":
        raise BadInput(
            f"fit.loss = {model.fit.loss.name!r} has the probability of misclassification as its test error, and the "
            "bounds are of the squared error",
            "set fit.loss=square for the bounds of the same features",
        )
    if model.fit.loss.predicts is not None:
        raise BadInput(
            f"fit.loss = {model.fit.loss} has an output that stands for the mean label {model.fit.loss.predicts.text}, "
            "and the bounds are of outputs that are the label's mean themselves",
            "set fit.loss=square for the bounds of the same features",
        )
    rates = checked_range("the range of learning rates", rates)
    link = in_known(model).target.mean_link
    search = checked_flag("optimise", optimise) and model.step is not None
    with progress_of(progress) as told:
        lower, upper = (bound(model, kind, dimension) for kind in _BOUNDED)
        best = [best_bound(model, kind, rates, dimension, told) if search else None for kind in _BOUNDED]
    return Bounds(
        model,
        lower,
        upper,
        best[0],
        best[1],
        best_linear_error(link),
        polynomial_errors(link, degree),
        dimension,
        first_upper(model, upper, dimension),
    )


def bound(model: Model, kind: Bounded, dimension: int | None = None) -> Bound:
    """One bound at the model's own spike; of a trained bias the best one is taken.

    Raises NotConverged where kappa is not resolved.
    """
    if model.network.readout.continuous:
        return _of_density(model, kind, dimension)
    features = _features(model, dimension)
    if not model.network.trains_bias:
        return _with_error(model, features(model.network.initial_bias), kind)
    best = best_bias(features, kind)
    return replace(_with_error(model, features(best.place), kind), bias_at_edge=best.at_edge)


def _with_error(model: Model, problem: Problem, kind: Bounded) -> Bound:
    """The bound by two orders of quadrature."""
    coarse, fine = (_at(model, problem, kind, order) for order in ORDERS)
    return replace(fine, error=abs(fine.value - coarse.value) + fine.error)


def first_upper(model: Model, upper: Bound, dimension: int | None = None) -> Bound | None:
    """The upper bound at the first minimum of the training error downhill from a bias of zero, which a trained one goes
    to; None where that is the least one, where it falls without a minimum, or no bias is trained.
    """
    if not model.network.trains_bias or dimension is None and is_intermediate(model):
        return None
    model = upper.model
    features = _features(model, dimension)
    if (bias := first_bias(features)) is None:
        return None
    found = _with_error(model, features(bias), "upper")
    return found if found.value > (1.0 + _APART) * upper.value else None


def _of_density(model: Model, kind: Bounded, dimension: int | None) -> Bound:
    """The bound of a density of readout values, at the first number of nodes at which it has settled."""
    before = math.inf
    for rung in range(len(RUNGS)):
        found = bound(at_nodes(model, rung), kind, dimension)
        change = abs(found.value - before)
        if change <= _SETTLED * found.value:
            return replace(found, error=max(found.error, change))
        before = found.value
    raise NotConverged(
        f"the bound changes by {change:.1e} from {RUNGS[-2]} to {RUNGS[-1]} readout values of the density",
        "give values and fractions",
    )


def best_bound(
    model: Model,
    kind: Bounded,
    rates: tuple[float, float] = RATES,
    dimension: int | None = None,
    progress: Progress | None = None,
) -> Bound:
    """One bound minimised over the learning rate: a grid in its logarithm, then bounded minimisation.

    The limit of a step below the giant one does not depend on it. progress(stage, done, total) follows the grid.
    Raises BadInput without a step.
    """
    if model.step is None:
        raise BadInput("the model takes no step, so it has no learning rate", "give [step]")
    if is_intermediate(model) and dimension is None:
        return bound(model, kind)
    points = _RATES_WITH_BIAS if model.network.trains_bias else _RATES
    at: Callable[[float], Model] = partial(_at_rate, model)
    told = () if progress is None else (partial(progress, f"learning rates, {kind} bound"),)
    biases = AlongRates(kind, _CELL * math.log(rates[1] / rates[0]) / (points - 1))
    found = least_positive(lambda rate: _value(at(rate), rate, biases, dimension), *rates, points, *told)
    return replace(bound(at(found.place), kind, dimension), at_edge=found.at_edge)


def _at_rate(model: Model, rate: float) -> Model:
    return model.replace({"step.learning_rate": rate})


def _features(model: Model, dimension: int | None) -> Callable[[float], Problem]:
    """The conditionally Gaussian features by their bias."""
    return lambda bias: problem_of(model, dimension, bias, intermediate=True)


def _value(model: Model, rate: float, biases: AlongRates, dimension: int | None) -> float:
    model = at_nodes(model, _SEARCHED) if model.network.readout.continuous else model
    features = _features(model, dimension)
    bias = biases.at(rate, features) if model.network.trains_bias else model.network.initial_bias
    return _at(model, features(bias), biases.kind, ORDERS[0]).value


def _at(model: Model, problem: Problem, kind: Bounded, order: int) -> Bound:
    parts = conditional(problem, order)
    found = lower_of(parts) if kind == "lower" else upper_of(parts)
    rate = None if model.step is None else model.step.learning_rate
    zeta, psi = _along_given(problem, found.zeta, found.psi)
    return Bound(
        model, found.value, found.m, zeta, psi, found.norm, problem.bias, rate, False, found.rounding * found.value
    )


def _along_given(problem: Problem, zeta: Array, psi: Array) -> tuple[Array, Array]:
    """(zeta, psi) along the directions of the spike as they were given: zeta [K] of one, [K, q] with loadings."""
    found = problem.outward({"zeta": zeta, "psi": psi, "Q1": np.zeros((len(zeta), len(zeta)))})
    return found["zeta"] if problem.spike.directions is not None else found["zeta"][:, 0], found["psi"]
