"""Labels of two indices that are linear on polygons, as ``max(z1, z2)`` and ``relu(z1) + relu(z2)`` are.

Given kappa and the difference of output and label, what is left of the indices is a Gaussian pair: a loss of the
residual needs its moments on the polygons and no nodes of the label.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from derive.language.links import link_of
from giantstep.law.directions import noisy_indices
from giantstep.law.kinds_of_labels import Labels, Points
from giantstep.law.label_lines import Lines, are_lines, lines_given_kappa
from giantstep.quadrature.kinks import LINE, along_a_line, degree, kinks
from giantstep.quadrature.line_arrangement import Polygon, different_lines, polygons
from giantstep.spec.expressions import jet
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Target

Array = np.ndarray
_MOST_LINES = 12
_FLAT = 1e-6  # of the larger width of the indices beside kappa: below, they are one
_AWAY = 1.0  # between two places where a slope is read off


@dataclass(frozen=True, eq=False)
class Plane:
    """The polygons on which a link is linear: kinks ``normal.z = offset`` [L, 3], values at zero [J], slopes [J, 2]."""

    kinks: Array
    polygons: tuple[Polygon, ...]
    value: Array
    slope: Array

    @cached_property
    def first(self) -> Array:
        """Where the edges of each polygon begin [J + 1]."""
        return np.cumsum([0, *(len(polygon.edges) for polygon in self.polygons)])

    def edges(self, lower: Array, beside: Array) -> tuple[Array, Array, Array, Array]:
        """Of all polygons in x, z = beside + lower x, lower of positive determinant, at places beside [N, 2]: normal
        [E, 2] outwards, distance along it, start and end along the edge, [N, E], each with its polygon to the left.
        """
        edges = [edge for polygon in self.polygons for edge in polygon.edges]
        of_line = [edge.line for edge in edges]
        side = np.array([edge.side for edge in edges])
        normal = side[:, None] * self.kinks[of_line, :2] @ lower
        length = np.linalg.norm(normal, axis=1)
        normal /= length[:, None]
        distance = side * (self.kinks[of_line, 2] - beside @ self.kinks[of_line, :2].T) / length
        along = np.column_stack([-normal[:, 1], normal[:, 0]]) @ np.linalg.inv(lower)  # of places z
        ends = [
            np.array([[sign * np.inf] * 2 if corner is None else corner for corner in corners]).reshape(-1, 2)
            for sign, corners in ((-1.0, [edge.start for edge in edges]), (1.0, [edge.end for edge in edges]))
        ]
        start, end = (
            np.where(np.isinf(corner[:, 0]), corner[:, 0], np.einsum("ei,nei->ne", along, _from(beside, corner)))
            for corner in ends
        )
        return normal, distance, start, end


@dataclass(frozen=True)
class Cells:
    """Labels ``label + slope.x`` with t about ``carry x``, x a standard normal pair, on polygons at nodes kappa [N, q].

    label [N, J], slope [J, 2], carry [D, 2]; rest [D, D]: the covariance of t beside x. Edges of all polygons, those of
    polygon j from first[j] on: normal [E, 2] outwards, distance along it, start and end along the edge, [N, E], each
    with its polygon to the left.
    """

    target: Target
    overlaps: Rows
    kappa: Array
    label: Array
    slope: Array
    first: Array
    normal: Array
    distance: Array
    start: Array
    end: Array
    carry: Array
    rest: Array

    nodes = 0  # of the label: averages given kappa are exact

    @property
    def directions(self) -> int:
        """Number of directions of the target beside the spike."""
        return len(self.carry)

    @property
    def constants(self) -> list[float]:
        """The labels of polygons on which they do not vary."""
        return sorted(set(self.label[0, ~self.slope.any(axis=1)].tolist()))

    @cached_property
    def points(self) -> Points:
        """The same labels one by one, at nodes."""
        return lines_given_kappa(self.target, self.overlaps, self.kappa, 0, False).points


LabelLaw = Labels | Lines | Cells


def straight_law(
    target: Target, overlaps: Rows, loss: tuple[str, float], kappa: Array, finer: int = 0, rough: bool = False
) -> Lines | Cells | None:
    """The law of a label that a loss of such a form and bend takes as straight pieces, at kappa [N, q] for overlaps
    [q, m]; None of any other.

    Raises NotConverged where there are too many nodes.
    """
    if are_cells(target, overlaps, loss[0]):
        return cells_given_kappa(target, overlaps, kappa)
    return lines_given_kappa(target, overlaps, kappa, finer, rough) if are_lines(target, overlaps, *loss) else None


def are_cells(target: Target, overlaps: Rows, form: str) -> bool:
    """Whether a loss of that form takes the label as polygons: it is linear on those of two indices that vary beside
    kappa, and nothing is drawn after it; overlaps [q, m].
    """
    if form != "residual" or target.channel is not None or target.flips > 0.0 or target.indices != 2:
        return False
    widths = np.linalg.svd(noisy_indices(np.array(overlaps), target.probit).lower, compute_uv=False)
    return bool(widths[1] > _FLAT * widths[0]) and plane_of(target.link) is not None


def cells_given_kappa(target: Target, overlaps: Rows, kappa: Array) -> Cells:
    """The law of a label that is linear on polygons, at kappa [N, q] for overlaps [q, m]."""
    plane, gamma = plane_of(target.link), np.array(overlaps)
    assert plane is not None
    noisy, beside = noisy_indices(gamma, target.probit), kappa @ gamma
    return Cells(
        target,
        overlaps,
        kappa,
        plane.value + beside @ plane.slope.T,
        plane.slope @ noisy.lower,
        plane.first,
        *plane.edges(noisy.lower, beside),
        np.ascontiguousarray(noisy.carry),
        noisy.rest,
    )


def _from(beside: Array, corner: Array) -> Array:
    """Corners [E, 2] as seen from places [N, 2]; zero for those at infinity."""
    return np.where(np.isinf(corner), 0.0, corner - beside[:, None])


@lru_cache(maxsize=256)
def plane_of(link: str) -> Plane | None:
    """The polygons on which a link of two indices is linear; None where it is not, or where they are too many."""
    found = link_of(link)
    names = found.variables
    if len(names) != 2 or degree(along_a_line(found.node, names), LINE, pieces=True) not in (0, 1):
        return None
    tried = dict.fromkeys(kinks(found.node))
    if any(degree(along_a_line(kink, names), LINE) != 1 for kink in tried):
        return None
    origin, aside = {name: np.zeros(1) for name in names}, []
    for kink in tried:
        at_zero = float(jet(kink, names[0], origin, 0)[0][0])
        aside.append([*(float(jet(kink, name, origin, 1)[1][0]) for name in names), -at_zero])
    lines = different_lines(np.array(aside).reshape(-1, 3))
    if len(lines) > _MOST_LINES:
        return None
    cells = tuple(polygons(lines))
    inside = dict(zip(names, np.array([cell.inside for cell in cells]).T, strict=True))
    slope = np.column_stack([np.broadcast_to(jet(found.node, name, inside, 1)[1], len(cells)) for name in names])
    value = np.broadcast_to(jet(found.node, names[0], inside, 0)[0], len(cells))
    return Plane(lines, cells, value - (slope * np.array([cell.inside for cell in cells])).sum(axis=1), slope)
