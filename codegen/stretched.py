"""Emission of the equations of the bulk whose covariances do not commute: text, which the runtime evaluates.

Beside the unknowns that other bulks have there is X, what the samples add to the mean resolvent's inverse, and its
adjoint. Both follow from the others, by equations of their own that are solved within those of the system.
"""

from __future__ import annotations

import sympy as sp

from codegen.bulk import block_of, bulk_module
from codegen.certificate import emit_check
from codegen.plan import Plan, chain_calculus
from codegen.sensitivity import emit_tangents
from codegen.system_module import FOLDER
from derive.blocks import index
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
    block = block_of(system, coupled_system(directions, bulk=plain_law(STRETCHED).name), INNER)
    added = next(node for node in block.torn if node.name == "X")
    at = (index("y"), index("z"))
    slope = chain_calculus(system, block.chain).derivative(added.body, member("X", at))
    turned = ("gamma", "rho", *directions_of("mix", directions), *directions_of("across", directions))
    names = tuple(node.name for node in block.torn if node.name not in INNER)
    parts = [
        f"UNKNOWNS = {names!r}",
        f"INNER = {INNER!r}",
        f"GIVEN = {(*PLACES, *ALONG, *turned, *SAMPLES, *norm_names(STRETCHED))!r}",
        emit_check(Plan(system, (block,)), "ArrayCertificate"),
        emit_tangents(system, block, MOVING, [(member("slope_X", (*added.indices, *at)), slope)]),
    ]
    return bulk_module(
        f"Equations of a stretched bulk, {directions} direction(s) beside the spike, any number of blocks",
        [sp.srepr(e.body) for e in system.equations],
        "\n\n\n".join(["\n".join(parts[:3]), *parts[3:]]),
    )
