"""Series of the slope of each of two fits given z and kappa, for any convex loss.

The slope is a series of Hermite polynomials in the output, which is found once: the covariance of both outputs enters
by its powers alone (Mehler's formula, Price's theorem over and over). Source: docs/theory.md, section 14.
"""

from __future__ import annotations

import numpy as np

from generated import two_batches as kernel
from generated.runtime.nodes import Output
from giantstep.system.batch_nodes import Part, Series
from giantstep.system.single_fit import SingleFit
from giantstep.system.two_fits import Fit

Array = np.ndarray
_NOTHING = 1e-10  # of the sum of a series: terms that are left out


def series_of(fit: Fit, part: Part, noise: bool, orders: int) -> Series:
    """Of every label; of labels that both fits draw for themselves of their mean. noise: whether both see the same."""
    if noise not in part.series:
        table = part.table
        spread = np.sqrt(part.variance + noise_of(fit.single))
        of_label = _of_square if fit.square else _of_loss
        found = np.array([of_label(fit, part, label, spread, orders) for label in table.label])
        chance = table.chance
        if not noise:
            found = np.einsum("yz,ynzk->nzk", chance, found)[None]
            chance = np.ones((1, len(table.law)))
        found, chance = np.ascontiguousarray(found), np.ascontiguousarray(chance)
        count = found.shape[1] if fit.square else _terms(part, found)
        part.series[noise] = Series(found, count, chance, spread)
    return part.series[noise]


def noise_of(single: SingleFit) -> float:
    """The variance of the labels' noise that adds to that of the output: of a loss of the residual."""
    target, loss = single.problem.model.target, single.problem.model.fit.loss
    return float(target.noise) if loss.form == "residual" else 0.0


def _terms(part: Part, series: Array) -> int:
    """How many terms of series count, whatever the correlation."""
    table = part.table
    sizes = np.einsum("i,yniq,q->n", table.law, series**2, table.given)
    left = np.cumsum(sizes[::-1])[::-1]
    return max(1, int(np.sum(left > _NOTHING * left[0])))


def _of_square(_fit: Fit, part: Part, label: Array, spread: Array, _: int) -> Array:
    """Two terms, whatever the orders."""
    residual = label[:, None] - part.output
    value, slope = kernel.series_of_square_loss(gain=part.gain, residual=residual)
    return np.stack([value, slope * spread])


def _of_loss(fit: Fit, part: Part, label: Array, spread: Array, orders: int) -> Array:
    outputs = Output(part.output.ravel(), spread.ravel(), part.V.ravel())
    found = fit.labels.series(outputs, np.repeat(label, spread.shape[1]), orders)
    return np.ascontiguousarray(found.T).reshape(orders, *spread.shape)
