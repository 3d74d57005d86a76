"""Which system a problem has: that of its bulk."""

from __future__ import annotations

from giantstep.law.kind import bulk_kind
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.level import Level
from giantstep.system.problem import Problem
from giantstep.system.resolved import Resolved
from giantstep.system.slight_response import responses_cancel


def coupled_at(problem: Problem, level: Level, laws: Resolved | None = None) -> CoupledSystem:
    """The coupled system of a problem at one level of quadrature, with the bulk that its model asks for."""
    kind = bulk_kind(problem.model)
    if responses_cancel(problem):
        from giantstep.system.linear_features import LinearFeatures  # loads mpmath, which most models need not

        return LinearFeatures(problem, level, laws)
    if kind in ("isotropic", "norms"):
        return CoupledSystem(problem, level, laws)
    from giantstep.system.bulk_system import BulkSystem  # most models start sooner without
    from giantstep.system.penalised_system import PenalisedSystem
    from giantstep.system.stretched_system import StretchedSystem

    if kind == "penalised":
        return PenalisedSystem(problem, level, laws)

    return (StretchedSystem if kind == "stretched" else BulkSystem)(problem, level, laws)
