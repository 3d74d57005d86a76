"""The coupled system with another bulk: averages over the output as ever, the equations of a trained or given bulk."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numpy as np

from generated import bulk_resolvent
from generated.runtime.unknowns import DIRECTION, IMAGE, RESIDUAL, TURNED
from generated.systems import given_bulk as given_equations
from generated.systems import trained_bulk as trained_equations
from giantstep.law.given_bulk import given_bulk
from giantstep.law.gradient_step import step_arguments
from giantstep.law.intermediate_steps import is_intermediate
from giantstep.law.moments import ActivationMoments, activation_moments
from giantstep.law.structured_inputs import input_law
from giantstep.law.trained_bulk import BulkLaw, Covariance, trained_law
from giantstep.spec.errors import BadInput
from giantstep.spec.kernels import function_kernel
from giantstep.spec.model import Model
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.discretisation import Level, Resolved
from giantstep.system.problem import Problem

Array = np.ndarray
_VANISHES = 1e-9  # of E sigma'' beside sigma'


def coupled_at(problem: Problem, level: Level, laws: Resolved | None = None) -> CoupledSystem:
    """The coupled system of a problem at one level of quadrature, with the bulk that its model asks for."""
    return (BulkSystem if problem.own_bulk else CoupledSystem)(problem, level, laws)


def bulk_arrays(problem: Problem) -> tuple[ModuleType, dict[str, Array]]:
    """The equations of a problem's bulk, and the arrays over its spectrum that they are about. Raises BadInput."""
    model = problem.model
    if model.bulk == "inputs":
        inputs = input_law(model)
        own = [inputs.bulk_variance.index(term.variance) for term in problem.blocks]
        return trained_equations, {"Sigma": inputs.covariance[own], **inputs.weights}
    if model.bulk == "matrix":
        given = given_bulk(model)
        return given_equations, {name: getattr(given, name) for name in given_equations.GIVEN}
    law, sigma = bulk_of(problem)
    return trained_equations, {"Sigma": sigma, **law.weights}


def bulk_of(problem: Problem) -> tuple[BulkLaw, Array]:
    """The law of the bulk, and its eigenvalues Sigma [K, J] in units of the mean one, of every block.

    Raises BadInput for a model whose bulk is not of this form. Source: THEORY section 5.
    """
    model = problem.model
    of = covariance_of(problem)
    law = trained_law(model.target, initial_output(model), of, problem.spike.alignment, spike_sign(model))
    variances, share = variances_of(problem), shares_of(problem)
    return law, (1.0 + np.multiply.outer(share, law.x)) / variances[:, None]


def covariance_of(problem: Problem) -> Covariance:
    """The covariance whose spectrum the law is of: that of the block that the step changes most. Raises BadInput."""
    model = problem.model
    refuse_other_bulks(model)
    assert model.step is not None
    if is_intermediate(model):  # in the limit, where the step leaves no trace in the bulk
        return Covariance(model.step.samples, 0.0, 0.0)
    return Covariance(model.step.samples, *bulk_resolvent.covariance(*step_parts(model)))


def step_parts(model: Model) -> tuple[float, float, float, float, float]:
    """What the covariance is a function of: rate, samples, the largest readout value, E sigma'' and Var sigma'."""
    of = step_arguments(model)
    linear = of.sigma2 if _stretches(model) else 0.0
    return of.rate, of.samples, max(model.network.readout.values, key=abs), linear, of.variance


def shares_of(problem: Problem) -> Array:
    """What the covariance of each block [K] has of that of the law beyond one: ``Sigma_b = 1 + share_b x``."""
    beyond = np.abs(variances_of(problem) - 1.0)
    largest = float(beyond.max())
    return beyond / largest if largest > 0.0 else np.ones(len(beyond))


def variances_of(problem: Problem) -> Array:
    """Bulk variance of every block [K], the mean of its eigenvalues."""
    return np.array([term.variance for term in problem.blocks])


def initial_output(model: Model) -> float:
    """The mean output of the network before the step."""
    readout = model.network.readout
    ubar = sum(u * f for u, f in zip(readout.values, readout.fractions, strict=True))
    return float(ubar * _moments(model).mean)


def spike_sign(model: Model) -> float:
    """The sign of the spike along the batch's mean of e x."""
    return -1.0 if _moments(model).linear < 0.0 else 1.0


def _moments(model: Model) -> ActivationMoments:
    network = model.network
    breaks = function_kernel(network.activation).BREAKPOINTS
    return activation_moments(network.activation, breaks, network.initial_bias)


def _stretches(model: Model) -> bool:
    """Whether the step multiplies the rows by a matrix: where E sigma'' does not vanish."""
    moments = _moments(model)
    return abs(moments.quadratic) > _VANISHES * math.sqrt(moments.slope_square)


def refuse_other_bulks(model: Model) -> None:
    """Raise BadInput where the rows after the step have no common law that is known."""
    if model.target.indices > 1:
        raise BadInput(
            'step.bulk = "trained" needs a target of one index',
            'use step.bulk = "isotropic" for several indices',
        )
    if not _stretches(model) or len(set(model.network.readout.values)) == 1:
        return
    network = model.network
    raise BadInput(
        f"step.bulk = \"trained\" with several readout values needs an activation with E sigma''(z) = 0, as every odd "
        f"one; it is {_moments(model).quadratic:.3g} for network.activation = {network.activation!r}, "
        f"bias {network.initial_bias:g}",
        'use one readout value, step.bulk = "isotropic", or an odd activation such as tanh, erf or sin without bias',
    )


class BulkSystem(CoupledSystem):
    """Unknowns, conjugates and averages lie in the workspace of the isotropic system, and are shared with it."""

    def __init__(self, problem: Problem, level: Level, laws: Resolved | None = None) -> None:
        super().__init__(problem, level, laws)
        self.own, given = bulk_arrays(problem)
        alpha, beta, ridge, _, inverse_dimension = self.parameters.tolist()
        unknowns = (*self.own.UNKNOWNS, "m")
        hats = {name: name.removeprefix("average_") for name in self.own.INPUTS}
        rows = dict(zip(self.kernel.AVERAGES, self.averages, strict=True))
        self.state: dict[str, Any] = {
            **{name: self.view(name) for name in (*unknowns, "Q2", "V2")},
            **{name: self.view(hat) for name, hat in hats.items()},
            **rows,
            **given,
            "alpha": alpha,
            "beta": beta,
            "ridge": ridge,
            "inverse_dimension": inverse_dimension,
            "fraction": problem.fraction,
            "identity": np.eye(self.blocks),
            "weight": self.table[:, 1],
        }

    @property
    def equations(self) -> ModuleType:
        """The module of the equations, those of the bulk among them."""
        return self.own

    def known(self) -> dict[str, Any]:
        """Copies of all that the equations are about, at the last x."""
        own = {
            name: np.array(values) for name, values in self.state.items() if not name.startswith(("d_", "residual_"))
        }
        return {**super().known(), **own}

    def at_ridge(self, ridge: float) -> CoupledSystem:
        """The same system at another ridge."""
        self.state["ridge"] = ridge
        return super().at_ridge(ridge)

    def residual(self, x: Array) -> Array:
        """Residuals of the unknowns; nan where a response or the variance of the output is not positive."""
        if not np.all(np.isfinite(super().residual(x))):
            return np.full(len(x), np.nan)
        self.own.chain(self.state)
        self.own.residual(self.state)
        for name in self.own.UNKNOWNS:
            self.view(f"residual_{name}")[...] = self.state[f"residual_{name}"]
        residuals: Array = self.work[self.places[RESIDUAL]]
        return residuals

    def jacobian(self) -> Array:
        """Derivative of the residuals at the last x, column by column."""
        known = {**{name: self.view(name) for name in self.room}, **self.state}
        at = self.own.motion.at(self.node, self.problem.fraction, self.parameters, known)
        moves = {f"d_{name}": self.view(f"d_{name}") for name in self.kernel.UNKNOWNS}
        images = {f"d_residual_{name}": self.view(f"d_residual_{name}") for name in self.kernel.UNKNOWNS}
        (direction, image), n = self.places[[DIRECTION, IMAGE]], len(self.first)
        matrix = np.empty((n, n))
        for column in range(n):
            self.work[direction] = self.work[direction + self.places[TURNED]] = np.arange(n) == column
            tangents = at.along(moves)
            for name, values in images.items():
                values[...] = tangents[name]
            matrix[:, column] = self.work[image]
        return matrix

    def certificate(self, x: Array) -> float:
        """Worst relative residual of all equations at x, the bulk's among them, evaluated from the stored unknowns."""
        self.residual(x)
        return float(self.own.check(self.node, self.problem.fraction, self.parameters, self.state))

    def observables(self) -> Array:
        """(test error, training error, free energy) at the last x."""
        out = super().observables()
        self.own.free_energy(self.state)
        out[2] = float(self.state["free_energy"])
        return out
