"""What the reported answer says about itself."""

from __future__ import annotations

import math
from collections.abc import Iterator

from giantstep.system.evidence import ROUNDING
from giantstep.system.result import Result
from giantstep.system.solve import RESIDUAL
from giantstep.verify.check import Check

#: why equations tell nothing there
LABEL_IS_OUTPUT = "the output is the target but for rounding: what follows from their difference is rounding, too"


def result_checks(result: Result, finer: float, signal: float) -> Iterator[Check]:
    """What the reported answer says about itself, and how far it is from the test error of a finer quadrature.

    signal: E y^2.
    """
    rounding, energy, loss = ROUNDING * signal, result.free_energy, result.training_loss
    yield Check("residual of the equations at the reported solution", result.residual, RESIDUAL)
    of_all = rounding * result.model.fit.samples
    yield Check("free energy against training loss", apart(energy, loss, of_all), 1e-9)
    yield Check("test error: two orders of quadrature", result.quadrature_error, 1e-10)
    yield Check("test error: finer quadrature throughout", apart(finer, result.test_error, rounding), 1e-9)


def apart(value: float, exact: float, rounding: float) -> float:
    """By how much a value is off, relative, beyond rounding: of what is next to nothing, all may be that."""
    off = max(abs(value - exact) - rounding, 0.0)
    if off == 0.0:
        return 0.0
    return off / abs(exact) if exact else math.inf
