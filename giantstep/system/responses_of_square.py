"""T and V1 of the square loss that a loss is like, on rows that samples stretch: where these begin.

The square loss c (f - y)^2/2 has h = c/(1 + V c) whatever outputs are, so that T and V1 follow from each other alone,
and from X: not from its adjoint, which most of the equations are about.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType

import numpy as np

from generated.runtime.evaluation import Stage
from generated.runtime.unknowns import FAMILY, RESIDUAL
from giantstep.system.added_samples import ADDED, AddedSamples, Stages
from giantstep.system.at_level import AtLevel
from giantstep.system.bulk_system import BulkSystem
from giantstep.system.exchange import Exchange

Array = np.ndarray
FAMILIES = ("T", "V1")
_SMALL = 1e-3  # of the largest of a family: entries that may vanish


@dataclass(frozen=True)
class ResponseStages:
    """What X follows from; equations of T and V1 where it is known; what tangents need of what stands still; along T
    and V1 the mean resolvent that X follows from; along these and X the residuals of T and V1.
    """

    before: Stage
    residuals: Stage
    still: Stage
    resolvent: Stage
    moved: Stage


def response_stages(equations: ModuleType, stages: Stages) -> ResponseStages:
    """The stages of a module's equations."""
    of = equations.tangents.contractions
    found_x = stages.before, stages.resolvent, stages.slope
    residuals = Stage(of, tuple(f"residual_{name}" for name in FAMILIES), after=found_x)
    results, given_x = tuple(f"d_residual_{name}" for name in FAMILIES), "d_Res_own"
    still = Stage(of, (*results, given_x), after=(*found_x, residuals), without=of.moving)
    moves = tuple(f"d_{name}" for name in (*FAMILIES, ADDED))
    resolvent, last = (Stage(of, names, of=moves, moved=moves) for names in ((given_x,), results))
    return ResponseStages(stages.before, residuals, still, resolvent, last)


class ResponsesOfSquare:
    """The equations of T and V1, as Newton's method takes them; curvature: c."""

    again = 0.15

    def __init__(self, system: BulkSystem, added: AddedSamples, x: Array, curvature: float) -> None:
        self.system, self.added, self.whole, self.curvature = system, added, x.copy(), curvature
        self.places = _places(system.at, system.equations, system.exchange)
        self.stages: ResponseStages = system.order.responses
        self.start: Array = self.whole[self.places.unknowns]

    def with_responses(self, y: Array) -> Array:
        """The unknowns with these."""
        found = self.whole.copy()
        found[self.places.unknowns] = y
        return found

    def residual(self, y: Array) -> Array:
        """See ``Equations``."""
        system, averages = self.system, self.system.averages
        missing = np.full(len(y), np.nan)
        if not system.fields(self.with_responses(y)):
            return missing
        names, h = system.kernel.AVERAGES, self.curvature / (1.0 + self.curvature * system.view("V"))
        averages[...] = 0.0
        averages[names.index("avg_h")] = h
        averages[names.index("avg_ghx")] = -h * h
        system.give()
        numbers = system.numbers
        numbers.run(self.stages.before)
        if not self.added.found():
            return missing
        numbers.run(self.stages.residuals)
        return np.asarray(numbers.value[self.places.residuals])

    def jacobian(self) -> Array:
        """See ``Equations``."""
        numbers, places = self.system.numbers, self.places
        matrix = np.empty((len(places.unknowns),) * 2)
        self.added.slope()
        numbers.run(self.stages.still)
        for columns, unit in places.passes:
            numbers.value[places.moved] = unit
            numbers[f"d_{ADDED}"] = 0.0
            numbers.run(self.stages.resolvent)
            numbers[f"d_{ADDED}"] = self.added.moved(numbers["d_Res_own"])
            numbers.run(self.stages.moved)
            matrix[:, columns] = numbers.value[places.image[:, : len(columns)]]
        return matrix

    def matrix_of_step(self) -> Array:
        """See ``Equations``: all of it."""
        return self.jacobian()

    def scale(self, y: Array) -> Array:
        """See ``Equations``."""
        return np.asarray(np.maximum(np.abs(y), _SMALL * np.max(np.abs(y))))

    def sizes_of_equations(self, size: Array) -> Array | None:
        """See ``Equations``."""
        return None

    def along(self, directions: Array) -> Array:
        """See ``Equations``."""
        return np.asarray(self.jacobian() @ directions)


@dataclass(frozen=True)
class _Places:
    """Of T and V1: which unknowns they are; among the numbers their residuals, what moves, with the directions that are
    put there, some columns at a time, and what the residuals do along them.
    """

    unknowns: Array
    residuals: Array
    moved: Array
    passes: tuple[tuple[Array, Array], ...]
    image: Array


@lru_cache(maxsize=16)
def _places(at: AtLevel, equations: ModuleType, exchange: Exchange) -> _Places:
    names, ways = equations.UNKNOWNS, exchange.image.shape[1]
    own = np.flatnonzero(np.isin(at.members[FAMILY], [names.index(name) for name in FAMILIES]))
    outside, inside = exchange.residuals
    order = np.argsort(outside)
    residuals = inside[order[np.searchsorted(outside, at.members[RESIDUAL, own], sorter=order)]]
    units = np.concatenate([unit.reshape(-1, ways)[:, : len(columns)] for columns, unit in exchange.passes], axis=1)
    passes = []
    for first in range(0, len(own), ways):
        unit = np.zeros((len(units), ways))
        some = np.arange(first, min(first + ways, len(own)))
        unit[:, : len(some)] = units[:, own[some]]
        passes.append((some, unit.ravel()))
    return _Places(own, residuals, exchange.moved, tuple(passes), exchange.image[own])
