"""The probability that a label and the output differ in sign: the test error of losses of the margin."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from generated.runtime.rectangles import ROWS, rectangles, slopes_between, wrong_signs_between
from generated.runtime.signs import wrong_signs
from generated.runtime.signs_on_lines import slopes_on_lines, wrong_signs_on_lines
from giantstep.law.kinds_of_labels import Intervals
from giantstep.law.label_lines import Lines
from giantstep.quadrature.gauss import legendre
from giantstep.system.sign_panels import Output, Signs, panels

Array = np.ndarray
_RULE = np.array(legendre(16))  # for the integral of a function of Owen


def wrong_sign(output: Output) -> Array:
    """P(y f < 0 | kappa) for clean labels +-1, at the nodes of kappa; where both are equally likely, y = 0, a half.

    Source: [CUI24] App. C; Owen (1956) for the bivariate normal integral.
    """
    labels = output.labels
    if isinstance(labels, Intervals):
        return _of_intervals(labels, output)
    if isinstance(labels, Lines):
        return _of_lines(labels, output)
    mean = np.ascontiguousarray(output.mean)
    law, slope = (labels.weight, labels.label, labels.t), np.ascontiguousarray(output.slopes)
    room, found = np.empty(labels.weight.shape[1]), np.empty(len(mean))
    wrong_signs(law, mean, slope, np.sqrt(output.variance), room, found)
    return found


def _of_intervals(labels: Intervals, output: Output) -> Array:
    """P(y f < 0 | kappa): rectangles of the bivariate normal of t and the output, one for each end of an interval."""
    nodes = len(output.kappa)
    found = np.empty(nodes)
    wrong_signs_between(_law(labels), output.kappa, _fields(output), _RULE, np.empty((ROWS, nodes)), found)
    return found


def _of_lines(labels: Lines, output: Output) -> Array:
    """P(y f < 0 | kappa) of labels that are constant on pieces of lines."""
    found = np.empty(len(output.kappa))
    room = np.empty((ROWS + 3, labels.weight.shape[1]))
    wrong_signs_on_lines(_on_lines(labels), _given_t(output), _RULE, room, found)
    return found


def _on_lines(labels: Lines) -> tuple[Array, ...]:
    """Labels on pieces of lines, as ``wrong_signs_on_lines`` has them."""
    return labels.weight, labels.label, labels.low, labels.high, labels.t, labels.axis


def _given_t(output: Output) -> tuple[Array, Array, Array]:
    """Mean of the output, its slopes in t and its variance beside, as ``wrong_signs_on_lines`` has them."""
    return np.ascontiguousarray(output.mean), np.ascontiguousarray(output.slopes), np.ascontiguousarray(output.variance)


def _law(labels: Intervals) -> tuple[Array, Array, Array, Array]:
    """Of labels on intervals, as ``wrong_signs_between`` has them."""
    return labels.low, labels.high, labels.label, labels.channel


def _fields(output: Output) -> Array:
    """Mean of the output, its slope in t and its variance beside [3, N]."""
    found = np.empty((3, len(output.kappa)))
    found[0], found[1], found[2] = output.mean, output.slopes[0], output.variance
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
    if isinstance(labels, Intervals):
        found = np.empty((3, len(kappa)))
        slopes_between(_law(labels), kappa, _fields(output), found)
        return found[0], found[1:2], found[2]
    if isinstance(labels, Lines):
        found = np.empty((2 + len(slope), len(kappa)))
        slopes_on_lines(_on_lines(labels), _given_t(output), np.empty(labels.weight.shape[1]), found)
        return found[0], found[1:-1], found[-1]
    root = np.sqrt(delta)
    center = (mean[:, None] + np.einsum("dn,njd->nj", slope, labels.t)) / root[:, None]
    density = labels.weight * -labels.label * np.exp(-0.5 * center**2) / np.sqrt(2.0 * np.pi)
    of_mean = density.sum(axis=1) / root
    of_slope = np.einsum("nj,njd->dn", density, labels.t) / root
    return of_mean, of_slope, -0.5 * (density * center).sum(axis=1) / delta


def resolved_signs(
    output: Output,
    ends: Array,
    at: Callable[[Array], Output],
    parts: Callable[[Array], Iterator[Output]],
    near: Signs | None,
) -> Signs:
    """Panels that resolve the probability of a wrong sign, and its slopes: see ``panels``.

    at: the output at any kappa, with the label of ``output`` on intervals, which is one at every kappa; parts: with the
    label of each kappa.
    """

    last: list[tuple[bytes, Output]] = []  # the first functions are asked for where panels were judged to serve

    def told(kappa: Array) -> Output:
        places = kappa.tobytes()
        if not last or last[0][0] != places:
            last[:] = [(places, at(kappa))]
        return last[0][1]

    def averaged(kappa: Array) -> Array:
        if isinstance(output.labels, Intervals):
            return sign_averages(told(kappa))
        return np.concatenate([sign_averages(part) for part in parts(kappa)], axis=1)

    return panels(output, ends, told, averaged, near)


def sign_averages(output: Output) -> Array:
    """What panels have to resolve: the probability of a wrong sign, and its slopes in units of the output."""
    of_mean, of_slope, of_delta = wrong_sign_slopes(output)
    return np.array(
        [wrong_sign(output), of_mean * output.spread, *of_slope * output.spread, of_delta * output.variance]
    )
