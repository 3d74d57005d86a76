"""The overlap T_12 of two fits by what is unknown of them: itself, or under a penalty the covariance of its arguments.

Under a penalty a readout is a proximal map, and what two of them have in common is no linear function of the covariance
Delta_12 of their arguments. Its averages over both are those over z, which they share, of squares of averages over the
rest: a trapezoid, which is exact to rounding beyond a few nodes in the width of the rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from generated import penalty as law
from giantstep.system.penalised_system import PenalisedSystem
from giantstep.system.readout_law import Proximal
from giantstep.system.single_fit import SingleFit

Array = np.ndarray
_REACH, _WIDEST = 9.0, 0.55  # of z, and its longest step
_NODES = 6.0  # a step is the width of the rest over the number of nodes over this
_NEAR = 1e-7  # of the variance: what of it the arguments of two fits have apart, at least


@dataclass(frozen=True)
class Common:
    """T_12 and, under a penalty, the covariance of the stand-ins' fields, [K] each, with slopes in the unknown."""

    overlap: Array
    slope: Array
    field: Array
    field_slope: Array

    @property
    def rows(self) -> Array:
        """All of them [1, 4, K]."""
        return np.array([[self.overlap, self.slope, self.field, self.field_slope]])


class TwoReadouts(Protocol):
    """What two fits have in common by the unknown x [K] of all blocks. linear: whether it is proportional to it; limits
    [2, K]: the lowest and the highest unknown that two fits may have.
    """

    linear: bool
    limits: Array

    def at(self, x: Array, nodes: int) -> Common:
        """T_12 and what goes with it; nodes: of a rule for what is shared."""

    def same(self) -> Common:
        """Of a fit and itself."""


class LinearReadouts:
    """Readouts under a ridge alone: T_12 is the unknown."""

    linear = True

    def __init__(self, single: SingleFit) -> None:
        norms, _ = single.numbers(("Q2",))
        self.own = single.parameters[1] * norms
        self.limits = np.array([np.full(len(norms), -np.inf), np.full(len(norms), np.inf)])

    def at(self, x: Array, nodes: int) -> Common:
        """See ``TwoReadouts``."""
        return Common(x, np.ones_like(x), np.zeros_like(x), np.zeros_like(x))

    def same(self) -> Common:
        """T_12 = beta Q2."""
        return self.at(self.own, 0)


class PenalisedReadouts:
    """Readouts under a penalty: Delta_12 is the unknown."""

    linear = False

    def __init__(self, system: PenalisedSystem) -> None:
        self.beta, self.fraction = float(system.parameters[1]), system.problem.fraction
        self.penalty, self.readouts = system.proximal.penalty, system.readouts
        _, _, mean = law.readouts(self.beta, self.fraction, *self.readouts.of("avg_g", "avg_h", "avg_gg"))
        self.mean = mean if system.finite else np.zeros_like(mean)  # of order 1/sqrt(p)
        self.response, self.norm = system.view("T").copy(), system.view("Q2").copy()
        self.own_field = system.view("random_field").copy()
        self.limits = np.stack([np.zeros_like(self.norm), (1.0 - _NEAR) * self.readouts.variance])  # nearly all of it

    def at(self, x: Array, nodes: int) -> Common:
        """See ``TwoReadouts``."""
        variance, move = np.array([self._squares(block, float(x[block]), nodes) for block in range(len(x))]).T
        width, response = self.readouts.width, self.response
        told = law.of_two(self.beta, self.fraction, width, response, self.mean, x, variance + self.mean**2, move)
        overlap, field, slope, field_slope = np.broadcast_arrays(*told)
        return Common(overlap, slope, field, field_slope)

    def same(self) -> Common:
        """The fit's own norm and field."""
        nothing = np.zeros_like(self.norm)
        return Common(self.beta * self.norm, nothing, self.own_field, nothing)

    def _squares(self, block: int, covariance: float, nodes: int) -> tuple[float, float]:
        """Variance of the readout, and mean square of how much it moves, given what both have in common."""
        width, variance, mean = (float(each[block]) for each in self.readouts.of())
        rest = variance - covariance
        step = _WIDEST if covariance == 0.0 else min(_WIDEST, _NODES / nodes * math.sqrt(rest / covariance))
        count = math.ceil(_REACH / step)
        z = _REACH / count * np.arange(-count, count + 1)
        weight = _REACH / count * np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
        centre, one = mean + math.sqrt(covariance) * z, np.ones_like(z)
        given = Proximal(self.penalty, len(z)).at(width * one, rest * one, centre)
        readout, move = law.in_common(width, centre, *given.of("avg_g", "avg_h")[3:])
        return float(weight @ (readout - weight @ readout) ** 2), float(weight @ move**2)


def two_readouts(single: SingleFit) -> TwoReadouts:
    """That of a fit."""
    if isinstance(single.system, PenalisedSystem):
        return PenalisedReadouts(single.system)
    return LinearReadouts(single)
