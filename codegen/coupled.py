"""Module of the coupled system of any convex loss: fields, residuals, Jacobian and observables, averages given.

The averages over the output come from the module of a loss (``codegen.losses``); Newton's method is run by
``giantstep.system.newton``. The columns of the Jacobian are tangents of the residuals.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import sympy as sp
from sympy.utilities.iterables import strongly_connected_components

from codegen.certificate import emit_check
from codegen.plan import (
    Block,
    Node,
    Plan,
    chain_calculus,
    dependencies,
    explicit_order,
    nodes_of,
    residual,
    smallest_tear,
)
from codegen.program import OBSERVABLES, Program
from codegen.sensitivity import emit_tangents
from codegen.system_module import module_text, of_spike
from codegen.templates import read
from derive.blocks import KAPPA, block_field, names_in
from derive.directions import directions_of
from derive.output import output_averages
from derive.saddle import SaddleSystem, coupled_system, member
from derive.spectrum import SpectralLaw, given_names, stand_in_names
from derive.tangent import Tangent, tangent_name


def emit_coupled_system(law: SpectralLaw, directions: int = 1, spikes: int = 1) -> str:
    """Text of the system of any convex loss with a law of one covariance.

    directions: of the target beside the spike, spikes: of the spike.
    """
    system = coupled_system(directions, spikes, law.name)
    block = coupled_block(system)
    torn, chain = ", ".join(n.name for n in block.torn), ", ".join(n.name for n in block.chain)
    order = [f"1. nonlinear in {torn}; then {chain}", "avg_*: supplied by the module of the loss"]
    title = f"of any convex loss, {directions} direction(s) beside the spike, {of_spike(spikes)}any number of blocks K"
    title += f", {law.title}" * bool(law.title)
    return module_text(system, title, order, emit_coupled(system, block), __name__)


def coupled_block(system: SaddleSystem) -> Block:
    """The component that holds the averages over the output: its torn unknowns, and all others in explicit order.

    Raises ValueError where there is no such order.
    """
    nodes = nodes_of(system)
    needs = dependencies(nodes)
    edges = [(name, other) for name in sorted(needs) for other in sorted(needs[name])]
    components = strongly_connected_components((sorted(nodes), edges))
    names = sorted(max(components, key=lambda component: len(list(component))))
    inside = {name: needs[name] & set(names) for name in names}
    torn = smallest_tear(names, nodes, inside)
    chain = explicit_order([name for name in names if name not in torn], inside)
    if chain is None:
        raise ValueError(f"no explicit order for {', '.join(names)}")
    return Block("nonlinear", tuple(nodes[n] for n in torn), tuple(nodes[n] for n in chain), ())


def emit_coupled(system: SaddleSystem, block: Block) -> str:
    """Text of the module of a coupled system below its header: numba, any number of blocks."""
    program = Program(system)
    averages = tuple(output_averages(system.directions).monomials)
    slopes = tuple(directions_of("slope", system.directions))
    _reserve(program, block, (*slopes, *averages))
    program.reserve(given_names(system.law))  # given, as the order parameters are for the averages
    program.reserve(tuple(map(tangent_name, stand_in_names(system.law))))
    before, after = _halves(block)
    residuals = [Node(f"residual_{n.name}", "family", n.indices, residual(n)) for n in block.torn]
    functions = [
        program.function(
            "fields",
            "Everything up to the law of the output, from the unknowns.",
            program.statements(before),
            entry=True,
        ),
        program.function(
            "residual",
            "The residuals of the unknowns, given the averages over the output.",
            program.statements([*after, *residuals]),
            entry=True,
        ),
        program.function(
            "_tangents",
            "What the residuals do along a direction of the unknowns.",
            program.statements(list(tangents(system, block))),
        ),
        read("jacobian"),
        program.observables(f"out = ({', '.join(OBSERVABLES)}).", entry=True),
        emit_check(Plan(system, (block,))),
        emit_tangents(system, block, stand_in_names(system.law)),
    ]
    known = [
        *program.places.constants(),
        f"UNKNOWNS = {tuple(n.name for n in block.torn)!r}",
        "BLOCKS = (UNKNOWNS,)",
        f"AVERAGES = {averages!r}  # over the output",
        f"SLOPES = {slopes!r}",
    ]
    return "\n\n\n".join(["\n".join(known), *functions]) + "\n"


def _reserve(program: Program, block: Block, fields: Iterable[str]) -> None:
    """Rows: unknowns with their residuals and tangents; functions of kappa that a loss is given next to each other."""
    for prefix in ("{}", "residual_{}", "d_{}", "d_residual_{}"):
        program.reserve([prefix.format(node.name) for node in block.torn])
    families = [n.name for n in block.chain if n.kind not in ("field", "average")]
    program.reserve([*families, *map(tangent_name, families)])
    program.places.reserve(fields, None)


def _halves(block: Block) -> tuple[list[Node], list[Node]]:
    """The chain that leads to the averages, and what follows from them."""
    known = {node.name for node in block.torn}
    inside = set(block.names)
    before: list[Node] = []
    after: list[Node] = []
    for node in block.chain:
        if node.kind == "average":
            continue
        early = names_in(node.body) & inside <= known
        known |= {node.name} if early else set()
        (before if early else after).append(node)
    return before, after


def tangents(system: SaddleSystem, block: Block) -> Iterable[Node]:
    """The chain and the residuals, differentiated along the unknowns."""
    rules = chain_calculus(system, block.chain)
    functions = frozenset(n.name for n in block.chain if n.kind in ("field", "average"))
    unknowns = (frozenset(block.names) - functions) | frozenset(stand_in_names(system.law))
    calculus = Tangent(
        rules.definitions, rules.inverses, rules.parallel, rules.symmetric, system.partials, unknowns, functions
    )
    residuals = [(n, calculus.of(residual(n))) for n in block.torn]
    found = [Node(f"d_residual_{n.name}", "family", n.indices, body) for n, body in residuals]
    needed = set().union(*(names_in(node.body) for node in found))
    for node in reversed(block.chain):
        if tangent_name(node.name) in needed:
            kind: Literal["field", "family"] = "field" if node.name in functions else "family"
            found.insert(0, Node(tangent_name(node.name), kind, node.indices, tangent_of(calculus, node)))
            needed |= names_in(found[0].body)
    return found


def tangent_of(calculus: Tangent, node: Node) -> sp.Expr:
    """The tangent of one unknown of a chain."""
    if node.kind == "average":
        return calculus.through(block_field(node.name)(KAPPA))
    if node.kind == "inverse" or node.name in calculus.parallel:
        return calculus.through(member(node.name, node.indices))
    return calculus.of(node.body)
