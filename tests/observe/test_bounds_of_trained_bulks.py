"""Lower bounds where the norms of the rows vary: weak steps, features that rounding hides, functions without a part."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.observe.bounds import Bound, bound
from giantstep.quadrature.shift_derivatives import norm_rest
from giantstep.system.problem import problem_of

SINE = "tanh(z) + 0.3*cos(z)"


def network(activation: str, rate: float, values: list[float], **changes: Any) -> gs.Model:
    base = {
        "network": {
            "activation": activation,
            "width": 0.944,
            "readout": {"values": values, "fractions": [1.0 / len(values)] * len(values)},
        },
        "step": {"samples": 8.47, "learning_rate": rate, "bulk": "trained"},
        "target": {"link": "relu"},
        "fit": {"samples": 1.78, "ridge": 0.004},
    }
    return gs.Model.from_dict(base).replace({key.replace("__", "."): value for key, value in changes.items()})


def lower(model: gs.Model) -> Bound:
    return bound(model, "lower")


def _hermite(k: int) -> float:
    """E relu(z) He_k(z)/sqrt(k!)."""
    if k < 2:
        return (1.0 / math.sqrt(2.0 * math.pi), 0.5)[k]
    at_zero = 0.0 if k % 2 else (-1.0) ** (k // 2 - 1) * math.prod(range(1, k - 2, 2))
    return at_zero / math.sqrt(2.0 * math.pi * math.factorial(k))


@pytest.mark.parametrize("values", [[-0.3], [-0.3, -1.6], [-0.3, -1.6, 0.5]])
@pytest.mark.parametrize("rate", [1e-4, 1e-8])
def test_after_a_weak_step_mu0_and_kappa_mu1_and_mu_c_are_polynomials_of_degree_3_k_less_one(
    values: list[float], rate: float
) -> None:
    """The readout sees those of kappa, and t times those of degree K - 1; what is left is relative to the rate."""
    model = network(SINE, rate, values)
    gamma = problem_of(model, None, 0.0).spike.alignment
    seen = sum((gamma**k * _hermite(k)) ** 2 for k in range(3 * len(values)))
    across = sum((k + 1) * (gamma**k * _hermite(k + 1)) ** 2 for k in range(len(values)))
    found = lower(model)
    assert found.value == pytest.approx(0.5 - seen - (1.0 - gamma**2) * across, rel=0.1 * rate + 1e-11)
    assert found.error < 1e-11 * found.value


@pytest.mark.parametrize(
    ("rate", "wanted"),
    [
        (0.1, 0.0125693361586426),
        (0.0170175, 0.0123652517274251),
        (0.01, 0.0123610946002473),
        (0.005, 0.0123594440126311),
    ],
)
def test_least_squares_of_forty_digits_from_a_strong_step_to_a_weak_one(rate: float, wanted: float) -> None:
    """Wanted: normal equations in mpmath, averages by Gauss-Legendre panels with an error of 1e-37."""
    fractions = {"network__readout__fractions": [0.872, 0.128]}
    assert lower(network(SINE, rate, [-0.3, -1.6], **fractions)).value == pytest.approx(wanted, rel=1e-11)


@pytest.mark.parametrize("activation", ["relu", "erf(z)", "sin(z)", "z + 0.2"])
@pytest.mark.parametrize("rate", [1e-3, 1.0])
def test_norms_add_nothing_where_mu_c_is_a_combination_of_mu0_and_kappa_mu1(activation: str, rate: float) -> None:
    trained = network(activation, rate, [-0.3, -1.6])
    alone = lower(trained.replace({"step.bulk": "isotropic"}))
    assert lower(trained).value == pytest.approx(alone.value, rel=1e-10)


def test_what_mu_c_has_beside_other_features_by_functions() -> None:
    for function in ("relu(z)", "abs(z)", "erf(z)", "cos(2*z)", "exp(z)", "z", "z**3", "sign(z)"):
        assert norm_rest(function, 1.7, 0.0) == 0.0
    for function, offset in (("relu(z)", 0.3), ("tanh(z)", 0.0), ("gelu(z)", 0.0), ("softplus(z)", 0.0)):
        assert norm_rest(function, 1.7, offset) > 1e-4
    assert 1e-11 < norm_rest("relu(z)", 1.0, 1e-8) < 1e-8


FIVE = [-0.5, 0.039, 1.3, -1.4, -1.6]


def test_features_that_rounding_hides_are_left_out_where_they_cannot_matter() -> None:
    """Fifteen odd functions: the odd part of the label is fitted to 1e-12 by ten of them, the even part by none."""
    changes = {"network__width": 0.21, "step__samples": 2.47}
    trained = network("hard_tanh", 0.3, FIVE, **changes)
    found, alone = lower(trained), lower(trained.replace({"step.bulk": "isotropic"}))
    assert found.value == pytest.approx(alone.value, rel=1e-9)
    assert np.all(np.isfinite(found.m)) and 0.0 < found.error < 1e-9


def test_features_that_rounding_hides_and_that_matter_are_refused() -> None:
    model = gs.Model.from_dict(
        {
            "network": {
                "activation": "tanh",
                "width": 1.0,
                "readout": {"values": [0.1 * k + 0.9 for k in range(7)], "fractions": [1.0 / 7] * 7},
            },
            "spike": {"strength": 1.5, "alignment": 1.0, "bulk_variance": 1.3},
            "target": {"link": "sign"},
            "fit": {"samples": 2.0, "ridge": 0.1},
        }
    )
    with pytest.raises(gs.NotConverged, match="a combination of the features is .* solve the model"):
        lower(model)
