"""Neurons that are mirror images of each other: steps move them alike, and rounding may not tell them apart.

At infinite dimension the readout reads any difference of mean features: of loadings that are images but for 1e-16 it
made test errors that were off by a fifth. Expected numbers are those of the model with one value, which has the same
neurons up to the signs of rows and readout weights, or of a dimension at which rounding is not read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.law.mirror_images import images_of

FIT = {"samples": 4.0, "ridge": 0.05}
ONE = {"samples": 3.0, "learning_rate": 0.8}
TWO = [ONE, {"samples": 2.0, "learning_rate": 0.5}]
SAME = [{"samples": 6.0, "learning_rate": 1.0}, {"samples": 6.0, "learning_rate": 0.5, "batch": "same"}]


def model(activation: str, values: list[float], biases: list[float] | None = None, **tables: Any) -> gs.Model:
    parts = np.array([0.4, 0.6, 0.3, 0.5][: len(values)])
    readout: dict[str, Any] = {"values": values, "fractions": (parts / parts.sum()).tolist()}
    if biases is not None:
        readout["biases"] = biases
    network = {"activation": activation, "width": 2.0, "readout": readout}
    return gs.Model.from_dict({"network": network, "target": {"link": "tanh", "noise": 0.1}, "fit": FIT, **tables})


CASES: dict[str, tuple[str, tuple[list[float], ...], tuple[list[float], ...], dict[str, Any]]] = {
    "two steps": ("tanh", ([1.0, -1.0],), ([1.0],), {"step": TWO}),
    "two steps, trained bulk": ("sin", ([1.0, -1.0],), ([1.0],), {"step": [ONE, {**TWO[1], "bulk": "trained"}]}),
    "two steps on one batch": ("tanh", ([1.0, -1.0],), ([1.0],), {"step": SAME}),
    "biases of an odd activation": ("erf", ([1.0, -1.0], [0.4, -0.4]), ([1.0], [0.4]), {"step": ONE}),
    "biases of an even activation": ("abs", ([1.0, 1.0], [0.4, -0.4]), ([1.0], [0.4]), {"step": ONE}),
    "structured inputs": (
        "cos",
        ([1.0, 1.0], [0.4, -0.4]),
        ([1.0], [0.4]),
        {"step": ONE, "inputs": {"eigenvalues": [2.0, 0.5], "weights": [0.4, 0.6]}},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_images_are_one_block(name: str) -> None:
    activation, several, one, tables = CASES[name]
    found, wanted = (gs.solve(model(activation, *values, **tables)) for values in (several, one))
    assert found.test_error == pytest.approx(wanted.test_error, rel=1e-11)
    assert found.train_error == pytest.approx(wanted.train_error, rel=1e-11)
    assert np.abs(found.order_parameters["m"]).max() < 1e3


def test_rows_that_are_their_own_images_have_no_mean() -> None:
    """Loadings of an even activation vanish; what rounding left of them was read as a spike."""
    given = model("quadratic", [1.0, -0.5], step=SAME, target={"link": "z + He(2,z)/2"})
    found = gs.solve(given)
    assert not np.any(found.steps[-1].loadings)
    assert found.test_error == pytest.approx(gs.solve(given, dimension=10**7).test_error, rel=1e-11)


def test_who_is_whose_image() -> None:
    def images(*given: Any) -> tuple[list[int], list[float]]:
        found = images_of(model(*given, step=ONE).network)
        return found.first.tolist(), found.sign.tolist()

    assert images("tanh", [1.0, -1.0, 1.0], [0.4, -0.4, -0.4]) == ([0, 0, 2], [1.0, -1.0, 1.0])
    assert images("abs", [1.0, 1.0, -1.0], [0.4, -0.4, -0.4]) == ([0, 0, 2], [1.0, -1.0, 1.0])
    assert images("cos", [1.0, 2.0, 1.0], [0.0, 0.3, 0.0]) == ([0, 1, 0], [0.0, 1.0, 0.0])
    assert images("relu", [1.0, -1.0, 1.0], [0.4, -0.4, 0.4]) == ([0, 1, 0], [1.0, 1.0, 1.0])


@pytest.mark.parametrize("activation", ["tanh(z)+0.3", "sigmoid"])
def test_images_up_to_a_constant(activation: str) -> None:
    """Of four mean features f, c - f, g and c - g three are independent: rounding made a fourth, with m of 1e18."""
    given = model(activation, [1.0, -1.0, 0.5, -0.5], [0.3, -0.3, 0.2, -0.2], step={**ONE, "learning_rate": 1.5})
    found, large = gs.solve(given), gs.solve(given, dimension=10**12)
    assert np.abs(found.order_parameters["m"]).max() < 1e4
    assert found.test_error == pytest.approx(large.test_error, rel=1e-7)


def test_features_that_depend_on_each_other_otherwise() -> None:
    """z + cos(z) at values 1, -1, 2 and -2: z, cos(r z) and cos(2 r z) are all that four mean features are made of.

    With bulk variances of their own: averages of high order that were left out made a fourth, of 1e-35.
    """
    readout = {"values": [1.0, -1.0, 2.0, -2.0], "fractions": [0.17, 0.28, 0.3, 0.25]}
    given = gs.Model.from_dict(
        {
            "network": {"activation": "z+cos(z)", "width": 2.13, "readout": readout},
            "target": {"link": "relu", "noise": 0.1},
            "fit": {"samples": 1.88, "ridge": 0.016},
            "step": {"samples": 1.13, "learning_rate": 0.34},
        }
    )
    found = gs.solve(given)
    assert np.abs(found.order_parameters["m"]).max() < 1e2
    assert found.test_error == pytest.approx(gs.solve(given, dimension=10**12).test_error, rel=1e-8)


@pytest.mark.parametrize(
    ("activation", "values", "biases", "spike"),
    [
        ("(1+tanh(2*z))/2", [1.0, -1.0, 0.5, -0.5, 0.25], [0.3, -0.3, 0.2, -0.2, 0.1], (0.28, 0.36, 1.6)),
        # bulk variances that are far apart: a rest of 4e-57 of averages of high order was told as one more
        ("Phi(z)", [1.0, -1.0, 0.5, -0.5], [-0.4, 0.4, 0.2, -0.2], (0.2954, 0.5, 2.644226211274419)),
    ],
)
def test_images_up_to_a_constant_around_a_spike(
    activation: str, values: list[float], biases: list[float], spike: tuple[float, float, float]
) -> None:
    """Two pairs of images, of which three mean features are independent; what is left of the fourth is rounding.

    The correction of finite size, crossover/d of the free energy, is what a large dimension differs by.
    """
    readout = {"values": values, "fractions": [1.0 / len(values)] * len(values), "biases": biases}
    given = gs.Model.from_dict(
        {
            "network": {"activation": activation, "width": 2.0, "readout": readout},
            "target": {"link": "z + He(2,z)/2", "noise": 0.1},
            "fit": {"samples": 2.5, "ridge": 0.1},
            "spike": dict(zip(("strength", "alignment", "bulk_variance"), spike, strict=True)),
        }
    )
    found, large = gs.solve(given), gs.solve(given, dimension=10**12)
    assert found.crossover_dimension is not None and found.crossover_dimension < 1e9
    assert found.test_error == pytest.approx(large.test_error, rel=3.0 * found.crossover_dimension / 1e12)


def test_nearly_images_differ_by_what_the_steps_make_of_it() -> None:
    """Values that are opposite to 1e-9 and to 0.02 have test errors that differ as the values do."""

    def error(gap: float) -> float:
        step = [{**step, "learning_rate": 0.05} for step in TWO]
        return gs.solve(model("tanh", [1.0, -1.0 - gap], step=step)).test_error

    assert error(1e-9) == pytest.approx(2.0 * error(0.02) - error(0.04), abs=0.1 * abs(error(0.04) - error(0.02)))
