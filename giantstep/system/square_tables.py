"""Tables that the square loss is solved on: the rows of kappa with the moments of the label, at two resolutions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from giantstep.quadrature.mesh import ORDERS
from giantstep.quadrature.panels import wide_columns
from giantstep.quadrature.tensor import Shape, tensor_table
from giantstep.system.problem import Features, Problem
from giantstep.system.span import Span

Array = np.ndarray
_COARSER, _FINER = 0.85, 1.3  # of an axis: what its error is estimated from, and what it is refined by


@dataclass(frozen=True)
class Fineness:
    """How often what a table consists of is refined: the axes of kappa [q], and the nodes of the label.

    coarse: the same [q + 1], where it is a little coarser, for an estimate of the error.
    """

    axes: tuple[int, ...]
    labels: int = 0
    coarse: tuple[bool, ...] = ()

    @classmethod
    def first(cls, rank: int) -> Fineness:
        """What a solution begins with."""
        return cls((0,) * rank, 0, (False,) * (rank + 1))

    @property
    def level(self) -> tuple[int, bool]:
        """Halvings of the nodes of the label, and whether there are fewer of them."""
        return self.labels, self.coarse[-1]


def rows_of(features: Features, fineness: Fineness) -> Array:
    """Rows [N, columns] of a problem of a label that is clean but for noise."""
    if features.loadings is not None:
        return _rows_of_axes(features, fineness)
    if features.link is not None:
        return wide_columns(features.blocks, features.link, ORDERS[not fineness.coarse[0]], fineness.axes[0]).T
    from giantstep.system.discretisation import PANELS, Level, resolved  # labels of one index start sooner without

    labels, rough = fineness.level
    return resolved(features, Level(PANELS[not fineness.coarse[0]], 0, fineness.axes[0], labels, rough)).table


def _rows_of_axes(features: Features, fineness: Fineness) -> Array:
    """The same of several directions of kappa, without those that hold next to nothing."""
    from giantstep.system.discretisation import rows_that_count, with_target

    steps = zip(fineness.axes, fineness.coarse[:-1], strict=True)
    axes = tuple(_FINER**times * (_COARSER if coarser else 1.0) for times, coarser in steps)
    rows = rows_that_count(tensor_table(shape_of(features), axes))
    return with_target(rows, features.model.target, features.overlaps, *fineness.level, halved=True)


def shape_of(problem: Problem | Features) -> Shape:
    """What the rules for kappa in R^q depend on."""
    assert problem.loadings is not None
    return Shape(problem.blocks, problem.loadings, problem.link)


def solver_nodes(rows: Array, span: Span | None) -> Array:
    """A table as the solver reads it, [columns, N], with functions of the span in the place of mean features."""
    return np.array((rows if span is None else span.columns(rows)).T, order="C")
