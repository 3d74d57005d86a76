"""The table [inputs] of a model: Gaussian inputs of a given covariance, and where the target lies in its eigenbasis."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, ClassVar

import numpy as np

from derive.language.links import MAX_INDICES
from giantstep.spec.covariance_file import eigenvalues_of
from giantstep.spec.errors import BadInput
from giantstep.spec.expressions import is_linear
from giantstep.spec.matrix import Matrix, NumbersOrMatrix, Rows
from giantstep.spec.tables import Table, shown_plainly
from giantstep.spec.validate import Count, FileName, Number, Numbers, Optional

Array = np.ndarray
MAX_MODES = 4000
_MODES = 600
_COEFFICIENT = Number("a coefficient of the target")
_TARGET = NumbersOrMatrix(Numbers(_COEFFICIENT, MAX_MODES), Matrix(_COEFFICIENT, MAX_INDICES, MAX_MODES))
_ORTHOGONAL = 1e-9  # products of unit vectors that were written down as orthogonal
_ROUGH = 0.5  # capacity from which on tr Sigma^2/d grows without bound


@shown_plainly
@dataclass(frozen=True)
class Inputs(Table):
    """Inputs x = Sigma^(1/2) g, g standard normal; the link sees z_i = theta_i.g of orthonormal theta_i.

    The spectrum of Sigma, divided by its mean: ``eigenvalues``, each held by a share ``weights`` of the input
    dimensions (equal ones where left out); or those of the ``file``, which has a list of them, or the covariance matrix
    (the largest first); or a power law, j^-capacity for j = 1 ... modes. The target's direction has the coefficients
    ``target`` along them, or j^-source; left out, it has no preferred place.

    Of several indices ``target`` is a list of one row for each, which are orthogonal to each other: coefficients along
    one eigenvector of each eigenvalue, which may be given several times. One list, or ``source``, is for all of them:
    they are spread alike, and orthogonal within each eigenspace.
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
    file: Annotated[str | None, FileName(".npy")] = None
    modes: Annotated[int, Count("the number of eigenvalues of the power law", 1, MAX_MODES)] = _MODES
    target: Annotated[tuple[float, ...] | Rows | None, Optional(_TARGET)] = None
    source: Annotated[float | None, Optional(Number("the exponent of coefficients j^-source", low=0.0, high=20.0))] = (
        None
    )

    def check(self) -> None:
        """Raises BadInput where the spectrum is given twice or not at all, and for lists of different lengths."""
        given = [name for name in ("eigenvalues", "capacity", "file") if getattr(self, name) is not None]
        if len(given) != 1:
            words = "both of eigenvalues and capacity" if given == ["eigenvalues", "capacity"] else " and ".join(given)
            raise BadInput(
                f"[inputs] has {words or 'neither of eigenvalues and capacity'}",
                'give one of eigenvalues = [2.0, 0.5], file = "covariance.npy", and capacity = 0.4 for the power law '
                "j^-0.4",
            )
        if self.target is not None and self.source is not None:
            raise BadInput("[inputs] has both target and source", "keep the list of coefficients or the power law")
        if self.weights is not None and self.eigenvalues is None:
            raise BadInput("inputs.weights are the shares of inputs.eigenvalues, which are missing", "give both")
        if self.file is None:  # how many eigenvalues a file has is known when it is read
            self._check_lengths()
        for name, row in zip(self._names(), self.rows(), strict=True):
            if not any(row):
                raise BadInput(f"inputs.{name} is zero", "one coefficient must not be zero")
        self._check_orthogonal()
        if self.weights is not None and abs(math.fsum(self.weights) - 1.0) > 1e-9:
            raise BadInput(f"inputs.weights sum to {math.fsum(self.weights):.12g}", "they must sum to 1")

    def _check_lengths(self) -> None:
        rows = dict(zip(self._names(), self.rows(), strict=True))
        lists = rows if self.weights is None else {"weights": self.weights, **rows}
        for name, values in lists.items():
            if len(values) != self.count:
                raise BadInput(
                    f"inputs.{name} has {len(values)} entries, and there are {self.count} eigenvalues",
                    "give one for each eigenvalue",
                )

    @property
    def count(self) -> int:
        """The number of eigenvalues."""
        if self.file is not None:
            return len(eigenvalues_of(self.file, MAX_MODES))
        return self.modes if self.eigenvalues is None else len(self.eigenvalues)

    def rows(self) -> Rows:
        """The coefficients that are given: a row for each index, or one for all of them, or none."""
        if self.target is None:
            return ()
        rows = tuple(row for row in self.target if isinstance(row, tuple))
        return rows or (tuple(entry for entry in self.target if isinstance(entry, float)),)

    def _names(self) -> tuple[str, ...]:
        several = self.target is not None and isinstance(self.target[0], tuple)
        return tuple(f"target[{i}]" for i in range(len(self.rows()))) if several else ("target",) * len(self.rows())

    def _check_orthogonal(self) -> None:
        if len(self.rows()) < 2:
            return
        products = _unit_rows(self.rows()) @ _unit_rows(self.rows()).T
        for i, j in combinations(range(len(products)), 2):
            if abs(products[i, j]) > _ORTHOGONAL:
                raise BadInput(
                    f"inputs.target[{i}] and inputs.target[{j}] have the overlap {products[i, j]:.6g} as unit vectors",
                    "the directions of the target are orthogonal in whitened inputs; an eigenvalue may be given "
                    "several times, with a coefficient along another eigenvector each time",
                )

    def check_indices(self, indices: int) -> None:
        """Raises BadInput for rows of coefficients of another number of indices."""
        count = len(self.rows())
        if count > 1 and count != indices:
            words = "indices" if indices > 1 else "index"
            raise BadInput(
                f"inputs.target has {count} rows, and target.link has {indices} {words}",
                "give one row for each index, or one list for all of them",
            )

    def coefficients(self) -> Array:
        """Of the target along the eigenvectors: orthonormal rows [m, modes], one for each index or for all of them."""
        _, weights = self.eigenvalues_and_weights()
        if self.source is not None:
            return _unit_rows([np.arange(1.0, self.count + 1.0) ** -self.source])
        unit = _unit_rows(self.rows() or [np.sqrt(weights)])
        return unit if len(unit) == 1 else 1.5 * unit - 0.5 * (unit @ unit.T) @ unit  # orthogonal to rounding

    def eigenvalues_and_weights(self) -> tuple[Array, Array]:
        """(eigenvalues of mean one, weights of the trace), each [modes]."""
        if self.file is not None:
            self._check_lengths()
        order = np.arange(1.0, self.count + 1.0)
        weights = np.full(self.count, 1.0 / self.count) if self.weights is None else np.array(self.weights)
        weights = weights / weights.sum()
        if self.file is not None:
            raw = eigenvalues_of(self.file, MAX_MODES)
        else:
            raw = order ** -float(self.capacity or 0.0) if self.eigenvalues is None else np.array(self.eigenvalues)
        return raw / (weights @ raw), weights

    def spectrum(self, indices: int) -> tuple[Array, Array, Array]:
        """(eigenvalues of mean one [J], weights of the trace [J], products of the target's directions [m, m, J])."""
        x, weights = self.eigenvalues_and_weights()
        rows = self.coefficients()
        if len(rows) == indices:
            return x, weights, rows[:, None] * rows[None]
        return x, weights, np.eye(indices)[:, :, None] * rows[0] ** 2

    def check_activation(self, activation: str) -> None:
        """Raises BadInput for a power law that no limit goes with: neurons are correlated beyond their linear part."""
        if self.capacity is not None and self.capacity >= _ROUGH and not is_linear(activation):
            raise BadInput(
                f"inputs.capacity = {self.capacity!r} needs a linear activation: tr Sigma^2/d grows with the modes, "
                "and neurons are then correlated beyond the linear parts of their features",
                'give a capacity below 1/2, or network.activation = "linear"',
            )


def _unit_rows(rows: Sequence[Sequence[float] | Array]) -> Array:
    found = np.array(rows)
    found = found / np.abs(found).max(axis=1)[:, None]
    return np.asarray(found / np.linalg.norm(found, axis=1)[:, None])
