"""Sums of terms kappa^a D_k, against the sum as it is written; and models whose features need thousands of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import giantstep as gs
from giantstep.spec.errors import NotConverged
from giantstep.system.exact_averages import exact_averages
from giantstep.system.graded_series import NUMBER, series_at


def test_terms_are_summed_as_written() -> None:
    rng = np.random.default_rng(2)
    kappa, averages = rng.standard_normal((9000, 3)), rng.standard_normal((5, 9000))
    rows = [((a, b, c), k) for a in range(4) for b in range(3) for c in range(2) for k in (NUMBER, 0, 2, 4)]
    series = tuple({row: float(x) for row, x in zip(rows, rng.standard_normal(len(rows)), strict=True)} for _ in "ab")
    series[1][(0, 0, 7), 1] = 1e-40  # next to nothing
    functions, sizes = series_at(series, kappa, averages)
    for i, column in enumerate(series):
        parts = [
            x * np.prod(kappa ** np.array(a), axis=1) * (1.0 if k == NUMBER else averages[k])
            for (a, k), x in column.items()
        ]
        size = np.abs(parts).sum(axis=0)
        assert np.all(np.abs(functions[:, i] - np.sum(parts, axis=0)) <= 1e-14 * size)
        assert np.all(np.abs(sizes[:, i] - size) <= 1e-14 * size)


def test_nearly_equal_values_after_two_steps() -> None:
    """Three directions and a thousand terms: the error goes linearly to its limit as two values meet."""
    errors = []
    for apart in (4e-5, 2e-5):
        model = gs.Model.from_dict(
            {
                "network": {
                    "activation": "tanh",
                    "width": 1.0,
                    "readout": {"values": [1.0, 1.0 + apart, -0.5], "fractions": [0.3, 0.3, 0.4]},
                },
                "target": {"link": "sign"},
                "fit": {"samples": 2.0, "ridge": 0.1},
                "step": [{"samples": 2.0, "learning_rate": 1.0}] * 2,
            }
        )
        errors.append(gs.solve(model).test_error)
    limit = 2.0 * errors[1] - errors[0]
    assert limit == pytest.approx(0.4641911702, abs=2e-9)  # 0.46419116935 at 1e-7 apart, 8e-10 before


@pytest.mark.parametrize("variance", [100.0, 250.0])
def test_averages_next_to_nothing_keep_their_digits(variance: float) -> None:
    """E sin(b + sqrt(c) g) He_k(g) / c^(k/2) is the k-th derivative of sin at b, times exp(-c/2)."""
    found = exact_averages("sin", variance, 1.6, 3)
    assert found is not None
    known = [f(1.6) * math.exp(-0.5 * variance) for f in (math.sin, math.cos)]
    assert found == pytest.approx([*known, -known[0], -known[1]], rel=1e-14, abs=0.0)


def test_averages_of_rounding_are_refused() -> None:
    """What 90 digits leave of exp(-822) sin was once taken for a mean feature, of the shape of its rounding."""
    assert exact_averages("sin", 1643.0, 1.6, 3) is None
    found = {
        "network": {
            "activation": "sin",
            "width": 0.2,
            "bias": 1.6,
            "readout": {"values": [1.25, 1.25], "fractions": [0.52, 0.48]},
        },
        "spike": {"strength": 1.6, "alignment": -0.2, "bulk_variance": 1643.0},
        "target": {"link": "sign"},
        "fit": {"samples": 0.2, "ridge": 1e-8, "loss": "absolute"},
    }
    with pytest.raises(NotConverged, match="cancel to rounding"):
        gs.solve(gs.Model.from_dict(found))


def test_values_that_hardly_differ_far_below_a_kink() -> None:
    """relu is zero a deviation above its bias here, which its averages were compared with."""
    network = {"activation": "relu", "width": 0.1, "bias": -1.5}
    network["readout"] = {"values": [0.87, 0.8702], "fractions": [0.65, 0.35]}
    spike, fit = {"strength": 1e-3, "alignment": 0.5, "bulk_variance": 1.0}, {"samples": 3.7, "ridge": 0.1}
    found = {"network": network, "spike": spike, "target": {"link": "quadratic"}, "fit": {**fit, "loss": "huber"}}
    assert gs.solve(gs.Model.from_dict(found)).residual < 1e-10
