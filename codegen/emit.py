"""From derived systems to ``generated/``: the map of this package.

plan.py            who depends on whom, what is explicit, linear or nonlinear; which unknowns are torn
lower/             averages -> passes over the nodes (nodes, stages), sums over blocks -> loops (loops, nests),
                   affine equations -> their linear part (affine); places: where each number lives
print/             one protocol, Printer, and what speaks it: loops for numba, arrays for NumPy, equations as text that
                   the runtime reads, functions of numbers for numba and mpmath (scalar)
program.py         functions of a module: statements, and what they unpack; system_module: what stands around them
blockwise.py       a system solved block by block: the square loss, real or complex
coupled.py         a system whose averages over the output a loss supplies
bulk.py            equations of a bulk of more than one covariance, as text
row_norms.py       the rows that a step leaves
inputs.py          spectral law of inputs of a given covariance
pairs.py           the covariance of the outputs of two fits
draws.py           how much the test error varies between draws
best_estimator.py  state evolution of what is possible at all
sensitivity.py     ``tangents``: how a solution moves with the parameters of its model; slopes: of features and step
certificate.py     ``check``: every equation anew, as text that the runtime evaluates
runtime/           hand-written numerics, copied once into generated/runtime/
functions, losses  modules of activations and losses; step: the gradient step
manifest.py        signatures, atomic writing, what generated/ must hold
"""

from __future__ import annotations

from codegen.best_estimator import PATH as BEST_PATH
from codegen.best_estimator import emit_best_estimator
from codegen.blockwise import emit_square
from codegen.bulk import emit_bulk
from codegen.coupled import emit_coupled_system
from codegen.draws import PATH as DRAWS_PATH
from codegen.draws import emit_draws
from codegen.functions import emit_registered
from codegen.further_step import PATH as FURTHER_PATH
from codegen.further_step import emit_further_step
from codegen.inputs import PATH as INPUTS_PATH
from codegen.inputs import emit_inputs
from codegen.losses import emit_registered_losses
from codegen.manifest import with_manifest
from codegen.pairs import BATCHES_PATH, emit_batches, emit_pair
from codegen.penalty import PATH as PENALTY_PATH
from codegen.penalty import emit_penalty
from codegen.repeated_batch import PATH as REPEATED_PATH
from codegen.repeated_batch import emit_repeated_batch
from codegen.row_norms import NORMS_PATH, emit_norms
from codegen.shared import emit_runtime
from codegen.slopes import PATH as SLOPES_PATH
from codegen.slopes import emit_slopes
from codegen.step import PATH as STEP_PATH
from codegen.step import emit_step
from codegen.system_module import FOLDER
from derive.directions import system_name
from derive.loss.quadratic import SQUARE
from derive.spectrum import LAWS, LawName

DRAWN = "square_drawn"  # of the square loss and labels with moments of their own
# system -> (directions of the target beside the spike, of the spike) of the modules in generated/: those that most
# models have; others are emitted when they are first asked for
COMMON = {
    SQUARE.name: ((1, 1), (1, 2), (2, 1)),
    DRAWN: ((1, 1),),
    "isotropic": ((1, 1), (1, 2), (2, 1)),
    "penalised": ((1, 1),),
    "norms": ((1, 1), (2, 1)),
    "stretched": ((1, 1), (2, 1)),
    "matrix": ((1, 1),),
    "neurons": ((1, 1),),
    "inputs": ((1, 1),),
}
PAIRS: dict[LawName, tuple[tuple[int, int], ...]] = {
    "isotropic": ((1, 1), (1, 2), (2, 1)),
    "penalised": ((1, 1),),
    "norms": ((1, 1),),
    "inputs": ((1, 1),),
}


def emit_system(name: str, directions: int = 1, spikes: int = 1) -> str:
    """Text of a module of ``systems/``: the solver of the square loss, or the equations of any with a spectral law."""
    if name in (SQUARE.name, DRAWN):
        return emit_square(directions, spikes, name == DRAWN)
    law = LAWS[name]
    return (emit_bulk if law.over else emit_coupled_system)(law, directions, spikes)


def emit_systems() -> dict[str, str]:
    """Path below ``generated/`` -> text."""
    return {
        f"{FOLDER}/{system_name(name, *numbers)}.py": emit_system(name, *numbers)
        for name, every in COMMON.items()
        for numbers in every
    }


def emit_pairs() -> dict[str, str]:
    """The same of two fits."""
    return {
        f"{FOLDER}/pair_{system_name(name, *numbers)}.py": emit_pair(name, *numbers)
        for name, every in PAIRS.items()
        for numbers in every
    }


def expected_texts() -> dict[str, str]:
    """Everything ``generated/`` holds, the manifest included."""
    steps = {
        SLOPES_PATH: emit_slopes(),
        STEP_PATH: emit_step(),
        FURTHER_PATH: emit_further_step(),
        REPEATED_PATH: emit_repeated_batch(),
        NORMS_PATH: emit_norms(),
        INPUTS_PATH: emit_inputs(),
        BATCHES_PATH: emit_batches(),
        BEST_PATH: emit_best_estimator(),
        PENALTY_PATH: emit_penalty(),
        DRAWS_PATH: emit_draws(),
    }
    return with_manifest(
        {**emit_registered(), **emit_registered_losses(), **emit_runtime(), **emit_systems(), **emit_pairs(), **steps}
    )
