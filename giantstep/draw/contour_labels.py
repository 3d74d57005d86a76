"""Labels of contours: one on each line, where it has most room."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.contour import ContourSet

_SIZE = 7.0  # points
_PIECES = 12  # points of a straight piece of the other line
_ROOM = 1.6  # of the size: from the middle of a label to an edge


def label_contours(axes: Axes, lines: ContourSet, words: Callable[[float], str], beside: np.ndarray) -> None:
    """Label every line at its point farthest from edges, other labels and another line; none where there is no room.

    words: of a level; beside: points [N, 2] of the other line, nan where it is interrupted.
    """
    size = axes.figure.dpi_scale_trans.transform((_SIZE / 72.0, 0.0))[0]
    other = _dense(axes.transData.transform(beside))
    taken: list[np.ndarray] = []
    for line in (line for level in lines.allsegs for line in level if len(line)):  # a level may lie beyond all values
        points = axes.transData.transform(line)
        room = np.minimum(_room(points, axes, taken), _distance(points, other))
        best = int(np.argmax(room))
        if room[best] > _ROOM * size:
            taken.append(points[best])
    places = [tuple(place) for place in axes.transData.inverted().transform(taken)] if taken else []
    if places:
        axes.clabel(lines, fmt=words, fontsize=_SIZE, manual=places)


def _room(points: np.ndarray, axes: Axes, taken: list[np.ndarray]) -> np.ndarray:
    """Distance [N] of points to the nearest edge, and half of that to the nearest label that is there."""
    box = axes.bbox
    edges = np.array([points - box.p0, box.p1 - points]).min(axis=(0, 2))
    return np.asarray(np.min([edges, *(0.5 * np.hypot(*(points - place).T) for place in taken)], axis=0))


def _dense(points: np.ndarray) -> np.ndarray:
    """Points along the straight pieces between points."""
    parts = np.linspace(0.0, 1.0, _PIECES)[:, None, None]
    dense = (points[:-1] + parts * np.diff(points, axis=0)).reshape(-1, 2)
    return dense[np.isfinite(dense).all(axis=1)]


def _distance(points: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Distance [N] of points to the nearest of others."""
    return np.asarray(np.hypot(*(points[:, None] - other).T).min(axis=0, initial=np.inf))
