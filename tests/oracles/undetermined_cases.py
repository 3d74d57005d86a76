"""Models whose equations leave directions undetermined, or nearly so; as a script, prints their numbers as JSON."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
from numpy.polynomial.hermite_e import hermegauss

import giantstep as gs
from giantstep.observe.bounds import bounds
from giantstep.observe.gradient.gradient import gradient

STEP = {"samples": 4.0, "learning_rate": 1.0}


def model(activation: str, values: tuple[float, ...], fractions: tuple[float, ...] = (), **changes: Any) -> gs.Model:
    """A model with these readout values; equal fractions by default."""
    shares = list(fractions or [1.0 / len(values)] * len(values))
    data = {
        "network": {
            "activation": activation,
            "width": 1.0,
            "readout": {"values": list(values), "fractions": shares},
        },
        "spike": {"strength": 1.5, "alignment": 0.8, "bulk_variance": 1.2},
        "target": {"link": "sign"},
        "fit": {"samples": 2.0, "ridge": 0.1},
    }
    return gs.Model.from_dict(data).replace({key.replace("__", "."): value for key, value in changes.items()})


def readout(values: list[float] | tuple[float, ...], **changes: object) -> gs.Model:
    """erf, whose features have a closed form, with readout values of equal fractions."""
    fractions = [1.0 / len(values)] * len(values)
    return model("erf", (1.0,), **{"network__readout": {"values": list(values), "fractions": fractions}, **changes})


def gaussian_values(count: int) -> gs.Model:
    """Readout values of a Gaussian density, as the nodes of its quadrature  [THEORY section 13]."""
    values, weights = hermegauss(count)
    shares = tuple((weights / weights.sum()).tolist())
    return model("tanh", tuple(values.tolist()), shares, spike=None, step=STEP)


def cases() -> dict[str, gs.Model]:
    """Opposite, dependent and nearly dependent blocks, vanishing features; every kind of loss, two bulks."""
    trained = {"spike": None, "step": {**STEP, "bulk": "trained"}, "target__noise": 0.1}
    regression = {"target__link": "tanh", "target__noise": 0.1, "fit__loss": "huber"}
    return {
        "odd, 1 -1": model("tanh", (1.0, -1.0)),
        "odd, 2 -2": model("tanh", (2.0, -2.0)),
        "odd, 1 -1 2 -2": model("tanh", (1.0, -1.0, 2.0, -2.0)),
        "odd, 1 -1 .3, step": model("tanh", (1.0, -1.0, 0.3), (0.3, 0.3, 0.4), spike=None, step=STEP),
        "even, 1 -1": model("abs", (1.0, -1.0), target__link="quadratic"),
        "dependent": model("relu", (1.0, -1.0, 2.0, -2.0)),
        "linear": model("linear", (1.0, 2.0, -0.3)),
        "cubic": model("cubic", (1.0, 2.0, 3.0, -0.5), target__link="tanh"),
        "close": model("tanh", (1.0, 1.000001)),
        "Gaussian": gaussian_values(13),
        "vanishing": model("tanh", (1.0,), spike=None),
        "logistic, 1 -1": model("tanh", (1.0, -1.0), fit__loss="logistic"),
        "logistic, dependent": model("relu", (1.0, -1.0, 2.0, -2.0), fit__loss="logistic"),
        "logistic, vanishing": model("tanh", (1.0,), spike=None, fit__loss="logistic"),
        "huber, even": model("abs", (1.0, -1.0), **regression),
        "huber, linear": model("linear", (1.0, 2.0, -0.3), **regression),
        "trained, 1 -1": model("tanh", (1.0, -1.0), **trained),
        "trained, 1 .3": model("tanh", (1.0, 0.3), **trained),
        "trained, linear": model("linear", (1.0, 2.0), **trained),
    }


def numbers(found: gs.Model) -> dict[str, list[float]]:
    """What is reported of a model: errors, order parameters, derivatives in the ridge, bounds, by family."""
    result = gs.solve(found)
    told = {"errors": [result.test_error, result.train_error, result.free_energy]}
    told |= {name: np.ravel(values).tolist() for name, values in result.order_parameters.items()}
    if found.step is None or found.step.bulk == "isotropic":
        slopes = gradient(found, ["fit.ridge", "network.width"])
        told["slopes"] = [
            *slopes.test_error.values(),
            *slopes.train_error.values(),
            *slopes.free_energy.values(),
        ]
    if found.fit.loss.form != "margin":
        low = bounds(found, optimise=False)
        told["bounds"] = [low.lower.value, low.upper.value]
    return told


if __name__ == "__main__":
    json.dump({name: numbers(found) for name, found in cases().items()}, sys.stdout)
