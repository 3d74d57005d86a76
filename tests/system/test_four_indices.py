"""Targets of four indices, as many as there may be: a sum of them is one index along their mean direction."""

from __future__ import annotations

import pytest

from giantstep.spec.model import Model
from giantstep.system.solve import solve

SHARED = {
    "network": {"activation": "tanh", "width": 0.8},
    "fit": {"samples": 2.0, "ridge": 0.1, "loss": "square"},
}


def spike(alignment: float | tuple[float, ...]) -> dict[str, float | tuple[float, ...]]:
    return {"strength": 1.3, "alignment": alignment, "bulk_variance": 1.2}


@pytest.mark.usefixtures("in_letters")
@pytest.mark.slow
def test_a_sum_of_four_indices_is_one() -> None:
    several = (0.5, 0.3, 0.4, 0.1)
    four = Model.from_dict({**SHARED, "spike": spike(several), "target": {"link": "sin((z1+z2+z3+z4)/2)"}})
    one = Model.from_dict({**SHARED, "spike": spike(0.5 * sum(several)), "target": {"link": "sin(z)"}})
    found, expected = solve(four), solve(one)
    assert found.test_error == pytest.approx(expected.test_error, rel=1e-9)
    assert found.training_loss == pytest.approx(expected.training_loss, rel=1e-9)
