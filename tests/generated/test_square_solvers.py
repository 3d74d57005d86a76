"""The generated solvers against the interpreted system, and the laws they must obey."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from reference_system import NotSolved, equation_residuals
from solver_cases import distance, model, plan, reference_of, residual, run, small_table

from generated.runtime.unknowns import RESIDUAL, TURNED, UNKNOWN
from generated.systems import square
from giantstep.spec.model import Model
from giantstep.system.result import ORDER_PARAMETERS
from giantstep.system.solve import problem_of, solve
from giantstep.system.state import State, members, run_points, run_solver, slices_by_name

CASES: list[tuple[int, dict[str, Any]]] = [
    (1, {}),
    (1, {"fit__ridge": 1e-3, "fit__samples": 0.6, "network__activation": "relu", "network__bias": 0.3}),
    (2, {"target__link": "sign", "spike__alignment": 1.0}),
    (2, {"network__activation": "relu", "target__link": "relu", "fit__samples": 4.0}),
    (3, {}),
]


@pytest.mark.parametrize(("blocks", "changes"), CASES)
def test_kernels_agree_with_the_reference(blocks: int, changes: dict[str, Any]) -> None:
    """To 1e-10 of each family, the condition of the linear systems being below 1e5 here."""
    problem = problem_of(model(blocks, **changes))
    table = small_table(problem)
    data = (table, problem.fraction, problem.parameters.array())
    solved = run(square, *data)
    assert solved.status > 0
    assert residual(square, solved, *data) < 1e-12
    reference = reference_of(solved, *data)
    assert distance(solved, reference) < 1e-10
    # the reference is a solution by its own account: 30 digits, magnitudes below 1e4
    with mpmath.workdps(40):
        assert max(equation_residuals(plan().system, reference.state).values()) < 1e-26


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_kernels_agree_with_the_reference_at_random_models(seed: int) -> None:
    draw = np.random.default_rng(seed)
    blocks = 1 + seed % 3
    changes = {
        "network__activation": ["tanh", "relu", "erf", "gelu"][seed % 4],
        "target__link": ["sign", "tanh", "relu", "quadratic", "sin"][seed % 5],
        "network__width": float(draw.uniform(0.3, 3.0)),
        "fit__samples": float(draw.uniform(0.2, 5.0)),
        "fit__ridge": float(10.0 ** draw.uniform(-4, 1)),
        "spike__strength": float(draw.uniform(0.5, 3.0)),
        "spike__alignment": float(draw.uniform(-1.0, 1.0)),
        "network__bias": float(draw.uniform(-1.0, 1.0)),
    }
    problem = problem_of(model(blocks, **changes), dimension=2000 if seed % 2 else None)
    table = small_table(problem, 40)
    solved = run(square, table, problem.fraction, problem.parameters.array())
    # the condition number of the equations of m is at most 1e5 here
    assert distance(solved, reference_of(solved, table, problem.fraction, problem.parameters.array())) < 1e-10


def test_reference_says_what_it_cannot_solve() -> None:
    problem = problem_of(model(2, **{"network.readout": {"values": [1.0, 1.0], "fractions": [0.5, 0.5]}}))
    table = small_table(problem)
    solved = run(square, table, problem.fraction, problem.parameters.array())
    with pytest.raises(NotSolved, match="block 2 is singular"):
        reference_of(solved, table, problem.fraction, problem.parameters.array())


def test_a_start_from_other_nodes_leads_to_the_same_solution() -> None:
    """Newton from the solution on few nodes, from one far below and from far above: always that from without data."""
    for blocks in (1, 2, 3):
        problem = problem_of(model(blocks))
        fine, coarse = (np.array(small_table(problem, count).T, order="C") for count in (60, 12))
        cold = run_solver(square, fine, problem.fraction, problem.parameters.array())
        for factor in (1.0, 0.2, 20.0):
            start = run_solver(square, coarse, problem.fraction, problem.parameters.array()).state
            start.work[:] *= factor
            warm = run_solver(square, fine, problem.fraction, problem.parameters.array(), start)
            assert warm.status > 0
            assert np.allclose(warm.out, cold.out, rtol=1e-12)
            for name in ORDER_PARAMETERS:
                assert np.allclose(warm.state[name], cold.state[name], rtol=1e-9, atol=1e-13), name


@pytest.mark.parametrize("ridge", [0.05, 0.3 - 0.4j])
def test_jacobian_of_a_stage_is_that_of_its_residuals(ridge: complex) -> None:
    """Against central differences; at complex ridge it is the same text."""
    problem = problem_of(model(2))
    node = np.array(small_table(problem).T, order="C")
    table, sizes = members(square, 2, 2)
    n = int(sizes[0])
    there, turned = table[0, UNKNOWN, :n], table[0, TURNED, :n]
    numbers = np.array([*problem.parameters.array(), 1.0], complex)
    numbers[2] = ridge

    def residuals(x: np.ndarray) -> tuple[State, np.ndarray]:
        state = State(square, 2, node.shape[1], complex)
        state.work[there] = state.work[there + turned] = x
        square.residual(0, node, problem.fraction, numbers, state.vector, state.matrix, state.field)
        return state, state.work[table[0, RESIDUAL, :n]]

    x = np.random.default_rng(1).uniform(0.5, 1.0, n)
    state, _ = residuals(x)
    matrix = np.empty((n, n), complex)
    families = (state.vector, state.matrix, state.field)
    square.jacobian(0, node, problem.fraction, numbers, *families, state.work, table, matrix)
    wanted = np.array([(residuals(x + h)[1] - residuals(x - h)[1]) / 2e-5 for h in 1e-5 * np.eye(n)]).T
    # h^2 f'''/6 and rounding 1e-16/h, both about 1e-10 of residuals of order one
    assert np.abs(matrix - wanted).max() < 1e-8 * np.abs(wanted).max()


# --- laws -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dimension", [None, 500])
def test_equal_blocks_merge(dimension: int | None) -> None:
    """One block split into two of the same value: overlaps add up, errors stay."""
    one = solve(model(1), dimension=dimension)
    split = {"values": [1.0, 1.0], "fractions": [0.3, 0.7]}
    two = solve(model(1).replace({"network.readout": split}), dimension=dimension)
    for name in ("test_error", "train_error", "free_energy"):
        assert getattr(two, name) == pytest.approx(getattr(one, name), rel=1e-10)
    for name in ORDER_PARAMETERS:
        total = one.order_parameters[name].sum()
        assert two.order_parameters[name].sum() == pytest.approx(total, rel=1e-8), name
    # the shorter solution splits m by the fractions
    assert two.order_parameters["m"] == pytest.approx(one.order_parameters["m"][0] * np.array([0.3, 0.7]), rel=1e-6)


def test_permuted_blocks_permute_the_order_parameters() -> None:
    order = [2, 0, 1]
    straight = solve(model(3))
    readout = straight.model.network.readout
    mixed = {"values": [readout.values[i] for i in order], "fractions": [readout.fractions[i] for i in order]}
    permuted = solve(model(3).replace({"network.readout": mixed}))
    assert permuted.test_error == pytest.approx(straight.test_error, rel=1e-10)
    for name, value in straight.order_parameters.items():
        wanted = value[order][:, order] if value.ndim == 2 else value[order]
        assert np.allclose(permuted.order_parameters[name], wanted, rtol=1e-7, atol=1e-9 * np.abs(wanted).max()), name


@pytest.mark.parametrize("blocks", [1, 2])
def test_scaling_the_target(blocks: int) -> None:
    """y -> a y and noise -> a^2 noise: errors and Q grow by a^2, overlaps by a, responses stay."""
    problem, a = problem_of(model(blocks)), 3.0
    table = small_table(problem)
    plain = run(square, table, problem.fraction, problem.parameters.array())
    scaled_table, parameters = table.copy(), problem.parameters.array()
    scaled_table[:, 2:4] *= a
    scaled_table[:, 4] *= a * a
    parameters[3] *= a * a
    scaled = run(square, scaled_table, problem.fraction, parameters)
    assert scaled.out == pytest.approx(a * a * plain.out, rel=1e-11)
    powers = {"m": 1, "zeta": 1, "psi": 1, "Q1": 2, "Q2": 2, "V1": 0, "V2": 0}
    for name, power in powers.items():
        assert np.allclose(scaled.families[name], a**power * plain.families[name], rtol=1e-9, atol=0.0), name


@pytest.mark.parametrize("blocks", [1, 2])
def test_scaling_the_activation(blocks: int) -> None:
    """sigma -> a sigma and ridge -> a^2 ridge: the same function is learned with a readout smaller by a."""
    problem, a = problem_of(model(blocks)), 3.0
    table = small_table(problem)
    plain = run(square, table, problem.fraction, problem.parameters.array())
    scaled_table, parameters = table.copy(), problem.parameters.array()
    scaled_table[:, 5 : 5 + 2 * blocks] *= a
    scaled_table[:, 5 + 2 * blocks :] *= a * a
    parameters[2] *= a * a
    scaled = run(square, scaled_table, problem.fraction, parameters)
    assert scaled.out == pytest.approx(plain.out, rel=1e-11)
    powers = {"m": 1, "zeta": 1, "psi": 1, "Q1": 2, "Q2": 2, "V1": 2, "V2": 2}
    for name, power in powers.items():
        assert np.allclose(scaled.families[name] * a**power, plain.families[name], rtol=1e-9, atol=0.0), name


def test_without_spike_the_alignment_does_not_matter() -> None:
    """r = 0: v is an arbitrary direction; learned along theta: gamma zeta + sqrt(1 - gamma^2) psi."""
    found = []
    for gamma in (0.0, 0.5, -0.9, 1.0):
        result = solve(model(1, spike__strength=0.0, spike__alignment=gamma))
        q = result.order_parameters
        along = gamma * q["zeta"][0] + math.sqrt(1.0 - gamma * gamma) * q["psi"][0]
        found.append([result.test_error, result.train_error, along, q["Q1"][0, 0] + q["zeta"][0] ** 2, q["Q2"][0]])
    # sqrt(1 - gamma^2) is exact to 1e-16 here; quadrature is certified to 1e-10
    assert np.allclose(found, found[0], rtol=1e-9)


def test_weak_spike_goes_to_plain_random_features() -> None:
    """At finite dimension the limit r -> 0 is smooth, of second order in r: m has its own ridge there."""
    plain = solve(model(1, spike__strength=0.0), dimension=1000)
    differences = []
    for strength in (1e-3, 1e-4):
        weak = solve(model(1, spike__strength=strength), dimension=1000)
        differences.append(abs(weak.test_error - plain.test_error))
    assert differences[1] < 0.011 * differences[0] < 1e-3


def test_plain_random_features_need_no_table() -> None:
    """No [spike], no [step]: the same as a spike of strength 0 and bulk variance 1."""
    data = model(1, spike__strength=0.0, spike__bulk_variance=1.0).to_dict()
    given = solve(Model.from_dict(data))
    data.pop("spike")
    assert solve(Model.from_dict(data)).test_error == pytest.approx(given.test_error, rel=1e-10)


def test_parity() -> None:
    """Odd sigma: the sign of a readout value or of gamma is a convention; an even target is not learned by it."""
    base = solve(model(1))
    flipped = solve(model(1).replace({"network.readout.values": [-1.0]}))
    assert flipped.test_error == pytest.approx(base.test_error, rel=1e-10)
    assert flipped.order_parameters["zeta"] == pytest.approx(base.order_parameters["zeta"], rel=1e-9)
    assert flipped.order_parameters["m"] == pytest.approx(-base.order_parameters["m"], rel=1e-9)
    mirrored = solve(model(1, spike__alignment=-0.7))
    assert mirrored.test_error == pytest.approx(base.test_error, rel=1e-10)
    assert mirrored.order_parameters["zeta"] == pytest.approx(-base.order_parameters["zeta"], rel=1e-9)
    even = solve(model(1, target__link="quadratic"))
    for name in ("m", "zeta", "psi"):
        # integrals of odd functions over a mesh symmetric to rounding
        assert np.abs(even.order_parameters[name]).max() < 1e-12 * math.sqrt(base.order_parameters["Q2"][0] + 1.0)
    assert even.test_error > 2.0  # E He_2^2 = 2, and nothing of it is learned


def test_strong_ridge_leaves_the_spike_alone() -> None:
    """lambda -> infinity: only m survives, the upper bound of [CUI24] eq. (26): min_b E[(y - b mu0)^2]."""
    result = solve(model(1, fit__ridge=1e9, spike__alignment=1.0))
    table = small_table(problem_of(model(1, spike__alignment=1.0)), 90)
    weight, y, mu0 = table[:, 1], table[:, 2], table[:, 5]
    best = weight @ (y * y) - (weight @ (y * mu0)) ** 2 / (weight @ (mu0 * mu0))
    # the next order is alpha/ridge
    assert result.test_error == pytest.approx(best, rel=1e-7)


def test_free_energy_is_the_training_loss() -> None:
    """In the limit and at finite dimension: the cost of m is part of the norm Q2."""
    for blocks in (1, 2, 3):
        for dimension in (None, 100):
            result = solve(model(blocks, network__activation="gelu"), dimension=dimension)
            assert result.free_energy == pytest.approx(result.training_loss, rel=1e-11)


def test_slope_of_the_free_energy_in_the_ridge_is_the_norm() -> None:
    """d Phi/d lambda = beta sum_b Q2_b/2: the envelope theorem, by a central difference."""
    at = {step: solve(model(2, fit__ridge=0.05 * (1.0 + step))) for step in (-1e-4, 0.0, 1e-4)}
    slope = (at[1e-4].free_energy - at[-1e-4].free_energy) / (2e-4 * 0.05)
    norm = 1.2 * at[0.0].order_parameters["Q2"].sum() / 2.0
    # h^2 f'''/f' and rounding 1e-14/1e-4
    assert slope == pytest.approx(norm, rel=1e-7)


def test_many_points_are_solved_and_certified_one_by_one() -> None:
    """The same bits as alone; a number that is not a solution's shows in the residual of its point only."""
    for blocks in (1, 2):
        problem = problem_of(model(blocks))
        node = np.array(small_table(problem).T, order="C")
        parameters = np.tile(problem.parameters.array(), (4, 1))
        parameters[:, 0], parameters[:, 2] = [0.4, 1.0, 2.0, 5.0], [1.0, 0.1, 0.01, 10.0]
        found = run_points(square, (node[:, :0], node), problem.fraction, parameters)
        certificate = square.CERTIFICATE.on(node, slices_by_name(square, blocks))
        residuals = certificate.check(problem.fraction, parameters, found.work)
        for p, at in enumerate(parameters):
            alone = run_solver(square, node, problem.fraction, at)
            assert alone.status == found.status[p] and np.array_equal(alone.out, found.out[p, :3])
            assert np.array_equal(alone.state.work, found.work[p])
            assert residuals[p] == square.check(node, problem.fraction, at, alone.state) < 1e-13
        for name in ORDER_PARAMETERS:
            wrong = found.work.copy()
            wrong[2, slices_by_name(square, blocks)[name][0]] *= 1.0 + 1e-4
            again = certificate.check(problem.fraction, parameters, wrong)
            assert again[2] > 1e-8 and np.array_equal(np.delete(again, 2), np.delete(residuals, 2)), name


def test_both_orders_of_quadrature_are_one_call() -> None:
    """The second starts from the first, with its matrices where they are close: the same but for rounding; the change
    of the test error beside its size, or beside the share of E y^2 that is negligible.
    """
    problem = problem_of(model(2))
    fine, rough = (np.array(rows.T, order="C") for rows in (small_table(problem), small_table(problem)[::2]))
    parameters = np.tile(problem.parameters.array(), (4, 1))
    parameters[:, 0], parameters[:, 2] = [0.4, 1.0, 2.0, 5.0], [1.0, np.nan, 0.01, 10.0]
    none, labels = rough[:, :0], 0.7 + parameters[:, 3]
    first = run_points(square, (none, rough), problem.fraction, parameters)
    second = run_points(square, (none, fine), problem.fraction, parameters, start=first.work)
    assert np.isnan(first.out[:, 3]).all() and np.array_equal(first.out[:, 4], parameters[:, 3])
    for negligible in (1e-5, 10.0):
        status, out, work, _ = run_points(square, (rough, fine), problem.fraction, parameters, (0.7, negligible))
        kept = status > 0
        assert kept.tolist() == [True, False, True, True] and np.array_equal(status[kept], second.status[kept])
        np.testing.assert_allclose(work[kept], second.work[kept], rtol=1e-11, atol=1e-13 * np.abs(work[kept]).max())
        np.testing.assert_allclose(out[:, :3], second.out[:, :3], rtol=1e-12)
        assert np.array_equal(out[:, 4], labels) and labels[0] > 0.7
        size = np.maximum(abs(second.out[:, 0]), negligible * labels)
        np.testing.assert_allclose(out[:, 3], abs(second.out[:, 0] - first.out[:, 0]) / size, rtol=1e-10)


def test_a_point_that_fails_leaves_the_others_alone() -> None:
    problem = problem_of(model(1))
    node = np.array(small_table(problem).T, order="C")
    parameters = np.tile(problem.parameters.array(), (3, 1))
    parameters[1, 2] = np.nan
    nodes = node[:, :0], node
    found = run_points(square, nodes, problem.fraction, parameters)
    assert found.status[1] < 0 and found.status[0] == found.status[2] > 0
    assert np.array_equal(found.out[0], found.out[2], equal_nan=True)
    wrong = found.work.copy()
    wrong[1] = np.nan
    warm = run_points(square, nodes, problem.fraction, parameters, start=wrong)
    assert warm.status[1] < 0 and np.array_equal(warm.status > 0, found.status > 0)
    wrong[0] = np.nan  # a start that leads nowhere: the solver's own instead
    again = run_points(square, nodes, problem.fraction, np.tile(problem.parameters.array(), (3, 1)), start=wrong)
    assert again.status[0] > 0 and np.array_equal(again.out[0], found.out[0], equal_nan=True)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"fit__ridge": 1e-6, "fit__samples": 1.2},  # at the interpolation peak, where equations are stiffest
        {"network__readout": {"values": np.linspace(-1.0, 0.9, 9).tolist(), "fractions": [1e-7] * 8 + [1 - 8e-7]}},
    ],
)
def test_many_blocks_satisfy_their_equations(changes: dict[str, Any]) -> None:
    """By the certificate, which shares no code with the solver: here directions are taken in the place of matrices.

    Equations are relative to their largest term; rounding of averages over 200 nodes is some 1e-14 of that, and the
    inverse of P, whose condition is below 1e3 but at the peak, magnifies it.
    """
    readout = {"values": np.linspace(-1.0, 0.9, 9).tolist(), "fractions": [1 / 9] * 9}
    many = model(1, **{"network__readout": readout, **changes})
    assert solve(many, dimension=300).residual < 1e-12
