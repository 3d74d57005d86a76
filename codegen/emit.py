"""From derived systems to ``generated/``: the map of this package.

plan.py            who depends on whom, what is explicit, linear or nonlinear; which unknowns are torn
lower/             averages -> passes over the nodes (nodes, stages), sums over blocks -> loops (loops, nests),
                   affine equations -> their linear part (affine); places: where each number lives
print/             one protocol, Printer, and what speaks it: loops for numba, arrays for NumPy, equations as text that
                   the runtime reads, functions of numbers for numba and mpmath (scalar)
program.py         functions of a module: statements, and what they unpack; system_module: what stands around them
blockwise.py       a system solved block by block: the square loss, real or complex
coupled.py         a system whose averages over the output a loss supplies
bulk.py            equations that another bulk changes; stretched, neurons: those of bulks without a spectrum
bulk_resolvent, row_norms  the law of the rows that a step leaves
inputs.py          spectral law of inputs of a given covariance
sensitivity.py     ``tangents``: how a solution moves with the parameters of its model; slopes: of features and step
certificate.py     ``check``: every equation anew, as text that the runtime evaluates
runtime/           hand-written numerics, copied once into generated/runtime/
functions, losses  modules of activations and losses; step: the gradient step
manifest.py        signatures, atomic writing, what generated/ must hold
"""

from __future__ import annotations

from codegen.blockwise import emit_square, emit_systems
from codegen.bulk import emit_bulks, emit_given, emit_inputs_bulk
from codegen.bulk_resolvent import RESOLVENT_PATH, emit_resolvent
from codegen.coupled import emit_coupled_system, emit_coupled_systems
from codegen.functions import emit_registered
from codegen.inputs import PATH as INPUTS_PATH
from codegen.inputs import emit_inputs
from codegen.losses import emit_registered_losses
from codegen.manifest import with_manifest
from codegen.neurons import emit_given_blocks, emit_neurons
from codegen.row_norms import NORMS_PATH, emit_norms
from codegen.shared import emit_runtime
from codegen.slopes import PATH as SLOPES_PATH
from codegen.slopes import emit_slopes
from codegen.step import PATH as STEP_PATH
from codegen.step import emit_step
from codegen.stretched import emit_stretched, emit_stretched_bulks

# what giantstep asks of this package beside functions and losses
__all__ = [
    "emit_coupled_system",
    "emit_given",
    "emit_inputs_bulk",
    "emit_neurons",
    "emit_square",
    "emit_stretched",
    "expected_texts",
]


def expected_texts() -> dict[str, str]:
    """Everything ``generated/`` holds, the manifest included."""
    systems = {**emit_systems(), **emit_coupled_systems(), **emit_bulks(), SLOPES_PATH: emit_slopes()}
    systems |= emit_stretched_bulks() | emit_given_blocks()
    steps = {
        STEP_PATH: emit_step(),
        RESOLVENT_PATH: emit_resolvent(),
        NORMS_PATH: emit_norms(),
        INPUTS_PATH: emit_inputs(),
    }
    return with_manifest({**emit_registered(), **emit_registered_losses(), **emit_runtime(), **systems, **steps})
