"""Nodes of kappa for complex responses: panels halved where 1/(1 + V(kappa)) is steep."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.polynomial.legendre import legvander

from giantstep.quadrature.gauss import legendre, legendre_coefficients
from giantstep.quadrature.mesh import Term, meshes
from giantstep.spec.kernels import coefficients

Array = np.ndarray
Panel = tuple[float, float]

ORDER = 16
_NARROWEST = 1e-11
_MOST_PANELS = 600
_ROUNDING = 1e-12


@dataclass
class Nodes:
    """Tables of the blocks' coefficients on panels in kappa; panels are halves of halves of those of the mesh.

    ``tolerance``: largest Legendre tail of the integrand on a panel, relative to its average over all.
    """

    blocks: tuple[Term, ...]
    tolerance: float = 1e-8
    _known: dict[Panel, Array] = field(default_factory=dict)
    _smooth: dict[Panel, bool] = field(default_factory=dict)
    _tables: dict[tuple[Panel, ...], Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        edges = meshes(self.blocks).edges
        self.base: tuple[Panel, ...] = tuple(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
        points, weights = self._points, self._weights = legendre(ORDER)
        self._halves = tuple(_interpolation(points, 0.5 * (points + side)) for side in (-1.0, 1.0))
        self._to_legendre = legendre_coefficients(ORDER)

    def table(self, panels: tuple[Panel, ...]) -> Array:
        """Rows (kappa, weight, 0, 0, 0, mu0, mu1, mu2^2 per block) on some panels, in order."""
        if panels not in self._tables:
            self._evaluate([panel for panel in panels if panel not in self._known])
            if len(self._tables) > 256:
                self._tables.clear()
            rows = np.ascontiguousarray(np.concatenate([self._known[panel] for panel in panels]))
            rows.flags.writeable = False
            self._tables[panels] = rows
        return self._tables[panels]

    def refined(self, panels: tuple[Panel, ...], integrand: Callable[[Array], Array]) -> tuple[Panel, ...] | None:
        """The panels, those halved on which a function of the table's rows, [N] complex, is not resolved.

        None where no halving resolves it: it has a pole at real kappa.
        """
        done: list[Panel] = []
        waiting, total, largest = panels, 0.0 + 0.0j, 0.0
        while waiting:
            if len(done) + len(waiting) > _MOST_PANELS:
                return None
            rows = self.table(waiting)
            values = integrand(rows)
            total += rows[:, 1] @ values
            largest = max(largest, abs(total))
            smooth = (np.exp(-0.5 * rows[:, 0] ** 2) * values).reshape(-1, ORDER)
            widths = np.array([right - left for left, right in waiting])
            tails = np.abs(smooth @ self._to_legendre[-3:].T).max(axis=1) * widths
            bad = tails > self.tolerance * max(largest, 1e-300)
            if not bad.any():
                done += waiting
                break
            halves: list[Panel] = []
            parts = (rows[:, 1] * values).reshape(-1, ORDER).sum(axis=1)
            for (left, right), halve, part in zip(waiting, bad.tolist(), parts.tolist(), strict=True):
                if not halve:
                    done.append((left, right))
                    continue
                middle = 0.5 * (left + right)
                if right - left < _NARROWEST * max(1.0, abs(middle)):
                    return None
                halves += [(left, middle), (middle, right)]
                self._interpolate((left, right), halves[-2:])
                total -= part
            waiting = tuple(halves)
        return tuple(sorted(done))

    def _interpolate(self, whole: Panel, halves: Sequence[Panel]) -> None:
        """The coefficients on both halves of a panel on which they are smooth to rounding."""
        if halves[0] in self._known:
            return
        if whole not in self._smooth:
            values = self._known[whole][:, 5:]
            tails = np.abs(self._to_legendre[-2:] @ values).max(axis=0)
            self._smooth[whole] = bool(np.all(tails <= _ROUNDING * np.abs(values).max(axis=0)))
        if self._smooth[whole]:
            for half, matrix in zip(halves, self._halves, strict=True):
                rows = np.zeros_like(self._known[whole])
                rows[:, 0], rows[:, 1] = self._places(half)
                rows[:, 5:] = matrix @ self._known[whole][:, 5:]
                self._known[half], self._smooth[half] = rows, True

    def _places(self, panel: Panel) -> tuple[Array, Array]:
        """Nodes on a panel, and weights times the standard normal density."""
        half = 0.5 * (panel[1] - panel[0])
        kappa = 0.5 * (panel[0] + panel[1]) + half * self._points
        return kappa, half * self._weights * np.exp(-0.5 * kappa * kappa) / math.sqrt(2.0 * math.pi)

    def _evaluate(self, panels: list[Panel]) -> None:
        if not panels:
            return
        points = [self._places(panel) for panel in panels]
        kappa = np.concatenate([k for k, _ in points])
        weight = np.concatenate([w for _, w in points])
        found: dict[Term, Array] = {}
        for term in self.blocks:
            found[term] = coefficients(term.function, term.scale * kappa + term.offset, term.variance)
        of_blocks = np.stack([found[term] for term in self.blocks], axis=1).reshape(-1, len(kappa))
        rows = np.concatenate([kappa[None], weight[None], np.zeros((3, len(kappa))), of_blocks]).T
        for number, panel in enumerate(panels):
            self._known[panel] = rows[number * ORDER : (number + 1) * ORDER]


def _interpolation(points: Array, at: Array) -> Array:
    """Matrix from values at the points of a panel to those of the interpolating polynomial elsewhere."""
    degree = len(points) - 1
    return np.asarray(np.linalg.solve(legvander(points, degree).T, legvander(at, degree).T).T)
