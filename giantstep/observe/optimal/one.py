"""What a random label tells of its one index, and its variance: nodes of t given kappa, and panels of kappa.

z = sqrt(q) kappa + sqrt(1 - q) t. Given kappa a label is summed over t, between kinks and jumps of its link, on steps
that follow the slopes near kappa. What is left is a smooth function of kappa, whose sums over even steps settle at
once; where little is left to know it varies in few places, and panels are halved there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from generated.runtime.noisy_labels import told_by_one
from giantstep.law.channel import chances
from giantstep.law.labels import cuts_of, is_constant
from giantstep.observe.optimal.fineness import KAPPA, Fineness
from giantstep.observe.optimal.smooth import on_grid
from giantstep.observe.optimal.steep_ends import nodes_beside, steepness
from giantstep.quadrature.gauss import hermite, legendre_coefficients, normal_between
from giantstep.spec import probes
from giantstep.spec.expressions import numpy_function, numpy_values
from giantstep.spec.kernels import function_kernel
from giantstep.spec.model import Target

Array = np.ndarray
_WIDTH, _ORDER = 2.5, 12  # first panels and nodes of kappa
# where kappa may end, and what is nothing beyond: of links that do not grow, or as z does, the first is enough
_FURTHER, _NOTHING = (7.5, 9.0, 11.0, 13.5, 17.0, 22.0, 30.0), 1e-9
# first step of kappa over the width of t there, and at most; the least width with even steps, and the change by half of
# a step at which its square is left
_EVEN, _WIDEST, _WIDE, _SQUARED, _HALVINGS = 1.2, 0.6, 0.15, 1e-6, 6
_AROUND = np.array([-9.0, -2.5, 0.0, 2.5, 9.0])  # ends of panels beside a break, in widths of t
_NARROW, _CLOSE = 0.15, 1e-11  # width of the last panels over that of t, and part of the average that is left
_REACH, _STEP, _PANEL = 8.2, 0.55, 9.0  # of t: reach, widest step, and steps of a panel between breaks
_WIDTHS = (1.2, 0.5)  # step over the width in t of noise, and over that of the deviation of the link
_LADDER = 1.4  # between two numbers of nodes of t
_LABEL, _TAIL = 0.5, 7.3  # step of a noisy label, and its reach
_TINY = 1e-290  # probability
_RARE = 1e-17  # weight of a node of t that does not count
_LOOK = np.linspace(-4.5, 4.5, 19)  # t where slopes are taken
_SOME, _SAME = 40, 1e-13  # nodes of the deviation of a link; of a link and its mirror image


@dataclass(frozen=True, eq=False)
class Parts:
    """At kappa [N] nodes t [N, J] with weights, and values of the link."""

    t: Array
    weight: Array
    label: Array


Values = Callable[[Parts], Array]


@lru_cache(maxsize=64)
def by_nodes(target: Target) -> bool:
    """Whether a label is averaged here: of one index, random, and not constant between jumps."""
    drawn = target.channel is not None and not on_grid(target)
    return target.indices == 1 and (target.noise > 0.0 or drawn) and not is_constant(target.link)


def told_by_nodes(target: Target, q: float, fineness: Fineness) -> float:
    """E[E[t|y]^2] where the overlap is q."""
    spread, step = math.sqrt(target.noise), _LABEL / math.sqrt(2.0) ** fineness.labels
    rule = _Rule.of(target, q, fineness, _WIDTHS[0] * spread if spread else math.inf)

    def values(parts: Parts) -> Array:
        if target.channel is None:
            t = np.array(parts.t, order="C")  # for other orders, and read-only, it would be compiled again
            told: Array = told_by_one(parts.label / spread, parts.weight, t, step, math.ceil(_TAIL / step))
            return told
        total = np.zeros(len(parts.t))
        for chance in chances(target.channel, parts.label, parts.weight):
            share = parts.weight * chance
            total += (share * parts.t).sum(axis=1) ** 2 / np.maximum(share.sum(axis=1), _TINY)
        return total

    return rule.correlation**2 * rule.average(values)


def error_by_nodes(target: Target, q: float, fineness: Fineness) -> float:
    """E Var(f_* | kappa) of the mean label f_* for the overlap q."""

    def values(parts: Parts) -> Array:
        mean = (parts.weight * parts.label).sum(axis=1, keepdims=True)
        return np.asarray((parts.weight * (parts.label - mean) ** 2).sum(axis=1))

    return _Rule.of(target.clean(signs=False), q, fineness, math.inf).average(values)


@dataclass(frozen=True)
class _Rule:
    """Nodes for a link of z = gamma kappa + width u, of which t is the part u correlation that is looked for.

    breaks: kinks and jumps; even: whether averages do not change with the sign of kappa; varies: the first step in
    values of the link; cut: width of the first panels of kappa; finer: how many times more nodes of u there are; power:
    of the distance from breaks in which the link is smooth; far: where kappa ends, u a bit further out.
    """

    link: str
    gamma: float
    width: float
    correlation: float
    breaks: tuple[float, ...]
    even: bool
    varies: float
    cut: float
    finer: float
    power: int
    far: float

    @property
    def reach(self) -> float:
        """Where u ends."""
        return max(_REACH, self.far)

    @property
    def rare(self) -> float:
        """Weight of a node of u that does not count."""
        return _RARE * math.exp(0.5 * (_REACH**2 - self.reach**2))

    @classmethod
    def of(cls, target: Target, q: float, fineness: Fineness, noise: float) -> _Rule:
        """That of a target; noise: the step in values of the link that a noisy label needs."""
        rest = (1.0 - math.sqrt(q)) * (1.0 + math.sqrt(q))
        width = math.sqrt(rest + target.probit)
        even, link = _is_even(target.link, target.channel is None), target.link
        varies, cut = min(noise, _WIDTHS[1] * _spread(link)), _WIDTH * KAPPA / fineness.kappa
        finer, power = math.sqrt(2.0) ** fineness.labels, steepness(link)
        breaks = cuts_of(target) if power == 1 else function_kernel(link).BREAKPOINTS
        seen, far = math.sqrt(rest) / width, _far(link, math.sqrt(1.0 + target.probit))
        return cls(link, math.sqrt(q), width, seen, tuple(breaks), even, varies, cut, finer, power, far)

    def average(self, values: Values) -> float:
        """E of a function of kappa that is not negative."""
        if self.gamma == 0.0:
            return float(values(self._parts(np.zeros(1), self._numbers(np.zeros(1), np.zeros(1))[0]))[0])
        if self.width > _WIDE * self.gamma:
            return self._by_even_steps(values)
        edges, total = self._edges(), 0.0
        low, high = edges[:-1], edges[1:]
        while len(low):
            kappa, weight = normal_between(low, high, _ORDER)
            found = self._found(values, kappa, low, high)
            sums = (weight * found).sum(axis=1)
            series = (found * np.exp(-0.5 * kappa * kappa)) @ legendre_coefficients(_ORDER).T
            rough = np.abs(series[:, -2:]).sum(axis=1) * (high - low) > _CLOSE * (total + sums.sum())
            rough &= (high - low) * self.gamma > _NARROW * self.width
            total += float(sums[~rough].sum())
            middle = 0.5 * (low + high)[rough]
            low, high = np.concatenate([low[rough], middle]), np.concatenate([middle, high[rough]])
        return total * (2.0 if self.even else 1.0)

    def _by_even_steps(self, values: Values) -> float:
        """The same by sums over even steps, which are halved until they settle."""
        first = min(_EVEN * self.width / self.gamma, _WIDEST) * self.cut / _WIDTH
        count = math.ceil(self.far / first)
        step = self.far / count
        places = np.arange(0 if self.even else -count, count + 1) * step
        total = self._sum(values, places, step)
        for _ in range(_HALVINGS):
            between = (places if self.even else places[:-1]) + 0.5 * step
            before, total = total, 0.5 * (total + self._sum(values, between, step))
            if abs(total - before) <= _SQUARED * total:
                break
            places, step = np.sort(np.concatenate([places, between])), 0.5 * step
        return total

    def _sum(self, values: Values, kappa: Array, step: float) -> float:
        """Over places of kappa a step apart, both signs of those that are not 0 where one is enough."""
        weight = np.exp(-0.5 * kappa * kappa) * step / math.sqrt(2.0 * math.pi)
        weight *= np.where(self.even & (kappa != 0.0), 2.0, 1.0)
        found = self._found(values, kappa[:, None], kappa - 0.5 * step, kappa + 0.5 * step)
        return float(weight @ found[:, 0])

    def _found(self, values: Values, kappa: Array, low: Array, high: Array) -> Array:
        """Values at kappa [P, n] between low and high [P]."""
        found, numbers = np.empty_like(kappa), self._numbers(low, high)
        for number in np.unique(numbers):
            same = numbers == number
            found[same] = values(self._parts(kappa[same].ravel(), int(number))).reshape(-1, kappa.shape[1])
        return found

    def _edges(self) -> Array:
        """Ends of the first panels of kappa."""
        least = 0.0 if self.even else -self.far
        even = np.linspace(least, self.far, math.ceil((self.far - least) / self.cut) + 1)
        places = [(b + self.width * _AROUND) / self.gamma for b in self.breaks]
        found = np.unique(np.concatenate([even, *places]))
        return found[(found >= least) & (found <= self.far)]

    def _numbers(self, low: Array, high: Array) -> Array:
        """How many steps there are on each side of u = 0, for panels of kappa, on a ladder."""
        kappa = np.stack([low, 0.5 * (low + high), high], axis=1)
        z = self.gamma * kappa[:, :, None] + self.width * _LOOK
        slope = self._along_nodes(z, np.abs(numpy_function(self.link)(z)[1])).max(axis=(1, 2))
        rare = np.minimum(np.abs(low), np.abs(high)) * (low * high >= 0.0)
        step = self.varies / np.maximum(slope * self.width, 1e-300) / np.sqrt(np.maximum(1.0 - (rare / 7.0) ** 2, 0.15))
        number = self.finer * self.reach / np.minimum(step, _STEP)
        found: Array = np.ceil(_LADDER ** np.ceil(np.log(number) / math.log(_LADDER))).astype(int)
        return found

    def _along_nodes(self, z: Array, slope: Array) -> Array:
        """Slopes at z over the steps of nodes there."""
        if self.power == 1:
            return slope
        away = np.min(np.abs(z[..., None] - np.array(self.breaks)), axis=-1) / (self.width * self.reach)
        steps = np.minimum(self.power * away ** (1.0 - 1.0 / self.power), self.power)
        return np.asarray(np.where(away > 0.0, slope, 0.0) * steps)

    def _parts(self, kappa: Array, number: int) -> Parts:
        centre = self.gamma * kappa[:, None]
        if self.breaks:
            u, weight = self._between_breaks(kappa, number)
        else:
            u = np.arange(-number, number + 1) * (self.reach / number)
            weight = np.exp(-0.5 * u * u) * (self.reach / number / math.sqrt(2.0 * math.pi))
            u, weight = (np.broadcast_to(each, (len(kappa), len(u))) for each in (u, weight))
        label = numpy_values(self.link)(centre + self.width * u)
        return Parts(u, np.where(weight > self.rare, weight, 0.0), label)

    def _between_breaks(self, kappa: Array, number: int) -> tuple[Array, Array]:
        """Panels of u that end at breaks."""
        places = (np.array(self.breaks) - self.gamma * kappa[:, None]) / self.width
        if self.power > 1:
            return nodes_beside(
                places, self.reach, math.ceil(0.5 * self.power * number / _PANEL) + 1, _ORDER, self.power
            )
        met = (np.abs(places) < self.reach).any(axis=0)
        even = np.linspace(-self.reach, self.reach, math.ceil(2 * number / _PANEL) + 1)
        edges = np.concatenate(
            [np.tile(even, (len(kappa), 1)), np.clip(places[:, met], -self.reach, self.reach)], axis=1
        )
        edges.sort(axis=1)
        u, weight = normal_between(edges[:, :-1], edges[:, 1:], _ORDER)
        return u.reshape(len(kappa), -1), weight.reshape(len(kappa), -1)


@lru_cache(maxsize=64)
def _is_even(link: str, odd: bool) -> bool:
    """Whether a link is even, or odd where that serves as well."""
    values, (z,) = numpy_values(link), probes.places(1)
    here, mirrored = values(z), values(-z)
    return probes.alike(here, mirrored, _SAME) or (odd and probes.alike(here, -mirrored, _SAME))


@lru_cache(maxsize=64)
def _far(link: str, scale: float) -> float:
    """Where kappa ends: the weight times the square of the link is nothing there."""
    values, size = numpy_values(link), 1e-300 + _deviation(link) ** 2
    for far in _FURTHER:
        with np.errstate(over="ignore"):
            ends = float(np.max(np.abs(values(scale * np.array([-far, far])))))
        if far * math.exp(-0.5 * far * far) * ends * ends <= _NOTHING * size:
            break
    return far


@lru_cache(maxsize=64)
def _deviation(link: str) -> float:
    """Of a link of a standard normal z, roughly."""
    places, weight = hermite(_SOME)
    values = numpy_values(link)(places)
    return math.sqrt(max(float(weight @ (values - weight @ values) ** 2), 0.0))


@lru_cache(maxsize=64)
def _spread(link: str) -> float:
    """The deviation of a link; of one that is mostly flat that where it varies, which its nodes follow."""
    places, weight = hermite(_SOME)
    values, slopes = numpy_function(link)(places)[:2]
    moving = weight * (slopes != 0.0)
    if not moving.any():
        return _deviation(link)
    moving = moving / moving.sum()
    return max(_deviation(link), math.sqrt(max(float(moving @ (values - moving @ values) ** 2), 0.0)))
