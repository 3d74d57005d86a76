"""Nodes in the plane of kappa, of spikes of two directions, on lines along the first axis.

Where the output varies little about its mean, what is averaged turns on curves of the plane, within less than nodes on
two axes resolve. A line crosses a curve at places that are looked for, with panels about them; panels on lines, and
those of lines, are halved until what is integrated has settled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from giantstep.quadrature.crossings import Index, Panels, Search, crossings_of, panels_between
from giantstep.quadrature.gauss import legendre, legendre_coefficients, middle_and_end, tail
from giantstep.quadrature.mesh import initial_mesh
from giantstep.quadrature.tensor import Shape, panel_edges
from giantstep.spec.errors import NotConverged

Array = np.ndarray
_ORDER, _ROUGH = 12, 11  # nodes of a panel, and lines of one; of the estimate of their error
_TOLERANCE = 1e-12  # of what is integrated, relative to that over the plane
_SEARCH = Search(241, (-7.0, -3.5, 0.0, 3.5, 7.0))
_HALVINGS, _ROUNDED = 30, 1e-15
_MOST = 1 << 21  # nodes
_TOGETHER = 1 << 17  # nodes at which functions are taken at a time


@dataclass(frozen=True)
class _Lines:
    """Lines [L] with their shares, and panels on them; what is integrated over each, times its share [F, L]."""

    place: Array
    share: Array
    panels: Panels
    integrals: Array

    def chosen(self, keep: NDArray[np.bool_]) -> _Lines:
        """Some of them."""
        on, number = keep[self.panels.owner], np.cumsum(keep) - 1
        panels = replace(self.panels.chosen(on), owner=number[self.panels.owner[on]])
        return _Lines(self.place[keep], self.share[keep], panels, self.integrals[:, keep])

    def joined(self, other: _Lines) -> _Lines:
        """Together with others."""
        panels = self.panels.joined(replace(other.panels, owner=other.panels.owner + len(self.place)))
        place, share = (np.concatenate(each) for each in ((self.place, other.place), (self.share, other.share)))
        return _Lines(place, share, panels, np.concatenate([self.integrals, other.integrals], axis=1))

    def nodes(self, order: int) -> tuple[Array, Array]:
        """kappa [N, 2] and weight [N]."""
        t, weight = self.panels.nodes(order)
        owner = np.repeat(self.panels.owner, order)
        return np.stack([t.ravel(), self.place[owner]], axis=1), weight.ravel() * self.share[owner]


@dataclass(frozen=True)
class Plane:
    """What is integrated over the plane of kappa.

    values: functions [F, N] at kappa [N, 2]; away: what turns them where it vanishes, in units of the length of the
    turn [K, N]; longest: of panels on lines; edges: of panels of lines, which end where lines do; steep: ends of panels
    on lines that are known. scale: of what is integrated, once it is known.
    """

    values: Callable[[Array], Array]
    away: Callable[[Array], Array]
    longest: float
    edges: Array
    steep: Array
    tolerance: float = _TOLERANCE
    scale: list[Array] = field(default_factory=list, compare=False, repr=False)

    @classmethod
    def of(
        cls,
        shape: Shape,
        values: Callable[[Array], Array],
        away: Callable[[Array], Array],
        tolerance: float = _TOLERANCE,
    ) -> Plane:
        """With panels that resolve features and label as ``tensor_table`` does."""
        along, across, steep = panel_edges(shape, 0), panel_edges(shape, 1), np.empty(0)
        if terms := shape.steep(0):
            steep = np.asarray(initial_mesh(terms, shape.reach()))
        return cls(values, away, float(along[1] - along[0]), across, steep, tolerance)

    def nodes(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """kappa [N, 2] and weight [N] that settle what is integrated, for an estimate of the error on fewer lines, and
        as they are. Raises NotConverged where there are too many.
        """
        across, lines = self._settled()
        return self._lines(across, _ROUGH).nodes(_ROUGH), lines.nodes(_ORDER)

    def _settled(self) -> tuple[Panels, _Lines]:
        """Panels of lines that settle what is integrated, and these lines."""
        edges = self.edges
        active = Panels(np.zeros(len(edges) - 1, int), edges[:-1], edges[1:])
        found: list[tuple[Panels, _Lines]] = []
        for _ in range(_HALVINGS):
            lines = self._lines(active, _ORDER)
            good = self._serve(lines.integrals.reshape(len(lines.integrals), -1, _ORDER), active)
            found.append((active.chosen(good), lines.chosen(np.repeat(good, _ORDER))))
            if good.all():
                break
            if sum(len(part.panels.owner) for _, part in found) * _ORDER > _MOST:
                raise _too_many()
            active = _halved(active.chosen(~good))
        else:
            raise _too_many()
        across, lines = found[0]
        for more, further in found[1:]:
            across, lines = across.joined(more), lines.joined(further)
        return across, lines

    def _lines(self, across: Panels, order: int) -> _Lines:
        """Lines at the nodes of panels of them, with panels that settle what is integrated along each."""
        place, share = (each.ravel() for each in across.nodes(order))
        density = np.exp(-0.5 * place**2) / math.sqrt(2.0 * math.pi)
        active, done = self._between_turns(place), Panels(np.empty(0, int), np.empty(0), np.empty(0))
        integrals = np.zeros((1, len(place)))
        for _ in range(_HALVINGS):
            t, weight = active.nodes(_ORDER)
            found = self._at(t, place[active.owner]) * weight
            if not self.scale:
                self.scale.append((np.abs(found).sum(axis=2) * share[active.owner]).sum(axis=1))
            good = self._serve(found * density[active.owner][:, None], active)
            sums = found.sum(axis=2) * share[active.owner]
            integrals = integrals + np.stack([np.bincount(active.owner[good], row[good], len(place)) for row in sums])
            done, active = done.joined(active.chosen(good)), active.chosen(~good)
            if good.all():
                break
            if _ORDER * (len(done.owner) + 2 * len(active.owner)) > _MOST:
                raise _too_many()
            active = _halved(active)
        else:
            raise _too_many()
        return _Lines(place, share, done, integrals)

    def _at(self, t: Array, lines: Array) -> Array:
        """The functions [F, P, n] at places t [P, n] of lines [P]."""
        kappa = np.stack([t.ravel(), np.repeat(lines, t.shape[1])], axis=1)
        parts = np.array_split(kappa, max(1, math.ceil(len(kappa) / _TOGETHER)))
        return np.concatenate([self.values(part) for part in parts], axis=1).reshape(-1, *t.shape)

    def _serve(self, weighted: Array, panels: Panels) -> NDArray[np.bool_]:
        """Whether panels settle what is integrated, known at their nodes [F, P, n] times weight, but for rounding; what
        is no number is no number on finer ones either.
        """
        error = tail(*middle_and_end(weighted @ (legendre_coefficients(_ORDER) / legendre(_ORDER)[1]).T), power=2)
        rounded = _ROUNDED * (1.0 + np.abs(panels.low)) / (panels.high - panels.low)
        known = rounded * np.abs(weighted).sum(axis=2)
        return np.asarray(~np.any(error > self.tolerance * self.scale[0][:, None] + known, axis=0))

    def _between_turns(self, lines: Array) -> Panels:
        """Panels on lines between the places of turns."""

        def distances(t: Array, owner: Index) -> Array:
            found = self.away(np.stack([t.ravel(), np.repeat(lines[owner], t.shape[1])], axis=1))
            return found.reshape(len(found), *t.shape)

        reach = float(self.edges[-1])
        turns = crossings_of(distances, np.ones(len(lines)), _SEARCH.as_far_as(reach))
        steep = np.repeat(self.steep[:, None], len(lines), axis=1)
        return panels_between([steep, turns.T], self.longest, reach)


def _halved(panels: Panels) -> Panels:
    lower, upper = panels.halves()
    return lower.joined(upper)


def _too_many() -> NotConverged:
    return NotConverged(
        f"kappa in R^2 needs more than {_MOST} nodes",
        "the output passes kinks of the loss within very little of the spike's plane: lower fit.ridge, or use a smooth "
        "loss",
    )
