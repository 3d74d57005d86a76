"""A loss averaged over what the output varies by beside its mean, as a function of this mean: polynomials on panels.

Labels of several indices have many places for one law of the output around its mean c: loss, slope, its square and
curvature at c + root xi are averaged over xi at a few c, and known between them. Panels are halved until the
coefficients of Chebyshev polynomials on each have died away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial.chebyshev import chebvander

from giantstep.verify.loss_curve import Curve
from giantstep.verify.quadrature import density, hermite, panels

Array = np.ndarray
_DEGREES = 16
_TAIL, _SETTLED = 3, 1e-13  # coefficients that have to vanish, relative to the largest
_PLATEAU, _NOISE = 0.1, 1e-9  # of these, by halving a panel: what falls by less, and is less, is rounding
_HARDLY = 1e-3  # of the largest curvature
_SMOOTH = 0.2  # panels of this width, in spreads of the output, are resolved whatever the loss is
_REACH, _PANEL, _ORDER = 10.5, 1.5, 12  # of xi
_OF_A_SQUARE = 2  # Gauss nodes of xi: exact for its averages, of degree two
_TOGETHER = 100_000  # nodes of xi
_MOST = 80  # halvings
_IN_REACH = 4096  # places whose terms stay in the processor's reach
LEVELS = np.array([-8.0, -4.0, -2.0, 0.0, 2.0, 4.0, 8.0])  # edges about a kink of the map, in spreads of the output
FUNCTIONS = 4  # loss, slope g, its square, curvature h


@dataclass(frozen=True)
class Smoothed:
    """The averages over xi at places c of each row (a node of kappa): ``coefficients`` [P, D, 4] of panels.

    low, high: of the places of each row; keys: increasing numbers of the panels, of row n between n and n + 1.
    """

    curve: Curve
    root: Array
    response: Array
    width: float
    low: Array
    high: Array
    keys: Array
    middle: Array
    half: Array
    coefficients: Array

    def at(self, row: Array, c: Array) -> Array:
        """[4, C] at places c [C] of rows [C]; what is beyond the panels is averaged itself."""
        blocks = range(0, max(len(c), 1), _IN_REACH)
        return np.concatenate([self._at(row[i : i + _IN_REACH], c[i : i + _IN_REACH]) for i in blocks], axis=1)

    def _at(self, row: Array, c: Array) -> Array:
        span = self.high[row] - self.low[row]
        share = np.clip((c - self.low[row]) / span, 0.0, 1.0 - 1e-12)
        panel = np.searchsorted(self.keys, row + share, side="right") - 1
        x = np.clip((c - self.middle[panel]) / self.half[panel], -1.0, 1.0)
        found = np.matmul(chebvander(x, _DEGREES - 1)[:, None], self.coefficients[panel])[:, 0].T
        (beyond,) = np.nonzero((c < self.low[row]) | (c > self.high[row]))
        if len(beyond):
            found[:, beyond] = _averages(self, row[beyond], c[beyond][:, None])[:, :, 0]
        return np.asarray(found)


def smoothed(curve: Curve, root: Array, response: Array, within: tuple[Array, Array], width: float) -> Smoothed:
    """The averages of a curve for places within (low [N], high [N]); root, response [N] of the output."""
    low, high = within
    high = np.maximum(high, low + np.maximum(root, 1e-9 * (1.0 + np.abs(low))))
    none = np.empty(0)
    bare = Smoothed(curve, root, response, width, low, high, none, none, none, none)
    row, left, right = _first_panels(bare)
    before, bend = np.full((FUNCTIONS, len(row)), np.inf), np.zeros(len(low))
    kept: list[tuple[Array, ...]] = []
    for _ in range(_MOST):
        x = np.cos(np.pi * (np.arange(_DEGREES) + 0.5) / _DEGREES)
        middle, half = 0.5 * (left + right), 0.5 * (right - left)
        values = _averages(bare, row, middle[:, None] + half[:, None] * x)  # [4, I, D]
        terms = np.einsum("dk,fik->fid", _transform(x), values)
        tail, size = np.abs(terms[..., -_TAIL:]).max(axis=2), np.abs(terms).max(axis=2)
        np.maximum.at(bend, row, size[3])
        size[3] = np.maximum(size[3], _HARDLY * bend[row])  # where a loss is straight its curvature is rounding
        tail /= np.maximum(size, 1e-300)
        died = (tail <= _SETTLED) | ((tail > _PLATEAU * before) & (tail <= _NOISE))
        done = died.all(axis=0) | (right - left <= _SMOOTH * root[row])
        done |= right - left <= 1e-14 * (np.abs(left) + np.abs(right))
        kept.append((row[done], left[done], middle[done], half[done], np.moveaxis(terms[:, done], 0, 2)))
        row, left, middle, right = (each[~done] for each in (row, left, middle, right))
        row, left, right = np.tile(row, 2), np.concatenate([left, middle]), np.concatenate([middle, right])
        before = np.tile(tail[:, ~done], 2)
        if not len(row):
            break
    row, left, middle, half, terms = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    keys = row + np.clip((left - low[row]) / (high - low)[row], 0.0, 1.0 - 1e-12)
    order = np.lexsort((left, row))
    return Smoothed(curve, root, response, width, low, high, keys[order], middle[order], half[order], terms[order])


def _transform(x: Array) -> Array:
    """Coefficients of Chebyshev polynomials [D, D] from values at their zeros x."""
    degrees = np.arange(len(x))[:, None]
    return np.asarray(np.where(degrees == 0, 1.0, 2.0) / len(x) * np.cos(degrees * np.arccos(x)[None]))


def _first_panels(bare: Smoothed) -> tuple[Array, Array, Array]:
    """(row, left, right) between the ends of each row and its kinks."""
    marks = bare.curve.turns(bare.response)
    edges = (marks[..., None] + bare.root[:, None, None] * LEVELS).reshape(len(marks), -1)
    ends = np.stack([bare.low, bare.high], axis=1)
    edges = np.sort(np.concatenate([ends, np.clip(edges, ends[:, :1], ends[:, 1:])], axis=1), axis=1)
    row, at = np.nonzero(np.diff(edges, axis=1) > 0.0)
    return row, edges[row, at], edges[row, at + 1]


def _averages(bare: Smoothed, row: Array, c: Array) -> Array:
    """[4, I, D] over xi at places c [I, D] of rows [I]."""
    size = max(1, int(_TOGETHER / (c.shape[1] * 2.0 * _REACH / (_PANEL * bare.width) * _ORDER)))
    parts = [_few(bare, row[start : start + size], c[start : start + size]) for start in range(0, len(row), size)]
    return np.concatenate(parts, axis=1) if parts else np.empty((FUNCTIONS, 0, c.shape[1]))


def _few(bare: Smoothed, row: Array, c: Array) -> Array:
    root, response = bare.root[row][:, None, None], bare.response[row]
    xi, over = _nodes(bare, c, root, response)
    omega = c[..., None] + root * xi
    loss, _, g, h = (a.reshape(omega.shape) for a in bare.curve.moreau(omega.reshape(len(row), -1), response))
    return np.stack([(over * each).sum(axis=2) for each in (loss, g, g * g, h)])


def _nodes(bare: Smoothed, c: Array, root: Array, response: Array) -> tuple[Array, Array]:
    """xi and weights, [I, D, X], on panels between the kinks of the curve; a few Gauss nodes [X] for a square."""
    if bare.curve.quadratic == (True,):
        return hermite(_OF_A_SQUARE)
    even = np.linspace(-_REACH, _REACH, int(np.ceil(2.0 * _REACH / (_PANEL * bare.width))) + 1)
    marks = (bare.curve.turns(response)[:, None, :] - c[..., None]) / root
    everywhere = np.broadcast_to(even, (*c.shape, len(even)))
    edges = np.concatenate([everywhere, np.clip(marks, -_REACH, _REACH)], axis=2)
    xi, over = panels(np.sort(edges, axis=2), _ORDER)
    return xi, over * density(xi)
