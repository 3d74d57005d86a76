"""Panels in kappa on which the sign of the output is resolved, found from the solution itself.

Where the output varies much less than its mean, the probability of a wrong sign given kappa is all but a step at each
zero of the mean. It turns within ``spread/|mean'|``, however smooth the coefficients are, and two orders of quadrature
on the panels of the coefficients may miss it together. Three things turn: the sign of the mean, the label, and the
sign of the output where the label changes.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from generated.runtime.between_nodes import fill_turns, is_sharp, sums_on_panels
from giantstep.law.kinds_of_labels import Intervals, Labels
from giantstep.law.label_lines import Lines
from giantstep.quadrature.gauss import legendre_coefficients
from giantstep.quadrature.mesh import nodes

Array = np.ndarray
Index = NDArray[np.intp]
_NO_EDGES = np.empty(0)
_FINER, _CLOSER = 33, 2  # places in a bracket, which shrinks by as much in each round
_ROUNDS, _CENTRED = 40, 0.1  # of false position, and how close to a zero they come, in lengths of its turn
_NEAR = 1e-8  # step of a slope in kappa
_BESIDE = np.array([-_NEAR, 0.0, _NEAR])
_AROUND = (0.0, 1.5, 3.0, 4.5, 6.0, *(2.0 ** np.arange(3, 40)).tolist())  # ends of panels about a turn, in its widths
_APART = 0.2  # of its distance from the turn, what such an end has to be away from others
_OUTSIDE = 80.0  # kappa^2 beyond which turns are not looked for: a probability has the weight 1e-17 there
_LONGEST = 4.0  # in kappa, of panels about a turn
_ORDER = 16
_TAIL = 1e-9  # last Legendre coefficients of a panel, relative to the average; the rule's error is about its square
_ROUNDED = 1e-15  # of the largest slope, what rounding leaves of one that vanishes
_HALVINGS, _MOST = 12, 2000


@dataclass(frozen=True)
class Output:
    """Mean [N], slopes [D, N] in t and variance [N] of the output given kappa [N], and the law of the clean label."""

    kappa: Array
    mean: Array
    slopes: Array
    variance: Array
    labels: Labels | Lines

    @cached_property
    def spread(self) -> Array:
        """Standard deviation of the output given kappa."""
        return np.asarray(np.sqrt((self.slopes**2).sum(axis=0) + self.variance))

    def turns(self) -> Array:
        """What turns a probability where it vanishes, in units of the length of the turn: the mean, and for each end of
        an interval t there, and the mean given that; and how many standard deviations of t away it happens. [2, F, N]
        """
        law = self.labels
        edges, channel = (law.edges, law.channel) if isinstance(law, Intervals) else (_NO_EDGES, _NO_EDGES)
        fields, found = np.empty((4, len(self.kappa))), np.empty((2, 1 + 2 * len(edges), len(self.kappa)))
        fields[0], fields[1], fields[2], fields[3] = self.mean, self.spread, self.slopes[0], self.variance
        fill_turns(self.kappa, fields, edges, channel, found[0], found[1])
        return found


Given = Callable[[Array], Output]
Averaged = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Signs:
    """Where signs of an output are judged: on panels in kappa with these edges, or on the nodes of its system.

    half: the panels are those at kappa > 0, of functions that are even; average: of the probability that these panels
    were found for.
    """

    edges: Array | None = None
    half: bool = False
    average: float = math.nan

    @property
    def plain(self) -> bool:
        """Whether the nodes of a system are enough."""
        return self.edges is None

    def nodes(self, order: int, half: bool) -> tuple[Array, Array]:
        """kappa and weight of an order, with twice the weight where one half is enough; half: whether it may be."""
        assert self.edges is not None
        if self.half and half:
            kappa, weight = nodes_on(self.edges, order)
            return kappa, 2.0 * weight
        return nodes_on(np.concatenate([-self.edges[:0:-1], self.edges]) if self.half else self.edges, order)


PLAIN = Signs()


def turns_fast(output: Output) -> bool:
    """Whether a probability of the output's sign turns between two nodes."""
    return bool(is_sharp(output.kappa, *output.turns()))


def panels(output: Output, ends: Array, given: Given, averaged: Averaged, near: Signs | None = None) -> Signs:
    """Panels that resolve a probability of the output's sign.

    ends: of the panels of the coefficients; given: the output at any kappa, of a law of the label on intervals or of
    none; averaged: the functions [F, N] at kappa to resolve, even where the nodes of ``output`` are those of one half;
    near: those of a similar output, to start from. The error is about the square of the tolerance on their last
    coefficients.
    """
    edges, half = ends, bool(output.kappa[0] > 0.0)
    if half:
        edges = np.concatenate([[0.0], edges[edges > 0.0]])
    if near is not None and _serves(near, edges, half, given):
        edges = np.asarray(near.edges)
    else:
        grid, _ = nodes_on(edges, _ORDER)
        grid = grid[grid**2 < _OUTSIDE]
        centre, width = _places(given, np.concatenate([-grid[:1], grid]) if half else grid)
        edges = _about_turns(*(tuple(each.tolist()) for each in (edges, centre, width)))
    edges, average = halved(edges, averaged)
    return Signs(edges, half, 2.0 * average if half else average)


def _serves(near: Signs, edges: Array, half: bool, given: Given) -> bool:
    """Whether panels found for another output have these edges, and no sign of this one turns between their nodes."""
    if near.edges is None or near.half != half:
        return False
    place = np.searchsorted(near.edges[:-1], edges)
    return np.array_equal(near.edges[place], edges) and not turns_fast(given(nodes_on(near.edges, _ORDER)[0]))


def nodes_on(edges: Array, order: int) -> tuple[Array, Array]:
    """kappa and weight on panels, remembered: neighbours on a curve have the same ones."""
    return _known_nodes(edges.tobytes(), order)


@lru_cache(maxsize=32)
def _known_nodes(edges: bytes, order: int) -> tuple[Array, Array]:
    kappa, weight = nodes(np.frombuffer(edges), order)
    kappa.flags.writeable = weight.flags.writeable = False
    return kappa, weight


@lru_cache(maxsize=32)
def _about_turns(edges: tuple[float, ...], centres: tuple[float, ...], widths: tuple[float, ...]) -> Array:
    """Edges with those about turns, the closest first, but for what is close to another."""
    found, last = list(edges), edges[-1]
    turns = list(zip(centres, widths, strict=True))
    for share in _AROUND:
        for centre, width in turns:
            step = share * width
            gap = max(_APART * max(step, width), 4.0 * math.ulp(centre))
            for place in (centre - step, centre + step) if step < _LONGEST else ():
                after = bisect_left(found, place)
                if 0 < after and place < last and place - found[after - 1] > gap and found[after] - place > gap:
                    found.insert(after, place)
    return np.array(found)


def _places(given: Given, grid: Array) -> tuple[Array, Array]:
    """Centres of the turns, and their widths: zeros, and where a turn comes near to zero and goes back.

    Widths are rounded to powers of the root of two: neighbours on a curve then have the same panels, whose coefficients
    are remembered.
    """
    found = _Turns(given)
    values, _ = given(grid).turns()
    size, positive = np.abs(values), values > 0.0
    same = positive[:, 1:] == positive[:, :-1]
    dips = (size[:, 1:-1] <= size[:, :-2]) & (size[:, 1:-1] < size[:, 2:]) & same[:, 1:] & same[:, :-1]
    which, place = np.nonzero(dips)
    middle, width = found.least(which, grid[place], grid[place + 2])
    at_middle = found.at(which, middle)
    crossed = at_middle * values[which, place] < 0.0
    owner, left = np.nonzero(~same)
    twice, before, after, between = (each[crossed] for each in (which, place, place + 2, at_middle))
    low = np.array(
        [[*grid[left], *grid[before], *middle[crossed]], [*values[owner, left], *values[twice, before], *between]]
    )
    high = np.array(
        [[*grid[left + 1], *middle[crossed], *grid[after]], [*values[owner, left + 1], *between, *values[twice, after]]]
    )
    zeros, widths = found.zeros(np.concatenate([owner, twice, twice]), low, high)
    width, centre = np.concatenate([width, widths]), np.concatenate([middle, zeros])
    with np.errstate(divide="ignore"):
        width = np.exp2(0.5 * np.round(2.0 * np.log2(width)))
    kept = width < _LONGEST
    return centre[kept], width[kept]


@dataclass(frozen=True)
class _Turns:
    """The functions that turn a probability, at any kappa."""

    given: Given

    def at(self, which: Index, kappa: Array) -> Array:
        """Function which[I] at places [I] or [I, n]."""
        if not kappa.size:
            return kappa
        turns, _ = self.given(kappa.ravel()).turns()
        values = turns.reshape(-1, *kappa.shape)
        return np.asarray(values[which, np.arange(len(which))])

    def least(self, which: Index, low: Array, high: Array) -> tuple[Array, Array]:
        """Where the size of a function is least in a bracket, and the distance on which it changes by one."""
        row = np.arange(len(which))
        for _ in range(_CLOSER if len(row) else 0):
            points = low[:, None] + (high - low)[:, None] * np.linspace(0.0, 1.0, _FINER)
            least = np.clip(np.argmin(np.abs(self.at(which, points)), axis=1), 1, _FINER - 2)
            low, middle, high = points[row, least - 1], points[row, least], points[row, least + 1]
        if not len(row):
            return low, high
        values = self.at(which, np.stack([low, middle, high], axis=1))
        with np.errstate(divide="ignore", invalid="ignore"):  # a bracket that has closed tells no width
            bend = np.abs(values[:, 0] - 2.0 * values[:, 1] + values[:, 2]) / (0.5 * (high - low)) ** 2
            return middle, np.sqrt(2.0 / bend)

    def zeros(self, which: Index, below: Array, above: Array) -> tuple[Array, Array]:
        """Zeros in brackets by the Illinois rule of false position, and the lengths of the turns there; below, above:
        ends of brackets and the functions there [2, I].
        """
        (low, at_low), (high, at_high) = below, above
        zero, least, width = low, np.full(len(low), math.inf), np.zeros(len(low))
        for step in range(_ROUNDS if len(low) else 0):
            share = at_low / (at_low - at_high) if step % 4 != 3 else 0.5  # now and then the middle
            x = low + np.clip(share, 0.0, 1.0) * (high - low)
            before, value, after = self.at(which, x[:, None] + _BESIDE).T
            better = np.abs(value) < least
            with np.errstate(divide="ignore"):
                width = np.where(better, 2.0 * _NEAR / np.abs(after - before), width)
            zero, least = np.where(better, x, zero), np.where(better, np.abs(value), least)
            left = (value > 0.0) == (at_low > 0.0)
            at_high, at_low = np.where(left, 0.5 * at_high, value), np.where(left, value, 0.5 * at_low)
            low, high = np.where(left, x, low), np.where(left, high, x)
            if np.all((np.abs(value) < _CENTRED) | (high - low <= 4.0 * np.spacing(np.abs(high)))):
                break
        return zero, width


def halved(edges: Array, averaged: Averaged, most: int = _MOST) -> tuple[Array, float]:
    """Panels halved until the last Legendre coefficients of every function on them are small, or rounding, or they are
    more than ``most``; the average of the first function, which is nowhere negative. The others are its slopes, in one
    unit.
    """
    tails = legendre_coefficients(_ORDER)[-2:]
    new, known = np.ones(len(edges) - 1, bool), None
    for _ in range(_HALVINGS):
        kappa, weight = (each.reshape(-1, _ORDER)[new] for each in nodes_on(edges, _ORDER))
        values = averaged(kappa.ravel()).reshape(-1, *kappa.shape)
        sums, found = np.empty((2, *values.shape[:2])), np.empty((2, len(values), len(new)))
        sums_on_panels(values, weight, tails, sums)
        found[:, :, new] = sums
        if known is not None:
            found[:, :, ~new] = known
        total, tail = found
        whole = total.sum(axis=1)
        least = np.maximum(_TAIL * whole, _ROUNDED * whole[1:].max(initial=0.0))
        bad: NDArray[np.bool_] = (tail > least[:, None]).any(axis=0)
        if not bad.any():
            break
        halves = 0.5 * (edges[:-1] + edges[1:])
        bad &= halves - edges[:-1] > 4.0 * np.spacing(np.abs(halves))  # in two that are not the same but for rounding
        if not bad.any() or len(edges) > most:
            break
        edges, new, known = (
            np.sort(np.concatenate([edges, halves[bad]])),
            np.repeat(bad, np.where(bad, 2, 1)),
            found[:, :, ~bad],
        )
    return edges, float(total[0].sum())
