"""A model of a given spike, one of a step on a trained bulk, and the checks of a certificate that fail."""

from __future__ import annotations

from giantstep.spec.model import Model
from giantstep.system.result import Result
from giantstep.verify.certificate import certificate_checks
from giantstep.verify.check import Check

SPIKED = Model.from_dict(
    {
        "network": {"activation": "tanh", "width": 1.0},
        "spike": {"strength": 1.5, "alignment": 0.8, "bulk_variance": 1.2},
        "target": {"link": "sign"},
        "fit": {"samples": 1.5, "ridge": 0.1, "loss": "logistic"},
    }
)
STEPPED = Model.from_dict(
    {
        "network": {"activation": "tanh", "width": 1.0},
        "step": {"samples": 2.0, "learning_rate": 1.0, "bulk": "trained"},
        "target": {"link": "sign", "flips": 0.1},
        "fit": {"samples": 1.5, "ridge": 0.1, "loss": "hinge"},
    }
)


def failed(result: Result) -> list[Check]:
    return [check for check in certificate_checks(result) if not check.ok]
