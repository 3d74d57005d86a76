"""Rungs above the equations: what the reported answer says about itself, and simulation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from giantstep.spec.errors import GiantstepError
from giantstep.spec.model import Model
from giantstep.system.result import Result
from giantstep.system.solve import RESIDUAL, solve
from giantstep.verify.check import Check

_DIMENSION = 300
_SEEDS = 12
_LARGEST = 3000  # whole numbers n, p of the simulation
_FINITE = 3.0  # relative corrections of order 1/d beyond those the theory keeps, as a multiple of 1/d


def result_checks(result: Result, refined: Callable[[Result], float]) -> Iterator[Check]:
    """What the reported answer says about itself, and how much finer quadrature changes it."""
    yield Check("residual of the equations at the reported solution", result.residual, RESIDUAL)
    loss = result.training_loss
    yield Check("free energy against training loss", abs(result.free_energy - loss) / abs(loss), 1e-9)
    yield Check("test error: two orders of quadrature", result.quadrature_error, 1e-10)
    yield Check("test error: finer quadrature throughout", refined(result), 1e-9)


def simulation_checks(model: Model) -> Iterator[Check]:
    """The spiked random features (with a trained bulk the network) at d = 300 against the theory at that dimension, in
    standard errors.

    A relative correction of 3/d, beyond the one that the theory keeps, counts as part of one standard error.
    """
    from giantstep.observe.simulate import simulate

    largest = max(model.network.width, model.fit.samples, 1.0)
    dimension = max(60, min(_DIMENSION, int(_LARGEST / largest)))
    simulated = simulate(model, dimension=dimension, seeds=_SEEDS)
    try:
        theory = solve(simulated.model, dimension=dimension)
    except GiantstepError:
        yield Check(f"theory at the simulated d = {dimension}", math.inf, 0.0)
        return
    for name in ("test_error", "train_error"):
        value, mean = getattr(theory, name), float(simulated.mean(name).item())
        error = float(simulated.standard_error(name).item()) + _FINITE / dimension * value
        label = name.replace("_", " ")
        yield Check(
            f"{label}: simulation at d = {dimension}, standard errors", abs(mean - value) / error, 4.0
        )
