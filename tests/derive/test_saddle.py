"""The saddle-point system: THEORY section 4 for K = 1, 2, 3; at K = 1 the published Result 3.3; limits."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import mpmath
import pytest
import sympy as sp
from evaluate import Evaluator
from one_block import at_one_block
from saddle_cases import CASES, DIFFERENCE, DIGITS, EXACT, adjoint
from saddle_oracle import (
    HATS,
    ORDER,
    Point,
    hats,
    m_condition,
    matrix_m,
    q1_by_differences,
    q2_by_differences,
    random_point,
    responses,
    squared_residual,
    state_of_point,
    t_equation,
)

from derive.blocks import KAPPA, family_name
from derive.gaussian.expectation import Expectation
from derive.loss.quadratic import SQUARE
from derive.saddle import ORDER_PARAMETERS, SaddleSystem, member, saddle_system
from derive.symbols import ALPHA, BETA, INVERSE_DIMENSION, NOISE, RIDGE


@lru_cache(maxsize=1)
def system() -> SaddleSystem:
    return saddle_system(SQUARE)


def members(point: Point, name: str) -> dict[tuple[int, ...], Any]:
    equation = system().equation(name)
    state = state_of_point(point, system(), adjoint=adjoint(point))
    return Evaluator(state).family(equation.body, equation.indices)


def assert_members(found: dict[tuple[int, ...], Any], wanted: Any, tolerance: Any) -> None:
    for place, value in found.items():
        expected = wanted[place] if isinstance(wanted, mpmath.matrix) else wanted[place[0]]
        assert abs(value - expected) <= tolerance * max(1, abs(expected)), place


# --- any number of blocks -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("blocks", "seed"), CASES)
def test_conjugates_and_responses_are_those_of_the_theory(blocks: int, seed: int) -> None:
    with mpmath.workdps(DIGITS):
        point = random_point(blocks, seed)
        for name, wanted in {**hats(point), **responses(point)}.items():
            assert_members(members(point, name), wanted, EXACT)
        assert_members(members(point, "m"), m_condition(point), EXACT)
        assert_members(members(point, "M"), matrix_m(point), EXACT)


@pytest.mark.parametrize(("blocks", "seed"), CASES)
def test_marchenko_pastur_equation(blocks: int, seed: int) -> None:
    """T_b beta pi_b / (its right side): the printed residual at arbitrary T, not only at the solution."""
    with mpmath.workdps(DIGITS):
        point = random_point(blocks, seed)
        point = point.with_values(T=[t * (1 + mpmath.mpf(b + 1) / 3) for b, t in enumerate(point["T"])])
        right = members(point, "T")
        for b, printed in enumerate(t_equation(point)):
            whole = point.beta * point.fraction[b]
            assert abs(point["T"][b] * whole / right[(b,)] - whole - printed) <= EXACT * (whole + abs(printed))


@pytest.mark.parametrize(("blocks", "seed"), CASES)
def test_overlaps_are_the_implicit_derivatives_of_R(blocks: int, seed: int) -> None:
    """Q1 = -dR/dV1_hat and Q2 = -dR/dlambda with T solved again at 40 digits, by central differences."""
    with mpmath.workdps(DIGITS):
        point, step = random_point(blocks, seed), mpmath.mpf("1e-12")
        q1, q2 = members(point, "Q1"), members(point, "Q2")
        solved = adjoint(point)
        for b in range(blocks):
            by_lambda = q2_by_differences(point, b, step)
            assert abs(solved[b] - by_lambda) <= DIFFERENCE * max(1, abs(by_lambda))
            assert q2[(b,)] == solved[b]
            for c in range(blocks):
                by_hat = q1_by_differences(point, b, c, step)
                assert abs(q1[b, c] - by_hat) <= DIFFERENCE * max(1, abs(by_hat))


@pytest.mark.parametrize(("blocks", "seed"), CASES)
def test_errors_are_averages_of_the_squared_residual(blocks: int, seed: int) -> None:
    from saddle_oracle import output

    with mpmath.workdps(DIGITS):
        point = random_point(blocks, seed)
        evaluator = Evaluator(state_of_point(point, system()))
        train = point.average(lambda i: squared_residual(point, i) / (1 + output(point, i)[3]) ** 2)
        assert abs(evaluator.value(system().train_error) - train) <= EXACT * max(1, abs(train))
        test = point.average(lambda i: squared_residual(point, i, noise=0))
        assert abs(evaluator.value(system().test_error) - test) <= EXACT * max(1, abs(test))


def test_every_unknown_has_one_equation() -> None:
    unknowns = [equation.unknown for equation in system().equations]
    assert sorted(unknowns) == sorted(set(unknowns))
    assert set(ORDER_PARAMETERS) == set(ORDER) <= set(unknowns)
    with pytest.raises(KeyError):
        system().equation("nothing")


def test_result_steps_are_the_equations() -> None:
    """The recorded right side of each stationarity condition is what the system solves."""
    steps = {step.label: step for step in system().derivation.steps}
    for equation in system().equations:
        if equation.label.startswith("d/d") and equation.kind == "explicit":
            assert steps[equation.label].rhs == equation.body
            assert steps[equation.label].lhs == member(equation.unknown, equation.indices)


# --- one block, uniform readout: [CUI24] Result 3.3 in symbols --------------------------------------------------

NAMES = ("T", "adjoint", *ORDER, *HATS)
S = {name: sp.Symbol(f"{name}_1", positive=True) for name in NAMES}
MU0, MU1, MU2SQ, NU0, NU1, NU2SQ = (sp.Symbol(n, real=True) for n in ("mu0", "mu1", "mu2sq", "nu0", "nu1", "nu2sq"))


def one_block(expr: sp.Expr) -> sp.Expr:
    """An index expression at K = 1, its matrices written out, everything in plain symbols; the fields inserted."""
    expr = at_one_block(expr)
    definitions = {d.name: at_one_block(d.body) for d in system().fields}
    inverse = 1 / (1 + S["V1_hat"] * S["T"])
    matrices = {"P": inverse, "S": inverse * S["V1_hat"], "M": S["T"] * inverse, "fraction": sp.S.One}
    functions = {"mu0": MU0, "mu1": MU1, "mu2sq": MU2SQ, "nu0": NU0, "nu1": NU1, "nu2sq": NU2SQ}

    def walk(node: Any) -> Any:
        name = family_name(node)
        if name in definitions:
            return walk(definitions[name])
        if name is not None:
            return {**S, **matrices, **functions}[name]
        if isinstance(node, Expectation):
            return average(walk(node.integrand))
        if isinstance(node, sp.KroneckerDelta):
            return sp.S.One
        return node.func(*map(walk, node.args)) if node.args else node

    return walk(expr)


AVERAGE = sp.Function("E", real=True)


def average(integrand: sp.Expr) -> sp.Expr:
    """An average over kappa of rational functions as a canonical object: terms apart, constants outside."""
    local = {KAPPA, MU0, MU1, MU2SQ, NU0, NU1, NU2SQ, sp.Symbol("mean"), sp.Symbol("V")}
    variance = MU1**2 * S["V1"] + MU2SQ * S["V2"]
    weight = sp.Symbol("V")
    total = sp.S.Zero
    for term in sp.Add.make_args(sp.expand(integrand.subs(1 / (1 + variance), weight).subs(1 + variance, 1 / weight))):
        inside = [f for f in sp.Mul.make_args(term) if f.free_symbols & local]
        outside = [f for f in sp.Mul.make_args(term) if not f.free_symbols & local]
        total += sp.Mul(*outside) * AVERAGE(sp.Mul(*inside))
    return total


def published() -> dict[str, sp.Expr]:
    """[CUI24] Result 3.3 with the slips of THEORY section 9 mended: right sides at K = 1, unit rows."""
    mean = MU0 * S["m"] + MU1 * KAPPA * S["zeta"]
    slope = MU1 * S["psi"]
    v = MU1**2 * S["V1"] + MU2SQ * S["V2"]
    delta = MU1**2 * (S["Q1"] - S["psi"] ** 2) + MU2SQ * S["Q2"]
    # E[(y - omega)^2 | kappa], y = nu0 + nu1 t + rest: a square of independent parts
    square = (NU0 - mean) ** 2 + (NU1 - slope) ** 2 + NU2SQ + NOISE + delta
    h, factor = 1 / (1 + v), ALPHA / BETA
    m = S["T"] / (1 + S["T"] * S["V1_hat"])
    return {
        "V1_hat": factor * average(MU1**2 * h),
        "V2_hat": factor * average(MU2SQ * h),
        "Q1_hat": factor * average(MU1**2 * square * h**2),
        "Q2_hat": factor * average(MU2SQ * square * h**2),
        "zeta_hat": factor * average(MU1 * KAPPA * (NU0 - mean) * h),
        "psi_hat": factor * average(MU1 * ((NU1 - slope) * h + h * slope)),
        "V2": S["T"] / BETA,
        "V1": m / BETA,
        "zeta": S["T"] * S["zeta_hat"],
        "psi": m * S["psi_hat"],
        "train": average(square * h**2),
        "test": average(square - NOISE),
        "m": -ALPHA * average(MU0 * (NU0 - mean) * h) + INVERSE_DIMENSION * S["m"] * BETA / S["T"],
    }


@pytest.mark.parametrize("name", [n for n in published() if n not in ("train", "test")])
def test_one_block_is_the_published_system(name: str) -> None:
    assert sp.simplify(one_block(system().equation(name).body) - published()[name]) == 0


def test_one_block_errors_are_the_published_ones() -> None:
    assert sp.simplify(one_block(system().train_error) - published()["train"]) == 0
    assert sp.simplify(one_block(system().test_error) - published()["test"]) == 0


def test_one_block_marchenko_pastur_equation() -> None:
    """T (lambda + V2_hat + V1_hat/(1 + V1_hat T)) = beta."""
    bracket = RIDGE + S["V2_hat"] + S["V1_hat"] / (1 + S["V1_hat"] * S["T"])
    assert sp.simplify(one_block(system().equation("T").body) * bracket - BETA) == 0


def test_one_block_overlaps_by_implicit_differentiation() -> None:
    """Q2 = -dR/dlambda, Q1 = -dR/dV1_hat with T through T (lambda + V2_hat + V1_hat/(1 + V1_hat T)) = beta."""
    t, v1, lam = S["T"], S["V1_hat"], RIDGE
    condition = t * (lam + S["V2_hat"] + v1 / (1 + v1 * t)) - BETA
    m = t / (1 + v1 * t)
    r = S["zeta_hat"] ** 2 * t + S["psi_hat"] ** 2 * m + (S["Q1_hat"] * m + S["Q2_hat"] * t) / BETA
    r -= INVERSE_DIMENSION * S["m"] ** 2 / t  # section 6: -beta/2 of it is m^2/(2 d V2)

    def total(variable: sp.Symbol) -> sp.Expr:
        return sp.diff(r, variable) - sp.diff(r, t) * sp.diff(condition, variable) / sp.diff(condition, t)

    on_shell = {lam: BETA / t - S["V2_hat"] - v1 / (1 + v1 * t)}
    (adjoint_1,) = sp.solve(one_block(system().equation("adjoint").body), S["adjoint"])
    q2 = one_block(system().equation("Q2").body).subs(S["adjoint"], adjoint_1)
    q1 = one_block(system().equation("Q1").body).subs(S["adjoint"], adjoint_1)
    assert sp.simplify((q2 + total(lam)).subs(on_shell)) == 0
    assert sp.simplify((q1 + total(v1)).subs(on_shell)) == 0


def test_one_block_integrals_over_the_marchenko_pastur_law() -> None:
    """[CUI24] eq. (108)-(116), isotropic rows: integrals over the spectrum of W W^T against the form with T."""
    with mpmath.workdps(30):
        point = replace(random_point(1, 21), inverse_dimension=mpmath.mpf(0))
        t, v1, beta = point["T"][0], point["V1_hat"][0, 0], point.beta
        low, high = (1 - mpmath.sqrt(beta)) ** 2, (1 + mpmath.sqrt(beta)) ** 2
        zero = 1 - min(mpmath.mpf(1), 1 / beta)  # share of zero singular values among the p neurons

        def spectrum(function: Any) -> Any:
            def inside(angle: Any) -> Any:
                x = (high + low) / 2 - (high - low) / 2 * mpmath.cos(angle)
                weight = ((high - low) / 2 * mpmath.sin(angle)) ** 2 / (2 * mpmath.pi * x * beta)
                return weight * function(x)

            return mpmath.quad(inside, [0, mpmath.pi / 2, mpmath.pi]) + zero * function(mpmath.mpf(0))

        def d(rho: Any) -> Any:
            return point.ridge + point["V2_hat"][0] + v1 * rho

        close = mpmath.mpf("1e-24")  # tanh-sinh at 30 digits of an analytic integrand
        response = beta * spectrum(lambda x: x / d(x))
        assert abs(spectrum(lambda x: 1 / d(x)) - t / beta) <= close
        assert abs(spectrum(lambda x: x / d(x)) - matrix_m(point)[0, 0] / beta) <= close
        assert abs(response / (1 - v1 * response) - t) <= close
        zeta, psi = t * point["zeta_hat"][0], response * point["psi_hat"][0]
        assert abs(members(point, "psi")[(0,)] - psi) <= close

        def source(x: Any) -> Any:
            spike = point["zeta_hat"][0] ** 2 * x / (1 - v1 * response) ** 2 + point["psi_hat"][0] ** 2 * x
            return point["Q1_hat"][0, 0] * x + point["Q2_hat"][0] + beta * spike

        q2 = spectrum(lambda x: source(x) / d(x) ** 2)
        q1 = spectrum(lambda x: x * source(x) / d(x) ** 2) - zeta**2
        assert abs(members(point, "Q2")[(0,)] - q2) <= close * max(1, abs(q2))
        assert abs(members(point, "Q1")[0, 0] - q1) <= close * max(1, abs(q1))


def test_without_spike_it_is_plain_random_features() -> None:
    """r = 0: constant coefficients; V = mu1^2 V1 + mu_star^2 V2 leaves the equations of [GER20], square loss."""
    mu1, star = sp.symbols("mu1_plain mu_star_sq", positive=True)
    v = mu1**2 * S["V1"] + star * S["V2"]

    def plain(name: str) -> sp.Expr:
        expr = one_block(system().equation(name).body).subs({MU1: mu1, MU2SQ: star})
        return expr.replace(AVERAGE, lambda x: x.subs(sp.Symbol("V"), 1 / (1 + v))).subs(sp.Symbol("V"), 1 / (1 + v))

    assert sp.simplify(plain("V1_hat") - ALPHA / BETA * mu1**2 / (1 + v)) == 0
    assert sp.simplify(plain("V2_hat") - ALPHA / BETA * star / (1 + v)) == 0
