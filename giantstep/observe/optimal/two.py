"""What a noisy label tells of its two indices: nodes of t given kappa, and panels of kappa along axes of the overlap.

As for one index (``one``): steps of t follow the slopes near kappa, and panels are halved along the axis in which a
function of kappa is no polynomial.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from generated.runtime.noisy_labels import told_by_two
from giantstep.observe.optimal.axes import Axes
from giantstep.observe.optimal.fineness import KAPPA, Fineness, is_smooth
from giantstep.quadrature.gauss import hermite, legendre_coefficients, normal_between, products
from giantstep.spec.link import link_gradient, link_values
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Target

Array = np.ndarray
_KAPPA, _ORDER, _CLOSE = 5.6, 10, 1e-5  # reach and nodes of a panel of kappa, and part of the average that is left
_BLUNT, _SHARP = 0.4, 0.6  # width of t over what is known, above which kappa has steps of that, over the width
_WIDTH, _NARROW = 5.0, 0.3  # first panels, and last ones, over the width of t
_REACH, _STEP = 6.0, 0.72  # of t: reach, and widest step
_WIDTHS = (1.4, 0.58)  # step over the width in t of noise, and over that of the deviation of the link
_LADDER = 1.3  # between two numbers of nodes of t
_LABEL, _TAIL = 0.85, 5.6  # step of a noisy label, and its reach
_RARE = 1e-9  # weight of a node of t that does not count
_OF_SQUARES = (7.4, 1e-13)  # both for t^2 - 1, which grows
_LOOK = np.stack(np.meshgrid(*[np.linspace(-2.0, 2.0, 6)] * 2)).reshape(2, -1)  # t where slopes are taken
_AT_A_TIME = 1 << 20  # labels
_PROBES, _SOME = 40, 20  # places that show whether a link is even; nodes of its deviation


@lru_cache(maxsize=64)
def by_two(target: Target) -> bool:
    """Whether a label is averaged here: of two indices, with noise, and smooth in them."""
    return target.indices == 2 and target.noise > 0.0 and is_smooth(target)


def told_by_pairs(target: Target, known: Array, fineness: Fineness) -> Array:
    """E[E[t|y] E[t|y]^T] [2, 2] where the overlap Q is known."""
    axes = Axes.of(known, target.probit)
    found = _Rule.of(target, axes, fineness).average()
    matrix = np.array([[found[0], found[1]], [found[1], found[2]]])
    turned = axes.to_t(known) * axes.share
    told: Array = turned @ matrix @ turned.T
    return told


def told_of_one_axis(target: Target, known: Array, axis: Array, fineness: Fineness) -> tuple[float, float]:
    """E[E[t|y]^2] and E[E[t^2 - 1|y]^2] of t along an axis [2] of which nothing is known, where the overlap is Q."""
    axes = Axes.of(known, target.probit)
    rule, place = _Rule.of(target, axes, fineness), int(np.argmax(np.abs(axes.turn.T @ axis)))
    told = rule.average()
    square = replace(rule, squared=place).average()
    share = float(axes.share[place])
    return share**2 * float(told[2 * place]), share**4 * float(square[2 * place])


@dataclass(frozen=True, eq=False)
class _Rule:
    """Nodes for a label of z = turn (gamma kappa + width t), along axes.

    even: whether averages do not change with the sign of kappa along each axis; varies: the first step in values of the
    link; cut: width of the first panels over that of t; finer: how many times more nodes of t there are; squared: the
    axis of which t^2 - 1 is averaged in place of t.
    """

    target: Target
    turn: Array
    gamma: Array
    width: Array
    even: tuple[bool, bool]
    varies: float
    cut: float
    finer: float
    squared: int | None = None

    @classmethod
    def of(cls, target: Target, axes: Axes, fineness: Fineness) -> _Rule:
        """That of an overlap with these axes."""
        turn = axes.turn * math.sqrt(1.0 + target.probit)
        even = _even(target.link, tuple(map(tuple, axes.turn.tolist())))
        varies = min(_WIDTHS[0] * math.sqrt(target.noise), _WIDTHS[1] * _deviation(target.link))
        cut, finer = _WIDTH * KAPPA / fineness.kappa, math.sqrt(2.0) ** fineness.labels
        return cls(target, turn, np.sqrt(axes.known), axes.spread, even, varies, cut, finer)

    @property
    def _far(self) -> tuple[float, float]:
        """Of t, the reach and the weight that does not count."""
        return (_REACH, _RARE) if self.squared is None else _OF_SQUARES

    def average(self) -> Array:
        """E over kappa of what labels tell [3] along the axes: of t1^2, t1 t2 and t2^2."""
        factor = 2.0 ** sum(self.even)
        total = self._by_trapezoid() if np.all(self.width > _BLUNT * self.gamma) else self._by_panels()
        found: Array = total * np.array([factor, 0.0 if any(self.even) else factor, factor])
        return found

    def _by_trapezoid(self) -> Array:
        """Where nothing is sharp in kappa."""
        axes, shares = [], []
        for a in range(2):
            if self.gamma[a] == 0.0:  # nothing depends on it
                axes.append(np.zeros(1))
                shares.append(np.array([0.5 if self.even[a] else 1.0]))
                continue
            number = math.ceil(_KAPPA / min(_SHARP / _WIDTH * self.cut * self.width[a] / self.gamma[a], _SHARP))
            x = np.arange(0 if self.even[a] else -number, number + 1) * (_KAPPA / number)
            weight = np.exp(-0.5 * x * x) * (_KAPPA / number / math.sqrt(2.0 * math.pi))
            axes.append(x)
            shares.append(np.where((x == 0.0) & self.even[a], 0.5 * weight, weight))
        kappa = np.stack(np.meshgrid(*axes, indexing="ij")).reshape(2, -1)
        weight = np.multiply.outer(*shares).ravel()
        kappa, weight = kappa[:, weight > _RARE * weight.max()], weight[weight > _RARE * weight.max()]
        found: Array = weight @ self._values(kappa[:, :, None, None], kappa, kappa)[:, 0, 0]
        return found

    def _by_panels(self) -> Array:
        low, high = self._panels()
        total = np.zeros(3)
        while low.shape[1]:
            kappa, share = normal_between(low, high, _ORDER)
            places = np.stack(np.broadcast_arrays(kappa[0][:, :, None], kappa[1][:, None, :]))
            found = self._values(places, low, high)
            sums = np.einsum("pi,pj,pijc->pc", share[0], share[1], found)
            bell = np.exp(-0.5 * (places**2).sum(axis=0))
            rough = self._rough((found[..., 0] + found[..., 2]) * bell, low, high, total + sums.sum(axis=0))
            done = ~rough.any(axis=0)
            total += sums[done].sum(axis=0)
            low, high = _halved(low[:, ~done], high[:, ~done], rough[:, ~done])
        return total

    def _panels(self) -> tuple[Array, Array]:
        """The first panels of kappa: their ends [2, P]."""
        edges = []
        for a in range(2):
            least, wide = 0.0 if self.even[a] else -_KAPPA, self.cut * self.width[a] / max(self.gamma[a], 1e-300)
            count = math.ceil((_KAPPA - least) / min(max(wide, 0.5 * _KAPPA), _KAPPA))
            edges.append(np.linspace(least, _KAPPA, count + 1))
        low = np.stack(np.meshgrid(edges[0][:-1], edges[1][:-1], indexing="ij")).reshape(2, -1)
        high = np.stack(np.meshgrid(edges[0][1:], edges[1][1:], indexing="ij")).reshape(2, -1)
        return low, high

    def _rough(self, values: Array, low: Array, high: Array, total: Array) -> Array:
        """Along which axes [2, P] panels are to be halved, by the last coefficients of their values [P, n, n]."""
        turn = legendre_coefficients(_ORDER)
        series = np.abs(np.einsum("ai,pij,bj->pab", turn, values, turn))
        area = (high - low).prod(axis=0) / (2.0 * math.pi)
        tails = np.stack([series[:, -2:, :].sum(axis=(1, 2)), series[:, :, -2:].sum(axis=(1, 2))]) * area
        wide = (high - low) * self.gamma[:, None] > _NARROW * self.width[:, None]
        return np.asarray((tails > _CLOSE * (total[0] + total[2])) & wide)

    def _values(self, kappa: Array, low: Array, high: Array) -> Array:
        """What labels tell at kappa [2, P, n, n]: [P, n, n, 3]."""
        found = np.empty((*kappa.shape[1:], 3))
        numbers = self._numbers(low, high)
        for pair in np.unique(numbers, axis=1).T:
            same = (numbers == pair[:, None]).all(axis=0)
            found[same] = self._told(kappa[:, same].reshape(2, -1), pair).reshape(*found[same].shape)
        return found

    def _told(self, kappa: Array, numbers: Array) -> Array:
        """The same at kappa [2, N], for so many steps of t on each side of 0: [N, 3]."""
        reach, rare = self._far
        axes = [np.arange(-n, n + 1) * (reach / n) for n in numbers.tolist()]
        t = np.stack(np.meshgrid(*axes, indexing="ij")).reshape(2, -1)
        weight = np.exp(-0.5 * (t**2).sum(axis=0)) * (reach**2 / numbers.prod() / (2.0 * math.pi))
        t, weight = t[:, weight > rare], weight[weight > rare]
        spread, step = math.sqrt(self.target.noise), _LABEL / self.finer
        told = t if self.squared is None else np.where(np.arange(2)[:, None] == self.squared, t * t - 1.0, t)
        values, found = link_values(self.target.link), []
        for some in np.array_split(kappa, math.ceil(kappa.shape[1] * len(weight) / _AT_A_TIME), axis=1):
            place = (self.gamma[:, None] * some)[:, :, None] + (self.width[:, None] * t)[:, None, :]
            label = values(np.einsum("ab,bnj->anj", self.turn, place)) / spread
            found.append(told_by_two(label, weight, told, step, math.ceil(_TAIL / step)))
        return np.concatenate(found)

    def _numbers(self, low: Array, high: Array) -> Array:
        """How many steps of t there are on each side of 0 [2, P], on a ladder."""
        corners = np.stack([low, 0.75 * low + 0.25 * high, 0.5 * (low + high)])  # [3, 2, P]
        kappa = np.stack(np.broadcast_arrays(corners[:, None, 0], corners[None, :, 1])).reshape(2, 9, -1)
        place = (self.gamma[:, None, None] * kappa)[..., None] + (self.width[:, None] * _LOOK)[:, None, None, :]
        slope = link_gradient(self.target.link)(np.einsum("ab,bcpj->acpj", self.turn, place))
        along = np.abs(np.einsum("ab,acpj->bcpj", self.turn, slope)).max(axis=(1, 3)) * self.width[:, None]
        nearest = np.where(low * high > 0.0, np.minimum(np.abs(low), np.abs(high)), 0.0)
        rare = np.sqrt(np.maximum(1.0 - (nearest**2).sum(axis=0) / 30.0, 0.2))
        number = self.finer * self._far[0] / np.minimum(self.varies / np.maximum(along, 1e-300) / rare, _STEP)
        found: Array = np.ceil(_LADDER ** np.ceil(np.log(number) / math.log(_LADDER))).astype(int)
        return found


def _halved(low: Array, high: Array, rough: Array) -> tuple[Array, Array]:
    """Panels [2, P], halved along the axes where they are rough."""
    for a in range(2):
        middle, cut = 0.5 * (low[a] + high[a]), rough[a]
        upper, lower = low.copy(), high.copy()
        upper[a], lower[a] = middle, np.where(cut, middle, high[a])
        low, high = np.concatenate([low, upper[:, cut]], axis=1), np.concatenate([lower, high[:, cut]], axis=1)
        rough = np.concatenate([rough, rough[:, cut]], axis=1)
    return low, high


@lru_cache(maxsize=64)
def _even(link: str, turn: Rows) -> tuple[bool, bool]:
    """Whether a link is even or odd along each axis."""
    axes, values = np.array(turn), link_values(link)
    x = np.random.default_rng(12).standard_normal((2, _PROBES))
    here = values(axes @ x)
    there = [values(axes @ (np.array(signs)[:, None] * x)) for signs in ((-1.0, 1.0), (1.0, -1.0))]
    size = 1e-12 * float(np.max(np.abs(here)))
    first, second = (any(np.max(np.abs(other - sign * here)) <= size for sign in (1.0, -1.0)) for other in there)
    return first, second


@lru_cache(maxsize=64)
def _deviation(link: str) -> float:
    """Of a link of two standard normal indices, roughly."""
    nodes, weight = products([hermite(_SOME)] * 2)
    values = link_values(link)(nodes.T)
    return math.sqrt(max(float(weight @ (values - weight @ values) ** 2), 0.0))
