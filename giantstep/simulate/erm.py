"""Empirical risk minimisation of any convex loss with a certified duality gap.

Smooth losses: Newton's method. Losses with kinks, or nearly so: the method of multipliers (Rockafellar 1976, Math.
Oper. Res. 1, 97), which replaces the loss by its Moreau envelope shifted by the multipliers; each inner problem is
solved by Newton's method on the samples that sit at a kink.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from giantstep.simulate.convex import ConvexLoss, Functions, Labelled, Penalised
from giantstep.simulate.errors import Array, SimulationError
from giantstep.simulate.memory import DENSE
from giantstep.simulate.newton import Design, Evaluate, Local, State, line_search

# relative duality gap: what is worked for, and what is asked for
TARGET = 1e-12
REQUIRED = 1e-8
NEWTON_STEPS = 500
# steps on a smooth loss itself before it is treated as one with kinks
DIRECT_STEPS = 40
# the method of multipliers: factor of the envelopes per round, and where a round may stop
NARROWER, ROUNDS = 0.5, 60
SHARE = 0.1
# steps or rounds without progress after which rounding is taken to hold the answer up
PATIENCE = 3


@dataclass(frozen=True)
class Readout:
    """One fit: readout a[p], mean loss on its training set, bias of the neurons, and the certificate of ``Fitted``."""

    vector: Array
    train: float
    bias: float
    gap: float = 0.0
    output_error: float = 0.0


@dataclass(frozen=True)
class Minimum:
    """A readout and its certificate: objective P(a) and gap >= P(a) - min P; size: that of the terms of P.

    |a - a_min| <= sqrt(2 gap/ridge), so an output phi(x).a/sqrt p is off by at most |phi(x)|/sqrt p times that.
    """

    state: State
    local: Local
    ridge: float
    objective: float
    size: float
    gap: float
    steps: int

    @property
    def relative_gap(self) -> float:
        """The gap over the size of the objective's terms (a loss may be negative); 0 where both vanish."""
        if self.size > 0.0:
            return self.gap / self.size
        return math.inf if self.gap > 0.0 else 0.0

    @property
    def good(self) -> bool:
        """Whether the gap is as small as asked for."""
        return self.relative_gap <= REQUIRED

    def summary(self, design: Design, labelled: Functions, bias: float) -> Readout:
        """The fit with its certificate."""
        train = labelled.train(self.state.output)
        longest = math.sqrt(float(np.max(design.norms)))
        return Readout(self.state.readout, train, bias, self.relative_gap, longest * self.readout_error)

    @property
    def readout_error(self) -> float:
        """Bound on |a - a_min|."""
        return math.sqrt(2.0 * self.gap / self.ridge)


def minimise(design: Design, labelled: Functions, ridge: float, start: Minimum | None = None) -> Minimum:
    """The readout that minimises sum_i l(y_i, f_i) + (ridge/2) |a|^2, from 0 or from that of another ridge.

    Raises SimulationError where the relative duality gap stays above 1e-8.
    """
    found = _Search(design, labelled, ridge).run(start)
    if not found.good:
        raise SimulationError(
            f"the fit of {labelled.name} with ridge {ridge:g} on {design.count} samples stopped at a relative "
            f"duality gap of {found.relative_gap:.1e}, above {REQUIRED:g}; raise the ridge"
        )
    return found


class _Search:
    def __init__(self, design: Design, labelled: Functions, ridge: float) -> None:
        self.design, self.labelled, self.ridge = design, labelled, ridge
        self.steps = 0

    def run(self, start: Minimum | None) -> Minimum:
        count = self.design.count
        if start is None:
            state = State(np.zeros(count), np.zeros(self.design.width), np.zeros(count))
        else:
            dual = np.zeros(count)
            dual[: start.state.dual.size] = start.state.dual * (self.ridge / start.ridge)
            state = self.design.state(dual, self.ridge)
        if self.labelled.smooth:
            found = self._newton(state, self._smooth, 0.0, DIRECT_STEPS)
            if found.good:
                return found
            # a slope that is nearly kinked: wide envelopes lead the way for it, too
            self.steps = 0
        return self._multipliers(state)

    def _smooth(self, f: Array) -> Local:
        return Local(f, *self.labelled.slope(f))

    def _multipliers(self, state: State) -> Minimum:
        """Rounds of Newton's method on shifted envelopes, ever closer to the loss itself."""
        variance = self.labelled.widest()
        multipliers = self.labelled.proximal(state.output, variance)[1]
        best, stalled = self._newton(state, self._shifted(multipliers, variance), SHARE), 0
        found = best
        for _ in range(ROUNDS):
            if found.relative_gap <= TARGET or stalled == PATIENCE:
                break
            variance, before = variance * NARROWER, self.steps
            found = self._newton(found.state, self._shifted(found.local.slope, variance), SHARE)
            if self.steps > before:
                stalled = stalled + 1 if best.good and found.gap > 0.5 * best.gap else 0
            best = min(best, found, key=lambda one: one.gap)
        return best

    def _shifted(self, multipliers: Array, variance: float) -> Evaluate:
        shift = variance * multipliers
        return lambda f: Local(*self.labelled.proximal(f + shift, variance))

    def _newton(self, state: State, evaluate: Evaluate, share: float, limit: int | None = None) -> Minimum:
        """Until the gap is TARGET, or its part from the gradient is below `share` of the rest."""
        local = evaluate(state.output)
        best, stalled = self._certified(state, local), 0
        while not self._enough(best, share) and stalled < PATIENCE and self.steps < (limit or NEWTON_STEPS):
            self.steps += 1
            moved = line_search(evaluate, state, self.design.newton_step(local, state, self.ridge), self.ridge)
            if moved is None:
                break
            state, local = moved
            found = self._certified(state, local)
            stalled = stalled + 1 if best.good and found.gap > 0.5 * best.gap else 0
            if found.gap < best.gap or share:
                best = found
        return best

    def _enough(self, found: Minimum, share: float) -> bool:
        if found.relative_gap <= TARGET:
            return True
        gradient = self._gradient_gap(found.state, found.local)
        return gradient <= share * (found.gap - gradient)

    def _gradient_gap(self, state: State, local: Local) -> float:
        gradient = self.ridge * state.readout + self.design.pull(local.slope)
        return float(gradient @ gradient) / (2.0 * self.ridge)

    def _certified(self, state: State, local: Local) -> Minimum:
        values = self.labelled.value(state.output)
        penalty = 0.5 * self.ridge * float(state.readout @ state.readout)
        gap = self._gradient_gap(state, local)
        if local.point is not state.output:
            distance = state.output - local.point
            gap += float(np.sum(np.maximum(values - self.labelled.value(local.point) - local.slope * distance, 0.0)))
        objective, size = float(np.sum(values)) + penalty, float(np.sum(np.abs(values))) + penalty
        return Minimum(state, local, self.ridge, objective, size, gap, self.steps)


@dataclass(frozen=True)
class Fitted:
    """Readouts[p, n's x ridges] in Fortran order (ridges fastest) and what is known of each, [n's, ridges].

    train: mean loss on the training set (square loss: mean squared error, without 1/2). bias: common bias of the
    neurons. gap: certified relative distance of the objective from its minimum; output_error: the distance of f(x)
    from that of the minimum which this still allows, for features no longer than the longest of the training set.
    """

    readouts: Array
    train: Array
    bias: Array
    gap: Array
    output_error: Array

    def put(self, row: int, column: int, one: Readout) -> None:
        """Store the fit of one size and ridge."""
        self.readouts[:, row * self.train.shape[1] + column] = one.vector
        self.train[row, column], self.bias[row, column] = one.train, one.bias
        self.gap[row, column], self.output_error[row, column] = one.gap, one.output_error

    @classmethod
    def empty(cls, width: int, sizes: int, ridges: int) -> Fitted:
        """Space for the fits of all sizes and ridges."""
        tables = [np.zeros((sizes, ridges)) for _ in range(4)]
        return cls(np.empty((width, sizes * ridges), order="F"), *tables)


def convex_readouts(
    features: Array,
    target: Array,
    sizes: Sequence[int],
    ridges: Sequence[float],
    loss: ConvexLoss,
    bias: float = 0.0,
    penalty: ConvexLoss | None = None,
) -> Fitted:
    """Minimise sum_i l(y_i, f_i) + (ridge/2) |a|^2 + sum_k penalty(a_k), f = features a/sqrt p, on the first n rows.

    features[N, p] in C order, target[N], sizes n <= N, ridges > 0. penalty: as a loss of a readout at the label
    0. Each ridge starts from the next larger one.
    Raises SimulationError where a fit cannot be certified.
    """
    fitted = Fitted.empty(features.shape[1], len(sizes), len(ridges))
    for size, plain in designs(features, sizes):
        design, labelled = _with_penalty(plain, Labelled(loss, target[:size]), penalty)
        found: Minimum | None = None
        for column in np.argsort(ridges)[::-1]:
            found = minimise(design, labelled, ridges[column], found)
            for row in (row for row, n in enumerate(sizes) if n == size):
                fitted.put(row, int(column), found.summary(design, labelled, bias))
    return fitted


def _with_penalty(design: Design, data: Labelled, penalty: ConvexLoss | None) -> tuple[Design, Functions]:
    """A training set with the readouts behind it, as outputs of features of their own."""
    if penalty is None:
        return design, data
    readouts = math.sqrt(design.width) * np.eye(design.width)
    return Design(np.concatenate([design.features, readouts]), None), Penalised(
        data, Labelled(penalty, np.zeros(design.width))
    )


def designs(features: Array, sizes: Sequence[int]) -> Iterator[tuple[int, Design]]:
    """The training sets of increasing size, with leading blocks of one kernel where it is worth keeping."""
    order, width = sorted(set(sizes)), features.shape[1]
    dense = [size for size in order if size <= DENSE * width]
    kernel = None
    if dense:
        kernel = blas.dsyrk(1.0 / width, features[: dense[-1]].T, trans=1, lower=1)
    for size in order:
        yield size, Design(features[:size], kernel[:size, :size] if size in dense and kernel is not None else None)
