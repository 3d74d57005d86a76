"""Where the overlap of the best estimator jumps as samples grow, and where that of message passing does.

On the path of a target an overlap is a fixed point of state evolution at some samples, from ``derive.best_estimator``.
Where these are no increasing function, overlaps between are never reached: message passing follows the lower branch to
its end, and the best estimator jumps where the free entropies of both branches are equal.
Source: Barbier et al. 2019, PNAS 116, 5451 (thresholds of generalised linear models).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from giantstep.observe.optimal.line import between
from giantstep.observe.optimal.path import Path
from giantstep.observe.optimal.preimages import places_of
from giantstep.spec.errors import NotConverged

Array = np.ndarray
_FOLD = 1e-4  # of the samples: the least fall of samples(q) that counts
_LEAST = 1e-2  # overlap, below which what labels tell is rounding where they are at nodes
_NEWTON, _EQUAL = 40, 1e-10  # steps, and change of the samples, at which free entropies are equal
_PLACE = 1e-9  # of an overlap with the most samples


@dataclass(frozen=True)
class Transition:
    """Samples over d where the best estimator's overlap jumps, and where that of message passing does, inf for nowhere.

    before, after: overlaps of the best estimator on both sides; 1 where all is known.
    """

    information: float
    algorithmic: float
    before: float
    after: float


@lru_cache(maxsize=64)
def transitions(path: Path) -> tuple[Transition, ...]:
    """Those of a target, the first one first, after the weak threshold."""
    branches = _Branches(path)
    return tuple(branches.transition(*fold) for fold in _folds(branches.samples))


def _folds(samples: Array) -> Iterator[tuple[int, int]]:
    """Of samples on a grid of overlaps: a maximum, and the least one before they are as many again."""
    top = 0
    while top < len(samples) - 1:
        beyond = np.flatnonzero(samples[top + 1 :] >= samples[top])
        end = top + 1 + int(beyond[0]) if len(beyond) else len(samples)
        if end > top + 1:
            least = top + 1 + int(np.argmin(samples[top + 1 : end]))
            if samples[least] < (1.0 - _FOLD) * samples[top]:
                yield top, least
        top = min(end, len(samples))


class _Branches:
    """Samples at the overlap 0 and at those of a grid, or a bound of them where they are more than at all before."""

    def __init__(self, path: Path) -> None:
        self.path, self.weak = path, path.thresholds[0].samples
        self.overlaps = np.concatenate([[0.0], path.grid[path.grid >= _LEAST]])
        fewest = [path.fewest(float(q)) for q in self.overlaps[1:]]
        samples = [self.weak]
        for q, bound in zip(self.overlaps[1:], fewest, strict=True):
            samples.append(path.samples(float(q)) if bound <= max(samples) else bound)
        self.samples = np.array(samples)

    def transition(self, top: int, least: int) -> Transition:
        """That of a fold, given the places of its maximum and its minimum on the grid."""
        most, peak = self._maximum(top)
        fewest = float(self.samples[least])
        end = self._at_the_end()
        last = min(most, end)
        samples = min(0.5 * (last + fewest), 2.0 * fewest)
        for _ in range(_NEWTON):
            if last == end and samples >= (1.0 - _FOLD) * last:  # all is known beyond, and the free entropy infinite
                return Transition(last, most, self._below(peak, last), 1.0)
            low, high = self._below(peak, samples), self._above(least, samples)
            number, slope = self.path.entropy_gain(low, high)
            before, samples = samples, float(np.clip(-number / slope, fewest, last))
            if abs(samples - before) <= _EQUAL * samples:
                return Transition(samples, most, low, high)
        raise NotConverged(f"free entropies of two overlaps are equal nowhere between {fewest:g} and {most:g} samples")

    def _at_the_end(self) -> float:
        """The samples at the overlap 1: labels without noise tell all there where they vary, and nothing elsewhere.

        Without bound for others.
        """
        sought = self.path.sought
        places = places_of(sought.target)
        if places is None:
            return math.inf
        return sought.prior.surplus(1.0, 0.0, 0.0) / -float(places.varying.weight.sum())

    def _maximum(self, top: int) -> tuple[float, float]:
        """The most samples near a node of the grid, and the overlap there."""
        if top == 0:
            return self.weak, 0.0
        from scipy.optimize import minimize_scalar  # not needed to solve

        around = (float(self.overlaps[top - 1]), float(self.overlaps[top + 1]))
        found = minimize_scalar(
            lambda q: -self.path.samples(q), bounds=around, method="bounded", options={"xatol": _PLACE}
        )
        return -float(found.fun), float(found.x)

    def _below(self, peak: float, samples: float) -> float:
        """The overlap at these samples on the branch that ends at a peak."""
        if peak == 0.0 or samples <= self.weak:
            return 0.0
        nodes = self.overlaps[self.overlaps < peak]
        low = nodes[self.samples[: len(nodes)] <= samples].max()
        following = float(min(peak, *self.overlaps[self.overlaps > low]))
        return between(lambda q: self.path.samples(q) - samples, max(float(low), 1e-9), following)

    def _above(self, least: int, samples: float) -> float:
        """The overlap at these samples on the branch that begins at a minimum."""
        place = least + int(np.flatnonzero(self.samples[least:] > samples)[0])
        return between(
            lambda q: self.path.samples(q) - samples, float(self.overlaps[place - 1]), float(self.overlaps[place])
        )
