"""What the reported answer says about itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from giantstep.system.result import Result
from giantstep.system.solve import RESIDUAL
from giantstep.verify.check import Check


def result_checks(result: Result, refined: Callable[[Result], float]) -> Iterator[Check]:
    """What the reported answer says about itself, and how much finer quadrature changes it."""
    yield Check("residual of the equations at the reported solution", result.residual, RESIDUAL)
    loss = result.training_loss
    yield Check("free energy against training loss", abs(result.free_energy - loss) / abs(loss), 1e-9)
    yield Check("test error: two orders of quadrature", result.quadrature_error, 1e-10)
    yield Check("test error: finer quadrature throughout", refined(result), 1e-9)
