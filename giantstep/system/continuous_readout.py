"""Readouts with a density: the equations at the nodes of a rule in u, as many as the test error needs to settle.

Averages over u are those of the equations over blocks: a density is the limit of its Gauss vocabularies, on the same
system. At infinite dimension the readout uses the closed span of all mu0_u(kappa), of which there are more functions
with more nodes (``continuous_span``). Both converge geometrically: what further nodes would change is the rest of a
geometric series, and part of the quadrature error. Source: THEORY section 13.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from giantstep.law.readout_law import RUNGS, at_nodes
from giantstep.simulate.available_memory import available_bytes
from giantstep.spec.errors import NotConverged
from giantstep.spec.model import Model
from giantstep.system.moved_nodes import at_other_nodes
from giantstep.system.result import Result
from giantstep.system.tolerated import tolerated

_AFFORDABLE = 10  # rungs of losses that average over the output, where the readout uses the span of all mean features
_OF_A_PAIR = 40  # bytes at a node of kappa for two values, of which the certificate has products
_LITTLE = 1e9  # bytes that are taken without asking whether they are there
_SMALLEST = 0.1  # ratio of two changes that is trusted: a change may be small by chance


def solve_continuous(
    model: Model, tolerance: float, solved: Callable[[Model, Result | None], Result], start: Result | None
) -> Result:
    """The solution at the first number of nodes at which it has settled; solved(model, start): of a vocabulary.

    Raises NotConverged where it does not settle, and what ``solved`` raises.
    """
    begun = time.perf_counter()
    previous: Result | None = None
    changes: list[float] = []
    for rung in range(len(RUNGS)):
        if rung == _AFFORDABLE and model.fit.loss.key != "square" and previous and previous.dimension is None:
            break
        if previous is not None and not _fits(RUNGS[rung], previous.nodes):
            break
        vocabulary = at_nodes(model, rung)
        before = previous or start
        try:
            found = solved(vocabulary, None if before is None else at_other_nodes(before, vocabulary))
        except NotConverged as error:
            if not changes:
                raise
            raise _unsettled(changes, rung - 1, tolerance, error) from error
        if previous is not None:
            changes.append(_change(previous, found))
            if (left := further_change(changes)) <= tolerance:
                off, seconds = max(left, found.quadrature_error), time.perf_counter() - begun
                nodes = found.model.network.readout
                return replace(found, model=model, nodes_of_readout=nodes, quadrature_error=off, seconds=seconds)
        previous, reached = found, rung
    assert previous is not None
    raise _unsettled(changes, reached, tolerance, _fewer_turns(model, previous.dimension))


def _fits(count: int, nodes: int) -> bool:
    """Whether there is memory for so many values at so many nodes of kappa."""
    needed = _OF_A_PAIR * count * count * nodes
    available = available_bytes() if needed > _LITTLE else None
    return available is None or needed < available


def _unsettled(changes: Sequence[float], rung: int, tolerance: float, cause: NotConverged | str) -> NotConverged:
    """The refusal of errors that have not settled at a rung; cause: what to do, or why the next has no answer."""
    said, hint = ("", cause) if isinstance(cause, str) else (f"; with {RUNGS[rung + 1]}, {cause.message}", cause.hint)
    return NotConverged(
        f"the errors change by {changes[-1]:.1e} (relative) from {RUNGS[rung - 1]} to {RUNGS[rung]} readout values of "
        f"the density, {tolerance:.0e} is asked{said}",
        tolerated(further_change(changes), hint),
    )


def _fewer_turns(model: Model, dimension: float | None) -> str:
    """What makes features, as functions of the readout value, turn less often."""
    rate = "spike.strength" if model.step is None else "step.learning_rate"
    hint = f"lower {rate}, or take a density of smaller values: features turn or grow too fast with the readout value"
    return hint if dimension is not None else f"{hint}; or give a dimension, which may take less of them"


def _change(before: Result, after: Result) -> float:
    """The largest relative change of the errors and of the norm of the readout: one alone may be small by chance."""
    pairs = (
        (before.test_error, after.test_error),
        (before.train_error, after.train_error),
        (float(before.order_parameters["Q2"].sum()), float(after.order_parameters["Q2"].sum())),
    )
    return max(abs(new - old) / (abs(new) or 1.0) for old, new in pairs)


def further_change(changes: Sequence[float]) -> float:
    """What further nodes would change, from the last three changes: the rest of a geometric series, as slow as the
    slower step between them, as one may be small by chance; or as much again.
    """
    steps = [after / before for before, after in pairwise(changes[-3:]) if before > 0.0]
    ratio, change = max([_SMALLEST, *steps]) if steps else 1.0, changes[-1]
    return change * ratio / (1.0 - ratio) if ratio < 0.5 else change
