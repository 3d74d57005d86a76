"""Gauss rules of a standard normal variable between two places, of one node and of two."""

from __future__ import annotations

import math

import numpy as np

from giantstep.quadrature.gauss import normal_between
from giantstep.spec.expressions import special

Array = np.ndarray
_NARROW, _ORDER = 1.0, 12  # a width below which moments are differences that cancel; nodes that know them there


def truncated_normal(edges: Array, nodes: int) -> tuple[Array, Array]:
    """Nodes and weights [I, C nodes] between neighbours of edges [I, C + 1] in their order, 1 or 2 nodes for each pair.

    The rule of two nodes is exact up to the third degree, and follows from mean, variance and skewness.
    """
    mass, mean, variance, third = _moments(edges[:, :-1], edges[:, 1:])
    if nodes == 1:
        return mean, mass
    spread = np.sqrt(variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness = np.where(spread > 0.0, third / (variance * spread), 0.0)
    root = np.sqrt(1.0 + 0.25 * skewness**2)
    low, high = 0.5 * skewness - root, 0.5 * skewness + root
    places = np.stack([mean + spread * low, mean + spread * high], axis=2)
    weights = np.stack([mass * high, -mass * low], axis=2) / (2.0 * root)[:, :, None]
    shape = len(edges), 2 * mass.shape[1]
    return places.reshape(shape), weights.reshape(shape)


def _moments(low: Array, high: Array) -> tuple[Array, Array, Array, Array]:
    """Probability, mean, variance and third central moment between low and high [I, C]."""
    at_low, at_high = (np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi) for x in (low, high))
    near, far = special.ndtr(-np.abs(low)), special.ndtr(-np.abs(high))  # no differences of numbers close to one
    mass = np.where((low < 0.0) & (high > 0.0), 1.0 - near - far, np.abs(near - far))
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (at_low - at_high) / mass
        variance = 1.0 + (low * at_low - high * at_high) / mass - mean**2
        third = 2.0 * mean + (low**2 * at_low - high**2 * at_high) / mass - mean * (3.0 * variance + mean**2)
    narrow = high - low < _NARROW
    x, weight = normal_between(low[narrow], high[narrow], _ORDER)
    total = weight.sum(axis=1)
    share = weight / np.where(total > 0.0, total, 1.0)[:, None]
    centre = np.where(total > 0.0, (share * x).sum(axis=1), low[narrow])
    away = x - centre[:, None]
    mass[narrow], mean[narrow] = total, centre
    variance[narrow], third[narrow] = (share * away**2).sum(axis=1), (share * away**3).sum(axis=1)
    return mass, mean, np.maximum(variance, 0.0), third


def means_between(cuts: Array, reach: float) -> tuple[Array, Array]:
    """The mean and the probability of a standard normal between every two of the cuts [M, C] and the ends: a rule that
    is exact for what is straight there.
    """
    cuts = np.sort(cuts, axis=1) if cuts.shape[1] > 1 else cuts
    edges = _padded(cuts, -reach, reach)
    # differences of small numbers, not of those close to one
    tail = _padded(special.ndtr(-np.abs(cuts)), 0.0, 0.0)
    density = _padded(np.exp(-0.5 * cuts * cuts) / math.sqrt(2.0 * math.pi), 0.0, 0.0)
    below = edges < 0.0
    across = below[:, :-1] & ~below[:, 1:]
    weight = np.where(across, 1.0 - tail[:, 1:] - tail[:, :-1], np.abs(tail[:, 1:] - tail[:, :-1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (density[:, :-1] - density[:, 1:]) / weight
    middle = 0.5 * (edges[:, 1:] + edges[:, :-1])
    inside = (edges[:, :-1] < mean) & (mean < edges[:, 1:])  # rounding puts that of next to no weight anywhere
    return np.where(inside, mean, middle), weight


def _padded(values: Array, first: float, last: float) -> Array:
    """[M, C + 2]"""
    found = np.empty((len(values), values.shape[1] + 2))
    found[:, 0], found[:, 1:-1], found[:, -1] = first, values, last
    return found
