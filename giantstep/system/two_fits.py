"""Two fits of one problem that share some of data, label noise and first layer: the covariance of their outputs.

Everything of a single fit is taken from its solution. The overlaps T_12 and Q1_12 of the two readouts are the roots of
the generated equations of a pair: linear ones for the square loss, and for any other as far as E[g_1 g_2 | kappa] is
linear in the covariance of the outputs, for which Newton's method has its slope E[h_1 h_2 | kappa] (Price's theorem).
Under a penalty T_12 is a function of the covariance of what the proximal maps are taken of (``two_readouts``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from giantstep.law.kinds_of_labels import Points
from giantstep.spec.errors import NOT_LOOKED_FOR, BadInput, NotConverged
from giantstep.spec.model import Model
from giantstep.system.coupled_solver import order_of
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.kernels import pair_kernel
from giantstep.system.merged_blocks import Members, merged
from giantstep.system.pair_equations import Sharing, kind_of_pairs, pair_equations
from giantstep.system.problem import Problem, problem_of
from giantstep.system.resolution import FINE
from giantstep.system.result import Result
from giantstep.system.solved_again import solved_again
from giantstep.system.state import pairs
from giantstep.system.system_of_problem import coupled_at
from giantstep.system.two_outputs import Averages, slopes_of
from giantstep.system.two_readouts import Common, two_readouts

Array = np.ndarray
RESIDUAL = 1e-9  # of the equations of a pair, relative to their terms
_STEPS, _CLOSE = 12, 1e-3  # of Newton's method on one rule; change of the covariance that better rules go on from
_RULES = (6, 9, 14, 21, 32, 48, 72)  # nodes of what two outputs share
_SETTLED = 1e-7  # change of the covariance by the last of them, relative to the variance, that is worked for
ROUGH = 1e-5  # that is allowed


@dataclass(frozen=True)
class Pair:
    """The overlaps T_12 [K], Q1_12 [K, K], Q2_12 [K] of two fits, and the covariance [N] of their outputs.

    residual: worst relative one of all equations, evaluated apart from the solver; error: change of the covariance
    between rules for what two outputs share, relative to the variance.
    """

    overlaps: Mapping[str, Array]
    covariance: Array
    half_mean_square: float
    residual: float
    error: float


def require_pairs(model: Model) -> None:
    """Raise BadInput for models of which two fits have not been derived."""
    if model.network.trains_bias:
        raise BadInput("two fits with trained biases have not been derived", "give network.bias as a number")


class Fit:
    """A solution with all that pairs of fits need of it."""

    def __init__(self, result: Result, system: CoupledSystem | None = None) -> None:
        self.model, self.result = result.model, result
        require_pairs(self.model)
        self.system = system or _system_of(result)
        problem = self.system.problem
        self.kernel = pair_kernel(kind_of_pairs(self.model), self.model.target.indices, problem.rank)
        self.equations = pair_equations(self.kernel, self.system)
        self.known = _known(self.system)
        self.readouts = two_readouts(self.system)
        self.pairs: dict[Sharing, Pair] = {}
        self.nodes: dict[Any, Any] = {}  # of two batches

    @property
    def square(self) -> bool:
        """Whether the loss is the square one, whose slopes have averages in closed form."""
        return self.model.fit.loss.key == "square"

    @property
    def margin(self) -> bool:
        """Whether the loss is one of the margin, whose test error is the probability of a wrong sign."""
        return bool(self.system.loss.FORM == "margin")

    @cached_property
    def labels(self) -> Averages:
        """The averages of E[g_1 g_2 | kappa] for a loss that has no closed form of them."""
        return Averages(self.system)

    @property
    def weight(self) -> Array:
        """Of the nodes of kappa."""
        return np.asarray(self.known["weight"])

    def covariance_at(self, overlaps: Mapping[str, Array], system: CoupledSystem, layer: bool) -> Array:
        """Delta_12 at the nodes of another system with the fields of this one's solution."""
        known = _features(system)
        there = {"mu2sq_12": known["mu2sq"] * layer, **dict(zip(system.kernel.SLOPES, system.slopes, strict=True))}
        return np.asarray(self.kernel.covariance(**known, **there, **overlaps))

    def at(self, kappa: Array) -> CoupledSystem:
        """The system with the fields of the solution at other nodes of kappa, [N] or [N, q]."""
        return self.system._on(kappa, np.ones(len(kappa)), self.system.clean)

    def pair(self, sharing: Sharing) -> Pair:
        """Solve the equations of a pair; of one fit and itself they are solved already. Raises NotConverged."""
        target = self.model.target
        if sharing.data > 0.0 and target.deterministic:
            sharing = sharing._replace(noise=True)  # there is none
        if sharing not in self.pairs:
            search = _Search(self, sharing)
            alike = sharing == Sharing(1.0, True, True) and self.system.problem.weights is None
            self.pairs[sharing] = search.same() if alike else search.run()
        return self.pairs[sharing]


def merged_problem(result: Result) -> tuple[Problem, Members]:
    """The problem of a result with its distinct blocks, and where its own went."""
    problem = problem_of(result.vocabulary, result.dimension, result.bias)
    return merged(problem, opposite=not result.model.network.trains_bias)


def _system_of(result: Result) -> CoupledSystem:
    """The system with the solution in its workspace."""
    problem, members = merged_problem(result)
    system = solved_again(problem, members.gathered(order_of(problem, result)), FINE[-1])
    if system is None:
        raise NotConverged("the solution is not found again at the resolution of its pairs", NOT_LOOKED_FOR)
    return system


def _features(system: CoupledSystem) -> dict[str, Array]:
    blocks = system.blocks
    first = system.node.shape[0] - (4 if system.problem.norms_vary else 3) * blocks
    names = ("mu0", "mu1", "mu2sq")
    return {name: system.node[first + i * blocks :][:blocks] for i, name in enumerate(names)}


def _known(system: CoupledSystem) -> dict[str, Any]:
    """All that the equations of a pair are about, by name."""
    alpha, beta, _, _, inverse_dimension = system.parameters
    found = {**system.known(), **_features(system)}
    found |= {"alpha": alpha, "beta": beta, "inverse_dimension": inverse_dimension}
    found |= {"fraction": system.problem.fraction, "weight": system.table[:, 1]}
    plain = found
    if system.problem.weights is not None:  # the risk of a label does not know the weights
        without = coupled_at(system.problem._replace(weights=None), system.level)
        without.takes(system)
        without.residual(system.x)
        plain = without.known()
    if system.problem.model.fit.loss.key == "square":
        found["risk"] = plain["avg_gg"] / plain["avg_h"] ** 2
    return found


class _Search:
    """Newton's method for one pair."""

    def __init__(self, fit: Fit, sharing: Sharing) -> None:
        self.fit, self.sharing, self.kernel = fit, sharing, fit.kernel
        known, blocks = fit.known, fit.system.blocks
        self.known = {
            **known,
            "alpha": known["alpha"] * sharing.data,
            "overlap": np.full(blocks, float(sharing.layer)),
            "mu2sq_12": known["mu2sq"] * sharing.layer,
        }
        self.places, self.blocks = pairs(blocks), blocks
        self.closed = fit.square
        self.nothing = sharing.data == 0.0
        self.linear = (self.closed or self.nothing) and fit.readouts.linear
        if self.closed:
            self.known["apart"] = self._apart()
        self.slopes: Array = np.zeros_like(known["Delta"])
        self.common, self.centre = fit.readouts.same(), np.zeros(blocks)  # of the readouts, and where

    def same(self) -> Pair:
        """The fit and itself."""
        q1 = self.fit.system.view("Q1")
        self.slopes = self.fit.known["avg_gg"]
        return self._pair(np.concatenate([self.centre, [q1[b, c] for b, c in self.places]]), 0.0)

    def run(self) -> Pair:
        """The pair: Newton's method on each of better and better rules for what both outputs share."""
        x = np.zeros(self.blocks + len(self.places))
        error, found = math.inf, self._covariance(x)
        for number, nodes in enumerate(_RULES):
            before = found
            x, step = self._solved(x, nodes)
            if self.linear:
                return self._pair(x, 0.0)
            found = self._covariance(x)
            if number > 0:  # what the last step leaves is of the order of its square
                error = max(self._change(before, found), step**2)
            if error <= _SETTLED:
                return self._pair(x, error)
        if not error <= ROUGH:
            raise NotConverged(
                f"the covariance of two outputs changes by {error:.1e} (relative) between rules for what they share",
                "let them share less, or more: a loss with kinks sees outputs that hardly differ",
            )
        return self._pair(x, error)

    def _solved(self, x: Array, nodes: int) -> tuple[Array, float]:
        """The unknowns on one rule, from those of another, and the last change of the covariance."""
        change = math.inf
        for _ in range(_STEPS):
            self._linearised(x, nodes)
            before = self._covariance(x)
            x = self._step(x, before, nodes)
            change = self._change(before, self._covariance(x))
            if change <= _CLOSE or self.linear:
                break
        return x, change

    def _change(self, before: Array, after: Array) -> float:
        """Of the covariance, relative to the variance of the output."""
        weight = self.fit.weight
        return float(weight @ np.abs(after - before) / (weight @ self.known["Delta"]))

    def _linearised(self, x: Array, nodes: int) -> None:
        """Take what the readouts have in common at x, and its slopes there."""
        self.centre = x[: self.blocks].copy()
        self.common = self.fit.readouts.at(self.centre, nodes)

    def _step(self, x: Array, covariance: Array, nodes: int) -> Array:
        """The next unknowns, and E[g_1 g_2 | kappa] there by its slope."""
        value, slope = self._averages(covariance, nodes)
        x = x - np.linalg.solve(*self._linear(x, covariance, value, slope))
        x[: self.blocks] = self.fit.readouts.allowed(x[: self.blocks])
        self.slopes = value + slope * (self._covariance(x) - covariance)
        return x

    def _linear(self, x: Array, covariance: Array, value: Array, slope: Array) -> tuple[Array, Array]:
        """The matrix of the linearised equations and their residuals at x."""
        residual = self._residual(x, value)
        matrix = np.empty((len(x), len(x)))
        for column in range(len(x)):
            there = x.copy()
            there[column] += 1.0
            moved = value + slope * (self._covariance(there) - covariance)
            matrix[:, column] = self._residual(there, moved) - residual
        return matrix, residual

    def _residual(self, x: Array, average: Array) -> Array:
        """What vanishes for T_12 and Q1_12 where E[g_1 g_2 | kappa] is given."""
        own = self._overlaps(x)
        self.known["random_field_12"] = self._common(x).field
        off, q1 = self.fit.equations.missed(self.known, own, average)
        return np.concatenate([off, [q1[b, c] for b, c in self.places]])

    def _overlaps(self, x: Array) -> dict[str, Array]:
        matrix = np.empty((self.blocks, self.blocks))
        for (b, c), value in zip(self.places, x[self.blocks :], strict=True):
            matrix[b, c] = matrix[c, b] = value
        overlap = self._common(x).overlap
        return {"T_12": overlap, "Q1_12": matrix, "Q2_12": overlap / self.known["beta"]}

    def _common(self, x: Array) -> Common:
        return self.common.after(x[: self.blocks] - self.centre)

    def _covariance(self, x: Array) -> Array:
        return np.asarray(self.kernel.covariance(**self.known, **self._overlaps(x)))

    def _averages(self, covariance: Array, nodes: int) -> tuple[Array, Array]:
        """E[g_1 g_2 | kappa] and its slope in the covariance."""
        if self.nothing:
            return np.zeros_like(covariance), np.zeros_like(covariance)
        if self.closed:
            found = self.kernel.of_square_loss(**self.known, Delta_12=covariance)
            return found, self.known["avg_h"] ** 2
        return slopes_of(self.fit.labels, covariance, self.sharing.noise, nodes)

    def _apart(self) -> Array:
        """The variance of the labels' noise that is not shared."""
        system = self.fit.system
        if self.sharing.noise or self.nothing:
            return np.zeros_like(self.known["Delta"])
        target = self.fit.model.target
        if target.probit > 0.0:
            raise BadInput(
                "noise inside the link that is drawn again for the same inputs has not been derived",
                "set target.probit to 0",
            )
        nu = system.table[:, 2 : 4 + system.indices]  # mean, linear part and rest of the clean label
        square = (nu[:, :-1] ** 2).sum(axis=1) + nu[:, -1]
        if target.channel is not None:
            law = system.labels
            assert isinstance(law, Points)  # of the square loss: nodes with the moments of the label
            return np.asarray(np.maximum(0.0, (law.weight * law.label**2).sum(axis=1) - square))
        return np.asarray(target.noise + 4.0 * target.flips * (1.0 - target.flips) * square)

    def _pair(self, x: Array, error: float) -> Pair:
        """With the certificate: all equations once more, from their text."""
        own, covariance = self._overlaps(x), self._covariance(x)
        average = np.asarray(self.slopes)
        state = {**self.known, **own, "Delta_12": covariance, "avg_gg_12": average}
        state["random_field_12"] = self._common(x).field
        parameters = self.fit.system.parameters.copy()
        parameters[0] = self.known["alpha"]
        residual = self.fit.equations.certificate(state, parameters, self.closed and not self.nothing)
        if not residual <= RESIDUAL:
            raise NotConverged(f"the equations of two fits are satisfied to {residual:.1e} only", NOT_LOOKED_FOR)
        half = float(self.kernel.half_mean_square(**self.known, Delta_12=covariance))
        return Pair(own, covariance, half, residual, error)
