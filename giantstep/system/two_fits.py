"""Two fits of one problem that share some of data, label noise and first layer: the covariance of their outputs.

Everything of a single fit is taken from its solution. The overlaps T_12 and Q1_12 of the two readouts are the roots of
the generated equations of a pair: linear ones for the square loss, and for any other as far as E[g_1 g_2 | kappa] is
linear in the covariance of the outputs, for which Newton's method has its slope E[h_1 h_2 | kappa] (Price's theorem).
Under a penalty T_12 is a function of the covariance of what the proximal maps are taken of (``two_readouts``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from derive.directions import directions_of
from giantstep.law.spike import overlap_of_rows
from giantstep.spec.errors import NOT_LOOKED_FOR, BadInput, NotConverged
from giantstep.spec.model import Model
from giantstep.system.coupled_solver import order_of
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.kernels import pair_kernel
from giantstep.system.merged_blocks import Members, merged
from giantstep.system.pair_equations import (
    Linearised,
    PairEquations,
    Sharing,
    Solved,
    kind_of_pairs,
    pair_equations,
    symmetric,
)
from giantstep.system.problem import Problem, problem_of
from giantstep.system.resolution import FINE
from giantstep.system.result import Result
from giantstep.system.single_fit import features_of, of_points, of_system
from giantstep.system.solved_again import solved_again
from giantstep.system.square_loss import Points, points_of
from giantstep.system.state import pairs
from giantstep.system.two_outputs import Averages, slopes_of
from giantstep.system.two_readouts import Common, TwoReadouts, two_readouts

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
    """A solution with all that pairs of fits need of it.

    found: the system with the solution, or the points of the square loss, where these are at hand; samples may have
    weights there that the result does not know.
    """

    def __init__(self, result: Result, found: CoupledSystem | Points | None = None) -> None:
        self.model, self.result = result.model, result
        require_pairs(self.model)
        self.problem, self.members = merged_problem(result)
        indices = self.model.target.indices
        self.kernel = pair_kernel(kind_of_pairs(self.model), indices, self.problem.rank)
        if isinstance(found, CoupledSystem):
            found.evaluate(found.x)  # averages may be those of a step before
            self.system, self.problem = found, found.problem
        if found is None and self.problem.closed:
            found = points_of(self.problem)
        self.single = of_points(found) if isinstance(found, Points) else of_system(self.system)
        self.known, self.parameters = self.single.known, self.single.parameters
        self.pairs: dict[Sharing, Pair] = {}
        self.nodes: dict[Any, Any] = {}  # of two batches

    @cached_property
    def system(self) -> CoupledSystem:
        """The system with the solution in its workspace."""
        return _system_of(self.result)

    @cached_property
    def equations(self) -> PairEquations:
        """Of two fits."""
        return pair_equations(self.kernel, self.single)

    @cached_property
    def readouts(self) -> TwoReadouts:
        """What two fits have in common by what is unknown of them."""
        return two_readouts(self.single)

    @property
    def blocks(self) -> int:
        """The number of distinct blocks."""
        return len(self.problem.fraction)

    @property
    def square(self) -> bool:
        """Whether the loss is the square one, whose slopes have averages in closed form."""
        return self.model.fit.loss.key == "square"

    @property
    def margin(self) -> bool:
        """Whether the loss is one of the margin, whose test error is the probability of a wrong sign."""
        return self.model.fit.loss.form == "margin"

    @cached_property
    def labels(self) -> Averages:
        """The averages of E[g_1 g_2 | kappa] for a loss that has no closed form of them."""
        return Averages(self.system)

    @cached_property
    def overlap_of_rows(self) -> tuple[float, ...]:
        """Of a neuron's rows [K] in layers that begin with the same: batches leave what all make, and add noise."""
        found = overlap_of_rows(self.result.vocabulary)
        return tuple(found[int(np.flatnonzero(self.members.block == b)[0])] for b in range(self.members.count))

    @property
    def weight(self) -> Array:
        """Of the nodes of kappa."""
        return np.asarray(self.known["weight"])

    def at(self, kappa: Array) -> CoupledSystem:
        """The system with the fields of the solution at other nodes of kappa, [N] or [N, q]."""
        return self.system._on(kappa, np.ones(len(kappa)), self.system.clean)

    def covariance_at(self, overlaps: Mapping[str, Array], system: CoupledSystem, layer: bool) -> Array:
        """Delta_12 at the nodes of another system with the fields of this one's solution."""
        known = features_of(system)
        there = {"mu2sq_12": known["mu2sq"] * layer, **dict(zip(system.kernel.SLOPES, system.slopes, strict=True))}
        return np.asarray(self.kernel.covariance(**known, **there, **overlaps))

    def covariances(self, every: Sequence[Sharing], readout: Array, overlaps: Array) -> Array:
        """Delta_12 [S, N] at the nodes, of T_12 [S, K] and one of each pair of Q1_12."""
        layer = np.array([sharing.layer for sharing in every])
        of_readouts = readout / self.known["beta"] * layer[:, None]
        slopes = sum(self.known[name] ** 2 for name in directions_of("slope", self.model.target.indices))
        found: Array = np.concatenate([of_readouts, overlaps], axis=1) @ self.equations.products - slopes
        return found

    def apart(self, sharing: Sharing) -> Array:
        """The variance [N] of the labels' noise that two fits do not share."""
        if sharing.noise or sharing.data == 0.0:
            return np.zeros_like(self.known["Delta"])
        if self.model.target.probit > 0.0:
            raise BadInput(
                "noise inside the link that is drawn again for the same inputs has not been derived",
                "set target.probit to 0",
            )
        return self.single.apart

    def distinct(self, sharing: Sharing) -> Sharing:
        """What is the same where labels have no noise."""
        return sharing._replace(noise=True) if sharing.data > 0.0 and self.model.target.deterministic else sharing

    def pair(self, sharing: Sharing) -> Pair:
        """Solve the equations of a pair. Raises NotConverged."""
        return self.pairs_of([sharing])[sharing]

    def pairs_of(self, every: Sequence[Sharing]) -> dict[Sharing, Pair]:
        """The same of many pairs, those whose equations are linear together; of one fit and itself they are solved."""
        distinct = {sharing: self.distinct(sharing) for sharing in every}
        left = [sharing for sharing in dict.fromkeys(distinct.values()) if sharing not in self.pairs]
        linear = [sharing for sharing in left if self._is_linear(sharing)]
        if linear:
            self.pairs |= zip(linear, _linear(self, linear), strict=True)
        for sharing in left:
            if sharing not in self.pairs:
                self.pairs[sharing] = _Search(self, sharing).run()
        return {sharing: self.pairs[one] for sharing, one in distinct.items()}

    def is_same(self, sharing: Sharing) -> bool:
        """Whether this is a fit and itself."""
        return sharing == Sharing(1.0, True, True) and self.problem.weights is None

    def _is_linear(self, sharing: Sharing) -> bool:
        return self.is_same(sharing) or self.readouts.linear and (self.square or sharing.data == 0.0)


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


def _linear(fit: Fit, every: Sequence[Sharing]) -> list[Pair]:
    """Pairs of a fit whose equations are linear, or solved already."""
    known, count, blocks = fit.known, len(every), fit.blocks
    shape = count, len(fit.weight)
    overlaps = np.zeros((count, blocks * (blocks + 1) // 2))
    common, apart = fit.readouts.at(np.zeros(blocks), 0), np.zeros(shape)
    value, slope = np.zeros(shape), np.zeros(shape)
    start = fit.covariances(every, np.zeros((count, blocks)), overlaps)
    if fit.square:
        apart = np.array([fit.apart(sharing) for sharing in every])
        value = fit.kernel.of_square_loss(**{**known, "Delta_12": start, "apart": apart})
        slope[:] = known["avg_h"] ** 2
    readouts = np.tile([common.overlap, common.slope, common.field, common.field_slope], (count, 1, 1))
    x = -fit.equations.steps(Linearised(every, value, slope, readouts, overlaps))
    same = [fit.is_same(sharing) for sharing in every]
    readout, field, overlaps = x[:, :blocks], np.zeros((count, blocks)), x[:, blocks:]
    covariance = fit.covariances(every, readout, overlaps)
    average = value + slope * (covariance - start)
    if any(same):
        one = fit.readouts.same()
        first, second = np.array(pairs(blocks)).T
        readout[same], field[same], overlaps[same] = one.overlap, one.field, known["Q1"][first, second]
        covariance[same], average[same] = known["Delta"], known["avg_gg"]
    return _certified(fit, Solved(every, readout, field, symmetric(overlaps, blocks), covariance, average, apart))


def _certified(fit: Fit, of: Solved, errors: Sequence[float] = ()) -> list[Pair]:
    """All equations once more, from their text. Raises NotConverged."""
    residuals = fit.equations.certificates(of, fit.square)
    if not residuals.max() <= RESIDUAL:
        raise NotConverged(f"the equations of two fits are satisfied to {residuals.max():.1e} only", NOT_LOOKED_FOR)
    beta = fit.known["beta"]
    half = (fit.known["Delta"] - of.covariance) @ fit.weight
    given = of.readout, of.overlap, of.covariance, half.tolist(), residuals.tolist(), errors or [0.0] * len(half)
    return [
        Pair({"T_12": t, "Q1_12": q, "Q2_12": t / beta}, covariance, *told)
        for t, q, covariance, *told in zip(*given, strict=True)
    ]


class _Search:
    """Newton's method for one pair."""

    def __init__(self, fit: Fit, sharing: Sharing) -> None:
        self.fit, self.sharing, self.blocks = fit, sharing, fit.blocks
        self.apart = fit.apart(sharing) if fit.square else np.zeros_like(fit.known["Delta"])
        self.slopes: Array = np.zeros_like(fit.known["Delta"])
        self.common, self.centre = fit.readouts.same(), np.zeros(fit.blocks)  # of the readouts, and where

    def run(self) -> Pair:
        """The pair: Newton's method on each of better and better rules for what both outputs share."""
        x = np.zeros(self.blocks * (self.blocks + 3) // 2)
        self.common = self.fit.readouts.at(self.centre, _RULES[0])
        error, found = math.inf, self._covariance(x)
        for number, nodes in enumerate(_RULES):
            before = found
            x, step = self._solved(x, nodes)
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
            self.centre = x[: self.blocks].copy()
            self.common = self.fit.readouts.at(self.centre, nodes)
            before = self._covariance(x)
            x = self._step(x, before, nodes)
            change = self._change(before, self._covariance(x))
            if change <= _CLOSE:
                break
        return x, change

    def _change(self, before: Array, after: Array) -> float:
        """Of the covariance, relative to the variance of the output."""
        weight = self.fit.weight
        return float(weight @ np.abs(after - before) / (weight @ self.fit.known["Delta"]))

    def _step(self, x: Array, covariance: Array, nodes: int) -> Array:
        """The next unknowns, and E[g_1 g_2 | kappa] there by its slope."""
        value, slope = self._averages(covariance, nodes)
        common = self.common
        readouts = np.array([[common.overlap, common.slope, common.field, common.field_slope]])
        of = Linearised([self.sharing], value[None], slope[None], readouts, x[None, self.blocks :])
        x = x - self.fit.equations.steps(of)[0]
        x[: self.blocks] = self.fit.readouts.allowed(x[: self.blocks])
        self.slopes = value + slope * (self._covariance(x) - covariance)
        return x

    def _common(self, x: Array) -> Common:
        return self.common.after(x[: self.blocks] - self.centre)

    def _covariance(self, x: Array) -> Array:
        found: Array = self.fit.covariances([self.sharing], self._common(x).overlap[None], x[None, self.blocks :])[0]
        return found

    def _averages(self, covariance: Array, nodes: int) -> tuple[Array, Array]:
        """E[g_1 g_2 | kappa] and its slope in the covariance."""
        fit = self.fit
        if fit.square:
            found = fit.kernel.of_square_loss(**{**fit.known, "Delta_12": covariance, "apart": self.apart})
            return found, fit.known["avg_h"] ** 2
        if self.sharing.data == 0.0:
            return np.zeros_like(covariance), np.zeros_like(covariance)
        return slopes_of(fit.labels, covariance, self.sharing.noise, nodes)

    def _pair(self, x: Array, error: float) -> Pair:
        """With the certificate."""
        common, overlap = self._common(x), symmetric(x[None, self.blocks :], self.blocks)
        fields = self._covariance(x)[None], np.asarray(self.slopes)[None], self.apart[None]
        solved = Solved([self.sharing], common.overlap[None], common.field[None], overlap, *fields)
        return _certified(self.fit, solved, [error])[0]
