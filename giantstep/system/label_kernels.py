"""The kernel of a loss that averages over a kind of label, with the law of the label as it takes it."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from generated.runtime.label_intervals import LabelIntervals
from generated.runtime.label_lines import LabelLines
from generated.runtime.label_points import LabelNodes
from giantstep.law.label_lines import LabelLaw, Lines
from giantstep.law.labels import Intervals

Array = np.ndarray


def kernel_of(loss: ModuleType, law: LabelLaw, kappa: Array) -> tuple[Callable[..., object], Any]:
    """The kernel and the arrays of the law at the nodes of kappa [N].

    A kernel is compiled for the types of its arrays, of which a read-only one is another.
    """
    if isinstance(law, Intervals):
        return loss.intervals, LabelIntervals(np.array(kappa), law.low, law.high, law.weight, law.label, law.channel)
    if isinstance(law, Lines):
        lines = LabelLines(law.weight, law.t, law.label, law.slope, law.low, law.high, law.axis, law.rest)
        return loss.lines, lines
    return loss.points, LabelNodes(law.weight, law.t, law.label, law.rest)
