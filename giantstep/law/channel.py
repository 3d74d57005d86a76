"""Labels that a channel draws given the value of the link: at every value, labels and their probabilities."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.polynomial.chebyshev import chebinterpolate, chebvander

from giantstep.spec.errors import NotConverged
from giantstep.spec.target_channel import Channel

Array = np.ndarray
_COUNT, _MORE, _FEWER = 24, 6, 3  # Gauss nodes of a Poisson law; for each halving; for an estimate of the error
_LOW, _HIGH = -45.0, 200.0  # of s, beyond which the label is zero, or which never occurs
_LIGHT, _MOST = 1e-19, 20_000  # weight of a place that does not count; labels of a Poisson law
_SPREADS, _BESIDE = 9.0, 25  # how far out they are averaged over
_WIDTH, _DEGREE = 0.25, 24  # of panels in s on which the rule is interpolated


def labels_given(channel: Channel, s: Array, finer: int = 0, rough: bool = False) -> tuple[Array, Array]:
    """Labels [J, ...] and weights [J, ...] given the value s [...] of the link.

    Of a channel of counts without bound the Gauss rule of its law, which averages polynomials in y of a degree below 2J
    exactly. finer, rough: more nodes of it, or fewer for an estimate of the error.
    """
    if channel.values:
        weights = channel.weights(s)
        values = np.array(channel.values).reshape(-1, *[1] * s.ndim)
        return np.broadcast_to(values, weights.shape), weights
    return _poisson(np.clip(s, _LOW, _HIGH), _COUNT + _MORE * finer - _FEWER * rough)


def chances(channel: Channel, s: Array, weight: Array) -> Iterator[Array]:
    """The probability of every label at s, one label after the other; weight: of the places s.

    Raises NotConverged where too many counts are likely.
    """
    if not channel.values:
        yield from _of_poisson(s, len(likely_labels(channel, s, weight, _LIGHT)))
        return
    yield from (channel.probability_of(np.array(float(y)), s) for y in channel.values)


def likely_labels(channel: Channel, s: Array, weight: Array, least: float) -> Array:
    """The labels of a channel, of counts without bound those that are drawn at places s of at least that weight.

    Raises NotConverged where too many counts are likely.
    """
    if channel.values:
        return np.array(channel.values)
    rate = float(np.exp(np.max(s, where=weight > least, initial=_LOW)))
    count = rate + _SPREADS * rate**0.5 + _BESIDE
    if count > _MOST:
        raise NotConverged(
            f"counts up to {count:.1g} of the channel {channel} occur, {_MOST} are averaged over at most",
            "use a link that takes smaller values",
        )
    return np.arange(float(int(count)))


def _of_poisson(s: Array, count: int) -> Iterator[Array]:
    beside = -np.exp(s)
    yield from (np.exp(y * s + (beside - math.lgamma(y + 1.0))) for y in range(count))


def drawn_label(channel: Channel, s: Array, u: Array) -> Array:
    """The label of every sample at s [n] by the inverse of its distribution function at u [n], uniform on (0, 1)."""
    if not channel.values:
        from scipy.stats import poisson  # loads slowly

        return np.asarray(poisson.ppf(u, np.exp(s)))
    order = np.argsort(channel.values)
    below = np.cumsum(channel.weights(s)[order], axis=0)[:-1]
    return np.asarray(np.array(channel.values)[order][(u[None] >= below).sum(axis=0)])


def _poisson(s: Array, count: int) -> tuple[Array, Array]:
    """Gauss nodes and weights [count, ...] of Poisson laws of means exp(s), interpolated in s."""
    flat = s.ravel()
    panel = np.floor(flat / _WIDTH).astype(int)
    found = np.empty((2 * count, flat.size))
    for number in np.unique(panel).tolist():
        here = panel == number
        place = 2.0 * (flat[here] / _WIDTH - number) - 1.0
        found[:, here] = _coefficients(number, count).T @ chebvander(place, _DEGREE).T
    rate = np.exp(flat)
    labels, weights = rate + np.sqrt(rate + 1.0) * found[:count], np.maximum(found[count:], 0.0)
    shape = (count, *s.shape)
    return np.maximum(labels, 0.0).reshape(shape), (weights / weights.sum(axis=0)).reshape(shape)


@lru_cache(maxsize=1024)
def _coefficients(panel: int, count: int) -> Array:
    """Chebyshev coefficients of nodes, about the mean and in units of sqrt(mean + 1), and of weights."""
    k = np.arange(count)

    def rule(place: Array) -> Array:
        rate = np.exp(_WIDTH * (panel + 0.5 * (place + 1.0)))
        jacobi = np.zeros((len(rate), count, count))
        jacobi[:, k, k] = k
        beside = np.sqrt(rate[:, None] * k[1:])
        jacobi[:, k[1:], k[:-1]] = jacobi[:, k[:-1], k[1:]] = beside
        nodes, vectors = np.linalg.eigh(jacobi)  # of Charlier polynomials about the mean
        return np.concatenate([nodes / np.sqrt(rate + 1.0)[:, None], vectors[:, 0] ** 2], axis=1)

    coefficients: Array = chebinterpolate(rule, _DEGREE)
    return coefficients
