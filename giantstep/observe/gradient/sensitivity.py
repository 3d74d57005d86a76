"""How a solution moves: dx/dtheta = -(dF/dx)^-1 dF/dtheta, and the errors with it, by the generated tangents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from giantstep.observe.gradient.function_rates import FunctionRates
from giantstep.observe.gradient.linear import solved
from giantstep.observe.gradient.parameter import Rates
from giantstep.observe.gradient.parameter_directions import Direction
from giantstep.spec.errors import BadInput
from giantstep.system.continuous_span import moving_order
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.mean_predicted import mean_error_slopes
from giantstep.system.misclassification import wrong_sign_slopes
from giantstep.system.span import Span
from giantstep.system.state import State

Array = np.ndarray
_STILL = 1e-3  # of the largest relative rate: rounding of the others' is seen in what moves less
_APPEARS = 1e-9  # of the largest rate of a feature: what rounding leaves of a combination that stays zero


class Sensitivity:
    """How the solution in the workspace of a system moves; ``worst``: relative residual of the linear equations.

    of: the sensitivity of the same solution on the nodes it was found on, which knows what others lack, or a part of
    them.
    """

    def __init__(self, system: CoupledSystem, of: Sensitivity | None = None) -> None:
        self.system, self.worst, self.of = system, 0.0, of or self
        self.matrix: Array = system.jacobian().copy() if of is None else of.matrix
        self.known: dict[str, Any] = {**({} if of is None else of.known), **system.known()}
        self.tangents = system.tangents(self.known)

    def along(self, direction: Direction) -> Rates:
        """Derivatives of (test error, training error, free energy) along a direction, the unknowns following."""
        system = self.system
        given = self._given(direction)
        force, _ = self._moved(given, np.zeros(len(system.first)))
        scale = system.scale(system.x)
        rates = -solved(self.matrix, force, scale)
        left, tangents = self._moved(given, rates)
        # what stands still by symmetry is held against the others' rates relative to their size
        least = _STILL * float(np.max(np.abs(rates) / scale)) * scale
        terms = np.abs(self.matrix) @ np.maximum(np.abs(rates), least)
        self.worst = max(self.worst, float(np.max(np.abs(left) / np.maximum(terms, 1e-300))))
        test, train, energy = (float(tangents[f"d_{name}"]) for name in ("test_error", "train_error", "free_energy"))
        energy += system.energy_rate(rates, given["d_beta"], direction.penalty)
        if system.loss.FORM == "margin":
            test = self._wrong_sign(direction, rates)
        elif system.predicts is not None:
            weight = system.table[:, 1]
            slopes = mean_error_slopes(system.predicts, system.plain_output(), system.clean_nodes, weight)
            test = _along_output(system, slopes, tangents)
        return test, train * system.problem.model.fit.loss.entry.error_scale, energy

    def _given(self, direction: Direction) -> dict[str, Any]:
        """Rates of what the equations are given, orthonormal functions in the place of the mean features.

        Raises BadInput where a combination of these that vanishes does not stay zero: the error jumps there.
        """
        system = self.system
        change, span = direction.change(system.problem, system.points()), system.span
        if span is not None and span.nodes is not None:
            if (order := moving_order(system.problem)) is not None:
                raise BadInput(
                    f"E[He_{order}(z) sigma(z)] = 0: what the readout sees of kappa^{order + 2} moves with the spike, "
                    "and a density has no derivative of it",
                    "give a dimension",
                )
            change[0] = 0.0  # all functions of a parity up to some degree, whatever the parameter
        elif span is not None:
            if self.of is self and _appears(system, span, change):
                raise BadInput(
                    "the mean features are linearly dependent here and nowhere near, so that the errors at infinite "
                    "dimension jump and have no derivative",
                    "give a dimension, or move the parameter a little",
                )
            along = FunctionRates(self.of.system, span, direction).along()
            change[0] = FunctionRates(system, span, direction).beside(along).T
        names = ("d_alpha", "d_beta", "d_ridge", "d_mu0", "d_mu1", "d_mu2sq")
        found: dict[str, Any] = dict(zip(names, (*direction.rates, *change), strict=True))
        found["penalty"] = direction.penalty
        if system.problem.norms_vary:
            found["d_mu_c"] = direction.norm_change(system.problem, system.points())
        if (moving := direction.spectrum) is None:
            return found
        return {**found, **{f"d_{name}": rate for name, rate in moving.arrays(system.level.samples).items()}}

    def _moved(self, given: Mapping[str, Any], rates: Array) -> tuple[Array, Mapping[str, Array]]:
        """(tangents of the residuals, all tangents by name) where the unknowns move at given rates."""
        system = self.system
        room = State(system.kernel, system.blocks, 0)
        tangents = self.tangents.along({**given, **system.moves(rates, given["d_beta"], given["penalty"])})
        for name in system.kernel.UNKNOWNS:
            room[name][...] = tangents[f"d_residual_{name}"]
        return system.gathered(room.work), tangents

    def _wrong_sign(self, direction: Direction, rates: Array) -> float:
        """The slope of the test error of a loss of the margin, on panels that resolve the sign of the output."""
        return sum(self._wrong_sign_on(signs, direction, rates) for signs in self.system.where_signs_turn())

    def _wrong_sign_on(self, signs: CoupledSystem, direction: Direction, rates: Array) -> float:
        """The part of this slope at the nodes of kappa of another system."""
        there = self if signs is self.system else Sensitivity(signs, self)
        _, tangents = there._moved(there._given(direction), rates)
        return _along_output(signs, wrong_sign_slopes(signs.output()), tangents)


def _appears(system: CoupledSystem, span: Span, change: Array) -> bool:
    """Whether a combination of the mean features that vanishes moves away from their span at given rates
    [kind, K, N]; within the span it is another one that vanishes (all features being constants, they stay so).
    """
    appearing, size = np.einsum("bw,bn->nw", span.null, change[0]), np.abs(change).max()
    functions = system.table[:, -3 * len(span.basis) : -2 * len(span.basis)]
    inside = np.einsum("n,ni,nw->iw", system.table[:, 1], functions, appearing)
    beside = np.abs(appearing - functions @ inside)
    return bool(np.any(beside > _APPEARS * size * np.abs(span.null).sum(axis=0)))


def _along_output(system: CoupledSystem, of: tuple[Array, Array, Array], tangents: Mapping[str, Array]) -> float:
    """How an average given kappa moves; of: its derivatives in mean, slope and variance of the output."""
    of_mean, of_slope, of_delta = of
    slopes = np.stack([tangents[f"d_{name}"] for name in system.kernel.SLOPES])
    rate = of_mean * tangents["d_mean"] + (of_slope * slopes).sum(axis=0) + of_delta * tangents["d_Delta"]
    return float(system.table[:, 1] @ rate)
