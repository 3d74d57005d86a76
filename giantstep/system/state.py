"""The numbers of a generated system: families over blocks and functions of kappa, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

Array = np.ndarray


class State:
    """Room for all numbers of a system of K blocks on N nodes; ``state["V1"]`` is a view of a family or function.

    work: all families in one array, of which vector [rows, K] and matrix [rows, K, K] are views; field [rows, N].
    """

    def __init__(self, kernel: ModuleType, blocks: int, nodes: int, kind: type = float) -> None:
        vectors, matrices = len(kernel.VECTORS), len(kernel.MATRICES)
        self.kernel = kernel
        self.work: Array = np.zeros(vectors * blocks + matrices * blocks * blocks, kind)
        self.vector = self.work[: vectors * blocks].reshape(vectors, blocks)
        self.matrix = self.work[vectors * blocks :].reshape(matrices, blocks, blocks)
        self.field: Array = np.zeros((len(kernel.FIELDS), nodes), kind)

    def __getitem__(self, name: str) -> Array:
        array, row = places(self.kernel)[name]
        found: Array = getattr(self, array)[row]
        return found

    def rows(self, names: tuple[str, ...]) -> Array:
        """Functions of kappa that follow each other, [names, N]."""
        first = places(self.kernel)[names[0]][1]
        return self.field[first : first + len(names)]

    def __iter__(self) -> Iterator[str]:
        """Names of all families and functions."""
        return iter(places(self.kernel))


@lru_cache(maxsize=64)
def places(kernel: ModuleType) -> dict[str, tuple[str, int]]:
    """Name -> (array, row) in a State."""
    rows = (("vector", kernel.VECTORS), ("matrix", kernel.MATRICES), ("field", kernel.FIELDS))
    return {name: (array, row) for array, names in rows for row, name in enumerate(names)}


@lru_cache(maxsize=64)
def members(kernel: ModuleType, blocks: int) -> tuple[Array, Array]:
    """(places of the unknowns of each stage in ``State.work`` [stages, 7, n], how many there are [stages]).

    The seven roles are those of ``codegen/runtime/unknowns.py``.
    """
    found = [_stage(kernel, names, blocks) for names in kernel.BLOCKS]
    sizes = np.array([stage.shape[1] for stage in found])
    most = int(sizes.max())
    table = np.zeros((len(found), 7, most), np.int64)
    for row, stage in zip(table, found, strict=True):
        row[:, : stage.shape[1]] = stage
    return table, sizes


def _stage(kernel: ModuleType, names: tuple[str, ...], blocks: int) -> Array:
    columns: list[list[int]] = []
    for number, name in enumerate(names):
        starts = [_start(kernel, prefix, name, blocks) for prefix in ("", "residual_", "d_", "d_residual_", "weight_")]
        if name in kernel.MATRICES:
            inside = [(b * blocks + c, c * blocks + b) for b, c in pairs(blocks)]
        else:
            inside = [(b, b) for b in range(blocks)]
        columns += [[*(start + first for start in starts), second - first, number] for first, second in inside]
    return np.array(columns).T


def _start(kernel: ModuleType, prefix: str, name: str, blocks: int) -> int:
    """Place of the first member of a family in ``work``; that of the residual for what a stage does not have."""
    known = places(kernel)
    return start_of(kernel, prefix + name if prefix + name in known else f"residual_{name}", blocks)


def start_of(kernel: ModuleType, name: str, blocks: int) -> int:
    """Place of the first member of a family in ``work``."""
    array, row = places(kernel)[name]
    return row * blocks if array == "vector" else len(kernel.VECTORS) * blocks + row * blocks * blocks


def pairs(blocks: int) -> list[tuple[int, int]]:
    """One (b, c) of each symmetric pair."""
    return [(b, c) for b in range(blocks) for c in range(b, blocks)]


@dataclass(frozen=True)
class Solved:
    """What a solver leaves behind: its status, (test error, training error, free energy), and all numbers."""

    status: int
    out: Array
    state: State


def run_solver(
    kernel: ModuleType,
    node: Array,
    fraction: Array,
    parameters: Array,
    start: State | None = None,
    solve: Callable[..., Any] | None = None,
) -> Solved:
    """Solve a system that is solved block by block, on nodes [columns, N]; ``start``: a solution on other nodes;
    ``solve``: in the place of the kernel's, as the same in plain Python.
    """
    solve = solve or kernel.solve
    blocks = len(fraction)
    table, sizes = members(kernel, blocks)
    most = int(sizes.max())
    for warm in (True, False) if start is not None else (False,):
        state, out = State(kernel, blocks, node.shape[1]), np.full(3, np.nan)
        if warm and start is not None:
            state.work[:] = start.work
        system = np.empty((2 * most + 4, most))
        families = (state.work, state.vector, state.matrix, state.field)
        status = solve(node, fraction, parameters, *families, table, sizes, system, warm, out)
        if status > 0:
            break
    return Solved(int(status), out, state)
