"""What holds for every convex loss, on random ones: the emitted proximal map, the free energy, and solutions.

The proximal maps of the derivation have their properties tested in test_prox.py; here it is the emitted text (run
without its compiler) and the saddle-point system, for losses that are random sums of scaled and shifted pieces.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import ModuleType
from typing import Any

import mpmath
import numpy as np
import pytest
from evaluate import Evaluator, State
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from interpreted import interpreted
from loss_cases import MARGIN, RESIDUAL, channel_of, equations, loss_table, model
from reference_labels import Channel
from reference_output import Fields, LossCurve, node_averages
from saddle_oracle import Point, random_point, solve_t, state_of_point

from codegen.losses import emit_analysed
from derive.blocks import KAPPA, block_field
from derive.loss.convexity import check_convex
from derive.loss.loss import LossAnalysis, analyse_loss, loss_of
from derive.loss.prox_value import moreau_values
from derive.saddle import SaddleSystem
from generated.runtime.nodes import Output, Rule
from generated.runtime.prox import NOWHERE
from giantstep.quadrature.gauss import gauss_rule
from giantstep.spec.model import Model
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.level import Level
from giantstep.system.merged_blocks import merged
from giantstep.system.problem import Problem, problem_of
from giantstep.system.reduced_order import order_of
from giantstep.system.result import Result
from giantstep.system.solve import solve

Array = np.ndarray

QUICK = (Phase.explicit, Phase.generate)  # shrinking a failure would take minutes
tenths = st.integers(2, 20).map(lambda k: k / 10)
shifts = st.integers(-10, 10).map(lambda k: k / 10)
RESIDUAL_TERMS = (
    "{a}*(y-f)**2",
    "{a}*abs(y-f-({c}))",
    "{a}*log(1+exp({b}*(y-f-({c}))))",
    "{a}*log(cosh({b}*(y-f)))",
    "{a}*max(0,y-f-({c}))",
    "{a}*sqrt(1+(y-f-({c}))**2)",
)
MARGIN_TERMS = (
    "{a}*log(1+exp(-{b}*y*f))",
    "{a}*max(0,1+({c})-y*f)",
    "{a}*exp(-{b}*y*f)",
    "{a}*max(0,1+({c})-y*f)**2",
    "{a}*(1-y*f)**2",
)


def sums(terms: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Texts of one to three different terms with numbers."""
    chosen = st.lists(
        st.tuples(st.sampled_from(terms), tenths, tenths, shifts), min_size=1, max_size=3, unique_by=lambda t: t[0]
    )
    return chosen.map(lambda parts: "+".join(term.format(a=a, b=b, c=c) for term, a, b, c in parts))


losses = st.one_of(sums(RESIDUAL_TERMS), sums(MARGIN_TERMS))


@lru_cache(maxsize=64)
def emitted(text: str) -> tuple[LossAnalysis, ModuleType]:
    """The analysis of a loss and its kernel in plain Python."""
    check_convex(loss_of(text))
    analysis = analyse_loss(loss_of(text))
    return analysis, interpreted(emit_analysed(analysis).text)


def nodes(kernel: ModuleType, y: float, centre: float, spread: float, v: float) -> tuple[Array, ...]:
    """omega_u, weight, g, h, envelope, loss of the prox, in the order of omega_u."""
    scratch = np.empty(kernel.SCRATCH_SHAPE)
    with np.errstate(all="ignore"):
        rule, turns = Rule(gauss_rule(44), 44, np.empty(0), 0.0), NOWHERE
        count = kernel.nodes(rule, y, Output(centre, spread, v), turns, scratch)
    assert 0 < count
    found = scratch[:, :count]
    return tuple(found[:6, np.argsort(found[0], kind="stable")])


@settings(max_examples=10, deadline=None, derandomize=True, phases=QUICK)
@given(losses, st.floats(-4, 4), st.floats(-1, 1), st.floats(-2, 2))
def test_the_emitted_proximal_map(text: str, centre: float, spread: float, v: float) -> None:
    """Firmly non-expansive, 0 <= h <= 1/V, -g a subgradient everywhere (Fenchel and Moreau); the reference's."""
    analysis, kernel = emitted(text)
    spread, v = 10.0**spread, 10.0**v
    omega, weight, g, h, envelope, rho = nodes(kernel, 1.0, centre, spread, v)
    assert weight.sum() == pytest.approx(1.0, abs=1e-9)  # all of the normal law
    prox, size = omega + v * g, 1e-11 * (1.0 + np.abs(omega).max())
    moved, along = np.diff(prox), np.diff(omega)
    assert np.all(moved >= -size) and np.all(moved <= along + size)
    assert np.all(h >= 0.0) and np.all(h <= (1.0 + 1e-12) / v)
    # rho(x') >= rho(x) - g (x' - x): -g is in the subdifferential, which is Moreau's decomposition
    assert np.allclose(rho + 0.5 * v * g * g, envelope, rtol=1e-13, atol=0.0)
    some = np.linspace(0, len(prox) - 1, 60).astype(int)
    below = rho[some, None] - g[some, None] * (prox[None, some] - prox[some, None])
    assert np.all(rho[None, some] >= below - 1e-10 * (1.0 + np.abs(rho).max() + np.abs(g).max() * np.abs(prox).max()))
    # rho(prox) + rho*(-g) = -g prox is then an equality, and the conjugate's prox is -V g: compare with 20 digits
    margin = analysis.loss.form == "margin"
    heavy = np.flatnonzero(weight > 1e-6 * weight.max())  # not those of a part that rounding opens between two pieces
    for i in heavy[[len(heavy) // 3, len(heavy) // 2]]:
        reference = moreau_values(analysis, 1.0 if margin else 0.0, float(omega[i]), v, digits=20)
        close = 1e-10 * (1.0 + abs(float(omega[i])))
        assert abs(float(reference.prox) - prox[i]) < close and abs(float(reference.g) - g[i]) < close / v + 1e-12
        assert abs(float(reference.h) - h[i]) < 1e-8 * (1.0 + h[i])
        assert abs(float(reference.envelope) - envelope[i]) < 1e-9 * (1.0 + abs(envelope[i]))


# --- the free energy ----------------------------------------------------------------------------------------------
DIGITS = 25
STEP = mpmath.mpf("1e-3")
STENCIL = ((-2, 1), (-1, -8), (1, 8), (2, -1))  # of a first derivative, over 12
#: Quadrature of the reference, 1e-14, over the step; the fourth power of the step times a fifth derivative.
CLOSE = 1e-8


def with_averages(point: Point, text: str, system: SaddleSystem, channel: Channel, **families: Any) -> State:
    """The state of a point with the averages of a loss at its nodes."""
    bare = state_of_point(point, system, **families)
    evaluator, curve = Evaluator(bare), LossCurve(analyse_loss(loss_of(text)), {})
    fields = [evaluator.nodes(block_field(name)(KAPPA)) for name in ("V", "mean", "slope", "Delta")]
    found = [
        node_averages(curve, channel, kappa, Fields(v, mean, (slope,), delta))
        for kappa, v, mean, slope, delta in zip(bare.kappa, *fields, strict=True)
    ]
    columns = {(name, ()): [values[name] for values in found] for name in found[0]}
    return State(
        bare.blocks,
        bare.symbols,
        bare.families,
        bare.kappa,
        bare.weight,
        {**bare.columns, **columns},
        bare.definitions,
        bare.inverses,
    )


def adjoint(point: Point, system: SaddleSystem) -> list[Any]:
    """The adjoint by its linear equation."""
    equation, k = system.equation("adjoint"), point.blocks

    def left(vector: list[Any]) -> list[Any]:
        evaluator = Evaluator(state_of_point(point, system, adjoint=vector))
        return list(evaluator.family(equation.body, equation.indices).values())

    origin, matrix = left([mpmath.mpf(0)] * k), mpmath.matrix(k, k)
    for j in range(k):
        for i, x in enumerate(left([mpmath.mpf(i == j) for i in range(k)])):
            matrix[i, j] = x - origin[i]
    return list(-mpmath.lu_solve(matrix, mpmath.matrix(origin)))


def moved(point: Point, direction: Mapping[str, Any], by: Any) -> Point:
    changed = {
        name: point[name] + by * along
        if isinstance(along, mpmath.matrix)
        else [x + by * d for x, d in zip(point[name], along, strict=True)]
        for name, along in direction.items()
    }
    found = point.with_values(**changed)
    return found.with_values(T=solve_t(found, point["T"]))


def _direction(point: Point, names: tuple[str, ...]) -> dict[str, Any]:
    """Small enough to keep variances positive along it."""
    found: dict[str, Any] = {}
    for number, name in enumerate(names, start=1):
        value, k = point[name], point.blocks
        if isinstance(value, mpmath.matrix):
            found[name] = mpmath.matrix(k, k)
            for b in range(k):
                for c in range(k):
                    found[name][b, c] = mpmath.mpf(((b + 1) * (c + 1) * number) % 5 - 2) / 10
        else:
            found[name] = [mpmath.mpf((number * (b + 2)) % 7 - 3) / 15 for b in range(k)]
    return found


@pytest.mark.parametrize("blocks", [1, 2])
@settings(max_examples=2, deadline=None, derandomize=True, phases=QUICK)
@given(losses)
def test_gradient_of_the_free_energy(blocks: int, text: str) -> None:
    """The derived stationarity conditions along a direction through all order parameters, and one through all
    conjugates (which the averages do not see), against differences with T solved again and averages taken again.
    """
    with mpmath.workdps(DIGITS):
        system = equations(1)
        margin = loss_of(text).form == "margin"
        link = model(text, target__link="sign(z-0.4)", **({} if margin else {"target__noise": 0.1}))
        channel = channel_of(link, (0.6,))
        point = random_point(blocks, 5, nodes=2)
        point = point.with_values(Q1=point["Q1"] + mpmath.eye(blocks) * 2, psi=[x / 4 for x in point["psi"]])
        state = with_averages(point, text, system, channel, adjoint=adjoint(point, system))
        evaluator = Evaluator(state)
        overlaps = ("m", "zeta", "psi", "Q1", "Q2", "V1", "V2")
        conditions = {c.unknown: c for c in system.stationarity}
        conditions["m"] = system.equation("m")
        for names in (overlaps, tuple(n for n in conditions if n.endswith("_hat"))):
            direction = _direction(point, names)
            along = scale = mpmath.mpf(0)
            for name in names:
                derived = evaluator.family(conditions[name].body, conditions[name].indices)
                for place, value in derived.items():
                    step = direction[name][place if len(place) == 2 else place[0]]
                    along, scale = along + value * step, scale + abs(value * step)
            energies = [
                Evaluator(with_averages(moved(point, direction, k * STEP), text, system, channel)).value(
                    system.free_energy
                )
                for k, _ in STENCIL
            ]
            slope = mpmath.fsum(w * e for (_, w), e in zip(STENCIL, energies, strict=True)) / (12 * STEP)
            assert abs(slope - along) < CLOSE * max(scale, 1), (text, names)


# --- solutions ----------------------------------------------------------------------------------------------------
#: Two solves, each to 1e-10 of its test error.
SAME = 1e-8


def compared(first: Result, second: Result, output: float = 1.0, response: float = 1.0) -> None:
    """Outputs of the second are ``output`` times those of the first, response functions ``response`` times."""
    powers = {"m": output, "zeta": output, "psi": output, "Q1": output**2, "Q2": output**2}
    powers |= {"V1": response, "V2": response}
    for name, factor in powers.items():
        wanted = factor * first.order_parameters[name]
        size = np.abs(wanted).max()
        assert np.allclose(second.order_parameters[name], wanted, rtol=0.0, atol=SAME * size + 1e-13), name


random_models = st.fixed_dictionaries(
    {
        "fit__samples": st.floats(0.3, 4.0),
        "fit__ridge": st.floats(-3, 1).map(lambda x: 10.0**x),
        "network__width": st.floats(0.3, 3.0),
        "spike__alignment": st.floats(-0.95, 0.95),
        "spike__strength": st.floats(0.2, 3.0),
        "network__activation": st.sampled_from(("erf", "tanh", "relu", "sin")),
    }
)
few = settings(max_examples=4, deadline=None, derandomize=True, phases=QUICK)


@few
@given(random_models, st.sampled_from(MARGIN))
def test_flipping_all_labels_flips_the_readout(changes: dict[str, Any], loss: str) -> None:
    plain = solve(model(loss_table(loss), target__link="sign(z-0.4)", **changes))
    flipped = solve(model(loss_table(loss), target__link="-sign(z-0.4)", **changes))
    compared(plain, flipped, output=-1.0)
    assert plain.test_error == pytest.approx(flipped.test_error, rel=SAME)
    assert plain.free_energy == pytest.approx(flipped.free_energy, rel=SAME)


@few
@given(random_models)
def test_flipping_the_spike_changes_nothing(changes: dict[str, Any]) -> None:
    """v -> -v with kappa -> -kappa: readouts at initialisation, the alignment and zeta change their signs."""
    first = solve(model("logistic", target__link="sign(z-0.4)", **changes))
    turned = {"spike__alignment": -changes["spike__alignment"], "network__readout.values": [-1.0]}
    second = solve(model("logistic", target__link="sign(z-0.4)", **(changes | turned)))
    for name, sign in {"m": 1, "zeta": -1, "psi": 1, "Q1": 1, "Q2": 1, "V1": 1, "V2": 1}.items():
        wanted = sign * first.order_parameters[name]
        assert np.allclose(second.order_parameters[name], wanted, atol=SAME * np.abs(wanted).max() + 1e-13), name
    assert first.test_error == pytest.approx(second.test_error, rel=SAME)


@few
@given(random_models)
def test_huber_tends_to_square_and_the_median_is_half_the_absolute_loss(changes: dict[str, Any]) -> None:
    noisy = changes | {"target__link": "sin", "target__noise": 0.2}
    square, huber = (solve(model(loss, **noisy)) for loss in ("square", {"name": "huber", "delta": 1e6}))
    compared(square, huber)
    assert square.test_error == pytest.approx(huber.test_error, rel=SAME)
    # loss/2 with ridge/2 is half of the objective: the same readout, twice the response
    ridge = noisy["fit__ridge"]
    absolute = solve(model("absolute", **(noisy | {"fit__ridge": max(2.0 * ridge, 0.02)})))
    median = solve(model({"name": "quantile", "tau": 0.5}, **(noisy | {"fit__ridge": max(ridge, 0.01)})))
    compared(absolute, median, response=2.0)
    assert absolute.test_error == pytest.approx(median.test_error, rel=SAME)
    assert absolute.free_energy == pytest.approx(2.0 * median.free_energy, rel=SAME)


@few
@given(random_models, st.floats(0.3, 4.0))
def test_scales_of_the_label(changes: dict[str, Any], scale: float) -> None:
    """y and f times s: square keeps its form, Huber takes delta s, the absolute loss s times its value and ridge/s."""
    scale = round(scale, 1)
    small = {**changes, "target__link": "2*step(z-0.4)-1", "target__noise": 0.3}
    small["fit__ridge"] = max(changes["fit__ridge"], 0.02)
    large = {**small, "target__link": f"{scale}*(2*step(z-0.4)-1)", "target__noise": 0.3 * scale**2}
    hubers = [{"name": "huber", "delta": 0.7 * factor} for factor in (1.0, scale)]
    for first, second in (("square", "square"), hubers):
        results = solve(model(first, **small)), solve(model(second, **large))
        compared(*results, output=scale)
        assert results[1].test_error == pytest.approx(scale**2 * results[0].test_error, rel=SAME)
    absolute = model("absolute", **(small | {"fit__ridge": scale * small["fit__ridge"]}))
    compared(solve(absolute), solve(model("absolute", **large)), output=scale, response=scale)


def test_a_multiple_of_a_loss_with_that_multiple_of_the_ridge() -> None:
    """The objective times 2.5: the same readout, the response divided by 2.5; the kernel is generated."""
    changes = {"target__link": "tanh", "target__noise": 0.1}
    plain = solve(model("log_cosh", **changes, fit__ridge=0.1))
    times = solve(model("2.5*log(cosh(y-f))", **changes, fit__ridge=0.25))
    compared(plain, times, response=1.0 / 2.5)
    assert times.test_error == pytest.approx(plain.test_error, rel=SAME)
    assert times.train_error == pytest.approx(2.5 * plain.train_error, rel=SAME)


def test_a_multiple_of_the_activation() -> None:
    """Features times -2 with a ridge times 4: the same outputs from half of the readout."""
    first = solve(model("logistic", target__link="sign(z-0.4)", network__activation="tanh", fit__ridge=0.1))
    second = solve(model("logistic", target__link="sign(z-0.4)", network__activation="-2*tanh(z)", fit__ridge=0.4))
    assert second.test_error == pytest.approx(first.test_error, rel=SAME)
    assert second.free_energy == pytest.approx(first.free_energy, rel=SAME)
    assert second.order_parameters["m"] == pytest.approx(-first.order_parameters["m"] / 2.0, rel=SAME)
    assert second.order_parameters["Q2"] == pytest.approx(first.order_parameters["Q2"] / 4.0, rel=SAME)


def unmerged(found: Model) -> tuple[Problem, Problem]:
    """Two equal blocks as they are, and as one."""
    problem = problem_of(found)
    return problem, merged(problem)[0]


@few
@given(random_models, st.sampled_from((*MARGIN, *RESIDUAL)), st.floats(0.1, 0.9))
def test_one_block_is_nested_in_two(changes: dict[str, Any], loss: str, share: float) -> None:
    """The solution of one block, shared by two equal ones, solves the equations of two."""
    share = round(share, 2)
    changes = changes | {
        "target__link": "sign",
        "network__readout.values": [1.0, 1.0],
        "network__readout.fractions": [share, 1.0 - share],
        "fit__ridge": max(changes["fit__ridge"], 0.02),
    }
    two, one = unmerged(model(loss_table(loss), 2, **changes))
    assert len(one.blocks) == 1 and len(two.blocks) == 2
    result = solve(two.model)
    system = CoupledSystem(two, Level(8, 113, halvings=1))
    x = system.unknowns(order_of(system.problem, result))
    # Q2 = adjoint is per block; residuals of the unknowns relative to their sizes, at the resolution of the answer
    assert np.abs(system.residual(x) / system.scale(x)).max() < 1e-7
    single = solve(two.model.replace({"network.readout.values": [1.0], "network.readout.fractions": [1.0]}))
    assert result.test_error == pytest.approx(single.test_error, rel=SAME)
    for name in ("m", "zeta", "psi", "V2"):
        parts = result.order_parameters[name]
        assert parts.sum() == pytest.approx(single.order_parameters[name].sum(), abs=SAME * (1e-3 + abs(parts).max()))
        assert parts[0] * (1.0 - share) == pytest.approx(parts[1] * share, abs=SAME * (1e-3 + abs(parts).max()))
