"""What tells blocks apart whose rows hardly differ after a step, to many digits.

At infinite dimension the readout reads any difference of mean features, and differences of rounded rows have few
digits. A step moves rows by a smooth function of the readout value: rows before it lie on a curve u -> (L(u), c(u)),
the polynomial through the blocks that are alike. The step is taken at places of the curve that lie far apart, by blocks
without neurons, and what it adds per unit of u is interpolated at the values. Coefficients of the interpolation are
rounded, which moves the curve a little; blocks are where it leads, to many digits. Source: THEORY section 11.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mpmath
import numpy as np
from numpy.polynomial import chebyshev

from giantstep.law.layer_state import AlikeRows, LayerState
from giantstep.law.mirror_images import images_of, sides_of
from giantstep.spec.model import Network

Array = np.ndarray
DIGITS = 300  # differences of 1e-13, a few times nested
_PLACES, _LARGEST = 20, 2.0**24  # probes of a curve, whose half width is so many times the largest value at most
_SHIFT, _WIDER = 0.15, 0.25  # what loadings, in deviations of the bulk, and bulk variances change by on half of it
_ROUNDED, _UNSETTLED = 1e-14, 1e-13  # coefficients that are rounding; the last ones of what polynomials resolve


@dataclass(frozen=True)
class Curve:
    """Blocks that are alike: readout values [n] on one side that differ, ascending, and rows [n][q + 1] before the step
    to many digits; of every block [N] its sign beside that, and which value it has.
    """

    blocks: tuple[int, ...]
    signs: tuple[int, ...]
    which: tuple[int, ...]
    values: tuple[float, ...]
    rows: tuple[tuple[Any, ...], ...]
    offset: float

    @property
    def centre(self) -> float:
        """The middle of the values."""
        return 0.5 * (self.values[0] + self.values[-1])

    @cached_property
    def radius(self) -> float | None:
        """Half of the width in u on which rows vary so little that polynomials resolve what they move by; None of
        values that lie further apart.
        """
        middle, beside = self.before(np.array([self.centre]))[0], np.linspace(-1.0, 1.0, 17)
        radius = _LARGEST * max(map(abs, self.values))
        while radius > self.values[-1] - self.values[0]:
            rows = self.before(self.centre + radius * beside)
            shift = np.linalg.norm(rows[:, :-1] - middle[:-1], axis=1)
            wider = np.abs(rows[:, -1] - middle[-1])
            if (shift <= _SHIFT * np.sqrt(middle[-1])).all() and (wider <= _WIDER * middle[-1]).all():
                return radius
            radius *= 0.5
        return None

    @property
    def probes(self) -> Array:
        """Readout values where the step is taken."""
        return np.asarray(self.centre + (self.radius or 0.0) * chebyshev.chebpts1(_PLACES))

    def probes_before(self) -> list[tuple[float, tuple[float, ...], float, float]]:
        """Readout values, loadings, bulk variances and biases of the probes."""
        rows = self.before(self.probes)
        return [
            (u, tuple(row[:-1]), row[-1], self.offset)
            for u, row in zip(self.probes.tolist(), rows.tolist(), strict=True)
        ]

    def before(self, values: Array) -> Array:
        """Rows [N, q + 1] before the step at readout values [N]."""
        found = np.zeros((len(values), self._newton.shape[1]))
        for row, value in zip(self._newton[::-1], self.values[::-1], strict=True):
            found = found * (values - value)[:, None] + row
        return found

    @cached_property
    def _newton(self) -> Array:
        with mpmath.workdps(DIGITS):
            return np.array(divided_differences(self.values, self.rows), float)

    def after(self, gained: Array, drift: Array, spread: Array) -> RowsAfter | None:
        """The rows after the step by what it adds at the probes: gained [P, D] along the directions before it and
        others, drift [P] and spread [P] of the bulk. None where a polynomial does not resolve it.
        """
        u, vectors, variances = self.probes[:, None], [], []
        series = [_series(part) for part in (gained / u, drift[:, None] / u, spread[:, None] / u**2)]
        deviation = math.sqrt(self.before(np.array([self.centre]))[0, -1])
        # per unit of u, as a part of these, each moves a row by as much: what hardly moves it may be rounding
        units = 1.0, 1.0 / deviation, deviation / max(map(abs, self.values))
        told = list(zip(series, units, strict=True))
        most = max(float(np.abs(part).max()) / unit for part, unit in told)
        if not all(np.abs(part[-2:]).max() <= _UNSETTLED * most * unit for part, unit in told):
            return None
        along, drifts, spreads = (self._at_values(part) for part in series)
        moved = zip(self.values, self.rows, along, drifts, spreads, strict=True)
        for value, (*start, c), more, (inward,), (outward,) in moved:
            own = mpmath.mpf(value)
            start += [0] * (len(more) - len(start))
            vectors.append([x + own * each for x, each in zip(start, more, strict=True)])
            variances.append(c * (1 + own * inward) ** 2 + own * own * outward)
        return RowsAfter(self, vectors, variances)

    def _at_values(self, series: Array) -> list[Any]:
        """A polynomial [order, D] at the values, [n][D]."""
        sizes = np.abs(series).max(axis=1)
        counts = np.flatnonzero(sizes > _ROUNDED * sizes.max())
        kept = series[: counts[-1] + 1 if counts.size else 1].T.tolist()
        places = [(mpmath.mpf(value) - self.centre) / self.radius for value in self.values]
        return [[_clenshaw(column, x) for column in kept] for x in places]


@dataclass(frozen=True)
class RowsAfter:
    """Where a step leads blocks of a curve: vectors [n][D] and bulk variances [n] of its values, to many digits."""

    curve: Curve
    vectors: list[list[Any]]
    variances: list[Any]

    def differences(self) -> Array:
        """Divided differences of the vectors, on the scale on which they vary, [n, D]."""
        with mpmath.workdps(DIGITS):
            found = divided_differences(self.curve.values, self.vectors)
            return np.array([[float(x * self.width**order) for x in row] for order, row in enumerate(found)])

    @property
    def width(self) -> Any:
        """The scale on which they vary: a weak curve is as wide as its values are large."""
        return mpmath.mpf(min(self.curve.radius or 0.0, max(map(abs, self.curve.values))))

    def along(self, kept: Array) -> AlikeRows:
        """The blocks with loadings along directions [D, q]."""
        curve = self.curve
        with mpmath.workdps(DIGITS):
            turned = [[mpmath.fdot(row, axis) for axis in kept.T.tolist()] for row in self.vectors]
            places = list(zip(curve.signs, curve.which, strict=True))
            rows = tuple((*(sign * x for x in turned[n]), self.variances[n]) for sign, n in places)
        values = tuple(curve.values[n] for n in curve.which)
        return AlikeRows(curve.blocks, rows, values, curve.signs, float(self.width))


def _series(found: Array) -> Array:
    """Coefficients [order, D] of the polynomial in Chebyshev's through what is found at probes [P, D]."""
    series = chebyshev.chebvander(chebyshev.chebpts1(_PLACES), _PLACES - 1).T @ found * (2.0 / _PLACES)
    series[0] *= 0.5
    return np.asarray(series)


def _clenshaw(series: list[float], x: Any) -> Any:
    """A sum of Chebyshev polynomials in many digits."""
    last, one = mpmath.mpf(0), mpmath.mpf(0)
    for coefficient in reversed(series[1:]):
        last, one = one, 2 * x * one - last + coefficient
    return x * one - last + series[0]


def divided_differences(values: Sequence[float], rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Coefficients [n][D] of Newton's polynomial through rows [n][D] at values that differ."""
    found = [[mpmath.mpf(x) for x in row] for row in rows]
    for order in range(1, len(values)):
        for place in range(len(values) - 1, order - 1, -1):
            apart = mpmath.mpf(values[place]) - mpmath.mpf(values[place - order])
            found[place] = [(x - y) / apart for x, y in zip(found[place], found[place - 1], strict=True)]
    return found


def curves_of(network: Network, before: LayerState, groups: Sequence[Sequence[int]]) -> list[Curve]:
    """The curves of blocks that are alike after a step, but for those that no polynomial follows."""
    with mpmath.workdps(DIGITS):
        curves = [_curve(network, before, group) for group in groups]
        return [curve for curve in curves if curve.radius is not None]


def _curve(network: Network, before: LayerState, group: Sequence[int]) -> Curve:
    """That of one group: of blocks that were alike before the step by what is told of them."""
    sides, exists = sides_of(network), images_of(network).sign
    known = {b: row for rows in before.alike or () for b, row in zip(rows.blocks, rows.rows, strict=True)}
    values = sorted({sides[b].value for b in group})
    which = tuple(values.index(sides[b].value) for b in group)
    rows = []
    for b in (group[which.index(place)] for place in range(len(values))):
        *loadings, variance = known.get(b, (*before.loadings[b], before.bulk_variance[b]))
        rows.append((*(sides[b].sign * x for x in loadings), variance))
    signs = tuple(sides[b].sign * int(exists[b] != 0.0) for b in group)
    return Curve(tuple(group), signs, which, tuple(values), tuple(rows), sides[group[0]].offset)


def rows_along(curves: Sequence[Curve], gained: Array, drift: Array, spread: Array) -> list[RowsAfter]:
    """Where a step leads the blocks of curves, but for those that no polynomial follows: by what it adds at the probes
    of all of them, one after the other.
    """
    ends = np.arange(1, len(curves)) * _PLACES
    parts = zip(curves, *(np.split(part, ends) for part in (gained, drift, spread)), strict=True)
    with mpmath.workdps(DIGITS):
        found = [curve.after(*part) for curve, *part in parts]
    return [rows for rows in found if rows is not None]


def rows_after_first(
    network: Network, group: Sequence[int], strength: float, variance: Callable[[Any], Any]
) -> AlikeRows:
    """Blocks that are alike after a first step, which moves all along one direction."""
    sides = [sides_of(network)[b] for b in group]
    with mpmath.workdps(DIGITS):
        values = [mpmath.mpf(network.readout.values[b]) for b in group]
        rows = tuple((u * strength, mpmath.mpf(variance(u))) for u in values)
    largest = float(max(map(abs, values)))
    return AlikeRows(
        tuple(group), rows, tuple(side.value for side in sides), tuple(side.sign for side in sides), largest
    )
