"""What a noisy label tells of its two indices given kappa, at nodes of t: their steps follow the slopes near kappa."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from generated.runtime.noisy_labels import told_by_two
from giantstep.observe.optimal.known_pair import NoisyPair
from giantstep.quadrature.gauss import hermite, products
from giantstep.spec.link import link_gradient, link_values

Array = np.ndarray
_REACH, _OF_SQUARES, _STEP = 5.8, 7.4, 0.95  # of t: reach, that for t^2 - 1, which grows, and widest step
_WIDTHS = (1.4, 0.58)  # step over the width in t of noise, and over that of the deviation of the link
_LADDER = 1.3  # between two numbers of nodes of t
_LABEL, _TAIL = 0.85, 5.6  # step of a noisy label, and its reach
_LOOK = np.stack(np.meshgrid(*[np.linspace(-2.0, 2.0, 6)] * 2)).reshape(2, -1)  # t where slopes are taken
_AT_A_TIME = 1 << 20  # labels
_SOME = 20  # nodes of the deviation of a link


@dataclass(frozen=True, eq=False)
class PairNodes(NoisyPair):
    """Nodes of both t, for a link that is smooth."""

    def values(self, kappa: Array, low: Array, high: Array) -> Array:
        """What labels tell at kappa [2, P, n, n] on panels [2, P]: [P, n, n, 4], of t1^2, t1 t2, t2^2, and of
        the square of t^2 - 1.
        """
        found = np.empty((*kappa.shape[1:], 4))
        numbers = self._numbers(low, high)
        for pair in np.unique(numbers, axis=1).T:
            same = (numbers == pair[:, None]).all(axis=0)
            found[same] = self._told(kappa[:, same].reshape(2, -1), pair).reshape(*found[same].shape)
        return found

    @property
    def _far(self) -> float:
        """Of t, the reach."""
        return _REACH if self.squared is None else _OF_SQUARES

    def _told(self, kappa: Array, numbers: Array) -> Array:
        """The same at kappa [2, N], for so many steps of t on each side of 0: [N, 4]."""
        reach = self._far
        axes = [np.arange(-n, n + 1) * (reach / n) for n in numbers.tolist()]
        t = np.stack(np.meshgrid(*axes, indexing="ij")).reshape(2, -1)
        t = t[:, (t**2).sum(axis=0) <= reach**2]
        weight = np.exp(-0.5 * (t**2).sum(axis=0)) * (reach**2 / numbers.prod() / (2.0 * math.pi))
        square = np.zeros(t.shape[1]) if self.squared is None else t[self.squared] ** 2 - 1.0
        means = np.concatenate([t, square[None]])
        spread, step = math.sqrt(self.noise), _LABEL / self.finer
        values, found, tail = link_values(self.link), [], math.ceil(_TAIL / step)
        for some in np.array_split(kappa, math.ceil(kappa.shape[1] * len(weight) / _AT_A_TIME), axis=1):
            place = (self.root @ some)[:, :, None] + ((self.turn * self.width) @ t)[:, None, :]
            found.append(told_by_two(values(place) / spread, weight, means, step, tail))
        return np.concatenate(found)

    def _numbers(self, low: Array, high: Array) -> Array:
        """How many steps of t there are on each side of 0 [2, P], on a ladder."""
        corners = np.stack([low, 0.75 * low + 0.25 * high, 0.5 * (low + high)])  # [3, 2, P]
        kappa = np.stack(np.broadcast_arrays(corners[:, None, 0], corners[None, :, 1])).reshape(2, 9, -1)
        beside = (self.turn * self.width) @ _LOOK
        slope = link_gradient(self.link)(np.einsum("ab,bcp->acp", self.root, kappa)[..., None] + beside[:, None, None])
        along = np.abs(np.einsum("ab,acpj->bcpj", self.turn, slope)).max(axis=(1, 3)) * self.width[:, None]
        nearest = np.where(low * high > 0.0, np.minimum(np.abs(low), np.abs(high)), 0.0)
        rare = np.sqrt(np.maximum(1.0 - (nearest**2).sum(axis=0) / 30.0, 0.2))
        varies = min(_WIDTHS[0] * math.sqrt(self.noise), _WIDTHS[1] * deviation(self.link))
        number = self.finer * self._far / np.minimum(varies / np.maximum(along, 1e-300) / rare, _STEP)
        found: Array = np.ceil(_LADDER ** np.ceil(np.log(number) / math.log(_LADDER))).astype(int)
        return found


@lru_cache(maxsize=64)
def deviation(link: str) -> float:
    """Of a link of two standard normal indices, roughly."""
    nodes, weight = products([hermite(_SOME)] * 2)
    values = link_values(link)(nodes.T)
    return math.sqrt(max(float(weight @ (values - weight @ values) ** 2), 0.0))
