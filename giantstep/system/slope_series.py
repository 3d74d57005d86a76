"""E g_1 g_2 of two outputs given z and both kappa, for any convex loss and any covariance of the outputs.

The slope of each fit is a series of Hermite polynomials in its output, which is found once: the covariance enters by
its powers alone (Mehler's formula, Price's theorem over and over). Source: docs/theory.md, section 14.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from generated import two_batches as kernel
from generated.runtime.nodes import Output
from giantstep.system.batch_nodes import Part
from giantstep.system.sample_weights import ALWAYS
from giantstep.system.two_fits import Fit

Array = np.ndarray
_NOTHING = 1e-10  # of the sum of a series: terms that are left out


def slopes_in_common(fit: Fit, part: Part, covariance: Array, noise: bool, orders: int) -> tuple[Array, Array]:
    """E g_1 g_2 and its derivative in the covariance of the outputs [Z, k, k]; noise: whether both see the same labels.

    orders: terms of the series, of which the square loss has two.
    """
    spread = np.sqrt(part.numbers["Delta"] + fit.system.noise)
    units = spread[:, :, None] * spread[:, None, :]
    correlation = (covariance + fit.system.noise * noise) / units
    if not fit.square:
        correlation = np.clip(correlation, -1.0, 1.0)
    if noise not in part.series:
        part.series[noise] = list(_series(fit, part, noise, spread, orders))
    total, slopes = np.zeros_like(covariance), np.zeros_like(covariance)
    largest = 1.0 if fit.square else float(np.abs(correlation).max())
    for chance, series in part.series[noise]:
        value, slope = np.zeros_like(covariance), np.zeros_like(covariance)
        count = _terms(part, series, largest)
        for term in series[:count][::-1]:  # Horner's rule
            slope *= correlation
            slope += value
            value *= correlation
            value += (chance[:, None] * term)[:, :, None] * term[:, None, :]
        total, slopes = total + value, slopes + slope
    return total, slopes / units


def _terms(part: Part, series: Array, largest: float) -> int:
    """How many terms of a series count where correlations are that large."""
    law, given = part.numbers["law_z"], part.numbers["given"]
    sizes = np.einsum("i,niq,q->n", law, series**2, given) * largest ** np.arange(len(series))
    left = np.cumsum(sizes[::-1])[::-1]
    return int(np.sum(left > _NOTHING * left[0]))


def _series(fit: Fit, part: Part, noise: bool, spread: Array, orders: int) -> Iterator[tuple[Array, Array]]:
    """(chance [Z], series [n, Z, k]) of every label, of labels that both fits draw for themselves of their mean."""
    of_label = _of_square if fit.square else _of_loss
    labels = zip(part.label, part.chance, strict=True)
    found = [(chance, of_label(fit, part, label, spread, orders)) for label, chance in labels]
    if noise:
        yield from found
    else:
        yield np.ones(len(part.clean)), np.sum([chance[:, None] * series for chance, series in found], axis=0)


def _of_square(fit: Fit, part: Part, label: Array, spread: Array, _: int) -> Array:
    weights = fit.system.problem.weights or ALWAYS
    gains = [p * w * kernel.gain_of_square_loss(V=w * part.V) for w, p in zip(*weights, strict=True)]
    residual = label[:, None] - part.numbers["output"]
    value, slope = kernel.series_of_square_loss(gain=np.sum(gains, axis=0), residual=residual)
    return np.stack([value, slope * spread])


def _of_loss(fit: Fit, part: Part, label: Array, spread: Array, orders: int) -> Array:
    system, weights = fit.system, fit.system.problem.weights or ALWAYS
    shape = spread.shape
    labels = np.repeat(label, shape[1])
    center, spreads = part.numbers["output"].ravel(), spread.ravel()
    total, out = np.zeros((len(labels), orders)), np.empty((len(labels), orders))
    for weight, chance in zip(*weights, strict=True):
        if weight > 0.0:
            outputs = Output(center, spreads, weight * part.V.ravel())
            system.loss.LOSS.slope_series(system.rule, labels, outputs, system.scratch, out)
            total += chance * weight * out
    return np.ascontiguousarray(total.T).reshape(orders, *shape)
