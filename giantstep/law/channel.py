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
_COUNT, _FEWER = 24, 3  # Gauss nodes of a Poisson law; for an estimate of the error
COUNTED = 2  # halvings from which on labels without bound are counts themselves
_COUNTS, _MORE = 512, 8  # labels of the second halving; the factor of each further one
_LOW, _HIGH = -45.0, 200.0  # of s, beyond which the label is zero, or which never occurs
_LIGHT, _MOST = 1e-19, 20_000  # weight of a place that does not count; labels of a Poisson law
_TOGETHER = 1 << 15  # numbers at a time, which a processor keeps near
_SPREADS, _BESIDE = 9.0, 25  # how far out they are averaged over
_ROOT = -0.5 * math.log(2.0 * math.pi)  # log y! without sqrt(2 pi) at y = 0
_OF_FEW = np.array([0.0, *(math.lgamma(y + 1.0) - (y + 0.5) * math.log(y) + y + _ROOT for y in range(1, 16))])
_WIDTH, _DEGREE = 0.25, 24  # of panels in s on which the rule is interpolated


def labels_given(channel: Channel, s: Array, finer: int = 0, rough: bool = False) -> tuple[Array, Array]:
    """Labels [J, ...] and weights [J, ...] given the value s [...] of the link.

    Of a channel of counts without bound the Gauss rule of its law, which averages polynomials in y of a degree below 2J
    exactly, with twice the nodes where ``finer``, and half of them where that is -1; of two halvings on the counts
    themselves, which average anything: all of them, or every second, third, ... where they are more than the halvings
    give. rough: fewer, for an estimate of the error.
    """
    if channel.values:
        weights = channel.weights(s)
        values = np.array(channel.values).reshape(-1, *[1] * s.ndim)
        return np.broadcast_to(values, weights.shape), weights
    s = np.clip(s, _LOW, _HIGH)
    if finer >= COUNTED:
        return _counts(s, _COUNTS * _MORE ** (finer - COUNTED), rough)
    return _poisson(s, round((_COUNT - _FEWER * rough) * 2.0**finer))


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


def step_of_counts(s: float, finer: int) -> int:
    """The distance between the counts that are averaged over with so many halvings, of a mean exp(s)."""
    first, last = _ends(np.exp(np.array(s)))
    return math.ceil(float(last - first + 1.0) / int(_COUNTS * _MORE ** (finer - COUNTED)))


def _ends(rate: Array) -> tuple[Array, Array]:
    """The first and the last count that occur."""
    spread = _SPREADS * np.sqrt(rate)
    return np.maximum(np.floor(rate - spread), 0.0), np.ceil(rate + spread + _BESIDE)


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


def _counts(s: Array, most: int, rough: bool) -> tuple[Array, Array]:
    """Counts [J, ...] that Poisson laws of means exp(s) give, J at most so many, and their probabilities; rough: at
    wider steps, unless they are all.

    A sum over every h-th count is that over all, but for the characteristic function at multiples of 2 pi/h, less than
    exp(-rate (1 - cos(2 pi/h))): nothing where so few reach so far. A function of y has to vary slowly between them.
    """
    rate = np.exp(s)
    first, last = _ends(rate)
    most = min(most, int(np.max(last - first)) + 1)
    step = np.ceil((last - first + 1.0) / most)
    step += rough * (step > 1.0)
    y = first + step * np.arange(most).reshape(-1, *[1] * s.ndim)
    weights, few = np.empty_like(y), max(1, _TOGETHER // max(1, s.size))
    for part in (slice(k, k + few) for k in range(0, most, few)):
        weights[part] = np.exp(_log_of_poisson(y[part], rate))
    weights /= weights.sum(axis=0)
    return y, weights


def _log_of_poisson(y: Array, rate: Array) -> Array:
    """The logarithm of the probability of a count but for a constant, without terms that cancel.

    Source: Loader, Fast and accurate computation of binomial probabilities (2000).
    """
    beyond = (y - rate) / rate
    deviance = np.where(y > 0.0, (1.0 + beyond) * np.log1p(np.where(y > 0.0, beyond, 0.0)) - beyond, 1.0)
    return np.asarray(
        -rate * deviance - np.where(y > 0.0, 0.5 * np.log(np.maximum(y, 1.0)) + _beside_stirling(y), _ROOT)
    )


def _beside_stirling(y: Array) -> Array:
    """log y! over Stirling's formula sqrt(2 pi y) (y/e)^y, at counts y."""
    few = np.minimum(y, len(_OF_FEW) - 1.0).astype(int)
    inverse = 1.0 / np.maximum(y, 1.0)
    square = inverse * inverse
    series = inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0)))
    return np.asarray(np.where(y < len(_OF_FEW), _OF_FEW[few], series))


@lru_cache(maxsize=1024)
def _coefficients(panel: int, count: int) -> Array:
    """Chebyshev coefficients of nodes, about the mean and in units of sqrt(mean + 1), and of weights."""
    from scipy.linalg import eigh_tridiagonal  # loads slowly

    k = np.arange(float(count))

    def rule(place: Array) -> Array:
        found = np.empty((len(place), 2 * count))
        for row, rate in zip(found, np.exp(_WIDTH * (panel + 0.5 * (place + 1.0))), strict=True):
            nodes, vectors = eigh_tridiagonal(k, np.sqrt(rate * k[1:]))  # of Charlier polynomials about the mean
            row[:count], row[count:] = nodes / math.sqrt(rate + 1.0), vectors[0] ** 2
        return found

    coefficients: Array = chebinterpolate(rule, _DEGREE)
    return coefficients
