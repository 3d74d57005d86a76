"""Where unknowns, averages and residuals of a workspace lie among the numbers of equations evaluated as text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType

import numpy as np

from generated.runtime.evaluation import Layout, places_in
from generated.runtime.unknowns import DIRECTION, IMAGE, TURNED
from giantstep.system.state import members_and_norms, slices_by_name

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Exchange:
    """Places in the workspace and among the numbers of the same: of the unknowns, of the residuals of the equations'
    unknowns; among the numbers of every average at all nodes.

    passes: (columns of the Jacobian that are found together, directions of the unknowns at ``moved``); image: where the
    columns are found, for every residual and way.
    """

    unknowns: tuple[Array, Array]
    residuals: tuple[Array, Array]
    averages: tuple[slice, ...]
    moved: Array
    passes: tuple[tuple[Array, Array], ...]
    image: Array


@dataclass(frozen=True)
class Room:
    """A workspace, and numbers of equations: kernel and equations, blocks, functions of the span, ways of tangents."""

    kernel: ModuleType
    equations: ModuleType
    blocks: int
    functions: int
    ways: int


@lru_cache(maxsize=64)
def exchange_of(room: Room, layout: Layout) -> Exchange:
    """The exchange between a workspace and numbers in a layout."""
    kernel, names = room.kernel, room.equations.UNKNOWNS

    def within(prefix: str) -> Array:
        return _joined(places_in(layout, f"{prefix}{name}") for name in names)

    def outside(prefix: str) -> Array:
        lie = slices_by_name(kernel, room.blocks)
        return _joined(np.arange(lie[f"{prefix}{name}"][0].start, lie[f"{prefix}{name}"][0].stop) for name in names)

    averages = [places_in(layout, name) for name in kernel.AVERAGES]
    places = members_and_norms(kernel, room.blocks, room.functions)[0]
    directions, results = outside("d_"), outside("d_residual_")
    passes = []
    for first in range(0, places.shape[1], room.ways):
        columns = np.arange(first, min(first + room.ways, places.shape[1]))
        direction, turned = places[DIRECTION, columns], places[DIRECTION, columns] + places[TURNED, columns]
        unit = np.zeros((len(directions), room.ways))
        for way, both in enumerate(zip(direction, turned, strict=True)):
            unit[np.isin(directions, both), way] = 1.0
        passes.append((columns, unit.ravel()))
    order = np.argsort(results)
    image = order[np.searchsorted(results, places[IMAGE], sorter=order)]
    return Exchange(
        (outside(""), within("")),
        (outside("residual_"), within("residual_")),
        tuple(slice(int(places[0]), int(places[-1]) + 1) for places in averages),
        within("d_"),
        tuple(passes),
        within("d_residual_").reshape(-1, room.ways)[image],
    )


def _joined(places: Iterable[Array]) -> Array:
    return np.concatenate([place.ravel() for place in places])
