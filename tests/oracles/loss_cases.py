"""Small models of every loss, coupled systems on a few nodes of kappa, and their mpmath references, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np
from coupled_reference import CoupledReference, places
from numpy.typing import NDArray
from reference_labels import Channel

from derive import saddle
from derive.labels import index_function
from derive.loss.loss import analyse_loss, loss_of
from derive.saddle import SaddleSystem
from derive.scalar import scalar_function
from giantstep.quadrature.mesh import Term
from giantstep.quadrature.panels import rows_at
from giantstep.spec.model import Model
from giantstep.system import first_solution
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.discretisation import resolved_on
from giantstep.system.kernels import loss_kernel
from giantstep.system.level import Level
from giantstep.system.newton import newton
from giantstep.system.problem import Problem

Array = NDArray[np.float64]
RESIDUAL = ("square", "absolute", "quantile", "huber", "log_cosh", "epsilon_insensitive")
GENERAL = ("poisson", "binomial")
MARGIN = ("logistic", "hinge", "squared_hinge", "smoothed_hinge", "exponential", "probit")
#: Parameters off their defaults, so that none is mistaken for a constant.
PARAMETERS = {
    "quantile": {"tau": 0.3},
    "huber": {"delta": 0.6},
    "epsilon_insensitive": {"epsilon": 0.25},
    "smoothed_hinge": {"delta": 0.5},
    "binomial": {"trials": 3.0},
}
FINE = Level(8, 64)


def loss_table(name: str) -> Any:
    """The loss as a model file has it, its parameters off their defaults."""
    return {"name": name, **PARAMETERS[name]} if name in PARAMETERS else name


def model(loss: Any = "logistic", blocks: int = 1, /, **changes: Any) -> Model:
    """A model of moderate size with +-1 labels, of losses of counts 0 and 2; ``changes`` as dotted keys with __ for the
    dot.
    """
    counts = (loss["name"] if isinstance(loss, Mapping) else loss) in GENERAL
    values, fractions = [1.0, -0.6, 0.3][:blocks], [[1.0], [0.4, 0.6], [0.3, 0.45, 0.25]][blocks - 1]
    data = {
        "network": {"activation": "erf", "width": 1.2, "readout": {"values": values, "fractions": fractions}},
        "spike": {"strength": 1.4, "alignment": 0.7, "bulk_variance": 1.2},
        "target": {"link": "1+sign(z)" if counts else "sign"},
        "fit": {"samples": 1.7, "ridge": 0.1, "loss": loss},
    }
    found = {key.replace("__", "."): value for key, value in changes.items()}
    for key in ("spike.alignment", "target.link"):
        if key in found:
            data[key.split(".")[0]][key.split(".")[1]] = found.pop(key)
    return Model.from_dict(data).replace(found)


def few_nodes(blocks: tuple[Term, ...], target: Term | None, count: int) -> Array:
    """The table of the kernels on Gauss-Hermite nodes: what they solve need not be a converged integral."""
    kappa, weight = np.polynomial.hermite_e.hermegauss(count)
    return rows_at(blocks, target, kappa, weight / weight.sum())


def small_system(problem: Problem, count: int = 4, level: Level = FINE) -> CoupledSystem:
    """The system of a problem on a few nodes of kappa."""
    model, loss = problem.model, loss_kernel(problem.model.fit.loss)
    laws = resolved_on(
        few_nodes(problem.blocks, problem.link, count),
        model.target,
        problem.spike.alignments,
        symmetric=loss.SYMMETRIC,
        form=loss.FORM,
        level=level,
    )
    return CoupledSystem(problem, level, laws)


def solved(problem: Problem, count: int = 4, level: Level = FINE) -> tuple[CoupledSystem, Array]:
    """A small system and its solution."""
    system = small_system(problem, count, level)
    for start in first_solution.starts(problem, system, None):
        outcome = newton(system, start)
        if outcome.converged:
            system.residual(outcome.x)
            return system, outcome.x
    raise AssertionError(f"not solved: {problem.model}")


@lru_cache(maxsize=4)
def equations(indices: int) -> SaddleSystem:
    return saddle.coupled_system(indices)


def channel_of(model: Model, alignments: tuple[float, ...]) -> Channel:
    target = model.target
    link = scalar_function(target.link) if target.indices == 1 else index_function(target.link)
    return Channel(link, alignments, target.flips, target.probit, target.noise)


def reference_of(system: CoupledSystem) -> CoupledReference:
    """The reference on the table of a system."""
    problem = system.problem
    loss = problem.model.fit.loss
    return CoupledReference(
        equations(system.indices),
        system.table.tolist(),
        problem.fraction.tolist(),
        system.parameters.tolist(),
        system.kernel.UNKNOWNS,
        analyse_loss(loss_of(loss.name)),
        dict(loss.parameters),
        channel_of(problem.model, problem.spike.alignments),
    )


def families(system: CoupledSystem, x: Array) -> dict[str, dict[tuple[int, ...], Any]]:
    """The vector of unknowns as members of the families, exactly."""
    found: dict[str, dict[tuple[int, ...], Any]] = {}
    values = iter(x.tolist())
    for name in system.kernel.UNKNOWNS:
        members = found.setdefault(name, {})
        for place in places(name, system.blocks):
            members[place] = members[place[::-1]] = mpmath.mpf(next(values))
    return found


def vector(system: CoupledSystem, members: Mapping[str, Mapping[tuple[int, ...], Any]]) -> list[Any]:
    """Members of the families of the unknowns in the order of the kernel."""
    return [members[name][place] for name in system.kernel.UNKNOWNS for place in places(name, system.blocks)]
