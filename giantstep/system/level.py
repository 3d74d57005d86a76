"""A resolution of the coupled system."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

PANELS = (7, 8)  # orders of the panels in kappa: what they differ by is the error


@dataclass(frozen=True)
class Level:
    """A resolution: order of the panels in kappa and their halvings, points of the output rule, halvings in t.

    rough: the law of the label on fewer nodes than its halvings give, for an estimate of the error of those.
    cuts: ends of panels in kappa beside those that the coefficients need (of one direction). samples: nodes of the law
    of a sample of a step, where the bulk follows from it. axes: halvings of each axis beside those of all, where kappa
    has several directions. closer: halvings, also parts of one, of the step of nodes that have no panels, beside those
    of panels.
    """

    order: int
    output: int
    halvings: int = 0
    labels: int = 0
    rough: bool = False
    cuts: tuple[float, ...] = ()
    samples: int = 44
    axes: tuple[int, ...] = ()
    closer: float = 0.0

    @cached_property
    def of_table(self) -> Level:
        """What tables and labels know of it: they have no samples of a step."""
        return replace(self, samples=0)

    def fineness(self, rank: int) -> tuple[float, ...]:
        """Of every axis where kappa has several, as ``tensor_table`` takes it."""
        return tuple(self.order / 8.0 * 1.3 ** (self.halvings + more) for more in self.axes or (0,) * rank)
