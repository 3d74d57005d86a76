"""The reported solution put into the derived equations: every average taken again, every equation interpreted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from derive.blocks import Definition
from derive.directions import directions_of
from derive.saddle import SaddleSystem
from giantstep.law.derivation import coupled_system_of
from giantstep.law.kind import bulk_kind
from giantstep.system.bulk_system import BulkSystem
from giantstep.system.problem import problem_of
from giantstep.system.resolution import FINE
from giantstep.system.result import Result
from giantstep.system.system_of_problem import coupled_at
from giantstep.verify.conditional_law import LabelLaw, square_of_label
from giantstep.verify.equations import long, residuals
from giantstep.verify.first_layer import FirstLayer, first_layer
from giantstep.verify.giant_step import turns_of_label
from giantstep.verify.interpreter import HELD, Interpreter, NotEvaluable, Point
from giantstep.verify.output_averages import averages_are_drawn, loss_averages, test_errors
from giantstep.verify.output_law import AROUND, Output, turns_of_mean
from giantstep.verify.plane_nodes import OutOfReach, plane_nodes
from giantstep.verify.quadrature import REACH, Nodes, density, drawn_nodes, grid_nodes, settled_nodes, stretched_nodes
from giantstep.verify.readout_law import ReadoutLaw, at_a_dimension, readout_law
from giantstep.verify.stated_directions import (
    along_the_bulk,
    completed_as_stated,
    mean_as_stated,
    order_parameters,
    rounding_of_means,
    turned_as_stated,
    without_rounding,
)

Array = np.ndarray
_STEPS = 0.5, 0.0625  # of the rule where there are several indices, and one direction
_GRIDS = {2: (0.3, 0.15), 3: (0.5, 0.35)}  # where there are several directions
_DRAWN = {1: (0.4, 0.2), 2: (0.6, 0.4), 3: (1.0, 0.7)}  # the same where averages are drawn
_WIDE, _FAST = 0.5, 0.25  # turns of the label that equal steps resolve; that nodes may step over, of their distance
_TOLERANCE = 1e-9
_EPS, _HIDDEN = 2.2e-16, 1e-7  # rounding of the output beside its size from which on its averages tell nothing
_ABOVE_ROUNDING = 40.0  # panels are halved no further than rounding lets averages agree
_WIDTHS, _SETTLED = (2.0, 1.0, 0.5, 0.25, 0.125, 0.0625), 1e-10
_SAMPLE = np.array([-3.1, -1.3, -0.2, 0.4, 0.9, 2.2, 4.0])
AVERAGES = ("avg_l", "avg_M", "avg_g", "avg_gg", "avg_h")
_TOGETHER = 2000  # nodes of kappa
_HARDLY = 1e-16  # a square beside others that is rounding
_ZEROS = np.linspace(-8.0, 8.0, 1601)


@dataclass(frozen=True)
class Reference:
    """A solution with averages of its own.

    nodes: of kappa, on which they have settled. draw: of the random numbers of averages that need them. Raises
    NotEvaluable where a law is outside of the quadrature.
    """

    result: Result
    layer: FirstLayer
    order: Mapping[str, Array]
    draw: int = 0

    @property
    def rank(self) -> int:
        """The number of directions of kappa."""
        return self.layer.rows.rank

    @cached_property
    def law(self) -> LabelLaw:
        """The law of the label given kappa."""
        return replace(self.layer.label(self.result.vocabulary), draw=self.draw)

    @cached_property
    def norms_vary(self) -> bool:
        """Whether the readout may align with the norms of the rows."""
        return self.system.law.norms

    @cached_property
    def system(self) -> SaddleSystem:
        """The derived equations of any convex loss."""
        model = self.result.vocabulary
        return coupled_system_of(model.target.indices, self.rank, bulk_kind(model))

    def features(self, kappa: Array) -> Array:
        """mu0, mu1, mu2^2 of every block, [3, K, N]."""
        return self.layer.features(kappa)

    def of_norms(self, kappa: Array) -> Array:
        """mu_c of every block, [K, N]: what their means change by with the norms of the rows."""
        return self.layer.of_norms(kappa)

    @cached_property
    def _mean(self) -> Callable[[Array], Array] | None:
        """What m and the mean features make together where the result states that as such."""
        return mean_as_stated(self.result, self.layer)

    def output(self, kappa: Array, features: Array) -> Output:
        """The law of the output given kappa."""
        order, (mu0, mu1, mu2sq) = self.order, features
        along = kappa.reshape(len(kappa), -1) @ order["zeta"].T  # [N, K]
        # in long doubles: large m of nearly equal features cancel
        of_means = self._mean(kappa) if self._mean else np.einsum("bn,b->n", mu0, long(order["m"]))
        mean = np.asarray(of_means + np.einsum("bn,nb->n", mu1, along), float)
        if self.norms_vary:
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
        output, loss = self.output(kappa, features), self.result.vocabulary.fit.loss
        mu0, mu1, mu2sq = features
        found = loss_averages(self.law, loss, self._noise, kappa, output, self.width)
        test = test_errors(self.law, loss, kappa, output, self.width)
        g, h, gg = found["avg_g"], found["avg_h"], found["avg_gg"]
        rows = [test, *(found[name] for name in AVERAGES), *found["avg_tg"], *mu0, *mu1, *mu2sq]
        along = kappa.reshape(len(kappa), -1).T
        rows += [*(mu0 * g), *(row for k in along for row in mu1 * k * g)]
        rows += [row for t in found["avg_tg"] for row in mu1 * t]
        rows += [*(mu1**2 * h), *(mu2sq * h), *(mu1**2 * gg), *(mu2sq * gg)]
        if self.norms_vary:
            rows += [*(self.of_norms(kappa) * g)]
        return np.array(rows)

    @property
    def _noise(self) -> float:
        return self.result.vocabulary.target.noise

    @cached_property
    def width(self) -> float:
        """The widest panels of label and output whose averages have settled at a few kappa. Raises NotEvaluable."""
        if averages_are_drawn(self.law, self.result.vocabulary.fit.loss):
            return 1.0
        kappa = self._line(_SAMPLE)
        output, model = self.output(kappa, self.features(kappa)), self.result.vocabulary
        before: Array | None = None
        for width in _WIDTHS:
            found = loss_averages(self.law, model.fit.loss, self._noise, kappa, output, width)
            test = test_errors(self.law, model.fit.loss, kappa, output, width)
            after = np.array([test, *(found[name] for name in AVERAGES), *found["avg_tg"]])
            size = np.abs(after) @ density(_SAMPLE)
            size[[3, *range(6, len(size))]] = np.sqrt(size[4])  # slopes may cancel
            if before is not None and np.all(np.abs(after - before) @ density(_SAMPLE) <= _SETTLED * (size + 1e-300)):
                return 2.0 * width
            before = after
        raise NotEvaluable("averages over label and output do not settle")

    def _line(self, places: Array) -> Array:
        """Points of kappa along a line."""
        return places if self.rank == 1 else places[:, None] * np.linspace(1.0, -0.5, self.rank)

    @cached_property
    def nodes(self) -> Nodes:
        """Nodes of kappa chosen from the solution."""
        if averages_are_drawn(self.law, self.result.vocabulary.fit.loss):
            return self._drawn_nodes()
        if self.rank > 1:
            return self._nodes_of_several()
        if self.result.vocabulary.target.indices > 1 and not self._turns_aside:
            found = stretched_nodes(self.at, self.layer.rows.turn, _STEPS, _TOLERANCE, self._terms)
            if found.error <= _TOLERANCE:
                return found
        if self.rounding > _HIDDEN:
            raise NotEvaluable(f"m of features that hardly differ cancel: rounding makes {self.rounding:.0e}")
        return settled_nodes(self.at, self._cuts(), max(_TOLERANCE, _ABOVE_ROUNDING * self.rounding), self._terms)

    def _nodes_of_several(self) -> Nodes:
        """On a grid; in a plane on lines where that does not settle, if these are not too many."""
        for step in _GRIDS[self.rank]:
            found = grid_nodes(self.at, self.rank, step, self._terms, turns_of_label(self.law, _WIDE))
            if found.error <= _TOLERANCE:
                return found
        if self.rank == 2:
            with suppress(OutOfReach):
                return plane_nodes(self.at, 0.5 * _TOLERANCE, self._terms)
        return found

    def _drawn_nodes(self) -> Nodes:
        for step in _DRAWN[self.rank]:
            found = drawn_nodes((self.at, replace(self, draw=self.draw + 1).at), self.rank, step, self._terms)
            if found.error <= _TOLERANCE:
                break
        return found

    def _terms(self, size: Array) -> Array:
        """What averages over kappa are settled against, [F], by those of the absolute values: slopes may cancel over
        label and output before, and the last feature may be rounding of the others.
        """
        blocks, q, m = len(self.layer.share), self.rank, self.law.overlaps.shape[1]
        root, start, found = np.sqrt(size[4]), 6 + m, size.copy()
        mu0, mu1 = (size[start + i * blocks : start + (i + 1) * blocks] for i in range(2))
        least = [root * mu0, *[root * mu1] * (q + m)]
        found[[3, *range(6, start)]] = root
        found[5] = np.inf  # which enters with features alone
        found[start + 2 * blocks : start + 3 * blocks] += _HARDLY * (mu0**2 + mu1**2)
        products = slice(start + 3 * blocks, start + (4 + q + m) * blocks)
        found[products] = np.maximum(found[products], np.concatenate(least))
        if self.norms_vary:
            found[-blocks:] += _HARDLY**0.5 * root * (mu0 + mu1)
        return found

    @cached_property
    def rounding(self) -> float:
        """What the rounding of m mu0, which may cancel, makes of the output, relative to its size."""
        if self._mean is not None:
            return 0.0
        kappa = self._line(_ZEROS)
        features = self.features(kappa)
        output, weight = self.output(kappa, features), density(_ZEROS)
        terms = np.einsum("bn,b->n", rounding_of_means(features), np.abs(np.asarray(self.order["m"], float)))
        size = output.mean**2 + output.variance + (output.slopes**2).sum(axis=0)
        return float(np.sqrt((weight @ terms**2) / (weight @ size)))

    @cached_property
    def cancelled(self) -> float:
        """What the rounding of V1 and Q1, whose entries between blocks may cancel, makes of the response and of the
        variance of the output, relative to these.
        """
        kappa = self._line(_ZEROS)
        features = self.features(kappa)
        output, weight, mu1 = self.output(kappa, features), density(_ZEROS), np.abs(features[1])
        sizes = output.response, output.variance + (output.slopes**2).sum(axis=0)
        terms = (np.einsum("bn,cn,bc->n", mu1, mu1, np.abs(self.order[name])) for name in ("V1", "Q1"))
        return max(float(_EPS * (weight @ each) / (weight @ size)) for each, size in zip(terms, sizes, strict=True))

    @cached_property
    def _turns_aside(self) -> list[float]:
        """Places about which features turn faster than nodes gathered about zero follow, unless they do so there."""
        turns = [(place, length) for place, length in self.layer.turns() if abs(place) < REACH]
        fast = [(place, length) for place, length in turns if abs(place) > length and length < _FAST * abs(place)]
        return [place + length * x for place, length in fast for x in AROUND]

    def _cuts(self) -> list[float]:
        """Where label and features turn, and where the mean output changes sign with a spread less than a panel."""
        output = self.output(_ZEROS, self.features(_ZEROS))
        clean = LabelLaw.of(self.law.clean(self.result.vocabulary.fit.loss.form == "margin"), self.law.overlaps)
        cuts = [0.0, *turns_of_label(self.law), *turns_of_label(clean)]  # this may turn more sharply
        return cuts + self._turns_aside + turns_of_mean(_ZEROS, output)

    @cached_property
    def point(self) -> Point:
        """Everything that the equations are made of, in long doubles."""
        kappa, values = self.nodes.kappa, self.nodes.values
        m, blocks = self.law.overlaps.shape[1], len(self.layer.share)
        names = (*AVERAGES, *(f"avg_{t}g" for t in directions_of("t", m)))
        columns = dict(zip(names, values[1:], strict=False))
        start = 1 + len(names)
        for number, name in enumerate(("mu0", "mu1", "mu2sq")):
            columns[name] = values[start + number * blocks : start + (number + 1) * blocks]
        if self.norms_vary:
            columns["mu_c"] = self.of_norms(kappa)
        columns |= dict(zip(directions_of("kappa", self.rank), kappa.reshape(len(kappa), -1).T, strict=True))
        families = self._families()
        known = {e.unknown for e in self.system.equations if e.unknown in families}
        definitions = {d.name: d for d in self.system.fields} | {
            e.unknown: Definition(e.unknown, e.indices, e.body)
            for e in self.system.equations
            if e.kind == "explicit" and e.unknown not in known
        }
        model, dimension = self.result.vocabulary, self.result.dimension
        return Point(
            len(self.layer.share),
            {
                "alpha": long(model.fit.samples),
                "beta": long(model.network.width),
                "ridge": long(model.fit.ridge),
                "noise": long(model.target.noise),
                "inverse_dimension": long(0.0 if dimension is None else 1.0 / dimension),
            },
            families,
            {name: long(values) for name, values in columns.items()},
            long(self.nodes.weight),
            definitions,
            {inverse.name: inverse for inverse in self.system.inverses},
        )

    def _families(self) -> dict[str, Array]:
        order, beta = self.order, self.result.vocabulary.network.width
        found = {name: long(order[name]) for name in ("m", "Q1", "Q2", "V1", "V2")}
        for name in ("psi", "zeta"):
            found |= dict(zip(directions_of(name, order[name].shape[1]), long(order[name].T), strict=True))
        found |= {"T": long(beta) * found["V2"], "adjoint": found["Q2"]}
        if self.norms_vary:
            found["norm"] = long(order["norm"])
        found["fraction"] = long(self.layer.share)
        if (law := self.readouts) is not None:
            found |= {name: long(getattr(law, name)) for name in ("excess", "random_field", "pull")}
        if self.norms_vary:
            found |= {name: long(values) for name, values in self._of_bulk().items()}
        return found

    def _of_bulk(self) -> Mapping[str, Array]:
        """What the equations of the bulk are given, and what follows from unknowns that are not told.

        The samples of a step that stretches its rows, and the neurons of a matrix, are those of the theory, which
        ``verify`` holds against a batch of the step.
        """
        model, blocks = self.result.vocabulary, len(self.layer.share)
        if self.layer.spectrum is not None:
            return self.layer.spectrum.arrays
        if bulk_kind(model) == "norms":
            return {"chi": np.full(blocks, 2.0)}  # d times the variance of |w|^2 of a Gaussian vector w, E |w|^2 = 1
        problem = problem_of(model, self.result.dimension, self.result.bias, intermediate=True)
        system = coupled_at(problem, FINE[-1])
        assert isinstance(system, BulkSystem)
        system.residual(system.unknowns(self.order))
        return {**system.given, **{name: system.numbers[name] for name in ("X", "adjoint_X") if system.of_samples}}

    @cached_property
    def readouts(self) -> ReadoutLaw | None:
        """The law of the readouts under a penalty, where there is one."""
        return None if self.result.vocabulary.fit.penalty is None else readout_law(self.result, self.layer.share)

    def residuals(self) -> dict[str, float]:
        """What the two sides of every equation differ by, relative to the terms it is made of."""
        found = residuals(self.system, self.point)
        if self.readouts is not None:
            beta = self.result.vocabulary.network.width
            found |= self.readouts.differs(beta * self.order["V2"], self.order["Q2"], self.order["m"])
        return found

    def at_nodes(self, nodes: Nodes) -> Reference:
        """The same with other averages at the nodes."""
        found = replace(self)
        found.__dict__["nodes"] = nodes
        return found

    def at_order(self, point: Point) -> Point:
        """The averages over the output anew where the point has other order parameters."""
        families, (m, q) = point.families, self.law.overlaps.shape[::-1]
        order = {name: np.asarray(families[name], float) for name in ("Q1", "Q2", "V1", "V2")} | {"m": families["m"]}
        for name, count in (("psi", m), ("zeta", q)):
            order[name] = np.stack([np.asarray(families[n], float) for n in directions_of(name, count)], axis=-1)
        order |= {"norm": np.asarray(families["norm"], float)} if self.norms_vary else {}
        moved = replace(self, order=order)
        kappa, loss = self.nodes.kappa, self.result.vocabulary.fit.loss
        features = np.array([np.asarray(self.point.columns[name], float) for name in ("mu0", "mu1", "mu2sq")])
        output = moved.output(kappa, features)
        rows = [slice(i, i + _TOGETHER) for i in range(0, len(kappa), _TOGETHER)]
        parts = [loss_averages(self.law, loss, self._noise, kappa[r], output.at(r), self.width) for r in rows]
        found = {name: np.concatenate([part[name] for part in parts], axis=-1) for name in parts[0]}
        columns = {name: long(found[name]) for name in AVERAGES}
        columns |= {f"avg_{t}g": long(row) for t, row in zip(directions_of("t", m), found["avg_tg"], strict=True)}
        return replace(point, columns={**point.columns, **columns})

    @cached_property
    def signal(self) -> float:
        """E y^2 of the label and its noise, over all inputs."""
        if self.law.is_drawn:
            return self.result.vocabulary.target.noise + square_of_label(self.law)
        everywhere = replace(self.law, overlaps=np.zeros_like(self.law.overlaps))
        nowhere = np.zeros(1) if self.rank == 1 else np.zeros((1, self.rank))
        return float(everywhere.moments(nowhere, self.width)[1][0]) + self._noise

    def share_of_output(self, m: Array) -> float:
        """By how much m is to be multiplied for what it adds to the mean output to be no larger than the output is."""
        features = np.array([np.asarray(self.point.columns[name], float) for name in ("mu0", "mu1", "mu2sq")])
        output, weight = self.output(self.nodes.kappa, features), self.nodes.weight
        size = weight @ (output.mean**2 + output.variance + (output.slopes**2).sum(axis=0))
        added = weight @ np.einsum("bn,b->n", features[0], np.asarray(m, float)) ** 2
        return float(np.sqrt(size / added)) if added > size else 1.0

    def observables(self) -> dict[str, float]:
        """Test error, training error and free energy."""
        interpreter, model = Interpreter(self.point), self.result.vocabulary
        test = float(self.nodes.values[0] @ self.nodes.weight)
        train = float(np.real(interpreter.value(self.system.train_error))) * model.fit.loss.entry.error_scale
        energy = float(np.real(interpreter.value(self.system.free_energy)))
        if self.readouts is not None:
            energy += float(self.readouts.energy.sum())
        return {"test_error": test, "train_error": train, "free_energy": energy}


def reference(result: Result) -> Reference:
    """A result as the reference sees it: the layer from the model, order parameters along its directions.

    Raises NotEvaluable.
    """
    result = along_the_bulk(at_a_dimension(result))
    if not result.order_parameters["V2"].any():
        raise NotEvaluable(HELD)
    layer = completed_as_stated(result, first_layer(result.vocabulary, result.bias, result.dimension))
    if result.vocabulary.bulk == "trained":
        layer = turned_as_stated(result, layer)
    return Reference(result, layer, without_rounding(order_parameters(result, layer)))
