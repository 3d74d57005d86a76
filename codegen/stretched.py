"""Emission of the equations of the bulk whose covariances do not commute: NumPy over the samples' residuals.

Beside the unknowns that other bulks have there is X, what the samples add to the mean resolvent's inverse, and its
adjoint. Both follow from the others, by equations of their own that are solved within those of the system.
"""

from __future__ import annotations

import sympy as sp

from codegen.bulk import block_of, bulk_module, chain_of, over_spectrum, stored
from codegen.certificate import emit_check
from codegen.plan import Node, Plan, chain_calculus, residual
from codegen.sensitivity import emit_tangents
from codegen.system_module import FOLDER
from derive.blocks import index, names_in
from derive.directions import directions_of
from derive.saddle import coupled_system, member
from derive.spectrum import STRETCHED, norm_names, plain_law

INNER = ("X", "adjoint_X")
PLACES = ("upper", "lower", "first", "inside", "last", "fixed", "unit_G", "unit_D", "unit_theta")
ALONG = ("place", "place_left", "place_right")
SAMPLES = ("sample", "base", "law_tr", "law_along", "law_te", "law_ee", "law_t", "law_e", "law_own")
MOVING = ("sample", "base", *norm_names(STRETCHED))


def emit_stretched_bulks() -> dict[str, str]:
    """Path below ``generated/`` -> text: targets of one direction and two; others are emitted when asked for."""
    return {f"{FOLDER}/{stretched_name(count)}.py": emit_stretched(count) for count in (1, 2)}


def stretched_name(directions: int) -> str:
    """Name of the module for a number of directions of the target beside the spike."""
    return "stretched_bulk" if directions == 1 else f"stretched_bulk_{directions}"


def emit_stretched(directions: int) -> str:
    """Text of the module of the equations of a stretched bulk."""
    system = coupled_system(directions, bulk=STRETCHED.name)
    plain = coupled_system(directions, bulk=plain_law(STRETCHED).name)
    block = block_of(system, plain, INNER)
    chain, inputs = chain_of(plain, block)
    torn = {node.name: node for node in block.torn if node.name != "m"}
    missed = {name: Node(f"residual_{name}", "family", n.indices, residual(n)) for name, n in torn.items()}
    m = next(node for node in chain if node.name == "M")
    response = [*_needed(chain, m), m]
    needed = _needed(chain, missed["X"])
    resolvent = [node for node in needed if node not in response]
    moved = chain_calculus(system, needed).derivative(torn["X"].body, member("X", (index("y"), index("z"))))
    slope = Node("slope_X", "family", (), moved)
    energy = [Node("free_energy", "family", (), system.free_energy)]
    adjoint = missed.pop("adjoint_X")
    after = [node for node in chain if node not in (*response, *resolvent)]
    carried = _following(after, "adjoint_X")
    functions = (
        stored("response", "The response M, and what it follows from.", response),
        stored(
            "resolvent",
            "What the equation of X is made of beside that, and its residual.",
            [*resolvent, missed.pop("X")],
        ),
        stored("slope", "The derivative of what X equals in X, [p, q, y, z].", [slope]),
        stored(
            "chain",
            "What else follows from unknowns and conjugates, without adjoint_X.",
            [node for node in after if node not in carried],
        ),
        stored("adjoint", "What follows from adjoint_X too, and its residual.", [*carried, adjoint]),
        stored("residual", "The residuals of the unknowns, stored beside them.", list(missed.values())),
        stored("free_energy", "The free energy, stored as such.", energy),
    )
    turned = ("gamma", "rho", *directions_of("mix", directions), *directions_of("across", directions))
    parts = [
        f"UNKNOWNS = {tuple(name for name in torn if name not in INNER)!r}",
        f"INNER = {INNER!r}",
        f"INPUTS = {inputs!r}",
        f"GIVEN = {(*PLACES, *ALONG, *turned, *SAMPLES, *norm_names(STRETCHED))!r}",
        *(function.text(over_spectrum(chain, contour=False)) for function in functions),
        emit_check(Plan(system, (block,))),
        emit_tangents(system, block, MOVING),
    ]
    return bulk_module(
        f"Equations of a stretched bulk, {directions} direction(s) beside the spike, any number of blocks",
        [sp.srepr(e.body) for e in system.equations],
        "\n\n\n".join(["\n".join(parts[:4]), *parts[4:]]),
    )


def _needed(chain: list[Node], last: Node) -> list[Node]:
    """Those of the chain that a node follows from."""
    names = names_in(last.body)
    found: list[Node] = []
    for node in reversed(chain):
        if node.name in names:
            found.insert(0, node)
            names |= names_in(node.body)
    return found


def _following(chain: list[Node], first: str) -> list[Node]:
    """Those of the chain that follow from a name."""
    names = {first}
    found = []
    for node in chain:
        if names & names_in(node.body):
            found.append(node)
            names.add(node.name)
    return found
