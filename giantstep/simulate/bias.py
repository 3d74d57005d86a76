"""A common bias trained with the readout: the joint minimum over both, next to the bias at initialisation.

J(b) = min_a sum_i l(y_i, f_i) + (ridge/2) |a|^2 with features sigma(w.x + b) need not be convex in b. The first minimum
on either side of the initial bias is found, where
dJ/db = sum_i l'(y_i, f_i) sum_k a_k sigma'(w_k.x_i + b)/sqrt p
vanishes (the readout is optimal), and the lower of the two is kept: which of them a descent would reach is decided by
the sign of a slope that sampling noise may turn round. Of an activation that jumps the slope is a difference of J:
sigma' knows nothing of the features that jump as b moves.
Source: [CUI24] App. C.8, where the theory has dPhi/db = 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import blas

from giantstep.simulate.convex import SQUARE, Labelled
from giantstep.simulate.erm import Fitted, Minimum, Readout, convex_readouts, designs, minimise
from giantstep.simulate.errors import Array, NoMinimum
from giantstep.simulate.features import activate
from giantstep.simulate.layer import PIECE, overlap
from giantstep.simulate.readout import ridge_readouts
from giantstep.simulate.system import FiniteSystem

# first step and growth of the walk, and of a finer one where that steps over all minima; how far it goes while the
# objective falls, and while it rises
WALKS = ((0.25, 1.5), (0.05, 1.05))
FARTHEST, RISING = 20.0, 4.0
# the trained bias is found to this accuracy: far below its spread between seeds
SETTLED = 1e-6
MAX_STEPS = 60
# the same of an activation that jumps, where J jumps with every feature, and half of the difference of its slope
SETTLED_OF_JUMPS, HALF = 1e-3, 0.1


@dataclass(frozen=True)
class _Point:
    """A bias, the slope of the objective there, the objective, and the fit."""

    bias: float
    slope: float
    objective: float
    readout: Readout


class _Search:
    """Fits of one sample size and ridge at any bias; `features` is space of the shape of `inner`."""

    def __init__(
        self, system: FiniteSystem, inner: Array, target: Array, ridge: float, features: Array, limit: int | None
    ) -> None:
        self.system, self.inner, self.target, self.ridge = system, inner, target, ridge
        self.features, self.limit = features, limit
        self.last: Minimum | None = None

    def at(self, bias: float) -> _Point:
        """The fit at a bias, started from the last one, and dJ/db."""
        if self.system.jumps:
            low, high = (self._fit(bias + side * HALF)[2] for side in (-1.0, 1.0))
            readout, _, objective = self._fit(bias)
            return _Point(bias, (high - low) / (2.0 * HALF), objective, readout)
        readout, pull, objective = self._fit(bias)
        scale, terms = 1.0 / math.sqrt(self.inner.shape[1]), np.empty(len(pull))
        height = max(1, PIECE // self.inner.shape[1])
        for start in range(0, len(pull), height):
            rows = slice(start, start + height)
            derivative = self.system.activation(self.inner[rows] + bias)[1]
            terms[rows] = scale * pull[rows] * overlap(derivative, readout.vector)
        return _Point(bias, float(np.sum(terms)), objective, readout)

    def _fit(self, bias: float) -> tuple[Readout, Array, float]:
        """The readout at a bias, the slopes l'(y_i, f_i), the objective."""
        self.features[...] = self.inner
        activate(self.system, self.features, bias)
        size = len(self.target)
        if self.system.loss is not None:
            ((_, design),) = designs(self.features, (size,))
            labelled = Labelled(self.system.loss, self.target)
            self.last = minimise(design, labelled, self.ridge, self.last)
            return self.last.summary(design, labelled, bias), self.last.local.slope, self.last.objective
        readouts, train = ridge_readouts(self.features, self.target, (size,), (self.ridge,), self.limit)
        vector = readouts[:, 0]
        output = blas.dgemv(1.0 / math.sqrt(len(vector)), self.features.T, vector, trans=1)
        objective = 0.5 * size * float(train[0, 0]) + 0.5 * self.ridge * float(vector @ vector)
        return Readout(vector, float(train[0, 0]), bias), output - self.target, objective

    def run(self) -> Readout:
        """The fit at the minimum. Raises NoMinimum where the objective is lowest at the end of the search."""
        first = self.at(self.system.bias)
        for walk in WALKS:
            found = [self._minimum(first, way, *walk) for way in (1.0, -1.0)]
            best = min(
                (point for point in found if point is not None), key=lambda point: point.objective, default=first
            )
            if abs(best.bias - self.system.bias) < FARTHEST:
                return best.readout
        raise NoMinimum(
            f"the training objective of a draw has no minimum in the bias: it still falls at {best.bias:.3g}",
            "set network.bias to a number, or take a larger dimension: draws differ less there",
        )

    def _minimum(self, near: _Point, way: float, step: float, growth: float) -> _Point | None:
        """The first minimum on one side, or the end of a fall; None where the objective only rises."""
        falling, reach = near.slope * way < 0.0, 0.0
        while reach < (FARTHEST if falling else RISING):
            far = self.at(near.bias + way * step)
            if falling and far.slope * way >= 0.0:
                return self._root(near, far)
            near, step, falling = far, growth * step, far.slope * way < 0.0
            reach = abs(near.bias - self.system.bias)
        return near if falling else None

    def _root(self, low: _Point, high: _Point) -> _Point:
        """Regula falsi with the Illinois modification between two slopes of opposite sign."""
        weight_low, weight_high = low.slope, high.slope
        settled = SETTLED_OF_JUMPS if self.system.jumps else SETTLED
        for _ in range(MAX_STEPS):
            if high.slope == 0.0:
                break
            bias = (low.bias * weight_high - high.bias * weight_low) / (weight_high - weight_low)
            middle, moved = self.at(bias), abs(bias - high.bias)
            if middle.slope * weight_high < 0.0:
                low, weight_low = high, weight_high
            else:
                weight_low *= 0.5
            high, weight_high = middle, middle.slope
            if moved <= settled:
                break
        return high


def trained_bias(
    system: FiniteSystem,
    inner: Array,
    target: Array,
    sizes: Sequence[int],
    ridges: Sequence[float],
    limit: int | None = None,
) -> Fitted:
    """Readouts and biases for pre-activations inner[N, p]: each sample size and ridge has its own bias."""
    fitted = Fitted.empty(inner.shape[1], len(sizes), len(ridges))
    space = np.empty((max(sizes), inner.shape[1]))
    for row, size in enumerate(sizes):
        for column, ridge in enumerate(ridges):
            one = _Search(system, inner[:size], target[:size], ridge, space[:size], limit).run()
            fitted.put(row, column, one)
    return fitted


def fixed_bias(
    system: FiniteSystem,
    features: Array,
    target: Array,
    sizes: Sequence[int],
    ridges: Sequence[float],
    bias: float,
    limit: int | None = None,
) -> Fitted:
    """The readouts at a given bias: factorisations shared by all ridges for the square loss, otherwise `erm`."""
    if system.loss is not None:
        return convex_readouts(features, target, sizes, ridges, system.loss, bias, system.penalty)
    if system.penalty is not None:
        found = convex_readouts(features, target, sizes, ridges, SQUARE, bias, system.penalty)
        return replace(found, train=2.0 * found.train)
    readouts, train = ridge_readouts(features, target, sizes, ridges, limit)
    return Fitted(readouts, train, np.full_like(train, bias), np.zeros_like(train), np.zeros_like(train))
