"""The label given kappa, where a function of it and of the output has kinks or jumps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from giantstep.law.directions import NoisyIndices, noisy_indices
from giantstep.law.kinds_of_labels import Intervals, Labels, Points
from giantstep.law.labels import drawn, label_law, law_of_link
from giantstep.law.multi_index_labels import nodes_given_kappa
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
_REACH, _ORDER, _PANELS = 9.0, 32, 3  # of t; nodes of a panel; panels between two cuts, at first
_BEYOND = 14.0  # where places of the link are looked for
_CHANGE, _FINER, _ROUNDED = 1e-11, 8.0, 4e-15  # what a panel may leave beside the average: a tenth of what is promised
_GENTLE = 0.3  # width of a turn that panels resolve without an end next to it
_AROUND = (0.0, 1.0, 4.0, 10.0, 40.0)  # ends of panels about a turn that is next to a step, in its widths


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
class LabelOfOne:
    """A label that follows one index, ``z' = gamma kappa + width t'`` with ``width > 0``, as a function of t'.

    places: labels at which what is averaged has kinks whatever the output is; finer: how much more closely panels are
    resolved.
    """

    target: Target
    gamma: float
    places: tuple[float, ...]
    finer: int

    @classmethod
    def of(cls, target: Target, overlaps: Rows, places: tuple[float, ...], finer: int) -> LabelOfOne | None:
        """That of a target; None where its label is constant on intervals, or follows from kappa or several indices."""
        if target.indices > 1 or isinstance(law_of_link(target, overlaps, np.zeros((1, len(overlaps)))), Intervals):
            return None
        found = cls(target, float(np.atleast_2d(np.array(overlaps))[0, 0]), places, finer)
        return found if found.width > 0.0 else None

    @cached_property
    def _noisy(self) -> NoisyIndices:
        return noisy_indices(np.array([[self.gamma]]), self.target.probit)

    @property
    def width(self) -> float:
        """The deviation of z' given kappa."""
        return float(self._noisy.lower[0, 0])

    @property
    def carry(self) -> float:
        """The mean of t, over t'."""
        return float(self._noisy.carry[0, 0])

    @property
    def rest(self) -> Array:
        """The covariance [1, 1] of t given t'."""
        return self._noisy.rest

    def at(self, kappa: Array, t: Array) -> Array:
        """The label [N, n] before noise and flips, at kappa [N] and t' [N, n] or [1, n]."""
        z = self.gamma * kappa[:, None] + self.width * t
        return np.asarray(link_values(self.target.link)(z[None]))

    def average(self, kappa: Array, averaged: Averaged, crossed: Sequence[Along]) -> Array:
        """Averages [N] over t' at kappa [N], on panels that are halved until both halves give what they do.

        averaged: the averages [P, J] over the output for labels of P panels, each of some kappa; crossed: functions of
        t' [1, n] or [N, n] whose zeros are ends of panels, each with the width of what turns there. Raises NotConverged
        where panels do not settle.
        """

        def given(owner: Index, t: Array) -> Array:
            points = Points(np.ones_like(t), self.at(kappa[owner], t), self.carry * t[:, :, None], self.rest)
            law = drawn(points, self.target, self.finer)
            values = (law.weight * averaged(law, owner)).reshape(len(t), -1, _ORDER).sum(axis=1)
            return np.asarray(values * np.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi))

        allowed = max(_CHANGE / _FINER**self.finer, _ROUNDED)
        return Rule(_ORDER, allowed).integrals(given, self._first(kappa, crossed), len(kappa))[0]

    def _first(self, kappa: Array, crossed: Sequence[Along]) -> Panels:
        """Panels between the breakpoints of the link, the given labels and what is crossed: kappa, and both ends."""
        values, cuts = link_values(self.target.link), [*function_kernel(self.target.link).BREAKPOINTS]
        if self.places:
            wanted = np.array(self.places)[:, None]
            zeros = bracketed_zeros(lambda z: values(np.atleast_2d(z)[None, 0]) - wanted, (-_BEYOND, _BEYOND))
            cuts += zeros[np.isfinite(zeros)].tolist()
        ends = np.linspace(-_REACH, _REACH, _PANELS + 1)
        edges = [np.broadcast_to(ends, (len(kappa), len(ends)))]
        edges.append((np.unique(cuts)[None] - self.gamma * kappa[:, None]) / self.width)
        for each, width in crossed:
            zeros = bracketed_zeros(each, (-_REACH, _REACH)).T
            widths = width(zeros)
            zeros = np.where(widths < _GENTLE, zeros, np.nan)
            edges += [zeros + side * away * widths for away in _AROUND for side in (-1.0, 1.0)]
        joined = np.nan_to_num(np.concatenate(edges, axis=1), nan=_REACH)
        return Panels.between(np.clip(joined, -_REACH, _REACH))
