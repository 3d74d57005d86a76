"""The law of the label given kappa, as the kernels of a loss take it: constant on intervals, or at nodes.

Given kappa the indices of the target are ``z = gamma kappa + L t`` with ``L L^T = 1 - gamma gamma^T`` and t standard
normal; probit noise adds to z, label noise and flips to the label. With probit noise the label is a function of
``z' = gamma kappa + L' t'``, and t is normal about a linear function of t'.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from giantstep.law.channel import labels_given
from giantstep.law.directions import noisy_indices, rows_of
from giantstep.law.kinds_of_labels import Intervals, Labels, Points
from giantstep.law.label_growth import label_beside, reach_of
from giantstep.law.multi_index_labels import has_kinks, nodes_given_kappa
from giantstep.law.residual import turns_of
from giantstep.quadrature.gauss import ends_within, normal_between, products
from giantstep.simulate.available_memory import available_bytes
from giantstep.spec.errors import NotConverged
from giantstep.spec.kernels import function_kernel
from giantstep.spec.link import link_values
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Target
from giantstep.spec.target_channel import Channel

Array = np.ndarray
_REACH = 9.0  # of t: the Gaussian weight beyond is 1e-18
_CONSTANT = 1e-12
_SHARP = 0.2  # width of a turn of a label or a mean label
_PANELS = 4  # between two breakpoints
_STEPS = (0.7, 0.5, 0.35, 0.25, 0.18, 0.12, 0.085, 0.06, 0.042, 0.03, 0.021, 0.015)
_NOISE_STEP = 0.6
_MOST, _TOGETHER = 4_000_000, 1 << 20  # nodes of a grid; nodes of labels that are handled together
_LITTLE = 1 << 26  # bytes: asking the machine how many it has takes longer than using these
_FEW_VALUES, _AT_ONCE = 8, 2000  # of a label; nodes of kappa at which these are told
_APART = 1e-6  # of t, whose squares are felt, where rounding tells it from zero
_TOLERANCE = 1e-13  # of the moments of a smooth link, where the step of t is chosen; a tenth longer, it leaves 2e-11


def label_law(
    target: Target,
    alignments: tuple[float, ...] | Rows,
    kappa: Array,
    finer: int = 0,
    rough: bool = False,
) -> Labels:
    """The law of the label at nodes of kappa; ``finer``: halvings of t.

    alignments: of one direction of kappa [N] with every index, or a row for each direction of kappa [N, q]. Of a
    link of one index, only the first direction may have any.
    rough: on a tenth fewer nodes, for an estimate of the error. Label noise is not part of it: a residual loss takes
    its variance, any other its nodes (``with_noise``).
    """
    found = law_of_link(target, alignments, kappa, finer, rough)
    if isinstance(found, Points):
        return drawn(found, target, finer, rough)
    if target.channel is not None:
        return _drawn_on_intervals(found, target.channel)
    return _flipped_on_intervals(found, target.flips) if target.flips > 0.0 else found


def law_of_link(
    target: Target,
    alignments: tuple[float, ...] | Rows,
    kappa: Array,
    finer: int = 0,
    rough: bool = False,
) -> Labels:
    """The law of the link's value, of which the label is drawn, where ``label_law`` takes it: the label before flips
    and without a channel.
    """
    levels = levels_of(target.link) if target.indices == 1 else None
    if levels is not None:
        return _intervals(*levels, float(np.atleast_2d(np.array(alignments))[0, 0]), target.probit)
    return nodes_of_link(target, alignments, kappa, finer, rough)


def nodes_of_link(
    target: Target,
    alignments: tuple[float, ...] | Rows,
    kappa: Array,
    finer: int = 0,
    rough: bool = False,
) -> Points:
    """The same at nodes, also where the link is constant on intervals."""
    gamma = np.atleast_2d(np.array(alignments))
    kappa = kappa.reshape(-1, len(gamma))
    if target.indices == 1:
        gamma, kappa = gamma[:1], kappa[:, :1]
    return _of_few_values(target, gamma, kappa, finer, rough) or _points(target, gamma, kappa, finer, rough)


def with_noise(points: Labels, variance: float, finer: int = 0, rough: bool = False) -> Labels:
    """Labels at nodes of the label noise as well, for losses that are no functions of the residual."""
    step = _Nodes(finer, rough).step(_NOISE_STEP)
    noise = _trapezoid(step)[0]
    weight = step * np.exp(-0.5 * noise * noise) / math.sqrt(2.0 * math.pi)
    if isinstance(points, Intervals):
        low, high = (np.repeat(ends, len(noise)) for ends in (points.low, points.high))
        label = (points.label[:, None] + math.sqrt(variance) * noise).ravel()
        return replace(points, low=low, high=high, label=label, weight=np.outer(points.weight, weight).ravel())
    n, j, d = points.t.shape
    enough_memory(n, j * len(noise), d)
    label = points.label[:, :, None] + math.sqrt(variance) * noise
    t = np.broadcast_to(points.t[:, :, None, :], (n, j, len(noise), d))
    weights = (points.weight[:, :, None] * weight).reshape(n, -1)
    return Points(weights, label.reshape(n, -1), t.reshape(n, -1, d).copy(), points.rest)


def jumps_and_kinks(target: Target) -> tuple[float, ...]:
    """Those of a target of one index, and of the mean label that a channel draws."""
    links = (target.link,) if target.channel is None else (target.link, target.mean_link)
    return tuple(sorted({place for link in links for place in function_kernel(link).BREAKPOINTS}))


def cuts_of(target: Target) -> tuple[float, ...]:
    """Where panels of z end for a target of one index: kinks and jumps of the link, and those of the mean label that a
    channel draws, with places about the turns of both that no even rule resolves.
    """
    links = (target.link,) if target.channel is None else (target.link, target.mean_link)
    return tuple(sorted({place for link in links for place in _cuts_of(link)}))


@lru_cache(maxsize=256)
def _cuts_of(link: str) -> tuple[float, ...]:
    kernel = function_kernel(link)
    sharp = any(0.0 < width < _SHARP for _, width in kernel.FUNCTION.features)
    return tuple(turns_of(link) if sharp else kernel.BREAKPOINTS)


def is_constant(link: str) -> bool:
    """Whether a link of one index is constant between its breakpoints."""
    return levels_of(link) is not None


@lru_cache(maxsize=256)
def levels_of(link: str) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """(breakpoints, values between them) of a link that is constant between its breakpoints, else None."""
    breaks = tuple(function_kernel(link).BREAKPOINTS)
    edges = np.array([-40.0, *breaks, 40.0])
    inside = edges[:-1, None] + np.diff(edges)[:, None] * (np.arange(1, 60) / 60.0)
    values = link_values(link)(inside.reshape(1, -1)).reshape(inside.shape)
    levels = values[:, 30]
    if not breaks or np.max(np.abs(values - levels[:, None])) > _CONSTANT * max(1.0, np.max(np.abs(levels))):
        return None
    return breaks, tuple(float(x) for x in levels)


def _intervals(breaks: tuple[float, ...], levels: tuple[float, ...], gamma: float, probit: float) -> Intervals:
    edges = np.array([-math.inf, *breaks, math.inf])
    low, high, label = edges[:-1], edges[1:], np.array(levels)
    rest = max(0.0, (1.0 - gamma) * (1.0 + gamma))
    width = math.sqrt(rest + probit)
    correlation = math.sqrt(rest) / width if width > 0.0 else 0.0
    return Intervals(low, high, np.ones_like(label), label, np.array([gamma, width, correlation]))


def _flipped_on_intervals(found: Intervals, flips: float) -> Intervals:
    low, high = np.tile(found.low, 2), np.tile(found.high, 2)
    weight = np.repeat([1.0 - flips, flips], len(found.label))
    return replace(found, low=low, high=high, label=np.concatenate([found.label, -found.label]), weight=weight)


def _drawn_on_intervals(found: Intervals, channel: Channel) -> Intervals:
    """Labels of a channel, whose parameter is constant on intervals."""
    label, weight = labels_given(channel, found.label)
    low, high = (np.tile(ends, len(label)) for ends in (found.low, found.high))
    return replace(found, low=low, high=high, label=label.ravel(), weight=(found.weight * weight).ravel())


def drawn(points: Points, target: Target, finer: int = 0, rough: bool = False) -> Points:
    """Labels that a channel draws given those of the points, or that change their signs with a probability."""
    if target.channel is not None:
        return _drawn(points, target.channel, finer, rough)
    return _flipped(points, target.flips) if target.flips > 0.0 else points


def _drawn(points: Points, channel: Channel, finer: int, rough: bool) -> Points:
    n, j, d = points.t.shape
    label, weight = labels_given(channel, points.label, finer, rough)
    enough_memory(n, j * len(label), d)
    label, weight = (np.moveaxis(each, 0, 1).reshape(n, -1) for each in (label, weight * points.weight))
    t = np.broadcast_to(points.t[:, None], (n, len(label[0]) // j, j, d)).reshape(n, -1, d).copy()
    return Points(np.ascontiguousarray(weight), np.ascontiguousarray(label), t, points.rest)


def _flipped(points: Points, flips: float) -> Points:
    weight = np.concatenate([(1.0 - flips) * points.weight, flips * points.weight], axis=1)
    label = np.concatenate([points.label, -points.label], axis=1)
    return Points(weight, label, np.concatenate([points.t, points.t], axis=1), points.rest)


@dataclass(frozen=True)
class _Nodes:
    """How many nodes of t: ``finer`` halvings, and a tenth fewer where ``rough``."""

    finer: int
    rough: bool

    def step(self, widest: float) -> float:
        """Of a trapezoid."""
        return float(widest * (1.1 if self.rough else 1.0) / 2**self.finer)

    @property
    def panels(self) -> int:
        """Between two breakpoints."""
        return int(_PANELS * 2**self.finer)

    @property
    def order(self) -> int:
        """Of the Gauss-Legendre rule of a panel."""
        return 11 if self.rough else 12


def _points(target: Target, gamma: Array, kappa: Array, finer: int, rough: bool) -> Points:
    """The value of the link at nodes."""
    noisy = noisy_indices(gamma, target.probit)
    breaks = cuts_of(target) if target.indices == 1 else ()
    if has_kinks(target.link):
        weight, t = nodes_given_kappa(target.link, gamma, noisy.lower, kappa, finer, rough)
    elif breaks and noisy.lower[0, 0] > 0.0:
        reach = reach_of(target.link, rows_of(gamma), target.probit)
        beside = float(gamma[0, 0]) * kappa[:, 0], float(noisy.lower[0, 0])
        t, weight = _panels(breaks, *beside, reach, _Nodes(finer, rough))
        t = t[:, :, None]
    else:
        nodes, weights = _tensor(target, rows_of(gamma), finer, rough)
        enough_memory(len(kappa), *nodes.shape)
        t, weight = nodes[None], weights[None]  # the same at every kappa
    label = _label_at(target.link, kappa @ gamma, noisy.lower, t)
    t = t @ noisy.carry.T
    weight, t = (np.broadcast_to(part, (len(kappa), *part.shape[1:])) for part in (weight, t))
    weight, t = (np.require(part, requirements=["C", "W"]) for part in (weight, t))
    return Points(weight, label, t, noisy.rest)


def _of_few_values(target: Target, gamma: Array, kappa: Array, finer: int, rough: bool) -> Points | None:
    """The same where kappa is all that label and output share: labels of one value are one node. None where it is not,
    or where they are many.
    """
    if target.indices == 1 or np.max(np.abs(noisy_indices(gamma, target.probit).carry)) > _APART:
        return None
    told: list[dict[float, Array]] = []  # probabilities by value, of some nodes after the other
    for part in np.array_split(kappa, max(1, math.ceil(len(kappa) / _AT_ONCE))):
        points = _points(target, gamma, part, finer, rough)
        values = points.few_values(_FEW_VALUES)
        if values is None:
            return None
        told.append({value: (points.weight * (points.label == value)).sum(axis=1) for value in values.tolist()})
    every = np.array(sorted({value for some in told for value in some}))
    rows = [np.concatenate([some.get(value, 0.0 * next(iter(some.values()))) for some in told]) for value in every]
    weight = np.stack(rows, axis=1)
    label, t = np.broadcast_to(every, weight.shape).copy(), np.zeros((*weight.shape, points.directions))
    return Points(weight, label, t, points.rest)


def _label_at(link: str, base: Array, lower: Array, t: Array) -> Array:
    """The value of a link at base [N, I] + lower t [N or 1, J, m], some rows at a time: [N, J]."""
    found = np.empty((len(base), t.shape[1]))
    for part in parts_of(found.shape):
        moved = (t if len(t) == 1 else t[part]) @ lower.T
        found[part] = link_values(link)(np.moveaxis(base[part, None] + moved, 2, 0))
    return found


def parts_of(shape: tuple[int, ...]) -> Iterator[slice]:
    """Rows of an array of nodes, so many at a time as take little room."""
    together = max(1, _TOGETHER // max(1, shape[1]))
    return (slice(start, start + together) for start in range(0, shape[0], together))


def _panels(breaks: tuple[float, ...], centre: Array, width: float, reach: float, count: _Nodes) -> tuple[Array, Array]:
    """Nodes and weights [N, J] of t between the breakpoints of the link, Gauss-Legendre on each panel."""
    inner = ends_within(np.array(breaks), centre, width, reach)
    ends = np.full((len(centre), 1), reach)
    edges = np.concatenate([-ends, inner, ends], axis=1)
    panels = math.ceil(count.panels * reach / _REACH)
    cuts = edges[:, :-1, None] + np.diff(edges, axis=1)[:, :, None] * (np.arange(panels + 1) / panels)
    t, weight = normal_between(cuts[:, :, :-1], cuts[:, :, 1:], count.order)
    return t.reshape(len(centre), -1), weight.reshape(len(centre), -1)


def smooth_rule(link: str, overlaps: Rows, probit: float, finer: int, rough: bool) -> tuple[Array, Array]:
    """Trapezoid nodes [n] and weights [n] of one direction of t for a smooth link, whatever kappa is.

    Raises NotConverged where it varies too sharply or grows too fast.
    """
    widest, reach = _step_and_reach(link, overlaps, probit)
    return _trapezoid(_Nodes(finer, rough).step(widest), reach)


def _tensor(target: Target, overlaps: Rows, finer: int, rough: bool) -> tuple[Array, Array]:
    """Nodes [J, D] and weights [J] of the indices of a smooth link, those that the mean label of a channel needs too.

    Where kappa has several directions, one node serves a direction of t that the label does not know.
    """
    link, probit = target.link, target.probit
    averaged = dict.fromkeys((link, target.mean_link, *[target.second_link] * isinstance(target.second_link, str)))
    rule = max((smooth_rule(str(text), overlaps, probit, finer, rough) for text in averaged), key=lambda r: len(r[0]))
    single = (np.zeros(1), np.ones(1))
    known = np.diag(noisy_indices(np.array(overlaps), probit).lower) > 0.0
    rules = [rule if moves or len(overlaps) == 1 else single for moves in known]
    affordable(link, math.prod(len(t) for t, _ in rules))
    grid, weights = products(rules)
    keep = weights > 0.04 * math.exp(-0.5 * float(rule[0][-1]) ** 2)
    return grid[keep], weights[keep]


def affordable(link: str, count: int, most: int = _MOST) -> None:
    """Raise NotConverged where a grid of t has too many nodes."""
    if count > most:
        raise NotConverged(
            f"the label {link!r} needs {count:.1g} nodes of its indices given the spike, {most:.0e} at most",
            "use a link of fewer indices, or a smoother one",
        )


def enough_memory(nodes: int, labels: int, directions: int) -> None:
    """Raise NotConverged where the labels at all nodes of kappa do not fit."""
    needed = 8 * nodes * labels * (4 + 2 * directions)
    available = available_bytes() if needed > _LITTLE else None
    if available is not None and needed > available:
        raise NotConverged(
            f"the label at {nodes} nodes of kappa and {labels} of the rest of the target needs {needed / 2**30:.1f} "
            f"GiB, and {available / 2**30:.1f} GiB are available",
            "take fewer indices, each of which multiplies the nodes, or run it where there is more memory",
        )


def _trapezoid(step: float, reach: float = _REACH) -> tuple[Array, Array]:
    t = np.arange(-math.floor(reach / step), math.floor(reach / step) + 1) * step
    return t, step * np.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi)


@lru_cache(maxsize=256)
def _step_and_reach(link: str, overlaps: Rows, probit: float) -> tuple[float, float]:
    """The largest step of t at which the first moments of the label have settled, and where t may end."""
    previous, reach, label = None, reach_of(link, overlaps, probit), label_beside(link, overlaps, probit)
    steps = _STEPS
    for step in steps:
        t, weight = _trapezoid(step, reach)
        moments = [(weight @ y, weight @ (y * t), weight @ (y * y)) for y in label.along_axes(t)]
        current = np.array(moments)
        if previous is not None and np.max(np.abs(current - previous)) <= _TOLERANCE * np.max(np.abs(current)):
            return steps[steps.index(step) - 1], reach
        previous = current
    raise NotConverged(
        f"the label {link!r} varies too sharply around the spike to be averaged: steps of {steps[-1]:g} do not settle",
        "soften it, or write its kinks with abs, sign, step, relu, max, min or clip, which are found",
    )
