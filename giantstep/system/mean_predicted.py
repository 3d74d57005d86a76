"""The mean label that an output predicts against the clean one: the test error of losses such as those of counts.

Given kappa and t the output is Gaussian. The average over it is a sum in equal steps, out to where nothing is left,
halved until it has settled: of functions that are smooth its error is then the square of the last change.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from giantstep.law.kinds_of_labels import Points
from giantstep.spec.prediction import Prediction
from giantstep.system.sign_panels import Output

Array = np.ndarray
_REACH, _FURTHEST = 8.0, 60.0  # of the sum, in spreads: at least, and at most
_NOTHING = 1e-17  # of the sum so far, which a term that is the last one adds
_STEP, _HALVINGS, _SETTLED = 1.0, 7, 1e-7
_ENDS = 6.0  # of kappa, from which on a last node is an end: nodes of what is even begin at zero


def mean_error(predicts: Prediction, output: Output, clean: Points, weight: Array) -> Array:
    """E[(f_* - mean label)^2 | kappa] at the nodes of kappa [N], which have a weight [N] each.

    clean: the clean label at nodes of t. Infinite where it is too large for a number.
    """
    centre, root = _centre(output, clean), np.sqrt(output.variance)[:, None]

    def at(x: float) -> Array:
        residual = predicts.mean(centre + root * x) - clean.label
        return np.asarray((clean.weight * residual**2).sum(axis=1))[None]

    return np.asarray(average_of_normal(at, weight)[0])


def share_at_ends(kappa: Array, terms: Array) -> float:
    """What the last nodes of kappa [N] or [N, q] add to a sum of terms [N], beside all: next to nothing where the sum
    has a limit that these nodes tell; nan where it is no number.
    """
    axes = kappa.reshape(len(kappa), -1).T
    last = np.array([end(axis) for axis in axes for end in (np.argmin, np.argmax)])
    far = np.abs(axes.repeat(2, axis=0)[np.arange(len(last)), last]) > _ENDS
    with np.errstate(invalid="ignore"):
        return float(np.abs(terms[last[far]]).sum() / np.abs(terms.sum()))


def mean_error_slopes(predicts: Prediction, output: Output, clean: Points, weight: Array) -> tuple[Array, Array, Array]:
    """Derivatives of E[(f_* - mean label)^2 | kappa] in mean [N], slope [D, N] and variance [N] of the output."""
    centre, root = _centre(output, clean), np.sqrt(output.variance)[:, None]

    def at(x: float) -> Array:
        value, slope = predicts.mean_and_slope(centre + root * x)
        each = clean.weight * 2.0 * (value - clean.label) * slope
        total = each.sum(axis=1)
        along = np.einsum("nj,njd->dn", each, clean.t)
        return np.concatenate([total[None], along, (0.5 * x * total / root[:, 0])[None]])

    found = average_of_normal(at, weight)
    return found[0], found[1:-1], found[-1]


def _centre(output: Output, clean: Points) -> Array:
    """The mean of the output given kappa and t, [N, J]."""
    return np.asarray(output.mean[:, None] + np.einsum("dn,njd->nj", output.slopes, clean.t))


def average_of_normal(function: Callable[[float], Array], weight: Array) -> Array:
    """E function(x) of a standard normal x, arrays [F, N] that have settled in the average over N."""
    step = _STEP
    with np.errstate(over="ignore", invalid="ignore"):  # exp(f) may be too large for a number
        total, size = _sum(function, weight, step, 0.0)
        for _ in range(_HALVINGS):
            between, more = _sum(function, weight, step, 0.5 * step)
            change, step = np.abs(between - total) @ weight, 0.5 * step
            total, size = 0.5 * (total + between), 0.5 * (size + more)
            if not np.all(change > _SETTLED * size):  # or no number
                break
    return total


def _sum(function: Callable[[float], Array], weight: Array, step: float, first: float) -> tuple[Array, Array]:
    """The sum of steps from ``first`` outwards on both sides, and the sum of sizes [F]."""
    total: Array | float = 0.0
    size: Array | float = 0.0
    for side, start in ((1.0, first), (-1.0, step - first)):
        for number in itertools.count():
            x = side * (start + number * step)
            term = step * math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi) * function(x)
            total, added = total + term, np.abs(term) @ weight
            size = size + added
            last = abs(x) >= _REACH and not np.any(added > _NOTHING * size)
            if last or abs(x) > _FURTHEST:
                break
    return np.asarray(total), np.asarray(size)
