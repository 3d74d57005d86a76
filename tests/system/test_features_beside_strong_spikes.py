"""Nearly equal readout values beside a strong spike: mean features, and what they differ by, vary next to kappa = 0."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import giantstep as gs
from giantstep.quadrature.mesh import Term
from giantstep.system.exact_means import exact_means
from giantstep.system.graded_blocks import Block, blocks_of
from giantstep.system.graded_features import _sample
from giantstep.system.problem import problem_of


def _model(activation: str, strength: float, values: tuple[float, ...]) -> gs.Model:
    return gs.Model.from_dict(
        {
            "network": {
                "activation": activation,
                "width": 0.8,
                "readout": {"values": list(values), "fractions": [1.0 / len(values)] * len(values)},
            },
            "target": {"link": "tanh", "noise": 0.1},
            "fit": {"samples": 1.5, "ridge": 0.1},
            "spike": {"strength": strength, "alignment": 0.6, "bulk_variance": 1.0},
        }
    )


@pytest.mark.parametrize(
    ("activation", "strength", "values", "error"),
    [
        # from another solver in 60 digits, on a trapezoid rule of its own; its two implementations agree to 1e-13
        ("erf", 20.0, (1.0, 1.000001, 1.000002), 0.29241160525514),
        ("tanh", 40.0, (1.0, 1.000001), 0.29823876543895),
    ],
)
def test_directions_that_are_felt_next_to_zero_are_used(
    activation: str, strength: float, values: tuple[float, ...], error: float
) -> None:
    assert gs.solve(_model(activation, strength, values)).test_error == pytest.approx(error, rel=1e-11, abs=0.0)


@pytest.mark.parametrize("strength", [100.0, 1e4])
def test_a_strong_spike_costs_nothing_beside_polynomials(strength: float) -> None:
    """z^2 - 1 at shifts of 1e5: E (s + g)^2 - 1 = s^2, to all digits."""
    model = _model("quadratic", strength, (1.0, 1.000001, 1.000002, 0.999999))
    kappa = np.array([-9.0, 0.3, 9.0])
    found = exact_means(blocks_of(problem_of(model).features), kappa, 160)
    assert found is not None
    for b, value in enumerate(model.network.readout.values):
        shift = mpmath.mpf(value) * mpmath.mpf(strength) * mpmath.mpf(0.3)
        assert float(found[1, b]) == pytest.approx(float(shift**2), rel=1e-14, abs=0.0)
    assert gs.solve(model).quadrature_error < 1e-10


def test_means_settle_where_a_function_varies() -> None:
    """Of shifts up to 900 the function is flat at nearly all: the rule has to be fine enough for the others."""
    blocks = blocks_of(problem_of(_model("tanh(4*z)", 100.0, (1.0, 1.000001))).features)
    kappa = np.array([-9.0, -5.0, -3.0, 0.004, 3.0, 5.0, 9.0])
    found = exact_means(blocks, kappa, 160)
    assert found is not None
    with mpmath.workdps(50):
        shift = 100 * mpmath.mpf(0.004)
        known = mpmath.quad(lambda g: mpmath.tanh(4 * (shift + g)) * mpmath.npdf(g), mpmath.linspace(-14, 14, 113))
        assert abs(found[3, 0] - known) < mpmath.mpf(10) ** -33


@pytest.mark.parametrize("loadings", [(40.0,), (-40.0,), (-24.0, 32.0)])
def test_functions_are_compared_where_a_bias_puts_them(loadings: tuple[float, ...]) -> None:
    """Features vary where loadings.kappa is next to minus the bias, whatever the signs of the loadings."""
    block = Block(Term("tanh", 1.0, 30.0, 1.0), tuple(map(mpmath.mpf, loadings)), mpmath.mpf(1), True)
    kappa, _ = _sample(block)
    assert np.count_nonzero(np.abs(kappa @ np.array(loadings) + 30.0) < 1.0) >= 20


def test_signs_of_values_and_alignment_flip_together() -> None:
    """sigma(u s kappa + b) for -u is that for u with -kappa."""
    errors = []
    for side in (1.0, -1.0):
        model = _model("tanh", 40.0, (side, 1.000001 * side, 1.000002 * side))
        errors.append(gs.solve(model.replace({"spike.alignment": 0.6 * side, "network.bias": 30.0})).test_error)
    assert errors[0] == pytest.approx(errors[1], rel=1e-11, abs=0.0)
