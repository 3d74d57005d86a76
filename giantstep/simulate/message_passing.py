"""Approximate message passing for a target of several directions: the best fast estimator, run on drawn samples.

Labels y of inputs x ~ N(0, 1/d), z = W^T x with W [d, m] standard normal. With g = d log Z/d omega(y, omega, V) of the
channel averaged over z ~ N(omega, V):

    V = C,  omega = X w - g_before V,  A = E[g g^T] n/d,  C = (1 + A)^-1,  w = (X^T g + w_before A) C

In the limit this climbs to its fixed point; at a finite d overlaps of two directions may swing about it without end
(relu(z1*z2 - 0.3) at d = 400). So g, A and w each keep a part of what they were: it moves no fixed point.

Rows of W of other variances s have C = s (1 + s A)^-1 each, and V is the mean of these.

Source: Troiani et al. 2024, arXiv:2405.15480, algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
#: (y [n], omega [n, m], V [m, m]) -> g [n, m]
Score = Callable[[Array, Array, Array], Array]
_KEPT = 0.4  # of what was before
_SETTLED = 6e-4  # largest change of an entry, relative to the largest entry: the part that is new, of 1e-3


@dataclass(frozen=True)
class Passed:
    """What message passing found: the overlap with the true directions, squared cosines between the span of the
    estimate w and that of the truth W [d, m], one for each direction; the variance V [m, m] of z given the samples;
    settled: whether its last step moved it no more.
    """

    overlap: Array
    estimate: Array
    truth: Array
    variance: Array
    settled: bool


def message_passing(
    labels: Callable[[Array, np.random.Generator], Array],
    score: Score,
    sizes: tuple[int, int, int],
    iterations: int,
    seed: int,
    start: float = 0.1,
    spread: Array | None = None,
) -> Passed:
    """Run it on n samples in d dimensions, sizes = (d, n, m), from an estimate of overlap ``start``, until it settles.

    labels(z [n, m], source): draws labels; spread [d]: deviations of the rows of W, all one where left out.
    """
    d, n, m = sizes
    source = np.random.default_rng(seed)
    size = np.ones((d, 1)) if spread is None else spread[:, None]
    truth = size * source.standard_normal((d, m))
    inputs = source.standard_normal((n, d)) / np.sqrt(d)
    y = labels(inputs @ truth, source)
    estimate = start * truth + np.sqrt(start * (1.0 - start)) * size * source.standard_normal((d, m))
    variance, g, precision = (1.0 - start) * np.eye(m), np.zeros((n, m)), np.zeros((m, m))
    settled = False
    for step in range(iterations):
        before, kept = estimate, _KEPT if step else 0.0
        omega = inputs @ estimate - g @ variance
        new = score(y, omega, variance)
        g, precision = (1.0 - kept) * new + kept * g, (1.0 - kept) * new.T @ new / d + kept * precision
        rows = np.square(size)[:, :, None] * np.linalg.inv(np.eye(m) + np.square(size)[:, :, None] * precision)
        variance = np.asarray(rows.mean(axis=0), dtype=np.float64)
        found = np.einsum("da,dab->db", inputs.T @ g + estimate @ precision, rows)
        estimate = (1.0 - kept) * found + kept * estimate
        settled = bool(np.max(np.abs(estimate - before)) <= _SETTLED * np.max(np.abs(estimate)))
        if settled:
            break
    return Passed(_squared_cosines(estimate, truth), estimate, truth, variance, settled)


def _squared_cosines(estimate: Array, truth: Array) -> Array:
    """Those of both spans, which no length has a part in. Labels that are signs hardly feel the length of W, and w
    takes hundreds of short steps to it.
    """
    spans = [np.linalg.qr(rows)[0] for rows in (estimate, truth)]
    cosines: Array = np.linalg.svd(spans[0].T @ spans[1])[1]
    return np.square(cosines)
