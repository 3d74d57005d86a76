"""Which equations a model has: the spectral law of its rows, and whether averages over label and output are closed."""

from __future__ import annotations

from typing import Literal

from giantstep.spec.model import Model

BulkKind = Literal["isotropic", "trained", "stretched", "matrix", "neurons", "inputs"]


def bulk_kind(model: Model) -> BulkKind:
    """The spectral law of the rows around the spike [THEORY sections 5 and 10].

    "stretched": a trained bulk that the step multiplies by a matrix, or of a target of several indices; "trained": of
    other steps. "matrix": rows that are given, by their singular values; "neurons": those of several readout values,
    which share no singular vectors.
    """
    if model.bulk == "matrix" and len(model.network.readout.values) > 1:
        return "neurons"
    if model.bulk != "trained":
        return model.bulk
    from giantstep.law.stretched_bulk import stretches  # most models start sooner without

    return "stretched" if model.target.indices > 1 or stretches(model) else "trained"


def is_closed(model: Model) -> bool:
    """Whether the averages over label and output are explicit: the square loss of a clean link of one index."""
    target = model.target
    plain = target.indices == 1 and target.flips == 0.0 and target.probit == 0.0
    return model.fit.loss.key == "square" and plain and not model.network.trains_bias and model.bulk == "isotropic"
