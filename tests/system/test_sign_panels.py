"""Misclassification where the output varies far less than its mean: against quadrature of the definition.

The probability of a wrong sign given kappa is then a step at each zero of the mean, and two orders of quadrature on the
panels of the coefficients once missed it together.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr

import giantstep as gs
from giantstep.law.kinds_of_labels import Points
from giantstep.law.labels import label_law
from giantstep.quadrature.mesh import meshes
from giantstep.quadrature.panels import rows_at
from giantstep.spec.expressions import numpy_function
from giantstep.spec.model import Target
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.problem import problem_of
from giantstep.system.sign_panels import Output, Signs, panels, turns_fast

Array = np.ndarray
NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)
POWERS = np.concatenate([[0.0], 2.0 ** np.arange(26)])
CASE = {
    "network": {"activation": "tanh", "width": 1.0},
    "spike": {"strength": 1.5, "alignment": 0.8, "bulk_variance": 1.2},
    "target": {"link": "sign"},
    "fit": {"samples": 1.5, "loss": "logistic", "ridge": 100.0},
}


def case(**changes: Any) -> gs.Model:
    """The model of the numbers below; ``changes`` as dotted keys with __ for the dot."""
    return gs.Model.from_dict(CASE).replace({key.replace("__", "."): value for key, value in changes.items()})


class Definition:
    """P(y f < 0) of a label of one index by panels of kappa and of t about everything that may turn.

    Source: THEORY section 4. Ends of panels lie on the zeros of the mean, found on a grid of 2e-3, at distances that
    double from a third of a turn on: with 20 nodes a panel nothing is left but rounding.
    """

    def __init__(self, result: gs.Result) -> None:
        self.problem = problem_of(result.model, result.dimension, result.bias)
        self.order = result.order_parameters
        self.gamma = self.problem.overlaps[0][0]
        self.width = math.sqrt(max(0.0, (1.0 - self.gamma) * (1.0 + self.gamma)))
        self.label = numpy_function(result.model.target.link)

    def fields(self, kappa: Array) -> tuple[Array, Array, Array]:
        """Mean, slope and variance of the output."""
        assert self.problem.link is not None
        rows = rows_at(self.problem.blocks, self.problem.link, kappa, np.ones_like(kappa))[:, 5:]
        mu0, mu1, mu2 = rows.reshape(len(kappa), 3, -1).transpose(1, 0, 2)
        m, zeta, psi, q1, q2 = (self.order[name] for name in ("m", "zeta", "psi", "Q1", "Q2"))
        variance = np.einsum("nb,bc,nc->n", mu1, q1 - np.outer(psi, psi), mu1) + mu2 @ q2
        mean = mu0 @ m + kappa * (mu1 @ zeta)
        if "norm" in self.order:  # mu0 moves with the norms of the rows: c dmu0/dc = E[(g^2 - 1) sigma]/2
            (term,) = self.problem.blocks
            g, weight = gauss(np.linspace(-9.0, 9.0, 37))
            shifts = term.scale * kappa + term.offset
            values, _ = numpy_function(term.function)(shifts[:, None] + math.sqrt(term.variance) * g)
            mean = mean + self.order["norm"][0] * 0.5 * (values @ (weight * (g * g - 1.0)))
        return mean, mu1 @ psi, np.maximum(variance, 1e-300)

    def given(self, kappa: float, fields: tuple[float, float, float], breaks: list[float]) -> float:
        """P(y f < 0 | kappa)."""
        mean, slope, root = fields[0], fields[1], math.sqrt(fields[2])
        cuts = [np.linspace(-9.0, 9.0, 10), (np.array(breaks) - self.gamma * kappa) / self.width]
        if slope != 0.0:
            cuts.append((-mean + root * np.concatenate([-POWERS[:7], POWERS[:7]])) / slope)
        edges = np.unique(np.clip(np.concatenate(cuts), -9.0, 9.0))
        t, weight = gauss(edges)
        middle = np.repeat(0.5 * (edges[1:] + edges[:-1]), len(NODES))
        label, _ = self.label(self.width * middle + self.gamma * kappa)
        return float(weight @ ndtr(-label * (mean + slope * t) / root))

    def probability(self, breaks: list[float]) -> float:
        """P(y f < 0) for the places where the label jumps."""
        grid = np.linspace(-9.0, 9.0, 9_002)
        mean, slope, variance = self.fields(grid)
        spread = np.sqrt(slope**2 + variance)
        terms = (*self.problem.blocks, self.problem.link)
        cuts = [np.linspace(-9.0, 9.0, 20), meshes(terms).edges]  # type: ignore[arg-type]
        for i in np.nonzero((mean[1:] > 0.0) != (mean[:-1] > 0.0))[0]:
            zero = brentq(lambda x: float(self.fields(np.array([x]))[0][0]), grid[i], grid[i + 1], xtol=1e-15)
            length = spread[i] * (grid[i + 1] - grid[i]) / abs(mean[i + 1] - mean[i])
            cuts += [zero + 0.3 * length * POWERS, zero - 0.3 * length * POWERS]
        for place in breaks:
            cuts += [(place + sign * 0.3 * self.width * POWERS) / self.gamma for sign in (-1.0, 1.0)]
        kappa, weight = gauss(np.unique(np.clip(np.concatenate(cuts), -9.0, 9.0)))
        kept = weight > 1e-15
        given = zip(kappa[kept].tolist(), np.array(self.fields(kappa[kept])).T.tolist(), strict=True)
        return float(weight[kept] @ np.array([self.given(k, tuple(fields), breaks) for k, fields in given]))


def gauss(edges: Array) -> tuple[Array, Array]:
    """Nodes and weights of the normal density on panels."""
    half, middle = 0.5 * np.diff(edges)[:, None], 0.5 * (edges[1:] + edges[:-1])[:, None]
    x = (middle + half * NODES).ravel()
    return x, (half * WEIGHTS).ravel() * np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)


@pytest.mark.parametrize(
    ("ridge", "samples", "exact"),
    [(100.0, 1.5, 0.204698034223), (10.0, 0.05, 0.204788556148)],
)
def test_a_step_at_the_zero_of_the_mean(ridge: float, samples: float, exact: float) -> None:
    """Once reported as arccos(gamma)/pi = .204832764699, with a quadrature error of 1e-14."""
    found = gs.solve(case(fit__ridge=ridge, fit__samples=samples))
    assert found.test_error == pytest.approx(exact, abs=6e-13)
    assert found.quadrature_error < 1e-10


@pytest.mark.parametrize(
    ("changes", "breaks"),
    [
        ({}, [0.0]),
        ({"fit.ridge": 30.0}, [0.0]),  # once refused
        ({"target.link": "sign(z-0.4)", "target.flips": 0.3}, [0.4]),
        ({"network.activation": "gelu", "target.probit": 0.4}, [0.0]),
        ({"spike.alignment": 1.0 - 1e-6, "fit.ridge": 1e4, "fit.samples": 0.1}, [0.0]),
        ({"network.activation": "sin(2*z)", "target.link": "sign(z*(z-1))", "fit.ridge": 1e3}, [0.0, 1.0]),
        ({"network.readout": {"values": [1.0, -0.6], "fractions": [0.4, 0.6]}, "network.activation": "relu"}, [0.0]),
        ({"network.bias": 0.3, "fit.loss": "exponential"}, [0.0]),
    ],
    ids=["plain", "less", "flips", "probit", "aligned", "two-zeros", "two-blocks", "bias"],
)
def test_the_error_is_that_of_the_definition(changes: dict[str, Any], breaks: list[float]) -> None:
    """Ten times the error that a solution may have by its own estimate."""
    result = gs.solve(case().replace(changes))
    assert result.test_error == pytest.approx(Definition(result).probability(breaks), rel=1e-9)


def test_a_trained_bulk_and_a_dimension() -> None:
    step = {"samples": 1.0, "learning_rate": 1.0, "bulk": "trained"}
    data = {name: table for name, table in CASE.items() if name != "spike"} | {"step": step}
    result = gs.solve(gs.Model.from_dict(data), dimension=100_000)
    assert result.test_error == pytest.approx(Definition(result).probability([0.0]), rel=1e-9)


def test_its_slopes() -> None:
    """Four points at steps of 1e-3 in the logarithm leave 1e-12 of a fifth derivative; solutions 1e-10/1e-3."""
    keys, h = ("fit.ridge", "spike.strength"), 1e-3
    found = gs.gradient(case(), keys)
    for key in keys:
        value = float(getattr(getattr(case(), key.split(".")[0]), key.split(".")[1]))
        stencil = ((-2, 1.0 / 12.0), (-1, -2.0 / 3.0), (1, 2.0 / 3.0), (2, -1.0 / 12.0))
        around = [(w, gs.solve(case().replace({key: value * (1.0 + n * h)})).test_error) for n, w in stencil]
        expected = sum(w * error for w, error in around) / h
        assert found.test_error[key] * value == pytest.approx(expected, abs=2e-10), key


def plain(kappa: Array, mean: Array, spread: float) -> Output:
    """An output of a constant variance; the label does not matter."""
    nothing = np.zeros((len(kappa), 1))
    label = Points(nothing + 1.0, nothing + 1.0, nothing[:, :, None], np.zeros((1, 1)))
    return Output(kappa, mean, np.zeros((1, len(kappa))), np.full_like(kappa, spread**2), label)


@pytest.mark.parametrize(
    ("function", "zeros"),
    [
        (lambda x: x - 0.3, [0.3]),
        (lambda x: (x - 0.31) ** 2 - 1e-6, [0.309, 0.311]),  # between two nodes, both
        (lambda x: (x - 0.31) ** 2 + 1e-9, [0.31]),  # almost a zero
        (lambda x: np.sin(9.0 * x), [k * np.pi / 9.0 for k in range(-23, 24)]),
    ],
    ids=["one", "close", "almost", "many"],
)
def test_panels_follow_every_zero(function: Any, zeros: list[float]) -> None:
    """The average of the step, against panels that are put there by hand."""
    edges, spread = np.linspace(-8.0, 8.0, 17), 1e-9

    def at(kappa: Array) -> Output:
        return plain(kappa, function(kappa), spread)

    def step(kappa: Array) -> Array:
        return np.asarray(ndtr(-function(kappa) / spread))

    here = at(gauss(edges)[0])
    found = panels(here, edges, at, lambda kappa: step(kappa)[None])
    assert turns_fast(here) and found.edges is not None
    steps = 1e-11 * 2.0 ** np.arange(40)
    around = np.array(zeros)[:, None] + np.concatenate([-steps, [0.0], steps])
    by_hand = np.unique(np.concatenate([edges, around.ravel()]))
    averages = [weight @ step(kappa) for kappa, weight in map(gauss, (found.edges, by_hand[np.abs(by_hand) <= 8.0]))]
    assert averages[0] == pytest.approx(averages[1], rel=1e-11)


def test_panels_of_one_half() -> None:
    """Of a mean that is odd, zero at 0 and at two other places, from a table of one half."""
    edges, spread = np.linspace(-8.0, 8.0, 17), 1e-6

    def at(kappa: Array) -> Output:
        return plain(kappa, kappa * (kappa**2 - 0.7), spread)

    def wrong(kappa: Array) -> Array:
        return np.asarray(ndtr(-np.sign(kappa) * at(kappa).mean / spread))

    nodes = gauss(edges)[0]
    one, both = (
        panels(at(kappa), edges, at, lambda kappa: wrong(kappa)[None]) for kappa in (nodes[nodes > 0.0], nodes)
    )
    assert one.half and not both.half
    known = 1.0 - 2.0 * ndtr(-math.sqrt(0.7))  # wrong between the outer zeros
    for signs, half in ((one, True), (one, False), (both, False)):
        kappa, weight = signs.nodes(16, half)
        assert (kappa[0] > 0.0) == half
        assert weight @ wrong(kappa) == pytest.approx(known, abs=1e-5)
        assert weight @ np.ones_like(weight) == pytest.approx(1.0, abs=1e-12)
    averages = [
        weight @ wrong(kappa) for kappa, weight in (one.nodes(16, True), one.nodes(16, False), both.nodes(16, False))
    ]
    assert averages == pytest.approx(averages[:1] * 3, rel=1e-12)


def test_a_slope_that_is_nothing_but_rounding_asks_for_no_panels() -> None:
    """One that vanishes by symmetry, beside another of the same unit."""
    edges, source = np.linspace(-8.0, 8.0, 17), np.random.default_rng(5)

    def at(kappa: Array) -> Output:
        return plain(kappa, kappa - 0.3, 0.1)

    def averaged(kappa: Array) -> Array:
        step, slope = ndtr((0.3 - kappa) / 0.1), np.exp(-0.5 * ((kappa - 0.3) / 0.1) ** 2)
        return np.array([step, slope, 1e-17 * source.standard_normal(len(kappa)) * slope])

    here = at(gauss(edges)[0])
    found, without = (panels(here, edges, at, lambda kappa, k=k: averaged(kappa)[:k]) for k in (3, 2))
    assert np.array_equal(found.edges, without.edges)


@pytest.mark.parametrize(("zero", "spread", "taken"), [(0.3, 0.9e-3, True), (0.3, 1e-9, False), (0.45, 1e-3, False)])
def test_panels_of_a_neighbour_serve_where_no_sign_turns_between_their_nodes(
    zero: float, spread: float, taken: bool
) -> None:
    """Of one with its zero at 0.3 and a spread of 1e-3; a sharper one and one elsewhere have panels of their own."""
    edges = np.linspace(-8.0, 8.0, 17)

    def found_at(zero: float, spread: float, near: Signs | None) -> tuple[Signs, float]:
        def at(kappa: Array) -> Output:
            return plain(kappa, kappa - zero, spread)

        def step(kappa: Array) -> Array:
            return np.asarray(ndtr((zero - kappa) / spread))

        return panels(at(gauss(edges)[0]), edges, at, lambda kappa: step(kappa)[None], near), float(
            ndtr(zero / math.sqrt(1.0 + spread**2))
        )

    near, _ = found_at(0.3, 1e-3, None)
    found, known = found_at(zero, spread, near)
    assert found.average == pytest.approx(known, rel=1e-12)
    assert found.edges is not None and near.edges is not None
    assert np.isin(near.edges, found.edges).all() == taken
    other, _ = found_at(zero, spread, replace(near, edges=near.edges[::2]))  # not all of those of the coefficients
    assert other.average == pytest.approx(known, rel=1e-12)


def test_smooth_outputs_keep_their_nodes() -> None:
    edges = np.linspace(-8.0, 8.0, 17)
    assert not turns_fast(plain(gauss(edges)[0], gauss(edges)[0], 1.0))


def test_signs_alone_ask_for_no_other_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn that nodes of kappa all but resolve: panels judge it, and averages over the output stay as they are,
    evaluated once on the finer nodes. With every other number held, an answer to 1e-13 is another way to the error.
    """
    places: dict[int, list[Array]] = {}
    evaluate = CoupledSystem.residual_of_averages

    def counted(system: CoupledSystem) -> Array:
        places.setdefault(id(system), []).append(system.x.copy())
        return evaluate(system)

    given = case(fit__ridge=0.7)
    monkeypatch.setattr(CoupledSystem, "residual_of_averages", counted)
    found = gs.solve(given)
    assert all(not np.array_equal(x, other) for xs in places.values() for x, other in pairwise(xs))
    assert found.nodes == gs.solve(case(fit__ridge=0.05)).nodes
    assert found.quadrature_error < 1e-11
    assert found.test_error == pytest.approx(Definition(found).probability([0.0]), rel=1e-11)


@pytest.mark.usefixtures("in_letters")
def test_several_indices_of_one_direction() -> None:
    """Panels of kappa hold rows for all indices of the target: z1 + z2 is sqrt(2) times one index."""
    one = gs.solve(case())
    two = gs.solve(case(target__link="sign(z1 + z2)", spike__alignment=[0.8 / math.sqrt(2.0)] * 2))
    assert two.quadrature_error < 1e-9
    assert two.test_error == pytest.approx(one.test_error, abs=1e-10)
    by_ridge = [gs.gradient(each.model, ["fit.ridge"]).test_error["fit.ridge"] for each in (one, two)]
    assert by_ridge[1] == pytest.approx(by_ridge[0], rel=1e-7)


def test_what_turns_a_probability() -> None:
    """The mean, and for each jump of the label t there and the mean given that, which happens t deviations away."""
    kappa, mean, slope = np.array([-1.0, 0.3, 14.0]), np.array([0.2, -0.4, 1.5]), np.array([0.7, -0.2, 0.4])
    variance, gamma = np.array([0.5, 1e-4, 2.0]), 0.8
    law = label_law(Target("sign(z-0.4)"), (gamma,), kappa)
    turns, away = Output(kappa, mean, slope[None], variance, law).turns()
    t = (0.4 - gamma * kappa) / np.sqrt(1.0 - gamma**2)
    held = np.array([*t[:2], -9.0])  # beyond, nothing counts
    wanted = mean / np.sqrt(slope**2 + variance), t, (mean + slope * held) / np.sqrt(variance)
    assert turns == pytest.approx(np.array(wanted), rel=1e-14)
    assert away == pytest.approx(np.array([0.0 * t, 0.0 * t, t]), rel=1e-14)
