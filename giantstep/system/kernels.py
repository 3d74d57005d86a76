"""Kernels of losses, and of the systems that they are solved by, at run time."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from types import ModuleType

from derive.directions import system_name
from derive.language.grammar import shorten
from derive.language.loss_catalogue import REGISTERED
from derive.language.penalties import REGISTERED as PENALTIES
from giantstep.law.kind import BulkKind
from giantstep.spec.errors import BadInput
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.fit_penalty import FitPenalty
from giantstep.spec.kernels import emitted_loss, generated_module, user_module


def loss_kernel(loss: FitLoss) -> ModuleType:
    """The averages of a loss over the output, generated at first use for an expression.

    Raises BadInput for a loss that is not convex or has no kernel.
    """
    return _loss_kernel(loss.key, loss.expression)


@lru_cache(maxsize=256)
def _loss_kernel(key: str, expression: str) -> ModuleType:
    if key in REGISTERED:
        return generated_module(f"generated.losses.{key}")
    return user_module(f"loss_{key}", lambda: emitted_loss(expression), f"loss {shorten(expression)}")


def bend_of(kernel: ModuleType) -> float:
    """The distance in the output or the label over which a loss bends: 0 where it has kinks."""
    return 1.0 / float(kernel.STEEPNESS) if kernel.SMOOTH else 0.0


def penalty_kernel(penalty: FitPenalty) -> ModuleType:
    """The averages of a penalty over the readouts: those of the loss that it is at the label 0.

    Raises BadInput for a penalty that is not convex or has no kernel.
    """
    entry = penalty.entry
    if entry.name in PENALTIES:
        return generated_module(f"generated.losses.{entry.loss.name}")
    try:
        return _loss_kernel(entry.loss.name, entry.loss.expression)
    except BadInput as error:
        words = (
            error.message.replace("(f-y)", "(a)")
            .replace("f - y", "a")
            .replace("the loss", "the penalty")
            .replace(" in f:", " in a:")
        )
        hint = 'give an expression in a that is convex and finite everywhere, as "0.1*abs(a)" or "a**4"'
        raise BadInput(f"fit.penalty: {words}", hint) from None


@lru_cache(maxsize=32)
def system_kernel(name: str, indices: int = 1, rank: int = 1) -> ModuleType:
    """The module of a system: the solver of the "square" loss, or the equations of any with a spectral law.

    indices: of the target; rank: of the spike. A rare system is emitted when it is first asked for.
    """
    stem = system_name(name, indices, rank)
    if find_spec(f"generated.systems.{stem}") is not None:
        return generated_module(f"generated.systems.{stem}")
    return user_module(stem, lambda: _emitted_system(name, indices, rank), f"system {stem}", listed=True)


@lru_cache(maxsize=32)
def pair_kernel(name: BulkKind, indices: int = 1, rank: int = 1) -> ModuleType:
    """The module of two fits with a spectral law; a rare one is emitted when it is first asked for."""
    stem = f"pair_{system_name(name, indices, rank)}"
    if find_spec(f"generated.systems.{stem}") is not None:
        return generated_module(f"generated.systems.{stem}")
    return user_module(stem, lambda: _emitted_pair(name, indices, rank), f"system {stem}", listed=True)


def _emitted_pair(name: BulkKind, indices: int, rank: int) -> str:
    from codegen.pairs import emit_pair  # loads SymPy

    return emit_pair(name, indices, rank)


def _emitted_system(name: str, indices: int, rank: int) -> str:
    from codegen.emit import emit_system  # loads SymPy

    return emit_system(name, indices, rank)
