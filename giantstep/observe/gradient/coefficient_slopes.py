"""Derivatives of the conditional coefficients in shift and variance, by the generated averages over g."""

from __future__ import annotations

import math
from functools import lru_cache, partial

import numpy as np

from generated.systems import slopes as generated_slopes
from giantstep.quadrature.interpolation import between, chebyshev_table
from giantstep.quadrature.mesh import Term, initial_mesh, nodes
from giantstep.spec.errors import NotConverged
from giantstep.spec.expressions import numpy_values
from giantstep.spec.kernels import coefficients

Array = np.ndarray
_ORDER = 16
_REACH = 11.0  # of g
_HALVINGS = 4
_SETTLED, _WORST = 1e-11, 1e-8  # of the change under halving, relative to the largest of each kind
_NEGLIGIBLE = 1e-12  # of E f^2: a rest this small is none
_MANY = 3000  # places: more than one direction of kappa needs
_NODES = 400_000  # of all points together that are handled at a time


@lru_cache(maxsize=64)
def slopes_along(term: Term, places: tuple[float, ...]) -> Array:
    """d(mu0, mu1, mu2sq)/ds and d(mu0, mu1, mu2sq)/dc of a term at places of kappa: shape [6, N], read-only.

    Of many places, as where kappa has several directions, between Chebyshev points. Raises NotConverged where they do
    not settle.
    """
    shifts = term.scale * np.array(places) + term.offset
    if len(shifts) > _MANY:
        found = between(partial(_table, term.function, term.variance), term.variance, shifts)
    else:
        found = _slopes(term.function, term.variance, shifts)
    found.flags.writeable = False
    return found


@lru_cache(maxsize=16)
def _table(function: str, variance: float, low: int, high: int) -> Array:
    return chebyshev_table(partial(_slopes, function, variance), variance, low, high)


def _slopes(function: str, variance: float, shifts: Array) -> Array:
    """The same at shifts [N]."""
    term, mu, per_point = Term(function, 1.0, 0.0, variance), coefficients(function, shifts, variance), _NODES // 800
    parts = [
        _settled(term, shifts[i : i + per_point], mu[:, i : i + per_point]) for i in range(0, len(shifts), per_point)
    ]
    return np.concatenate(parts, axis=1)


def _settled(term: Term, shifts: Array, mu: Array) -> Array:
    previous: Array | None = None
    error = math.inf
    for halvings in range(_HALVINGS):
        current = _averages(term, shifts, mu, halvings)
        if previous is not None:
            error = float(np.max(np.abs(current - previous) / _scale(term, mu, current)))
            if error <= _SETTLED:
                return current
        previous = current
    if previous is None or not error <= _WORST:
        raise NotConverged(
            f"the slopes of the averages of {term.function!r} do not settle: {error:.1e}",
            "the function varies too sharply; lower the learning rate or the spike strength",
        )
    return previous


def _scale(term: Term, mu: Array, slopes: Array) -> Array:
    """What the slopes are to be exact relative to: [6, 1]."""
    second = float((mu[0] ** 2 + mu[1] ** 2 + mu[2]).max())
    root = math.sqrt(second)
    of = np.array([root, root, max(float(mu[2].max()), _NEGLIGIBLE * second)])
    units = np.concatenate([of / math.sqrt(term.variance), of / term.variance])
    return np.asarray(np.maximum(np.maximum(np.abs(slopes).max(axis=1), units), 1e-300)[:, None])


def _averages(term: Term, shifts: Array, mu: Array, halvings: int) -> Array:
    root = math.sqrt(term.variance)
    panels = []
    for shift in shifts:
        edges = initial_mesh([Term(term.function, root, float(shift), 0.0)], _REACH)
        for _ in range(halvings):
            edges = np.sort(np.concatenate([edges, 0.5 * (edges[:-1] + edges[1:])]))
        panels.append(nodes(edges, _ORDER))
    longest = max(len(g) for g, _ in panels)
    g, weight = np.zeros((len(shifts), longest)), np.zeros((len(shifts), longest))
    for row, (here, weights) in enumerate(panels):
        g[row, : len(here)], weight[row, : len(here)] = here, weights
    phi = np.broadcast_to(numpy_values(term.function)(shifts[:, None] + root * g), g.shape)
    rest = (phi - mu[0][:, None] - mu[1][:, None] * g) ** 2
    return np.array(generated_slopes.coefficient_slopes(g, weight, phi, rest, term.variance))
