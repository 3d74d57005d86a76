"""The generated solvers: against the interpretive twin, laws they must obey, mutations, and corners of the domain."""

from __future__ import annotations

import importlib.util
import inspect
import math
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from codegen.structure import Plan, analyse
from codegen.system_twin import OBSERVABLES, TwinError, equation_residuals, solve_twin, state_of
from derive.loss import SQUARE
from derive.saddle import saddle_system
from generated.solvers import square_blocks, square_single
from giantstep.errors import GiantstepError
from giantstep.kernels import coefficients
from giantstep.model import Model
from giantstep.result import ORDER_PARAMETERS
from giantstep.solve import Problem, problem_of, solve

Array = NDArray[np.float64]
PARAMETERS = ("alpha", "beta", "ridge", "noise", "inverse_dimension")


@dataclass(frozen=True)
class Solved:
    """What a kernel leaves behind: its status, observables and all families by name."""

    status: int
    out: Array
    families: Mapping[str, Array]
    work: Array


def model(blocks: int = 1, /, **changes: Any) -> Model:
    """A model of moderate size with closed coefficients; ``changes`` as dotted keys with __ for the dot."""
    values, fractions = [1.0, -0.6, 0.3][:blocks], [[1.0], [0.4, 0.6], [0.3, 0.45, 0.25]][blocks - 1]
    data = {
        "network": {"activation": "erf", "width": 1.2, "readout": {"values": values, "fractions": fractions}},
        "spike": {"strength": 1.4, "alignment": 0.7, "bulk_variance": 1.2},
        "target": {"link": "sin", "noise": 0.05},
        "fit": {"samples": 1.7, "ridge": 0.05},
    }
    return Model.from_dict(data).replace({key.replace("__", "."): value for key, value in changes.items()})


def small_table(problem: Problem, count: int = 24) -> Array:
    """The table of the kernels on a few Gauss-Hermite nodes: what they solve need not be a converged integral."""
    kappa, weight = np.polynomial.hermite_e.hermegauss(count)
    terms = (problem.target, *problem.blocks)
    found = [coefficients(t.function, t.scale * kappa + t.offset, t.variance) for t in terms]
    blocks = np.stack(found[1:], axis=1).reshape(-1, count)
    return np.ascontiguousarray(
        np.concatenate([kappa[None], weight[None] / weight.sum(), found[0], blocks]).T
    )


def run(kernel: Any, table: Array, fraction: Array, parameters: Array) -> Solved:
    blocks = len(fraction)
    work = np.full(kernel.workspace_size(blocks, len(table)), np.nan)
    out = np.full(3, np.nan)
    status = kernel.solve(table, fraction, parameters, work, out)
    families = {}
    for name, (start, shape) in kernel.layout(blocks, len(table)).items():
        families[name] = work[start : start + math.prod(shape)].reshape(shape)
    return Solved(int(status), out, families, work)


@lru_cache(maxsize=1)
def plan() -> Plan:
    return analyse(saddle_system(SQUARE))


def twin_of(solved: Solved, table: Array, fraction: Array, parameters: Array, digits: int = 30) -> Any:
    state = state_of(table.tolist(), fraction.tolist(), parameters.tolist(), plan())
    start = {
        name: {
            place: float(solved.families[name][place]) for place in np.ndindex(solved.families[name].shape)
        }
        for name in ("T", "V1")
    }
    return solve_twin(plan(), state, start, digits)


def distance(solved: Solved, twin: Any) -> float:
    """Largest difference in an order parameter or an observable, relative to the largest member of its family."""
    worst = 0.0
    for name in ORDER_PARAMETERS:
        wanted = np.array(twin.array(name))
        scale = float(np.abs(wanted).max()) or 1.0
        worst = max(worst, float(np.abs(solved.families[name] - wanted).max()) / scale)
    for position, name in enumerate(OBSERVABLES):
        exact = float(twin.observables[name])
        worst = max(worst, abs(float(solved.out[position]) - exact) / abs(exact))
    return worst if math.isfinite(worst) else math.inf


CASES: list[tuple[int, dict[str, Any]]] = [
    (1, {}),
    (1, {"fit__ridge": 1e-3, "fit__samples": 0.6, "network__activation": "relu", "network__bias": 0.3}),
    (2, {"target__link": "sign", "spike__alignment": 1.0}),
    (2, {"network__activation": "relu", "target__link": "relu", "fit__samples": 4.0}),
    (3, {}),
]


@pytest.mark.parametrize(("blocks", "changes"), CASES)
def test_kernels_agree_with_the_twin(blocks: int, changes: dict[str, Any]) -> None:
    """To 1e-10 of each family, the condition of the linear systems being below 1e5 here."""
    problem = problem_of(model(blocks, **changes))
    table = small_table(problem)
    for kernel in (square_blocks, square_single)[: 2 if blocks == 1 else 1]:
        solved = run(kernel, table, problem.fraction, problem.parameters)
        assert solved.status > 0
        assert kernel.check(table, problem.fraction, problem.parameters, solved.work) < 1e-12
        twin = twin_of(solved, table, problem.fraction, problem.parameters)
        assert distance(solved, twin) < 1e-10
        # the twin is a solution by its own account: 30 digits, magnitudes below 1e4
        with mpmath.workdps(40):
            assert max(equation_residuals(plan().system, twin.state).values()) < 1e-26


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_kernels_agree_with_the_twin_at_random_models(seed: int) -> None:
    draw = np.random.default_rng(seed)
    blocks = 1 + seed % 3
    changes = {
        "network__activation": ["tanh", "relu", "erf", "gelu"][seed % 4],
        "target__link": ["sign", "tanh", "relu", "quadratic", "sin"][seed % 5],
        "network__width": float(draw.uniform(0.3, 3.0)), "fit__samples": float(draw.uniform(0.2, 5.0)),
        "fit__ridge": float(10.0 ** draw.uniform(-4, 1)), "spike__strength": float(draw.uniform(0.5, 3.0)),
        "spike__alignment": float(draw.uniform(-1.0, 1.0)), "network__bias": float(draw.uniform(-1.0, 1.0)),
    }  # fmt: skip
    problem = problem_of(model(blocks, **changes), dimension=2000 if seed % 2 else None)
    table = small_table(problem, 40)
    solved = run(square_blocks, table, problem.fraction, problem.parameters)
    # weakly different blocks: the normal equations of m lose the square of their condition, 1e5 at most here
    assert distance(solved, twin_of(solved, table, problem.fraction, problem.parameters)) < 1e-8


def test_twin_says_what_it_cannot_solve() -> None:
    problem = problem_of(model(2, **{"network.readout": {"values": [1.0, 1.0], "fractions": [0.5, 0.5]}}))
    table = small_table(problem)
    solved = run(square_blocks, table, problem.fraction, problem.parameters)
    with pytest.raises(TwinError, match="block 2 is singular"):
        twin_of(solved, table, problem.fraction, problem.parameters)


def test_single_kernel_is_the_general_one_at_one_block() -> None:
    for dimension in (None, 300):
        problem = problem_of(model(1), dimension)
        table = small_table(problem, 60)
        one = run(square_single, table, problem.fraction, problem.parameters)
        many = run(square_blocks, table, problem.fraction, problem.parameters)
        assert np.allclose(one.out, many.out, rtol=1e-12)
        for name in ORDER_PARAMETERS:
            assert np.allclose(one.families[name], many.families[name], rtol=1e-11, atol=0.0), name


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
    assert two.order_parameters["m"] == pytest.approx(
        one.order_parameters["m"][0] * np.array([0.3, 0.7]), rel=1e-6
    )


def test_permuted_blocks_permute_the_order_parameters() -> None:
    order = [2, 0, 1]
    straight = solve(model(3))
    readout = straight.model.network.readout
    mixed = {"values": [readout.values[i] for i in order], "fractions": [readout.fractions[i] for i in order]}
    permuted = solve(model(3).replace({"network.readout": mixed}))
    assert permuted.test_error == pytest.approx(straight.test_error, rel=1e-10)
    for name, value in straight.order_parameters.items():
        wanted = value[order][:, order] if value.ndim == 2 else value[order]
        assert np.allclose(
            permuted.order_parameters[name], wanted, rtol=1e-7, atol=1e-9 * np.abs(wanted).max()
        ), name


@pytest.mark.parametrize("blocks", [1, 2])
def test_scaling_the_target(blocks: int) -> None:
    """y -> a y and noise -> a^2 noise: errors and Q grow by a^2, overlaps by a, responses stay."""
    problem, a = problem_of(model(blocks)), 3.0
    table = small_table(problem)
    plain = run(square_blocks, table, problem.fraction, problem.parameters)
    scaled_table, parameters = table.copy(), problem.parameters.copy()
    scaled_table[:, 2:4] *= a
    scaled_table[:, 4] *= a * a
    parameters[3] *= a * a
    scaled = run(square_blocks, scaled_table, problem.fraction, parameters)
    assert scaled.out == pytest.approx(a * a * plain.out, rel=1e-11)
    powers = {"m": 1, "zeta": 1, "psi": 1, "Q1": 2, "Q2": 2, "V1": 0, "V2": 0}
    for name, power in powers.items():
        assert np.allclose(scaled.families[name], a**power * plain.families[name], rtol=1e-9, atol=0.0), name


@pytest.mark.parametrize("blocks", [1, 2])
def test_scaling_the_activation(blocks: int) -> None:
    """sigma -> a sigma and ridge -> a^2 ridge: the same function is learned with a readout smaller by a."""
    problem, a = problem_of(model(blocks)), 3.0
    table = small_table(problem)
    plain = run(square_blocks, table, problem.fraction, problem.parameters)
    scaled_table, parameters = table.copy(), problem.parameters.copy()
    scaled_table[:, 5 : 5 + 2 * blocks] *= a
    scaled_table[:, 5 + 2 * blocks :] *= a * a
    parameters[2] *= a * a
    scaled = run(square_blocks, scaled_table, problem.fraction, parameters)
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
        found.append(
            [result.test_error, result.train_error, along, q["Q1"][0, 0] + q["zeta"][0] ** 2, q["Q2"][0]]
        )
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
        assert np.abs(even.order_parameters[name]).max() < 1e-12 * math.sqrt(
            base.order_parameters["Q2"][0] + 1.0
        )
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


# --- mutations ------------------------------------------------------------------------------------------------

CHANGES = (
    (" - ", " + "), (" + ", " - "), ("**2", "**3"), ("alpha*", ""), ("/beta", ""), ("2*", "3*"),
    ("table[node, 6", "table[node, 5"),
)  # fmt: skip


def solve_lines(text: str) -> list[int]:
    """Lines of ``solve`` that hold equations, without those that set only the speed of a Newton block."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("def solve("))
    last = next(i for i, line in enumerate(lines) if i > first and line.startswith("def "))
    kept: list[int] = []
    block: list[int] = []
    newton = False
    for i in range(first, last + 1):
        line = lines[i].strip()
        if line.startswith(("# block", "# observables")) or i == last:
            kept += without_jacobian(lines, block) if newton else block
            block, newton = [], "nonlinear" in line
        target = re.match(r"(work\[o_\w+[^]]*\]|E\w+(\[[^]]*\])?|x\d+|w\d+|sum\d+|\w+_here|residual\[[^]]*\]|"
                          r"jacobian\[[^]]*\]|out\[\d\]) \+?= ", line)  # fmt: skip
        if target and not re.match(r"(kappa|weight)_here|\w+_here = work", line):
            block.append(i)
    return kept


def without_jacobian(lines: list[str], block: list[int]) -> list[int]:
    """Lines whose value reaches something else than the Jacobian."""
    words = {i: [re.findall(r"\w+", part) for part in lines[i].split("= ", 1)] for i in block}
    # what a line sets: a local name, or the place of a family in the workspace
    name = {i: left[1] if left[0] == "work" else left[0] for i, (left, _) in words.items()}
    live = {i for i in block if re.match(r"o_(?!E)|residual", name[i])}
    while True:
        read = {word for i in live for word in words[i][1]}
        more = {i for i in block if name[i] in read - {"jacobian"}} - live
        if not more:
            return sorted(live)
        live |= more


def check_lines(text: str) -> list[int]:
    """Lines of ``check`` that evaluate an equation."""
    return [i for i, line in enumerate(text.splitlines()) if line.strip().startswith("worst = _worse(")]


def mutants(text: str, where: list[int], count: int) -> Iterator[tuple[str, str]]:
    """``count`` texts with one change each, spread evenly over all changes there are."""
    lines = text.splitlines()
    found = []
    for i in where:
        for old, new in CHANGES:
            start = lines[i].find("=") + 1
            position = lines[i].find(old, start)
            if position >= 0:
                found.append((i, lines[i][:position] + new + lines[i][position + len(old) :]))
    chosen = [found[k * len(found) // count] for k in range(count)] if len(found) > count else found
    for i, changed in chosen:
        yield f"{lines[i].strip()} -> {changed.strip()}", "\n".join([*lines[:i], changed, *lines[i + 1 :]])


def interpreted(text: str) -> ModuleType:
    """A kernel module without its compiler: plain Python, the same arithmetic."""
    module = ModuleType("mutant")
    plain = text.replace("from numba import njit", "njit = lambda **options: lambda function: function")
    assert plain != text
    with np.errstate(all="ignore"):
        exec(compile(plain, "<mutant>", "exec"), module.__dict__)
    return module


@pytest.mark.parametrize(("kernel", "blocks", "count"), [(square_single, 1, 60), (square_blocks, 2, 25)])
def test_a_changed_coefficient_is_noticed(kernel: ModuleType, blocks: int, count: int) -> None:
    problem = problem_of(model(blocks, spike__alignment=0.6), dimension=50)
    table = small_table(problem, 12)
    data = (table, problem.fraction, problem.parameters)
    text = inspect.getsource(kernel)
    unchanged = run(interpreted(text), *data)
    twin = twin_of(unchanged, *data)
    assert distance(unchanged, twin) < 1e-10
    survivors = []
    for change, mutant in mutants(text, solve_lines(text), count):
        try:
            with np.errstate(all="ignore"):
                solved = run(interpreted(mutant), *data)
                noticed = solved.status < 0 or not distance(solved, twin) < 1e-9
                noticed = noticed or not kernel.check(*data, solved.work) < 1e-10
        except (ZeroDivisionError, OverflowError, IndexError):
            noticed = True
        if not noticed:
            survivors.append(change)
    assert survivors == []


@pytest.mark.parametrize(("kernel", "blocks"), [(square_single, 1), (square_blocks, 2)])
def test_the_check_notices_its_own_mutations(kernel: ModuleType, blocks: int) -> None:
    """A changed equation in ``check`` refuses the right solution: no equation is left out of it."""
    problem = problem_of(model(blocks, spike__alignment=0.6), dimension=50)
    table = small_table(problem, 12)
    data = (table, problem.fraction, problem.parameters)
    text, solved = inspect.getsource(kernel), run(kernel, *data)
    assert kernel.check(*data, solved.work) < 1e-12
    where = check_lines(text)
    assert len(where) == len(plan().system.equations) + 1  # and the matrix inverse
    checked = {
        change: interpreted(mutant).check(*data, solved.work) for change, mutant in mutants(text, where, 60)
    }
    survivors = [change for change, residual in checked.items() if not residual > 1e-6]
    assert survivors == []


def test_the_check_notices_every_changed_unknown() -> None:
    """Each family of the solution in turn made wrong by 1e-6."""
    problem = problem_of(model(2), dimension=50)
    table = small_table(problem, 12)
    data = (table, problem.fraction, problem.parameters)
    fields = {definition.name for definition in plan().system.fields}
    for name, (start, shape) in square_blocks.layout(2, len(table)).items():
        if name in fields:
            continue
        solved = run(square_blocks, *data)
        solved.work[start : start + math.prod(shape)] *= 1.0 + 1e-6
        # what is accepted is 1e-10 of the sum of all terms, which may cancel to 1e-3 of it here
        assert square_blocks.check(*data, solved.work) > 1e-9, name


# --- corners of the domain ------------------------------------------------------------------------------------

CORNERS: list[tuple[int, dict[str, Any]]] = [
    (1, {"fit__ridge": 1e-10, "fit__samples": 1.2}),
    (1, {"fit__ridge": 1e-8, "fit__samples": 1.2}),
    (2, {"fit__ridge": 1e-8, "fit__samples": 1.2}),
    (1, {"fit__samples": 0.05, "network__width": 10.0}),
    (1, {"fit__samples": 10.0, "network__width": 0.1}),
    (3, {"fit__samples": 10.0, "network__width": 0.1, "fit__ridge": 1e-6}),
    (1, {"spike__alignment": 1.0, "target__link": "sign"}),
    (1, {"spike__alignment": -1.0, "target__link": "step"}),
    (2, {"spike__alignment": 1.0, "network__activation": "sign", "target__link": "sign"}),
    (1, {"spike__strength": 0.0}),
    (1, {"spike__strength": 1000.0}),
    (2, {"spike__strength": 1000.0, "network__activation": "relu"}),
    (1, {"network__activation": "linear"}),
    (2, {"network__activation": "linear"}),
    (
        1,
        {
            "network__activation": "linear",
            "target__link": "linear",
            "target__noise": 0.0,
            "fit__ridge": 1e-10,
        },
    ),
    (1, {"network__activation": "cubic", "target__link": "cubic"}),
    (1, {"network__activation": "cos", "spike__strength": 30.0}),
    (
        2,
        {"network__readout": {"values": [1.0, -1.0], "fractions": [0.5, 0.5]}, "network__activation": "tanh"},
    ),
    (
        2,
        {
            "network__readout": {"values": [1.0, 1.0 + 1e-6], "fractions": [0.5, 0.5]},
            "network__activation": "tanh",
        },
    ),
    (2, {"network__readout": {"values": [1.0, 0.99], "fractions": [0.5, 0.5]}, "fit__ridge": 1e-8}),
    (3, {"network__readout": {"values": [1.0, 0.0, -1.0, 0.5], "fractions": [0.25, 0.25, 0.25, 0.25]}}),
    (1, {"fit__ridge": 1e12}),
    (1, {"target__noise": 1e12}),
]


@pytest.mark.parametrize("dimension", [None, 1000])
@pytest.mark.parametrize(("blocks", "changes"), CORNERS)
def test_corners_are_solved_or_refused_in_words(
    blocks: int, changes: dict[str, Any], dimension: int | None
) -> None:
    try:
        result = solve(model(blocks, **changes), dimension=dimension)
    except GiantstepError as error:
        assert len(error.message.split()) > 4 and error.hint
    else:
        assert robustness().suspicions(result) == ()


MUST_SOLVE = [case for case in CORNERS if not {"network__readout"} & set(case[1])]


@pytest.mark.parametrize(("blocks", "changes"), MUST_SOLVE)
def test_plain_corners_are_solved(blocks: int, changes: dict[str, Any]) -> None:
    """Everything but nearly equal blocks: hard for a solver, easy to state; a refusal here is a defect."""
    result = solve(model(blocks, **changes), dimension=1000)
    assert 0.0 <= result.train_error and 0.0 < result.test_error < math.inf


@lru_cache(maxsize=1)
def robustness() -> Any:
    """The benchmark is a script, not a package."""
    path = Path(__file__).resolve().parents[1] / "benchmarks" / "robustness.py"
    specification = importlib.util.spec_from_file_location("robustness", path)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["robustness"] = module  # its dataclasses look themselves up
    specification.loader.exec_module(module)
    return module


def test_random_models_of_the_whole_domain() -> None:
    """The generator of the robustness benchmark: nothing crashes, nothing solved looks wrong, most is solved."""
    outcomes = [robustness().attempt(number, seed=1) for number in range(60)]
    assert [(o.number, o.wrong, o.reason) for o in outcomes if o.wrong] == []
    assert sum(o.status == "solved" for o in outcomes) >= 45
