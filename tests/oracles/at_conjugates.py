"""The equations of a bulk at given conjugates, where every unknown is explicit: no averages over the output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from generated.runtime.evaluation import Numbers, Stage
from giantstep.system.added_samples import AddedSamples, Stages, added_shape
from giantstep.system.bulk_system import bulk_arrays, bulk_equations
from giantstep.system.problem import Problem

Array = np.ndarray
_MATRICES = ("Q1", "V1")


def at_conjugates(problem: Problem, hats: Mapping[str, Any], known: Mapping[str, Any], nodes: int = 96) -> Any:
    """What the equations say of every unknown: what their residuals leave of zero; unknowns are zero but for those
    ``known``, so that Q1 has no zeta taken out. nodes: of the residual of a sample of the step.
    """
    equations, given = bulk_equations(problem), bulk_arrays(problem, nodes)
    of, blocks = equations.tangents.contractions, len(problem.blocks)
    shapes = {name: (blocks,) * (1 + (name in _MATRICES)) for name in equations.UNKNOWNS}
    shapes |= dict.fromkeys(equations.INNER, added_shape(given) if equations.INNER else ())
    shapes |= {name: (1,) for name in of.families if name not in (*shapes, *given)}
    shapes |= {name: values.shape for name, values in given.items()}
    node = np.zeros((len(equations.COLUMNS) + len(of.features) * blocks, 1))
    state = Numbers(of, node, problem.fraction, problem.parameters.array(), shapes)
    state.update({**given, **hats, **known})
    unknowns = [name for name in equations.UNKNOWNS if name != "m"]
    results = tuple(f"residual_{name}" for name in unknowns)
    if equations.INNER:
        assert AddedSamples(Stages.to(equations, results, given=(*hats,)), state).follow()
    else:
        state.run(Stage(of, results, given=(*hats,)))
    return {name: known.get(name, 0.0) - state[f"residual_{name}"] for name in unknowns}
