"""Averages of the square loss over outputs of two fits with batches of their own, which all pairs of a fit share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from generated import two_batches as kernel
from generated.runtime.two_batches import moments_of_products
from giantstep.system.batch_nodes import Part

Array = np.ndarray


class Moments(NamedTuple):
    """E g_1 g_2 P_a without what labels have in common beside their mean, what that adds where both fits see the same
    labels, drawn ones and noise of variance one, [n] each; second [n, n] of the slope with P_a P_b.
    """

    first: Array
    drawn: Array
    noise: Array
    second: Array


def moments_of_square(blocks: int, parts: list[Part]) -> Moments:
    """By sums over both kappa given z, one after the other."""
    count = blocks * (blocks + 3) // 2
    first, *others = (_of_part(part, count) for part in parts)
    for other in others:
        for total, own in zip(first, other, strict=True):
            total += own
    return first


def _of_part(part: Part, count: int) -> Moments:
    table, gain = part.table, part.gain
    mean, noise = table.labels
    slope, _ = kernel.series_of_square_loss(gain=gain, residual=mean[:, None] - part.output)
    found = Moments(np.empty(count), np.empty(count), np.empty(count), np.empty((count, count)))
    moments_of_products(table.law, table.given, table.mu1, table.common, gain, slope, noise, found)
    return found
