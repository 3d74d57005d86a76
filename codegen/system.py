"""Solver modules: the derived saddle-point system, analysed, lowered and signed."""

from __future__ import annotations

import sympy as sp

from codegen.functions import emit_registered
from codegen.manifest import signature, source_parts, with_manifest
from codegen.solver import emit_solver
from codegen.step import PATH as STEP_PATH
from codegen.step import emit_step
from codegen.structure import Plan, analyse, single_block
from derive.loss import SQUARE, Loss
from derive.saddle import SaddleSystem, saddle_system

FOLDER = "solvers"
SOURCES = (
    "layout.py", "lowering.py", "solver.py", "structure.py", "system.py", "vectorised.py", "templates/helpers.txt",
    "templates/linear.txt", "templates/lu.txt", "templates/nonlinear.txt", "templates/pair.txt", "templates/solve.txt",
    "templates/worse.txt", "templates/worse_single.txt",
)  # fmt: skip


def emit_systems(loss: Loss = SQUARE) -> dict[str, str]:
    """Path below ``generated/`` -> text: the solver of a loss for one block, and for any number of blocks."""
    system = saddle_system(loss)
    plan = analyse(system)
    return {
        f"{FOLDER}/{loss.name}_single.py": _module(system, single_block(plan), "one block, K = 1"),
        f"{FOLDER}/{loss.name}_blocks.py": _module(system, plan, "any number of blocks K"),
    }


def expected_texts() -> dict[str, str]:
    """Everything ``generated/`` holds, the manifest included."""
    return with_manifest({**emit_registered(), **emit_systems(), STEP_PATH: emit_step()})


def _module(system: SaddleSystem, plan: Plan, scope: str) -> str:
    body = emit_solver(plan)
    canonical = [sp.srepr(equation.body) for equation in system.equations]
    canonical += [sp.srepr(definition.body) for definition in system.fields]
    signed = signature([scope, *canonical, *source_parts(SOURCES)])
    structure = "\n".join(f"    {line}" for line in plan.report().splitlines())
    equations = "\n".join(f"    {e.unknown}: {e.label}" for e in system.equations)
    return f'''"""Saddle-point equations of the {system.loss.name} loss, {scope}  [CUI24, Result 3.3; THEORY section 4].

Order of computation, found from the derived system:
{structure}
Each unknown and the derivation step that fixes it (d/dX: stationarity of the free energy in X):
{equations}
Generated; do not edit. Signature {signed[:16]}.
Regenerate with: giantstep generate
"""

# fmt: off
import math

import numpy as np
from numba import njit

LOSS = "{system.loss.name}"
SIGNATURE = "{signed}"


{body}'''
