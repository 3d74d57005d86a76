"""Labels of contours: one on each line, where it has most room."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.contour import ContourSet

_SIZE = 7.0  # points
_ROOM = 1.6  # of the size: from the middle of a label to an edge


def label_contours(axes: Axes, lines: ContourSet, words: Callable[[float], str]) -> None:
    """Label every line at its point farthest from edges and other labels; none where there is no room.

    words: of a level.
    """
    size = axes.figure.dpi_scale_trans.transform((_SIZE / 72.0, 0.0))[0]
    taken: list[np.ndarray] = []
    for line in (line for level in lines.allsegs for line in level):
        points = axes.transData.transform(line)
        room = _room(points, axes, taken)
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
