"""Which equations a model has: the spectral law of its rows, and whether averages over label and output are closed."""

from __future__ import annotations

from typing import Literal

from giantstep.spec.model import Model, Target

BulkKind = Literal["isotropic", "penalised", "norms", "stretched", "matrix", "neurons", "inputs"]
#: The laws of rows that all have one covariance.
ONE_COVARIANCE: tuple[BulkKind, ...] = ("isotropic", "penalised", "norms")


def bulk_kind(model: Model) -> BulkKind:
    """The spectral law of the rows around the spike [THEORY sections 5 and 10].

    "penalised": isotropic rows, and a penalty on the readout. "norms": isotropic rows of unequal norms, those that are
    Gaussian at initialisation.
    "stretched": a trained bulk, which the step multiplies by a matrix and adds noise to. "matrix": rows that are given,
    by their singular values; "neurons": those of several readout values, which share no singular vectors.
    """
    if model.bulk == "matrix" and len(model.network.readout.values) > 1:
        return "neurons"
    if model.bulk == "isotropic" and model.network.initialisation == "gaussian":
        return "norms"
    if model.fit.penalty is not None:
        return "penalised"
    return "stretched" if model.bulk == "trained" else model.bulk


def kind_of_averages(model: Model) -> BulkKind:
    """The law of one covariance with the same averages over kappa."""
    kind = bulk_kind(model)
    return kind if kind in ONE_COVARIANCE else "norms"


def norms_vary(model: Model) -> bool:
    """Whether the law of the bulk has an order parameter for norms of rows that vary, by order 1/sqrt(d)."""
    return bulk_kind(model) not in ("isotropic", "penalised")


def is_closed(model: Model) -> bool:
    """Whether the averages over label and output are explicit: those of the square loss, which knows two moments of a
    label.
    """
    return model.fit.loss.key == "square" and not model.network.trains_bias and bulk_kind(model) == "isotropic"


def square_name(target: Target) -> str:
    """The solver of the square loss: of a clean label, with noise at most, or of one with moments of its own."""
    return "square_drawn" if target.drawn else "square"
