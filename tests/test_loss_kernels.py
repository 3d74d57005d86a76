"""Kernels of losses: averages of the envelope over the output against hand-written losses and quadrature in omega.

Error model. ``points`` and ``intervals`` cut the output at 9 standard deviations, where 1e-18 of the weight is left:
an error of 1e-15 of the largest value of the integrand is allowed for it. Rounding is 1e-12 of the average of the
absolute value, and more where omega = l + V rho'(l) is rounded on the scale of the output's spread. The rest is
quadrature, which two resolutions make visible: at the finer one the error is less than their difference.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
from loss_cases import MARGIN, PARAMETERS, RESIDUAL
from loss_oracle import AVERAGES, FLOAT, PRECISE, averages, interval_law, loss

from derive.output import output_averages
from giantstep.coupled_system import gauss_rule

ALL = (*MARGIN, *RESIDUAL)
SMOOTH = ("square", "log_cosh", "logistic", "exponential", "probit")
LEVELS = (36, 58, 92, 147)  # steps of the trapezoid, as the solver refines them
Array = Any


def module(name: str) -> Any:
    return importlib.import_module(f"generated.losses.{name}")


def constants(name: str) -> Array:
    return np.array(list(PARAMETERS.get(name, {}).values()), dtype=float)


def column(x: float) -> Array:
    return np.array([x], dtype=float)


def points(
    name: str,
    law: Sequence[tuple[float, float, float]],
    v: float,
    mean: float,
    slope: float,
    delta: float,
    steps: int = 92,
    noise: float = 0.0,
) -> Array:
    """The averages of the kernel for a law of (weight, t, label)."""
    kernel, out = module(name), np.zeros((len(AVERAGES), 1))
    weight, t, label = (np.array(x, dtype=float)[None] for x in zip(*law, strict=True))
    kernel.points(
        gauss_rule(steps),
        steps,
        weight,
        t[:, :, None].copy(),
        label,
        noise,
        constants(name),
        column(v),
        column(mean),
        column(slope)[None],
        column(delta),
        np.empty(kernel.SCRATCH_SHAPE),
        out,
    )
    return out[:, 0]


def intervals(
    name: str,
    kappa: float,
    low: float,
    high: float,
    label: float,
    channel: tuple[float, float, float],
    v: float,
    mean: float,
    slope: float,
    delta: float,
    steps: int = 92,
    noise: float = 0.0,
) -> Array:
    """The averages of the kernel for one label on an interval."""
    kernel, out = module(name), np.zeros((len(AVERAGES), 1))
    kernel.intervals(
        gauss_rule(steps),
        steps,
        column(kappa),
        column(low),
        column(high),
        column(1.0),
        column(label),
        np.array(channel),
        noise,
        constants(name),
        column(v),
        column(mean),
        column(slope)[None],
        column(delta),
        np.empty(kernel.SCRATCH_SHAPE),
        out,
    )
    return out[:, 0]


def oracle(
    name: str, law: Sequence[tuple[float, float, float]], v: float, mean: float, slope: float, variance: float
) -> tuple[Array, Array]:
    """(averages, the error that the kernel may have apart from quadrature) by definition."""
    exact, size, largest = averages(
        loss(name, FLOAT, **PARAMETERS.get(name, {})), FLOAT, law, v, mean, slope, variance
    )
    rounding = 1e-12 + 4e-16 * (1.0 + v) / variance**0.5
    return np.array(exact), rounding * np.array(size) + 1e-15 * np.array(largest) + 1e-300


def test_registered_losses_have_kernels() -> None:
    from derive.loss_catalogue import REGISTERED

    assert set(ALL) == set(REGISTERED)
    assert list(output_averages(1).monomials) == [f"avg_{name}" for name in AVERAGES]


# --- the oracle ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [name if name in ("hinge", "logistic") else pytest.param(name, marks=pytest.mark.slow) for name in ALL],
)
def test_oracle_at_thirty_digits(name: str) -> None:
    """The same text in mpf: what doubles leave is 1e-14."""
    law, place = [(0.6, 0.3, 1.0), (0.4, -1.2, -1.0)], (0.7, 0.3, 0.4, 0.5)
    found, size = oracle(name, law, *place)
    with mpmath.workdps(30):
        exact = averages(
            loss(name, PRECISE, **PARAMETERS.get(name, {})),
            PRECISE,
            [tuple(map(mpmath.mpf, row)) for row in law],
            *map(mpmath.mpf, place),
        )[0]
    assert np.all(np.abs(found - np.array(exact, dtype=float)) < 0.01 * size)


# --- points -------------------------------------------------------------------------------------------------------


def draws(
    name: str, seed: int, count: int
) -> list[tuple[list[tuple[float, float, float]], tuple[float, ...]]]:
    """Random laws of two labels and fields: V in 1e-3 .. 1e4, variances in 1e-6 .. 1e2."""
    source, found = np.random.default_rng(seed), []
    for _ in range(count):
        y = source.normal(size=2) * 2.0 if name in RESIDUAL else np.array([1.0, -1.0])
        law = [(w, float(source.normal()), float(label)) for w, label in zip((0.6, 0.4), y, strict=True)]
        v, delta, slope = 10.0 ** source.uniform([-3, -6, -3], [4, 2, 1])
        found.append(
            (law, (v, source.normal() * 10.0 ** source.uniform(-2, 1), slope * source.choice([-1, 1]), delta))
        )
    return found


@pytest.mark.parametrize(("count", "seed"), [(8, 1), pytest.param(200, 4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ALL)
def test_points_on_a_random_domain(name: str, count: int, seed: int) -> None:
    for law, place in draws(name, seed, count):
        each = [oracle(name, [row], *place) for row in law]  # one label at a time: they may be far apart
        exact, allowed = np.sum([x for x, _ in each], axis=0), np.sum([x for _, x in each], axis=0)
        found = [points(name, law, *place, steps=steps) for steps in LEVELS]
        for coarse, fine in pairwise(found):
            assert np.all(np.abs(fine - exact) < 1.5 * np.abs(fine - coarse) + allowed), (law, place)
        assert np.all(np.abs(found[-1] - exact) < 10.0 * allowed), (law, place)


@pytest.mark.parametrize("name", ["huber", "logistic", "hinge"])
def test_label_noise_adds_to_the_variance_of_the_output(name: str) -> None:
    """Of a residual loss; the kernel takes both, and a margin loss is given none."""
    law, place = [(1.0, 0.4, -1.0)], (0.8, 0.2, 0.6)
    assert points(name, law, *place, 0.3, noise=0.2) == pytest.approx(
        points(name, law, *place, 0.5), rel=1e-13, abs=1e-15
    )


def test_averages_are_linear_in_the_law() -> None:
    first, second, place = (0.3, 0.4, 1.0), (0.5, -1.1, -1.0), (0.8, 0.2, 0.6, 0.3)
    together = points("probit", [first, second], *place)
    assert together == pytest.approx(
        points("probit", [first], *place) + points("probit", [second], *place), rel=1e-13
    )
    assert points("probit", [first, (0.0, 9.0, 1.0)], *place) == pytest.approx(
        points("probit", [first], *place), rel=1e-15
    )


# --- intervals ----------------------------------------------------------------------------------------------------


def interval_draw(name: str, source: np.random.Generator) -> tuple[Array, ...]:
    """A label on an interval: alignments up to 1 - 1e-9, rare labels, probit noise or none, slope up to 60 spreads."""
    v, delta, steep = 10.0 ** source.uniform([-3, -4, -2], [4, 1.5, 1.8])
    slope = delta**0.5 * steep * source.choice([-1, 1])
    gamma = source.choice([-1.0, 1.0]) * (1.0 - 10.0 ** source.uniform(-9, 0))
    probit = 0.0 if source.random() < 0.5 else 10.0 ** source.uniform(-4, 1)
    edge = source.normal() * 10.0 ** source.uniform(-1, 0.6)
    low, high = [(edge, np.inf), (-np.inf, edge), (edge, edge + 10.0 ** source.uniform(-2, 1))][
        source.integers(3)
    ]
    label = source.choice([-1.0, 1.0]) if name in MARGIN else source.normal() * 2.0
    noise = 0.0 if name in MARGIN or source.random() < 0.5 else 10.0 ** source.uniform(-3, 0.5)
    mean = source.normal() * 10.0 ** source.uniform(-2, 1)
    return float(source.normal() * 1.5), low, high, label, gamma, probit, v, mean, slope, delta, noise


@pytest.mark.parametrize(("count", "seed"), [(4, 2), pytest.param(60, 3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ALL)
def test_intervals_on_a_random_domain(name: str, count: int, seed: int) -> None:
    source = np.random.default_rng(seed)
    for _ in range(count):
        kappa, low, high, label, gamma, probit, *place, noise = interval_draw(name, source)
        v, mean, slope, delta = place
        width = float(np.sqrt((1.0 - gamma) * (1.0 + gamma)))
        across = float(np.hypot(width, np.sqrt(probit)))
        channel = (gamma, across, width / across)
        variance = delta + noise
        law = [
            (w, t, label)
            for w, t in interval_law(low, high, gamma, kappa, probit, 2.0 * variance**0.5 / abs(slope))
        ]
        exact, allowed = oracle(name, law or [(0.0, 0.0, label)], v, mean, slope, variance)
        found = [
            intervals(name, kappa, low, high, label, channel, *place, steps=steps, noise=noise)
            for steps in LEVELS
        ]
        for coarse, fine in pairwise(found):
            assert np.all(np.abs(fine - exact) < 1.5 * np.abs(fine - coarse) + allowed), (
                kappa,
                low,
                high,
                label,
                gamma,
            )
        assert np.all(np.abs(found[-1] - exact) < 10.0 * allowed), (kappa, low, high, label, gamma)


@pytest.mark.parametrize("gamma", [1.0, -1.0])
def test_label_that_follows_from_the_spike(gamma: float) -> None:
    """|gamma| = 1 without probit noise: the label is known given kappa, and t is free."""
    place, channel = (0.8, 0.2, 0.6, 0.3), (gamma, 0.0, 0.0)
    inside = intervals("logistic", gamma * 0.7, 0.0, np.inf, 1.0, channel, *place)
    law = [(w, t, 1.0) for w, t in interval_law(-np.inf, np.inf, 0.5, 0.0, 0.0, 1.0)]
    exact, allowed = oracle("logistic", law, *place)
    assert np.all(np.abs(inside - exact) < 10.0 * allowed)
    assert not np.any(intervals("logistic", -gamma * 0.7, 0.0, np.inf, 1.0, channel, *place))


def test_intervals_that_cover_the_line_add_up() -> None:
    """Cut anywhere, with any alignment: the averages of the parts are those of the whole."""
    place, channel = (1.3, -0.4, 1.7, 0.05), (0.9999, float(np.sqrt(1 - 0.9999**2)), 1.0)
    edges = [-np.inf, -2.0, 0.69, 0.7, 0.703, 5.0, np.inf]
    parts = [intervals("hinge", 0.7, low, high, -1.0, channel, *place) for low, high in pairwise(edges)]
    whole = intervals("hinge", 0.7, -np.inf, np.inf, -1.0, channel, *place)
    assert sum(parts) == pytest.approx(whole, rel=1e-10, abs=1e-12)


# --- what the Newton step takes for granted ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["logistic", "probit", "huber", "hinge", "quantile"])
def test_averages_are_the_derivatives_they_stand_for(name: str) -> None:
    """d avg/dV, d mean, d Delta, d slope by central differences: steps of 1e-4 leave 1e-8 times a third derivative."""
    law, place = [(0.6, 0.3, 1.0), (0.4, -1.2, -1.0)], {"V": 0.8, "mean": 0.3, "slope": 0.5, "Delta": 0.6}
    averaged = output_averages(1)
    here = dict(zip(averaged.monomials, points(name, law, *place.values()), strict=True)) | {
        "Delta": place["Delta"]
    }
    for field in place:
        ends = [points(name, law, *(place | {field: place[field] + s * 1e-4}).values()) for s in (1, -1)]
        slopes = dict(zip(averaged.monomials, (ends[0] - ends[1]) / 2e-4, strict=True))
        for average, partials in averaged.partials.items():
            body = partials[field]
            numbers = {f: here[str(f.func)] for f in body.find(lambda e: e.is_Function)}
            assert float(body.subs(numbers)) == pytest.approx(slopes[average], abs=1e-6), (average, field)


# --- extreme cases --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_output_that_does_not_vary(name: str) -> None:
    """Delta = 1e-14: the averages are the values at the mean, M - <M> = O(Delta)."""
    law, (v, mean, delta) = [(1.0, 0.0, 1.0)], (0.7, 0.37, 1e-14)
    found = dict(zip(AVERAGES, points(name, law, v, mean, 0.0, delta), strict=True))
    near = dict(zip(AVERAGES, oracle(name, law, v, mean, 0.0, 1e-6)[0], strict=True))
    assert [found[k] for k in ("M", "g", "h", "gg")] == pytest.approx(
        [near[k] for k in ("M", "g", "h", "gg")], rel=1e-5, abs=1e-5
    )


def test_kinks_far_outside() -> None:
    right = points("hinge", [(1.0, 0.0, 1.0)], 0.7, 60.0, 0.0, 1.0)
    assert not np.any(right)
    left = dict(zip(AVERAGES, points("hinge", [(1.0, 0.0, 1.0)], 0.7, -60.0, 0.0, 1.0), strict=True))
    assert (left["M"], left["g"], left["gg"], left["h"]) == pytest.approx(
        (61.0 - 0.35, 1.0, 1.0, 0.0), rel=1e-14
    )


@pytest.mark.parametrize("name", ["logistic", "exponential", "probit", "log_cosh"])
@pytest.mark.parametrize(
    "place",
    [(1e6, 0.3, 2.0, 1e-3), (1e6, -40.0, 3.0, 400.0), (1e-6, 5.0, 2.0, 100.0), (30.0, 30.0, 0.1, 25.0)],
)
def test_extreme_responses_and_outputs(name: str, place: tuple[float, ...]) -> None:
    law = [(1.0, 0.4, -1.0)]
    exact, allowed = oracle(name, law, *place)
    assert np.all(np.abs(points(name, law, *place, steps=235) - exact) < 10.0 * allowed)


def test_too_many_nodes_are_reported() -> None:
    """Scratch that is too small gives nan, not a number."""
    kernel, out = module("hinge"), np.zeros((len(AVERAGES), 1))
    kernel.points(
        gauss_rule(92),
        92,
        column(1.0)[None],
        np.zeros((1, 1, 1)),
        column(1.0)[None],
        0.0,
        constants("hinge"),
        column(1.0),
        column(0.0),
        column(0.0)[None],
        column(1.0),
        np.empty((5, 20)),
        out,
    )
    assert np.isnan(out[0, 0])
