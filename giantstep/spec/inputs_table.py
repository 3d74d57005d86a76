"""The table [inputs] of a model: Gaussian inputs of a given covariance, and where the target lies in its eigenbasis."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from giantstep.spec.errors import BadInput
from giantstep.spec.expressions import numpy_function
from giantstep.spec.tables import Table, shown_plainly
from giantstep.spec.validate import Count, Number, Numbers, Optional

Array = np.ndarray
MAX_MODES = 4000
_MODES = 600
_ROUGH = 0.5  # capacity from which on tr Sigma^2/d grows without bound


@shown_plainly
@dataclass(frozen=True)
class Inputs(Table):
    """Inputs x = Sigma^(1/2) g, g standard normal; the link sees z = theta.g, |theta| = 1.

    The spectrum of Sigma, divided by its mean: ``eigenvalues``, each held by a share ``weights`` of the input
    dimensions (equal ones where left out); or a power law, j^-capacity for j = 1 ... modes. The target's direction has
    the coefficients ``target`` along them, or j^-source; left out, it has no preferred place.
    """

    path: ClassVar[str] = "inputs"
    eigenvalues: Annotated[
        tuple[float, ...] | None, Optional(Numbers(Number("an eigenvalue", positive=True), MAX_MODES))
    ] = None
    weights: Annotated[
        tuple[float, ...] | None,
        Optional(Numbers(Number("the share of an eigenvalue", high=1.0, positive=True), MAX_MODES)),
    ] = None
    capacity: Annotated[
        float | None, Optional(Number("the exponent of eigenvalues j^-capacity", low=0.0, high=20.0))
    ] = None
    modes: Annotated[int, Count("the number of eigenvalues of the power law", 1, MAX_MODES)] = _MODES
    target: Annotated[tuple[float, ...] | None, Optional(Numbers(Number("a coefficient of the target"), MAX_MODES))] = (
        None
    )
    source: Annotated[float | None, Optional(Number("the exponent of coefficients j^-source", low=0.0, high=20.0))] = (
        None
    )

    def check(self) -> None:
        """Raises BadInput where the spectrum is given twice or not at all, and for lists of different lengths."""
        if (self.eigenvalues is None) == (self.capacity is None):
            given = "neither" if self.capacity is None else "both"
            raise BadInput(
                f"[inputs] has {given} of eigenvalues and capacity",
                "give eigenvalues = [2.0, 0.5], or capacity = 0.4 for the power law j^-0.4",
            )
        if self.target is not None and self.source is not None:
            raise BadInput("[inputs] has both target and source", "keep the list of coefficients or the power law")
        if self.weights is not None and self.eigenvalues is None:
            raise BadInput("inputs.weights are the shares of inputs.eigenvalues, which are missing", "give both")
        for name in ("weights", "target"):
            values = getattr(self, name)
            if values is not None and len(values) != self.count:
                raise BadInput(
                    f"inputs.{name} has {len(values)} entries, and there are {self.count} eigenvalues",
                    "give one for each eigenvalue",
                )
        if self.target is not None and not any(self.target):
            raise BadInput("inputs.target is zero", "one coefficient must not be zero")
        if self.weights is not None and abs(math.fsum(self.weights) - 1.0) > 1e-9:
            raise BadInput(f"inputs.weights sum to {math.fsum(self.weights):.12g}", "they must sum to 1")

    @property
    def count(self) -> int:
        """The number of eigenvalues."""
        return self.modes if self.eigenvalues is None else len(self.eigenvalues)

    def spectrum(self) -> tuple[Array, Array, Array]:
        """(eigenvalues of mean one, weights of the trace, weights of the target), each [modes]."""
        order = np.arange(1.0, self.count + 1.0)
        weights = np.full(self.count, 1.0 / self.count) if self.weights is None else np.array(self.weights)
        weights = weights / weights.sum()
        raw = order ** -float(self.capacity or 0.0) if self.eigenvalues is None else np.array(self.eigenvalues)
        if self.target is None and self.source is None:
            along = weights
        else:
            along = (order ** -float(self.source or 0.0) if self.target is None else np.array(self.target)) ** 2
        return raw / (weights @ raw), weights, along / along.sum()

    def check_activation(self, activation: str) -> None:
        """Raises BadInput for a power law that no limit goes with: neurons are correlated beyond their linear part."""
        if self.capacity is not None and self.capacity >= _ROUGH and not _is_linear(activation):
            raise BadInput(
                f"inputs.capacity = {self.capacity!r} needs a linear activation: tr Sigma^2/d grows with the modes, "
                "and neurons are then correlated beyond the linear parts of their features",
                'give a capacity below 1/2, or network.activation = "linear"',
            )


def _is_linear(activation: str) -> bool:
    z = np.linspace(-3.0, 3.0, 13)
    values = numpy_function(activation)(z)[0]
    return bool(np.max(np.abs(np.diff(values, 2))) <= 1e-12 * np.max(np.abs(values)))
