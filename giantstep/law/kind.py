"""Which equations a model has: the spectral law of its rows, and whether averages over label and output are closed."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from giantstep.spec.model import Model

BulkKind = Literal["isotropic", "norms", "stretched", "matrix", "neurons", "inputs"]


def bulk_kind(model: Model) -> BulkKind:
    """The spectral law of the rows around the spike [THEORY sections 5 and 10].

    "norms": isotropic rows of unequal norms, those that are Gaussian at initialisation.
    "stretched": a trained bulk, which the step multiplies by a matrix and adds noise to. "matrix": rows that are given,
    by their singular values; "neurons": those of several readout values, which share no singular vectors.
    """
    if model.bulk == "matrix" and len(model.network.readout.values) > 1:
        return "neurons"
    if model.bulk == "isotropic" and model.network.initialisation == "gaussian":
        return "norms"
    return "stretched" if model.bulk == "trained" else model.bulk


def norms_vary(model: Model) -> bool:
    """Whether the law of the bulk has an order parameter for norms of rows that vary, by order 1/sqrt(d)."""
    return bulk_kind(model) != "isotropic"


def is_closed(model: Model) -> bool:
    """Whether the averages over label and output are explicit: the square loss of a clean link of one index."""
    target = model.target
    plain = target.indices == 1 and replace(target, noise=0.0).deterministic
    fixed = not model.network.trains_bias and bulk_kind(model) == "isotropic"
    return model.fit.loss.key == "square" and plain and fixed
