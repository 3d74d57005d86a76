"""The norms of the rows after several steps, and the directions that they go with, against sampled layers."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import pytest
from at_conjugates import at_conjugates

from generated import row_norms
from giantstep.law import rows_of_blocks
from giantstep.spec.expressions import numpy_function
from giantstep.spec.link import link_values
from giantstep.spec.model import Model
from giantstep.system.problem import problem_of

Array = np.ndarray
# activation, initial rows, link, samples and rates of the steps
CASES = {
    "gelu": ("gelu", "sphere", "z + He(2,z)/2", [(4.0, 1.0), (4.0, 1.0)]),
    "tanh": ("tanh", "sphere", "tanh(3*z)", [(1.0, 2.0), (1.0, 3.0)]),
    "gaussian": ("tanh", "gaussian", "tanh(2*z)", [(2.0, 1.5), (2.0, 1.5)]),
    "three": ("relu", "sphere", "tanh(2*z) + z**2/4", [(3.0, 1.0), (2.0, 1.0), (2.0, 1.0)]),
}
SHORT, LONG = ("gaussian",), ("gelu", "tanh", "three")


def model(name: str) -> Model:
    activation, initialisation, link, steps = CASES[name]
    tables = [{"samples": samples, "learning_rate": rate, "bulk": "trained"} for samples, rate in steps]
    return Model.from_dict(
        {
            "network": {"activation": activation, "width": 1.0, "initialisation": initialisation},
            "step": tables,
            "target": {"link": link},
            "fit": {"samples": 2.0, "ridge": 0.1},
        }
    )


def predicted(given: Model) -> Array:
    """d times the variance of the squared norms, their covariances with the row along theta and v, and the variance of
    the row along v.
    """
    problem = problem_of(given)
    gamma, variance = problem.spike.alignment, problem.spike.bulk_variance[0]
    one, zero = np.ones(1), np.zeros(1)
    hats = {"V1_hat": np.zeros((1, 1)), "Q1_hat": np.zeros((1, 1)), "V2_hat": zero, "Q2_hat": zero, "psi_hat": zero}
    found = at_conjugates(problem, {**hats, "norm_hat": one, "zeta_hat": zero}, {"T": one})
    of_spike = at_conjugates(problem, {**hats, "norm_hat": zero, "zeta_hat": one}, {"T": one})
    along, across = (found[name].item() * variance**1.5 for name in ("zeta", "psi"))
    with_theta = gamma * along + math.sqrt(1.0 - gamma**2) * across
    return np.array([found["norm"].item() * variance**2, with_theta, along, of_spike["zeta"].item() * variance])


def sampled(given: Model, d: int, seed: int) -> Array:
    """The same of one layer of 2000 neurons, each step on a batch."""
    source, network = np.random.default_rng(seed), given.network
    rows = source.normal(size=(2000, d)) / math.sqrt(d)
    if network.initialisation == "sphere":
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    for step in given.steps:
        x = source.normal(size=(round(step.samples * d), d))
        value, slope = numpy_function(network.activation)(rows @ x.T)
        e = link_values(given.target.link)(x[:, :1].T) - value.mean(axis=0)
        rows += step.learning_rate / network.width * (slope * e) @ x / len(x)
    mean = rows.mean(axis=0)
    bulk = rows - mean
    norms = (bulk**2).sum(axis=1)
    change, v = norms - norms.mean(), mean / np.linalg.norm(mean)
    along = bulk @ v
    found = [np.mean(change**2), np.mean(change * bulk[:, 0]), np.mean(change * along), np.mean(along**2)]
    return d * np.array(found)


@lru_cache
def layers_of(name: str) -> Array:
    """Ten of them."""
    given = model(name)
    return np.array([sampled(given, 200, seed) for seed in range(10)])


def scores(theory: Array, layers: Array) -> Array:
    """Of layers at d = 200, in standard errors; 5/d of the sizes is allowed for finite dimension."""
    size = np.array([theory[0], *[math.sqrt(theory[0])] * 2, theory[3]])
    error = np.hypot(layers.std(axis=0, ddof=1) / math.sqrt(len(layers)), 5.0 / 200 * size)
    return np.asarray((layers.mean(axis=0) - theory) / error)


@pytest.mark.parametrize("name", [*SHORT, *(pytest.param(name, marks=pytest.mark.slow) for name in LONG)])
def test_against_sampled_layers(name: str) -> None:
    """Within 4 standard errors of 10 layers."""
    given = model(name)
    found = scores(predicted(given), layers_of(name))
    assert np.max(np.abs(found)) < 4.0, found


def test_rows_of_larger_norm_move_further(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without that both covariances of norm and row, and the variance of the row along v, are another law's."""
    given, norms = model("gaussian"), row_norms.norms
    monkeypatch.setattr(row_norms, "norms", lambda *of: (*norms(*of)[:-1], np.zeros_like(of[3])))
    rows_of_blocks._samples.cache_clear()
    theory = predicted(given)
    monkeypatch.undo()
    rows_of_blocks._samples.cache_clear()
    found = scores(theory, layers_of("gaussian"))
    assert np.all(np.abs(found[1:]) > 4.0), found
