"""A dozen small models that differ in every way that a model can: the rows of the table of verbs and models."""

from __future__ import annotations

from typing import Any

from giantstep.spec.model import Model

STEP: dict[str, Any] = {"samples": 2.0, "learning_rate": 1.0}
STRONG: dict[str, Any] = {"samples": 2.0, "learning_rate": 3.0}
TWO: dict[str, Any] = {"values": [1.0, -0.5], "fractions": [0.5, 0.5]}
ALIKE: dict[str, Any] = {"values": [1.0, 1.0], "fractions": [0.4, 0.6]}
RANK_2: dict[str, Any] = {
    "strength": 1.2,
    "loadings": [[1.0, 0.3], [-0.2, 0.8]],
    "alignment": [0.6, 0.5],
    "bulk_variance": 1.3,
}
RANK_3: dict[str, Any] = {
    "strength": 0.9,
    "loadings": [[1.0, 0.3, 0.0], [-0.2, 0.8, 0.1], [0.2, 0.1, 0.7]],
    "alignment": [0.5, 0.5, 0.3],
    "bulk_variance": 1.3,
}
SMOOTH = "tanh(2*z) + 0.3*z**2"


def _model(activation: str, link: str, loss: str = "square", **tables: Any) -> Model:
    network = {"activation": activation, "width": 0.8, **tables.pop("network", {})}
    target = {"link": link, **tables.pop("target", {})}
    fit = {"samples": 1.7, "ridge": 0.1, "loss": loss}
    return Model.from_dict({"network": network, "target": target, "fit": fit} | tables)


def every_model(matrix: str, of_two: str) -> dict[str, Model]:
    """Name -> model; ``matrix``: the file of a given bulk, of width 0.8; ``of_two``: of one for a target of two
    indices.
    """
    three = {"values": [1.0, 1.0, 1.0], "fractions": [0.3, 0.3, 0.4]}
    several = {**RANK_2, "alignment": [[0.6, 0.1], [0.2, 0.5]]}
    of_three = {**RANK_3, "alignment": [[0.6, 0.1], [0.2, 0.5], [0.1, 0.3]]}
    trained = {**STEP, "bulk": "trained"}
    bias = {"bias": "trained"}
    lumps = {"eigenvalues": [2.0, 0.2], "weights": [0.3, 0.7], "target": [1.0, 0.5]}
    crossed = {**lumps, "target": [[1.0, 0.5], [0.5, -1.0]]}
    return {
        "random features": _model("tanh", "tanh"),
        "step, noise": _model("tanh", "tanh", target={"noise": 0.1}, step=STEP),
        "two blocks": _model("relu", "relu", network={"readout": TWO}, step=STEP),
        "two indices": _model("erf", "z1 + z1*z2", step=STEP),
        "two steps": _model("tanh", "tanh", target={"noise": 0.1}, step=[STEP, STEP]),
        "two steps, two blocks": _model("relu", "tanh(2*z)", network={"readout": TWO}, step=[STRONG, STRONG]),
        "trained bias": _model("relu", SMOOTH, network=bias, step=STEP),
        "rank 2": _model("erf", "tanh", network={"readout": ALIKE}, spike=RANK_2),
        "rank 2, logistic": _model("erf", "sign", "logistic", network={"readout": ALIKE}, spike=RANK_2),
        "rank 2, two indices": _model("erf", "z1 + z1*z2", network={"readout": ALIKE}, spike=several),
        "rank 2, trained bias": _model("relu", SMOOTH, network={"readout": ALIKE, **bias}, spike=RANK_2),
        "rank 3": _model("erf", "tanh", network={"readout": three}, spike=RANK_3),
        "rank 3, two indices": _model("erf", "z1 + z1*z2", network={"readout": three}, spike=of_three),
        "trained bulk": _model("tanh", "tanh", target={"noise": 0.1}, step=trained),
        "trained bulk, two indices": _model("gelu", "z1 + z1*z2", step=trained),
        "trained bulk, logistic": _model("tanh", "sign", "logistic", network={"readout": TWO}, step=trained),
        "trained bulk, stretched blocks": _model("relu", SMOOTH, network={"readout": TWO}, step=trained),
        "trained bulk, trained bias": _model("tanh", SMOOTH, network=bias, step=trained),
        "given bulk": _model("tanh", "tanh", step={**STEP, "bulk": "matrix", "matrix": matrix}),
        "given bulk, two indices": _model("erf", "z1 + z1*z2", step={**STEP, "bulk": "matrix", "matrix": of_two}),
        "given bulk, two values": _model(
            "relu",
            "tanh",
            network={"readout": TWO},
            target={"noise": 0.5},  # single matrices are off by up to ten 1/d of the error without noise
            step={**STEP, "bulk": "matrix", "matrix": matrix},
        ),
        "structured inputs": _model("tanh", "tanh", target={"noise": 0.1}, inputs=lumps),
        "structured inputs, step": _model("relu", "relu", network={"readout": TWO}, step=STEP, inputs=lumps),
        "structured inputs, two steps": _model("tanh", "tanh", target={"noise": 0.1}, step=[STEP, STEP], inputs=lumps),
        "structured inputs, two indices": _model("erf", "z1 + z1*z2", step=STEP, inputs=crossed),
        "structured inputs, rank 2": _model("erf", "tanh", network={"readout": ALIKE}, spike=RANK_2, inputs=lumps),
        "exponent": _model("tanh", SMOOTH, network={"readout": TWO}, step={**STEP, "exponent": 0.3}),
        "exponent, two indices": _model("erf", "z1 + z1*z2", step={**STEP, "exponent": 0.2}),
    }


NAMES = tuple(every_model("bulk.npz", "bulk_of_two.npz"))
