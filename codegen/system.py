"""Solver modules: the derived saddle-point system, analysed, lowered and signed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sympy as sp

from codegen.coupled import coupled_block, emit_coupled
from codegen.functions import emit_registered
from codegen.losses import emit_registered_losses
from codegen.manifest import signature, source_parts, with_manifest
from codegen.solver import IMPORTS, emit_solver
from codegen.step import PATH as STEP_PATH
from codegen.step import emit_step
from codegen.structure import Block, Plan, analyse, single_block
from derive.links import MAX_INDICES
from derive.loss import SQUARE, Loss
from derive.saddle import SaddleSystem, coupled_system, saddle_system

FOLDER = "solvers"
SOURCES = (
    "check.py", "layout.py", "lowering.py", "nests.py", "solver.py", "structure.py", "sweeps.py", "system.py",
    "vectorised.py", "templates/helpers.txt", "templates/invert.txt", "templates/solve.txt", "templates/worse.txt",
    "templates/worse_single.txt",
)  # fmt: skip
COUPLED_SOURCES = ("coupled.py", "layout.py", "lowering.py", "nests.py", "structure.py", "system.py")


def emit_systems(loss: Loss = SQUARE) -> dict[str, str]:
    """Path below ``generated/`` -> text: the solver of a loss for one block, and for any number of blocks."""
    system = saddle_system(loss)
    plan = analyse(system)
    return {
        f"{FOLDER}/{loss.name}_single.py": _module(system, single_block(plan), "one block, K = 1"),
        f"{FOLDER}/{loss.name}_blocks.py": _module(system, plan, "any number of blocks K"),
    }


def emit_coupled_systems(directions: Iterable[int] = range(1, MAX_INDICES + 1)) -> dict[str, str]:
    """Path below ``generated/`` -> text: the system of any convex loss, by the number of directions of the target."""
    texts = {}
    for count in directions:
        system = coupled_system(count)
        block = coupled_block(system)
        for single, scope in ((True, "one block, K = 1"), (False, "any number of blocks K")):
            name = coupled_name(single, count)
            texts[f"{FOLDER}/{name}.py"] = _coupled_module(system, block, single, scope)
    return texts


def coupled_name(single: bool, directions: int) -> str:
    """Name of the module of a coupled system."""
    return f"coupled_{'single' if single else 'blocks'}_{directions}"


def expected_texts() -> dict[str, str]:
    """Everything ``generated/`` holds, the manifest included."""
    losses = emit_registered_losses()
    return with_manifest(
        {**emit_registered(), **losses, **emit_systems(), **emit_coupled_systems(), STEP_PATH: emit_step()}
    )


def _coupled_module(system: SaddleSystem, block: Block, single: bool, scope: str) -> str:
    torn, chain = ", ".join(n.name for n in block.torn), ", ".join(n.name for n in block.chain)
    order = [
        f"    1. nonlinear in {torn}; then", f"       {chain}", "    avg_*: supplied by the module of the loss"
    ]  # fmt: skip
    title = f"of any convex loss, {system.directions} direction(s) beside the spike, {scope}"
    return _text(system, title, order, emit_coupled(system, block, single), COUPLED_SOURCES)


def _module(system: SaddleSystem, plan: Plan, scope: str) -> str:
    title = f"of the {system.name} loss, {scope}"
    order = [f"    {line}" for line in plan.report().splitlines()]
    return _text(system, title, order, emit_solver(plan), SOURCES, IMPORTS)


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
