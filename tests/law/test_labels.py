"""The law of the label given kappa against integrals of its definition: scipy's quad over t and over every noise."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import dblquad, quad
from scipy.special import ndtr

from giantstep.law import labels
from giantstep.law.directions import mixing
from giantstep.law.kinds_of_labels import Intervals, Points
from giantstep.law.labels import label_law, nodes_of_link, with_noise
from giantstep.spec.model import Target

KAPPA = np.array([-1.7, -0.2, 0.0, 0.9])


def normal(x: float) -> float:
    return math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)


def clean(link: str, z: float) -> float:
    known: dict[str, Callable[[float], float]] = {
        "sign": lambda z: 1.0 if z >= 0 else -1.0,
        "sign(z-0.4)": lambda z: 1.0 if z >= 0.4 else -1.0,
        "step": lambda z: float(z >= 0),
        "tanh": math.tanh,
        "relu": lambda z: max(z, 0.0),
        "sin": math.sin,
    }
    return known[link](z)


def breakpoints(link: str) -> list[float]:
    return {"sign": [0.0], "sign(z-0.4)": [0.4], "step": [0.0], "relu": [0.0]}.get(link, [])


def average(target: Target, gamma: float, kappa: float, function: Callable[[float, float], float]) -> float:
    """E[function(label, t) | kappa] without label noise: over t, over n inside the link, over the flip."""
    width = math.sqrt(1.0 - gamma**2)

    def of_label(y: float, t: float) -> float:
        return (1.0 - target.flips) * function(y, t) + (target.flips * function(-y, t) if target.flips else 0.0)

    def over_t(shift: float) -> float:
        places = [(b - gamma * kappa - shift) / width for b in breakpoints(target.link)] if width > 0.0 else []
        cuts = [c for c in places if abs(c) < 10.0] or None

        def integrand(t: float) -> float:
            return normal(t) * of_label(clean(target.link, gamma * kappa + width * t + shift), t)

        return float(quad(integrand, -10.0, 10.0, points=cuts, epsabs=1e-13, epsrel=1e-12, limit=200)[0])

    if target.probit == 0.0:
        return over_t(0.0)
    root = math.sqrt(target.probit)
    return float(quad(lambda n: normal(n) * over_t(root * n), -9.0, 9.0, epsabs=1e-11, epsrel=1e-10, limit=200)[0])


def of_intervals(law: Intervals, kappa: float, label: float) -> tuple[float, float]:
    """(P(label), E[t; label]) of the record: z' = gamma kappa + width t', E[t | t'] = correlation t'."""
    gamma, width, correlation = law.channel
    probability = first = 0.0
    for low, high, weight, y in zip(law.low, law.high, law.weight, law.label, strict=True):
        if y != label:
            continue
        a, b = ((edge - gamma * kappa) / width for edge in (low, high))
        probability += weight * (ndtr(b) - ndtr(a))
        first += weight * correlation * ((normal(a) if a > -40 else 0.0) - (normal(b) if b < 40 else 0.0))
    return probability, first


@pytest.mark.parametrize(
    ("target", "gamma"),
    [
        (Target("sign"), 0.7),
        (Target("sign(z-0.4)", flips=0.1), -0.9),
        (Target("sign(z-0.4)", probit=0.3), 0.6),
        (Target("sign", flips=0.05, probit=0.1), 0.0),
        (Target("step"), 0.95),
    ],
)
def test_labels_on_intervals(target: Target, gamma: float) -> None:
    law = label_law(target, (gamma,), KAPPA)
    assert isinstance(law, Intervals)
    for label in set(law.label.tolist()):
        for kappa in KAPPA[::3]:
            found = of_intervals(law, kappa, label)
            for power, value in enumerate(found):
                exact = average(target, gamma, kappa, lambda y, t: float(y == label) * t**power)  # noqa: B023
                assert value == pytest.approx(exact, abs=1e-9)


def test_labels_that_follow_from_kappa() -> None:
    for gamma in (1.0, -1.0):
        law = label_law(Target("sign(z-0.4)"), (gamma,), KAPPA)
        assert isinstance(law, Intervals) and law.channel.tolist() == [gamma, 0.0, 0.0]
    with_probit = label_law(Target("sign", probit=0.25), (1.0,), KAPPA)
    assert isinstance(with_probit, Intervals) and with_probit.channel.tolist() == [1.0, 0.5, 0.0]
    without = label_law(Target("sign", flips=0.1, probit=0.25).clean(True), (0.6,), KAPPA)
    assert isinstance(without, Intervals) and without.channel.tolist() == [0.6, 0.8, 1.0]
    assert without.label.tolist() == [-1.0, 1.0] and without.weight.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("target", "gamma"),
    [
        (Target("tanh"), 0.7),
        (Target("relu"), -0.4),
        (Target("relu"), 1.0),
        (Target("sin"), 0.3),
        (Target("tanh", probit=0.2), 0.5),
        (Target("sin"), 0.0),
    ],
)
def test_labels_at_nodes(target: Target, gamma: float) -> None:
    """Moments that the equations take: of the label and of t with it."""
    law = label_law(target, (gamma,), KAPPA)
    assert isinstance(law, Points) and law.directions == 1
    tests: list[Callable[[Any, Any], Any]] = [
        lambda y, t: y,
        lambda y, t: y * t,
        lambda y, t: y * y,
        lambda y, t: np.cos(y) * t,
        lambda y, t: t * t,
    ]
    for row in (0, 3):
        for function in tests:
            found = law.weight[row] @ function(law.label[row], law.t[row, :, 0])
            if function is tests[-1]:
                found += law.rest[0, 0]
            assert found == pytest.approx(average(target, gamma, KAPPA[row], function), abs=1e-9)


def test_labels_of_two_indices() -> None:
    """z = gamma kappa + L t with L L^T = 1 - gamma gamma^T, t1 and t2 integrated one inside the other."""
    gamma, kappa = np.array([0.5, -0.3]), 0.8
    law = label_law(Target("tanh(z1)+z2/2"), (0.5, -0.3), np.array([kappa]))
    assert isinstance(law, Points) and law.directions == 2
    lower = np.linalg.cholesky(np.eye(2) - np.outer(gamma, gamma))

    def exact(function: Callable[[float, float, float], float]) -> float:
        def integrand(t2: float, t1: float) -> float:
            z = gamma * kappa + lower @ np.array([t1, t2])
            return normal(t1) * normal(t2) * function(math.tanh(z[0]) + 0.5 * z[1], t1, t2)

        return float(dblquad(integrand, -8.5, 8.5, -8.5, 8.5, epsabs=1e-11, epsrel=1e-10)[0])

    t1, t2 = law.t[0].T
    for function in (lambda y, s, t: y * s, lambda y, s, t: y * y):
        found = law.weight[0] @ function(law.label[0], t1, t2)
        assert found == pytest.approx(exact(function), abs=1e-9)


@pytest.mark.parametrize(
    "gamma",
    [(0.6,), (1.0,), (-1.0,), (0.5, 0.3), (0.6, 0.8), (1.0, 0.0), (0.0, 1.0), (0.2, -0.4, 0.1), (0.6, 0.0, 0.8)],
)
def test_mixing(gamma: tuple[float, ...]) -> None:
    """Also where the spike lies in the span of the target, |gamma| = 1, and a direction of t is left over."""
    lower, rest = mixing(gamma), np.eye(len(gamma)) - np.outer(gamma, gamma)
    assert np.allclose(lower @ lower.T, rest, atol=1e-14) and np.all(np.triu(lower, 1) == 0.0)
    near = 1.0 - 1e-12
    assert mixing((near,))[0, 0] == pytest.approx(math.sqrt(2e-12 - 1e-24), rel=1e-4)


def test_label_noise_at_nodes() -> None:
    law = label_law(Target("tanh"), (0.7,), KAPPA)
    noisy = with_noise(law, 0.3)
    assert isinstance(law, Points) and isinstance(noisy, Points)
    for function in (lambda y: y**2, lambda y: y**4, np.cos):
        found = (noisy.weight * function(noisy.label)).sum(axis=1)
        n, w = np.polynomial.hermite_e.hermegauss(40)
        inner = function(law.label[:, :, None] + math.sqrt(0.3) * n) @ (w / w.sum())
        assert found == pytest.approx((law.weight * inner).sum(axis=1), abs=1e-11)
    assert noisy.t.shape == (*noisy.weight.shape, 1)
    signs = with_noise(label_law(Target("sign"), (0.7,), KAPPA), 0.3)
    assert isinstance(signs, Intervals)
    for side in (-1.0, 1.0):
        weight = np.where(signs.low == (0.0 if side > 0.0 else -math.inf), signs.weight, 0.0)
        assert [float(weight @ (signs.label - side) ** k) for k in (0, 1, 2)] == pytest.approx(
            [1.0, 0.0, 0.3], abs=1e-12
        )


def test_which_laws_are_odd() -> None:
    symmetric = np.array([-1.0, -0.3, 0.3, 1.0])

    def odd(*given: Any, **noise: float) -> bool:
        return label_law(Target(*given, **noise), (0.5,), symmetric).odd

    assert odd("sign") and odd("sign", probit=0.1) and odd("sign", flips=0.1) and odd("tanh") and odd("sin", probit=0.2)
    assert not odd("sign(z-0.4)") and not odd("relu") and not odd("tanh(z-0.1)") and not odd("step")


def test_flips_of_labels_at_nodes() -> None:
    law = label_law(Target("sign(1+z1**2+z2**2)", flips=0.2), (0.5, 0.3), KAPPA)
    assert isinstance(law, Points)
    assert (law.weight * law.label).sum(axis=1) == pytest.approx(0.6, abs=1e-11)
    assert law.weight.sum(axis=1) == pytest.approx(1.0, abs=1e-11)


def test_labels_that_grow_are_followed_as_far_as_they_count() -> None:
    """y = exp(z1) + z2 given kappa, with alignments (.6, -.5): E exp(k z1) = exp(.6 k kappa + .32 k^2)."""
    kappa = np.array([-1.5, 0.0, 2.0])
    law = label_law(Target("exp(z1) + z2"), (0.6, -0.5), kappa)
    assert isinstance(law, Points)
    once, twice = np.exp(0.6 * kappa + 0.32), np.exp(1.2 * kappa + 1.28)
    product = once * (-0.5 * kappa + 0.3)  # Cov[z1, z2] = -.6 (-.5)
    square = twice + 2.0 * product + 0.25 * kappa**2 + 0.75
    np.testing.assert_allclose((law.weight * law.label).sum(axis=1), once - 0.5 * kappa, rtol=1e-12)
    np.testing.assert_allclose((law.weight * law.label**2).sum(axis=1), square, rtol=1e-11)


@pytest.mark.parametrize("link", ["tanh(50*z)", "tanh(8*z-2)+z/3"])
def test_links_that_turn_within_a_small_width(link: str) -> None:
    """Nodes end about the turn, and one halving settles: moments against 400,000 even places."""
    kappa, t = np.array([-1.7, 0.2, 1.1]), np.linspace(-9.0, 9.0, 400_001)
    density = np.exp(-0.5 * t * t) * (t[1] - t[0]) / math.sqrt(2.0 * math.pi)
    law = label_law(Target(link), (0.6,), kappa, finer=1)
    assert isinstance(law, Points)
    for k, place in enumerate(kappa):
        z = 0.6 * place + 0.8 * t
        y = np.tanh(50.0 * z) if "50" in link else np.tanh(8.0 * z - 2.0) + z / 3.0
        for function in (lambda x: x, lambda x: x * x, lambda x: np.exp(-x)):
            found = law.weight[k] @ function(law.label[k])
            assert found == pytest.approx(float(density @ function(y)), rel=1e-10)


def test_values_of_many_labels_are_found_some_at_a_time() -> None:
    """What is taken beside the nodes themselves stays below a few arrays of so many labels as are handled together."""
    kappa = np.linspace(-4.0, 4.0, 400)
    tracemalloc.start()
    found = nodes_of_link(Target(link="tanh(z1*z2)"), (0.5, 0.3), kappa, finer=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    size = found.weight.nbytes + found.label.nbytes + found.t.nbytes
    assert found.weight.size > 4 * labels._TOGETHER
    assert peak < size + 64 * labels._TOGETHER


def test_rows_that_are_handled_together_are_all_of_them() -> None:
    parts = list(labels.parts_of((10, labels._TOGETHER // 4)))
    assert [row for part in parts for row in range(10)[part]] == list(range(10))
    assert max(len(range(10)[part]) for part in parts) == 4
