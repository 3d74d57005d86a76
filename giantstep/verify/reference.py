"""The reported solution put into the derived equations: every average taken again, every equation interpreted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from derive.blocks import Definition
from derive.directions import directions_of
from derive.saddle import SaddleSystem
from giantstep.law.derivation import coupled_system_of
from giantstep.law.kind import bulk_kind
from giantstep.system.bulk_system import BulkSystem, bulk_arrays
from giantstep.system.coupled_solver import FINE, order_of
from giantstep.system.problem import Problem, problem_of
from giantstep.system.result import Result
from giantstep.system.system_of_problem import coupled_at
from giantstep.verify.conditional_law import LabelLaw, features_of, norm_feature
from giantstep.verify.equations import long, residuals
from giantstep.verify.interpreter import Interpreter, NotEvaluable, Point
from giantstep.verify.output_averages import loss_averages, test_errors
from giantstep.verify.output_law import Output
from giantstep.verify.quadrature import Nodes, density, grid_nodes, settled_nodes

Array = np.ndarray
_GRID = {1: 0.2, 2: 0.3, 3: 0.5}  # steps of the rule where there are several directions or indices
_TOLERANCE = 1e-9
_EPS, _HIDDEN = 2.2e-16, 1e-7  # rounding of the output beside its size from which on its averages tell nothing
_ABOVE_ROUNDING = 40.0  # panels are halved no further than rounding lets averages agree
_WIDTHS, _SETTLED = (2.0, 1.0, 0.5, 0.25, 0.125, 0.0625), 1e-10
_SAMPLE = np.array([-3.1, -1.3, -0.2, 0.4, 0.9, 2.2, 4.0])
_AVERAGES = ("avg_l", "avg_M", "avg_g", "avg_gg", "avg_h")
_TOGETHER = 2000  # nodes of kappa
_ZEROS = np.linspace(-8.0, 8.0, 1601)
_AROUND = np.array([-100.0, -30.0, -10.0, -3.0, -1.0, 0.0, 1.0, 3.0, 10.0, 30.0, 100.0])


@dataclass(frozen=True)
class Reference:
    """A solution with averages of its own.

    nodes: of kappa, on which they have settled. Raises NotEvaluable where a law is outside of the quadrature.
    """

    result: Result
    problem: Problem
    order: Mapping[str, Array]

    @property
    def rank(self) -> int:
        return self.problem.rank

    @cached_property
    def law(self) -> LabelLaw:
        """The law of the label given kappa."""
        target = self.result.model.target
        return LabelLaw(target.link, np.array(self.problem.overlaps), target.probit, target.flips)

    @cached_property
    def system(self) -> SaddleSystem:
        """The derived equations of any convex loss."""
        model = self.result.model
        return coupled_system_of(model.target.indices, self.rank, bulk_kind(model))

    def features(self, kappa: Array) -> Array:
        """mu0, mu1, mu2^2 of every block, [3, K, N]."""
        terms = enumerate(self.problem.blocks)
        along = kappa if kappa.ndim == 1 else kappa[:, 0]
        found = [features_of(term, self.problem.shift(b, kappa), along) for b, term in terms]
        return np.stack(found, axis=1)

    def of_norms(self, kappa: Array) -> Array:
        """mu_c of every block, [K, N]: what their means change by with the norms of the rows."""
        return np.array(
            [norm_feature(term, self.problem.shift(b, kappa)) for b, term in enumerate(self.problem.blocks)]
        )

    def output(self, kappa: Array, features: Array) -> Output:
        """The law of the output given kappa."""
        order, (mu0, mu1, mu2sq) = self.order, features
        along = kappa.reshape(len(kappa), -1) @ order["zeta"].T  # [N, K]
        # in long doubles: large m of nearly equal features cancel
        mean = np.asarray(np.einsum("bn,b->n", mu0, long(order["m"])) + np.einsum("bn,nb->n", mu1, along), float)
        if self.problem.norms_vary:
            mean = mean + order["norm"] @ self.of_norms(kappa)
        slopes = np.einsum("bn,bm->mn", mu1, order["psi"])
        variance = np.einsum("bn,cn,bc->n", mu1, mu1, order["Q1"]) + np.einsum("bn,b->n", mu2sq, order["Q2"])
        variance = np.maximum(variance - (slopes**2).sum(axis=0), 1e-300)
        response = np.einsum("bn,cn,bc->n", mu1, mu1, order["V1"]) + np.einsum("bn,b->n", mu2sq, order["V2"])
        return Output(mean, slopes, variance, np.maximum(response, 1e-300))  # 0 by underflow far out

    def at(self, kappa: Array) -> Array:
        """Everything that is averaged over kappa, [F, N].

        Test error and averages over the output, then products of them with the features as they enter the equations.
        """
        features = self.features(kappa)
        output, loss = self.output(kappa, features), self.result.model.fit.loss
        mu0, mu1, mu2sq = features
        found = loss_averages(self.law, loss, self._noise, kappa, output, self.width)
        test = test_errors(self.law, loss.form, kappa, output, self.width)
        g, h, gg = found["avg_g"], found["avg_h"], found["avg_gg"]
        rows = [test, *(found[name] for name in _AVERAGES), *found["avg_tg"], *mu0, *mu1, *mu2sq]
        along = kappa.reshape(len(kappa), -1).T
        rows += [*(mu0 * g), *(row for k in along for row in mu1 * k * g)]
        rows += [row for t in found["avg_tg"] for row in mu1 * t]
        rows += [*(mu1**2 * h), *(mu2sq * h), *(mu1**2 * gg), *(mu2sq * gg)]
        if self.problem.norms_vary:
            rows += [*(self.of_norms(kappa) * g)]
        return np.array(rows)

    @property
    def _noise(self) -> float:
        return self.result.model.target.noise

    @cached_property
    def width(self) -> float:
        """The widest panels of label and output whose averages have settled at a few kappa. Raises NotEvaluable."""
        kappa = np.zeros((len(_SAMPLE), self.rank)) + _SAMPLE[:, None] * np.linspace(1.0, -0.5, self.rank)
        kappa = kappa[:, 0] if self.rank == 1 else kappa
        output, model = self.output(kappa, self.features(kappa)), self.result.model
        before: Array | None = None
        for width in _WIDTHS:
            found = loss_averages(self.law, model.fit.loss, self._noise, kappa, output, width)
            test = test_errors(self.law, model.fit.loss.form, kappa, output, width)
            after = np.array([test, *(found[name] for name in _AVERAGES), *found["avg_tg"]])
            if before is not None and np.all(
                np.abs(after - before) @ density(_SAMPLE) <= _SETTLED * (np.abs(after) @ density(_SAMPLE) + 1e-300)
            ):
                return 2.0 * width
            before = after
        raise NotEvaluable("averages over label and output do not settle")

    @cached_property
    def nodes(self) -> Nodes:
        """Nodes of kappa chosen from the solution."""
        if self.rank > 1 or self.result.model.target.indices > 1:
            return grid_nodes(self.at, self.rank, _GRID[self.rank])
        rounding = self._rounding()
        if rounding > _HIDDEN:
            raise NotEvaluable(f"m of features that hardly differ cancel, and rounding of them makes {rounding:.0e}")
        return settled_nodes(self.at, self._cuts(), max(_TOLERANCE, _ABOVE_ROUNDING * rounding))

    def _rounding(self) -> float:
        """What the rounding of m mu0, which may cancel, makes of the output, relative to its size."""
        features = self.features(_ZEROS)
        output, weight = self.output(_ZEROS, features), density(_ZEROS)
        terms = _EPS * np.einsum("bn,b->n", np.abs(features[0]), np.abs(np.asarray(self.order["m"], float)))
        size = output.mean**2 + output.variance + (output.slopes**2).sum(axis=0)
        return float(np.sqrt((weight @ terms**2) / (weight @ size)))

    def _cuts(self) -> list[float]:
        """Where the mean output changes sign, and about it, as far as its spread is smaller than a panel."""
        output = self.output(_ZEROS, self.features(_ZEROS))
        turn = np.flatnonzero(np.diff(np.sign(output.mean)) != 0)
        cuts: list[float] = [0.0]
        for i in turn:
            left, right = output.mean[i : i + 2]
            slope = (right - left) / (_ZEROS[i + 1] - _ZEROS[i])
            place = _ZEROS[i] - left / slope if slope else _ZEROS[i]
            spread = float(np.sqrt(output.variance[i] + (output.slopes[:, i] ** 2).sum()))
            if spread < abs(slope):  # a wider turn is resolved by any panel, and may be one of rounding
                cuts += list(place + spread / abs(slope) * _AROUND)
        return cuts

    @cached_property
    def point(self) -> Point:
        """Everything that the equations are made of, in long doubles."""
        kappa, values = self.nodes.kappa, self.nodes.values
        m, blocks = self.law.overlaps.shape[1], len(self.problem.blocks)
        names = (*_AVERAGES, *(f"avg_{t}g" for t in directions_of("t", m)))
        columns = dict(zip(names, values[1:], strict=False))
        start = 1 + len(names)
        for number, name in enumerate(("mu0", "mu1", "mu2sq")):
            columns[name] = values[start + number * blocks : start + (number + 1) * blocks]
        if self.problem.norms_vary:
            columns["mu_c"] = self.of_norms(kappa)
        columns |= dict(zip(directions_of("kappa", self.rank), kappa.reshape(len(kappa), -1).T, strict=True))
        families = self._families()
        known = {e.unknown for e in self.system.equations if e.unknown in families}
        definitions = {d.name: d for d in self.system.fields} | {
            e.unknown: Definition(e.unknown, e.indices, e.body)
            for e in self.system.equations
            if e.kind == "explicit" and e.unknown not in known
        }
        alpha, beta, ridge, noise, inverse = self.problem.parameters
        return Point(
            len(self.problem.blocks),
            {
                "alpha": long(alpha),
                "beta": long(beta),
                "ridge": long(ridge),
                "noise": long(noise),
                "inverse_dimension": long(inverse),
            },
            families,
            {name: long(values) for name, values in columns.items()},
            long(self.nodes.weight),
            definitions,
            {inverse.name: inverse for inverse in self.system.inverses},
        )

    def _families(self) -> dict[str, Array]:
        order, beta = self.order, self.problem.parameters.width
        found = {name: long(order[name]) for name in ("m", "Q1", "Q2", "V1", "V2")}
        for name in ("psi", "zeta"):
            found |= dict(zip(directions_of(name, order[name].shape[1]), long(order[name].T), strict=True))
        found |= {"T": long(beta) * found["V2"], "adjoint": found["Q2"]}
        if self.problem.norms_vary:
            found["norm"] = long(order["norm"])
        found["fraction"] = long(self.problem.fraction)
        if bulk_kind(self.problem.model) != "isotropic":
            found |= {name: long(values) for name, values in self._of_bulk().items()}
        return found

    def _of_bulk(self) -> Mapping[str, Array]:
        """What the equations of the bulk are given, and what follows from unknowns that are not told."""
        system = coupled_at(self.problem, FINE[-1])
        if not isinstance(system, BulkSystem):  # isotropic rows of unequal norms
            return bulk_arrays(self.problem, FINE[-1].output)
        system.residual(system.unknowns(self.order))
        return {**system.given, **{name: system.numbers[name] for name in system.equations.INNER}}

    def residuals(self) -> dict[str, float]:
        """What the two sides of every equation differ by, relative to the terms it is made of."""
        return residuals(self.system, self.point)

    def at_order(self, point: Point) -> Point:
        """The averages over the output anew where the point has other order parameters."""
        families, (m, q) = point.families, self.law.overlaps.shape[::-1]
        order = {name: np.asarray(families[name], float) for name in ("Q1", "Q2", "V1", "V2")} | {"m": families["m"]}
        for name, count in (("psi", m), ("zeta", q)):
            order[name] = np.stack([np.asarray(families[n], float) for n in directions_of(name, count)], axis=-1)
        order |= {"norm": np.asarray(families["norm"], float)} if self.problem.norms_vary else {}
        moved = replace(self, order=order)
        kappa, loss = self.nodes.kappa, self.result.model.fit.loss
        features = np.array([np.asarray(self.point.columns[name], float) for name in ("mu0", "mu1", "mu2sq")])
        output = moved.output(kappa, features)
        rows = [slice(i, i + _TOGETHER) for i in range(0, len(kappa), _TOGETHER)]
        parts = [loss_averages(self.law, loss, self._noise, kappa[r], output.at(r), self.width) for r in rows]
        found = {name: np.concatenate([part[name] for part in parts], axis=-1) for name in parts[0]}
        columns = {name: long(found[name]) for name in _AVERAGES}
        columns |= {f"avg_{t}g": long(row) for t, row in zip(directions_of("t", m), found["avg_tg"], strict=True)}
        return replace(point, columns={**point.columns, **columns})

    def share_of_output(self, m: Array) -> float:
        """By how much m is to be multiplied for what it adds to the mean output to be no larger than the output is."""
        features = np.array([np.asarray(self.point.columns[name], float) for name in ("mu0", "mu1", "mu2sq")])
        output, weight = self.output(self.nodes.kappa, features), self.nodes.weight
        size = weight @ (output.mean**2 + output.variance + (output.slopes**2).sum(axis=0))
        added = weight @ np.einsum("bn,b->n", features[0], np.asarray(m, float)) ** 2
        return float(np.sqrt(size / added)) if added > size else 1.0

    def observables(self) -> dict[str, float]:
        """Test error, training error and free energy."""
        interpreter, model = Interpreter(self.point), self.result.model
        test = float(self.nodes.values[0] @ self.nodes.weight)
        train = float(np.real(interpreter.value(self.system.train_error))) * model.fit.loss.entry.error_scale
        return {
            "test_error": test,
            "train_error": train,
            "free_energy": float(np.real(interpreter.value(self.system.free_energy))),
        }


def reference(result: Result) -> Reference:
    """A result as the reference sees it, along the directions that kappa has."""
    problem = problem_of(result.vocabulary, result.dimension, result.bias, intermediate=True)
    return Reference(result, problem, order_of(problem, result))
