"""Links of one index that are straight between their kinks, as ``relu(z)``, ``abs(z) - 1`` and ``clip(z, -1, 1)``.

Given kappa, output and label are jointly Gaussian on each piece: a loss of the residual needs no nodes of the label.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from derive.language.links import link_of
from giantstep.quadrature.kinks import degree
from giantstep.spec.expressions import jet
from giantstep.spec.kernels import function_kernel

Array = np.ndarray
_AWAY = 1.0  # from the last kink to a place on the piece beyond it
_MOST = 12  # pieces: more are smoother by nodes
_STRAIGHT = 1e-13  # relative distance from a line


@dataclass(frozen=True, eq=False)
class Pieces:
    """The label ``value + slope z`` [J] between ``ends`` [J + 1], the first and last of which are infinite."""

    ends: Array
    value: Array
    slope: Array


@lru_cache(maxsize=256)
def pieces_of(link: str) -> Pieces | None:
    """The pieces of a link of one index that is straight between its kinks and not constant on all; None of others."""
    found = link_of(link)
    name = found.variables[0]
    if found.indices != 1 or degree(found.node, name, pieces=True) not in (0, 1):
        return None
    breaks = np.array(sorted(function_kernel(link).BREAKPOINTS), dtype=float)
    if len(breaks) >= _MOST:
        return None
    edges = np.array([breaks[0] - _AWAY, *breaks, breaks[-1] + _AWAY] if len(breaks) else [-_AWAY, _AWAY])
    share = np.array([0.5, 0.2, 0.7])[:, None]
    inside = (1.0 - share) * edges[:-1] + share * edges[1:]
    label, slopes = (np.broadcast_to(part, inside.shape) for part in jet(found.node, name, {name: inside}, 1))
    slope, value = slopes[0], label[0] - slopes[0] * inside[0]
    size = np.abs(value) + np.abs(slope) * np.max(np.abs(inside))
    if not slope.any() or np.any(np.abs(value + slope * inside - label) > _STRAIGHT * size):
        return None
    return Pieces(np.array([-np.inf, *breaks, np.inf]), value, slope)
