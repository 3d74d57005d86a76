"""Derivatives of a solution: against differences of solutions, closed forms and identities of the free energy.

Error model of the differences: four points at relative steps h = 1e-3 leave h^4 of the fifth derivative, about 1e-12,
and the errors of the solutions, 1e-10 of the test error, over h: 1e-7 of the test error per unit of the logarithm.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import mpmath
import numpy as np
import pytest
import sympy as sp

import giantstep as gs
from derive.gaussian.expectation import Expectation
from derive.sensitivity import MU0, MU1, PHI, REST, C, G, coefficient_slopes
from giantstep.law.kinds_of_labels import Intervals, Points
from giantstep.observe.gradient.coefficient_slopes import slopes_along
from giantstep.observe.gradient.gradient import gradient
from giantstep.observe.gradient.sensitivity import _appears
from giantstep.quadrature.mesh import Term
from giantstep.spec.errors import GiantstepError
from giantstep.spec.kernels import coefficients
from giantstep.system.misclassification import wrong_sign, wrong_sign_slopes
from giantstep.system.sign_panels import Output
from giantstep.system.span import Span

Array = np.ndarray

STENCIL = ((-2, 1.0 / 12.0), (-1, -2.0 / 3.0), (1, 2.0 / 3.0), (2, -1.0 / 12.0))
OBSERVABLES = ("test_error", "train_error", "free_energy")


def _value(model: gs.Model, key: str) -> float:
    table, _, name = key.partition(".")
    return float(getattr(getattr(model, table), name))


def _differences(model: gs.Model, key: str, dimension: int | None) -> dict[str, float]:
    """Derivatives in the logarithm of a key, from four solutions."""
    h, value = 1e-3, _value(model, key)
    around = [(w, gs.solve(model.replace({key: value * (1.0 + n * h)}), dimension=dimension)) for n, w in STENCIL]
    return {name: sum(w * getattr(result, name) for w, result in around) / h for name in OBSERVABLES}


def _check(model: gs.Model, dimension: int | None = None, accuracy: float = 2e-7) -> None:
    found = gradient(model, dimension=dimension)
    assert found.residual < 1e-3 * accuracy  # of the linear equations: what is left is the accuracy of their terms
    for key in found.test_error:
        expected = _differences(model, key, dimension)
        for name in OBSERVABLES:
            derivative = getattr(found, name)[key] * _value(model, key)
            size = max(abs(expected[name]), abs(getattr(found.result, name)))
            assert abs(derivative - expected[name]) <= accuracy * size, (key, name, derivative, expected[name])


def model(
    activation: str = "tanh", link: str = "sign", spike: dict[str, Any] | None = None, **changes: Any
) -> gs.Model:
    data = {
        "network": {"activation": activation, "width": 1.0},
        "spike": spike or {"strength": 1.5, "alignment": 0.8, "bulk_variance": 1.3},
        "target": {"link": link},
        "fit": {"samples": 2.0, "ridge": 0.1},
    }
    return gs.Model.from_dict(data).replace({key.replace("__", "."): value for key, value in changes.items()})


def loaded(loadings: list[list[float]], alignment: list[float]) -> gs.Model:
    data = model("erf", "tanh").to_dict()
    data["network"]["readout"] = {"values": [1.0, -0.5], "fractions": [0.4, 0.6]}
    data["spike"] = {"strength": 1.2, "loadings": loadings, "alignment": alignment, "bulk_variance": 1.3}
    return gs.Model.from_dict(data)


STEPPED = gs.Model.from_dict(
    {
        "network": {"activation": "relu", "width": 0.8, "readout": {"values": [1.0, -0.5], "fractions": [0.4, 0.6]}},
        "step": {"samples": 2.0, "learning_rate": 1.3},
        "target": {"link": "tanh", "noise": 0.1},
        "fit": {"samples": 2.0, "ridge": 0.1},
    }
)
INPUTS = {"eigenvalues": [2.0, 0.2], "weights": [0.3, 0.7], "target": [1.0, 0.5]}
MODELS = {
    "square, vocabulary, step": STEPPED,
    "square, discontinuous": model("sign", "sign"),
    "three blocks": STEPPED.replace(
        {"network.readout": {"values": [1.0, -1.0, 0.3], "fractions": [0.3, 0.3, 0.4]}, "network.activation": "tanh"}
    ),
    "opposite blocks, even": model(
        "abs", "quadratic", network__readout={"values": [1.0, -1.0], "fractions": [0.3, 0.7]}
    ),
    "dependent blocks": model(
        "relu", "sign", network__readout={"values": [1.0, -1.0, 2.0, -2.0], "fractions": [0.1, 0.2, 0.3, 0.4]}
    ),
    "linear blocks": model("linear", "tanh", network__readout={"values": [1.0, 2.0], "fractions": [0.5, 0.5]}),
    "constant mean features, which stay constant": STEPPED.replace({"network.activation": "cos"}),
    "fixed bias": STEPPED.replace({"network.bias": 0.4}),
    "trained bias": STEPPED.replace({"network.bias": "trained", "target.link": "sign(z+0.3)"}),
    "logistic": model("tanh", "sign", fit__loss="logistic", target__flips=0.1),
    "hinge": model("erf", "sign", fit__loss="hinge"),
    "huber, noise": STEPPED.replace({"fit.loss": {"name": "huber", "delta": 0.7}}),
    "absolute": model("tanh", "tanh", fit__loss="absolute", target__noise=0.2),
    "two indices": model("relu", "z1*z2 + z1", {"strength": 1.5, "alignment": [0.6, 0.5], "bulk_variance": 1.2}),
    "two blocks, probit, squared hinge": model(
        "tanh",
        "sign",
        fit__loss="squared_hinge",
        target__probit=0.3,
        network__readout={"values": [1.0, -1.0], "fractions": [0.5, 0.5]},
    ),
    "two blocks, many nodes where the sign turns": STEPPED.replace(
        {
            "network": {
                "activation": "erf",
                "width": 1.27,
                "readout": {"values": [1.0, -0.79], "fractions": [0.5, 0.5]},
            },
            "step": {"samples": 7.6, "learning_rate": 1.5},
            "target": {"link": "sign"},
            "fit": {"samples": 1.32, "ridge": 0.85, "loss": "squared_hinge"},
        }
    ),
    "plain": STEPPED.replace({"step": None}),
    "loadings of one direction": loaded([[1.0], [-0.4]], [0.6]),
    "loadings of two directions": loaded([[1.0, 0.3], [-0.2, 0.8]], [0.6, 0.5]),
    "trained bulk": STEPPED.replace({"network.activation": "tanh", "step.bulk": "trained"}),
    "inputs, step": STEPPED.replace({"inputs": INPUTS}),
    "inputs, spike, logistic": model("tanh", "sign", fit__loss="logistic", inputs=INPUTS),
}


@pytest.mark.parametrize("name", sorted(MODELS))
def test_derivatives_are_those_of_the_solutions(name: str) -> None:
    _check(MODELS[name], 400 if "square" in name or "logistic" in name else None)


def test_a_trained_bias_follows_where_errors_vary_fast_with_it() -> None:
    """With few samples and a small ridge steps of 0.014 of the bias left 3e-4 of this derivative."""
    given = gs.Model.from_dict(
        {
            "network": {
                "activation": "erf",
                "width": 2.2755,
                "readout": {"values": [0.6, 1.02, -1.25], "fractions": [0.347, 0.375, 0.278]},
                "bias": "trained",
            },
            "spike": {"strength": 0.5678, "alignment": 0.769, "bulk_variance": 1.35},
            "target": {"link": "sign(tanh(z)+0.2)", "flips": 0.2},
            "fit": {"samples": 1.309, "ridge": 0.0001162379, "loss": "logistic"},
        }
    )
    found, expected = gradient(given, "fit.samples", dimension=243), _differences(given, "fit.samples", 243)
    assert found.error < 1e-8
    for name in ("test_error", "train_error"):
        derivative = getattr(found, name)["fit.samples"] * given.fit.samples
        assert derivative == pytest.approx(expected[name], abs=1e-7 * getattr(found.result, name))


def _random(number: int) -> gs.Model:
    draw = random.Random(number)
    loss = draw.choice(("square",) * 6 + ("logistic", "huber", "quantile", "squared_hinge"))
    margin = loss in ("logistic", "squared_hinge")
    data: dict[str, Any] = {
        "network": {
            "activation": draw.choice(("tanh", "relu", "erf", "softplus", "sin", "hard_tanh", "gelu")),
            "width": math.exp(draw.uniform(-1.5, 1.5)),
            "bias": draw.choice((0.0, draw.uniform(-1.0, 1.0))),
        },
        "target": {"link": "sign" if margin else draw.choice(("sign", "tanh", "relu", "sin", "quadratic", "step"))},
        "fit": {"samples": math.exp(draw.uniform(-0.5, 2.0)), "ridge": math.exp(draw.uniform(-4.0, 1.0)), "loss": loss},
    }
    if not margin:
        data["target"]["noise"] = draw.choice((0.0, draw.uniform(0.0, 0.5)))
    if draw.random() < 0.4:
        data["network"]["readout"] = {"values": [1.0, draw.uniform(-1.0, 0.3)], "fractions": [0.5, 0.5]}
    if draw.random() < 0.5:
        data["step"] = {"samples": draw.uniform(0.3, 10.0), "learning_rate": draw.uniform(0.2, 3.0)}
    else:
        data["spike"] = {
            "strength": draw.uniform(0.2, 4.0),
            "alignment": draw.uniform(-0.99, 0.99),
            "bulk_variance": draw.uniform(1.0, 3.0),
        }
    return gs.Model.from_dict(data)


def _checked(number: int, accuracy: float = 2e-7) -> bool:
    try:
        _check(_random(number), None, accuracy)
    except GiantstepError:
        return False
    return True


def test_random_models_have_the_derivatives_of_their_solutions() -> None:
    assert sum(_checked(number) for number in range(10)) >= 9


@pytest.mark.slow
def test_many_random_models_have_the_derivatives_of_their_solutions() -> None:
    # losses with kinks leave more to quadrature, which says so: the error of a gradient is allowed to be 1e-6
    assert sum(_checked(number, 1e-6) for number in range(10, 110)) >= 90


def test_the_free_energy_moves_with_the_ridge_by_the_norm_of_the_readout() -> None:
    # at a stationary point only the explicit dependence counts: Phi = ... + (lambda/2) |a|^2/d
    for name in ("square, vocabulary, step", "huber, noise"):
        found = gradient(MODELS[name], "fit.ridge")
        norm = MODELS[name].network.width * float(found.result.order_parameters["Q2"].sum())
        assert found.free_energy["fit.ridge"] == pytest.approx(0.5 * norm, rel=1e-9)


def test_kinks_within_narrow_outputs_have_nodes_enough() -> None:
    """Outputs vary by a hundredth of what labels do, so that the curvature of the loss is felt within that in t."""
    fit = {"samples": 1.5, "ridge": 3.0, "loss": {"name": "huber", "delta": 0.05}}
    data = {"network": {"activation": "relu", "width": 0.8}, "target": {"link": "softplus"}, "fit": fit}
    model, h = gs.Model.from_dict(data), 3e-3
    up, down, far_up, far_down = (
        gs.solve(model.replace({"fit.ridge": 3.0 + k * h}), tolerance=1e-12).test_error for k in (1, -1, 2, -2)
    )
    rate = (8.0 * (up - down) - (far_up - far_down)) / (12.0 * h)  # to h^4 and 1e-12/h of a test error of order .1
    assert gs.gradient(model, "fit.ridge").test_error["fit.ridge"] == pytest.approx(rate, rel=1e-6)


def test_equal_blocks_move_as_one() -> None:
    one = model("tanh", "sign")
    two = one.replace({"network.readout": {"values": [1.0, 1.0], "fractions": [0.3, 0.7]}})
    first, second = gradient(one), gradient(two)
    assert dict(second.test_error) == pytest.approx(dict(first.test_error), rel=1e-9)


# ---- the slopes of the coefficients


@pytest.mark.parametrize("function", ["erf", "relu", "tanh(3*z)"])
def test_slopes_at_many_places_are_those_at_each(function: str) -> None:
    """Between Chebyshev points an average over g is known to about 1e-13 of the largest."""
    term, places = Term(function, 0.7, 0.2, 0.3), np.random.default_rng(0).uniform(-9.0, 9.0, 4000)
    every, some = slopes_along(term, tuple(places.tolist())), slopes_along(term, tuple(places[:200].tolist()))
    np.testing.assert_allclose(every[:, :200], some, atol=3e-12 * np.abs(some).max())


def test_slopes_of_the_sign_have_their_closed_form() -> None:
    # mu0 = erf(s/sqrt(2 c)), mu1 = sqrt(2/pi) exp(-s^2/(2c)), mu2sq = 1 - mu0^2 - mu1^2
    s, c = sp.Symbol("s", real=True), sp.Symbol("c", positive=True)
    mu0, mu1 = sp.erf(s / sp.sqrt(2 * c)), sp.sqrt(2 / sp.pi) * sp.exp(-(s**2) / (2 * c))
    mu = (mu0, mu1, 1 - mu0**2 - mu1**2)
    kappa = np.linspace(-3.0, 3.0, 13)
    found = slopes_along(Term("sign", 1.4, 0.3, 1.7), tuple(kappa))
    for row, (body, variable) in enumerate((body, variable) for variable in (s, c) for body in mu):
        expected = sp.lambdify((s, c), sp.diff(body, variable), "scipy")(1.4 * kappa + 0.3, 1.7)
        assert found[row] == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("name", ["tanh", "relu", "linear", "cubic", "sin", "gelu"])
def test_slopes_are_differences_of_the_coefficients(name: str) -> None:
    kappa = np.linspace(-3.0, 3.0, 9)
    term = Term(name, 1.4, -0.2, 2.3)
    found, s = slopes_along(term, tuple(kappa)), term.scale * kappa + term.offset
    in_s = sum(w * coefficients(name, s + n * 1e-3, term.variance) for n, w in STENCIL) / 1e-3
    in_c = sum(w * coefficients(name, s, term.variance + n * 1e-3) for n, w in STENCIL) / 1e-3
    size = np.abs(coefficients(name, s, term.variance)).max()
    assert found == pytest.approx(np.concatenate([in_s, in_c]), abs=1e-9 * size)


def test_the_derived_slopes_hold_at_high_precision() -> None:
    # sigma = exp(z/2): E exp = exp(s/2 + c/8), E g exp = sqrt(c)/2 that, E exp^2 = exp(s + c/2)
    with mpmath.workdps(30):
        s, c = mpmath.mpf("0.3"), mpmath.mpf("1.7")
        mu0 = lambda s, c: mpmath.exp(s / 2 + c / 8)  # noqa: E731
        mu1 = lambda s, c: mpmath.sqrt(c) / 2 * mu0(s, c)  # noqa: E731
        rest = lambda s, c: mpmath.exp(s + c / 2) - mu0(s, c) ** 2 - mu1(s, c) ** 2  # noqa: E731
        phi = sp.exp((sp.Rational(3, 10) + sp.sqrt(sp.Rational(17, 10)) * G) / 2)
        known = {MU0: sp.Float(mu0(s, c), 30), MU1: sp.Float(mu1(s, c), 30), C: sp.Rational(17, 10)}
        place = {PHI(G): phi, REST(G): (phi - known[MU0] - known[MU1] * G) ** 2}
        for (name, body), function in zip(coefficient_slopes().slopes.items(), (mu0, mu1, rest) * 2, strict=True):
            (node,) = body.atoms(Expectation)
            integrand = sp.lambdify(G, node.integrand.subs(place), "mpmath")
            value = mpmath.quad(lambda g, f=integrand: f(g) * mpmath.npdf(g), [-15, -5, 0, 5, 15])
            order = (1, 0) if name.endswith("_s") else (0, 1)
            expected = mpmath.diff(function, (s, c), order)
            assert mpmath.almosteq(mpmath.mpf(sp.N((body / node).subs(known), 30)) * value, expected, rel_eps=1e-12)


# ---- the slopes of the misclassification


@pytest.mark.parametrize("law", ["intervals", "aligned", "points"])
def test_misclassification_moves_as_its_differences(law: str) -> None:
    rng = np.random.default_rng(2)
    n = 7
    kappa, mean, slope = rng.normal(size=n), rng.normal(size=n), rng.normal(size=(1, n))
    delta, weight = rng.uniform(0.3, 2.0, n), np.ones(n)
    width = 0.0 if law == "aligned" else 0.6
    labels: Intervals | Points = Intervals(
        np.array([-np.inf, 0.3]),
        np.array([0.3, np.inf]),
        np.ones(2),
        np.array([-1.0, 1.0]),
        np.array([0.8, width, 1.0]),
    )
    if law == "points":
        sign = np.where(rng.random((n, 5)) < 0.5, -1.0, 1.0)
        labels = Points(np.full((n, 5), 0.2), sign, rng.normal(size=(n, 5, 1)), np.zeros((1, 1)))
    slopes = wrong_sign_slopes(Output(kappa, mean, slope, delta, labels))
    h = 1e-3

    def at(**moved: Any) -> float:
        fields = {"mean": mean, "slope": slope, "delta": delta} | moved
        return float(weight @ wrong_sign(Output(kappa, fields["mean"], fields["slope"], fields["delta"], labels)))

    for i in range(n):
        one = np.eye(n)[i] * h
        differences = (
            sum(w * at(mean=mean + k * one) for k, w in STENCIL) / h,
            sum(w * at(slope=slope + k * one) for k, w in STENCIL) / h,
            sum(w * at(delta=delta + k * one) for k, w in STENCIL) / h,
        )
        found = (slopes[0][i], slopes[1][0, i], slopes[2][i])
        assert found == pytest.approx(differences, abs=1e-10)


# ---- what is refused, and the command


@pytest.mark.parametrize(("rate", "appears"), [(lambda kappa: 0.0 * kappa + 2.0, False), (lambda kappa: kappa, True)])
def test_what_moves_within_the_span_does_not_appear(rate: Callable[[Array], Array], appears: bool) -> None:
    """Two constant features: where their ratio moves they stay dependent; where one gets a slope they do not."""
    kappa, weight = np.polynomial.hermite_e.hermegauss(8)
    weight = weight / weight.sum()
    one, zero = np.ones((2, 8)), np.zeros((2, 8))
    table = np.column_stack([kappa, weight, one[0], zero[0], *np.zeros((4, 8))])  # e_1, no e_2, then mu1 and mu2^2
    span = Span(np.eye(2), np.eye(2), np.array([[1.0], [-1.0]]), 1, 1.0, 0.0)
    change = np.stack([np.stack([rate(kappa), zero[0]]), zero, zero])
    assert _appears(cast(Any, SimpleNamespace(table=table)), span, change) == appears
