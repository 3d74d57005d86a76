"""Two fits of one problem that share some of data, label noise and first layer: the covariance of their outputs.

Everything of a single fit is taken from its solution. The overlaps T_12 and Q1_12 of the two readouts are the roots of
the generated equations of a pair: linear ones for the square loss, and for any other as far as E[g_1 g_2 | kappa] is
linear in the covariance of the outputs, for which Newton's method has its slope E[h_1 h_2 | kappa] (Price's theorem).
Under a penalty T_12 is a function of the covariance of what the proximal maps are taken of (``two_readouts``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from generated.runtime.rows_of_pairs import covariances
from giantstep.law.known_indices import in_known
from giantstep.law.same_labels import by_channel
from giantstep.law.spike import overlap_of_rows
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.model import Model
from giantstep.system.causes import settling_hint
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.kernels import pair_kernel
from giantstep.system.merged_blocks import Members, merged
from giantstep.system.pair_equations import (
    Linearised,
    PairEquations,
    Shared,
    Sharing,
    Solved,
    advanced,
    kind_of_pairs,
    pair_equations,
    shared_by,
    symmetric,
)
from giantstep.system.problem import Problem, problem_of
from giantstep.system.resampled_fit import settled_system
from giantstep.system.result import Result
from giantstep.system.single_fit import FitAtPoint, FitOfSystem, SingleFit, features_of
from giantstep.system.square_loss import Points, points_of
from giantstep.system.state import pairs
from giantstep.system.two_outputs import Averages, slopes_of
from giantstep.system.two_readouts import TwoReadouts, two_readouts

Array = np.ndarray
RESIDUAL = 1e-9  # of the equations of a pair, relative to their terms
_STEPS, _CLOSE = 12, 1e-3  # of Newton's method on one rule; change of the covariance that better rules go on from
_OF_SQUARE = ("Delta", "avg_h", "risk")
# nodes of what two outputs share; the last ones, of outputs that vary little, have too many where a label needs several
_RULES, _OF_ONE_NUMBER = (6, 9, 14, 21, 32, 48, 72), (96, 128)
_SETTLED = 1e-7  # change of the covariance by the last of them, relative to the variance, that is worked for
ROUGH = 1e-5  # that is allowed


class Pair(NamedTuple):
    """Two fits: the covariance [N] of their outputs, and E (f_1 - f_2)^2/2.

    residual: worst relative one of all equations, evaluated apart from the solver; error: change of the covariance
    between rules for what two outputs share, or by rounding, relative to the variance; x [n], T_12 [K]: see ``Solved``.
    """

    beta: float
    x: Array
    T_12: Array
    covariance: Array
    half_mean_square: float
    residual: float
    error: float

    @property
    def overlaps(self) -> dict[str, Array]:
        """T_12 [K], Q1_12 [K, K], Q2_12 [K]."""
        blocks = len(self.T_12)
        return {
            "T_12": self.T_12,
            "Q1_12": symmetric(self.x[None, blocks:], blocks)[0],
            "Q2_12": self.T_12 / self.beta,
        }


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
        self.model, self.result = in_known(result.model), result
        require_pairs(self.model)
        self.problem, self.members = merged_problem(result)
        indices = self.model.target.indices
        self.kernel = pair_kernel(kind_of_pairs(self.model), indices, self.problem.rank)
        if isinstance(found, CoupledSystem):
            found.evaluate(found.x)  # averages may be those of a step before
            self.system, self.problem = found, found.problem
        if found is None and self.problem.closed:
            found = points_of(self.problem)
        self.single: SingleFit = FitAtPoint(found) if isinstance(found, Points) else FitOfSystem(self.system)
        self.parameters, self.weight = self.single.parameters, self.single.weight  # of the nodes of kappa
        self.blocks, loss = len(self.problem.fraction), self.model.fit.loss
        self.square = loss.key == "square"  # its slopes have averages in closed form
        self.margin = loss.form == "margin"  # its test error is the probability of a wrong sign
        self.deterministic, self.whole = self.model.target.deterministic, self.problem.weights is None
        self.pairs: dict[Sharing, Pair] = {}
        self.nodes: dict[Any, Any] = {}  # of two batches

    @cached_property
    def system(self) -> CoupledSystem:
        """The system with the solution in its workspace."""
        return settled_system(self.result)

    @cached_property
    def equations(self) -> PairEquations:
        """Of two fits."""
        return pair_equations(self.kernel, self.single)

    @cached_property
    def readouts(self) -> TwoReadouts:
        """What two fits have in common by what is unknown of them."""
        return two_readouts(self.single)

    @cached_property
    def labels(self) -> Averages:
        """The averages of E[g_1 g_2 | kappa] for a loss that has no closed form of them."""
        return Averages(self.system)

    @cached_property
    def overlap_of_rows(self) -> tuple[float, ...]:
        """Of a neuron's rows [K] in layers that begin with the same: batches leave what all make, and add noise."""
        known = self.single.remembered
        if "overlap" not in known:
            found, block = overlap_of_rows(self.result.vocabulary), self.members.block
            known["overlap"] = tuple(found[int(np.flatnonzero(block == b)[0])] for b in range(self.members.count))
        return tuple(known["overlap"])

    @property
    def known(self) -> dict[str, Any]:
        """See ``SingleFit``."""
        return self.single.known

    @cached_property
    def variance(self) -> Array:
        """Of the output at the nodes of kappa, beside its slopes."""
        return self.single.numbers(("Delta",))[0]

    def at(self, kappa: Array) -> CoupledSystem:
        """The system with the fields of the solution at other nodes of kappa, [N] or [N, q]."""
        return self.system.between(kappa, np.ones(len(kappa)), self.system.clean)

    def covariance_at(self, overlaps: Mapping[str, Array], system: CoupledSystem, layer: bool) -> Array:
        """Delta_12 at the nodes of another system with the fields of this one's solution."""
        known = features_of(system)
        there = {"mu2sq_12": known["mu2sq"] * layer, **dict(zip(system.kernel.SLOPES, system.slopes, strict=True))}
        return np.asarray(self.kernel.covariance(**known, **there, **overlaps))

    def average_of_square(self, covariance: Array, apart: Array) -> tuple[Array, Array]:
        """(E g_1 g_2 of the square loss where outputs have that covariance [..., N], the gain [N])."""
        numbers, _ = self.single.numbers(_OF_SQUARE)
        variance, gain, risk = numbers.reshape(3, -1)
        given = {"Delta": variance, "Delta_12": covariance, "apart": apart, "avg_h": gain, "risk": risk}
        return np.asarray(self.kernel.of_square_loss(**given)), gain

    def apart(self, every: Sequence[Sharing]) -> Array:
        """The variance [S, N] of the labels' noise that two fits do not share."""
        found = np.zeros((len(every), len(self.weight)))
        drawn = [not sharing.noise and sharing.data > 0.0 for sharing in every]
        if any(drawn):
            target = self.model.target
            if by_channel(target).probit > 0.0:
                raise BadInput(
                    "fits to labels whose noise inside the link is drawn anew have been derived for the sign of one "
                    f"index without flips and noise, and not for the link {target.link!r} with target.flips = "
                    f"{target.flips:g} and target.noise = {target.noise:g}",
                    "set target.probit to 0, or take a sign of one index without flips and noise",
                )
            found[drawn] = self.single.apart
        return found

    def distinct(self, sharing: Sharing) -> Sharing:
        """What is the same where labels have no noise."""
        return Sharing(sharing.data, True, sharing.layer) if self.deterministic and sharing.data > 0.0 else sharing

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
        return self.whole and sharing == (1.0, True, True)

    def _is_linear(self, sharing: Sharing) -> bool:
        return self.is_same(sharing) or self.readouts.linear and (self.square or sharing.data == 0.0)


def merged_problem(result: Result) -> tuple[Problem, Members]:
    """The problem of a result with its distinct blocks, and where its own went."""
    problem = problem_of(result.vocabulary, result.dimension, result.bias)
    return merged(problem, opposite=not result.model.network.trains_bias)


def _linear(fit: Fit, every: Sequence[Sharing]) -> list[Pair]:
    """Pairs of a fit whose equations are linear, or solved already."""
    count, blocks, nodes = len(every), fit.blocks, len(fit.weight)
    shared, equations = shared_by(every), fit.equations
    x, start, value, slope = np.zeros((count, blocks * (blocks + 3) // 2)), *np.zeros((3, count, nodes))
    start[:], apart = -equations.nodes[3], value
    if fit.square:
        apart = fit.apart(every)
        value, gain = fit.average_of_square(start, apart)
        slope[:] = gain * gain
    readouts = np.empty((count, 4, blocks))
    readouts[:] = fit.readouts.at(x[0, :blocks], 0).rows
    at = Linearised(x, value, slope, start, readouts, fit.readouts.limits)
    found = advanced(equations, fit.parameters, shared, at)
    # pairs under a penalty are here only where they share nothing
    errors = _rounding(fit, shared, at, found, apart) if fit.readouts.linear else np.zeros(count)
    if any(same := [fit.is_same(sharing) for sharing in every]):
        _put_same(fit, found, same.index(True))
        errors[same] = 0.0
    if not (worst := float(errors.max())) <= ROUGH:
        size = f"{worst:.1e} of their variance" if worst < 1.0 else "as much as their variance"
        raise NotConverged(
            f"the covariance of the outputs of two fits is off by rounding, by {size}: overlaps of blocks with nearly "
            "dependent features cancel in it",
            "raise fit.ridge, which holds every overlap; or give linear features one readout value",
        )
    return _certified(fit, shared, found, apart, errors.tolist())


def _rounding(fit: Fit, shared: Shared, at: Linearised, found: Solved, apart: Array) -> Array:
    """What a second step of the linear equations moves the covariances [S] by, relative to the variance: without
    rounding nothing.
    """
    value = fit.average_of_square(found.covariance, apart)[0] if fit.square else found.average
    readouts = np.array([fit.readouts.at(x[: fit.blocks], 0).rows[0] for x in found.x])
    there = Linearised(found.x, value, at.slope, found.covariance, readouts, at.limits)
    after = advanced(fit.equations, fit.parameters, shared, there).covariance
    variance = float(fit.weight @ fit.variance)
    return np.asarray(np.abs(after - found.covariance) @ fit.weight / (variance or 1.0))


def _put_same(fit: Fit, found: Solved, place: int) -> None:
    """A fit and itself."""
    one, blocks = fit.readouts.same(), fit.blocks
    found.readout[place], found.field[place] = one.overlap, one.field
    found.x[place, blocks:] = fit.single.numbers(("Q1",))[0][_upper(blocks)]
    found.covariance[place], found.average[place] = fit.variance, fit.single.average


@lru_cache(maxsize=64)
def _upper(blocks: int) -> Array:
    """Places of one of each pair of a symmetric matrix."""
    return np.array([b * blocks + c for b, c in pairs(blocks)])


def _certified(fit: Fit, shared: Shared, of: Solved, apart: Array, errors: Sequence[float] = ()) -> list[Pair]:
    """All equations once more, from their text. Raises NotConverged."""
    residuals = fit.equations.certificates(shared, of, apart, fit.square)
    if not residuals.max() <= RESIDUAL:
        raise NotConverged(
            f"the equations of two fits are satisfied to {residuals.max():.1e} only", settling_hint(fit.problem)
        )
    half = (fit.variance - of.covariance) @ fit.weight
    given = of.x, of.readout, of.covariance, half.tolist(), residuals.tolist(), errors or [0.0] * len(half)
    return [Pair(float(fit.parameters[1]), *told) for told in zip(*given, strict=True)]


class _Search:
    """Newton's method for one pair."""

    def __init__(self, fit: Fit, sharing: Sharing) -> None:
        self.fit, self.sharing, self.shared, self.blocks = fit, sharing, shared_by([sharing]), fit.blocks
        self.apart = fit.apart([sharing]) if fit.square else np.zeros((1, len(fit.weight)))

    def run(self) -> Pair:
        """The pair: Newton's method on each of better and better rules for what both outputs share."""
        error, x = math.inf, self._start()
        before: Solved | None = None
        for nodes in self._rules():
            found, step = self._solved(x, nodes)
            if before is not None:  # what the last step leaves is of the order of its square
                error = max(self._change(before.covariance, found.covariance), step**2)
            before, x = found, found.x
            if error <= _SETTLED:
                break
        if not error <= ROUGH:
            raise NotConverged(
                f"the covariance of two outputs changes by {error:.1e} (relative) between rules for what they share",
                "let them share less, or more: a loss with kinks sees outputs that hardly differ",
            )
        return _certified(self.fit, self.shared, found, self.apart, [error])[0]

    def _rules(self) -> tuple[int, ...]:
        problem, model = self.fit.problem, self.fit.problem.model
        nodes_of_noise = model.target.noise > 0.0 and model.fit.loss.form != "residual"
        several = model.target.indices > 1 or problem.rank > 1 or nodes_of_noise
        return _RULES if several else _RULES + _OF_ONE_NUMBER

    def _start(self) -> Array:
        """The unknowns [1, n] where E g_1 g_2 goes from that of a fit and itself as if the slope were linear."""
        fit, x = self.fit, np.zeros((1, self.blocks * (self.blocks + 3) // 2))
        if self.sharing.data == 0.0:
            return x
        rows, covariance = fit.readouts.at(x[0, : self.blocks], _RULES[0]).rows, -fit.equations.nodes[3][None]
        slope = fit.single.numbers(("avg_h",))[0] ** 2
        value = fit.single.average + slope * (covariance - fit.variance)
        at = Linearised(x, value, slope[None], covariance, rows, fit.readouts.limits)
        return advanced(fit.equations, fit.parameters, self.shared, at).x

    def _solved(self, x: Array, nodes: int) -> tuple[Solved, float]:
        """The solution on one rule, from the unknowns of another, and the last change of the covariance."""
        for _ in range(_STEPS):
            before = self._at(x, nodes)
            found = advanced(self.fit.equations, self.fit.parameters, self.shared, before)
            x, change = found.x, self._change(before.covariance, found.covariance)
            if change <= _CLOSE:
                break
        return found, change

    def _change(self, before: Array, after: Array) -> float:
        """Of the covariance [1, N], relative to the variance of the output."""
        weight = self.fit.weight
        return float((np.abs(after - before) @ weight)[0] / (weight @ self.fit.variance))

    def _at(self, x: Array, nodes: int) -> Linearised:
        """The equations at unknowns."""
        fit, parameters = self.fit, self.fit.parameters
        rows, covariance = fit.readouts.at(x[0, : self.blocks], nodes).rows, np.empty((1, len(fit.weight)))
        covariances(fit.equations.nodes, self.shared, rows[:, 0], x, parameters[1], covariance)
        value, slope = self._averages(covariance[0], nodes)
        return Linearised(x, value[None], slope[None], covariance, rows, fit.readouts.limits)

    def _averages(self, covariance: Array, nodes: int) -> tuple[Array, Array]:
        """E[g_1 g_2 | kappa] and its slope in the covariance."""
        fit = self.fit
        if fit.square:
            value, gain = fit.average_of_square(covariance, self.apart[0])
            return value, gain * gain
        if self.sharing.data == 0.0:
            return np.zeros_like(covariance), np.zeros_like(covariance)
        return slopes_of(fit.labels, covariance, self.sharing.noise, nodes)
