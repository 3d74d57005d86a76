"""Nodes that stand for a density of readout values: their moments against integrals of the density by own panels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from derive.language.grammar import parse
from giantstep.spec.expressions import jet, prepare
from giantstep.spec.model import Model
from giantstep.spec.readout_density import DENSITIES
from giantstep.verify.giant_step import Rows
from giantstep.verify.quadrature import panels

Array = np.ndarray
_FARTHEST, _COARSEST = 200.0, 400  # |u| looked at, panels to begin with
_HALVINGS, _SETTLED = 48, 1e-14  # of the sum of all


def density_differs(model: Model, rows: Rows) -> float:
    """What averages over the nodes of a vocabulary differ by from those over its density, of functions that vary
    with u as the features of ``rows`` do; zero for values that are given.
    """
    readout = model.network.readout
    if readout.density is None:
        return 0.0
    values = np.array(readout.values)
    moved = (rows.loadings**2).sum(axis=1) + np.abs(rows.variances - 1.0)
    rate = float(np.sqrt(np.max(moved / np.maximum(values**2, 1e-2 * np.max(values**2)))))
    whole, *moments = _integrals(readout.density, rate)
    found = _functions(values, rate)[1:] @ np.array(readout.fractions)
    return float(np.max(np.abs(found - np.array(moments) / whole)))


def _functions(u: Array, rate: float) -> Array:
    x = rate * u
    return np.array([np.ones_like(u), x / (1.0 + x * x), 1.0 / (1.0 + x * x), 1.0 / (4.0 + x * x)])


def _integrals(text: str, rate: float) -> Array:
    """Of the density, not normalised, times each function."""
    prepared = prepare(parse(DENSITIES.get(text.strip(), text), ("u",)))

    def integrals(edges: Array) -> Array:
        """[functions, panels] between edges [panels, 2]."""
        u, weight = panels(edges)
        weighed = weight * np.asarray(jet(prepared, "u", {"u": u}, 0)[0])
        return np.asarray((_functions(u, rate) * weighed).sum(axis=-1))

    return _settled(integrals, np.linspace(-_FARTHEST, _FARTHEST, _COARSEST + 1))


def _settled(integrals: Callable[[Array], Array], edges: Array) -> Array:
    """The sum over panels, which are halved until both halves give what the whole gave."""
    ends = np.stack([edges[:-1], edges[1:]], axis=-1)
    whole = integrals(ends)
    found, size = np.zeros(len(whole)), np.abs(whole).sum(axis=1)
    for _ in range(_HALVINGS):
        middle = ends.mean(axis=1, keepdims=True)
        halves = np.concatenate([np.hstack([ends[:, :1], middle]), np.hstack([middle, ends[:, 1:]])])
        parts = integrals(halves)
        both = parts[:, : len(ends)] + parts[:, len(ends) :]
        size = np.maximum(size, np.abs(both).sum(axis=1))
        done = np.all(np.abs(both - whole) <= _SETTLED * size[:, None], axis=0)
        found += both[:, done].sum(axis=1)
        kept = np.tile(~done, 2)
        ends, whole = halves[kept], parts[:, kept]
        if not len(ends):
            break
    return np.asarray(found + whole.sum(axis=1))
