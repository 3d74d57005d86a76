"""Axes of kappa in several directions, each as fine as the sign of the output needs.

The output turns fast along few of them: most often along the first, which carries the alignment.
"""

from __future__ import annotations

from typing import Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from giantstep.spec.errors import NotConverged

_FINER = 2  # halvings of an axis at a time
_SETTLED = 1e-12  # the last relative change of the probability


class OnAxes(Protocol):
    """An output on axes of its own."""

    table: np.ndarray

    def on_finer(self, axes: tuple[int, ...]) -> Self:
        """The same on axes with so many more halvings. Raises NotConverged where these are too many nodes."""

    def wrong(self) -> float:
        """The probability of a wrong sign, on the nodes of these axes."""


Given = TypeVar("Given", bound=OnAxes)


class OnItsAxes(NamedTuple, Generic[Given]):
    """An output on the axes that were found, and whether these settle the probability of a wrong sign."""

    output: Given
    settled: bool


def on_settled_axes(given: Given, rank: int, many: int) -> OnItsAxes[Given]:
    """An output on axes that settle the probability of a wrong sign: no finer axis changes it; or on the first
    that have more than ``many`` nodes. An output that is no number settles it as well as any.
    """
    axes, here, wrong = [0] * rank, given, given.wrong()
    waiting = set(range(rank))
    while waiting and len(here.table) <= many and wrong == wrong:
        axis = min(waiting)
        axes[axis] += _FINER
        try:
            finer = given.on_finer(tuple(axes))
        except NotConverged:  # too many nodes
            break
        before, wrong = wrong, finer.wrong()
        if abs(wrong - before) <= _SETTLED * wrong:
            axes[axis] -= _FINER
            waiting.remove(axis)
            wrong = before
        else:
            here, waiting = finer, set(range(rank))
    return OnItsAxes(here, not waiting or wrong != wrong)
