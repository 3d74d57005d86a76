"""How solutions move with samples and ridge: held against the difference of two solutions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.spec.model import Model
from giantstep.system.onward import order_rates
from giantstep.system.solve import solve_and_keep

MODEL = Model.from_dict(
    {
        "network": {
            "activation": "tanh",
            "width": 0.5,
            "readout": {"values": [1.0, -1.0, 0.4], "fractions": [0.3, 0.5, 0.2]},
        },
        "spike": {"strength": 1.2, "alignment": 0.8, "bulk_variance": 1.3},
        "target": {"link": "sign"},
        "fit": {"samples": 2.0, "ridge": 0.1, "loss": "logistic"},
    }
)
_APART = 1e-3


@pytest.mark.parametrize("key", ["fit.samples", "fit.ridge"])
@pytest.mark.parametrize(
    ("changes", "dimension"),
    [({}, None), ({}, 1000), ({"fit.loss": "huber", "target.link": "tanh(2*z)", "target.noise": 0.1}, None)],
)
def test_rates_are_those_of_solutions(key: str, changes: dict[str, Any], dimension: int | None) -> None:
    model = MODEL.replace(changes)
    result, found = solve_and_keep(model, dimension, 1e-10)
    rates = order_rates(result, found, key)
    assert rates is not None and rates.keys() == result.order_parameters.keys()
    number = model.number_at(key)
    two = [gs.solve(model.replace({key: number * np.exp(h)}), dimension=dimension) for h in (_APART, -_APART)]
    for name, values in result.order_parameters.items():
        rate = (two[0].order_parameters[name] - two[1].order_parameters[name]) / (2.0 * _APART)
        # differences miss a sixth of the square of _APART, times third derivatives of a few times the size
        assert rates[name] == pytest.approx(rate, rel=1e-5, abs=1e-5 * np.max(np.abs(values)))


@pytest.mark.parametrize(
    ("key", "changes"),
    [
        ("network.width", {}),
        ("fit.ridge", {"network.bias": "trained", "network.readout": {"values": [1.0]}}),
        ("fit.ridge", {"fit.loss": "square"}),
        ("fit.ridge", {"fit.penalty": {"name": "elastic_net", "l1": 0.1}}),
    ],
)
def test_others_have_none(key: str, changes: dict[str, Any]) -> None:
    result, found = solve_and_keep(MODEL.replace(changes), None, 1e-10)
    assert order_rates(result, found, key) is None
