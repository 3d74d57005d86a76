"""Means of features with kinks between curved pieces, to many digits: against closed forms."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

from derive.language.catalogue import lookup
from derive.language.grammar import parse
from giantstep.spec.kernels import function_kernel
from giantstep.spec.model import Model
from giantstep.system.exact_panels import Panels
from giantstep.system.solve import solve

BITS = 160
SHIFTS = [mpmath.mpf(x) for x in (-9.1, -1.3, 0.0, 0.2, 7.7)]


def elu(s: Any, c: Any) -> Any:
    x = s / mpmath.sqrt(c)
    positive = s * mpmath.ncdf(x) + mpmath.sqrt(c) * mpmath.npdf(x)
    return positive + mpmath.exp(s + c / 2) * mpmath.ncdf(-x - mpmath.sqrt(c)) - mpmath.ncdf(-x)


def square(s: Any, c: Any) -> Any:
    x = s / mpmath.sqrt(c)
    return (s * s + c) * mpmath.ncdf(x) + s * mpmath.sqrt(c) * mpmath.npdf(x)


MEANS = {
    "elu": elu,
    "relu(z)**2": square,
    "relu(z-1/4)**2": lambda s, c: square(s - mpmath.mpf(1) / 4, c),  # the kink is inside a panel
}


@pytest.mark.parametrize("variance", [0.07, 1.3, 6.0])
@pytest.mark.parametrize("activation", MEANS)
def test_means_are_those_of_closed_forms(activation: str, variance: float) -> None:
    """To 30 of 48 digits at least, beside one: what two rules may differ by."""
    node, breaks = parse(lookup(activation).expression), function_kernel(activation).BREAKPOINTS
    with mpmath.workprec(BITS + 20):
        c = mpmath.mpf(variance)
        found = Panels(node, tuple(breaks), BITS).means(SHIFTS, c)
        assert found is not None
        for s, mean in zip(SHIFTS, found, strict=True):
            right = MEANS[activation](s, c)
            assert abs(mean - right) < mpmath.mpf(2) ** (42 - BITS) * max(1, abs(right))


def test_kinks_at_rounded_places_have_no_such_means() -> None:
    node, breaks = parse(lookup("relu(z-1/3)**2").expression), function_kernel("relu(z-1/3)**2").BREAKPOINTS
    assert Panels(node, tuple(breaks), BITS).means(SHIFTS, mpmath.mpf(1)) is None


@pytest.mark.parametrize("activation", ["elu", "relu(z)**2"])
def test_nearly_equal_biases_of_curved_kinks_are_told_apart(activation: str) -> None:
    """They were refused. The test error is smooth in what they are apart by: its slope at none is that nearby."""

    def error(apart: float) -> float:
        readout = {"values": [1.0, 1.0, 1.0], "biases": [0.3, 0.3 + apart, 0.3 - 2.0 * apart]}
        model = {
            "network": {"activation": activation, "width": 0.7, "readout": readout},
            "spike": {"strength": 1.3, "alignment": 0.7, "bulk_variance": 1.2},
            "target": {"link": "tanh(2*z)", "noise": 0.1},
            "fit": {"samples": 2.0, "ridge": 0.01},
        }
        return solve(Model.from_dict(model)).test_error

    none, near, far = (error(apart) for apart in (1e-9, 1e-3, 1e-2))
    slopes = np.array([near - none, far - none]) / [1e-3, 1e-2]
    assert abs(slopes[0] - slopes[1]) < 0.2 * abs(slopes[0])  # 1e-2 times curvature over slope


def test_a_mean_of_rounded_constants_counts_as_none() -> None:
    """selu has no mean at a variance of one, but for 1.7e-17 of its constants, which a value of zero was read by: 1.088
    for 2.082, as large dimensions have it. Values that vanish have a limit.
    """

    def model(value: float) -> Model:
        return Model.from_dict(
            {
                "network": {"activation": "selu", "width": 0.8, "readout": {"values": [1.0, value]}},
                "spike": {"strength": 1.5, "alignment": 0.8, "bulk_variance": 1.0},
                "target": {"link": "z+He(2,z)/2+He(3,z)/5+1"},
                "fit": {"samples": 2.0, "ridge": 0.1},
            }
        )

    without = solve(model(0.0)).test_error
    assert without == pytest.approx(solve(model(0.0), dimension=10**8).test_error, rel=1e-8)
    assert solve(model(1e-16)).test_error == pytest.approx(solve(model(1e-9)).test_error, rel=1e-8)


@pytest.mark.parametrize("activation", ["selu", "cos(z)-0.6065306597126334", "z**2/3-0.3333333333333333"])
def test_a_mean_that_is_none_is_so_however_variances_are_told(activation: str) -> None:
    """At a variance of one for a value of zero, beside another of 1.2, by one number or by a list."""
    errors = [
        solve(
            Model.from_dict(
                {
                    "network": {"activation": activation, "width": 0.8, "readout": {"values": [1.0, 0.0]}},
                    "spike": {"strength": 1.5, "alignment": 0.8, "bulk_variance": told},
                    "target": {"link": "z+He(2,z)/2+He(3,z)/5+1"},
                    "fit": {"samples": 2.0, "ridge": 0.1},
                }
            )
        ).test_error
        for told in (1.2, [1.2, 1.0])
    ]
    assert errors[0] == pytest.approx(errors[1], rel=1e-12, abs=0.0)


def test_a_mean_that_is_none_after_a_step_is_none_in_large_dimensions() -> None:
    model = Model.from_dict(
        {
            "network": {"activation": "selu", "width": 0.8, "readout": {"values": [1.0, 0.5, 0.0]}},
            "step": {"samples": 2.0, "learning_rate": 0.7},
            "target": {"link": "z+He(2,z)/2+He(3,z)/5+1"},
            "fit": {"samples": 2.0, "ridge": 0.1},
        }
    )
    assert solve(model).test_error == pytest.approx(solve(model, dimension=10**12).test_error, rel=1e-9, abs=0.0)


def test_variances_that_are_listed_are_what_is_given() -> None:
    """Three biases, two of them 1e-13 apart: the third direction is 1e-16 of the features, and counts. The number is
    from another solver in 60 digits.
    """
    gap, listed = 2.0**-42, ("0x1.e095c6b9ab287p+0", "0x1.e095c6b9abe6cp+0", "0x1.e0b2edfdfa125p+0")
    model = Model.from_dict(
        {
            "network": {
                "activation": "relu(z+1/2)**2",
                "width": 0.8,
                "readout": {"values": [0.5, 0.5 + gap, 0.5], "biases": [0.25, 0.25 + gap / 2.0, 0.25 + 2.0**-10]},
            },
            "spike": {
                "strength": 1.8461182507961578,
                "alignment": 0.7235881858416574,
                "bulk_variance": [float.fromhex(c) for c in listed],
            },
            "target": {"link": "z+He(2,z)/2+He(3,z)/5+1"},
            "fit": {"samples": 2.0, "ridge": 0.1},
        }
    )
    assert solve(model).test_error == pytest.approx(1.27733781377707, rel=1e-11, abs=0.0)


def test_values_of_zero_have_one_mean_feature_together() -> None:
    """After a step neurons of no readout have constant means, one function, however close their biases are."""
    errors = []
    for gap in (2.0**-16, 2.0**-20):
        readout = {"values": [1.0, 0.0, 0.0, 0.0], "biases": [0.0, -gap, 0.0, gap]}
        model = Model.from_dict(
            {
                "network": {"activation": "relu", "width": 0.8, "readout": readout},
                "step": {"samples": 2.0, "learning_rate": 0.7},
                "target": {"link": "z+He(2,z)/2+He(3,z)/5+1"},
                "fit": {"samples": 2.0, "ridge": 0.1},
            }
        )
        errors.append(solve(model).test_error)
    assert errors[0] == pytest.approx(errors[1], rel=1e-7)


def test_rows_of_two_directions_are_no_loadings_of_one() -> None:
    """At a strength of one a row may begin with the readout value, as a loading along one direction is."""
    given = {
        "network": {"activation": "erf(z)", "width": 0.8, "readout": {"values": [1.0, 1.0]}},
        "spike": {
            "strength": 1.0,
            "alignment": [0.6, 0.5],
            "bulk_variance": [1.2, 1.2],
            "loadings": [[1.0, 0.3], [1.000001, 0.299999]],
        },
        "target": {"link": "z+He(2,z)/2+1"},
        "fit": {"samples": 2.0, "ridge": 0.1},
    }
    near = solve(Model.from_dict(given)).test_error
    given["spike"]["loadings"][1] = [1.0001, 0.2999]
    assert near == pytest.approx(solve(Model.from_dict(given)).test_error, rel=1e-3)


def test_every_function_of_the_language_has_many_digits() -> None:
    """Three values that hardly differ, of a function in two notations: logarithms and roots are known by themselves."""
    readout = {"values": [0.892, 0.892 + 5.5e-8, 0.892 + 2.4e-6], "fractions": [0.4, 0.3, 0.3]}
    data = {
        "network": {"width": 1.9, "readout": readout},
        "target": {"link": "step"},
        "fit": {"samples": 4.3, "ridge": 0.25},
        "spike": {"strength": 0.31, "alignment": -1.0, "bulk_variance": 1.0},
    }
    errors = []
    for written in ("log(1+exp(2*z))-sqrt(z**2)", "softplus(2*z)-abs(z)"):
        found = solve(Model.from_dict({**data, "network": {**data["network"], "activation": written}}))
        errors.append((found.test_error, found.train_error))
    assert errors[0] == pytest.approx(errors[1], rel=1e-9)
