"""The kernel of a loss that averages over a kind of label, with the law of the label as it takes it."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from generated.runtime.label_cells import LabelCells
from generated.runtime.label_intervals import LabelIntervals
from generated.runtime.label_lines import LabelLines
from generated.runtime.label_points import LabelNodes
from generated.runtime.polygons import Edges
from giantstep.law.kinds_of_labels import Intervals
from giantstep.law.label_cells import Cells, LabelLaw
from giantstep.law.label_lines import Lines

Array = np.ndarray


def one_cell(label: float, directions: int) -> LabelCells:
    """A label that does not vary, at one node, for a target with so many directions beside the spike."""
    ends = np.empty((1, 0))
    edges = Edges(np.zeros(2, dtype=np.int64), np.empty((0, 2)), ends, ends, ends)
    return LabelCells(
        np.full((1, 1), label), np.zeros((1, 2)), edges, np.zeros((directions, 2)), np.zeros((directions,) * 2)
    )


def kernel_of(loss: ModuleType, law: LabelLaw, kappa: Array) -> tuple[Callable[..., object], Any]:
    """The kernel and the arrays of the law at the nodes of kappa [N].

    A kernel is compiled for the types of its arrays, of which a read-only one is another.
    """
    if isinstance(law, Intervals):
        return loss.intervals, LabelIntervals(np.array(kappa), law.low, law.high, law.weight, law.label, law.channel)
    if isinstance(law, Lines):
        lines = LabelLines(law.weight, law.t, law.label, law.slope, law.low, law.high, law.axis, law.rest)
        return loss.lines, lines
    if isinstance(law, Cells):
        edges = Edges(law.first, law.normal, law.distance, law.start, law.end)
        return loss.cells, LabelCells(law.label, law.slope, edges, law.carry, law.rest)
    return loss.points, LabelNodes(law.weight, law.t, law.label, law.rest)
