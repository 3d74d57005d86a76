"""Kernels of losses and of the coupled system at run time."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from types import ModuleType

from derive.language.loss_catalogue import REGISTERED
from giantstep.spec.emission import Refused, emitted
from giantstep.spec.errors import BadInput
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.kernels import generated_module, user_module


def loss_kernel(loss: FitLoss) -> ModuleType:
    """The averages of a loss over the output, generated at first use for an expression.

    Raises BadInput for a loss that is not convex or has no kernel.
    """
    return _loss_kernel(loss.key, loss.expression)


@lru_cache(maxsize=256)
def _loss_kernel(key: str, expression: str) -> ModuleType:
    if key in REGISTERED:
        return generated_module(f"generated.losses.{key}")
    return user_module(f"loss_{key}", lambda: _emitted(expression))


def _emitted(expression: str) -> str:
    try:
        return emitted("loss", expression)
    except Refused as error:  # not in the grammar, not convex, or without numba text
        raise BadInput(f"the loss {expression!r} cannot be used: {error}", error.hint) from None


@lru_cache(maxsize=4)
def square_kernel(rank: int = 1) -> ModuleType:
    """The solver of the square loss, whose averages are explicit, for a rank of the spike."""

    def text() -> str:
        from codegen.emit import emit_square  # loads SymPy

        return emit_square(rank)

    return _system("square" if rank == 1 else f"square_rank_{rank}", text)


@lru_cache(maxsize=16)
def coupled_kernel(indices: int, rank: int = 1, norms_vary: bool = False) -> ModuleType:
    """The coupled system for a number of indices of the target and a rank of the spike.

    norms_vary: whether those of the rows do, for one direction of the spike. Rare numbers are emitted when they are
    first asked for.
    """

    def text() -> str:
        from codegen.emit import emit_coupled_system  # loads SymPy

        return emit_coupled_system(indices, rank, norms_vary)

    return _system(f"coupled_{indices}{f'_rank_{rank}' if rank > 1 else ''}{'_norms' * norms_vary}", text)


@lru_cache(maxsize=4)
def stretched_kernel(indices: int) -> ModuleType:
    """The equations of a stretched bulk for a number of indices of the target."""

    def text() -> str:
        from codegen.emit import emit_stretched  # loads SymPy

        return emit_stretched(indices)

    return _system("stretched_bulk" if indices == 1 else f"stretched_bulk_{indices}", text)


@lru_cache(maxsize=4)
def given_kernel(indices: int) -> ModuleType:
    """The equations of a given bulk for a number of indices of the target."""

    def text() -> str:
        from codegen.emit import emit_given  # loads SymPy

        return emit_given(indices)

    return _system("given_bulk" if indices == 1 else f"given_bulk_{indices}", text)


@lru_cache(maxsize=8)
def inputs_kernel(directions: int, spikes: int) -> ModuleType:
    """The equations of structured inputs for numbers of directions of the target beside the spike, and of the spike."""

    def text() -> str:
        from codegen.emit import emit_inputs_bulk  # loads SymPy

        return emit_inputs_bulk(directions, spikes)

    return _system("inputs_bulk" + f"_{directions}" * (directions > 1) + f"_rank_{spikes}" * (spikes > 1), text)


@lru_cache(maxsize=4)
def given_blocks_kernel(indices: int) -> ModuleType:
    """The equations of a given bulk of several blocks for a number of indices of the target."""

    def text() -> str:
        from codegen.emit import emit_neurons  # loads SymPy

        return emit_neurons(indices)

    return _system("given_blocks" if indices == 1 else f"given_blocks_{indices}", text)


def _system(name: str, text: Callable[[], str]) -> ModuleType:
    """A system of `generated/`, or a rare one that is emitted when it is first asked for."""
    if find_spec(f"generated.systems.{name}") is not None:
        return generated_module(f"generated.systems.{name}")
    return user_module(name, text)
