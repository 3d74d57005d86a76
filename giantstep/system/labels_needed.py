"""Whether fixed nodes of a label of two indices are worth a try, before others are chosen at a solution."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from generated.runtime.nodes import Fields
from giantstep.law.kinds_of_labels import Points
from giantstep.law.label_cells import LabelLaw
from giantstep.law.label_lines import Lines
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.discretisation import resolved
from giantstep.system.label_kernels import kernel_of
from giantstep.system.resolution import FINE, doubling_serves
from giantstep.system.two_index_refinement import settles_of_two

Array = np.ndarray
_EVERY = 6  # node of kappa is looked at
_HOPELESS = 1e3  # tolerances that averages on fewer and on all nodes are apart where finer ones are not tried
_SEEN = ("avg_M", "avg_g", "avg_h", "avg_gg")


def needs_chosen_labels(system: CoupledSystem, x: Array, tolerance: float) -> bool:
    """Whether averages over fixed nodes of the label are so far off, at unknowns near the solution, that no two
    resolutions would agree on them; no, if more of them would soon serve.
    """
    if not settles_of_two(system.problem) or doubling_serves(system) or not system.fields(x):
        return False
    level = replace(system.level, labels=FINE[0].labels)
    fewer, every = (
        _told(system, resolved(system.problem, replace(level, rough=rough)).labels) for rough in (True, False)
    )
    weight = system.table[::_EVERY, 1]
    apart, size = np.abs(fewer - every) @ weight, np.abs(every) @ weight
    return bool(np.any(apart > _HOPELESS * tolerance * size))


def _told(system: CoupledSystem, law: LabelLaw) -> Array:
    """Averages [average, node] over the output and a label at some nodes of kappa of a system with known fields."""
    some = slice(None, None, _EVERY)
    V, mean, Delta, slopes = (
        np.ascontiguousarray(part[..., some])
        for part in (system.view("V"), system.view("mean"), system.view("Delta"), system.slopes)
    )
    kernel, labels = kernel_of(system.loss, _chosen(law, some), system.kappa[some])
    told = np.zeros((len(system.averages), len(V)))
    kernel(system.rule, labels, Fields(V, mean, slopes, Delta), system.scratch, told)
    return told[[system.kernel.AVERAGES.index(name) for name in _SEEN]]


def _chosen(law: LabelLaw, some: slice) -> LabelLaw:
    """The labels at some nodes of kappa."""

    def rows(array: Array) -> Array:
        return np.ascontiguousarray(array[some])

    assert isinstance(law, (Points, Lines))  # of labels that vary and have nodes
    found = replace(law, weight=rows(law.weight), label=rows(law.label), t=rows(law.t))
    if isinstance(found, Points):
        return found
    return replace(found, slope=rows(found.slope), low=rows(found.low), high=rows(found.high))
