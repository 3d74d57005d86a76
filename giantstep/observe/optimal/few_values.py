"""What labels of two indices that take few values tell: signs, with noise and flips, and others without noise.

A sign has a chance p of +1 given kappa, and E[t; +1] = -E[t; -1] = m, as t has no mean. Flipped with probability e it
tells (1 - 2e)^2 m^2 times the sum over labels of the squared slope of their chance in p, over that chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from derive.language.links import link_of
from giantstep.spec.link import link_values, takes_only_signs
from giantstep.spec.model import Target
from giantstep.spec.probes import places

Array = np.ndarray
_LEVELS = 60  # values of a link, at most
_SAME = 1e-11  # of the largest: values that are one
_APART = 16.0  # deviations of noise between two values that it does not mix up
_REACH, _STEP = 7.5, 0.2  # of noisy labels, over the noise: next to them, in y, the density of a label has zeros
_RARE = 1e-13  # chance of a sign that does not count


@lru_cache(maxsize=64)
def gap(link: str) -> float:
    """The least distance of two values of a link that takes few; 0 for others."""
    values = link_values(link)(places(link_of(link).indices))
    size = max(float(np.max(np.abs(values))), 1e-300)
    levels = np.unique(np.round(values / (_SAME * size))) * (_SAME * size)
    return float(np.diff(levels).min()) if 1 < len(levels) <= _LEVELS else 0.0


def noise_of(target: Target) -> float:
    """That of its labels; of few values without noise so much that no two of them are mixed up."""
    return target.noise or (gap(target.link) / _APART) ** 2


@dataclass(frozen=True, eq=False)
class Signs:
    """Labels +-1 by ``moments`` of the link given kappa [2, ...]: [N, 2, 4], of -1 and +1 the chance, E[t1; sign],
    E[t2; sign], and E[t^2 - 1; sign] along one axis.
    """

    moments: Callable[[Array], Array]
    noise: float
    flips: float

    @classmethod
    def of(cls, target: Target, moments: Callable[[Array], Array]) -> Signs | None:
        """Those of a target; None where it has other labels."""
        return cls(moments, target.noise, target.flips) if takes_only_signs(target.link) else None

    def values(self, kappa: Array, low: Array, high: Array) -> Array:
        """What labels tell at kappa [2, P, n, n]: [P, n, n, 4], of t1^2, t1 t2, t2^2, and of the square of t^2 - 1."""
        found = self.moments(kappa)
        chance = found[:, :, 0] / found[:, :, 0].sum(axis=1, keepdims=True)
        rarer = np.argmin(chance, axis=1)
        least = np.take_along_axis(found, rarer[:, None, None], axis=1)[:, 0]
        mean, square = least[:, 1:3], least[:, 3]
        told = np.column_stack([mean[:, 0] ** 2, mean[:, 0] * mean[:, 1], mean[:, 1] ** 2, square**2])
        told *= np.where(least[:, 0] > _RARE, (1.0 - 2.0 * self.flips) ** 2 * self._slope(chance), 0.0)[:, None]
        return told.reshape(*kappa.shape[1:], 4)

    def _slope(self, chance: Array) -> Array:
        """The sum over labels of the squared slope of their chance, over that, [N] for chances of signs [N, 2]."""
        flipped = np.maximum((1.0 - self.flips) * chance + self.flips * chance[:, ::-1], 1e-300)
        spread = math.sqrt(self.noise)
        if _APART * spread < 2.0:
            return np.asarray((1.0 / flipped).sum(axis=1))
        step, reach = _STEP * spread, 1.0 + _REACH * spread
        y = np.arange(-reach, reach + step, step)
        bells = np.exp(-0.5 * ((y - np.array([[-1.0], [1.0]])) / spread) ** 2) * (
            step / spread / math.sqrt(2.0 * math.pi)
        )
        return np.asarray(((bells[1] - bells[0]) ** 2 / (flipped @ bells)).sum(axis=1))
