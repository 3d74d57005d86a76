"""The coupled system of any convex loss at one resolution: tables, kernels, residual and Jacobian."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from generated.runtime.newton import sizes
from generated.runtime.nodes import Fields
from generated.runtime.steps import NONE, RAISED, raise_variances
from generated.runtime.unknowns import FAMILY, RESIDUAL
from giantstep.law.kinds_of_labels import Intervals, Points
from giantstep.law.label_cells import LabelLaw
from giantstep.law.label_lines import Lines
from giantstep.law.structured_inputs import norms_of_isotropic_rows
from giantstep.quadrature.tensor import coordinates
from giantstep.system.at_level import at_level
from giantstep.system.directions import in_units, unit_vectors
from giantstep.system.equations import Tangents
from giantstep.system.judged_signs import JudgedSigns
from giantstep.system.label_strips import OuterPanels
from giantstep.system.level import Level
from giantstep.system.problem import Problem
from giantstep.system.resolved import Resolved
from giantstep.system.sample_weights import weighted
from giantstep.system.sign_panels import PLAIN, Output, Signs
from giantstep.system.state import State, overlaps_of
from giantstep.system.vanishing_outputs import Ends, continued, ends_of, told_along_several

Array = np.ndarray
_ROUNDING, _LEAST = 1e-15, 1e-290
_TOGETHER, _LABELS = 500, 5_000_000  # nodes of kappa at a time, and of the label at all of them


class CoupledSystem(JudgedSigns):
    """The equations of one problem at one level of quadrature, as Newton's method takes them.

    At infinite dimension the table holds orthonormal functions in the place of the mean features, and the workspace
    their coordinates in the place of m; those that no function goes with are no unknowns.
    """

    again = 0.0  # see ``newton``: a Jacobian costs little beside averages over the output
    of_samples = False  # whether the bulk follows from the law of a sample of a step

    def __init__(self, problem: Problem, level: Level, laws: Resolved | None = None) -> None:
        self.problem, self.level = problem, level
        self.at = at = at_level(problem, level, laws)
        self.feature_table = at.laws.table  # with the mean features themselves
        self.table, self.node, self.sizes = at.columns.table, at.node, at.columns.sizes
        self.kappa = at.columns.kappa  # of several coordinates that along the alignment
        self.blocks, nodes = len(problem.fraction), len(self.table)
        self.loss, self.predicts = at.loss, problem.model.fit.loss.predicts
        self.kernel, self.span, self.rule = at.kernel, at.span, at.rule
        self.indices = problem.model.target.indices
        self.noise, self.constants = at.rule.noise, at.rule.parameters
        self.room = State(self.kernel, self.blocks, nodes)
        self.work = self.room.work
        if problem.norms_vary:
            self.view("chi")[...] = norms_of_isotropic_rows(problem.model.network)
        self.members, self.diagonal, self.first, self.second = at.members, at.diagonal, at.first, at.second
        self.parameters = problem.parameters.array()
        self.averages = self.room.rows(self.kernel.AVERAGES)
        self.slopes = self.room.rows(self.kernel.SLOPES)
        # Delta as it is, and the terms that V and Delta are differences of, without their signs
        self.variance, self.terms = np.empty(nodes), np.empty((2, nodes))
        self.raised = False  # whether some V or Delta was, at the last x
        self.x, self.evaluated = np.empty(0), False  # the last unknowns, and whether averages are of them
        self.known_averages: tuple[Array, Array] | None = None  # unknowns, and what choosing nodes at them has told
        self.outer: OuterPanels | None = None  # where these are
        self.certified: tuple[Array, float] | None = None  # the last unknowns that were, and their residual
        self.told: Output | None = None  # the law of the output at the last x, once asked for
        self.whole = True  # not a part of the nodes of another
        self.ends: Ends = {}  # where its outputs vanish, at the last x
        self.signs: Signs | None = None  # where those of the output were judged, of one direction of kappa
        self.signs_near: Signs | None = None  # the same of a similar model

    @property
    def labels(self) -> LabelLaw:
        """The law of the label as the loss takes it."""
        return self.at.laws.labels

    @property
    def clean(self) -> LabelLaw:
        """The law of the clean label."""
        return self.at.laws.clean

    @cached_property
    def scratch(self) -> Array:
        """Room for the nodes of an average, once it is needed."""
        return np.empty(self.loss.SCRATCH_SHAPE)

    def at_ridge(self, ridge: float) -> CoupledSystem:
        """The same system at another ridge."""
        self.parameters, self.certified = self.problem.parameters._replace(ridge=ridge).array(), None
        self.evaluated = False
        return self

    def easier(self) -> Callable[[float], CoupledSystem] | None:
        """Systems that lead from an easier one, near 0, to this one, at 1; None where there are none."""
        return None

    def takes(self, other: CoupledSystem) -> None:
        """What has been found within the equations of another system near this one, to start from."""

    def view(self, name: str) -> Array:
        """A family or a function of kappa in the workspace."""
        return self.room[name]

    def residual(self, x: Array) -> Array:
        """Residuals of the unknowns; nan where a response or the variance of the output is not positive."""
        if not self.fields(x):
            return np.full(len(x), np.nan)
        return self.residual_of_averages()

    def evaluate(self, x: Array) -> None:
        """All that the equations are about at x, where it is not known."""
        if not (self.evaluated and np.array_equal(self.x, x)):
            self.residual(x)

    def knows(self, x: Array, averages: Array, outer: OuterPanels | None) -> None:
        """Averages [average, node] at unknowns, which need not be taken again but where samples have weights, and the
        panels on which nodes of the label are.
        """
        self.outer = outer
        if self.problem.weights is None:
            self.known_averages = x.copy(), averages

    def average(self) -> None:
        """Take the averages over the output and the label where the fields are known."""
        if self.known_averages is not None and np.array_equal(self.x, self.known_averages[0]):
            self.averages[...] = self.known_averages[1]
            return
        average, given = self.averaging
        average(*given)

    def residual_of_averages(self) -> Array:
        """Residuals of the unknowns where the fields are known."""
        self.average()
        self.kernel.residual(*self._arguments())
        self.evaluated = True
        return np.asarray(self.work[self.members[RESIDUAL]])

    def fields(self, x: Array) -> bool:
        """Evaluate V, the mean, its slopes and Delta; whether x is feasible."""
        self.x, self.told, self.evaluated = x, None, False
        self.work[self.first] = x
        self.work[self.second] = x
        self.kernel.fields(*self._arguments())
        room = self.room.vector, self.room.matrix, self.room.field
        weight, blur, floor = self.node[1], self.problem.blur, self.problem.floor
        law = raise_variances(room, self.at.variance_rows, self.sizes, weight, blur, floor, self.variance, self.terms)
        self.raised = law == RAISED
        return bool(law != NONE)

    def jacobian(self) -> Array:
        """Derivative of the residuals at the last x."""
        return self.along(unit_vectors(len(self.first)))

    def along(self, directions: Array) -> Array:
        """What the residuals do along directions [n, k] at the last x, [n, k]."""
        found = np.empty_like(directions)
        self.kernel.jacobian(*self._arguments(), self.work, self.members, directions, found)
        return found

    def sizes_of_equations(self, size: Array) -> Array | None:
        """See ``Equations``: those of Q2 and m are not solved for them, and come with what multiplies these."""
        alpha, beta, _, _, inverse_dimension = self.parameters.tolist()
        response, mu0 = self.view("T"), self.table[:, -3 * self.blocks :][:, : self.blocks]
        weight = self.table[:, 1] * self.view("avg_h")
        mean = alpha * (weight[:, None] * mu0**2).sum(axis=0) + beta * inverse_dimension / response
        factors = {"adjoint": beta * self.problem.fraction / response**2, "m": mean}
        return in_units(size, self.members[FAMILY], self.kernel.UNKNOWNS, factors)

    def scale(self, x: Array) -> Array:
        """Sizes of the unknowns: of an overlap that may vanish, the root of the norm of its block."""
        found = np.empty(len(x))
        sizes(x, self.work, self.diagonal, found)
        return found

    def unknowns(self, order: Mapping[str, Array]) -> Array:
        """The vector of unknowns from order parameters: T = beta V2, and the adjoint is Q2.

        The coordinates in the span of mean features are taken where they are told: m that cancel lose them.
        """
        values = {
            "adjoint": order["Q2"],
            "m": order["m"] if self.span is None else self.span.told(order),
            "Q1": order["Q1"],
            "V1": order["V1"],
            "T": self.problem.parameters.width * order["V2"],
        }
        for name, parts in overlaps_of(self.kernel).items():
            values |= dict(zip(parts, order[name].T, strict=True))
        if self.problem.norms_vary:
            values["norm"] = order.get("norm", np.zeros(self.blocks))
        for name in self.kernel.UNKNOWNS:
            self.view(name)[...] = values[name]
        return self.gathered(self.work)

    def gathered(self, work: Array) -> Array:
        """The unknowns of an array like the workspace; of one of residuals by these names, the residuals."""
        found: Array = work[self.first]
        return found

    def order_parameters(self) -> dict[str, Array]:
        """The order parameters at the last x, those of ``unknowns``, with the axes of a ``Solution``."""
        order = {name: self.view(name).copy() for name in ("m", "Q1", "Q2", "V1", "V2")}
        if self.span is not None:
            order |= self.span.spanned(order["m"])
            order["m"] = self.span.outward(order["m"], order["V2"])
        if self.problem.norms_vary:
            order["norm"] = self.view("norm").copy()
        for name, parts in overlaps_of(self.kernel).items():
            order[name] = np.array([self.view(part) for part in parts]).T.copy()
        return order

    def place(self, node: int) -> float | tuple[float, ...]:
        """kappa at a node as far as the label knows it: a number, or a tuple for several directions and indices."""
        if self.problem.rank == 1 or self.indices == 1:
            return float(self.kappa[node])
        return tuple(float(x) for x in self.points()[node])

    def points(self) -> Array:
        """kappa at the nodes, [N] or [N, q]."""
        return self.kappa if self.problem.rank == 1 else coordinates(self.table, self.indices, self.problem.rank)

    def signal(self) -> float:
        """E y^2 of the clean label and its noise."""
        return self.at.columns.square_of_label(self.indices) + float(self.problem.parameters.noise)

    def tangents(self, known: Mapping[str, Any]) -> Tangents:
        """The tangents of the equations where they are solved by what is known."""
        found: Tangents = self.equations.tangents.at(self.node, self.problem.fraction, self.parameters, known)
        return found

    def moves_means_by(self) -> Array:
        """What m [K] move by with the unknowns in their places, at the last x."""
        return np.ones(self.blocks)

    def moves(self, rates: Array, of_beta: float = 0.0, penalty: int | None = None) -> dict[str, Array]:
        """Tangents of the unknowns by name, by rates of ``x`` and of_beta, of the width."""
        room = State(self.kernel, self.blocks, 0)
        room.work[self.first], room.work[self.second] = rates, rates
        return {f"d_{name}": room[name] for name in self.kernel.UNKNOWNS}

    def known(self) -> dict[str, Any]:
        """Copies of all that the equations are about, at the last x."""
        return {name: self.view(name).copy() for name in self.room if not name.startswith(("d_", "residual_"))}

    def certificate(self, x: Array) -> float:
        """Worst relative residual of all equations at x, evaluated apart from the solver's own code; remembered."""
        if self.certified is None or self.certified[0] is not x:
            self.certified = x, self.missed(x)
        return self.certified[1]

    def missed(self, x: Array) -> float:
        """The same, evaluated."""
        self.evaluate(x)
        check = self.at.certificate.check
        return float(check(self.problem.fraction, self.parameters[None], self.room.numbers()[None])[0])

    def observables(self) -> Array:
        """(test error, training error, free energy) at the last x, on the nodes of the table."""
        out = self.averaged()
        out[0] = self._judged(out[0], PLAIN)
        return out

    def averaged(self) -> Array:
        """The same, but the squared error for the test error of every loss."""
        out = np.zeros(3)
        self.kernel.observables(*self._arguments(), out)
        out[1] *= self.problem.model.fit.loss.entry.error_scale
        return out

    def output(self) -> Output:
        """The law of the output and of the clean label given kappa, at the nodes and the last x; remembered."""
        if self.told is None:
            plain = self.plain_output(self.told_variance())
            if self.whole and self.problem.rank == 1:
                self.ends = ends_of(plain)
            several = self.problem.rank > 1
            self.told = told_along_several(plain, self.table[:, 1]) if several else continued(plain, self.ends)
        return self.told

    def plain_output(self, variance: Array | None = None) -> Output:
        """The same, as the equations have it, or with another variance."""
        assert isinstance(
            self.clean, Intervals | Points | Lines
        )  # others are of losses of the residual, told by moments
        given = self.view("Delta") if variance is None else variance
        return Output(self.kappa, self.view("mean"), self.slopes, given, self.clean)

    def told_variance(self) -> Array:
        """Delta as far as rounding tells it: a sign depends on its ratio to the mean, however small both are."""
        return np.asarray(np.maximum(self.variance, _ROUNDING * self.terms[1] + _LEAST))

    def squared_error(self) -> float:
        """That of the output at the last x."""
        return float(CoupledSystem.averaged(self)[0])

    def calls(self) -> Sequence[tuple[Callable[..., object], Sequence[object]]]:
        """The kernels of a Newton step and of the observables with their arguments, in the order of their use."""
        kernel, given, n = self.kernel, self._arguments(), len(self.first)
        return [
            (kernel.fields, given),
            self.averaging,
            (kernel.residual, given),
            (kernel.jacobian, (*given, self.work, self.members, np.eye(n), np.empty((n, n)))),
            (kernel.observables, (*given, np.zeros(3))),
        ]

    @cached_property
    def averaging(self) -> tuple[Callable[..., object], Sequence[object]]:
        """The kernel that averages over the output, with its arguments."""
        fields = Fields(self.view("V"), self.view("mean"), self.slopes, self.view("Delta"))
        kernel, labels = self.at.labels
        average = kernel, (self.rule, labels, fields, self.scratch, self.averages)
        weights = self.problem.weights
        return average if weights is None else weighted(average, self.kernel.AVERAGES, weights)

    def _arguments(self) -> tuple[Array, ...]:
        room = self.room
        return self.node, self.problem.fraction, self.parameters, room.vector, room.matrix, room.field
