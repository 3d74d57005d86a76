"""Little noise inside a link that is aligned with the spike: the label turns in kappa within the noise's deviation.

The clean link has a kink there, and panels that end at it know no width.
"""

from __future__ import annotations

import math

import pytest
from scipy.integrate import quad

import giantstep as gs

ALIGNED = {
    "network": {"activation": "gelu", "width": 1.2},
    "spike": {"strength": 0.1, "alignment": 1.0, "bulk_variance": 3.0},
    "target": {"link": "clip(z,-1,1)", "probit": 1e-5},
    "fit": {"loss": "square", "samples": 0.04, "ridge": 1e6},
}


@pytest.mark.parametrize("probit", [1e-5, 1e-3, 0.1])
def test_an_output_that_vanishes_leaves_the_square_of_the_label(probit: float) -> None:
    """Once wrong by 4e-6 at noise 1e-5. What the output changes is linear in 1/ridge, 1e-6, and taken out; its square
    is left. The label's index with its noise is normal.
    """
    base = gs.Model.from_dict(ALIGNED).replace({"target.probit": probit})
    found = [gs.solve(base.replace({"fit.ridge": ridge}), dimension=100).train_error for ridge in (1e6, 2e6)]
    scale = math.sqrt(1.0 + probit)
    square, _ = quad(
        lambda z: min(1.0, (scale * z) ** 2) * math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi),
        -12.0,
        12.0,
        points=[-1.0 / scale, 1.0 / scale],
        epsabs=1e-14,
    )
    assert 2.0 * found[1] - found[0] == pytest.approx(square, rel=1e-10)


def test_a_step_with_little_noise_is_solved() -> None:
    """Once refused: the orders of quadrature differed by 1e-5. Continuous in the noise, to first order."""
    changes = {
        "network.activation": "tanh",
        "spike.strength": 1.0,
        "target.link": "sign(z-0.4)",
        "fit.loss": "logistic",
        "fit.ridge": 0.1,
        "fit.samples": 2.0,
    }
    errors = [
        gs.solve(gs.Model.from_dict(ALIGNED).replace(changes | {"target.probit": p})).test_error
        for p in (1e-6, 2e-6, 4e-6)
    ]
    slopes = [(errors[1] - errors[0]) / 1e-6, (errors[2] - errors[1]) / 2e-6]
    assert slopes[0] == pytest.approx(slopes[1], rel=1e-3)
