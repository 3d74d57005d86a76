"""What a solver runs through again and again: the equations of a block, and their linear part.

An affine block is made homogeneous with one more coordinate: with ``one = 1`` its sweep leaves the residuals, with
``one = 0`` their linear part, so that unit vectors give the columns of its matrix exactly. A nonlinear block has a
second sweep, along tangents.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace

import sympy as sp

from codegen.plan import Block, Node, residual
from derive.blocks import BlockSum, family_name, names_in
from derive.gaussian.expectation import Expectation
from derive.symbols import INVERSE_DIMENSION

ONE = sp.Symbol("one", real=True)


def equations(block: Block) -> list[Node]:
    """The chain of a block and the residuals of its torn unknowns, in order; weights of the finite-size term."""
    nodes = [*block.chain, *(Node(f"residual_{n.name}", "family", n.indices, residual(n)) for n in block.torn)]
    if block.kind != "linear":
        return nodes
    return [*(replace(node, body=homogeneous(node.body, set(block.names))) for node in nodes), *_weights(block)]


def _weights(block: Block) -> Iterator[Node]:
    """Diagonal of what a finite-size term adds to the matrix of a block, where it adds something."""
    for node in block.torn:
        entry = next(e for e in block.jacobian if e.row == e.column == node.name)
        diagonal = entry.body.replace(sp.KroneckerDelta, lambda *_: sp.S.One)
        weight = sp.diff(diagonal, INVERSE_DIMENSION)
        if weight != 0:
            yield Node(f"weight_{node.name}", "family", node.indices, weight)


def homogeneous(expr: sp.Expr, names: AbstractSet[str]) -> sp.Expr:
    """An expression affine in the families ``names``, with ONE as a factor of every term that holds none of them.

    Raises ValueError where it is not affine.
    """
    return _linear(expr, names) if names_in(expr) & names else ONE * expr


def _linear(expr: sp.Expr, names: AbstractSet[str]) -> sp.Expr:
    if family_name(expr) is not None:
        return expr
    if isinstance(expr, sp.Add):
        inside = [arg for arg in expr.args if names_in(arg) & names]
        rest = sp.Add(*(arg for arg in expr.args if arg not in inside))
        return sp.Add(*(_linear(arg, names) for arg in inside), ONE * rest)
    if isinstance(expr, (BlockSum, Expectation)):
        return expr.func(_linear(expr.args[0], names), *expr.args[1:])
    inside = [arg for arg in expr.args if names_in(arg) & names]
    if not isinstance(expr, sp.Mul) or len(inside) != 1:
        raise ValueError(f"not affine: {expr}")
    return sp.Mul(*(_linear(arg, names) if arg is inside[0] else arg for arg in expr.args))
