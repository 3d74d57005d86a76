"""The interpolation peak: double precision loses as many digits as the ridge is small."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from giantstep.spec.model import Model
from giantstep.system.problem import problem_of
from giantstep.system.solve import solve
from giantstep.system.square_loss import direct_points

PEAK = {
    "network": {
        "activation": "abs",
        "width": 2.951769269995056,
        "readout": {"values": [1.2975021205143944, -1.2045228817614788], "fractions": [0.82688569, 0.17311431]},
    },
    "spike": {"strength": 5.036014442837234, "alignment": -1.0, "bulk_variance": 1.0},
    "target": {"link": "step"},
    "fit": {"samples": 2.951769269995056, "ridge": 1e-6},
}
extended = pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="no numbers beyond double precision")


@extended
def test_peak_is_solved_though_double_precision_does_not_settle() -> None:
    model = Model.from_dict(PEAK)
    problem = problem_of(model, None, intermediate=True)
    assert direct_points(problem, problem.parameters, 1e-10).at(0).quadrature_error > 1e-9
    assert solve(model).quadrature_error < 1e-10


def _noise_at_peak(ridge: float, width: float) -> float:
    """Test error of a network of even features without a spike, on labels that it cannot know, at samples = width.

    abs(z) has mu1 = 0: V = mu2^2 V2 with ridge V2 = 1/(1 + V), Delta = mu2^2 Q2 (THEORY section 4), at 40 digits.
    """
    with mpmath.workdps(40):
        mu2, ridge = 1 - 2 / mpmath.pi, mpmath.mpf(ridge)
        alpha = mpmath.mpf(width)
        v = mpmath.findroot(lambda v: ridge * v * (1 + v) - alpha * mu2 / alpha, mpmath.sqrt(mu2 / ridge))
        # Q2 = (Q2_hat/beta) T^2/beta with T = beta v/mu2, Q2_hat = mu2 (1 + Delta)/(1 + v)^2
        gain = v**2 / (1 + v) ** 2
        return float(1 / (1 - gain))


@extended
def test_peak_of_pure_noise_is_the_closed_form() -> None:
    model = Model.from_dict(
        {
            "network": {"activation": "abs", "width": 1.7},
            "target": {"link": "linear"},
            "fit": {"samples": 1.7, "ridge": 1e-8},
        }
    )
    assert math.isclose(solve(model).test_error, _noise_at_peak(1e-8, 1.7), rel_tol=1e-10)
