"""Sums of terms kappa^a D_k, against the sum as it is written; and models whose features need thousands of them."""

from __future__ import annotations

import math

import mpmath
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
    rounded = np.array([0.0, 0.0, 3.0, 0.0, 0.0])
    functions, sizes = series_at(series, kappa, averages, rounded)
    for i, column in enumerate(series):
        parts = [
            x * np.prod(kappa ** np.array(a), axis=1) * (1.0 if k == NUMBER else averages[k])
            for (a, k), x in column.items()
        ]
        least = np.maximum(np.abs(averages), rounded[:, None])
        size = sum(
            np.abs(x * np.prod(kappa ** np.array(a), axis=1)) * (1.0 if k == NUMBER else least[k])
            for (a, k), x in column.items()
        )
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
    """What 90 digits leave of exp(-425) sin was once taken for a mean feature, of the shape of its rounding."""
    assert exact_averages("sin", 850.0, 1.6, 3) is None
    found = {
        "network": {
            "activation": "sin",
            "width": 0.2,
            "bias": 1.6,
            "readout": {"values": [1.25, 1.25], "fractions": [0.52, 0.48]},
        },
        "spike": {"strength": 1.6, "alignment": -0.2, "bulk_variance": 850.0},
        "target": {"link": "sign"},
        "fit": {"samples": 0.2, "ridge": 1e-8},
    }
    with pytest.raises(NotConverged, match="less than 1e-176, as its activation oscillates"):
        gs.solve(gs.Model.from_dict(found))


def test_values_that_hardly_differ_far_below_a_kink() -> None:
    """relu is zero a deviation above its bias here, which its averages were compared with."""
    network = {"activation": "relu", "width": 0.1, "bias": -1.5}
    network["readout"] = {"values": [0.87, 0.8702], "fractions": [0.65, 0.35]}
    spike, fit = {"strength": 1e-3, "alignment": 0.5, "bulk_variance": 1.0}, {"samples": 3.7, "ridge": 0.1}
    found = {"network": network, "spike": spike, "target": {"link": "quadratic"}, "fit": {**fit, "loss": "huber"}}
    assert gs.solve(gs.Model.from_dict(found)).residual < 1e-10


@pytest.mark.parametrize("variance", [0.7, 1.3])
def test_averages_beside_kinks_have_many_digits(variance: float) -> None:
    """Of relu: E relu, Phi(b/sqrt(c)), and derivatives of the density of N(b, c) at zero."""
    with mpmath.workdps(60):
        b, root = mpmath.mpf("0.25"), mpmath.sqrt(mpmath.mpf(variance))
        found = exact_averages("relu", mpmath.mpf(variance), 0.25, 20)
        assert found is not None
        known = [b * mpmath.ncdf(b / root) + root * mpmath.npdf(b / root), mpmath.ncdf(b / root)]
        known += [mpmath.diff(lambda s: mpmath.npdf(s / root) / root, b, k) for k in range(6)]
        assert all(abs(x / y - 1) < mpmath.mpf(10) ** -30 for x, y in zip(found, known, strict=False))


@pytest.mark.parametrize("activation", ["tanh", "relu", "elu", "sigmoid"])
@pytest.mark.parametrize("values", [(0.0, 1.0, 2.0, -1.0), (0.0, 1e-3, 1.0, 40.0)], ids=["even", "nested"])
def test_any_nearly_equal_values_span_the_same(activation: str, values: tuple[float, ...]) -> None:
    """Features of four values span the feature and three derivatives of it in the value, wherever these are: test
    errors tend to one number as values 1 + h x approach each other. In double precision averages were known too badly
    for h = 1e-6, and refused.
    """

    def error(h: float) -> float:
        readout = {"values": [1.0 + h * x for x in values], "fractions": [0.25] * 4}
        tables = {
            "network": {"activation": activation, "width": 1.0, "readout": readout},
            "spike": {"strength": 0.3, "alignment": 0.8, "bulk_variance": 1.1},
            "target": {"link": "sign"},
            "fit": {"samples": 2.0, "ridge": 0.1},
        }
        return gs.solve(gs.Model.from_dict(tables)).test_error

    step = 1e-3 / max(values)
    coarse, fine = error(2.0 * step), error(step)
    limit = 2.0 * fine - coarse
    assert error(1e-6) == pytest.approx(limit, abs=0.2 * abs(fine - coarse))
