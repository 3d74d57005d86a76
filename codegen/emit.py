"""From derived systems to ``generated/``: the map of this package.

plan.py            who depends on whom, what is explicit, linear or nonlinear; which unknowns are torn
lower/             averages -> passes over the nodes (nodes, stages), sums over blocks -> loops (loops, nests),
                   affine equations -> their linear part (affine); places: where each number lives
print/             text for numba (numba_loops) and NumPy (numpy_arrays; pairs: values beside magnitudes)
program.py         functions of a module: statements, and what they unpack
blockwise.py       a system solved block by block: the square loss, real or complex
coupled.py         a system whose averages over the output a loss supplies
bulk.py            equations that another bulk changes
inputs.py          spectral law of inputs of a given covariance
sensitivity.py     tangents along parameters of the model
certificate.py     ``check``: every equation anew, without the lowering of the solver (one_block.py: for K = 1)
runtime/           hand-written numerics, copied once into generated/runtime/
functions, losses  modules of activations and losses; step: the gradient step
manifest.py        signatures, atomic writing, what generated/ must hold
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

import sympy as sp

from codegen.blockwise import IMPORTS, emit_blockwise
from codegen.bulk import RESOLVENT_PATH, bulk_modules, emit_resolvent
from codegen.certificate import import_line
from codegen.coupled import COUPLED_IMPORTS, coupled_block, emit_coupled
from codegen.functions import emit_registered
from codegen.inputs import PATH as INPUTS_PATH
from codegen.inputs import emit_inputs
from codegen.losses import emit_registered_losses
from codegen.lower.text import WIDTH, wrapped
from codegen.manifest import signature, source_parts, with_manifest
from codegen.plan import analyse
from codegen.sensitivity import emit_responses
from codegen.shared import emit_runtime
from codegen.step import PATH as STEP_PATH
from codegen.step import emit_step
from derive.language.links import MAX_INDICES
from derive.loss.loss import Loss
from derive.loss.quadratic import SQUARE
from derive.saddle import SaddleSystem, coupled_system, saddle_system

FOLDER = "systems"
RANKS = (1, 2, 3)  # directions of the spike
SEVERAL = ((1, 2), (2, 2), (1, 3))  # (directions of the target, of the spike) of the coupled systems that are committed
_SHARED = (
    "certificate.py",
    "emit.py",
    "lower/affine.py",
    "lower/loops.py",
    "lower/nests.py",
    "lower/nodes.py",
    "lower/stages.py",
    "lower/text.py",
    "one_block.py",
    "places.py",
    "plan.py",
    "print/numba_loops.py",
    "print/numpy_arrays.py",
    "print/pairs.py",
    "program.py",
)
SOURCES = (*_SHARED, "blockwise.py", "templates/solve.txt", "templates/stages.txt")
COUPLED_SOURCES = (*_SHARED, "coupled.py", "templates/jacobian.txt")


def expected_texts() -> dict[str, str]:
    """Everything ``generated/`` holds, the manifest included."""
    systems = {**emit_systems(), **emit_coupled_systems(), **emit_responses()}
    systems |= {f"{FOLDER}/{name}.py": text for name, text in bulk_modules().items()}
    steps = {STEP_PATH: emit_step(), RESOLVENT_PATH: emit_resolvent(), INPUTS_PATH: emit_inputs()}
    return with_manifest({**emit_registered(), **emit_registered_losses(), **emit_runtime(), **systems, **steps})


def emit_systems(loss: Loss = SQUARE, spikes: Iterable[int] = RANKS) -> dict[str, str]:
    """Path below ``generated/`` -> text: the solver of a loss with explicit averages, by the rank of the spike."""
    texts = {}
    for rank in spikes:
        system = saddle_system(loss, rank)
        plan = analyse(system)
        title = f"of the {system.name} loss, {_of_spike(rank)}any number of blocks K"
        text = _module(system, title, plan.report().splitlines(), IMPORTS, emit_blockwise(plan), SOURCES)
        texts[f"{FOLDER}/{loss.name}{_suffix(rank)}.py"] = text
    return texts


def emit_coupled_systems(
    directions: Iterable[int] = range(1, MAX_INDICES + 1), several: Iterable[tuple[int, int]] = SEVERAL
) -> dict[str, str]:
    """Path below ``generated/`` -> text: the system of any convex loss, by the number of directions of the target.

    several: (directions of the target, directions of the spike) where these are more than one.
    """
    wanted = (*((count, 1) for count in directions), *several)
    return {f"{FOLDER}/{coupled_name(*each)}.py": emit_coupled_system(*each) for each in wanted}


def emit_coupled_system(directions: int, spikes: int) -> str:
    """Text of the system of any convex loss for some numbers of directions of the target and of the spike."""
    system = coupled_system(directions, spikes)
    block = coupled_block(system)
    torn, chain = ", ".join(n.name for n in block.torn), ", ".join(n.name for n in block.chain)
    order = [f"1. nonlinear in {torn}; then {chain}", "avg_*: supplied by the module of the loss"]
    title = f"of any convex loss, {directions} direction(s) beside the spike, {_of_spike(spikes)}any number of blocks K"
    return _module(system, title, order, COUPLED_IMPORTS, emit_coupled(system, block), COUPLED_SOURCES)


def coupled_name(directions: int, spikes: int = 1) -> str:
    """Name of the module of a coupled system."""
    return f"coupled_{directions}{_suffix(spikes)}"


def _suffix(spikes: int) -> str:
    return "" if spikes == 1 else f"_rank_{spikes}"


def _of_spike(spikes: int) -> str:
    return f"spike of rank {spikes}, " if spikes > 1 else ""


def _module(
    system: SaddleSystem, title: str, order: Sequence[str], imports: str, body: str, sources: Sequence[str]
) -> str:
    canonical = [sp.srepr(equation.body) for equation in system.equations]
    canonical += [sp.srepr(definition.body) for definition in system.fields]
    signed = signature([title, *canonical, *source_parts(sources)])
    head = f'''"""Saddle-point equations {title}
[CUI24, Result 3.3, App. C; THEORY section 4].

Order of computation, found from the derived system:
{chr(10).join(_prose(line) for line in order)}
A comment behind a line names the step of the derivation that fixes the unknown (d/dX: stationarity of the free energy
in X). Generated; do not edit. Signature {signed[:16]}.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np
from numba import njit

{import_line(body)}
{imports}

LOSS = "{system.name}"
SIGNATURE = "{signed}"
'''
    return "\n".join([head, "", *wrapped(body.splitlines())]) + "\n"


def _prose(line: str) -> str:
    """A line of words, on as many lines as it takes."""
    return "\n".join(textwrap.wrap(line, WIDTH, initial_indent="    ", subsequent_indent="       "))
