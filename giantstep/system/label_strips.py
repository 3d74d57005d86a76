"""Lines across the plane of two directions of t, where they lie, with the panels along each, and rows of what is known
at nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from giantstep.quadrature.crossings import Index, Panels

Array = np.ndarray


class LinesOfT(NamedTuple):
    """Lines along the second t: their nodes of kappa, places and weights of the first t, and indices at their zero."""

    kappa: Index
    first: Array
    weight: Array
    fixed: Array

    def chosen(self, keep: NDArray[np.bool_] | Index) -> LinesOfT:
        """Some of them."""
        return LinesOfT(*(each[keep] for each in self))


class RuledPanels(NamedTuple):
    """Panels of the second t, owned by lines, with the orders of their rules."""

    owner: Index
    low: Array
    high: Array
    order: Index

    @classmethod
    def of(cls, parts: Sequence[tuple[Panels, Index]]) -> RuledPanels:
        """All panels together, in the order of their owners."""
        panels, orders = zip(*parts, strict=True)
        owner, low, high = (np.concatenate([getattr(each, name) for each in panels]) for name in cls._fields[:3])
        return cls(owner, low, high, np.concatenate(orders)).chosen(np.argsort(owner, kind="stable"))

    def chosen(self, keep: Index) -> RuledPanels:
        """Some of them."""
        return RuledPanels(*(each[keep] for each in self))


class OuterPanels(NamedTuple):
    """Panels of the first t at nodes of kappa [N], with the indices [N, m] where t is zero there."""

    kappa: Array
    fixed: Array
    panels: Panels

    def joined(self, other: OuterPanels) -> OuterPanels:
        """Together with those of other nodes."""
        theirs = replace(other.panels, owner=len(self.kappa) + other.panels.owner)
        kappa, fixed = (np.concatenate(each) for each in zip(self[:2], other[:2], strict=True))
        return OuterPanels(kappa, fixed, self.panels.joined(theirs))


class Strips(NamedTuple):
    """Lines with panels of the second t, owned by their numbers and in their order; None where the loss averages
    straight pieces.
    """

    lines: LinesOfT
    panels: RuledPanels | None

    def chosen(self, keep: NDArray[np.bool_] | Index) -> Strips:
        """Some of the lines, in that order."""
        lines = self.lines.chosen(keep)
        if self.panels is None:
            return Strips(lines, None)
        line, count = (
            np.arange(len(self.lines.kappa))[keep],
            np.bincount(self.panels.owner, minlength=len(self.lines.kappa)),
        )
        taken = count[line]
        owner = np.repeat(np.arange(len(line)), taken)
        place = np.arange(len(owner)) + np.repeat((np.cumsum(count) - count)[line] - np.cumsum(taken) + taken, taken)
        return Strips(lines, self.panels.chosen(place)._replace(owner=owner))

    @classmethod
    def joined(cls, parts: Sequence[Strips]) -> Strips:
        """Several together."""
        lines = LinesOfT(*(np.concatenate(each) for each in zip(*(part.lines for part in parts), strict=True)))
        start = np.cumsum([0, *(len(part.lines.kappa) for part in parts)])
        panels = [
            part.panels._replace(owner=part.panels.owner + before)
            for part, before in zip(parts, start, strict=False)
            if part.panels is not None
        ]
        together = (np.concatenate(each) for each in zip(*panels, strict=True))
        return cls(lines, RuledPanels(*together) if panels else None)


class Rows(NamedTuple):
    """Where nodes stand that are sorted by their rows: their order, rows and places there, and the shape of all."""

    order: Index
    row: Index
    place: Index
    shape: tuple[int, int]

    @classmethod
    def of(cls, row: Index, rows: int) -> Rows:
        """Those of nodes in rows, of which there are so many."""
        order = np.argsort(row, kind="stable")
        row = row[order]
        place = np.arange(len(row)) - np.searchsorted(row, row)
        return cls(order, row, place, (rows, int(place.max(initial=0)) + 1))

    def filled(self, values: Array) -> Array:
        """Values [node, ...] in rows, which are filled up with zeros."""
        found = np.zeros((*self.shape, *values.shape[1:]))
        found[self.row, self.place] = values[self.order]
        return found
