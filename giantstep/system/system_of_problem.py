"""Which system a problem has: that of its bulk."""

from __future__ import annotations

from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.discretisation import Level, Resolved
from giantstep.system.problem import Problem


def coupled_at(problem: Problem, level: Level, laws: Resolved | None = None) -> CoupledSystem:
    """The coupled system of a problem at one level of quadrature, with the bulk that its model asks for."""
    if not problem.own_bulk:
        return CoupledSystem(problem, level, laws)
    from giantstep.law.given_bulk import has_blocks  # most models start sooner without
    from giantstep.law.stretched_bulk import is_stretched
    from giantstep.system.bulk_system import BulkSystem
    from giantstep.system.evaluated_system import BlocksSystem
    from giantstep.system.stretched_system import StretchedSystem

    if has_blocks(problem.model):
        return BlocksSystem(problem, level, laws)
    return (StretchedSystem if is_stretched(problem.model) else BulkSystem)(problem, level, laws)
