"""The free energy: its value as printed in THEORY section 4, its gradient, and the parts it is made of."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import mpmath
import pytest
import sympy as sp
from evaluate import Evaluator
from saddle_cases import CASES, DIFFERENCE, DIGITS, EXACT, adjoint, system
from saddle_oracle import (
    PAIRS,
    Point,
    free_energy,
    random_point,
    solve_t,
    squared_residual,
    state_of_point,
    t_equation,
)

from derive.blocks import BlockSum, LogDet, index
from derive.energetic import second_moment
from derive.loss.loss import OMEGA, VARIANCE, F, Y
from derive.loss.quadratic import SQUARE, moreau_envelope
from derive.replica.bulk import spectral_potential
from derive.saddle import saddle_system
from derive.spectrum import ISOTROPIC
from derive.symbols import BETA, FRACTION, RIDGE, V2_HAT, T
from derive.trace import Recorder


@pytest.mark.parametrize(("blocks", "seed"), CASES)
def test_value_is_the_functional_of_the_theory(blocks: int, seed: int) -> None:
    with mpmath.workdps(DIGITS):
        point = random_point(blocks, seed)
        derived = Evaluator(state_of_point(point, system())).value(system().free_energy)
        assert abs(derived - free_energy(point)) <= EXACT * abs(derived)


@pytest.mark.parametrize(("blocks", "seed"), CASES)
def test_stationarity_conditions_are_its_gradient(blocks: int, seed: int) -> None:
    """Each derived condition against a central difference of the printed functional, T solved again."""
    with mpmath.workdps(DIGITS):
        point, step = random_point(blocks, seed), mpmath.mpf("1e-12")
        evaluator = Evaluator(state_of_point(point, system(), adjoint=adjoint(point)))
        for condition in system().stationarity:
            derived = evaluator.family(condition.body, condition.indices)
            direction = _direction(point, condition.unknown, seed)
            along = mpmath.fsum(derived[p] * direction[p] for p in derived)
            ends = []
            for sign in (1, -1):
                moved = _moved(point, condition.unknown, direction, sign * step)
                ends.append(free_energy(moved.with_values(T=solve_t(moved, point["T"]))))
            measured = (ends[0] - ends[1]) / (2 * step)
            scale = mpmath.fsum(abs(derived[p] * direction[p]) for p in derived)
            assert abs(along - measured) <= DIFFERENCE * max(scale, 1), condition.label


def _direction(point: Point, name: str, seed: int) -> dict[tuple[int, ...], Any]:
    draw, k = random.Random(seed), range(point.blocks)
    if name not in PAIRS:
        return {(b,): mpmath.mpf(draw.randint(-9, 9)) / 7 for b in k}
    half = {(b, c): mpmath.mpf(draw.randint(-9, 9)) / 7 for b in k for c in k if b <= c}
    return {(b, c): half[min(b, c), max(b, c)] for b in k for c in k}


def _moved(point: Point, name: str, direction: dict[tuple[int, ...], Any], by: Any) -> Point:
    value: Any = point[name].copy() if name in PAIRS else list(point[name])
    for place, amount in direction.items():
        key = place if name in PAIRS else place[0]
        value[key] = value[key] + by * amount
    return point.with_values(**{name: value})


@pytest.mark.parametrize(("blocks", "seed"), CASES)
def test_gradient_by_complex_step(blocks: int, seed: int) -> None:
    """Order parameters do not enter T: one complex step is exact to h^2, with no difference taken."""
    with mpmath.workdps(DIGITS):
        point, step = random_point(blocks, seed), mpmath.mpf("1e-25")
        state = state_of_point(point, system(), adjoint=adjoint(point))
        evaluator = Evaluator(state)
        for condition in system().stationarity:
            if condition.unknown.endswith("_hat"):
                continue
            derived = evaluator.family(condition.body, condition.indices)
            direction = _direction(point, condition.unknown, seed)
            members = {p: x + mpmath.mpc(0, step) * direction[p] for p, x in state.families[condition.unknown].items()}
            energy = Evaluator(state.with_families({condition.unknown: members})).value(system().free_energy)
            along = mpmath.fsum(derived[p] * direction[p] for p in derived)
            scale = mpmath.fsum(abs(derived[p] * direction[p]) for p in derived)
            assert abs(energy.imag / step - along) <= EXACT * max(scale, 1), condition.label


@pytest.mark.parametrize(("blocks", "seed"), CASES)
def test_spectral_potential_is_stationary_where_the_printed_equation_holds(blocks: int, seed: int) -> None:
    """d/dT of the log-determinant by differences, at the T of the printed Marchenko-Pastur equation."""
    b = index("b")
    potential = BlockSum(T[b] * (RIDGE + V2_HAT[b]) - BETA * FRACTION[b] * sp.log(T[b]), b) + LogDet("P")
    with mpmath.workdps(DIGITS):
        point, step = random_point(blocks, seed), mpmath.mpf("1e-12")
        assert max(abs(x) for x in t_equation(point)) <= EXACT
        for j in range(blocks):
            ends = []
            for sign in (1, -1):
                moved = [t + (sign * step if i == j else 0) for i, t in enumerate(point["T"])]
                ends.append(Evaluator(state_of_point(point.with_values(T=moved), system())).value(potential))
            assert abs(ends[0] - ends[1]) / (2 * step) <= DIFFERENCE
        derived = spectral_potential(Recorder("test"), ISOTROPIC).stationarity
        assert max(abs(x) for x in Evaluator(state_of_point(point, system())).family(derived, (b,)).values()) <= EXACT


@pytest.mark.parametrize(("blocks", "seed"), CASES)
def test_conditional_risk_is_the_gaussian_average(blocks: int, seed: int) -> None:
    with mpmath.workdps(DIGITS):
        point = random_point(blocks, seed)
        evaluator = Evaluator(state_of_point(point, system()))
        (risk,) = [d.body for d in system().fields if d.name == "risk"]
        for i, value in enumerate(evaluator.nodes(risk)):
            assert abs(value - squared_residual(point, i)) <= EXACT * max(abs(value), 1)
        clean = point.average(lambda i: squared_residual(point, i, noise=0))
        assert abs(evaluator.value(system().test_error) - clean) <= EXACT * max(abs(clean), 1)


def test_envelope_of_the_square_loss() -> None:
    envelope = moreau_envelope(SQUARE)
    assert sp.simplify(envelope.prox - (OMEGA + VARIANCE * Y) / (1 + VARIANCE)) == 0
    assert sp.simplify(envelope.envelope - (Y - OMEGA) ** 2 / (2 * (1 + VARIANCE))) == 0
    assert sp.simplify(envelope.g - (Y - OMEGA) / (1 + VARIANCE)) == 0
    assert sp.simplify(envelope.h - 1 / (1 + VARIANCE)) == 0


def test_losses_without_a_closed_prox_are_refused() -> None:
    with pytest.raises(ValueError, match="no prox in closed form"):
        moreau_envelope(replace(SQUARE, name="quartic", expr=(Y - F) ** 4))
    with pytest.raises(ValueError, match="not a multiple"):
        saddle_system(replace(SQUARE, name="shifted", expr=(Y - F) ** 2 / 2 + F))


def test_second_moment_needs_a_linear_expression() -> None:
    t, s = sp.symbols("t s", real=True)
    assert second_moment(3 + 2 * t - s, {t: sp.S.One, s: sp.Integer(5)}) == 9 + 4 + 5
    with pytest.raises(ValueError, match="not linear"):
        second_moment(t**2, {t: sp.S.One})
    with pytest.raises(ValueError, match="not linear"):
        second_moment(t * s, {t: sp.S.One, s: sp.S.One})


def test_derivation_names_assumptions_and_sources() -> None:
    steps = {step.label: step for step in system().derivation.steps}
    assert steps["spectral potential"].kind == "assumption" and steps["spectral potential"].assumption
    assert steps["response of the constant direction"].kind == "assumption"
    assert all(step.rule for step in steps.values())
    assert [s.label for s in steps.values() if s.kind == "assumption" and not (s.source and s.assumption)] == []
    assert [s.label for s in steps.values() if s.kind == "derived" and not (s.operation and s.of)] == []
