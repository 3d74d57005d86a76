"""Many points of one model at a time: those that differ in what enters the equations as plain parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from giantstep.law.kind import is_closed
from giantstep.law.spike import SpikeParameters, rank_of
from giantstep.spec.errors import NotConverged
from giantstep.spec.model import Model
from giantstep.spec.one_at_a_time import TURN
from giantstep.system.evidence import conditions, leaves_nothing, training_loss
from giantstep.system.first_compilation import compile_first
from giantstep.system.merged_blocks import merged, shared
from giantstep.system.problem import Parameters, problem_of
from giantstep.system.result import reported
from giantstep.system.square_loss import direct_points

Array = np.ndarray
_FREE = ("fit.samples", "fit.ridge")  # on which neither step nor spike depends
_OF_THE_STEP = ("network.width", "target.noise")  # on which a step does
_LARGE = 10**6  # a dimension that rounding may hide at some points
_EVIDENCE = ("test_error", "train_error", "free_energy", "residual", "quadrature_error")


def parameter_keys(model: Model) -> tuple[str, ...]:
    """Keys of numbers that enter the equations as parameters, and nothing else: features and labels stay the same."""
    return _FREE if model.step is not None or model.inputs is not None else (*_FREE, *_OF_THE_STEP)


def goes_together(model: Model, dimension: int | None = None) -> bool:
    """Whether the solver takes many points of a model at a time; not where its rows after the steps are not known, as
    those of other points may be.
    """
    if dimension is not None and dimension > _LARGE or model.network.readout.continuous or not is_closed(model):
        return False
    try:
        return rank_of(model) == 1 and (model.spike is None or model.spike.loadings is None)
    except NotConverged:
        return False


@dataclass(frozen=True)
class Certified:
    """Solutions at P points, with the names of a ``Result``: evidence [P], order parameters [K, P] or [K, K, P].

    Only those of points that are ``ok`` [P] may be reported; ``solve`` goes on with the others, and knows why.
    """

    ok: Array
    evidence: Mapping[str, Array]
    order_parameters: Mapping[str, Array]
    spike: SpikeParameters


def solve_points(model: Model, values: Mapping[str, Array], dimension: int | None, tolerance: float) -> Certified:
    """Solve a model that ``goes_together`` at values [P] of ``parameter_keys``, each point as ``solve`` does.

    Raises BadInput and NotConverged as ``problem_of`` and the panels do.
    """
    with TURN:
        compile_first(model)
        whole = problem_of(model, dimension, intermediate=True)
        problem, members = merged(whole)
    changed = problem.parameters._replace(**{key.partition(".")[2]: column for key, column in values.items()})
    parameters = Parameters(*np.broadcast_arrays(*changed))
    points = direct_points(problem, parameters, tolerance)
    found = points.all()
    order = shared(found.order_parameters, members, whole.fraction)
    found = found._replace(order_parameters=reported(whole.outward(order), whole.spike))
    ok = points.solved.status > 0
    with np.errstate(all="ignore"):  # what is not a number fails
        for holds in conditions(whole, found, parameters, tolerance).values():
            ok &= holds
        ok &= ~leaves_nothing(found)  # rounding decides of their signs
    evidence = {name: getattr(found, name) for name in _EVIDENCE}
    evidence["training_loss"] = training_loss(whole, found, parameters)
    return Certified(ok, evidence, found.order_parameters, whole.told_spike)
