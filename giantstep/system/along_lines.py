"""Outputs and labels along the second direction of t, on many lines: how far they are from the kinks of a loss, and the
panels on which nodes resolve averages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.chebyshev import chebvander

from generated.runtime.label_rows import find_orders
from generated.runtime.label_search import fill_distances, find_shares
from giantstep.quadrature.crossings import Index, Panels
from giantstep.quadrature.panel_orders import HIGHEST, digits_of, longest_panels
from giantstep.system.label_strips import LinesOfT, RuledPanels

Array = np.ndarray
_SHARE = 1e-3  # of the tolerance, that a panel of the second t may be off by: coefficients of lines add up tens of them
_FAR = 9.0  # spreads of the output from a kink that it does not feel
_DEGREE = 8
_PLACES = 0.5 - 0.5 * np.cos(np.pi * np.arange(_DEGREE + 1) / _DEGREE)  # of a panel, where it is told
_LAST = np.linalg.inv(chebvander(2.0 * _PLACES - 1.0, _DEGREE))[-2:].copy()  # from values there to coefficients
_HALVINGS = 36


@dataclass(frozen=True, eq=False)
class AlongLines:
    """What is known of lines, each array [line]: the output where t is zero and its slope in t, its response and its
    spread; the distance from a kink on which an average turns; what an average counts for. The label by its indices,
    which have a step in t; the images of the kinks of a loss (``images_of``), whether it is of the margin, and smooth;
    the size of the label.
    """

    lines: LinesOfT
    outputs: tuple[Array, Array, Array, Array]
    width: Array
    counts: Array
    label: Callable[[Sequence[Array]], Array]
    step: Array
    images: tuple[Array, ...]
    margin: bool
    smooth: bool
    size: float

    def distances(self, t: Array, line: Index) -> Array:
        """How far u of the output's centre is from the image of each kink, at places [I, n] of lines [I]."""
        fixed = self.lines.fixed
        t, line = np.ascontiguousarray(t), np.ascontiguousarray(line)  # another layout is compiled by itself
        label = self.label([fixed[line, i, None] + step * t for i, step in enumerate(self.step.tolist())])
        found = np.empty((len(self.images[0]), *t.shape))
        fill_distances(label, t, (line, *self.outputs), self.images, self.margin, found)
        return found

    def followed(self, panels: Panels, tolerance: float) -> RuledPanels:
        """Panels in parts on which nodes resolve averages: see ``find_orders``."""
        active, done, limits = panels, [], (_FAR, self.smooth, _DEGREE)
        for _ in range(_HALVINGS):
            length, width = active.high - active.low, self.width[active.owner]
            distances = self.distances(active.low[:, None] + length[:, None] * _PLACES, active.owner)
            orders, shares = np.empty(len(length), dtype=np.intp), np.empty(len(length))
            ends = np.ascontiguousarray(active.low), np.ascontiguousarray(active.high)
            find_shares(distances, (*ends, self.counts[active.owner], width), self.size, shares)
            given = length, width, digits_of(shares / (_SHARE * tolerance))  # those of averages that matter
            find_orders(distances, given, limits, (_PLACES, _LAST), longest_panels(), orders)
            found = orders > 0
            done.append((active.chosen(found), orders[found]))
            active = active.chosen(~found)
            if not len(active.owner):
                break
            lower, upper = active.halves()
            active = lower.joined(upper)
        return RuledPanels.of([*done, (active, np.full(len(active.owner), HIGHEST))])
