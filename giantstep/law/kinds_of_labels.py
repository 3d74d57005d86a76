"""Labels given kappa as the kernels of a loss take them: constant on intervals of an index, or at nodes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

Array = np.ndarray
_SOME = 256  # labels


@dataclass(frozen=True, eq=False)
class Intervals:
    """Labels that are constant on intervals [low, high) of ``z' = gamma kappa + width t'``, corr(t, t') = correlation.

    Arrays [J]: low, high, the probability of the label there, the label. channel: (gamma, width, correlation).

    Every law has ``directions`` of the target beside the spike; ``nodes``: how many of the label weigh anything, none
    where averages given kappa are exact; ``constants``: labels that stay while kappa varies, None where the law alone
    does not tell; ``points``: the labels one by one, None where they are intervals.
    """

    low: Array
    high: Array
    weight: Array
    label: Array
    channel: Array

    directions, nodes, points = 1, 0, None

    @property
    def constants(self) -> list[float]:
        """All labels."""
        return sorted(set(self.label.tolist()))

    @cached_property
    def edges(self) -> Array:
        """The finite ends of intervals, in order; none where the label follows from kappa."""
        if self.channel[1] == 0.0:
            return np.empty(0)
        return np.array(sorted({end for end in self.low.tolist() if math.isfinite(end)}))

    @property
    def odd(self) -> bool:
        """Whether z' and the label may change their signs together."""
        mine = sorted(zip(self.low, self.high, self.label, self.weight, strict=True))
        mirrored = sorted(zip(-self.high, -self.low, -self.label, self.weight, strict=True))
        return all(np.allclose(a, b, rtol=0.0, atol=1e-14) for a, b in zip(mine, mirrored, strict=True))


@dataclass(frozen=True)
class Points:
    """Labels at nodes: weight[N, J], label[N, J] and the mean t[N, J, D] for every node of kappa.

    rest[D, D]: the covariance of t about that mean, zero without noise inside the link.
    """

    weight: Array
    label: Array
    t: Array
    rest: Array

    constants = None

    @property
    def nodes(self) -> int:
        """How many nodes weigh anything."""
        return int(np.count_nonzero(self.weight))

    @property
    def directions(self) -> int:
        """Number of directions of the target beside the spike."""
        return int(self.t.shape[2])

    @property
    def points(self) -> Points:
        """The labels as they are."""
        return self

    def few_values(self, most: int) -> Array | None:
        """All values that the label takes at the nodes, each once; None where they are more than so many."""
        some = self.label.ravel()[:: max(1, self.label.size // _SOME)]  # which tell most labels that vary at once
        if len(np.unique(some)) > most:
            return None
        found = np.unique(self.label)
        return found if len(found) <= most else None

    @property
    def odd(self) -> bool:
        """Whether kappa, t and the label may change their signs together; kappa and t are symmetric already."""
        size = np.max(np.abs(self.label))
        turned = np.max(np.abs(self.label + self.label[::-1, ::-1])) <= 1e-13 * size
        return bool(turned and np.max(np.abs(self.weight - self.weight[::-1, ::-1])) <= 1e-13 * np.max(self.weight))


Labels = Intervals | Points
