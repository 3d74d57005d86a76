"""Losses of y and f whose kinks move with the label: cut, certificate, prox, averages, a solve, a simulation.

The losses and their slopes are typed in by hand as plain functions of y and f; nothing of the engine enters them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest
from loss_cases import model
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

from derive.loss.convexity import NotConvex, check_convex
from derive.loss.loss import analyse_loss, loss_of
from derive.loss.prox import moreau
from derive.loss.prox_value import moreau_values
from generated.runtime.label_points import LabelNodes
from generated.runtime.nodes import Fields, Rule
from giantstep.observe.simulate import simulate
from giantstep.quadrature.gauss import gauss_rule
from giantstep.simulate.convex import Labelled
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.loss_functions import convex_loss
from giantstep.system.kernels import loss_kernel
from giantstep.system.resolution import FINE, refined
from giantstep.system.solve import solve

Function = Callable[[float, float], float]


def sign(x: float) -> float:
    return float(np.sign(x))


@dataclass(frozen=True)
class ByHand:
    """A loss: its value, its slope in f (any at a kink), its kinks at a label, and how many ranges of labels it has."""

    value: Function
    slope: Function
    kinks: Callable[[float], list[float]]
    ranges: int


LOSSES = {
    "abs(y-2*f)": ByHand(lambda y, f: abs(y - 2 * f), lambda y, f: 2 * sign(2 * f - y), lambda y: [y / 2], 1),
    "max(y-f,0)**2 + abs(f-1)": ByHand(
        lambda y, f: max(y - f, 0.0) ** 2 + abs(f - 1),
        lambda y, f: -2 * max(y - f, 0.0) + sign(f - 1),
        lambda y: [y, 1.0],
        3,
    ),
    "abs(y-f) + abs(y+f)": ByHand(
        lambda y, f: abs(y - f) + abs(y + f), lambda y, f: sign(f - y) + sign(f + y), lambda y: [-y, y], 3
    ),
    "max(0, abs(f)-abs(y))": ByHand(
        lambda y, f: max(0.0, abs(f) - abs(y)), lambda y, f: sign(f) * (abs(f) > abs(y)), lambda y: [-y, y], 3
    ),
    "max(abs(y-f)-y**2,0)": ByHand(
        lambda y, f: max(abs(y - f) - y * y, 0.0),
        lambda y, f: sign(f - y) * (abs(y - f) > y * y),
        lambda y: [y - y * y, y + y * y],
        3,
    ),
    "max(0,1-y*f)+0.1*f**2": ByHand(
        lambda y, f: max(0.0, 1 - y * f) + 0.1 * f * f,
        lambda y, f: -y * (y * f < 1) + 0.2 * f,
        lambda y: [1 / y] if y else [],
        3,
    ),
    "softplus(f-y) + abs(f+3*y-1)": ByHand(
        lambda y, f: math.log1p(math.exp(f - y)) + abs(f + 3 * y - 1),
        lambda y, f: 1 / (1 + math.exp(y - f)) + sign(f + 3 * y - 1),
        lambda y: [1 - 3 * y],
        1,
    ),
}
# kinks that cross where the label is zero are in the ordinary run once
CROSSING = ("abs(y-f) + abs(y+f)", "max(0, abs(f)-abs(y))")
SOME = [pytest.param(text, marks=[pytest.mark.slow] * (text in CROSSING)) for text in LOSSES]
LABELS = (1.0, -1.0, 0.0, 0.37, -2.6, 1e-7)


@pytest.mark.parametrize("text", SOME)
def test_the_cut_is_the_loss(text: str) -> None:
    """Ranges of labels as counted by hand, pieces that agree with the loss on all of them, a certificate."""
    analysis, by_hand = analyse_loss(loss_of(text)), LOSSES[text]
    assert len(analysis.parts()) == by_hand.ranges and check_convex(loss_of(text)).symbolic
    kernel = loss_kernel(FitLoss(text))
    for y in LABELS:
        start, count = kernel.cell(y)
        edges = [kernel.edge(k, y, np.zeros(0)) for k in range(start, start + count - 1)]
        assert edges == sorted(edges) and all(min(abs(e - k) for k in by_hand.kinks(y)) < 1e-12 for e in edges)
        for f in np.linspace(-8.03, 8.07, 60):
            k = start + sum(edge < f for edge in edges)
            found = kernel.piece(k, f, y, np.zeros(0))[:2]
            assert found == pytest.approx((by_hand.value(y, f), by_hand.slope(y, f)), rel=1e-12, abs=1e-12)
    assert len(moreau(loss_of(text)).regions) >= by_hand.ranges


@pytest.mark.parametrize(
    "text", ["abs(y-f)*(100-y)", "abs(y-2*f)-0.6*abs(y-f)", "-abs(y-2*f)", "abs(f-y)-0.1*f**2*abs(y)"]
)
def test_what_is_not_convex_at_some_label_is_refused(text: str) -> None:
    with pytest.raises(NotConvex):
        check_convex(loss_of(text))


def test_what_is_linear_at_one_label_only_is_accepted() -> None:
    assert check_convex(loss_of("abs(y*f-1)+0*f")).symbolic


@pytest.mark.parametrize("text", LOSSES)
def test_the_proximal_map_minimises(text: str) -> None:
    """Of the engine at 30 digits and of the simulator, which finds kinks on its own, against a bounded search."""
    loss, rng = LOSSES[text], np.random.default_rng(3)
    labels, w = np.repeat(LABELS, 5), rng.normal(size=5 * len(LABELS)) * 3.0
    for v in (0.05, 1.3):
        points = Labelled(convex_loss(text), labels).proximal(w, v)[0]
        for y, centre, point in zip(labels, w, points, strict=True):
            found = moreau_values(analyse_loss(loss_of(text)), y, centre, v)

            def objective(f: float, y: float = y, centre: float = centre, v: float = v) -> float:
                return (f - centre) ** 2 / (2 * v) + loss.value(y, f)

            least = minimize_scalar(objective, bounds=(-40, 40), method="bounded", options={"xatol": 1e-9})
            assert float(found.prox) == pytest.approx(point, abs=1e-8)
            assert float(found.prox) == pytest.approx(least.x, abs=1e-5)
            assert float(found.envelope) <= least.fun + 1e-12
            assert float(found.envelope) == pytest.approx(objective(float(found.prox)), abs=1e-12)


def prox(slope: Function, y: float, w: float, v: float) -> float:
    """The root of f + V slope(f) = w, which grows and may jump, by bisection."""
    low, high = w - 200.0, w + 200.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if middle + v * slope(y, middle) < w else (low, middle)
    return 0.5 * (low + high)


@pytest.mark.parametrize("y", LABELS)
@pytest.mark.parametrize("text", SOME)
def test_averages_over_the_output(text: str, y: float) -> None:
    """M, g, g^2 by adaptive quadrature between the images of the kinks; h and h x by parts, as g is continuous."""
    loss, kernel, t = LOSSES[text], loss_kernel(FitLoss(text)), 0.4
    v, mean, slope, delta = 0.7, 0.3, 0.5, 0.8
    steps = refined(FINE[1], 1).output
    out = np.empty((15, 1))
    fields = Fields(np.array([v]), np.array([mean]), np.array([[slope]]), np.array([delta]))
    labels = LabelNodes(np.ones((1, 1)), np.full((1, 1, 1), t), np.full((1, 1), y), np.zeros((1, 1)))
    kernel.points(Rule(gauss_rule(steps), steps, np.zeros(0), 0.0), labels, fields, np.empty(kernel.SCRATCH_SHAPE), out)
    centre, root = mean + slope * t, math.sqrt(delta)
    low, high = centre - 9.5 * root, centre + 9.5 * root
    images = [k + v * loss.slope(y, k + side * 1e-12) for k in loss.kinks(y) for side in (-1, 1)]
    edges = sorted({low, centre, high, *(w for w in images if low < w < high)})

    def average(function: Callable[[float, float, float], float]) -> float:
        def integrand(w: float) -> float:
            point = prox(loss.slope, y, w, v)
            g, x = (point - w) / v, (w - centre) / delta
            envelope = loss.value(y, point) + 0.5 * v * g * g
            return function(envelope, g, x) * math.exp(-0.5 * delta * x * x) / math.sqrt(2 * math.pi * delta)

        # kinks that all but coincide leave intervals with nothing in them
        parts = [(a, b) for a, b in pairwise(edges) if b - a > 1e-12]
        return math.fsum(quad(integrand, a, b, epsabs=1e-12, epsrel=1e-11)[0] for a, b in parts)

    wanted = {
        0: average(lambda m, g, x: m),
        1: average(lambda m, g, x: g),
        3: average(lambda m, g, x: g * g),
        2: average(lambda m, g, x: -g * x),
        5: average(lambda m, g, x: -g * (x * x - 1 / delta)),
    }
    for row, value in wanted.items():
        assert out[row, 0] == pytest.approx(value, abs=1e-9), row


@pytest.mark.parametrize("changes", [{}, pytest.param({"target__noise": 0.2}, marks=pytest.mark.slow)])
def test_twice_the_output_is_another_ridge(changes: dict[str, float]) -> None:
    """|y - 2f| with ridge r is |y - g| with ridge r/4 for g = 2f: one through cells, one through the residual."""
    twice = solve(model("abs(y-2*f)", fit__ridge=0.4, target__link="linear", **changes))
    once = solve(model("abs(y-f)", fit__ridge=0.1, target__link="linear", **changes))
    assert twice.train_error == pytest.approx(once.train_error, abs=1e-9)


def test_labels_of_two_values_with_noise() -> None:
    """The same for a sign, whose labels with noise are no points: |y/2 - f| with ridge r/2, to what is asked."""
    noisy = model("abs(y-2*f)", fit__ridge=0.4, target__link="sign", target__noise=0.01)
    twice = solve(noisy, tolerance=1e-4)
    once = solve(model("absolute", fit__ridge=0.2, target__link="sign(z)/2", target__noise=0.0025))
    assert twice.free_energy == pytest.approx(2.0 * once.free_energy, rel=1e-4)
    assert twice.order_parameters["m"] == pytest.approx(once.order_parameters["m"], rel=1e-3)


@lru_cache(maxsize=1)
def simulated() -> tuple[float, float]:
    """Scores of the errors at d = 300 against the theory there."""
    case = model("max(y-f,0)**2 + abs(f-1)", target__link="tanh(2*z)")
    theory = solve(case, dimension=300)
    found = simulate(case, dimension=300, seeds=12, what="srf")
    scores = [
        float(((found.mean(name) - getattr(theory, name)) / found.standard_error(name)).item())
        for name in ("test_error", "train_error")
    ]
    return scores[0], scores[1]


def test_theory_agrees_with_simulation() -> None:
    """Student's law with 11 degrees of freedom leaves 2e-4 beyond 5 (for each of the two)."""
    assert max(map(abs, simulated())) < 5.0
