"""The norms of the rows after a step: their variance and what they go with, against sampled layers."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp
from at_conjugates import at_conjugates

from derive.bulk_covariance import RESIDUAL
from derive.check import check_step
from derive.gaussian.expectation import Expectation
from derive.rest_of_slope import Z
from derive.row_norms import row_norms as row_norms_derived
from derive.sample_averages import ALPHA0
from derive.sample_traces import trace_of
from giantstep.law.rows_after_step import initial_output, spike_sign
from giantstep.spec.expressions import numpy_function
from giantstep.spec.link import link_values
from giantstep.spec.model import Model
from giantstep.system.bulk_system import rows_of_blocks
from giantstep.system.problem import Problem, problem_of

Array = np.ndarray
# activation, bias, link, samples and rate of the step: norms that go with rows and norms that do not
CASES = {
    "gelu": ("gelu", 0.0, "z + He(2,z)/2", 4.0, 1.0),
    "relu": ("relu", 0.0, "relu", 4.0, 1.0),
    "tanh": ("tanh", 0.0, "tanh(3*z)", 0.5, 4.0),
    "sign": ("tanh", 0.0, "sign", 16.0, 1.0),
    "bias": ("relu", -0.5, "relu", 2.0, 1.5),
    "erf": ("erf", 0.0, "tanh(2*z) + tanh(z)", 1.0, 2.0),
    "softplus": ("softplus", 0.0, "tanh(z)**2", 1.0, 3.0),
}
INITIALISATIONS = ("sphere", "gaussian")


def problem(name: str, initialisation: str) -> Problem:
    activation, bias, link, samples, rate = CASES[name]
    network = {"activation": activation, "bias": bias, "width": 1.0, "initialisation": initialisation}
    step = {"samples": samples, "learning_rate": rate, "bulk": "trained"}
    fit = {"samples": 2.0, "ridge": 0.1}
    return problem_of(Model.from_dict({"network": network, "step": step, "target": {"link": link}, "fit": fit}))


def predicted(name: str, initialisation: str) -> Array:
    """chi, d times the covariance of norm and row along theta and v, and d times the variance of the row along v."""
    given = problem(name, initialisation)
    gamma, variance = given.spike.alignment, given.spike.bulk_variance[0]
    one, zero = np.ones(1), np.zeros(1)
    hats = {"V1_hat": np.zeros((1, 1)), "Q1_hat": np.zeros((1, 1)), "V2_hat": zero, "Q2_hat": zero, "psi_hat": zero}
    of_norms = at_conjugates(given, {**hats, "norm_hat": one, "zeta_hat": zero}, {"T": one})
    of_spike = at_conjugates(given, {**hats, "norm_hat": zero, "zeta_hat": one}, {"T": one})
    along, across = (of_norms[name].item() * variance**1.5 for name in ("zeta", "psi"))
    with_theta = gamma * along + math.sqrt(1.0 - gamma**2) * across
    chi = of_norms["norm"].item() * variance**2
    return np.array([chi, with_theta, along, of_spike["zeta"].item() * variance])


def sampled(name: str, initialisation: str, d: int, seed: int) -> Array:
    """The same of one layer of 3000 neurons after a step on one batch."""
    activation, bias, link, samples, rate = CASES[name]
    given, source = problem(name, initialisation), np.random.default_rng(seed)
    count = round(samples * d)
    x = source.normal(size=(count, d))
    rows = source.normal(size=(3000, d)) / math.sqrt(d)
    if initialisation == "sphere":
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    e = link_values(link)(x[:, :1].T) - initial_output(given.model)
    slope, linear = numpy_function(activation), _mean_slope(activation, bias)
    rows += rate * ((slope(rows @ x.T + bias)[1] - linear) * e) @ x / count
    norm = (rows**2).sum(axis=1)
    change, v = norm - norm.mean(), spike_sign(given.model) * (e @ x)
    along = rows @ v / np.linalg.norm(v)
    found = [np.mean(change**2), np.mean(change * rows[:, 0]), np.mean(change * along), np.mean(along**2)]
    return d * np.array(found)


def _mean_slope(activation: str, bias: float) -> float:
    z = np.linspace(-10.0, 10.0, 400_001)
    weight = np.exp(-0.5 * z * z)
    return float(weight @ numpy_function(activation)(z + bias)[1] / weight.sum())


SHORT = [("tanh", "gaussian"), ("bias", "sphere")]
LONG = [(name, each) for name in CASES for each in INITIALISATIONS if (name, each) not in SHORT]


@pytest.mark.parametrize(
    ("name", "initialisation"), [*SHORT, *(pytest.param(*case, marks=pytest.mark.slow) for case in LONG)]
)
def test_against_sampled_layers(name: str, initialisation: str) -> None:
    """Within 4 standard errors of 12 layers at d = 200; 5/d of their size is allowed for finite dimension."""
    theory = predicted(name, initialisation)
    rows = np.array([sampled(name, initialisation, 200, seed) for seed in range(12)])
    size = np.array([theory[0], *[math.sqrt(theory[0])] * 2, theory[3]])
    error = np.hypot(rows.std(axis=0, ddof=1) / math.sqrt(len(rows)), 5.0 / 200 * size)
    assert np.max(np.abs(rows.mean(axis=0) - theory) / error) < 4.0


@pytest.mark.parametrize("name", ["tanh", "bias"])
def test_norms_of_the_other_initialisation_are_rejected(name: str) -> None:
    """Gaussian rows vary by 2/d more at least; a step that shrinks rows shrinks that too."""
    one, other = (predicted(name, each) for each in INITIALISATIONS)
    rows = np.array([sampled(name, "sphere", 200, seed) for seed in range(12)])
    error = rows.std(axis=0, ddof=1)[0] / math.sqrt(len(rows))
    assert abs(rows.mean(axis=0)[0] - other[0]) > 6.0 * error and other[0] - one[0] > 1.0


def test_no_step_leaves_the_norms_of_the_initial_rows() -> None:
    """0 on the sphere; 2 for Gaussian entries, of a chi-squared law."""
    for initialisation in INITIALISATIONS:
        still = problem("gelu", initialisation).model.replace({"step.learning_rate": 0.0})
        found = rows_of_blocks(problem_of(still)).samples(24)
        assert not found["along"].any() and not found["earlier"].any() and not found["chi"].any()
        assert found["of_block"].any() == (initialisation == "gaussian")
    assert -found["tie"][1, 0] * found["tie_last"][1, 0] ** 2 == pytest.approx(2.0, abs=1e-15)


def test_traces_of_products_of_sample_matrices() -> None:
    """Sums over partitions without crossings, against one large matrix: fluctuations, and pairs of factors that cross,
    are of order 1/d for each pair.
    """
    d, count = 800, 1600
    source = np.random.default_rng(7)
    x = source.normal(size=(count, d))
    e = np.tanh(source.normal(size=count)) + 0.4
    squares = [(x.T * values) @ x / count for values in (e, e**2)]
    for word in ((0,), (0, 1), (0, 0, 1), (0, 0, 0, 0), (0, 1, 0, 1)):
        product = np.linalg.multi_dot([np.eye(d), np.eye(d), *(squares[i] for i in word)])
        moments = _with_moments(trace_of(tuple((RESIDUAL, RESIDUAL**2)[i] for i in word)), e, count / d)
        assert np.trace(product) / d == pytest.approx(moments, rel=2.0 * len(word) ** 2 / d)


def _with_moments(expression: sp.Expr, e: Array, samples: float) -> float:
    """The averages over one sample as those over the samples that were drawn."""
    nodes = expression.atoms(Expectation)
    values = {node: float(np.mean(e ** int(sp.degree(node.integrand.subs(RESIDUAL, Z), Z)))) for node in nodes}
    return float(expression.subs({**values, ALPHA0: samples}))


def test_recorded_steps() -> None:
    """Each is computed; what can be tested at random points is."""
    derivation = row_norms_derived().derivation
    found = [step for step in map(check_step, derivation.steps) if step.error is not None]
    assert found and all(step.error < 1e-40 for step in found)
    assert r"\rho" in derivation.latex()
