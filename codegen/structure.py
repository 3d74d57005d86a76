"""Structural analysis of a saddle-point system: who depends on whom, what is explicit, linear, or truly coupled.

The strongly connected components of the dependency graph, in topological order, are solved one after the other. Within
a component the smallest set of families is torn such that all others follow explicitly; where the torn residual is
affine the component is one linear solve.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from itertools import combinations
from typing import Literal

import sympy as sp
from sympy.utilities.iterables import strongly_connected_components

from derive.blocks import BlockSum, Definition, fresh_indices, names_in, rebuild, used_indices
from derive.calculus import Calculus
from derive.saddle import ORDER_PARAMETERS, RANK, SaddleSystem, member
from derive.symbols import SYMMETRIC

BlockKind = Literal["explicit", "linear", "nonlinear"]


@dataclass(frozen=True)
class Node:
    """One unknown of the system: a family of numbers, a function of kappa, or a matrix inverse."""

    name: str
    kind: Literal["family", "field", "inverse"]
    indices: tuple[sp.Symbol, ...]
    body: sp.Expr
    implicit: bool = False

    @property
    def rank(self) -> int:
        return RANK.get(self.name, 1)


@dataclass(frozen=True)
class JacobianEntry:
    """d residual(row)/d column, an expression in ``row_indices + column_indices``."""

    row: str
    column: str
    row_indices: tuple[sp.Symbol, ...]
    column_indices: tuple[sp.Symbol, ...]
    body: sp.Expr


@dataclass(frozen=True)
class Block:
    """One component: ``torn`` families are the unknowns of the solve, ``chain`` follows from them in this order."""

    kind: BlockKind
    torn: tuple[Node, ...]
    chain: tuple[Node, ...]
    jacobian: tuple[JacobianEntry, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(node.name for node in (*self.torn, *self.chain))


@dataclass(frozen=True)
class Plan:
    """The order of computation of a whole system."""

    system: SaddleSystem
    blocks: tuple[Block, ...]
    single: bool = False

    def report(self) -> str:
        """The structure in words, one line a block."""
        lines = []
        for number, block in enumerate(self.blocks, start=1):
            torn = f" in {', '.join(n.name for n in block.torn)}" if block.torn else ""
            chain = ", ".join(n.name for n in block.chain)
            lines.append(f"{number}. {block.kind}{torn}" + (f"; then {chain}" if chain else ""))
        return "\n".join(lines)


def nodes_of(system: SaddleSystem) -> dict[str, Node]:
    """All unknowns of a system by name."""
    nodes = [Node(d.name, "field", d.indices, d.body) for d in system.fields]
    inverse = system.inverse
    nodes.append(Node(inverse.name, "inverse", (inverse.row, inverse.column), inverse.entry))
    nodes += [Node(e.unknown, "family", e.indices, e.body, e.kind == "implicit") for e in system.equations]
    return {node.name: node for node in sorted(nodes, key=lambda node: node.name)}


def dependencies(nodes: Mapping[str, Node]) -> dict[str, set[str]]:
    """For every unknown the unknowns in its equation (an implicit one depends on itself)."""
    return {
        name: (names_in(node.body) | ({name} if node.implicit else set())) & set(nodes)
        for name, node in nodes.items()
    }


def analyse(system: SaddleSystem) -> Plan:
    """Block-triangular form of a system. Raises ValueError where no tear makes a component explicit."""
    nodes = nodes_of(system)
    needs = dependencies(nodes)
    edges = [(name, other) for name in sorted(needs) for other in sorted(needs[name])]
    components = strongly_connected_components((sorted(nodes), edges))
    return Plan(system, tuple(_block(system, sorted(component), nodes, needs) for component in components))


def _block(
    system: SaddleSystem, names: list[str], nodes: Mapping[str, Node], needs: Mapping[str, set[str]]
) -> Block:
    inside = {name: needs[name] & set(names) for name in names}
    torn = smallest_tear(names, nodes, inside)
    chain = _order([name for name in names if name not in torn], inside)
    if chain is None:
        raise ValueError(f"no explicit order for {', '.join(names)}")
    chain_nodes = tuple(nodes[name] for name in chain)
    torn_nodes = tuple(nodes[name] for name in torn)
    if not torn:
        return Block("explicit", (), chain_nodes, ())
    jacobian = _jacobian(system, torn_nodes, chain_nodes)
    affine = not any(names_in(entry.body) & set(names) for entry in jacobian)
    return Block("linear" if affine else "nonlinear", torn_nodes, chain_nodes, jacobian)


def smallest_tear(
    names: list[str], nodes: Mapping[str, Node], inside: Mapping[str, set[str]]
) -> tuple[str, ...]:
    """Fewest unknowns whose removal leaves an explicit order; ties go to the order parameters of the theory."""
    must = [name for name in names if nodes[name].implicit]
    may = [name for name in names if nodes[name].kind == "family" and name not in must]
    candidates: list[tuple[tuple[int, int, int, tuple[str, ...]], tuple[str, ...]]] = []
    for size in range(len(may) + 1):
        for extra in combinations(may, size):
            torn = tuple(must) + extra
            if _order([name for name in names if name not in torn], inside) is not None:
                pairs = sum(nodes[name].rank == 2 for name in torn)
                foreign = sum(name not in ORDER_PARAMETERS for name in torn)
                candidates.append(((pairs, len(torn), foreign, torn), torn))
    if not candidates:
        raise ValueError(f"no set of families makes {', '.join(names)} explicit")
    return min(candidates)[1]


def _order(names: list[str], inside: Mapping[str, set[str]]) -> list[str] | None:
    graph = {name: sorted(inside[name] & set(names)) for name in names}
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError:
        return None


def single_block(plan: Plan) -> Plan:
    """The plan for K = 1: sums have one term, indices are gone, and every loop over blocks with them."""

    def node(n: Node) -> Node:
        return replace(n, indices=(), body=at_one_block(n.body))

    def entry(e: JacobianEntry) -> JacobianEntry:
        return replace(e, row_indices=(), column_indices=(), body=at_one_block(e.body))

    blocks = tuple(
        replace(
            b,
            torn=tuple(map(node, b.torn)),
            chain=tuple(map(node, b.chain)),
            jacobian=tuple(map(entry, b.jacobian)),
        )
        for b in plan.blocks
    )
    return replace(plan, blocks=blocks, single=True)


def at_one_block(expr: sp.Expr) -> sp.Expr:
    """An index expression with the single block 0."""
    if isinstance(expr, BlockSum):
        return at_one_block(expr.body)
    if isinstance(expr, sp.Symbol):
        return sp.S.Zero if expr.is_integer else expr
    return rebuild(expr, [at_one_block(arg) for arg in expr.args]) if expr.args else expr


def residual(node: Node) -> sp.Expr:
    """What vanishes at the solution: ``unknown - body``, or the body of an implicit equation."""
    zero = sp.S.Zero
    return node.body if node.implicit else member(node.name, node.indices or (zero,) * node.rank) - node.body


def chain_calculus(system: SaddleSystem, chain: Iterable[Node]) -> Calculus:
    """Total derivatives through the explicit unknowns of a block."""
    parallel = {p.name: p for p in system.parallel}
    definitions = {
        node.name: Definition(node.name, node.indices, node.body)
        for node in chain
        if node.kind != "inverse" and node.name not in parallel
    }
    names = {node.name for node in chain}
    inverses = {system.inverse.name: system.inverse} if system.inverse.name in names else {}
    inside = {name: rule for name, rule in parallel.items() if name in names}
    return Calculus(definitions, inverses, inside, symmetric=SYMMETRIC)


def _jacobian(
    system: SaddleSystem, torn: tuple[Node, ...], chain: tuple[Node, ...]
) -> tuple[JacobianEntry, ...]:
    calculus = chain_calculus(system, chain)
    entries = []
    for row in torn:
        body = residual(row)
        for column in torn:
            # indices of the column that occur nowhere in the row or the chain, so nothing is captured
            taken = used_indices(body, *(node.body for node in chain), *row.indices)
            indices = fresh_indices(column.rank, taken)
            derivative = calculus.derivative(body, member(column.name, indices))
            entries.append(JacobianEntry(row.name, column.name, row.indices, indices, derivative))
    return tuple(entries)
