"""Averages over output and label along lines of the space of the indices: over what the output varies by, and between
the places where the label has a kink or jump, or where a narrow output passes a kink of the proximal map.

Given kappa and the indices, s when standardised, the output has a mean that is linear in s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from scipy.special import ndtr

from giantstep.spec.fit_loss import FitLoss
from giantstep.verify.conditional_law import LabelLaw, link_function
from giantstep.verify.crossings import crossings
from giantstep.verify.interpreter import NotEvaluable
from giantstep.verify.kinks import Kinks
from giantstep.verify.lambdified import Function
from giantstep.verify.loss_curve import Curve, curve_of
from giantstep.verify.output_law import AROUND
from giantstep.verify.quadrature import density, panels
from giantstep.verify.smoothed_curve import LEVELS, smoothed

Array = np.ndarray
_MOST_CURVES = 8
REACH = 9.2  # of s and kappa together: the Gaussian weight beyond is 4e-19
_WIDE, _ORDER = 2.0, 14  # panels along lines
_NARROW = 1.0  # an output of less spread, in units of what its mean varies by, has panels that end beside kinks
_TOGETHER, _POINTS = 100_000, 201  # nodes that are held together; of a line that is looked at for kinks
_BESIDE = 1e-13  # of a kink, in units of the reach
_BEYOND = 0.1  # of what few places reach: what others reach beyond
_SAMPLE, _FEW = np.linspace(-1.0, 1.0, 41), 1500  # places that show what an output reaches, of one index and of more


class Averages(Protocol):
    """What is averaged: functions of u at rows, averages over what the output varies by about its mean."""

    def at(self, row: Array, c: Array) -> Array:
        """[F, C] at places c [C] of rows [C]."""


@dataclass(frozen=True)
class Part:
    """Labels with one curve: u = sign c + turn y - offset of the mean c of the output and the clean label y; chance:
    their probability given y.
    """

    curve: Curve
    sign: float
    turn: float
    offset: float
    chance: Callable[[Array], Array]


@dataclass(frozen=True)
class Lines:
    """Lines of places s = (w, v), v across, at every node of kappa: z' = centre + columns s.

    start [N], slopes [N, r]: of the mean c = start + slopes s; reach [N]: of s.
    """

    function: Callable[..., Array]
    kinks: Kinks | None
    centre: Array
    columns: Array
    start: Array
    slopes: Array
    reach: Array
    width: float

    def label(self, row: Array, w: Array, v: Array) -> Array:
        """The clean label."""
        found: Array = self.function(*self.indices(row, w, v))
        return found

    def indices(self, row: Array, w: Array, v: Array) -> tuple[Array, ...]:
        """z' at places w, v [..., r - 1] of rows."""
        along, across = self.columns[:, 0], self.columns[:, 1:]
        return tuple(self.centre[row, i] + w * along[i] + v @ across[i] for i in range(len(along)))

    def argument(self, part: Part, row: Array, w: Array, v: Array) -> Array:
        """u at places of rows."""
        c = self.start[row] + self.slopes[row, 0] * w + (self.slopes[row, 1:] * v).sum(axis=-1)
        turned = part.turn * self.label(row, w, v) if part.turn else 0.0
        return np.asarray(part.sign * c + turned - part.offset)


@dataclass(frozen=True)
class Averaged:
    """A part with what is averaged over it; narrow [N]: rows whose panels along lines end at levels [N, L] of u."""

    lines: Lines
    part: Part
    table: Averages
    narrow: Array
    levels: Array


@dataclass(frozen=True)
class Wrong:
    """The chance of the wrong sign of the output, u its mean times the label; spread [N]."""

    spread: Array

    def at(self, row: Array, c: Array) -> Array:
        """[1, C]."""
        spread = self.spread[row]
        with np.errstate(all="ignore"):
            return np.asarray(np.where(spread > 0.0, ndtr(-c / spread), 0.5 * (1.0 - np.sign(c))))[None]


@dataclass(frozen=True)
class Squared:
    """The square of u, the mean of the output beside the label, and the variance about it; spread [N]."""

    spread: Array

    def at(self, row: Array, c: Array) -> Array:
        """[1, C]."""
        return np.asarray(c**2 + self.spread[row] ** 2)[None]


def parts_of(law: LabelLaw, loss: FitLoss) -> list[Part]:
    """One for every curve that labels have. Raises NotEvaluable for many."""
    if loss.form == "residual" and law.channel is None:
        curve = curve_of(loss, 0.0)
        chances = [(1.0, 1.0 - law.flips), *([(-1.0, law.flips)] if law.flips else [])]
        return [Part(curve, 1.0, -side, 0.0, partial(np.full_like, fill_value=chance)) for side, chance in chances]
    values = _values(law)
    parts = []
    for value in values:
        curve = curve_of(loss, 0.0 if loss.form == "residual" else value)
        sign, offset = (value if loss.form == "margin" else 1.0), (value if loss.form == "residual" else 0.0)
        parts.append(Part(curve, sign, 0.0, offset, partial(_chance, law, values, value)))
    return parts


def _values(law: LabelLaw) -> tuple[float, ...]:
    """All labels. Raises NotEvaluable where they are many."""
    r = len(law.directions)
    line = np.linspace(-12.0, 12.0, 301 if r < 3 else 31) + 0.0137
    axes = np.meshgrid(*(line + 0.0071 * i for i in range(r)))
    clean = link_function(law.link)(*(axis.ravel() for axis in axes))
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


def averaged(lines: Lines, part: Part, root: Array, response: Array) -> Averaged:
    """The part with a table of what is reached; root: spreads of the output about its mean."""
    low, high, spread = _reached(lines, part)
    low, high = low - _BEYOND * (high - low), high + _BEYOND * (high - low)
    marks = part.curve.turns(response)
    levels = (marks[..., None] + root[:, None, None] * LEVELS).reshape(len(root), -1)
    narrow = (root < _NARROW * spread) & (levels.shape[1] > 0)
    return Averaged(lines, part, smoothed(part.curve, root, response, (low, high), lines.width), narrow, levels)


def errors_over(law: LabelLaw, lines: Lines, margin: bool, root: Array) -> list[Averaged]:
    """Misclassification of an output of spread ``root`` about its mean, or the square of what it is off by; of a clean
    label.
    """
    none, free = np.zeros(len(root), bool), np.empty((len(root), 0))
    if not margin:
        part = Part(curve_of(FitLoss("square"), 0.0), 1.0, -1.0, 0.0, np.ones_like)
        return [Averaged(lines, part, Squared(root), none, free)]
    levels = root[:, None] * AROUND
    parts = parts_of(law, FitLoss("hinge"))
    return [Averaged(lines, part, Wrong(root), ~none, levels) for part in parts]


def _reached(lines: Lines, part: Part) -> tuple[Array, Array, Array]:
    """The least and largest u [N], and what u varies by."""
    r = lines.columns.shape[1]
    if r <= 2:
        places = np.stack([axis.ravel() for axis in np.meshgrid(*[_SAMPLE] * r)], axis=1)
        places = places[np.linalg.norm(places, axis=1) <= 1.0]
    else:
        source = np.random.default_rng(0)
        drawn = source.standard_normal((_FEW, r))
        places = drawn / np.linalg.norm(drawn, axis=1, keepdims=True) * source.random((_FEW, 1))
    every = np.arange(len(lines.reach))[:, None]
    w, v = lines.reach[:, None] * places[:, 0], lines.reach[:, None, None] * places[:, 1:]
    u = lines.argument(part, every, w, v)
    near = density(lines.reach[:, None] * np.linalg.norm(places, axis=1)) * (1.0 + 0.0 * u)
    near /= near.sum(axis=1, keepdims=True)
    spread = np.sqrt(np.maximum((near * u**2).sum(axis=1) - (near * u).sum(axis=1) ** 2, 0.0))
    return u.min(axis=1), u.max(axis=1), spread


def along(found: Averaged, row: Array, v: Array, weight: Array) -> Array:
    """Loss, g, g^2, h and g s, or what else is averaged, [F, I], along lines at v [I, r - 1], times their weights."""
    parts = []
    for start in range(0, len(row), _TOGETHER // 400):
        some = slice(start, start + _TOGETHER // 400)
        parts.append(_of_lines(found, row[some], v[some], weight[some]))
    return np.concatenate(parts, axis=1)


def _of_lines(found: Averaged, row: Array, v: Array, weight: Array) -> Array:
    lines, part = found.lines, found.part
    reach = np.sqrt(np.maximum(lines.reach[row] ** 2 - (v**2).sum(axis=1), 0.0))[:, None]
    even = np.linspace(-REACH, REACH, round(2.0 * REACH / (_WIDE * lines.width)) + 1)
    edges = np.concatenate([np.broadcast_to(even, (len(row), len(even))), _cuts(found, row, v, reach[:, 0])], axis=1)
    w, own = panels(np.sort(np.clip(edges, -reach, reach), axis=1), _ORDER)
    line, at = np.nonzero(own > 0.0)
    w, own = w[line, at], own[line, at] * density(w[line, at]) * weight[line]
    label = lines.label(row[line], w, v[line])
    own = own * part.chance(label)
    values = found.table.at(row[line], lines.argument(part, row[line], w, v[line]))
    rows = [*values, *(values[1] * each for each in (w, *v[line].T))] if len(values) > 1 else values
    return np.array([np.bincount(line, own * value, len(row)) for value in rows])


def _cuts(found: Averaged, row: Array, v: Array, reach: Array) -> Array:
    """Places w [I, C] where the label has kinks along lines, and where narrow outputs pass levels; infinite others."""
    places = _kinks(found.lines, row, v, reach)
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


def _kinks(lines: Lines, row: Array, v: Array, reach: Array) -> Array:
    w = np.broadcast_to(np.linspace(-1.0, 1.0, _POINTS), (len(row), _POINTS))
    at = lines.indices(row[:, None], w * reach[:, None], v[:, None])
    found = []
    for function in lines.kinks.functions if lines.kinks is not None else ():

        def along(i: Array, x: Array, of: Function = function) -> Array:
            return of(*lines.indices(row[i], x * reach[i], v[i]))

        which, place = crossings(function(*at), along, w, np.zeros((len(row), 1)))
        found.append((which, place * reach[which]))
    return _in_rows(found, len(row))


def _crossings(found: Averaged, row: Array, v: Array, reach: Array, line: Array) -> Array:
    """Where the mean of u passes the levels."""
    u = found.lines.argument(found.part, row[:, None], line * reach[:, None], v[:, None])

    def along(i: Array, x: Array) -> Array:
        return found.lines.argument(found.part, row[i], x * reach[i], v[i])

    which, place = crossings(u, along, line, found.levels[row])
    return _in_rows([(which, place * reach[which])], len(row))


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
