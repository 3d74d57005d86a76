"""Metrics whose mean is next to nothing beside their size."""

from __future__ import annotations

import math

import pytest

import giantstep as gs


@pytest.mark.parametrize("noise", [5.0, 116.0, 2015.0])
@pytest.mark.parametrize("link", ["tanh(2*z)", "sign(z-0.4)"])
def test_what_cancels_settles_beside_its_size(link: str, noise: float) -> None:
    """Noise takes the mean of exp(3i(y - f)) to exp(-4.5 noise) of that of the clean label, 1e-10 and less."""
    table = {
        "network": {"activation": "tanh", "width": 0.8},
        "target": {"link": link, "noise": noise},
        "fit": {"samples": 2.0, "ridge": 0.05},
        "spike": {"strength": 1.5, "alignment": 0.8, "bulk_variance": 1.2},
    }
    found = gs.metrics(gs.Model.from_dict(table), {"wave": "cos(3*(y-f))"})
    assert abs(found.values["wave"]) <= math.exp(-4.5 * noise) + found.errors["wave"]
    assert found.errors["wave"] < 1e-12
