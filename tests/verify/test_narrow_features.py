"""Features that turn on less than nodes are apart: the second implementation sees them."""

from __future__ import annotations

import numpy as np
import pytest

from giantstep.spec.kernels import coefficients
from giantstep.spec.model import Model
from giantstep.system.solve import solve
from giantstep.verify.certificate import certificate
from giantstep.verify.conditional_law import feature_moments
from giantstep.verify.reference import reference

BUMP = Model.from_dict(
    {
        "network": {"activation": "exp(-(z-1200)**2) + z/600", "width": 1.0},
        "spike": {"strength": 1000.0, "alignment": 0.8, "bulk_variance": 1.2},
        "target": {"link": "sign"},
        "fit": {"samples": 1.5, "ridge": 0.1, "loss": "huber"},
    }
)


def test_a_bump_between_nodes_of_kappa_is_seen() -> None:
    """On 0.001 at kappa = 1.2: training errors were told to be off by 2e-4."""
    result = solve(BUMP)
    found = certificate(result)
    assert found.holds and not found.unsettled, found
    assert (np.abs(reference(result).nodes.kappa - 1.2) < 0.003).sum() > 20


@pytest.mark.parametrize("text", ["tanh(30*z)", "exp(-900*(z-0.7)**2) + tanh(z)", "z + exp(-(20*z-8)**2)"])
def test_moments_of_an_activation_that_turns_fast(text: str) -> None:
    shift = np.array([-2.0, 0.1, 0.7, 1.5])
    found, kernel = feature_moments(text, shift, 1.2), coefficients(text, shift, 1.2)
    assert found == pytest.approx(kernel, abs=1e-11)
