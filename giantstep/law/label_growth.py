"""How far kappa counts for labels of several indices that grow: no term of kappa tells, as that of one index does."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import lru_cache

import numpy as np

from giantstep.law.directions import noisy_indices
from giantstep.quadrature.mesh import NARROW, NEGLIGIBLE, Spacing, too_fast
from giantstep.spec.link import link_values
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Target

Array = np.ndarray
_FARTHEST, _FURTHER = 38.0, 2.0
_ABOUT = np.linspace(-3.0, 3.0, 7)  # of kappa: where labels that do not grow are largest
_REST = np.linspace(-15.0, 15.0, 13)  # of each direction of t: what is looked for is 19 digits wide


def spacing_of(target: Target, overlaps: Rows) -> Spacing:
    """Of panels in kappa of one direction, which end where the label does."""
    return replace(NARROW, reach=max(NARROW.reach, label_reach(target, overlaps)))


@lru_cache(maxsize=256)
def label_reach(target: Target, overlaps: Rows) -> float:
    """The radius of kappa beyond which the weight times the square of a label of several indices is nothing; zero of
    one index.

    overlaps [q, m]. The largest square over what kappa leaves open stands for the mean one. Raises NotConverged where
    there is no such radius.
    """
    if target.indices == 1:
        return 0.0
    gamma = np.array(overlaps)
    signs = np.array([x for x in itertools.product((-1.0, 0.0, 1.0), repeat=len(gamma)) if any(x)])
    ways = signs / np.linalg.norm(signs, axis=1, keepdims=True)
    links = [text for text in (target.mean_link, target.second_link) if isinstance(text, str)]
    return max(_reach(_Squares(link, gamma, target.probit), ways) for link in links)


def _reach(squares: _Squares, ways: Array) -> float:
    peak = squares.largest((_ABOUT[:, None, None] * ways).reshape(-1, ways.shape[1]))
    reach = NARROW.reach
    while reach < _FARTHEST:
        if squares.largest(reach * ways) <= peak + math.log(NEGLIGIBLE):
            return reach
        reach += _FURTHER
    raise too_fast()


class _Squares:
    """Squares of a label with the weight of its indices, on a coarse grid of what kappa leaves of these."""

    def __init__(self, link: str, gamma: Array, probit: float) -> None:
        lower = noisy_indices(gamma, probit).lower
        axes = [_REST if size > 0.0 else np.zeros(1) for size in np.diag(lower)]
        rest = np.stack([x.ravel() for x in np.meshgrid(*axes, indexing="ij")])
        self.values, self.gamma, self.away = link_values(link), gamma, lower @ rest
        self.log_weight = -0.5 * (rest**2).sum(axis=0)

    def largest(self, kappa: Array) -> float:
        """The logarithm of the largest at points of kappa [N, q]."""
        found = -math.inf
        for place in kappa:
            with np.errstate(all="ignore"):
                y = self.values((place @ self.gamma)[:, None] + self.away)
                square = np.fmax.reduce(2.0 * np.log(np.abs(y)) + self.log_weight)
            found = max(found, float(square) - 0.5 * float(place @ place))
        return found
