"""The reported solution against averages, equations and errors taken again by a second implementation."""

from __future__ import annotations

import math
from collections.abc import Iterator

from giantstep.verify.check import Check
from giantstep.verify.interpreter import NotEvaluable
from giantstep.verify.reference import Reference
from giantstep.verify.stationarity import gradient_checks

_ERRORS = 1e-8  # relative; both quadratures promise 1e-10, errors move with the solution
_EQUATIONS = 1e-7  # a solution is found to the square root of what the errors are good for
_SETTLED = 1e-9  # of the averages themselves; where they have not settled the check says so

_WORDS = {"test_error": "test error", "train_error": "training error", "free_energy": "free energy"}


def certificate_checks(found: Reference) -> Iterator[Check]:
    """Every equation at the reported solution, the reported errors, and the gradient of the free energy there.

    Features, labels and outputs are averaged by definition on nodes chosen from the solution; the derived equations
    are evaluated by the interpreter. Nothing of the solver's tables, nodes or kernels is used.
    """
    try:
        nodes = found.nodes
        residuals, observables = found.residuals(), found.observables()
    except NotEvaluable as missing:
        yield Check("errors and equations by a second quadrature", math.nan, _ERRORS, f"not taken: {missing}")
        return
    unsettled = "" if nodes.error <= _SETTLED else f"the second quadrature has settled to {nodes.error:.0e} only"
    for name, value in observables.items():
        reported = float(getattr(found.result, name))
        measured = abs(value - reported) / max(abs(reported), 1e-300)
        reason = unsettled if measured > _ERRORS else ""
        yield Check(f"{_WORDS[name]} by a second quadrature", measured, _ERRORS, reason)
    name, worst = max(residuals.items(), key=lambda item: math.inf if math.isnan(item[1]) else item[1])
    label = f"{len(residuals)} equations by the interpreter, worst {name}"
    yield Check(label, worst, _EQUATIONS, unsettled if worst > _EQUATIONS else "")
    yield from gradient_checks(found)
