"""Averages of the Moreau envelope and of g, h over the output given kappa, by quadrature in omega at any precision."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import mpmath
import sympy as sp
from reference_labels import REACH, Channel, LabelNode, Step, gauss_panels, legendre, panel_edges

from derive.directions import directions_of
from derive.gaussian.numeric import mpmath_function
from derive.loss.loss import LossAnalysis, U, Y, edge_slopes
from derive.loss.pieces import limit_at

_PANEL = 2  # standard deviations of the output given label and t
_SMOOTH = mpmath.mpf("1.5")  # units of the loss over which a piece varies
_MOST = 300

Evaluate = Callable[..., Any]


@dataclass(frozen=True)
class Fields:
    """The law of the output at one kappa: omega = mean + slope.t + sqrt(Delta) xi, and its response V."""

    response: Any
    mean: Any
    slopes: tuple[Any, ...]
    delta: Any


@dataclass(frozen=True)
class Part:
    """Labels that share the sign s in u = s f - o: where u may be, and its density together with E[t; u]."""

    sign: Any
    low: Any
    high: Any
    density: Callable[[Any], tuple[Any, list[Any]]]


class LossCurve:
    """rho with numbers put in, and its envelope, g and h on increasing places omega_u."""

    def __init__(self, analysis: LossAnalysis, numbers: Mapping[str, Any]) -> None:
        self._analysis = analysis
        self._cells = [(cell, LossCurve(cell, numbers)) for cell in analysis.cells]
        self.form = analysis.loss.form
        names = (Y, *(p.symbol for p in analysis.loss.parameters))
        values = [mpmath.mpf(numbers.get(p.name, p.default)) for p in analysis.loss.parameters]

        def bound(expression: Any) -> Evaluate:
            function = mpmath_function(expression, (U, *names))
            return lambda u, y: function(u, y, *values)

        self._pieces = [[bound(sp.diff(piece, U, n)) for n in range(3)] for piece in analysis.pieces]
        self._kinks = []
        for k, place in enumerate(analysis.breakpoints):
            known = (place, *edge_slopes(analysis, k), limit_at(analysis.pieces[k], U, place, "-"))
            self._kinks.append([bound(sp.sympify(e)) for e in known])

    def at(self, y: Any) -> LossCurve:
        """The curve of the range of labels in which y lies."""
        if not self._cells:
            return self
        here = self._analysis.at(y)
        return next(curve for cell, curve in self._cells if cell is here)

    def marks(self, v: Any, y: Any) -> list[Any]:
        """Images omega_u of the two sides of every kink."""
        if self._cells:
            return self.at(y).marks(v, y)
        found = []
        for place, left, right, _ in self._kinks:
            found += [place(0, y) + v * slope(0, y) for slope in (left, right)]
        return found

    def along(self, grid: Sequence[Any], v: Any, y: Any) -> Iterator[tuple[Any, Any, Any]]:
        """(envelope, g, h) in terms of u at increasing places; a prox moves less than its omega_u."""
        if self._cells:
            yield from self.at(y).along(grid, v, y)
            return
        marks, here, known = self.marks(v, y), -1, (mpmath.mpf(0),) * 3
        for w in grid:
            region = bisect_right(marks, w)
            if region % 2 == 1:
                place, _, _, value = (entry(0, y) for entry in self._kinks[region // 2])
                g = (place - w) / v
                yield value + v * g * g / 2, g, 1 / v
                continue
            value, slope, curvature = self._pieces[region // 2]
            if region != here:
                here, known = region, self._anchor(region // 2, slope, v, y)
            u = _prox(slope, curvature, w, v, y, *known)
            g, bend = -slope(u, y), curvature(u, y)
            known = u, w, 1 / (1 + v * bend)
            yield value(u, y) + v * g * g / 2, g, bend / (1 + v * bend)

    def _anchor(self, k: int, slope: Evaluate, v: Any, y: Any) -> tuple[Any, Any, Any]:
        """A point of piece k, its image, and a first guess of how fast u moves there."""
        half = mpmath.mpf("0.5")
        if k > 0:
            place, _, right, _ = (entry(0, y) for entry in self._kinks[k - 1])
            return place, place + v * right, half
        if self._kinks:
            place, left, _, _ = (entry(0, y) for entry in self._kinks[0])
            return place, place + v * left, half
        return mpmath.mpf(0), v * slope(mpmath.mpf(0), y), half


def _prox(slope: Evaluate, curvature: Evaluate, w: Any, v: Any, y: Any, u: Any, image: Any, rate: Any) -> Any:
    """The root of u + V rho'(u) = w between u and u + (w - image), by Newton inside that bracket."""
    low, high = sorted((u, u + w - image))
    x, small = u + rate * (w - image), mpmath.mpf(10) ** (3 - mpmath.mp.dps)
    for _ in range(_MOST):
        excess = x + v * slope(x, y) - w
        low, high = (x, high) if excess < 0 else (low, x)
        step = excess / (1 + v * curvature(x, y))
        following = x - step if low <= x - step <= high else (low + high) / 2
        if abs(following - x) <= small * (1 + abs(x)):
            return following
        x = following
    raise ArithmeticError(f"no proximal map at omega_u = {mpmath.nstr(w, 8)}, V = {mpmath.nstr(v, 8)}")


def node_averages(curve: LossCurve, channel: Channel, kappa: Any, fields: Fields, finer: int = 1) -> dict[str, Any]:
    """avg_l, avg_M, avg_g, avg_gg, avg_h and avg_tg (one for each direction) at one kappa; ``finer``: more panels.

    Raises ValueError for label noise under a loss that is no function of the residual.
    """
    if channel.noise and curve.form != "residual":
        raise ValueError("label noise is integrated for losses of the residual only")
    totals = [mpmath.mpf(0)] * (5 + len(fields.slopes))
    width = min(_PANEL * mpmath.sqrt(_variance(curve, channel, fields)), _SMOOTH) / finer
    for y, parts in _groups(curve, channel, kappa, fields):
        grid = list(_grid(parts, curve.marks(fields.response, y), width))
        values = curve.along([u for u, _ in grid], fields.response, y)
        for (u, weight), (envelope, g, h) in zip(grid, values, strict=True):
            for part in parts:
                if not part.low <= u <= part.high:
                    continue
                p, along = part.density(u)
                terms = (
                    (envelope - fields.response * g * g / 2) * p,
                    envelope * p,
                    part.sign * g * p,
                    g * g * p,
                    h * p,
                    *(part.sign * g * t for t in along),
                )
                totals = [total + weight * term for total, term in zip(totals, terms, strict=True)]
    names = ("avg_l", "avg_M", "avg_g", "avg_gg", "avg_h", *_along(len(fields.slopes)))
    return dict(zip(names, totals, strict=True))


def _along(count: int) -> tuple[str, ...]:
    return tuple(f"avg_{t}g" for t in directions_of("t", count))


def _variance(curve: LossCurve, channel: Channel, fields: Fields) -> Any:
    return fields.delta + (channel.noise if curve.form == "residual" else 0)


def _groups(curve: LossCurve, channel: Channel, kappa: Any, fields: Fields) -> list[tuple[Any, list[Part]]]:
    """(label that rho depends on, parts that share its curve)."""
    steps, variance = channel.steps(), _variance(curve, channel, fields)
    if steps is not None:
        pairs = [(s.label, _part_of_step(curve.form, channel, kappa, fields, variance, s)) for s in steps]
    else:
        pairs = _parts_of_nodes(curve.form, channel, kappa, fields, float(variance))
    if curve.form != "general":
        return [(mpmath.mpf(1), [part for _, part in pairs])]
    return [(y, [part for label, part in pairs if label == y]) for y in sorted({label for label, _ in pairs})]


def _part_of_step(form: str, channel: Channel, kappa: Any, fields: Fields, variance: Any, step: Step) -> Part:
    """Of a label on an interval: given u the direction t is Gaussian."""
    (slope,), y = fields.slopes, step.label
    sign, offset = (y if form == "margin" else mpmath.mpf(1)), (y if form == "residual" else 0)
    total, centre = variance + slope**2, sign * fields.mean - offset
    norm = step.weight / mpmath.sqrt(2 * mpmath.pi * total)

    def density(u: Any) -> tuple[Any, list[Any]]:
        off = sign * (u - centre)
        ends = [channel.below(e, kappa, off * slope / total, variance / total) for e in (step.high, step.low)]
        p = norm * mpmath.exp(-(off**2) / (2 * total))
        return p * (ends[0][0] - ends[1][0]), [p * (ends[0][1] - ends[1][1])]

    reach = REACH * mpmath.sqrt(total)
    return Part(sign, centre - reach, centre + reach, density)


def _parts_of_nodes(form: str, channel: Channel, kappa: Any, fields: Fields, variance: float) -> list[tuple[Any, Part]]:
    """Of labels at nodes of t, in double precision: sums of positive terms."""
    mean, slopes = float(fields.mean), [float(s) for s in fields.slopes]

    def centre(t: tuple[float, ...], y: Any) -> float:
        f = mean + sum(s * x for s, x in zip(slopes, t, strict=True))
        return f - float(y) if form == "residual" else float(y) * f if form == "margin" else f

    groups: dict[Any, list[tuple[float, LabelNode]]] = {}
    for node in channel.nodes(kappa, centre, math.sqrt(variance)):
        key = node.label if form != "residual" else mpmath.mpf(1)
        groups.setdefault(key, []).append((centre(node.t, node.label), node))
    return [(y, _part_of_nodes(y if form == "margin" else 1, group, variance)) for y, group in groups.items()]


def _part_of_nodes(sign: Any, group: list[tuple[float, LabelNode]], variance: float) -> Part:
    group.sort(key=lambda pair: pair[0])
    centres, nodes = [c for c, _ in group], [node for _, node in group]
    reach, norm = REACH * math.sqrt(variance), 1.0 / math.sqrt(2.0 * math.pi * variance)

    def density(u: Any) -> tuple[Any, list[Any]]:
        x = float(u)
        near = range(bisect_right(centres, x - reach), bisect_right(centres, x + reach))
        p = [nodes[i].weight * norm * math.exp(-0.5 * (x - centres[i]) ** 2 / variance) for i in near]
        along = [[w * nodes[i].t[d] for w, i in zip(p, near, strict=True)] for d in range(len(nodes[0].t))]
        return math.fsum(p), [math.fsum(terms) for terms in along]

    return Part(mpmath.mpf(sign), centres[0] - reach, centres[-1] + reach, density)


def _grid(parts: Sequence[Part], marks: Sequence[Any], width: Any) -> Iterator[tuple[Any, Any]]:
    """Increasing places and weights of Gauss-Legendre panels that end at the marks."""
    low, high = min(part.low for part in parts), max(part.high for part in parts)
    edges = [low, *sorted(m for m in marks if low < m < high), high]
    for left, right in pairwise(edges):
        count = int(mpmath.ceil((right - left) / width))
        for k in range(count):
            half = (right - left) / (2 * count)
            middle = left + (2 * k + 1) * half
            for x, w in sorted(legendre()):
                yield middle + half * x, half * w


def misclassification(channel: Channel, kappa: Any, fields: Fields) -> Any:
    """P(y f < 0 | kappa) of the clean label, by quadrature over t."""
    clean, (mean, root) = channel.clean(), (fields.mean, mpmath.sqrt(fields.delta))
    steps = clean.steps()
    if steps is None:
        return mpmath.fsum(
            n.weight * _wrong(n.label, mean + _dot(fields.slopes, n.t), root) for n in clean.nodes(kappa)
        )
    cuts = [(e - clean.alignments[0] * kappa) / (clean.width or mpmath.inf) for s in steps for e in (s.low, s.high)]
    total = mpmath.mpf(0)
    for weight, t in gauss_panels(panel_edges([*cuts, -mean / (fields.slopes[0] or mpmath.inf)])):
        z = clean.alignments[0] * kappa + clean.width * t
        (y,) = [s.label for s in steps if s.low <= z < s.high]
        total += weight * _wrong(y, mean + fields.slopes[0] * t, root)
    return total


def _wrong(y: Any, centre: Any, root: Any) -> Any:
    """P(y f < 0) for f ~ N(centre, root^2), also where features vanish; half where f does."""
    if root == 0:
        return mpmath.mpf("0.5") if centre == 0 else mpmath.mpf(y * centre < 0)
    return mpmath.ncdf(-y * centre / root)


def _dot(slopes: Sequence[Any], t: Sequence[Any]) -> Any:
    return mpmath.fsum(s * x for s, x in zip(slopes, t, strict=False))
