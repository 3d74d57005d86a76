"""The coupled system of a fit with a penalty: in the places of T and Q2 the width and the variance of the proximal map.

The equations know a ridge and a random field that stand for the penalty (``derive/penalty.py``). Both, and T and Q2 of
the readouts, are functions of the width V and the variance Delta of the proximal map of the penalty, block by block.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from generated import penalty as law
from generated.runtime.label_points import LabelNodes
from generated.runtime.nodes import Fields, Rule
from generated.runtime.unknowns import DIRECTION
from giantstep.spec.fit_penalty import FitPenalty
from giantstep.system.coupled_system import CoupledSystem, gauss_rule
from giantstep.system.discretisation import Level, Resolved
from giantstep.system.kernels import penalty_kernel, system_kernel
from giantstep.system.newton import newton
from giantstep.system.problem import Problem
from giantstep.system.state import start_of

Array = np.ndarray
_STEPS = 120  # of the rule for averages of the proximal map, which cost next to nothing
_FEW, _WIDER, _TIMES = 0.1, 2.0, 100  # a share of the readouts to start from, factor of their variance until there
_TOLD, _ROUNDING = 1e-5, 1e-14  # shares of the readouts that the equations are told by, and not told by
_ROUNDS, _NEAR, _CLOSE = 40, 1e-6, 1e-3  # of a fixed point, its Newton steps, and relative changes that end it
_OF_LAW = ("avg_h", "avg_gg")
_OF_ENERGY = ("avg_M", *_OF_LAW)
_OF_SLOPES = (*_OF_ENERGY, "avg_ggh", "avg_ghx", "avg_hxx")


@dataclass(frozen=True)
class Readouts:
    """The law of the readouts of all blocks: width and variance of the proximal map [K], and averages of it."""

    width: Array
    variance: Array
    averages: Mapping[str, Array]

    def of(self, *names: str) -> tuple[Array, ...]:
        """Width, variance and some averages, as the generated functions take them."""
        return self.width, self.variance, *(self.averages[name] for name in names)

    @property
    def moving(self) -> Array:
        """How much the mean readout moves with its argument: the share of those that no kink holds, and less."""
        share: Array = 1.0 - self.width * self.averages["avg_h"]
        return share


class Proximal:
    """Averages over the readouts of K blocks, by the width [K] and the variance [K] of the proximal map."""

    def __init__(self, penalty: FitPenalty, blocks: int) -> None:
        self.kernel, self.names = penalty_kernel(penalty), system_kernel("penalised").AVERAGES
        one = np.ones((blocks, 1))
        self.labels = LabelNodes(one, np.zeros((blocks, 1, 1)), np.zeros((blocks, 1)), np.zeros((1, 1)))
        self.rule = Rule(gauss_rule(_STEPS), _STEPS, np.array(penalty.values, dtype=float), 0.0)
        self.scratch, self.averages = np.empty(self.kernel.SCRATCH_SHAPE), np.empty((len(self.names), blocks))
        self.share = 1.0  # of the penalty that counts
        # M, g and h are proportional to it where the width is one over it
        self.powers = np.array(
            [sum(name.removeprefix("avg_").count(letter) for letter in "Mghl") for name in self.names]
        )

    def at(self, width: Array, variance: Array) -> Readouts:
        """The law of the readouts."""
        nothing = np.zeros((1, len(width)))
        fields = Fields(self.share * width, nothing[0], nothing, variance)
        self.kernel.points(self.rule, self.labels, fields, self.scratch, self.averages)
        averages = self.averages * self.share ** self.powers[:, None]
        return Readouts(width, variance, dict(zip(self.names, averages, strict=True)))


def held_hint(readouts: Readouts) -> str:
    """What to do where a penalty holds nearly all readouts of a block at a kink; empty where it does not."""
    least = float(np.min(readouts.moving, initial=1.0)) if readouts.averages else 1.0
    if least > _TOLD:
        return ""
    share = f"a share of {least:.0e}" if least > _ROUNDING else "none that rounding tells"
    return (
        f"weaken fit.penalty: it holds the readouts at a kink, all but {share}, and equations are those of the others"
    )


class PenalisedSystem(CoupledSystem):
    """The equations with the stand-in at its own equations, as Newton's method takes them."""

    def __init__(self, problem: Problem, level: Level, laws: Resolved | None = None) -> None:
        super().__init__(problem, level, laws)
        penalty = problem.model.fit.penalty
        assert penalty is not None
        self.proximal = Proximal(penalty, self.blocks)
        self.readouts = Readouts(np.ones(self.blocks), np.ones(self.blocks), {})
        one = np.ones(self.blocks)
        self.like_ridge = float(law.stand_in(*self.proximal.at(one, self._felt(one, one)).of(*_OF_LAW))[0].mean())
        self.of_width, self.of_variance = (self._numbers_of(name) for name in ("T", "adjoint"))

    def easier(self) -> Callable[[float], CoupledSystem] | None:
        """Systems with a share of the penalty."""

        def at(share: float) -> CoupledSystem:
            self.proximal.share, self.certified = share, None
            return self

        return at

    def _numbers_of(self, name: str) -> Array:
        """Which of the unknowns the members of a family are."""
        start = start_of(self.kernel, name, self.blocks)
        return np.array([int(np.flatnonzero(self.first == start + b)[0]) for b in range(self.blocks)])

    def fields(self, x: Array) -> bool:
        """Evaluate the law of the readouts, then V, the mean, its slopes and Delta; whether x is feasible."""
        self.x = x
        width, variance = x[self.of_width], x[self.of_variance]
        if not (np.all(width > 0.0) and np.all(variance > 0.0)):
            return False
        self.readouts = found = self.proximal.at(width, variance)
        if not np.all(found.moving > 0.0):
            return False
        response, norm = law.readouts(self.parameters[1], self.problem.fraction, *found.of(*_OF_LAW))
        self.view("excess")[...], self.view("random_field")[...] = law.stand_in(*found.of(*_OF_LAW))
        inner = x.copy()
        inner[self.of_width], inner[self.of_variance] = response, norm
        feasible = super().fields(inner)
        self.x = x
        return feasible

    def jacobian(self) -> Array:
        """Derivative of the residuals at the last x: T, Q2 and the stand-in move with the width and the variance."""
        n, blocks = len(self.first), self.blocks
        members = np.concatenate([self.members, self._members_of_stand_in()], axis=1)
        whole = np.empty((n, n + 2 * blocks))
        self.kernel.jacobian(*self._arguments(), self.work, members, 0, whole)
        moving = (self.of_width, self.of_variance, np.arange(n, n + blocks), np.arange(n + blocks, n + 2 * blocks))
        slopes = self._slopes()
        matrix = whole[:, :n].copy()
        for field, places in enumerate((self.of_width, self.of_variance)):
            terms = zip(moving, slopes[field:8:2], strict=True)
            matrix[:, places] = sum(whole[:, which] * slope for which, slope in terms)
        return matrix

    def _slopes(self) -> tuple[Array, ...]:
        """Derivatives [K] of T, Q2, excess, random_field and the energy, of each that in width and that in variance."""
        found: tuple[Array, ...] = law.slopes(self.parameters[1], self.problem.fraction, *self.readouts.of(*_OF_SLOPES))
        return found

    def moves(self, rates: Array, of_beta: float) -> dict[str, Array]:
        """Tangents of the unknowns of the equations and of the stand-in, where width and variance have theirs."""
        width, variance = rates[self.of_width], rates[self.of_variance]
        slopes = self._slopes()
        along = [of_v * width + of_d * variance for of_v, of_d in zip(slopes[0:8:2], slopes[1:8:2], strict=True)]
        inner = rates.copy()
        inner[self.of_width] = along[0] + self.view("T") * of_beta / self.parameters[1]
        inner[self.of_variance] = along[1]
        return {**super().moves(inner, of_beta), "d_excess": along[2], "d_random_field": along[3]}

    def energy_rate(self, rates: Array, of_beta: float) -> float:
        """Derivative of the free energy beside that of the stand-in."""
        of_width, of_variance = self._slopes()[8:]
        along = float(of_width @ rates[self.of_width] + of_variance @ rates[self.of_variance])
        return along + self._energy() * of_beta / float(self.parameters[1])

    def _members_of_stand_in(self) -> Array:
        """Places of the directions of excess and random_field, as those of unknowns [7, 2 K]."""
        found = np.zeros((len(self.members), 2 * self.blocks), self.members.dtype)
        starts = (start_of(self.kernel, name, self.blocks) for name in ("d_excess", "d_random_field"))
        found[DIRECTION] = np.concatenate([start + np.arange(self.blocks) for start in starts])
        return found

    def scale(self, x: Array) -> Array:
        """Sizes of the unknowns: width and variance are positive."""
        found = super().scale(x)
        places = np.concatenate([self.of_width, self.of_variance])
        found[places] = np.abs(x[places])
        return found

    def unknowns(self, order: Mapping[str, Array]) -> Array:
        """The vector of unknowns; where the order parameters lack width and variance, as if there were no penalty."""
        found = super().unknowns(order)
        if "prox_width" not in order:
            return self.of_linear_readouts(found)
        found[self.of_width], found[self.of_variance] = order["prox_width"], order["prox_variance"]
        return found

    def of_linear_readouts(self, x: Array) -> Array:
        """The unknowns from those of a fit without a penalty: the same width, and a variance that readouts feel."""
        found, share = x.copy(), self.problem.fraction
        width = x[self.of_width] / (self.parameters[1] * share)
        found[self.of_width], found[self.of_variance] = width, self._felt(width, x[self.of_variance] / share)
        return found

    def _felt(self, width: Array, variance: Array) -> Array:
        """Variances [K] at which a fair share of the readouts moves, where a kink holds nearly all at those given."""
        for _ in range(_TIMES):
            held = self.proximal.at(width, variance).moving < _FEW
            if not np.any(held):
                break
            variance = np.where(held, _WIDER * variance, variance)
        return variance

    def hint(self) -> str:
        """Whether the penalty holds nearly all readouts, which leaves no digits of the others."""
        return held_hint(self.readouts)

    def approached(self, x: Array) -> Array | None:
        """Rounds of solving the equations of a stand-in and taking that of the width and variance found, as cavity
        iterations do; None where they do not settle.
        """
        found = x.copy()
        if not self.fields(found):
            return None
        for _ in range(_ROUNDS):
            inner = newton(_WithStandIn(self), self.work[self.first], settled=_NEAR)
            if not inner.converged:
                return None
            before, found = found, inner.x.copy()
            found[self.of_width], found[self.of_variance] = self._implied(inner.x)
            if not self.fields(found):
                return None
            places = np.concatenate([self.of_width, self.of_variance])
            if np.max(np.abs(found[places] / before[places] - 1.0)) < _CLOSE:
                return found
        return None

    def _implied(self, inner: Array) -> tuple[Array, Array]:
        """Width and variance that T and Q2 of a solution with the stand-in tell."""
        excess, field = self.view("excess"), self.view("random_field")
        linear = inner[self.of_width] / (self.parameters[1] * self.problem.fraction)
        width = linear / (1.0 - excess * linear)
        variance = (inner[self.of_variance] / (self.problem.fraction * linear**2) - field) * width**2
        return width, variance

    def order_parameters(self) -> dict[str, Array]:
        """The order parameters at the last x, with width and variance of the proximal map."""
        readouts = {"prox_width": self.readouts.width, "prox_variance": self.readouts.variance}
        return super().order_parameters() | readouts

    def averaged(self) -> Array:
        """The observables, the free energy that of the penalty."""
        out = super().averaged()
        out[2] += self._energy()
        return out

    def _energy(self) -> float:
        """What the free energy is beside that of the stand-in."""
        return float(law.energy(self.parameters[1], self.problem.fraction, *self.readouts.of(*_OF_ENERGY)).sum())

    def penalty(self) -> float:
        """The penalty per dimension at the last x."""
        width, _, *averages = self.readouts.of("avg_M", "avg_gg")
        return float(self.parameters[1] * self.problem.fraction @ law.penalty(width, *averages))


class _WithStandIn:
    """The equations of a penalised system at the stand-in that it has."""

    def __init__(self, system: PenalisedSystem) -> None:
        self.system = system

    def residual(self, x: Array) -> Array:
        """Residuals of the unknowns; nan where x is not feasible."""
        if not CoupledSystem.fields(self.system, x):
            return np.full(len(x), np.nan)
        return self.system.residual_of_averages()

    def jacobian(self) -> Array:
        """Derivative of the residuals at the last x."""
        return CoupledSystem.jacobian(self.system)

    def scale(self, x: Array) -> Array:
        """Sizes of the unknowns."""
        return CoupledSystem.scale(self.system, x)
