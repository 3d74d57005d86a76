"""A trained bias: the free energy is least there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from giantstep.law.intermediate_steps import frees_at_zero, is_intermediate
from giantstep.spec.model import Model
from giantstep.system.coupled_solver import coupled_solution
from giantstep.system.newton import newton
from giantstep.system.problem import problem_of
from giantstep.system.result import Result
from giantstep.system.system_of_problem import coupled_at
from giantstep.system.trained_bias import BESIDE, slope_in_bias
from giantstep.verify.check import Check
from giantstep.verify.coupled_system import Solved

_STENCIL = ((-2, 1.0 / 12.0), (-1, -2.0 / 3.0), (1, 2.0 / 3.0), (2, -1.0 / 12.0))
_STEP = 0.01
_LARGER = 1.0 + 1e-9  # a free energy that is not that of the next bias


def bias_checks(model: Model, result: Result, solved: Solved) -> Iterator[Check]:
    """dPhi/dbias at the trained bias: as derived, and by differences of the free energy solved again."""
    size = abs(result.free_energy)
    limit = result.dimension is None and is_intermediate(model)
    slope = slope_in_bias(solved.system.problem, solved.system)
    away = _away_from_a_jump(model, result)
    if limit and result.bias == 0.0 and frees_at_zero(model) or away:
        beside = min(_energy_beside(model, result.bias + sign * _STEP) for sign in (-1, 1))
        yield Check("the free energy is least there", max(result.free_energy - beside, 0.0) / size, 1e-12)
        if away:
            yield Check("the free energy rises from a jump in the bias", max(-away * slope, 0.0) / size, 1e-12)
        return
    yield Check("slope of the free energy in the bias", abs(slope) / size, 1e-9)
    energies = {k: _energy(model, result, solved, result.bias + k * _STEP) for k in (-2, -1, 0, 1, 2)}
    by_differences = sum(w * energies[k] for k, w in _STENCIL) / _STEP
    # the fourth power of the step times a fifth derivative
    yield Check("the same by differences, solved again", abs(by_differences) / size, 1e-6)
    rise = min(energies[-1], energies[1]) - energies[0]
    yield Check("the free energy is least there", float(np.maximum(-rise / size, 0.0)), 1e-12)


def _away_from_a_jump(model: Model, result: Result) -> int:
    """The sign of the bias beside one next to it at which the free energy is larger, as mean features are fewer there;
    zero where there is none.
    """
    if result.dimension is not None:
        return 0
    jumps = (
        sign for sign in (1, -1) if _energy_beside(model, result.bias - sign * BESIDE) > _LARGER * result.free_energy
    )
    return next(jumps, 0)


def _energy_beside(model: Model, bias: float) -> float:
    """The free energy at another bias, which may have fewer features."""
    return float(coupled_solution(problem_of(model, None, bias, intermediate=True), 1e-10, None).observables[2])


def _energy(model: Model, result: Result, solved: Solved, bias: float) -> float:
    system = coupled_at(problem_of(model, result.dimension, bias, intermediate=True), solved.system.level)
    outcome = newton(system, solved.x)
    return float(system.observables()[2]) if outcome.converged else float("inf")
