"""The law of readouts under a penalty: averages over the proximal map of a Gaussian, block by block."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from generated.runtime.label_points import LabelNodes
from generated.runtime.nodes import Fields, Rule
from giantstep.quadrature.gauss import gauss_rule
from giantstep.spec.fit_penalty import FitPenalty
from giantstep.system.kernels import penalty_kernel, system_kernel
from giantstep.system.loss_at_zero import pieces_at_zero

Array = np.ndarray
_STEPS = 120  # of the rule for averages of the proximal map, which cost next to nothing
_STENCIL, _SHIFT = {-2: 1.0, -1: -8.0, 1: 8.0, 2: -1.0}, 3e-3  # of a derivative, over 12; in spreads
_TOLD, _ROUNDING = 1e-3, 1e-14  # shares of the readouts that the equations are told by, and not told by


@dataclass(frozen=True)
class Readouts:
    """The law of the readouts of all blocks: width of the proximal map, variance and mean of its argument [K], and
    averages of it by name.
    """

    width: Array
    variance: Array
    mean: Array
    averages: Mapping[str, Array]

    def of(self, *names: str) -> tuple[Array, ...]:
        """Width, variance, mean and some averages, as the generated functions take them."""
        return self.width, self.variance, self.mean, *(self.averages[name] for name in names)

    @property
    def moving(self) -> Array:
        """How much the mean readout moves with its argument: the share of those that no kink holds, and less."""
        share: Array = 1.0 - self.width * self.averages["avg_h"]
        return share


class Proximal:
    """Averages over the readouts of K blocks, by width, variance and mean [K]."""

    def __init__(self, penalty: FitPenalty, blocks: int) -> None:
        self.penalty = penalty
        self.kernel, self.names = penalty_kernel(penalty), system_kernel("penalised").AVERAGES
        one = np.ones((blocks, 1))
        self.labels = LabelNodes(one, np.zeros((blocks, 1, 1)), np.zeros((blocks, 1)), np.zeros((1, 1)))
        self.rule = Rule(gauss_rule(_STEPS), _STEPS, np.array(penalty.values, dtype=float), 0.0)
        self.scratch, self.averages = np.empty(self.kernel.SCRATCH_SHAPE), np.empty((len(self.names), blocks))
        self.share = 1.0  # of the penalty that counts
        # M, g and h are proportional to it where the width is one over it
        letters = (name.removeprefix("avg_") for name in self.names)
        self.powers = np.array([sum(each.count(letter) for letter in "Mghl") for each in letters])

    def at(self, width: Array, variance: Array, mean: Array) -> Readouts:
        """The law of the readouts."""
        fields = Fields(self.share * width, mean, np.zeros((1, len(width))), variance)
        self.kernel.points(self.rule, self.labels, fields, self.scratch, self.averages)
        averages = self.averages * self.share ** self.powers[:, None]
        return Readouts(width, variance, mean, dict(zip(self.names, averages, strict=True)))

    def inaccuracy(self, readouts: Readouts) -> float:
        """By how much the averages break d<g>/d mean = -<h>, relative to the response: a part of the Gaussian that
        nodes miss breaks it. Differences of order 4 leave 1e-10.
        """
        step, total = _SHIFT * np.sqrt(readouts.variance), np.zeros(len(readouts.mean))
        for times, weight in _STENCIL.items():
            there = self.at(readouts.width, readouts.variance, readouts.mean + times * step)
            total += weight * there.averages["avg_g"] / (12.0 * step)
        off = readouts.width * np.abs(total + readouts.averages["avg_h"])
        return float(np.max(off / readouts.moving))


def holds_at_zero(penalty: FitPenalty) -> bool:
    """Whether a kink of a penalty at zero holds readouts that no force pulls away."""
    pieces = pieces_at_zero(penalty_kernel(penalty), np.array(penalty.values, dtype=float), 0.0)
    return pieces[0][1] < 0.0 < pieces[-1][1]


def held_hint(readouts: Readouts) -> str:
    """What to do where a penalty holds nearly all readouts of a block; empty where it does not."""
    least = float(np.min(readouts.moving, initial=1.0)) if readouts.averages else 1.0
    if least > _TOLD:
        return ""
    share = f"a share of {least:.0e}" if least > _ROUNDING else "a share too small for rounding to tell"
    return (
        f"weaken fit.penalty: it holds the readouts where they are, all but {share}, and only those tell the equations"
    )
