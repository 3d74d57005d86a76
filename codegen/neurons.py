"""Emission of the equations of a given bulk of several blocks: text, which the runtime evaluates."""

from __future__ import annotations

import sympy as sp

from codegen.bulk import block_of, bulk_module
from codegen.certificate import emit_check
from codegen.plan import Plan
from codegen.sensitivity import emit_tangents
from codegen.system_module import FOLDER
from derive.saddle import coupled_system
from derive.spectrum import NEURONS, plain_law, weight_names

ROWS = ("member", "unit_G")


def emit_given_blocks() -> dict[str, str]:
    """Path below ``generated/`` -> text: targets of one direction; others are emitted when asked for."""
    return {f"{FOLDER}/{given_blocks_name(1)}.py": emit_neurons(1)}


def given_blocks_name(directions: int) -> str:
    """Name of the module for a number of directions of the target beside the spike."""
    return "given_blocks" if directions == 1 else f"given_blocks_{directions}"


def emit_neurons(directions: int) -> str:
    """Text of the module of the equations of a given bulk of several blocks."""
    system = coupled_system(directions, bulk=NEURONS.name)
    block = block_of(system, coupled_system(directions, bulk=plain_law(NEURONS).name))
    parts = [
        f"UNKNOWNS = {tuple(node.name for node in block.torn)!r}",
        f"GIVEN = {(*ROWS, *weight_names(NEURONS, directions))!r}",
        emit_check(Plan(system, (block,)), "ArrayCertificate"),
        emit_tangents(system, block),
    ]
    return bulk_module(
        f"Equations of a given bulk of several blocks, {directions} direction(s) beside the spike",
        [sp.srepr(e.body) for e in system.equations],
        "\n\n\n".join(["\n".join(parts[:2]), *parts[2:]]),
    )
