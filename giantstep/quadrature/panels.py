"""Quadrature over kappa: the table of coefficients at the nodes of panels."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from giantstep.quadrature.mesh import NARROW, WIDE, Spacing, Term, meshes, nodes

Array = np.ndarray


def terms_of(blocks: tuple[Term, ...], target: Term | None, *further: Term) -> tuple[Term, ...]:
    """All terms that panels have to resolve."""
    return tuple(dict.fromkeys((*blocks, *(() if target is None else (target,)), *further)))


@lru_cache(maxsize=128)
def table(
    blocks: tuple[Term, ...],
    target: Term | None,
    order: int,
    halvings: int = 0,
    cuts: tuple[float, ...] = (),
    further: tuple[Term, ...] = (),
    spacing: Spacing = NARROW,
) -> Array:
    """Rows (kappa, weight, nu0, nu1, nu2sq, mu0 per block, mu1 per block, mu2sq per block), shape [N, 5 + 3K].

    target: None for one of several indices, whose columns are filled elsewhere. cuts: further ends of panels; further:
    terms that the panels resolve, without a column.
    """
    mesh = meshes(terms_of(blocks, target, *further), spacing)
    edges = edges_of(blocks, target, halvings, cuts, further, spacing)
    if len(edges) == len(mesh.edges) and order in spacing.orders:
        result = np.ascontiguousarray(mesh.columns((target or blocks[0], *blocks), order).T)
    else:
        result = rows_at(blocks, target, *nodes(edges, order))
    result.flags.writeable = False
    return result


def edges_of(
    blocks: tuple[Term, ...],
    target: Term | None,
    halvings: int = 0,
    cuts: tuple[float, ...] = (),
    further: tuple[Term, ...] = (),
    spacing: Spacing = NARROW,
) -> Array:
    """The ends of the panels of a table."""
    edges = meshes(terms_of(blocks, target, *further), spacing).edges
    inside = [cut for cut in cuts if edges[0] < cut < edges[-1]]
    if inside:
        edges = np.unique(np.concatenate([edges, inside]))
    for _ in range(halvings):
        edges = np.sort(np.concatenate([edges, 0.5 * (edges[:-1] + edges[1:])]))
    return edges


@lru_cache(maxsize=128)
def wide_columns(
    blocks: tuple[Term, ...], target: Term | None, order: int, halvings: int, further: tuple[Term, ...] = ()
) -> Array:
    """The columns of a table on wide panels, [5 + 3K, N]; where one half is enough, those at kappa > 0 with twice the
    weight. further: terms that the panels resolve, without a column.
    """
    mesh, target = meshes(terms_of(blocks, target, *further), WIDE), target or blocks[0]
    for _ in range(halvings):
        mesh = mesh.halved(np.ones(len(mesh.edges) - 1, bool))
    return mesh.columns((target, *blocks), order, mesh.halves)


def rows_at(blocks: tuple[Term, ...], target: Term | None, kappa: Array, weight: Array) -> Array:
    """The rows of a table at any kappa."""
    target = target or blocks[0]
    found = {term: term.coefficients(kappa) for term in terms_of(blocks, target)}
    of_blocks = np.stack([found[term] for term in blocks], axis=1)
    rows = np.concatenate([kappa[None], weight[None], found[target], of_blocks.reshape(-1, len(kappa))])
    return np.ascontiguousarray(rows.T)
