"""The label given kappa, where a function of it and of the output has kinks or jumps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from giantstep.law.directions import NoisyIndices, noisy_indices
from giantstep.law.kinds_of_labels import Intervals, Labels, Points
from giantstep.law.kink_roots import moves
from giantstep.law.label_plane import LabelPlane
from giantstep.law.labels import drawn, label_law, law_of_link
from giantstep.law.multi_index_labels import is_constant_between_jumps, nodes_given_kappa
from giantstep.quadrature.kinks import bracketed_zeros
from giantstep.quadrature.settled import Panels, Rule
from giantstep.spec.kernels import function_kernel
from giantstep.spec.link import link_values
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Target

Array = np.ndarray
Index = NDArray[np.intp]
Averaged = Callable[[Points, Index], Array]
Along = tuple[Callable[[Array], Array], Callable[[Array], Array]]
OnLines: TypeAlias = tuple[Array, Array, Array]
AlongLines: TypeAlias = "Callable[[LabelOnLines, OnLines], Array]"
ORDER, _LONGEST = 24, 6.0  # nodes of a panel of t; its length at first
_LINES = 1024  # at a time
_ALL, _NOTHING_LEFT = slice(None), np.zeros((1, 1))
_CHANGE, _FINER, _ROUNDED = 1e-11, 8.0, 4e-15  # what a panel may leave beside the average: a tenth of what is promised
_OF_TWO, _ALONG = 1e-8, 1e-9  # the same across and along lines of a plane, where the rule is off by the square of that
_GENTLE = 0.3  # width of a turn that panels resolve without an end next to it
_AROUND = (0.0, 6.0, 40.0)  # ends of panels about a turn that is next to a step, in its widths


def labels_cut_at(target: Target, overlaps: Rows, kappa: Array, places: tuple[float, ...], finer: int) -> Labels:
    """The law of the noisy label at kappa [N, q], with nodes on either side of the given labels.

    Labels that are constant on intervals have nothing to cut. Raises NotConverged where there are too many nodes.
    """
    plain = label_law(target, overlaps, kappa, finer=finer)
    if isinstance(plain, Intervals) or not places or target.indices == 1:
        return plain
    gamma = np.atleast_2d(np.array(overlaps))
    noisy = noisy_indices(gamma, target.probit)
    cut = "+".join(f"abs({target.link}-({place!r}))" for place in places)
    weight, t = nodes_given_kappa(f"{target.link}+{cut}", gamma, noisy.lower, kappa, finer, False)
    z = (kappa @ gamma).T[:, :, None] + np.einsum("ij,nkj->ink", noisy.lower, t)
    found = Points(weight, link_values(target.link)(z), np.einsum("ij,nkj->nki", noisy.carry, t), noisy.rest)
    return drawn(found, target, finer)


@dataclass(frozen=True)
class LabelOnLines:
    """A label before noise and flips along lines of a standard normal t', on which its indices are ``fixed + step t'``.

    fixed [I, N], step [I]; cuts [N, C]: where the link has kinks, nan for none; places: labels at which what is
    averaged has kinks whatever the output is; allowed: what a panel may leave beside the largest average; rounding: of
    what is averaged; reach: how far out t' goes.
    """

    target: Target
    fixed: Array
    step: Array
    cuts: Array
    places: tuple[float, ...]
    finer: int
    allowed: float
    rounding: float
    reach: float

    def at(self, t: Array, owner: Index | slice = _ALL) -> Array:
        """The label [P, n] at t' [P, n] or [1, n] of lines [P]."""
        return np.asarray(link_values(self.target.link)(self.fixed[:, owner, None] + self.step[:, None, None] * t))

    def _beyond(self, place: float, t: Array) -> Array:
        """How far the label is beyond a given one."""
        return self.at(t) - place

    def average(self, averaged: Averaged, crossed: Sequence[Along]) -> Array:
        """Averages [N] over t', on panels that are halved until they give what both halves do.

        averaged: the averages [P, J] over the output for labels of P panels, each of some line; crossed: functions of
        t' [1, n] or [N, n] whose zeros are ends of panels, each with the width of what turns there. Raises
        DoesNotSettle.
        """

        def given(owner: Index, t: Array) -> Array:
            points = Points(np.ones_like(t), self.at(t, owner), t[:, :, None], _NOTHING_LEFT)
            law = drawn(points, self.target, self.finer)
            values = (law.weight * averaged(law, owner)).reshape(len(t), -1, ORDER).sum(axis=1)
            return weighed(values, t)

        return Rule(ORDER, self.allowed, self.rounding).integrals(given, self._first(crossed), len(self.cuts))[0]

    def _first(self, crossed: Sequence[Along]) -> Panels:
        """Panels between the kinks of the link, the given labels and what is crossed, and both ends."""
        edges, ends = [first_edges(len(self.cuts), self.reach), self.cuts], (-self.reach, self.reach)
        edges += [bracketed_zeros(partial(self._beyond, place), ends).T for place in self.places]
        for each, width in crossed:
            zeros = bracketed_zeros(each, ends).T
            widths = width(zeros)
            zeros = np.where(widths < _GENTLE, zeros, np.nan)
            edges += [zeros + side * away * widths for away in _AROUND for side in (-1.0, 1.0)]
        return panels_within(np.concatenate(edges, axis=1), self.reach)


@dataclass(frozen=True)
class LabelOfOne:
    """A label that follows one index, ``z' = gamma kappa + width t'`` with ``width > 0``."""

    target: Target
    gamma: float
    noisy: NoisyIndices
    places: tuple[float, ...]
    finer: int
    rounding: float
    reach: float

    @classmethod
    def of(
        cls, target: Target, overlaps: Rows, places: tuple[float, ...], finer: int, rounding: float, reach: float
    ) -> LabelOfOne | None:
        """That of a target; None where its label is constant on intervals, or follows from kappa or several indices."""
        if target.indices > 1 or isinstance(law_of_link(target, overlaps, np.zeros((1, len(overlaps)))), Intervals):
            return None
        gamma = float(np.atleast_2d(np.array(overlaps))[0, 0])
        found = cls(target, gamma, noisy_indices(np.array([[gamma]]), target.probit), places, finer, rounding, reach)
        return found if found.noisy.lower[0, 0] > 0.0 else None

    def average(self, kappa: Array, output: OnLines, along: AlongLines) -> Array:
        """Averages [N] at kappa [N, q]; output: its mean at t = 0 [N], slope in t [N, 1] and variance beside [N].

        along: the average over lines, with the output's mean, slope and variance on each.
        """
        (mean, slope, variance), width = output, float(self.noisy.lower[0, 0])
        fixed, carry, rest = self.gamma * kappa[:, :1], float(self.noisy.carry[0, 0]), float(self.noisy.rest[0, 0])
        cuts = (np.unique([*function_kernel(self.target.link).BREAKPOINTS])[None] - fixed) / width
        settled = self.places, self.finer, allowed_of(_CHANGE, self.finer), self.rounding, self.reach
        lines = LabelOnLines(self.target, fixed.T, np.array([width]), cuts, *settled)
        return along(lines, (mean, carry * slope[:, 0], variance + rest * slope[:, 0] ** 2))


@dataclass(frozen=True)
class LabelOfTwo:
    """A label that varies with two indices, on lines across the plane of t."""

    target: Target
    plane: LabelPlane
    places: tuple[float, ...]
    finer: int
    rounding: float
    reach: float

    @classmethod
    def of(
        cls, target: Target, overlaps: Rows, places: tuple[float, ...], finer: int, rounding: float, reach: float
    ) -> LabelOfTwo | None:
        """That of a target; None where its label is constant between jumps, or follows from kappa."""
        if target.indices != 2 or is_constant_between_jumps(target.link):
            return None
        found = cls(target, LabelPlane.of(target, overlaps), places, finer, rounding, reach)
        return found if moves(found.plane.axes.lower, 1) else None

    def average(self, kappa: Array, output: OnLines, along: AlongLines) -> Array:
        """As of one index; slope [N, 2]."""
        (mean, slope, variance), plane = output, self.plane
        told = slope @ plane.carried
        law = np.column_stack([mean, told, variance + np.einsum("nd,de,ne->n", slope, plane.rest, slope)])
        fixed, step = kappa @ plane.gamma, plane.axes.lower
        settled = self.places, self.finer, allowed_of(_ALONG, self.finer), self.rounding, self.reach

        def on_lines(owner: Index, t: Array) -> Array:
            found = np.empty(len(owner))
            for start in range(0, len(owner), _LINES):
                part = slice(start, start + _LINES)
                at, of, place = fixed[owner[part]] + t[part, None] * step[:, 0], law[owner[part]], t[part]
                cuts = plane.kinked.roots(1, at).T
                back = np.argsort(plane.axes.places)
                lines = LabelOnLines(self.target, at.T[back], step[back, 1], cuts, *settled)
                found[part] = along(lines, (of[:, 0] + of[:, 1] * place, of[:, 2], of[:, 3]))
            return found

        if not plane.moved:
            return on_lines(np.arange(len(kappa)), np.zeros(len(kappa)))

        def given(owner: Index, t: Array) -> Array:
            return weighed(on_lines(np.repeat(owner, t.shape[1]), t.ravel()).reshape(t.shape), t)

        roots = plane.kinked.roots(0, fixed), plane.kinked.meetings(0, fixed)[0]
        first = np.concatenate([first_edges(len(kappa), self.reach), *(each.T for each in roots)], axis=1)
        panels = panels_within(first, self.reach)
        return Rule(ORDER, allowed_of(_OF_TWO, self.finer), self.rounding).integrals(given, panels, len(kappa))[0]


def allowed_of(change: float, finer: int) -> float:
    """What last coefficients of a panel may be beside the average."""
    return max(change / _FINER**finer, _ROUNDED)


def weighed(values: Array, t: Array) -> Array:
    """Values times the density of a standard normal, nothing where that is no number: what they are there has a mean
    only if they are finite long before.
    """
    density = np.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi)
    with np.errstate(invalid="ignore"):
        return np.where(density > 0.0, values * density, 0.0)


def first_edges(count: int, reach: float) -> Array:
    """Ends of the first panels of so many lines."""
    ends = np.linspace(-reach, reach, math.ceil(2.0 * reach / _LONGEST) + 1)
    return np.broadcast_to(ends, (count, len(ends)))


def panels_within(edges: Array, reach: float) -> Panels:
    """Panels between edges [N, E], nan for none."""
    return Panels.between(np.clip(np.nan_to_num(edges, nan=reach), -reach, reach))
