"""Nodes of a label of two indices that settle the averages of a loss, chosen at given fields of the output.

Along the second direction of t they are panels about the places where the centre of the output passes a kink of the
loss, or nothing where the label is made of straight pieces, which the loss averages exactly. What is left is a smooth
function of the first direction, in parts: its panels are halved until a polynomial is that function on each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from derive.language.links import link_of
from generated.runtime.label_rows import add_moments, count_rows, fill_from, fill_rows
from generated.runtime.nodes import Fields
from giantstep.law.directions import noisy_indices
from giantstep.law.kinds_of_labels import Points
from giantstep.law.kink_roots import moves
from giantstep.law.label_cells import LabelLaw, are_cells
from giantstep.law.label_growth import ENDED, label_reach, reach_of, share_far_out
from giantstep.law.label_lines import Lines, are_lines, linear_in, pieces_beside
from giantstep.law.label_plane import LabelPlane
from giantstep.law.labels import with_noise
from giantstep.law.moments_given_kappa import LabelMoments
from giantstep.law.multi_index_labels import axes_of, is_constant_between_jumps
from giantstep.quadrature.crossings import Index, Panels, Search, crossings_of, panels_between
from giantstep.quadrature.gauss import lobatto, lobatto_coefficients, middle_and_end, tail
from giantstep.quadrature.panel_orders import digits_of, gauss_rules, longest_panels
from giantstep.spec.errors import NotConverged
from giantstep.spec.expressions import jet, prepare
from giantstep.system.along_lines import AlongLines
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.kernels import bend_of
from giantstep.system.label_crossings import images_of
from giantstep.system.label_kernels import kernel_of
from giantstep.system.label_strips import LinesOfT, OuterPanels, Rows, RuledPanels, Strips
from giantstep.system.problem import Problem

Array = np.ndarray
_SEARCH = Search(97, (-10.0, -4.0, 0.0, 4.0, 10.0), 0.1)
_LONGEST = 3.0  # a panel: the weight of a standard normal variable is a polynomial of the order on it
_OUTER = 14, 13  # nodes of a panel of the first t; of the estimate of their error
_WHOLE = 6.0  # a panel of the second t
_HALVINGS, _ROUNDED = 36, 1e-15
_LEADS = 3  # one node of kappa in so many is the first whose panels are halved: the others begin with its panels
_SAME = 0.25  # of panels beside it: an end that is as close to one that is there already
_NOTHING = 1e-22  # weight of a node together with its kappa that is left out: averages grow as powers of the label
_LEAST = 1e-13  # tolerance: sums of thousands of terms are rounded to less, but not to much less
_MOST = 1 << 27  # nodes of all kappa, each counted as the one that has most: rows are that long, at 32 bytes a node
_TOGETHER = 4096  # lines that are handled together: as many as Python is slower for than the cache is faster
_AVERAGES = ("avg_M", "avg_g", "avg_h", "avg_gg", "avg_t_1g", "avg_t_2g")  # that residuals and errors are made of
#: averages, with E y^2, E y, E y t_1 and E y t_2 of the label after them, that may cancel; the squares that bound them
_MAY_CANCEL, _SQUARES = [1, 4, 5, 7, 8, 9], [3, 3, 3, 6, 6, 6]


def settles_of_two(problem: Problem) -> bool:
    """Whether nodes of a label of two indices can be chosen: it follows from them, varies between its jumps, and is
    moved by what is beside kappa, of one direction.

    The square loss needs moments only; what is linear in an index has no nodes there, but where the other one and kappa
    tell it, and what is linear on polygons none at all.
    """
    target, loss = problem.model.target, problem.model.fit.loss
    if target.indices != 2 or problem.rank > 1 or loss.key == "square" or loss.form == "general":
        return False
    if target.channel is not None or target.flips > 0.0 or are_cells(target, problem.overlaps, loss.form):
        return False
    link, lower = link_of(target.link), noisy_indices(np.array(problem.overlaps), target.probit).lower
    if loss.form == "residual" and linear_in(target.link) and moves(axes_of(link, lower).lower, 0):
        return False
    return not is_constant_between_jumps(target.link) and moves(lower, slice(None))


@dataclass(frozen=True, eq=False)
class ChosenLabels:
    """Nodes of the label that settle averages, on lines of a plane, with what choosing them has told: the averages
    [average, node of kappa], and moments of the clean label, where nodes are what it has. outer: where lines are.
    """

    plane: _Plane
    strips: Strips
    averages: Array
    moments: LabelMoments | None
    outer: OuterPanels | None

    @cached_property
    def law(self) -> LabelLaw:
        """Labels at the nodes."""
        return self.plane.law_on(self.strips)


def settled_labels(system: CoupledSystem, tolerance: float, lead: OuterPanels | None = None) -> ChosenLabels:
    """Labels with nodes that settle the averages at the fields of a system; lead: panels of one like it, to begin with.
    Raises NotConverged where they are too many.
    """
    return _Plane(system, max(tolerance, _LEAST)).settled(lead)


class _Told(NamedTuple):
    """All averages and moments [average, panel] within panels, those that are looked at, estimates of the errors of
    these, the probability [panel] of a panel, nodes there, and lines, each part with the panels that these are of.
    """

    every: Array
    total: Array
    error: Array
    share: Array
    nodes: Index
    strips: list[tuple[Strips, Index]]


class _Plane:
    """The two directions of t beside every node of kappa: indices are ``fixed + lower t``, E[t|z] is ``carried t``."""

    def __init__(self, system: CoupledSystem, tolerance: float) -> None:
        target, overlaps = system.problem.model.target, system.problem.overlaps
        self.system, self.node, self.target, self.tolerance = system, link_of(target.link).node, target, tolerance
        self.prepared = prepare(self.node)
        plane = LabelPlane.of(target, overlaps)
        self.axes, self.kinked, self.carried, self.rest = plane.axes, plane.kinked, plane.carried, plane.rest
        #: whether the first direction moves the label
        self.moved = plane.moved
        self.fixed = system.points().reshape(len(system.table), -1) @ plane.gamma
        form, bend = system.problem.model.fit.loss.form, bend_of(system.loss)
        lines = are_lines(target, system.problem.overlaps, form, bend)
        self.straight = lines and linear_in(target.link) is None
        inside = np.einsum("dn,de,en->n", system.slopes, self.rest, system.slopes)
        self.spread = np.sqrt(system.view("Delta") + system.noise + inside)
        #: the distance from a kink on which an average over the output turns
        self.turning = np.maximum(self.spread, 1.0 / system.loss.STEEPNESS) if system.loss.SMOOTH else self.spread
        self.images, self.margin = images_of(system), form == "margin"
        self.outer = _OUTER[system.level.rough]
        self.reach = reach_of(target.link, system.problem.overlaps, target.probit, ENDED)
        self.nothing = _NOTHING * share_far_out(self.reach, label_reach(target, system.problem.overlaps))
        self.size = math.sqrt(system.signal())
        #: what an average at a node of kappa counts for, beside its share of all
        self.felt = np.minimum(1.0, system.table[:, 1] / np.mean(system.table[:, 1]))

    def settled(self, lead: OuterPanels | None) -> ChosenLabels:
        """Labels at the nodes of panels on which their averages are settled, with their moments."""
        strips, told, outer = self._settled(lead)
        strips = strips.chosen(np.argsort(strips.lines.kappa, kind="stable"))
        averages, (square, mean, *linear) = told[:-4], told[-4:]
        moments = None if self.straight else LabelMoments(mean, np.stack(linear, axis=1), square)
        return ChosenLabels(self, strips, averages, moments, outer)

    def law_on(self, strips: Strips) -> LabelLaw:
        """Labels on lines in the order of their nodes of kappa."""
        law = self._law(strips, strips.lines.kappa, len(self.fixed))
        return law if isinstance(law, Lines) else self._noisy(law)

    def _settled(self, lead: OuterPanels | None) -> tuple[Strips, Array, OuterPanels | None]:
        """The lines of panels on which averages are settled but for their rounding, all averages there, and panels."""
        every = np.arange(len(self.fixed))
        if not self.moved:
            line = self._strips(every, np.zeros(len(every)), np.ones(len(every)))
            return line, self._averages(line)[0], None
        leads = every if lead is not None else _leads(len(every))
        strips, told, outer = self._halved(leads, self._first(leads) if lead is None else self._like(lead, leads))
        if len(led := np.setdiff1d(every, leads)):
            others, of_others, beside = self._halved(led, self._like(outer, led))
            strips, told, outer = [*strips, *others], told + of_others, outer.joined(beside)
        return Strips.joined(strips), told, outer

    def _halved(self, some: Index, first: Panels) -> tuple[list[Strips], Array, OuterPanels]:
        """The lines of panels of some nodes of kappa, halved until averages on them are settled but for their rounding,
        all averages there, and these panels.
        """
        active = replace(first, owner=some[first.owner])
        kept = np.zeros(len(self.fixed), dtype=int)
        done: list[Strips] = []
        whole: list[Panels] = []
        found = np.zeros((len(self.system.averages) + 4, len(kept)))
        scale: Array | None = None
        for number in range(_HALVINGS):
            told = self._integrals(active)
            if scale is None:
                scale = _scale(self.system, active, told.total)
            allowed = self.tolerance * scale[:, active.owner] + self._rounded(active.owner, told)
            good = np.all(told.error <= allowed, axis=0)
            nodes = np.stack([np.bincount(active.owner[part], told.nodes[part], len(kept)) for part in (good, ~good)])
            kept = kept + nodes[0].astype(int)
            if len(kept) * int((kept + nodes[1]).max()) > _MOST:
                raise self._too_many()
            last = number + 1 == _HALVINGS or not np.all(np.isfinite(scale))  # where there are no averages at all
            done += [strips if last else strips.chosen(good[panel]) for strips, panel in told.strips]
            settled = np.ones_like(good) if last else good
            whole.append(active.chosen(settled))
            np.add.at(found.T, active.owner[settled], told.every[:, settled].T)
            if settled.all():
                break
            lower, upper = active.chosen(~good).halves()
            active = lower.joined(upper).in_order()  # a node of kappa at a time: what its lines share is made once
        panels = whole[0].joined(*whole[1:])
        outer = self.system.points()[some], self.fixed[some], replace(panels, owner=np.searchsorted(some, panels.owner))
        return done, found, OuterPanels(*outer)

    def _like(self, lead: OuterPanels, led: Index) -> Panels:
        """Panels like those of the nearest node of kappa that leads: its ends, where the indices are the same, between
        kinks of the own.
        """
        along = np.linalg.pinv(self.axes.lower)[0]
        nearest = np.argmin(np.abs(lead.kappa[:, None] - self.system.points()[led]), axis=0)
        own, found = np.concatenate(self._cuts(led)), []
        for place, node in enumerate(nearest.tolist()):
            inner = np.sort(lead.panels.low[lead.panels.owner == node])[1:]  # the first is where t ends
            ends = inner + (lead.fixed[node] - self.fixed[led[place]]) @ along
            ends = ends[np.abs(ends) < self.reach]
            gaps = np.diff(ends, prepend=-self.reach, append=self.reach)
            near = np.abs(ends[:, None] - own[:, place]) < _SAME * np.minimum(gaps[1:], gaps[:-1])[:, None]
            found.append(ends[~np.any(near, axis=1)])
        rows = np.full((max(map(len, found)), len(led)), np.nan)
        for place, ends in enumerate(found):
            rows[: len(ends), place] = ends
        return panels_between([own, rows], 2.0 * self.reach, self.reach)

    def _cuts(self, kappa: Index) -> list[Array]:
        """Kinks of the link, and places where those of the second direction meet, at nodes of kappa."""
        return [self.kinked.roots(0, self.fixed[kappa]), self.kinked.meetings(0, self.fixed[kappa])[0]]

    def _rounded(self, owner: Index, told: _Told) -> Array:
        """What rounding of the place of output and label moves averages [average, panel] by: each by its slope in that,
        which is g of the envelope, h of g, and h over what it turns on of h; and what sums are rounded to.
        """
        system, least = self.system, np.maximum(told.share, 1e-290)
        place = _ROUNDED * (1.0 + np.abs(system.view("mean")) + self.size)[owner]
        h, square, of_label = np.abs(told.total[[2, 3, 6]])
        steep = np.sqrt(square / least)
        g = place * h + _ROUNDED * steep * told.share
        of_t = np.broadcast_to(self.reach * g, (2, len(owner)))
        turned = place / self.turning[owner] * h
        label = _ROUNDED * np.sqrt(of_label * least)
        moments = _ROUNDED * of_label, label, *np.broadcast_to(self.reach * label, (2, len(owner)))
        return np.stack([place * steep * told.share, g, turned, 2.0 * steep * g, *of_t, *moments])

    def _too_many(self) -> NotConverged:
        """What is said where there would be too many nodes."""
        loss, link = self.system.problem.model.fit.loss, self.target.link
        return NotConverged(
            f"averages of the loss {loss} need more than {_MOST:.0e} nodes of the label {link!r}: at some kappa the "
            f"output varies by {np.min(self.spread):.1g} only",
            "add label noise (target.noise), use the square loss, or lower fit.ridge or spike.strength (the learning "
            "rate of the step): outputs then vary more",
        )

    def _first(self, kappa: Index) -> Panels:
        """Panels between kinks of the link, and places where those of the second direction meet."""
        return panels_between(self._cuts(kappa), self._longest()[kappa], self.reach)

    def _longest(self) -> Array:
        """Lengths of panels at first, at every node of kappa: longer where few digits are asked for."""
        lengths = longest_panels()[:, self.outer]
        wanted = digits_of(np.append(self.felt, 1.0) / self.tolerance)
        shares = lengths[wanted[:-1]] / lengths[wanted[-1]]
        return np.asarray(np.minimum(_LONGEST * shares, 2.0 * self.reach))

    def _integrals(self, panels: Panels) -> _Told:
        """Averages within panels."""
        t, weight = panels.nodes(self.outer, ends=True)
        each = np.repeat(panels.owner, self.outer), t.ravel(), weight.ravel()
        values, nodes = np.zeros((len(self.system.averages) + 4, t.size)), np.zeros(t.size, dtype=int)
        found: list[tuple[Strips, Index]] = []
        for start in range(0, t.size, _TOGETHER):
            part = [whole[start : start + _TOGETHER] for whole in each]
            (count,) = np.nonzero(self._counts(part[0], part[2]))
            if not len(count):
                continue
            strips = self._strips(*(whole[count] for whole in part))
            values[:, start + count], nodes[start + count] = self._averages(strips)
            found.append((strips, (start + count) // self.outer))
        values = values.reshape(-1, *t.shape)
        names = self.system.kernel.AVERAGES
        rows = [*(names.index(name) for name in _AVERAGES), *range(len(names), len(values))]
        every, error = values.sum(axis=2), _error_of(values[rows] / lobatto(self.outer)[1])
        return _Told(every, every[rows], error, weight.sum(axis=1), nodes.reshape(t.shape).sum(axis=1), found)

    def _averages(self, strips: Strips) -> tuple[Array, Index]:
        """All averages [average, line] over the output and what is left of the label, then moments of this, with the
        weights of the lines, and their nodes.
        """
        system, at = self.system, strips.lines.kappa
        V, mean, Delta = (np.ascontiguousarray(system.view(name)[at]) for name in ("V", "mean", "Delta"))
        fields = Fields(V, mean, np.ascontiguousarray(system.slopes[:, at]), Delta)
        clean = self._law(strips, np.arange(len(at)), len(at))
        law = clean if isinstance(clean, Lines) else self._noisy(clean)
        kernel, labels = kernel_of(system.loss, law, system.kappa[at])
        told = np.zeros((len(system.averages), len(at)))
        kernel(system.rule, labels, fields, system.scratch, told)
        moments = np.zeros((4, len(at))) if isinstance(clean, Lines) else _moments_of(clean)
        return np.concatenate([told, moments]), np.count_nonzero(law.weight, axis=1)

    def _counts(self, kappa: Index, weight: Array) -> NDArray[np.bool_]:
        """Which weights are not next to nothing."""
        return np.asarray(weight * self.system.table[kappa, 1] > self.nothing)

    def _strips(self, kappa: Index, first: Array, weight: Array) -> Strips:
        """Lines with their panels."""
        lines = LinesOfT(kappa, first, weight, self.fixed[kappa] + first[:, None] * self.axes.lower[:, 0])
        if self.straight:
            return Strips(lines, None)
        return Strips(lines, self._panels(lines))

    def _law(self, strips: Strips, row: Index, rows: int) -> Lines | Points:
        """Clean labels along lines in rows."""
        lines, panels = strips
        return self._pieces(lines, row, rows) if panels is None else self._points(lines, panels, row, rows)

    def _pieces(self, lines: LinesOfT, row: Index, rows: int) -> Lines:
        """Those of a label that is straight between kinks."""
        line, columns = pieces_beside(self.node, self.axes, self.kinked, lines.fixed)
        mean, axis = lines.first[line, None] * self.carried[:, 0], np.ascontiguousarray(self.carried[:, 1])
        in_rows = Rows.of(row[line], rows)
        weight, label, slope, low, high = (in_rows.filled(part) for part in (lines.weight[line], *columns.T))
        return Lines(weight, label, slope, low, high, in_rows.filled(mean), axis, self.rest)

    def _points(self, lines: LinesOfT, panels: RuledPanels, row: Index, rows: int) -> Points:
        """Those at nodes of the second direction."""
        rules, given = gauss_rules(), (*panels[:3], panels.order - self.system.level.rough)
        with np.errstate(divide="ignore"):
            left = np.log(lines.weight * self.system.table[lines.kappa, 1] / self.nothing)
        reach = np.sqrt(2.0 * np.maximum(left, 0.0))
        along = row, lines.first, lines.weight, reach, np.ascontiguousarray(lines.fixed.T)
        counts = np.zeros(rows, dtype=np.intp)
        count_rows(given, rules, along, counts)
        shape = rows, int(counts.max(initial=0))
        weight, t, label = np.zeros(shape), np.zeros((*shape, len(self.carried))), np.zeros(shape)
        z = np.empty((len(self.axes.names), int(counts.sum())))
        fill_rows(given, rules, along, self.carried, np.ascontiguousarray(self.axes.lower[:, 1]), weight, t, z)
        fill_from(self._label_at(z), counts, label)
        return Points(weight, label, t, self.rest)

    def _noisy(self, law: Points) -> Points:
        """Labels with the noise of a loss that is not of the residual."""
        if self.target.noise == 0.0 or self.system.loss.FORM == "residual":
            return law
        noisy = with_noise(law, self.target.noise, self.system.level.labels, self.system.level.rough)
        assert isinstance(noisy, Points)  # as labels at nodes stay
        return noisy

    def _along(self, lines: LinesOfT) -> AlongLines:
        """What is known of outputs and labels along lines."""
        system, kappa = self.system, lines.kappa
        slope = system.slopes[:, kappa].T @ self.carried
        first = system.view("mean")[kappa] + slope[:, 0] * lines.first
        outputs = first, np.ascontiguousarray(slope[:, 1]), system.view("V")[kappa], self.spread[kappa]
        known = self.turning[kappa], self.felt[kappa] * lines.weight, self._label_at, self.axes.lower[:, 1]
        return AlongLines(lines, outputs, *known, self.images, self.margin, system.loss.SMOOTH, self.size)

    def _panels(self, lines: LinesOfT) -> RuledPanels:
        """Panels of the second direction between kinks of the link and about crossings, which resolve averages."""
        along, search = self._along(lines), _SEARCH.as_far_as(self.reach)
        cuts = self.kinked.roots(1, lines.fixed), crossings_of(along.distances, along.width, search).T
        return along.followed(panels_between([*cuts], _WHOLE, self.reach), self.tolerance)

    def _label_at(self, z: Sequence[Array] | Array) -> Array:
        """The label where the indices are z, in the order of the axes."""
        names = self.axes.names
        return np.asarray(jet(self.prepared, names[0], dict(zip(names, z, strict=True)), 0)[0])


def _leads(count: int) -> Index:
    """Which of so many nodes of kappa lead the others: mirror images of each other, whose errors may then cancel."""
    low = np.arange(_LEADS // 2, (count + 1) // 2, _LEADS) if count > _LEADS else np.arange(count)
    return np.unique(np.concatenate([low, count - 1 - low]))


def _scale(system: CoupledSystem, panels: Panels, total: Array) -> Array:
    """What errors [average, node of kappa] are held against: averages there, or their share of all where these are
    less; of what may cancel the root of the average of its square.
    """
    weight, count = system.table[:, 1][None], len(system.table)
    local = np.stack([np.bincount(panels.owner, np.abs(row), count) for row in total])
    local[_MAY_CANCEL] = np.sqrt(local[_SQUARES])
    some = len(np.unique(panels.owner))
    share = (weight * local).sum(axis=1, keepdims=True) / np.maximum(weight * some, 1e-290)
    return np.asarray(np.maximum(local, share))


def _moments_of(law: Points) -> Array:
    """E y^2, E y, E y t_1 and E y t_2 [4, rows] of labels at nodes."""
    moments = np.zeros((2 + law.t.shape[2], len(law.weight)))
    add_moments(law.weight, law.label, law.t, moments)
    return moments


def _error_of(values: Array) -> Array:
    """The error of a rule on a panel from values [.., n] at its nodes, weights apart: how its Legendre coefficients go
    on to twice its order, where they fall as from their middle to their end.

    The ends of a panel are nodes: a kink closer to one than any other would change none of them.
    """
    return tail(*middle_and_end(values @ lobatto_coefficients(values.shape[-1]).T), power=2)
