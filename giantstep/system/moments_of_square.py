"""Averages of the square loss over outputs of two fits with batches of their own, which all pairs of a fit share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from generated import two_batches as kernel
from generated.runtime.two_batches import moments_of_products
from giantstep.system.batch_nodes import Part
from giantstep.system.slope_series import gain_of_square
from giantstep.system.two_fits import Fit

Array = np.ndarray


class Moments(NamedTuple):
    """E g_1 g_2 P_a without what labels have in common beside their mean, what that adds where both fits see the same
    labels, drawn ones and noise of variance one, [n] each; second [n, n] of the slope with P_a P_b.
    """

    first: Array
    drawn: Array
    noise: Array
    second: Array


def moments_of_square(fit: Fit, parts: list[Part]) -> Moments:
    """By sums over both kappa given z, one after the other."""
    count = fit.blocks * (fit.blocks + 3) // 2
    total = Moments(np.zeros(count), np.zeros(count), np.zeros(count), np.zeros((count, count)))
    for part in parts:
        for sum_, own in zip(total, _of_part(fit, part, count), strict=True):
            sum_ += own
    return total


def _of_part(fit: Fit, part: Part, count: int) -> Moments:
    table, gain = part.table, gain_of_square(fit, part)
    mean = (table.chance * table.label).sum(axis=0)
    drawn = (table.chance * (table.label - mean) ** 2).sum(axis=0)
    slope, _ = kernel.series_of_square_loss(gain=gain, residual=mean[:, None] - part.output)
    found = Moments(np.empty(count), np.empty(count), np.empty(count), np.empty((count, count)))
    noise = np.array([drawn, np.ones_like(drawn)])
    moments_of_products(table.law, table.given, table.mu1, table.common, gain, slope, noise, found)
    return found
