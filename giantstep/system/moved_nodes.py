"""A solution at the nodes of a density of readout values, carried to other nodes: where the next solve begins.

Beside the fraction of their block order parameters are smooth functions of u, pairs of blocks of both; on the diagonal
of Q1 and V1 there is what a neuron has with itself, Q2 and V2. Source: THEORY section 4, equal and opposite blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from giantstep.law.readout_law import variable_of
from giantstep.spec.model import Model
from giantstep.system.result import Result

Array = np.ndarray
_WITH_ITSELF = {"Q1": "Q2", "V1": "V2"}
_SHARED = "m", "zeta", "psi", "Q2", "V2"  # by the neurons of a block


def at_other_nodes(found: Result, vocabulary: Model) -> Result | None:
    """A solution at the nodes of a vocabulary of the same density; None where it is one of other readouts."""
    before, after = found.nodes_of_readout or found.model.network.readout, vocabulary.network.readout
    count = len(before.values)
    if count < 2 or count != len(found.order_parameters["Q2"]) or before.density != after.density:
        return None
    along = variable_of(vocabulary)
    places = [along.v(np.array(readout.values)) for readout in (before, after)]
    fractions = np.array(before.fractions), np.array(after.fractions)
    order = carried(found.order_parameters, between(*places), *fractions)
    return replace(found, model=vocabulary, order_parameters=order, nodes_of_readout=None)


def carried(order: Mapping[str, Array], along: Array, fraction: Array, others: Array) -> dict[str, Array]:
    """Order parameters at other nodes; along [new, old] interpolates functions of u."""
    moved = {name: (_sums(along, (order[name].T / fraction).T).T * others).T for name in _SHARED}
    for name, alone in _WITH_ITSELF.items():
        pairs = (order[name] - np.diag(order[alone])) / np.outer(fraction, fraction)
        moved[name] = _sums(along, _sums(along, pairs).T) * np.outer(others, others) + np.diag(moved[alone])
    return moved


def _sums(matrix: Array, values: Array) -> Array:
    """The product, the same on every machine."""
    return np.asarray(np.einsum("ij,j...->i...", matrix, values, optimize=False))


def between(nodes: Array, places: Array) -> Array:
    """The matrix [new, old] of the polynomial through values at nodes; beyond these it stays as it is at the last."""
    apart = nodes[:, None] - nodes + np.eye(len(nodes))
    size = np.log(np.abs(apart)).sum(axis=1)
    weights = np.sign(apart).prod(axis=1) * np.exp(size.min() - size)
    distance = np.clip(places, nodes.min(), nodes.max())[:, None] - nodes
    exact = distance == 0.0
    terms = weights / np.where(exact, 1.0, distance)
    return np.asarray(np.where(exact.any(axis=1)[:, None], exact, terms / terms.sum(axis=1)[:, None]), dtype=float)
