"""Solver modules: the derived saddle-point system, analysed, lowered and signed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sympy as sp

from codegen.bulk import RESOLVENT_PATH, bulk_modules, emit_resolvent
from codegen.coupled import coupled_block, emit_coupled
from codegen.functions import emit_registered
from codegen.losses import emit_registered_losses
from codegen.manifest import signature, source_parts, with_manifest
from codegen.response import emit_response, response_sources
from codegen.sensitivity import emit_responses
from codegen.shared import emit_runtime
from codegen.solver import IMPORTS, emit_solver
from codegen.step import PATH as STEP_PATH
from codegen.step import emit_step
from codegen.structure import Block, Plan, analyse, single_block
from derive.language.links import MAX_INDICES
from derive.loss.loss import Loss
from derive.loss.quadratic import SQUARE
from derive.saddle import SaddleSystem, coupled_system, saddle_system

FOLDER = "solvers"
SOURCES = (
    "check.py", "layout.py", "lowering.py", "nests.py", "solver.py", "stages.py", "structure.py", "sweeps.py",
    "system.py",
    "vectorised.py", "templates/helpers.txt", "templates/invert.txt", "templates/solve.txt", "templates/worse.txt",
    "templates/worse_single.txt",
)  # fmt: skip
RANKS = (1, 2, 3)  # directions of the spike
SEVERAL = ((1, 2), (2, 2), (1, 3))  # (directions of the target, of the spike) of the coupled systems that are committed
_ONE, _ANY = "one block, K = 1", "any number of blocks K"
COUPLED_SOURCES = ("coupled.py", "layout.py", "lowering.py", "nests.py", "stages.py", "structure.py", "system.py")


def emit_systems(loss: Loss = SQUARE, spikes: Iterable[int] = RANKS) -> dict[str, str]:
    """Path below ``generated/`` -> text: the solver of a loss for one block, and for any number of blocks.

    spikes: numbers of directions of the spike. With one block the features know one of them only.
    """
    texts = {}
    for rank in spikes:
        system = saddle_system(loss, rank)
        plan = analyse(system)
        texts[f"{FOLDER}/{square_name(False, rank, loss)}.py"] = _module(system, plan, _ANY)
        if rank == 1:
            texts[f"{FOLDER}/{square_name(True, rank, loss)}.py"] = _module(system, single_block(plan), _ONE)
    return texts


def square_name(single: bool, spikes: int = 1, loss: Loss = SQUARE) -> str:
    """Name of the module of a loss that is solved block by block."""
    return f"{loss.name}_{'single' if single else 'blocks'}{_suffix(spikes)}"


def emit_coupled_systems(
    directions: Iterable[int] = range(1, MAX_INDICES + 1), several: Iterable[tuple[int, int]] = SEVERAL
) -> dict[str, str]:
    """Path below ``generated/`` -> text: the system of any convex loss, by the number of directions of the target.

    several: (directions of the target, directions of the spike) where these are more than one.
    """
    texts = {}
    for count, rank in (*((count, 1) for count in directions), *several):
        system = coupled_system(count, rank)
        block = coupled_block(system)
        for single, scope in ((True, _ONE), (False, _ANY)) if rank == 1 else ((False, _ANY),):
            texts[f"{FOLDER}/{coupled_name(single, count, rank)}.py"] = _coupled_module(system, block, single, scope)
    return texts


def emit_coupled_system(directions: int, spikes: int) -> str:
    """Text of the system for any number of blocks that is not committed: a rare number of directions."""
    system = coupled_system(directions, spikes)
    return _coupled_module(system, coupled_block(system), False, _ANY)


def coupled_name(single: bool, directions: int, spikes: int = 1) -> str:
    """Name of the module of a coupled system."""
    return f"coupled_{'single' if single else 'blocks'}_{directions}{_suffix(spikes)}"


def _suffix(spikes: int) -> str:
    return "" if spikes == 1 else f"_rank_{spikes}"


def emit_response_system() -> dict[str, str]:
    """Path below ``generated/`` -> text: the response of the square loss at complex ridge."""
    system = saddle_system(SQUARE)
    plan = analyse(system)
    order = [f"    {line}" for line in plan.report().splitlines()[:2]]
    title = "of the features' response at complex ridge, any number of blocks K"
    return {f"{FOLDER}/response.py": _text(system, title, order, emit_response(plan), response_sources(), IMPORTS)}


def expected_texts() -> dict[str, str]:
    """Everything ``generated/`` holds, the manifest included."""
    systems = {**emit_systems(), **emit_coupled_systems(), **emit_response_system(), **emit_responses()}
    systems |= {f"{FOLDER}/{name}.py": text for name, text in bulk_modules().items()}
    steps = {STEP_PATH: emit_step(), RESOLVENT_PATH: emit_resolvent()}
    return with_manifest({**emit_runtime(), **emit_registered(), **emit_registered_losses(), **systems, **steps})


def _coupled_module(system: SaddleSystem, block: Block, single: bool, scope: str) -> str:
    torn, chain = ", ".join(n.name for n in block.torn), ", ".join(n.name for n in block.chain)
    order = [
        f"    1. nonlinear in {torn}; then", f"       {chain}", "    avg_*: supplied by the module of the loss"
    ]  # fmt: skip
    title = f"of any convex loss, {system.directions} direction(s) beside the spike, {_of_spike(system)}{scope}"
    return _text(system, title, order, emit_coupled(system, block, single), COUPLED_SOURCES)


def _module(system: SaddleSystem, plan: Plan, scope: str) -> str:
    title = f"of the {system.name} loss, {_of_spike(system)}{scope}"
    order = [f"    {line}" for line in plan.report().splitlines()]
    return _text(system, title, order, emit_solver(plan), SOURCES, IMPORTS)


def _of_spike(system: SaddleSystem) -> str:
    return f"spike of rank {system.spikes}, " if system.spikes > 1 else ""


def _text(
    system: SaddleSystem, title: str, order: Sequence[str], body: str, sources: Sequence[str],
    imports: str = "import numpy as np\nfrom numba import njit",
) -> str:  # fmt: skip
    canonical = [sp.srepr(equation.body) for equation in system.equations]
    canonical += [sp.srepr(definition.body) for definition in system.fields]
    signed = signature([title, *canonical, *source_parts(sources)])
    structure = "\n".join(order)
    equations = "\n".join(f"    {e.unknown}: {e.label}" for e in system.equations)
    return f'''"""Saddle-point equations {title}  [CUI24, Result 3.3, App. C; THEORY section 4].

Order of computation, found from the derived system:
{structure}
Each unknown and the derivation step that fixes it (d/dX: stationarity of the free energy in X):
{equations}
Generated; do not edit. Signature {signed[:16]}.
Regenerate with: giantstep generate
"""

# fmt: off
{imports}

LOSS = "{system.name}"
SIGNATURE = "{signed}"


{body}'''
