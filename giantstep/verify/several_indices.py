"""Averages over output and label of two indices: over what the output varies by, along lines of the plane of the
indices, and across these.

Given kappa and the indices, s when standardised, the output has a mean that is linear in s. Along a line panels end
where the label has a kink or jump, and where a narrow output passes a kink of the proximal map. Across the lines panels
are halved until they agree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from giantstep.spec.fit_loss import FitLoss
from giantstep.verify.conditional_law import LabelLaw, link_function
from giantstep.verify.interpreter import NotEvaluable
from giantstep.verify.kinks import Kinks, basis_of, bisected, brackets, cuts_across, kinks_of
from giantstep.verify.lambdified import Function
from giantstep.verify.loss_curve import Curve, curve_of
from giantstep.verify.output_law import Output
from giantstep.verify.quadrature import density, legendre, panels
from giantstep.verify.smoothed_curve import LEVELS, Smoothed, smoothed

Array = np.ndarray
_MOST_CURVES = 8
_REACH = 9.2  # of s and kappa together: the Gaussian weight beyond is 4e-19
_LEAST = 3.0  # of s however far out kappa is
_WIDE, _ORDER = 2.0, 14  # panels along and across
_NARROW = 0.3  # an output of less spread, in units of what its mean varies by, has panels that end beside kinks
_TOLERANCE, _FURTHER = 5e-12, 1e-4  # of an integral, for a panel across; the least density of kappa that relaxes it
_HARDLY = 1e-6
_CLOSEST = 1e-12  # panels that are not halved
_MOST, _HALVINGS = 1000, 45  # panels across for a node of kappa, halvings
_TOGETHER, _POINTS = 400_000, 201  # nodes that are held together; of a line that is looked at for kinks
_BESIDE = 1e-13  # of a kink, in units of the reach
_SAMPLE = np.linspace(-1.0, 1.0, 41)


@dataclass(frozen=True)
class _Part:
    """Labels with one curve: u = sign c + turn y - offset of the mean c of the output and the clean label y; chance:
    their probability given y.
    """

    curve: Curve
    sign: float
    turn: float
    offset: float
    chance: Callable[[Array], Array]


@dataclass(frozen=True)
class _Plane:
    """Lines of places s = w turn_1 + v turn_2 at every node of kappa, and what a part has there.

    start, slope, rise [N]: of the mean c = start + slope w + rise v; reach [N]: of s; levels [N, L]: of u, where panels
    end, of rows that are narrow.
    """

    function: Callable[..., Array]
    kinks: Kinks | None
    centre: Array
    columns: Array  # of z', along and across
    start: Array
    slope: Array
    rise: Array
    reach: Array
    width: float

    def label(self, row: Array, w: Array, v: Array) -> Array:
        """The clean label."""
        found: Array = self.function(*self.indices(row, w, v))
        return found

    def indices(self, row: Array, w: Array, v: Array) -> tuple[Array, ...]:
        """z' at places of rows."""
        along, across = self.columns.T
        return tuple(self.centre[row, i] + w * along[i] + v * across[i] for i in range(len(along)))

    def argument(self, part: _Part, row: Array, w: Array, v: Array) -> Array:
        """u at places of rows."""
        c = self.start[row] + self.slope[row] * w + self.rise[row] * v
        turned = part.turn * self.label(row, w, v) if part.turn else 0.0
        return np.asarray(part.sign * c + turned - part.offset)


@dataclass(frozen=True)
class _Averaged:
    """A part with its averages over what the output varies by."""

    plane: _Plane
    part: _Part
    table: Smoothed
    narrow: Array  # [N]
    levels: Array  # [N, L] of u, where panels along lines of narrow outputs end


def averages_of_plane(
    law: LabelLaw, loss: FitLoss, noise: float, kappa: Array, output: Output, width: float
) -> dict[str, Array]:
    """avg_l, avg_M, avg_g, avg_gg, avg_h [N] and avg_tg [2, N]. Raises NotEvaluable for many curves, or where panels do
    not settle.
    """
    rest = output.slopes.T @ law.rest  # [N, m]
    own = output.variance + np.einsum("nm,mn->n", rest, output.slopes)
    own = own + noise if loss.form == "residual" else own
    kinks = kinks_of(law.text)
    turn, flat = basis_of(kinks, law.root)
    slope, rise = (output.slopes.T @ law.carry @ turn).T
    centre, distance = law.centre(kappa), np.linalg.norm(kappa.reshape(len(kappa), -1), axis=1)
    reach = np.sqrt(np.maximum(_REACH**2 - distance**2, _LEAST**2))
    columns = law.root @ turn
    plane = _Plane(link_function(law.text), kinks, centre, columns, output.mean, slope, rise, reach, width)
    tolerance = _TOLERANCE / np.maximum(np.exp(-0.5 * distance**2), _FURTHER)
    total: dict[str, Array] = {}
    for part in _parts(law, loss):
        found = _averages(_averaged(plane, part, np.sqrt(own), output.response), tolerance, flat)
        bend = part.sign * law.carry @ turn @ found[4:] - rest.T * found[3]
        values = found[0], found[0] + 0.5 * output.response * found[2], part.sign * found[1], found[2], found[3], bend
        for name, value in zip(("avg_l", "avg_M", "avg_g", "avg_gg", "avg_h", "avg_tg"), values, strict=True):
            total[name] = total.get(name, 0.0) + value
    return total


def _parts(law: LabelLaw, loss: FitLoss) -> list[_Part]:
    """One for every curve that labels have."""
    if loss.form == "residual" and law.channel is None:
        curve = curve_of(loss, 0.0)
        chances = [(1.0, 1.0 - law.flips), *([(-1.0, law.flips)] if law.flips else [])]
        return [_Part(curve, 1.0, -side, 0.0, partial(np.full_like, fill_value=chance)) for side, chance in chances]
    values = _values(law)
    parts = []
    for value in values:
        curve = curve_of(loss, 0.0 if loss.form == "residual" else value)
        sign, offset = (value if loss.form == "margin" else 1.0), (value if loss.form == "residual" else 0.0)
        parts.append(_Part(curve, sign, 0.0, offset, partial(_chance, law, values, value)))
    return parts


def _values(law: LabelLaw) -> tuple[float, ...]:
    """All labels. Raises NotEvaluable where they are many."""
    line = np.linspace(-12.0, 12.0, 301) + 0.0137
    clean = link_function(law.text)(*(axis.ravel() for axis in np.meshgrid(line, line + 0.0071)))
    seen = np.unique(np.concatenate([label for label, _ in law.drawn(np.unique(clean)[:50], np.ones(1))]))
    if len(seen) > _MOST_CURVES:
        raise NotEvaluable("a loss that has another curve for each of many labels")
    return tuple(map(float, seen))


def _chance(law: LabelLaw, values: tuple[float, ...], value: float, clean: Array) -> Array:
    """P(y = value) given clean labels. Raises NotEvaluable for labels that were not seen."""
    found = np.zeros_like(clean)
    for label, weight in law.drawn(clean, np.ones_like(clean)):
        if not np.isin(label, values).all():
            raise NotEvaluable("labels that few places of the indices have")
        found += np.where(label == value, weight, 0.0)
    return found


def _averaged(plane: _Plane, part: _Part, root: Array, response: Array) -> _Averaged:
    """The part with a table of what is reached."""
    w, v = (axis.ravel() for axis in np.meshgrid(_SAMPLE, _SAMPLE))
    inside = np.hypot(w, v) <= 1.0
    w, v, every = w[inside], v[inside], np.arange(len(root))[:, None]
    u = plane.argument(part, every, plane.reach[:, None] * w, plane.reach[:, None] * v)
    near = density(plane.reach[:, None] * np.hypot(w, v)) * (1.0 + 0.0 * u)
    near /= near.sum(axis=1, keepdims=True)
    spread = np.sqrt(np.maximum((near * u**2).sum(axis=1) - (near * u).sum(axis=1) ** 2, 0.0))
    marks = part.curve.turns(response)
    levels = (marks[..., None] + root[:, None, None] * LEVELS).reshape(len(root), -1)
    narrow = (root < _NARROW * spread) & (levels.shape[1] > 0)
    table = smoothed(part.curve, root, response, (u.min(axis=1), u.max(axis=1)), plane.width)
    return _Averaged(plane, part, table, narrow, levels)


def _averages(found: _Averaged, tolerance: Array, flat: bool) -> Array:
    """Loss, g, g^2, h, g w and g v, [6, N]. Raises NotEvaluable."""
    plane = found.plane
    if flat:
        every = np.arange(len(plane.reach))
        return _along(found, every, np.zeros(len(every)), np.ones(len(every)))
    row, low, high = _first_panels(plane)
    whole = _across(found, row, low, high)
    size = _sizes(_summed(np.abs(whole), row, len(plane.reach)), found.table.response)
    total, held = np.zeros_like(size), 0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        rows, left, right = np.tile(row, 2), np.concatenate([low, middle]), np.concatenate([middle, high])
        halves = _across(found, rows, left, right)
        missed = np.abs(halves[:, : len(row)] + halves[:, len(row) :] - whole)
        done = np.all(missed <= (tolerance * size)[:, row], axis=0) | (high - low <= _CLOSEST)
        kept = np.tile(done, 2)
        total += _summed(halves[:, kept], rows[kept], len(plane.reach))
        row, low, high, whole = rows[~kept], left[~kept], right[~kept], halves[:, ~kept]
        held += len(row)
        if not len(row):
            return total
        if held > _MOST * (20 + len(plane.reach)):
            break
    raise NotEvaluable("averages over a label of two indices do not settle")


def _summed(values: Array, row: Array, rows: int) -> Array:
    return np.array([np.bincount(row, each, rows) for each in values])


def _sizes(found: Array, response: Array) -> Array:
    """What integrals are held against: slopes may cancel; what is next to nothing beside other nodes of kappa, or
    beside the largest curvature, does not count.
    """
    found[[1, 4, 5]] = np.sqrt(found[2])
    found = np.maximum(found, _HARDLY * found.max(axis=1, keepdims=True))
    found[3] = np.maximum(found[3], _HARDLY**2 / response)
    return np.asarray(np.maximum(found, 1e-300))


def _first_panels(plane: _Plane) -> tuple[Array, Array, Array]:
    """(row, low, high) of panels across the lines, which end where kinks along them change their order."""
    even = np.linspace(-_REACH, _REACH, round(2.0 * _REACH / _WIDE) + 1)
    edges = np.broadcast_to(even, (len(plane.reach), len(even)))
    if plane.kinks is not None:
        edges = np.concatenate([edges, cuts_across(plane.kinks, plane.centre, plane.columns, _REACH)], axis=1)
    edges = np.sort(np.clip(edges, -plane.reach[:, None], plane.reach[:, None]), axis=1)
    row, at = np.nonzero(np.diff(edges, axis=1) > 0.0)
    return row, edges[row, at], edges[row, at + 1]


def _across(found: _Averaged, row: Array, low: Array, high: Array) -> Array:
    """[6, I] of panels across the lines."""
    x, weight = legendre(_ORDER)
    half = 0.5 * (high - low)[:, None]
    v = (0.5 * (high + low)[:, None] + half * x).ravel()
    each: Array = _along(found, np.repeat(row, _ORDER), v, (half * weight).ravel() * density(v))
    return np.asarray(each.reshape(len(each), len(row), _ORDER).sum(axis=2))


def _along(found: _Averaged, row: Array, v: Array, weight: Array) -> Array:
    """[6, I] of lines at v, times their weights."""
    parts = []
    for start in range(0, len(row), _TOGETHER // 800):
        some = slice(start, start + _TOGETHER // 800)
        parts.append(_of_lines(found, row[some], v[some], weight[some]))
    return np.concatenate(parts, axis=1) if parts else np.empty((6, 0))


def _of_lines(found: _Averaged, row: Array, v: Array, weight: Array) -> Array:
    plane, part = found.plane, found.part
    reach = np.sqrt(np.maximum(plane.reach[row] ** 2 - v**2, 0.0))[:, None]
    even = np.linspace(-_REACH, _REACH, round(2.0 * _REACH / (_WIDE * plane.width)) + 1)
    edges = np.concatenate([np.broadcast_to(even, (len(row), len(even))), _cuts(found, row, v, reach[:, 0])], axis=1)
    w, own = panels(np.sort(np.clip(edges, -reach, reach), axis=1), _ORDER)
    line, at = np.nonzero(own > 0.0)
    w, own = w[line, at], own[line, at] * density(w[line, at]) * weight[line]
    label = plane.label(row[line], w, v[line])
    own = own * part.chance(label)
    u = plane.argument(part, row[line], w, v[line])
    loss, g, square, bend = found.table.at(row[line], u)
    values = (loss, g, square, bend, g * w, g * v[line])
    return np.array([np.bincount(line, own * value, len(row)) for value in values])


def _cuts(found: _Averaged, row: Array, v: Array, reach: Array) -> Array:
    """Places w [I, C] where the label has kinks along lines, and where narrow outputs pass levels; infinite others."""
    places = _kinks(found.plane, row, v, reach)
    (narrow,) = np.nonzero(found.narrow[row])
    if not len(narrow):
        return places
    beside = np.clip(places[narrow] / reach[narrow, None], -1.0, 1.0)  # a jump may take back what is passed before it
    even = np.broadcast_to(np.linspace(-1.0, 1.0, _POINTS), (len(narrow), _POINTS))
    line = np.sort(np.concatenate([even, beside - _BESIDE, beside + _BESIDE], axis=1), axis=1)
    passed = _crossings(found, row[narrow], v[narrow], reach[narrow], line)
    every = np.full((len(row), passed.shape[1]), np.inf)
    every[narrow] = passed
    return np.concatenate([places, every], axis=1)


def _kinks(plane: _Plane, row: Array, v: Array, reach: Array) -> Array:
    w = np.broadcast_to(np.linspace(-1.0, 1.0, _POINTS), (len(row), _POINTS))
    at = plane.indices(row[:, None], w * reach[:, None], v[:, None])
    found = []
    for function in plane.kinks.functions if plane.kinks is not None else ():

        def along(i: Array, x: Array, of: Function = function) -> Array:
            return of(*plane.indices(row[i], x * reach[i], v[i]))

        low, high, which = brackets(function(*at), along, w)
        found.append((which, bisected(along, low, high, which) * reach[which]))
    return _in_rows(found, len(row))


def _crossings(found: _Averaged, row: Array, v: Array, reach: Array, line: Array) -> Array:
    """Where the mean of u passes the levels."""
    u = found.plane.argument(found.part, row[:, None], line * reach[:, None], v[:, None])
    places = []
    for level in found.levels[row].T:

        def along(i: Array, x: Array, of: Array = level) -> Array:
            return np.asarray(found.plane.argument(found.part, row[i], x * reach[i], v[i]) - of[i])

        low, high, which = brackets(u - level[:, None], along, line)
        places.append((which, bisected(along, low, high, which) * reach[which]))
    return _in_rows(places, len(row))


def _in_rows(found: list[tuple[Array, Array]], rows: int) -> Array:
    """Places [rows, C] from (rows, places); infinite where a row has fewer."""
    if not found:
        return np.empty((rows, 0))
    row, place = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.argsort(row, kind="stable")
    row, place = row[order], place[order]
    counts = np.bincount(row, minlength=rows)
    position = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    held = np.full((rows, int(counts.max(initial=0))), np.inf)
    held[row, position] = place
    return held
