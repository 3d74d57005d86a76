"""Averages over what is known, kappa, of two indices, along axes of their overlap.

Panels of kappa are halved along the axis in which a function of kappa is no polynomial.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from giantstep.quadrature.gauss import legendre_coefficients, normal_between

Array = np.ndarray
_KAPPA, _ORDER = 6.0, 10  # reach and nodes of a panel of kappa: beyond lies a part of 2e-9, of squares forty times that
# part of the average that the last coefficients of a panel may be: these are of degree 9, and its nodes are right to 19
_CLOSE = 1e-3
_BLUNT, _SHARP = 0.4, 0.6  # width of t over what is known, above which kappa has steps of that, over the width
_AROUND = np.array([-8.0, -2.5, 0.0, 2.5, 8.0])  # ends of panels beside a kink or jump, in widths of t
_NARROW = 0.3  # last panels over the width of t
_RARE = 1e-7  # weight that does not count, over the largest


@dataclass(frozen=True, eq=False)
class NoisyPair:
    """A noisy label of z = root kappa + turn (width t), with t along axes.

    finer: how many times more nodes there are; squared: the axis of which t^2 - 1 is averaged too.
    """

    link: str
    noise: float
    turn: Array
    width: Array
    root: Array
    finer: float
    squared: int | None = None


@dataclass(frozen=True, eq=False)
class KnownPair:
    """Nodes of two kappa, of which t is what is not known.

    sharp [2]: how many widths of t a step of one along each kappa is. kinks: where a kink or jump of the link is met
    along each of them. cut: width of the first panels over that of t;
    step: of a trapezoid where nothing is sharp, over its widest one. half [2]: whether the other sign of a kappa gives
    the same; mixed: whether t1 t2 has a mean.
    """

    sharp: Array
    kinks: tuple[Array, Array]
    half: tuple[bool, bool]
    mixed: bool
    cut: float
    step: float

    def average(self, values: Callable[[Array, Array, Array], Array]) -> Array:
        """E over kappa of values(kappa, low, high) [P, n, n, 4] at kappa [2, P, n, n] on panels between low and high
        [2, P]: of t1^2, t1 t2, t2^2 and one more.
        """
        factor = 2.0 ** sum(self.half)
        total = self._by_trapezoid(values) if np.all(_BLUNT * self.sharp < 1.0) else self._by_panels(values)
        found: Array = total * np.array([factor, factor if self.mixed else 0.0, factor, factor])
        return found

    def _by_trapezoid(self, values: Callable[[Array, Array, Array], Array]) -> Array:
        """Where nothing is sharp in kappa."""
        axes, shares = [], []
        for a in range(2):
            if self.sharp[a] == 0.0:  # nothing depends on it
                axes.append(np.zeros(1))
                shares.append(np.array([0.5 if self.half[a] else 1.0]))
                continue
            number = math.ceil(_KAPPA / min(_SHARP * self.step / self.sharp[a], _SHARP))
            x = np.arange(0 if self.half[a] else -number, number + 1) * (_KAPPA / number)
            weight = np.exp(-0.5 * x * x) * (_KAPPA / number / math.sqrt(2.0 * math.pi))
            axes.append(x)
            shares.append(np.where((x == 0.0) & self.half[a], 0.5 * weight, weight))
        kappa = np.stack(np.meshgrid(*axes, indexing="ij")).reshape(2, -1)
        weight = np.multiply.outer(*shares).ravel()
        kappa, weight = kappa[:, weight > _RARE * weight.max()], weight[weight > _RARE * weight.max()]
        found: Array = weight @ values(kappa[:, :, None, None], kappa, kappa)[:, 0, 0]
        return found

    def _by_panels(self, values: Callable[[Array, Array, Array], Array]) -> Array:
        low, high = self._panels()
        total = np.zeros(4)
        while low.shape[1]:
            kappa, share = normal_between(low, high, _ORDER)
            places = np.stack(np.broadcast_arrays(kappa[0][:, :, None], kappa[1][:, None, :]))
            found = values(places, low, high)
            sums = np.einsum("pi,pj,pijc->pc", share[0], share[1], found)
            bell = np.exp(-0.5 * (places**2).sum(axis=0))
            rough = self._rough(_size(found) * bell, low, high, float(_size(total + sums.sum(axis=0))))
            done = ~rough.any(axis=0)
            total += sums[done].sum(axis=0)
            low, high = _halved(low[:, ~done], high[:, ~done], rough[:, ~done])
        return total

    def _panels(self) -> tuple[Array, Array]:
        """The first panels of kappa: their ends [2, P]."""
        edges = []
        for a in range(2):
            least, wide = 0.0 if self.half[a] else -_KAPPA, self.cut / max(self.sharp[a], 1e-300)
            count = math.ceil((_KAPPA - least) / min(max(wide, 0.5 * _KAPPA), _KAPPA))
            even = np.linspace(least, _KAPPA, count + 1)
            beside = (self.kinks[a][:, None] + _AROUND / max(self.sharp[a], 1e-300)).ravel()
            edges.append(np.unique(np.concatenate([even, beside[(beside > least) & (beside < _KAPPA)]])))
        low = np.stack(np.meshgrid(edges[0][:-1], edges[1][:-1], indexing="ij")).reshape(2, -1)
        high = np.stack(np.meshgrid(edges[0][1:], edges[1][1:], indexing="ij")).reshape(2, -1)
        return low, high

    def _rough(self, values: Array, low: Array, high: Array, total: float) -> Array:
        """Along which axes [2, P] panels are to be halved, by the last coefficients of their values [P, n, n]."""
        turn = legendre_coefficients(_ORDER)
        series = np.abs(np.einsum("ai,pij,bj->pab", turn, values, turn, optimize=True))
        area = (high - low).prod(axis=0) / (2.0 * math.pi)
        tails = np.stack([series[:, -2:, :].sum(axis=(1, 2)), series[:, :, -2:].sum(axis=(1, 2))]) * area
        wide = (high - low) * self.sharp[:, None] > _NARROW
        return np.asarray((tails > _CLOSE * total) & wide)


def _size(told: Array) -> Array:
    """Of what labels tell [..., 4], without the product of both."""
    found: Array = told[..., 0] + told[..., 2] + told[..., 3]
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
