"""Models as dictionaries, what each of their fields may be, and how a refusal is read."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from giantstep.spec.errors import BadInput
from giantstep.spec.model import Model

STEP: dict[str, Any] = {
    "network": {
        "activation": "tanh",
        "width": 1.0,
        "readout": {"values": [1.0, -1.0], "fractions": [0.25, 0.75]},
        "bias": 0.5,
        "initialisation": "gaussian",
    },
    "step": {"samples": 0.5, "learning_rate": 1.0, "bulk": "isotropic", "exponent": 0.5, "batch": "fresh"},
    "target": {"link": "sign", "noise": 0.1, "flips": 0.1, "probit": 0.5},
    "fit": {"samples": 2.0, "ridge": 0.05, "loss": "square"},
}
SPIKE: dict[str, Any] = {
    **{name: STEP[name] for name in ("network", "target", "fit")},
    "spike": {"strength": 1.5, "alignment": 0.8, "bulk_variance": 1.2},
}
INPUTS: dict[str, Any] = {**STEP, "inputs": {"capacity": 0.3, "modes": 20, "source": 0.5}}
PLAIN: dict[str, Any] = {
    "network": {"activation": "relu", "width": 2.0},
    "target": {"link": "z**2"},
    "fit": {"samples": 1.0, "ridge": 0.1},
}

SIGNS: dict[str, Any] = {
    "network": {"activation": "tanh", "width": 1.0},
    "target": {"link": "sign"},
    "fit": {"samples": 2.0, "ridge": 0.05, "loss": "logistic"},
}

# What each number may be: (smallest, largest), as the specification has it.
POSITIVE, NOT_NEGATIVE, ANY = (1e-12, 1e12), (0.0, 1e12), (-1e12, 1e12)
NUMBERS: dict[str, tuple[float, float]] = {
    "network.width": POSITIVE,
    "network.bias": ANY,
    "step.samples": POSITIVE,
    "step.learning_rate": NOT_NEGATIVE,
    "step.exponent": (1e-12, 0.5),
    "spike.strength": NOT_NEGATIVE,
    "spike.alignment": (-1.0, 1.0),
    "spike.bulk_variance": POSITIVE,
    "target.noise": NOT_NEGATIVE,
    "target.flips": (0.0, 0.5),
    "target.probit": NOT_NEGATIVE,
    "fit.samples": POSITIVE,
    "fit.ridge": POSITIVE,
}
EXPRESSIONS = ("network.activation", "target.link")
CHOICES = {"step.bulk": "isotropic", "step.batch": "fresh", "network.initialisation": "sphere"}
FILES = ("step.matrix", "inputs.file")  # tests/law/test_given_bulk.py, test_covariance_file.py
LOSSES = ("fit.loss", "fit.loss.delta", "fit.loss.tau", "fit.loss.epsilon", "fit.loss.trials")
LISTS = ("network.readout.values", "network.readout.fractions")
MATRICES = ("spike.loadings",)  # tests/spec/test_rank.py
MAY_BE_LEFT_OUT = (  # tests/law: test_structured_inputs.py, test_continuous_readout.py, test_biases_of_blocks.py
    *("network.readout.density", "network.readout.biases", "metrics"),  # tests/observe/test_metrics.py
    *("fit.penalty", "fit.penalty.l1", "fit.penalty.bound", "fit.penalty.steepness"),  # tests/spec/test_fit_penalty.py
    *("target.channel", "target.channel.trials"),  # tests/spec/test_target_channel.py
    *("inputs.eigenvalues", "inputs.weights", "inputs.capacity", "inputs.modes", "inputs.target", "inputs.source"),
)
TABLES = ("network", "network.readout", "step", "spike", "inputs", "target", "fit")
REQUIRED = (
    *("network.activation", "network.width", "step.samples", "step.learning_rate", "spike.strength"),
    *("spike.alignment", "spike.bulk_variance", "target.link", "fit.samples", "fit.ridge"),
)


def put(key: str, value: object, base: dict[str, Any] | None = None) -> dict[str, Any]:
    """The dictionary of a full model with one value changed."""
    own = {"spike": SPIKE, "inputs": INPUTS}
    data = copy.deepcopy(base or own.get(key.partition(".")[0], STEP))
    if key.startswith("fit.loss."):
        data["fit"]["loss"] = {"name": "square"}
    if key.startswith("fit.penalty."):
        data["fit"]["penalty"] = {"name": "box" if key.endswith(("bound", "steepness")) else "elastic_net"}
    if key.startswith("target.channel."):
        data["target"] |= {"channel": {"name": "binomial"}, "flips": 0.0}
    if key == "target.link":  # flips are for labels +-1
        data["target"]["flips"] = 0.0
    *tables, last = key.split(".")
    inner = data
    for table in tables:
        inner = inner[table]
    inner[last] = value
    return data


def refused(data: object) -> str:
    with pytest.raises(BadInput) as caught:
        Model.from_dict(data)  # type: ignore[arg-type]
    text = str(caught.value)
    assert text.isascii() and text.isprintable() and len(text) < 800
    assert caught.value.exit_code == 2
    return text


def attribute(model: Model, key: str) -> Any:
    value: Any = model
    for name in key.split("."):
        value = getattr(value, name)
    return value
