"""Numbers by name and place, for the reference interpreter, for tests that loop over members of families."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import sympy as sp

from derive.blocks import Definition, MatrixInverse
from giantstep.verify.interpreter import NODES, Interpreter, Point

Place = tuple[int, ...]


@dataclass(frozen=True)
class State:
    """Numbers of a system of ``blocks`` blocks, of any precision.

    symbols: name -> number. families: name -> {indices: number}. kappa, weight: nodes [N] and weights of the Gaussian
    average. columns: (name, indices) -> [N] values of a function of kappa. definitions and inverses: families,
    functions and matrices that follow from the others, evaluated where they are met and no number is given.
    """

    blocks: int
    symbols: Mapping[str, Any] = field(default_factory=dict)
    families: Mapping[str, Mapping[Place, Any]] = field(default_factory=dict)
    kappa: Sequence[Any] = ()
    weight: Sequence[Any] = ()
    columns: Mapping[tuple[str, Place], Sequence[Any]] = field(default_factory=dict)
    definitions: Mapping[str, Definition] = field(default_factory=dict)
    inverses: Mapping[str, MatrixInverse] = field(default_factory=dict)

    def with_families(self, families: Mapping[str, Mapping[Place, Any]]) -> State:
        """The same with some families set anew."""
        return replace(self, families={**self.families, **families})

    def places(self, rank: int) -> list[Place]:
        """All index tuples of a family, row by row."""
        return list(itertools.product(range(self.blocks), repeat=rank))

    def point(self) -> Point:
        """The same as arrays."""
        columns: dict[str, np.ndarray] = {"kappa": _objects(self.kappa)}
        for name in dict.fromkeys(name for name, _ in self.columns):
            places = [place for other, place in self.columns if other == name]
            rows = {place: _objects(self.columns[name, place]) for place in places}
            columns[name] = rows[()] if places == [()] else np.stack([rows[b,] for b in range(self.blocks)])
        return Point(
            self.blocks,
            dict(self.symbols),
            {name: self._family(members) for name, members in self.families.items()},
            columns,
            _objects(self.weight),
            dict(self.definitions),
            dict(self.inverses),
        )

    def _family(self, members: Mapping[Place, Any]) -> np.ndarray:
        rank = len(next(iter(members)))
        return _objects([members[place] for place in self.places(rank)]).reshape((self.blocks,) * rank)


class Evaluator:
    """Values of expressions in one state, at single indices."""

    def __init__(self, state: State) -> None:
        self.state, self._interpreter = state, Interpreter(state.point())

    def value(self, expr: Any, indices: Mapping[sp.Symbol, int] | None = None) -> Any:
        """The number of an expression without free kappa."""
        return self._at(expr, dict(indices or {}), ())

    def nodes(self, expr: Any, indices: Mapping[sp.Symbol, int] | None = None) -> list[Any]:
        """The values of a function of kappa at the nodes."""
        return list(self._at(expr, dict(indices or {}), (NODES,)))

    def family(self, body: Any, indices: Sequence[sp.Symbol]) -> dict[Place, Any]:
        """All members ``body(indices)``, row by row."""
        found = self._interpreter.value(body, tuple(str(i) for i in indices))
        return {place: found[place] for place in self.state.places(len(indices))}

    def matrix(self, inverse: MatrixInverse) -> dict[Place, Any]:
        """The inverse of the matrix of the entries."""
        point = replace(self.state.point(), inverses={inverse.name: inverse})
        name = sp.IndexedBase(inverse.name)[inverse.row, inverse.column]
        found = Interpreter(point).value(name, (str(inverse.row), str(inverse.column)))
        return {place: found[place] for place in self.state.places(2)}

    def _at(self, expr: Any, indices: dict[sp.Symbol, int], more: tuple[str, ...]) -> Any:
        free = {i for i in sp.sympify(expr).free_symbols if i in indices}
        found = self._interpreter.value(expr, (*(str(i) for i in free), *more))
        return found[tuple(indices[i] for i in free)] if free else found


def _objects(values: Sequence[Any]) -> np.ndarray:
    found = np.empty(len(values), dtype=object)
    found[:] = list(values)
    return found
