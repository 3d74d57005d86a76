"""Panels in kappa on which the sign of the output is resolved, found from the solution itself.

Where the output varies much less than its mean, the probability of a wrong sign given kappa is all but a step at each
zero of the mean. It turns within ``spread/|mean'|``, however smooth the coefficients are, and two orders of quadrature
on the panels of the coefficients may miss it together. Three things turn: the sign of the mean, the label, and the
sign of the output where the label changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial.legendre import legvander
from numpy.typing import NDArray

from generated.runtime.between_nodes import fill_turns, is_sharp
from giantstep.law.labels import Intervals, Labels
from giantstep.quadrature.gauss import legendre
from giantstep.quadrature.mesh import nodes

Array = np.ndarray
Index = NDArray[np.intp]
_NO_EDGES = np.empty(0)
_FINER, _CLOSER = 33, 2  # places in a bracket, which shrinks by as much in each round
_ROUNDS, _CENTRED = 40, 0.1  # of false position, and how close to a zero they come, in lengths of its turn
_NEAR = 1e-8  # step of a slope in kappa
_AROUND = np.array([0.0, *(2.0 ** np.arange(1, 40))])  # ends of panels to either side of a turn, in widths of it
_OUTSIDE = 80.0  # kappa^2 beyond which turns are not looked for: a probability has the weight 1e-17 there
_LONGEST = 4.0  # in kappa, of panels about a turn
_ORDER = 16
_TAIL = 1e-9  # last Legendre coefficients of a panel, relative to the average; the rule's error is about its square
_HALVINGS, _MOST = 12, 2000


@dataclass(frozen=True)
class Output:
    """Mean [N], slopes [D, N] in t and variance [N] of the output given kappa [N], and the law of the clean label."""

    kappa: Array
    mean: Array
    slopes: Array
    variance: Array
    labels: Labels

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


def panels(output: Output, ends: Callable[[], Array], given: Given, averaged: Averaged) -> Array | None:
    """Ends of panels that resolve a probability of the output's sign, None where the nodes of ``output`` do.

    ends: of the panels of the coefficients; given: the output at any kappa, of a law of the label on intervals or of
    none; averaged: the functions [F, N] at kappa to resolve. The error is about the square of the tolerance on their
    last coefficients.
    """
    if not is_sharp(output.kappa, *output.turns()):
        return None
    edges = ends()
    grid, _ = nodes(edges, _ORDER)
    centre, width = _places(given, grid[grid**2 < _OUTSIDE])
    steps = _AROUND[:, None] * width
    around = np.where(steps < _LONGEST, steps, 0.0)
    all_edges = np.concatenate([edges, (centre - around).ravel(), (centre + around).ravel()])
    all_edges = _distinct(all_edges[(all_edges >= edges[0]) & (all_edges <= edges[-1])])
    return _halved(all_edges, averaged)


def _places(given: Given, grid: Array) -> tuple[Array, Array]:
    """Centres of the turns, and their widths: zeros, and where a turn comes near to zero and goes back."""
    found = _Turns(given)
    values, _ = given(grid).turns()
    size, positive = np.abs(values), values > 0.0
    same = positive[:, 1:] == positive[:, :-1]
    dips = (size[:, 1:-1] <= size[:, :-2]) & (size[:, 1:-1] < size[:, 2:]) & same[:, 1:] & same[:, :-1]
    which, place = np.nonzero(dips)
    middle, width = found.least(which, grid[place], grid[place + 2])
    crossed = found.at(which, middle) * values[which, place] < 0.0
    owner, left = np.nonzero(~same)
    low, high = grid[left], grid[left + 1]
    twice = which[crossed], which[crossed]
    low = np.concatenate([low, grid[place[crossed]], middle[crossed]])
    high = np.concatenate([high, middle[crossed], grid[place[crossed] + 2]])
    zeros, widths = found.zeros(np.concatenate([owner, *twice]), low, high)
    width, centre = np.concatenate([width, widths]), np.concatenate([middle, zeros])
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
        bend = np.abs(values[:, 0] - 2.0 * values[:, 1] + values[:, 2]) / (0.5 * (high - low)) ** 2
        with np.errstate(divide="ignore"):
            return middle, np.sqrt(2.0 / bend)

    def zeros(self, which: Index, low: Array, high: Array) -> tuple[Array, Array]:
        """Zeros in brackets by the Illinois rule of false position, and the lengths of the turns there."""
        at_low, at_high = self.at(which, low), self.at(which, high)
        for step in range(_ROUNDS if len(low) else 0):
            share = at_low / (at_low - at_high) if step % 4 != 3 else 0.5  # now and then the middle
            x = low + np.clip(share, 0.0, 1.0) * (high - low)
            value = self.at(which, x)
            left = (value > 0.0) == (at_low > 0.0)
            at_high, at_low = np.where(left, 0.5 * at_high, value), np.where(left, value, 0.5 * at_low)
            low, high = np.where(left, x, low), np.where(left, high, x)
            if np.all((np.abs(value) < _CENTRED) | (high - low <= 4.0 * np.spacing(np.abs(high)))):
                break
        zero = np.where(np.abs(at_low) < np.abs(at_high), low, high)
        with np.errstate(divide="ignore"):
            return zero, 2.0 * _NEAR / np.abs(self.at(which, zero + _NEAR) - self.at(which, zero - _NEAR))


def _distinct(edges: Array) -> Array:
    """Edges in order, those that lie within rounding of another taken as one."""
    edges = np.unique(edges)
    apart = np.diff(edges) > 4.0 * np.spacing(np.abs(edges[1:]))
    return np.asarray(edges[np.concatenate([[True], apart])])


def _halved(edges: Array, averaged: Averaged) -> Array:
    """Panels halved until the last Legendre coefficients of every function on them are small."""
    points, weights = legendre(_ORDER)
    tails = (legvander(points, _ORDER - 1)[:, -2:] * weights[:, None]).T * (np.arange(_ORDER)[-2:, None] + 0.5)
    for _ in range(_HALVINGS):
        kappa, weight = nodes(edges, _ORDER)
        values = averaged(kappa)
        total = np.abs(values) @ weight
        mass = weight.reshape(-1, _ORDER).sum(axis=1)
        tail = np.abs(values.reshape(len(values), -1, _ORDER) @ tails.T).max(axis=2) * mass
        bad: NDArray[np.bool_] = (tail > _TAIL * total[:, None]).any(axis=0)
        if not bad.any() or len(edges) > _MOST:
            break
        edges = _distinct(np.concatenate([edges, 0.5 * (edges[:-1] + edges[1:])[bad]]))
    return edges
