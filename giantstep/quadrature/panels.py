"""Quadrature over kappa: the table of coefficients at the nodes of panels."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from giantstep.quadrature.mesh import NARROW, Mesh, Spacing, Term, meshes, nodes, weights_at

Array = np.ndarray


@lru_cache(maxsize=128)
def table(
    blocks: tuple[Term, ...],
    target: Term,
    order: int,
    halvings: int = 0,
    cuts: tuple[float, ...] = (),
    further: tuple[Term, ...] = (),
    spacing: Spacing = NARROW,
) -> Array:
    """Rows (kappa, weight, nu0, nu1, nu2sq, mu0 per block, mu1 per block, mu2sq per block), shape [N, 5 + 3K].

    cuts: further ends of panels; further: terms that the panels resolve, without a column.
    """
    mesh = meshes(tuple(dict.fromkeys((*blocks, target, *further))), spacing)
    edges = mesh.edges
    inside = [cut for cut in cuts if edges[0] < cut < edges[-1]]
    if not inside and halvings == 0 and order in spacing.orders:
        result = np.ascontiguousarray(_columns(mesh, blocks, target, order).T)
    else:
        edges = np.unique(np.concatenate([edges, inside]))
        for _ in range(halvings):
            edges = np.sort(np.concatenate([edges, 0.5 * (edges[:-1] + edges[1:])]))
        result = rows_at(blocks, target, *nodes(edges, order))
    result.flags.writeable = False
    return result


def half_table(blocks: tuple[Term, ...], target: Term, order: int, halvings: int, spacing: Spacing) -> Array:
    """The same at kappa > 0 with twice the weight, where label and features are odd together, or even; else all rows.

    Every average of the square loss is then one of an even function.
    """
    rows = table(blocks, target, order, halvings, spacing=spacing)
    parities, kappa = {term.parity for term in (*blocks, target)}, rows[:, 0]
    if len(parities) > 1 or "none" in parities or not np.array_equal(kappa, -kappa[::-1]):
        return rows
    half = rows[len(rows) // 2 :].copy()
    half[:, 1] *= 2.0
    half.flags.writeable = False
    return half


def _columns(mesh: Mesh, blocks: tuple[Term, ...], target: Term, order: int) -> Array:
    """The columns of a table [5 + 3K, N] at the nodes of a mesh."""
    place = mesh.places(order)
    kappa = mesh.kappa[:, place].ravel()
    values = mesh.values[..., place].reshape(len(mesh.terms), 3, -1)
    number = {term: i for i, term in enumerate(mesh.terms)}
    found = np.empty((5 + 3 * len(blocks), kappa.size))
    found[0], found[1], found[2:5] = kappa, weights_at(mesh.edges, kappa, order), values[number[target]]
    found[5:] = values[[number[term] for term in blocks]].transpose(1, 0, 2).reshape(-1, kappa.size)
    return found


def rows_at(blocks: tuple[Term, ...], target: Term, kappa: Array, weight: Array) -> Array:
    """The rows of a table at any kappa."""
    found = {term: term.coefficients(kappa) for term in dict.fromkeys((target, *blocks))}
    of_blocks = np.stack([found[term] for term in blocks], axis=1)
    rows = np.concatenate([kappa[None], weight[None], found[target], of_blocks.reshape(-1, len(kappa))])
    return np.ascontiguousarray(rows.T)
