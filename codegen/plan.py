"""Structural analysis of a saddle-point system: who depends on whom, what is explicit, linear, or truly coupled.

The strongly connected components of the dependency graph, in topological order, are solved one after the other. Within
a component the smallest set of families is torn such that all others follow explicitly; where the torn residual is
affine the component is one linear solve.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from itertools import combinations
from typing import Literal

import sympy as sp
from sympy.utilities.iterables import strongly_connected_components

from derive.blocks import (
    KAPPA,
    BlockSum,
    Definition,
    block_field,
    fresh_indices,
    names_in,
    used_indices,
)
from derive.calculus import Calculus
from derive.saddle import ORDER_PARAMETERS, RANK, SaddleSystem, member
from derive.symbols import INVERSE_DIMENSION, SYMMETRIC
from derive.tangent import Tangent, tangent_name

BlockKind = Literal["explicit", "linear", "nonlinear"]


@dataclass(frozen=True)
class Node:
    """One unknown of the system: a family of numbers, a function of kappa, a matrix inverse, or an average over the
    output that a kernel supplies (its body only says what it depends on).
    """

    name: str
    kind: Literal["family", "field", "inverse", "average"]
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
    """One component: ``torn`` families are the unknowns of the solve, ``chain`` follows from them in this order.

    ``tangents`` of a nonlinear block: what the residuals ``d_residual_X`` do along directions ``d_X`` of the torn X.
    """

    kind: BlockKind
    torn: tuple[Node, ...]
    chain: tuple[Node, ...]
    jacobian: tuple[JacobianEntry, ...]
    tangents: tuple[Node, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(node.name for node in (*self.torn, *self.chain))


@dataclass(frozen=True)
class Plan:
    """The order of computation of a whole system."""

    system: SaddleSystem
    blocks: tuple[Block, ...]

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
    nodes += [Node(i.name, "inverse", (i.row, i.column, *i.over), i.entry) for i in system.inverses]
    nodes += [Node(e.unknown, "family", e.indices, e.body, e.kind == "implicit") for e in system.equations]
    for name, partials in system.partials.items():
        nodes.append(Node(name, "average", (), sp.Add(*(block_field(of)(KAPPA) for of in partials))))
    return {node.name: node for node in sorted(nodes, key=lambda node: node.name)}


def dependencies(nodes: Mapping[str, Node]) -> dict[str, set[str]]:
    """For every unknown the unknowns in its equation (an implicit one depends on itself)."""
    return {
        name: (names_in(node.body) | ({name} if node.implicit else set())) & set(nodes) for name, node in nodes.items()
    }


def analyse(system: SaddleSystem) -> Plan:
    """Block-triangular form of a system. Raises ValueError where no tear makes a component explicit."""
    nodes = nodes_of(system)
    needs = dependencies(nodes)
    edges = [(name, other) for name in sorted(needs) for other in sorted(needs[name])]
    components = strongly_connected_components((sorted(nodes), edges))
    return Plan(system, tuple(_block(system, sorted(component), nodes, needs) for component in components))


def _block(system: SaddleSystem, names: list[str], nodes: Mapping[str, Node], needs: Mapping[str, set[str]]) -> Block:
    inside = {name: needs[name] & set(names) for name in names}
    torn = smallest_tear(names, nodes, inside)
    chain = explicit_order([name for name in names if name not in torn], inside)
    if chain is None:
        raise ValueError(f"no explicit order for {', '.join(names)}")
    chain_nodes = tuple(nodes[name] for name in chain)
    torn_nodes = tuple(nodes[name] for name in torn)
    if not torn:
        return Block("explicit", (), chain_nodes, ())
    jacobian = _jacobian(system, torn_nodes, chain_nodes)
    if not any(names_in(entry.body) & set(names) for entry in jacobian):
        divided = tuple(_divided(node) for node in torn_nodes)
        return Block("linear", divided, chain_nodes, _jacobian(system, divided, chain_nodes))
    return Block("nonlinear", torn_nodes, chain_nodes, jacobian, _tangents(system, torn_nodes, chain_nodes))


def _divided(node: Node) -> Node:
    """An implicit equation divided by what multiplies its unknown outside of all sums, where that cannot vanish: it is
    of the size of the unknown then.
    """
    unknown = member(node.name, node.indices)
    alone = [term for term in sp.Add.make_args(node.body) if term.has(unknown) and not term.has(BlockSum)]
    factor = sp.Add(*alone).coeff(unknown)
    if not node.implicit or factor == 0 or factor.has(INVERSE_DIMENSION):
        return node
    return replace(node, body=sp.Add(*(term / factor for term in sp.Add.make_args(node.body))))


def smallest_tear(names: list[str], nodes: Mapping[str, Node], inside: Mapping[str, set[str]]) -> tuple[str, ...]:
    """Fewest unknowns whose removal leaves an explicit order: fewest matrices first, then fewest families.

    Ties go to the order parameters of the theory.
    """
    must = [name for name in names if nodes[name].implicit]
    may = [name for name in names if nodes[name].kind == "family" and name not in must]
    matrices = [name for name in may if nodes[name].rank == 2]
    vectors = [name for name in may if nodes[name].rank != 2]

    bits = {name: 1 << place for place, name in enumerate(names)}  # sets of names: thousands of choices are tried
    needs = [(bit, sum(bits[other] for other in inside[name])) for name, bit in bits.items()]

    def explicit(torn: Iterable[str]) -> bool:
        return not _has_cycle(sum(bits.values()) - sum(bits[name] for name in torn), needs)

    for number in range(len(matrices) + 1):
        # a choice of matrices that fails with all vectors torn fails with fewer
        chosen = [pair for pair in combinations(matrices, number) if explicit((*must, *pair, *vectors))]
        for size in range(len(vectors) + 1):
            torn = [(*must, *sorted((*pair, *extra))) for pair in chosen for extra in combinations(vectors, size)]
            found = [candidate for candidate in torn if explicit(candidate)]
            if found:
                return min(found, key=lambda t: (sum(name not in ORDER_PARAMETERS for name in t), t))
    raise ValueError(f"no set of families makes {', '.join(names)} explicit")


def _has_cycle(left: int, needs: list[tuple[int, int]]) -> bool:
    """Whether some of the names depend on each other: those that depend on no other are taken away, again and again.

    needs: the bit of each name, and those of the names that it depends on.
    """
    before = 0
    while left != before:
        before = left
        for bit, others in needs:
            if left & bit and not left & others:
                left ^= bit
    return left != 0


def explicit_order(names: list[str], inside: Mapping[str, set[str]]) -> list[str] | None:
    """The names in an order in which each follows what it depends on; None where there is a cycle."""
    graph = {name: sorted(inside[name] & set(names)) for name in names}
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError:
        return None


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
    inverses = {inverse.name: inverse for inverse in system.inverses if inverse.name in names}
    inside = {name: rule for name, rule in parallel.items() if name in names}
    return Calculus(definitions, inverses, inside, symmetric=SYMMETRIC)


def _jacobian(system: SaddleSystem, torn: tuple[Node, ...], chain: tuple[Node, ...]) -> tuple[JacobianEntry, ...]:
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


def _tangents(system: SaddleSystem, torn: tuple[Node, ...], chain: tuple[Node, ...]) -> tuple[Node, ...]:
    """The derivatives of chain and residuals along a direction, as far as the residuals need them."""
    rules = chain_calculus(system, chain)
    functions = frozenset(node.name for node in chain if node.kind == "field")
    unknowns = frozenset(node.name for node in (*torn, *chain)) - functions
    calculus = Tangent(
        rules.definitions, rules.inverses, rules.parallel, rules.symmetric, unknowns=unknowns, functions=functions
    )
    found = [Node(f"d_residual_{n.name}", "family", n.indices, calculus.of(residual(n))) for n in torn]
    needed = set().union(*(names_in(node.body) for node in found))
    for node in reversed(chain):
        if tangent_name(node.name) in needed:
            own_rule = node.kind == "inverse" or node.name in rules.parallel
            body = calculus.through(member(node.name, node.indices)) if own_rule else calculus.of(node.body)
            kind: Literal["field", "family"] = "field" if node.kind == "field" else "family"
            found.insert(0, Node(tangent_name(node.name), kind, node.indices, body))
            needed |= names_in(body)
    return tuple(found)


def ordered_fields(system: SaddleSystem) -> Sequence[Node]:
    """Each function of kappa after those it needs."""
    waiting = {d.name: Node(d.name, "field", d.indices, d.body) for d in system.fields}
    ordered: list[Node] = []
    while waiting:
        ready = [node for node in waiting.values() if not (names_in(node.body) & set(waiting)) - {node.name}]
        ordered += ready
        waiting = {name: node for name, node in waiting.items() if node not in ready}
    return ordered
