"""Panels of kappa that do not resolve the averages over output and label at a solution, which coefficients tell nothing
of.
"""

from __future__ import annotations

import re

import numpy as np

from giantstep.quadrature.gauss import legendre, legendre_coefficients, middle_and_end, tail
from giantstep.system.averaged_terms import AveragedTerms
from giantstep.system.coupled_system import CoupledSystem

Array = np.ndarray
_AVERAGES = "avg_M", "avg_g", "avg_gg", "avg_h"
_ALONG = re.compile("avg_t(_[0-9]+)?g")  # with t, of one index or several
_SHARE = 0.1  # of the tolerance: what one panel may be off by
_FAR = 1e3  # of that: from here on a panel is cut into four


def unresolved(system: CoupledSystem, tolerance: float) -> tuple[float, ...]:
    """Places in the panels of kappa, of one direction, whose errors are more than a share of the tolerance: their
    middles, and their quarters where it is much more. Of nodes without panels the ends of those that coefficients need.
    The system has averages at its unknowns.
    """
    terms, order = AveragedTerms.of(system.problem), system.level.order
    edges = terms.panel_ends(system.level)
    if not terms.have_panels(system.level):
        return tuple(edges[1:-1].tolist())
    panel = np.searchsorted(edges, system.kappa) - 1
    whole = np.flatnonzero(np.bincount(panel, minlength=len(edges) - 1) == order)
    rows = np.flatnonzero(np.isin(panel, whole))
    weighted = integrands(system) * system.table[:, 1]
    size = np.abs(weighted).sum(axis=1, keepdims=True)
    relative = np.divide(weighted, size, out=np.zeros_like(weighted), where=size > 0.0)
    error = _errors(relative[:, rows], order)
    low, high = edges[whole], edges[whole + 1]
    found: set[float] = set()
    for parts, least in ((2, _SHARE * tolerance), (4, _FAR * _SHARE * tolerance)):
        bad = error > least
        for part in range(1, parts):
            found |= set((low[bad] + (high - low)[bad] * (part / parts)).tolist())
    if system.loss.SYMMETRIC:  # where kappa is folded, panels must be so
        found |= {-place for place in found}
    return tuple(sorted(found))


def integrands(system: CoupledSystem) -> Array:
    """What the equations integrate over kappa [F, N], at the nodes of a system that has averages at its unknowns."""
    names, blocks = list(system.kernel.AVERAGES), system.blocks
    envelope, g, square, h = (system.averages[names.index(name)] for name in _AVERAGES)
    along = [row for name, row in zip(names, system.averages, strict=True) if _ALONG.fullmatch(name)]
    mu0, mu1, mu2sq = system.table[:, -3 * blocks :].T.reshape(3, blocks, -1)
    found = [envelope[None], mu0 * g, mu1 * system.kappa * g, *(mu1 * tg for tg in along), mu1**2 * h, mu1**2 * square]
    return np.concatenate([*found, mu2sq * h, mu2sq * square])


def _errors(weighted: Array, order: int) -> Array:
    """Errors [P] of the Gauss rule on panels from values at their nodes [F, P * order], times weights: how Legendre
    coefficients go on to twice the order, where they fall as from their middle to their end.
    """
    values = weighted.reshape(len(weighted), -1, order)
    return np.asarray(tail(*middle_and_end(values @ _to_coefficients(order)), power=3).max(axis=0))


def _to_coefficients(order: int) -> Array:
    """From values at the nodes of a panel times weights to coefficients."""
    return np.asarray((legendre_coefficients(order) / legendre(order)[1]).T)
