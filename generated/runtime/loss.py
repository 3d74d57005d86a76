"""What a module of a loss offers: averages over the output, and the loss itself.

Written by hand, in codegen/runtime/loss.py.
Generated; do not edit. Signature 450436cbd6eb4ee0, runtime a31f41c318f98f42.
Regenerate with: giantstep generate
"""

# fmt: off

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from generated.runtime.compiling import edge_at, entry, piece_at
from generated.runtime.label_intervals import intervals
from generated.runtime.label_points import points
from generated.runtime.nodes import fill_nodes
from generated.runtime.prox import Law, find_cell


class Rules(NamedTuple):
    """The rules for one loss, without their first argument."""

    points: Callable[..., Any]
    intervals: Callable[..., Any]
    nodes: Callable[..., Any]
    piece: Callable[..., Any]
    edge: Callable[..., Any]
    cell: Callable[..., Any]


def rules(law: Law) -> Rules:
    """The rules for a loss; each is compiled at first use, for all losses."""
    return Rules(*(partial(rule, law) for rule in (points, intervals, nodes, piece, edge, cell)))


@entry
def nodes(law, rule, y, output, turns, scratch):
    """Nodes for an average over omega_u: see `fill_nodes`."""
    return fill_nodes(law, rule, y, output, turns, scratch)


@entry
def piece(law, k, u, y, q):
    """Value, slope and curvature of rho on piece k."""
    return piece_at(law.pieces, k, y, q, u)


@entry
def edge(law, k, y, q):
    """Breakpoint at the end of piece k of rho, in u."""
    return edge_at(law.edge, k, y, q)


@entry
def cell(law, y):
    """The first piece that holds at the label y, and how many do."""
    return find_cell(law, y)

SIGNATURE = "450436cbd6eb4ee04dc8dd126555e01fe065ab6ba85d097befdee7086de2d493"
