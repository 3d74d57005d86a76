"""The probability that a label and the output differ in sign: the test error of losses of the margin."""

from __future__ import annotations

import numpy as np

from generated.runtime.rectangles import ROWS, rectangles, wrong_signs_between
from generated.runtime.signs import wrong_signs
from giantstep.law.kinds_of_labels import Intervals
from giantstep.quadrature.gauss import legendre
from giantstep.spec.expressions import special
from giantstep.system.sign_panels import Output

Array = np.ndarray
_RULE = np.array(legendre(16))  # for the integral of a function of Owen


def wrong_sign(output: Output) -> Array:
    """P(y f < 0 | kappa) for clean labels +-1, at the nodes of kappa; where both are equally likely, y = 0, a half.

    Source: [CUI24] App. C; Owen (1956) for the bivariate normal integral.
    """
    labels = output.labels
    if isinstance(labels, Intervals):
        return _of_intervals(labels, output)
    mean = np.ascontiguousarray(output.mean)
    law, slope = (labels.weight, labels.label, labels.t), np.ascontiguousarray(output.slopes)
    room, found = np.empty(labels.weight.shape[1]), np.empty(len(mean))
    wrong_signs(law, mean, slope, np.sqrt(output.variance), room, found)
    return found


def _of_intervals(labels: Intervals, output: Output) -> Array:
    """P(y f < 0 | kappa): rectangles of the bivariate normal of t and the output, one for each end of an interval."""
    nodes = len(output.kappa)
    fields, found = np.empty((3, nodes)), np.empty(nodes)
    fields[0], fields[1], fields[2] = output.mean, output.slopes[0], output.variance
    law = labels.low, labels.high, labels.label, labels.channel
    wrong_signs_between(law, output.kappa, fields, _RULE, np.empty((ROWS, nodes)), found)
    return found


def bivariate_normal(h: Array, k: Array, correlation: Array, complement: Array) -> Array:
    """P(X < h, Y < k) of standard normals; complement = sqrt(1 - correlation^2). Source: Owen (1956), eq. 2.1."""
    found = np.empty(len(h))
    given = np.array([h, k]), np.array([correlation, complement])
    rectangles(*given, _RULE, np.empty((ROWS, len(h))), found)
    return found


def wrong_sign_slopes(output: Output) -> tuple[Array, Array, Array]:
    """Derivatives of P(y f < 0 | kappa) in mean [N], slope [D, N] and delta [N].

    Given t the output is N(mean + slope t, delta); what is differentiated is the average over t of its distribution
    function at zero, so that all three are averages of its density there.
    """
    labels, kappa, mean, slope, delta = output.labels, output.kappa, output.mean, output.slopes, output.variance
    root = np.sqrt(delta)
    if isinstance(labels, Intervals):
        of_mean, of_slope, of_delta = _slopes_of_intervals(labels, kappa, mean, slope[0], delta)
        return of_mean, of_slope[None], of_delta
    center = (mean[:, None] + np.einsum("dn,njd->nj", slope, labels.t)) / root[:, None]
    density = labels.weight * -labels.label * np.exp(-0.5 * center**2) / np.sqrt(2.0 * np.pi)
    of_mean = density.sum(axis=1) / root
    of_slope = np.einsum("nj,njd->dn", density, labels.t) / root
    return of_mean, of_slope, -0.5 * (density * center).sum(axis=1) / delta


def sign_averages(output: Output) -> Array:
    """What panels have to resolve: the probability of a wrong sign, and its slopes in units of the output."""
    of_mean, of_slope, of_delta = wrong_sign_slopes(output)
    return np.array(
        [wrong_sign(output), of_mean * output.spread, *of_slope * output.spread, of_delta * output.variance]
    )


def _slopes_of_intervals(
    labels: Intervals, kappa: Array, mean: Array, slope: Array, delta: Array
) -> tuple[Array, Array, Array]:
    """The density of f at zero times that of t given f = 0, which is N(-slope mean/spread^2, delta/spread^2)."""
    gamma, width, _ = labels.channel
    square = slope**2 + delta
    density = np.exp(-0.5 * mean**2 / square) / np.sqrt(2.0 * np.pi * square)
    centre, sigma = -slope * mean / square, np.sqrt(delta / square)
    zero = np.zeros_like(kappa)
    of_mean, of_slope, of_delta = zero.copy(), zero.copy(), zero.copy()
    for low, high, y in zip(labels.low, labels.high, labels.label, strict=True):
        if width == 0.0:
            edges = [np.where(gamma * kappa >= edge, -np.inf, np.inf) for edge in (low, high)]
        else:
            edges = [(edge - gamma * kappa) / width for edge in (low, high)]
        a, b = ((edge - centre) / sigma for edge in edges)
        mass = special.ndtr(b) - special.ndtr(a)
        first = _density(a) - _density(b)  # E of the standard normal between a and b
        at_zero = -y * density
        of_mean += at_zero * mass
        of_slope += at_zero * (centre * mass + sigma * first)
        # E of the mean of f given t, on the same interval
        of_delta += -0.5 * at_zero * ((mean + slope * centre) * mass + slope * sigma * first) / delta
    return of_mean, of_slope, of_delta


def _density(x: Array) -> Array:
    return np.asarray(np.exp(-0.5 * x * x) / np.sqrt(2.0 * np.pi))
