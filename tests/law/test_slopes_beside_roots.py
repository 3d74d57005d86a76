"""Gradient steps of activations with roots, beside which slopes are infinite, and with jumps, which have no slope."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest

import giantstep as gs
from giantstep.law.gradient_step import moments_of_step
from giantstep.quadrature.mesh import Term
from giantstep.quadrature.shift_derivatives import slope_averages
from giantstep.spec.errors import BadInput
from giantstep.spec.jumps import jumps

WAYS: list[dict[str, Any]] = [
    {},
    {"network.bias": 0.25},
    {"network.readout.biases": [0.0, 0.0]},
    {"network.readout.biases": [0.25, -0.5]},
    {"step": [{"samples": 2.0, "learning_rate": 0.1}, {"samples": 2.0, "learning_rate": 0.7}]},
]


def _model(activation: str, changes: dict[str, Any]) -> gs.Model:
    given = {
        "network": {
            "activation": activation,
            "width": 0.8,
            "readout": {"values": [1.0, 0.5], "fractions": [0.5, 0.5]},
        },
        "step": {"samples": 2.0, "learning_rate": 0.7},
        "target": {"link": "z+He(2,z)/2"},
        "fit": {"samples": 2.0, "ridge": 0.1},
    }
    return gs.Model.from_dict(given).replace(changes)


@pytest.mark.parametrize("power", [0.55, 0.7, 0.9])
def test_squares_of_infinite_slopes_have_their_averages(power: float) -> None:
    """E (p |z|^(p - 1))^2 = p^2 2^(p - 1) Gamma(p - 1/2) / sqrt(pi)."""
    known = power**2 * 2.0 ** (power - 1.0) * math.gamma(power - 0.5) / math.sqrt(math.pi)
    text = f"sign(z)*abs(z)**{power}"
    assert moments_of_step(text, 0.0).slope_square == pytest.approx(known, rel=1e-11, abs=0.0)
    found = slope_averages(Term(text, 1.0, 0.0, 1.0), np.array([-0.3, 0.0, 0.3]))[3]
    assert found[1] == pytest.approx(known, rel=1e-11, abs=0.0)
    assert found[0] == pytest.approx(found[2], rel=1e-12, abs=0.0)


@pytest.mark.parametrize("bias", [0.0, 0.25, -1.0])
@pytest.mark.parametrize("softened", [1e-6, 1e-3])
def test_roots_that_are_softened_are_resolved(softened: float, bias: float) -> None:
    """E 1/(4 (|z| + e)), whose slope is steep but finite; and the root that hints propose."""
    text, cut = f"sqrt(abs(z)+{softened!r})", [0.0, *(10.0**-k for k in range(8, -1, -1)), 15.0]
    with mpmath.workdps(25):
        sides = [
            mpmath.quad(lambda x, s=side: mpmath.npdf(s * x - bias) / (4 * (x + mpmath.mpf(softened))), cut)
            for side in (1, -1)
        ]
    known = float(sum(sides))
    assert moments_of_step(text, bias).slope_square == pytest.approx(known, rel=1e-12, abs=0.0)
    found = slope_averages(Term(text, 1.0, 0.0, 1.0), np.array([bias]))[3, 0]
    assert found == pytest.approx(known, rel=1e-11, abs=0.0)
    assert moments_of_step("(z**2 + 1e-4)**0.25", bias).slope_square > 0.0


def test_a_step_does_not_depend_on_how_it_is_told() -> None:
    """One bias for all, biases of their own, and a second step after one that moves nothing."""
    plain = gs.solve(_model("relu(z)**0.6", {})).test_error
    own = gs.solve(_model("relu(z)**0.6", {"network.readout.biases": [0.0, 0.0]})).test_error
    steps = [{"samples": 2.0, "learning_rate": rate} for rate in (1e-13, 0.7)]
    second = gs.solve(_model("relu(z)**0.6", {"step": steps})).test_error
    assert own == pytest.approx(plain, rel=1e-10, abs=0.0)
    assert second == pytest.approx(plain, rel=1e-10, abs=0.0)


@pytest.mark.parametrize("changes", WAYS)
@pytest.mark.parametrize(
    ("activation", "reason"),
    [
        ("sign(z)*sqrt(abs(z))", "not square integrable"),
        ("sqrt(abs(z-1))", "not square integrable"),
        ("abs(z-1)**0.7", "closer than double precision tells apart"),
        ("tanh(z)+step(z-1)", "jumps at z = 1"),
    ],
)
def test_steps_without_a_slope_are_refused_however_they_are_told(
    activation: str, reason: str, changes: dict[str, Any]
) -> None:
    with pytest.raises(BadInput, match=reason):
        gs.solve(_model(activation, changes))


def test_kinks_at_rounded_places_are_no_jumps() -> None:
    """abs(sin(z)) has kinks at multiples of pi, up to 12 pi; a jump next to one is found."""
    assert jumps("abs(sin(z))") == ()
    assert [place for place, _, _ in jumps("abs(sin(z))+1e-3*step(z-3)")] == [3.0]


def test_a_pole_that_an_exponential_hides_is_no_error() -> None:
    """exp(-1/z^2) is smooth; at z = 0 it divides by zero."""
    plain, own = (
        gs.solve(_model("exp(-1/z**2)", changes)).test_error for changes in ({}, {"network.readout.biases": [0.0, 0.0]})
    )
    assert plain == pytest.approx(own, rel=1e-9)
