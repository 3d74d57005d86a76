"""The coupled system of a fit with a penalty: in the places of T, Q2 and m the law of the readouts.

The equations know a ridge and fields that stand for the penalty (``derive/penalty.py``). These, and T, Q2 and m of the
readouts, are functions of the width V of the proximal map of the penalty and of variance Delta and mean of its
argument, block by block. In the limit of large dimension the mean of an even penalty vanishes, and m is an unknown as
elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from generated import penalty as law
from generated.runtime.unknowns import DIRECTION
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.level import Level
from giantstep.system.newton import newton
from giantstep.system.problem import Problem
from giantstep.system.readout_law import Proximal, Readouts, held_hint
from giantstep.system.resolved import Resolved
from giantstep.system.state import start_of

Array = np.ndarray
_FEW, _WIDER, _TIMES = 0.1, 2.0, 100  # a share of the readouts to start from, factor of their variance until there
_SAME = 1e-6  # of a share that does not change
_STENCIL, _STEP = {-2: 1.0, -1: -8.0, 1: 8.0, 2: -1.0}, 1e-3  # of a derivative in a parameter, over 12; relative
_ACCURATE = 1e-8  # of averages over readouts
_ANY = 1e-2  # an inverse dimension
_NOTHING = 1e-24  # of the size of an unknown: what Newton's method leaves of one that vanishes by symmetry
_ROUNDS, _NEAR, _CLOSE = 40, 1e-6, 1e-3  # of a fixed point, its Newton steps, and relative changes that end it
_OF_LAW = ("avg_g", "avg_h", "avg_gg")
_OF_ENERGY = ("avg_M", *_OF_LAW)
_OF_SLOPES = (*_OF_ENERGY, "avg_gh", "avg_hx", "avg_ggh", "avg_ghx", "avg_hxx")
T, NORM, READOUT, EXCESS, RANDOM_FIELD, PULL, ENERGY = range(7)  # what follows from the law, as ``law.slopes`` has it


class PenalisedSystem(CoupledSystem):
    """The equations with the stand-in at its own equations, as Newton's method takes them."""

    def __init__(self, problem: Problem, level: Level, laws: Resolved | None = None) -> None:
        penalty, self.limit = problem.model.fit.penalty, problem.parameters.inverse_dimension == 0.0
        assert penalty is not None
        self.finite = not (self.limit and penalty.even)
        if self.limit and self.finite:  # readouts have a mean, which nothing feels: any dimension will do
            problem = problem.with_parameters(inverse_dimension=_ANY)
        super().__init__(problem, level, laws)
        if self.limit and self.finite and np.any(self.feature_table[:, -3 * self.blocks : -2 * self.blocks]):
            raise BadInput(
                f"fit.penalty = {penalty} is not the same for a and -a: readouts have a mean, which features with a "
                "mean feel without bound as the dimension grows",
                "give a dimension, or take a penalty that is even in a",
            )
        self.proximal, nothing, one = Proximal(penalty, self.blocks), np.zeros(self.blocks), np.ones(self.blocks)
        self.readouts = Readouts(one, one, nothing, {})
        start = self.proximal.at(one, self._felt(one, one), nothing)
        self.like_ridge = float(self._stand_in(start)[0].mean())
        names = ("T", "adjoint", "m") if self.finite else ("T", "adjoint")
        self.places = [self._numbers_of(name) for name in names]  # of width, variance and mean among the unknowns

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

    # --- the law of the readouts -------------------------------------------------------------------------------------

    @property
    def _given(self) -> tuple[float, Array]:
        """The width of the network, and the share of the neurons that a block has."""
        return float(self.parameters[1]), self.problem.fraction

    @property
    def _inverse(self) -> float:
        return float(self.problem.parameters.inverse_dimension)

    def _overlap(self, readout: Array | float) -> Array:
        """m by the mean readout; of finite dimension."""
        found: Array = law.overlap(*self._given, self._inverse, readout)
        return found

    def _stand_in(self, readouts: Readouts) -> tuple[Array, Array, Array]:
        found: tuple[Array, Array, Array] = law.stand_in(self._given[0], self._inverse, *readouts.of(*_OF_LAW))
        return found

    def _of_x(self, x: Array) -> tuple[Array, Array, Array]:
        """Width, variance and mean."""
        found = [x[places] for places in self.places]
        return found[0], found[1], found[2] if self.finite else np.zeros(self.blocks)

    def _with_law(self, x: Array, values: tuple[Array, ...]) -> Array:
        """The unknowns with others in the places of width, variance and mean."""
        found = x.copy()
        for places, each in zip(self.places, values, strict=False):
            found[places] = each
        return found

    def _slopes(self) -> Array:
        """Derivatives of all that follows from the law, [7, 3, K], in width, variance and mean."""
        found = law.slopes(*self._given, self._inverse, *self.readouts.of(*_OF_SLOPES))
        return np.array(np.broadcast_arrays(*found)).reshape(7, 3, self.blocks)

    def _energy(self) -> float:
        """What the free energy is beside that of the stand-in."""
        return float(law.energy(*self._given, *self.readouts.of(*_OF_ENERGY)).sum())

    # --- equations ---------------------------------------------------------------------------------------------------

    def fields(self, x: Array) -> bool:
        """Evaluate the law of the readouts, then V, the mean, its slopes and Delta; whether x is feasible."""
        self.x, self.evaluated = x, False
        width, variance, mean = self._of_x(x)
        if not (np.all(width > 0.0) and np.all(variance > 0.0)):
            return False
        self.readouts = found = self.proximal.at(width, variance, mean)
        if not np.all(found.moving > 0.0):
            return False
        response, norm, readout = law.readouts(*self._given, *found.of(*_OF_LAW))
        self.view("excess")[...], self.view("random_field")[...], self.view("pull")[...] = self._stand_in(found)
        overlap = (self._overlap(readout),) if self.finite else ()
        feasible = super().fields(self._with_law(x, (response, norm, *overlap)))
        self.x = x
        return feasible

    def jacobian(self) -> Array:
        """Derivative of the residuals at the last x: T, Q2, m and the stand-in move with the law of the readouts."""
        n, blocks = len(self.first), self.blocks
        members = np.concatenate([self.members, self._members_of_stand_in()], axis=1)
        whole = np.empty((n, n + 3 * blocks))
        self.kernel.jacobian(*self._arguments(), self.work, members, np.eye(n + 3 * blocks), whole)
        stand_in = [np.arange(n + i * blocks, n + (i + 1) * blocks) for i in range(3)]
        moving = dict(zip((EXCESS, RANDOM_FIELD, PULL, T, NORM, READOUT), (*stand_in, *self.places), strict=False))
        slopes, matrix = self._slopes(), whole[:, :n].copy()
        if self.finite:
            slopes[READOUT] *= self._overlap(1.0)
        for field, places in enumerate(self.places):
            matrix[:, places] = sum(whole[:, which] * slopes[name, field] for name, which in moving.items())
        return matrix

    def sizes_of_equations(self, size: Array) -> Array | None:
        """See ``Equations``."""
        return None

    def _members_of_stand_in(self) -> Array:
        """Places of the directions of excess, random_field and pull, as those of unknowns [7, 3 K]."""
        found = np.zeros((len(self.members), 3 * self.blocks), self.members.dtype)
        starts = (start_of(self.kernel, f"d_{name}", self.blocks) for name in ("excess", "random_field", "pull"))
        found[DIRECTION] = np.concatenate([start + np.arange(self.blocks) for start in starts])
        return found

    def scale(self, x: Array) -> Array:
        """Sizes of the unknowns: width and variance are positive, and a mean is held against its spread."""
        width, variance, _ = self._of_x(x)
        return self._with_law(super().scale(x), (np.abs(width), np.abs(variance), np.sqrt(np.abs(variance))))

    def moves_means_by(self) -> Array:
        """See ``CoupledSystem``: m that the law of the readouts tells move with the mean of its argument."""
        if not self.finite:
            return super().moves_means_by()
        found: Array = self._overlap(1.0) * self._slopes()[READOUT, -1]
        return found

    def moves(self, rates: Array, of_beta: float = 0.0, penalty: int | None = None) -> dict[str, Array]:
        """Tangents of the unknowns of the equations and of the stand-in, where the law of the readouts has its own."""
        along, shift = self._law_rates(rates, penalty), of_beta / self._given[0]
        overlap = (self._overlap(1.0) * along[READOUT] + 0.5 * shift * self.view("m"),) if self.finite else ()
        inner = self._with_law(rates, (along[T] + shift * self.view("T"), along[NORM], *overlap))
        pull = along[PULL] + 0.5 * shift * self.view("pull")
        stand_in = {"d_excess": along[EXCESS], "d_random_field": along[RANDOM_FIELD], "d_pull": pull}
        return {**super().moves(inner, of_beta), **stand_in}

    def energy_rate(self, rates: Array, of_beta: float = 0.0, penalty: int | None = None) -> float:
        """Derivative of the free energy beside that of the stand-in."""
        along = float(self._law_rates(rates, penalty)[ENERGY].sum())
        return along + self._energy() * of_beta / self._given[0]

    def _law_rates(self, rates: Array, penalty: int | None) -> Array:
        """Tangents [7, K] of all that follows from the law, at a given width of the network."""
        found: Array = (self._slopes() * np.array(self._of_x(rates))).sum(axis=1)
        return found if penalty is None else found + self._own_rates(penalty)

    def _own_rates(self, penalty: int) -> Array:
        """Derivatives [7, K] of the same in a parameter of the penalty, by differences: 1e-13 of a fifth derivative."""
        rule, step = self.proximal.rule, _STEP * float(self.proximal.rule.parameters[penalty])
        total: Array = np.zeros((7, self.blocks))
        for times, weight in _STENCIL.items():
            moved = rule.parameters.copy()
            moved[penalty] += times * step
            self.proximal.rule = rule._replace(parameters=moved)
            there = self.proximal.at(*self.readouts.of())
            energy = law.energy(*self._given, *there.of(*_OF_ENERGY))
            values = *law.readouts(*self._given, *there.of(*_OF_LAW)), *self._stand_in(there), energy
            total += weight / (12.0 * step) * np.array(np.broadcast_arrays(*values))
        self.proximal.rule = rule
        return total

    def certificate(self, x: Array) -> float:
        """Worst relative residual of all equations at x. Raises NotConverged where averages over readouts are off."""
        found, off = super().certificate(x), self.proximal.inaccuracy(self.readouts)
        if not off <= _ACCURATE:
            raise NotConverged(
                f"the averages of fit.penalty = {self.problem.model.fit.penalty} are known to {off:.0e} only",
                self.hint() or "its slope turns too sharply: take a kink in the place of such a turn",
            )
        return found

    def missed(self, x: Array) -> float:
        """The same of the equations themselves. Of an overlap that vanishes, they are all rounding."""
        return super().missed(np.where(np.abs(x) <= _NOTHING * self.scale(x), 0.0, x))

    # --- what is told, and where to start ----------------------------------------------------------------------------

    def order_parameters(self) -> dict[str, Array]:
        """The order parameters at the last x, with the law of the readouts."""
        names = ("prox_width", "prox_variance", "prox_mean")
        found = super().order_parameters() | dict(zip(names, self.readouts.of(), strict=True))
        return found | ({"m": np.zeros(self.blocks)} if self.limit and self.finite else {})

    def averaged(self) -> Array:
        """The observables, the free energy that of the penalty."""
        out = super().averaged()
        out[2] += self._energy()
        return out

    def penalty(self) -> float:
        """The penalty per dimension at the last x."""
        width, _, _, *averages = self.readouts.of("avg_M", "avg_gg")
        beta, share = self._given
        return float(beta * share @ law.penalty(width, *averages))

    def hint(self) -> str:
        """Whether the penalty holds nearly all readouts, which leaves no digits of the others."""
        return held_hint(self.readouts)

    def unknowns(self, order: Mapping[str, Array]) -> Array:
        """The vector of unknowns; where the order parameters lack the law of the readouts, as without a penalty."""
        found = super().unknowns(order)
        if "prox_width" not in order:
            return self.of_linear_readouts(found)
        return self._with_law(found, (order["prox_width"], order["prox_variance"], order["prox_mean"]))

    def of_linear_readouts(self, x: Array) -> Array:
        """The unknowns from those of a fit without a penalty: the same width, and a variance that readouts feel."""
        beta, share = self._given
        response, norm, *overlap = (x[places] for places in self.places)
        width, mean = response / (beta * share), [m / self._overlap(1.0) for m in overlap]
        return self._with_law(x, (width, self._felt(width, norm / share), *mean))

    def _felt(self, width: Array, variance: Array) -> Array:
        """Variances [K] at which a fair share of the readouts moves, where a kink holds nearly all at those given."""
        given, before = variance, np.full(self.blocks, np.nan)
        for _ in range(_TIMES):
            moving = self.proximal.at(width, variance, np.zeros(self.blocks)).moving
            held = moving < _FEW
            if not np.any(held):
                return variance
            # a curvature holds them, whatever their spread
            if np.all((moving > 0.0) & (np.abs(moving - before) <= _SAME * moving)):
                return given
            before, variance = moving, np.where(held, _WIDER * variance, variance)
        return given

    def approached(self, x: Array) -> Array | None:
        """Rounds of solving the equations of a stand-in and taking that of the law found, as cavity iterations do; None
        where they do not settle.
        """
        found = x.copy()
        if not self.fields(found):
            return None
        for _ in range(_ROUNDS):
            inner = newton(_WithStandIn(self), self.work[self.first], settled=_NEAR)
            if not inner.converged:
                return None
            implied = self._implied(inner.x)
            if implied is None:
                return None
            before, found = found, self._with_law(inner.x, implied)
            if not self.fields(found):
                return None
            sizes, places = self.scale(found), np.concatenate(self.places)
            if np.max(np.abs(found - before)[places] / sizes[places]) < _CLOSE:
                return found
        return None

    def _implied(self, inner: Array) -> tuple[Array, ...] | None:
        """Width, variance and mean that T, Q2 and m of a solution with the stand-in tell; None where rounding takes
        all that is beside the stand-in.
        """
        (beta, share), (response, norm, *overlap) = self._given, (inner[places] for places in self.places)
        linear = response / (beta * share)
        left = 1.0 - self.view("excess") * linear
        if not np.all(left > 0.0):
            return None
        width = linear / left
        readout = overlap[0] / self._overlap(1.0) if self.finite else np.zeros(self.blocks)
        variance = ((norm / share - readout**2) / linear**2 - self.view("random_field")) * width**2
        if not self.finite:
            return width, variance
        push = readout / linear + self.view("pull") / np.sqrt(beta * self._inverse)
        return width, variance, push * width


class _WithStandIn:
    """The equations of a penalised system at the stand-in that it has."""

    again = 0.0

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

    def matrix_of_step(self) -> Array:
        """All of it."""
        return self.jacobian()

    def sizes_of_equations(self, size: Array) -> Array | None:
        """None: few unknowns."""
        return None

    def along(self, directions: Array) -> Array:
        """What the residuals do along directions."""
        return CoupledSystem.along(self.system, directions)

    def scale(self, x: Array) -> Array:
        """Sizes of the unknowns."""
        return CoupledSystem.scale(self.system, x)
