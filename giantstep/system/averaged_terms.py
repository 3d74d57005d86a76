"""The functions of kappa that a model averages, and the nodes of kappa that follow from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from giantstep.law.label_growth import label_reach, spacing_of
from giantstep.law.multi_index_labels import has_kinks, meetings_along, turns_along
from giantstep.law.terms import label_axes, noisy_terms
from giantstep.quadrature.mesh import NARROW, Term
from giantstep.quadrature.panels import edges_of, rows_at, table, terms_of
from giantstep.quadrature.tensor import Shape, tensor_table
from giantstep.quadrature.trapezoid import even_nodes, graded_nodes
from giantstep.spec.errors import NotConverged
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Target
from giantstep.system.level import Level
from giantstep.system.problem import Features, Problem

Array = np.ndarray
#: Ends of panels about a turn of the label, in widths of it.
_AROUND = *np.arange(0.0, 4.0, 0.5).tolist(), *(2.0**k for k in range(2, 40))
_SHARP = 1e-8  # the least width of a turn that counts: averages of a square root there are right to 1e-12
_GENTLE = 0.7  # a distance in kappa that panels of the coefficients resolve
NOTHING = 1e-26  # averages over the output grow no faster than their squares: double precision with room to spare


@dataclass(frozen=True)
class AveragedTerms:
    """The features and the label as functions of kappa; ``Features`` has their meaning, along is its ``link``."""

    blocks: tuple[Term, ...]
    along: Term | None
    mirrored: tuple[Term, ...]
    target: Target
    overlaps: Rows
    loadings: Rows | None

    @classmethod
    def of(cls, problem: Problem | Features) -> AveragedTerms:
        """Those of a problem."""
        terms = problem.blocks, problem.link, problem.mirrored
        return cls(*terms, problem.model.target, problem.overlaps, problem.loadings)

    def rows(self, level: Level) -> Array:
        """The rows of the table that count; of a target of several indices without its columns."""
        if self.loadings is None:
            return rows_that_count(self._on_line(level), spacing_of(self.target, self.overlaps).reach)
        shape = self.shape
        return rows_that_count(tensor_table(shape, level.fineness(len(self.overlaps))), shape.far)

    @property
    def shape(self) -> Shape:
        """What the rules for kappa in R^q depend on, of several directions."""
        assert self.loadings is not None
        label = label_axes(self.target, self.overlaps), label_reach(self.target, self.overlaps)
        return Shape(self.blocks, self.loadings, self.along, *label)

    def have_panels(self, level: Level) -> bool:
        """Whether the nodes of one direction of kappa lie on panels."""
        return self._without_panels(level) is None

    def panel_ends(self, level: Level) -> Array:
        """The ends of the panels of one direction of kappa."""
        spacing = spacing_of(self.target, self.overlaps)
        return edges_of(self.blocks, self.along, level.halvings, self._cuts(level), self._further, spacing)

    def _on_line(self, level: Level) -> Array:
        found = self._without_panels(level)
        if found is not None:
            return rows_at(self.blocks, self.along, *found)
        spacing = spacing_of(self.target, self.overlaps)
        given = level.order, level.halvings, self._cuts(level), self._further, spacing
        return table(self.blocks, self.along, *given)

    def _without_panels(self, level: Level) -> tuple[Array, Array] | None:
        """Places and weights of kappa where all that is known beforehand is smooth.

        Labels of several indices have many nodes beside each of kappa, which are as few as can be.
        """
        if level.cuts:
            return None
        halvings = level.halvings + level.closer
        if self.along is None:
            width, reach = _width_of_label(self.overlaps[0]), spacing_of(self.target, self.overlaps).reach
            return even_nodes(self.blocks, width, level.order, halvings, reach)
        return graded_nodes(terms_of(self.blocks, self.along, *self._further), level.order, halvings)

    @property
    def _further(self) -> tuple[Term, ...]:
        return *noisy_terms(self.along, self.target), *self.mirrored

    def _cuts(self, level: Level) -> tuple[float, ...]:
        return (*level.cuts, *(() if self.along is not None else _about_turns(self.target, self.overlaps[0])))


def _width_of_label(overlaps: tuple[float, ...]) -> float:
    """The scale in kappa of averages of any label: indices vary about their means given kappa, those of the clean
    label, which errors are of, by less than those with noise inside the link.
    """
    known = float(np.dot(overlaps, overlaps))
    left = max(0.0, 1.0 - known)
    return math.sqrt(left / known) if known > 0.0 else math.inf


@lru_cache(maxsize=64)
def _about_turns(target: Target, overlaps: tuple[float, ...]) -> tuple[float, ...]:
    """Ends of panels about the places where the mean label of several indices turns fast, at growing distances: that of
    the clean label, and the one with noise inside the link.
    """
    if not has_kinks(target.link):
        return ()
    found = (
        turn
        for probit in {0.0, target.probit}
        for find in (turns_along, meetings_along)
        for turn in find(target.link, np.array(overlaps), probit)
    )
    turns = [(place, max(width, _SHARP)) for place, width in found]
    around = [(place, step * width) for place, width in turns for step in _AROUND if step * width < _GENTLE]
    return tuple(sorted({place + side * away for place, away in around for side in (-1.0, 1.0)}))


def rows_that_count(rows: Array, far: float) -> Array:
    """Rows without those, far out, that hold next to nothing of the square of any column; all of them where a label
    that is no column yet grows, and counts as far as that.
    """
    if far > NARROW.reach:
        return rows
    with np.errstate(over="ignore"):
        squares = rows[:, 1, None] * np.column_stack([np.ones(len(rows)), rows[:, 2:] ** 2])
    if np.isinf(squares).any():
        raise NotConverged(
            f"the squares of features or labels overflow: they are up to {np.nanmax(np.abs(rows[:, 2:])):.0e}",
            "lower the learning rates of the steps, or take an activation or link that grows more slowly",
        )
    return np.asarray(rows[(squares > NOTHING * squares.sum(axis=0)).any(axis=1)])
