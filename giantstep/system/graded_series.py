"""Functions that are sums of terms kappa^a D_k(kappa), at many points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from giantstep.system.graded_elimination import Column, Row, norm_of_powers

Array = np.ndarray
NUMBER = -1  # k of a power of kappa alone, whose average is a number and stands in the coefficient
_UNFELT = 1e-24  # of the largest term of a function, what a term may have and is left out
_TOGETHER = 4096  # points at a time, whose monomials are few


def series_at(series: Sequence[Column], kappa: Array, averages: Array, rounded: Array) -> tuple[Array, Array]:
    """(functions [N, C], what their terms amount to [N, C]) at points [N, q]; averages: D_k there, [k, N]; rounded:
    what these round like, [k]: where a function is flat D_k is a sum of large numbers that cancel.
    """
    felt = [_felt(column, averages) for column in series]
    functions, sizes = np.zeros((2, len(kappa), len(series)))
    for first in range(0, len(kappa), _TOGETHER):
        here = slice(first, first + _TOGETHER)
        monomials = _Monomials(kappa[here])
        for i, column in enumerate(felt):
            for (powers, k), coefficient in column:
                part = coefficient * monomials[powers]
                sizes[here, i] += np.abs(part) * (
                    1.0 if k == NUMBER else np.maximum(np.abs(averages[k, here]), rounded[k])
                )
                functions[here, i] += part if k == NUMBER else part * averages[k, here]
    return functions, sizes


def _felt(column: Column, averages: Array) -> list[tuple[Row, float]]:
    """The terms of a function that are not next to nothing beside the largest one."""
    heights = {k: 1.0 if k == NUMBER else float(np.abs(averages[k]).max()) for k in {k for _, k in column}}
    shares = {row: abs(float(x)) * norm_of_powers(row[0]) * heights[row[1]] for row, x in column.items()}
    least = _UNFELT * max(shares.values(), default=0.0)
    return [(row, float(x)) for row, x in column.items() if shares[row] >= least]


class _Monomials(dict[tuple[int, ...], Array]):
    """kappa^a at points [N, q] by a, each by one product from a lower one."""

    def __init__(self, kappa: Array) -> None:
        super().__init__({(0,) * kappa.shape[1]: np.ones(len(kappa))})
        self.axes = kappa.T

    def __missing__(self, powers: tuple[int, ...]) -> Array:
        axis = next(i for i, power in enumerate(powers) if power)
        self[powers] = self[(*powers[:axis], powers[axis] - 1, *powers[axis + 1 :])] * self.axes[axis]
        return self[powers]
