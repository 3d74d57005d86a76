"""The numbers of a generated system: families over blocks and functions of kappa, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray
_ROW = 7  # among the roles of an unknown
_WHOLE = np.dtype(np.int64)


class State:
    """Room for all numbers of a system of K blocks on N nodes; ``state["V1"]`` is a view of a family or function.

    work: all families in one array, of which vector [rows, K] and matrix [rows, K, K] are views; field [rows, N].
    room: work and field, where they are there already.
    """

    def __init__(
        self,
        kernel: ModuleType,
        blocks: int,
        nodes: int,
        kind: type = float,
        room: tuple[Array, Array] | None = None,
    ) -> None:
        vectors, matrices = len(kernel.VECTORS), len(kernel.MATRICES)
        self.kernel = kernel
        if room is None:
            room = np.zeros(size_of(kernel, blocks), kind), np.zeros((len(kernel.FIELDS), nodes), kind)
        self.work, self.field = room
        self.vector = self.work[: vectors * blocks].reshape(vectors, blocks)
        self.matrix = self.work[vectors * blocks :].reshape(matrices, blocks, blocks)
        self._seen: dict[str, Array] = {}

    def __getitem__(self, name: str) -> Array:
        found = self._seen.get(name)
        if found is None:
            array, row = rows_by_name(self.kernel)[name]
            self._seen[name] = found = getattr(self, array)[row]
        return found

    def numbers(self) -> Array:
        """All of them: families, and the functions one after the other."""
        return np.concatenate((self.work, self.field.ravel()))

    def rows(self, names: tuple[str, ...]) -> Array:
        """Functions of kappa that follow each other, [names, N]."""
        first = rows_by_name(self.kernel)[names[0]][1]
        return self.field[first : first + len(names)]

    def __iter__(self) -> Iterator[str]:
        """Names of all families and functions."""
        return iter(rows_by_name(self.kernel))


@lru_cache(maxsize=64)
def rows_by_name(kernel: ModuleType) -> dict[str, tuple[str, int]]:
    """Name -> (array, row) in a State."""
    rows = (("vector", kernel.VECTORS), ("matrix", kernel.MATRICES), ("field", kernel.FIELDS))
    return {name: (array, row) for array, names in rows for row, name in enumerate(names)}


@lru_cache(maxsize=64)
def members(kernel: ModuleType, blocks: int, functions: int) -> tuple[Array, Array]:
    """(places of the unknowns of each stage in ``State.work`` [stages, 9, n], how many there are [stages]).

    The nine roles are those of ``codegen/runtime/unknowns.py``: where the unknown lies, its residual, and so on. The
    generated solver fills and reads matrices of linear systems by these places, so that its text is the same for any
    K: which numbers are unknowns, of vectors and of symmetric matrices, is known here alone. functions: how many
    coordinates the mean of the output has, of the places for m.
    """
    found = [_stage(kernel, names, blocks, functions) for names in kernel.BLOCKS]
    sizes = np.array([stage.shape[1] for stage in found])
    most = int(sizes.max())
    table = np.zeros((len(found), 9, most), np.int64)
    for row, stage in zip(table, found, strict=True):
        row[:, : stage.shape[1]] = stage
    return table, sizes


def _stage(kernel: ModuleType, names: tuple[str, ...], blocks: int, functions: int) -> Array:
    columns: list[list[int]] = []
    for number, name in enumerate(names):
        starts = [_start(kernel, prefix, name, blocks) for prefix in ("", "residual_", "d_", "d_residual_", "weight_")]
        matrix = name in kernel.MATRICES
        for b, c in pairs(blocks) if matrix else [(b, b) for b in range(functions if name == "m" else blocks)]:
            place, turned = (b * blocks + c, c * blocks + b) if matrix else (b, b)
            columns.append([*(start + place for start in starts), turned - place, number, b, c])
    return np.array(columns).T


def _start(kernel: ModuleType, prefix: str, name: str, blocks: int) -> int:
    """Place of the first member of a family in ``work``; that of the residual for what a stage does not have."""
    known = rows_by_name(kernel)
    return start_of(kernel, prefix + name if prefix + name in known else f"residual_{name}", blocks)


@lru_cache(maxsize=64)
def members_and_norms(kernel: ModuleType, blocks: int, functions: int) -> tuple[Array, Array]:
    """Places of the unknowns of a system of one stage [9, n], and for each that of Q1[b, b], the norm of its block b,
    which it is compared with.
    """
    places = members(kernel, blocks, functions)[0][0]
    return places, start_of(kernel, "Q1", blocks) + places[_ROW] * (blocks + 1)


@lru_cache(maxsize=64)
def overlaps_of(kernel: ModuleType) -> dict[str, tuple[str, ...]]:
    """The families that hold zeta, one for each direction, and psi, one for each index."""
    return {name: tuple(part for part in kernel.UNKNOWNS if part.startswith(name)) for name in ("zeta", "psi")}


@lru_cache(maxsize=64)
def variance_rows(kernel: ModuleType) -> tuple[int, ...]:
    """Rows of T and of the families and functions of both variances, as ``raise_variances`` reads them."""
    known = rows_by_name(kernel)
    return tuple(known[name][1] for name in ("T", "V1", "V2", "V", "Q1", "Q2", "Delta"))


def size_of(kernel: ModuleType, blocks: int) -> int:
    """How many numbers all families have."""
    return len(kernel.VECTORS) * blocks + len(kernel.MATRICES) * blocks * blocks


@lru_cache(maxsize=64)
def slices_by_name(kernel: ModuleType, blocks: int) -> dict[str, tuple[slice, tuple[int, ...]]]:
    """Family -> (where it lies in ``State.work``, its shape)."""
    found: dict[str, tuple[slice, tuple[int, ...]]] = {}
    for name, (array, _) in rows_by_name(kernel).items():
        if array != "field":
            shape = (blocks,) if array == "vector" else (blocks, blocks)
            start = start_of(kernel, name, blocks)
            found[name] = slice(start, start + blocks ** len(shape)), shape
    return found


def places_in_numbers(kernel: ModuleType, blocks: int, nodes: int) -> dict[str, tuple[slice, tuple[int, ...]]]:
    """Family or function of kappa -> (where it lies in ``State.numbers``, its shape)."""
    first = size_of(kernel, blocks)
    rows = {name: first + row * nodes for row, name in enumerate(kernel.FIELDS)}
    return slices_by_name(kernel, blocks) | {name: (slice(at, at + nodes), (nodes,)) for name, at in rows.items()}


def start_of(kernel: ModuleType, name: str, blocks: int) -> int:
    """Place of the first member of a family in ``work``."""
    array, row = rows_by_name(kernel)[name]
    return row * blocks if array == "vector" else len(kernel.VECTORS) * blocks + row * blocks * blocks


def pairs(blocks: int) -> list[tuple[int, int]]:
    """One (b, c) of each symmetric pair: the other member of a symmetric matrix is no unknown of its own."""
    return [(b, c) for b in range(blocks) for c in range(b, blocks)]


class Solved(NamedTuple):
    """What a solver leaves behind: its status, (test error, training error, free energy), and room with all numbers of
    a system of so many blocks.
    """

    status: int
    out: Array
    kernel: ModuleType
    blocks: int
    room: tuple[Array, Array]

    @property
    def state(self) -> State:
        """The numbers by name."""
        return State(self.kernel, self.blocks, self.room[1].shape[1], room=self.room)


class SolvedPoints(NamedTuple):
    """The same of many points: status [P], families work [P, ...]; field: functions of the last one.

    out [P, 5]: what the generated solver says of a point, from the test error to E y^2.
    """

    status: Array
    out: Array
    work: Array
    field: Array


def run_points(
    kernel: ModuleType,
    nodes: tuple[Array, Array],
    fraction: Array,
    parameters: Array,
    square: tuple[float, float] = (0.0, 0.0),
    start: Array | None = None,
    solve: Callable[..., Any] | None = None,
    functions: int | None = None,
) -> SolvedPoints:
    """Solve a system that is solved block by block at ``parameters`` [P, 5], in numbers of the kind that these are.

    nodes: rough ones, and those of the answer [columns, N]; square: E y^2 of the clean label, and which share of E y^2
    is negligible; start: families [P, ...] of solutions on other nodes; solve: in the place of the kernel's, the same
    in plain Python, which takes numbers of any kind; functions: coordinates of the mean, if there are not K.
    """
    count, blocks, kind = len(parameters), len(fraction), parameters.dtype
    size, rows, places, sizes = _room_of(kernel, blocks, blocks if functions is None else functions)
    rough, node = nodes
    work: Array = np.zeros((count, size), kind) if start is None else start.astype(kind)
    field: Array = np.empty((rows, node.shape[1]), kind)
    out, status = np.empty((count, 5), kind), np.empty(count, _WHOLE)
    room = work, field, places, sizes
    (solve or kernel.solve)(rough, node, fraction, parameters, *square, *room, start is not None, out, status)
    return SolvedPoints(status, out, work, field)


@lru_cache(maxsize=64)
def _room_of(kernel: ModuleType, blocks: int, functions: int) -> tuple[int, int, Array, Array]:
    """What a solver needs room for: how many numbers all families have, functions of kappa; and ``members``."""
    return size_of(kernel, blocks), len(kernel.FIELDS), *members(kernel, blocks, functions)


def run_solver(
    kernel: ModuleType,
    node: Array,
    fraction: Array,
    parameters: Array,
    start: State | None = None,
    solve: Callable[..., Any] | None = None,
    functions: int | None = None,
) -> Solved:
    """The same at one point, on one table."""
    begin = None if start is None else start.work[None]
    nodes, square = (node[:, :0], node), (0.0, 0.0)
    status, out, work, field = run_points(kernel, nodes, fraction, parameters[None], square, begin, solve, functions)
    return Solved(int(status[0]), out[0, :3], kernel, len(fraction), (work[0], field))
