"""What noisy labels tell of two indices where the link is linear on polygons, given kappa: in closed form given y."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from generated.runtime.polygon_labels import Labels, moments_on_polygons, told_on_polygons
from generated.runtime.polygons import Edges
from giantstep.law.label_cells import Plane, plane_of
from giantstep.observe.optimal.known_pair import NoisyPair

Array = np.ndarray
_LABEL, _TAIL = 0.85, 5.6  # step of y over the least deviation on a polygon, and reach over each


@dataclass(frozen=True, eq=False)
class OnPolygons(NoisyPair):
    """Averages over such a label given kappa."""

    def values(self, kappa: Array, low: Array, high: Array) -> Array:
        """What labels tell at kappa [2, P, n, n], the same on all panels: [P, n, n, 4], of t1^2, t1 t2, t2^2, and of
        the square of t^2 - 1.
        """
        labels = self._labels(kappa)
        chances = np.ascontiguousarray(moments_on_polygons(labels)[:, :, 0])
        squares = np.zeros(2) if self.squared is None else np.eye(2)[self.squared]
        found: Array = told_on_polygons(labels, chances, squares, (_LABEL / self.finer, _TAIL))
        found[:, 1] *= self._side
        return found.reshape(*kappa.shape[1:], 4)

    def variances(self, kappa: Array, low: Array, high: Array) -> Array:
        """The variance of the link at kappa in the first place of [P, n, n, 4], zeros beside it."""
        labels = self._labels(kappa)
        moments, slope = moments_on_polygons(labels), labels.slope
        whole = moments[:, :, 0]
        first = np.einsum("nja,ja->nj", moments[:, :, 1:3], slope)
        mean = (labels.label * whole + first).sum(axis=1, keepdims=True) / whole.sum(axis=1, keepdims=True)
        beside = labels.label - mean
        squares = np.stack([slope[:, 0] ** 2, 2.0 * slope[:, 0] * slope[:, 1], slope[:, 1] ** 2], axis=1)
        found = np.zeros((len(mean), 4))
        found[:, 0] = (
            beside * (beside * whole + 2.0 * first) + np.einsum("njc,jc->nj", moments[:, :, 3:], squares)
        ).sum(axis=1)
        return found.reshape(*kappa.shape[1:], 4)

    def of_signs(self, kappa: Array) -> Array:
        """Of a link +-1 the chances, means of t and of t^2 - 1 of both signs at kappa [2, ...]: [N, 2, 4]."""
        labels = self._labels(kappa)
        signs = np.stack([labels.label < 0.0, labels.label > 0.0], axis=1).astype(float)
        found = signs @ moments_on_polygons(labels)
        found[:, :, 2] *= self._side
        square = found[:, :, 0] if self.squared is None else found[:, :, 3 + 2 * self.squared]
        return np.concatenate([found[:, :, :3], (square - found[:, :, 0])[:, :, None]], axis=2)

    @cached_property
    def _plane(self) -> Plane:
        plane = plane_of(self.link)
        assert plane is not None
        return plane

    @property
    def _side(self) -> float:
        """Of the second axis, so that both keep the sense of turns."""
        return math.copysign(1.0, float(np.linalg.det(self.turn)))

    def _labels(self, kappa: Array) -> Labels:
        """The link at kappa."""
        plane = self._plane
        lower = self.turn * self.width * np.array([1.0, self._side])
        means = (self.root @ kappa.reshape(2, -1)).T
        edges = Edges(plane.first, *(np.ascontiguousarray(each) for each in plane.edges(lower, means)))
        label = np.ascontiguousarray(plane.value + means @ plane.slope.T)
        return Labels(edges, label, np.ascontiguousarray(plane.slope @ lower), self.noise)
