"""What a module of a loss offers: averages over the output, and the loss itself.

Written by hand, in codegen/runtime/loss.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from generated.runtime.compiling import Compiled, edge_at, entry
from generated.runtime.gaussian import NORM
from generated.runtime.label_cells import cells
from generated.runtime.label_intervals import intervals
from generated.runtime.label_lines import lines
from generated.runtime.label_points import points
from generated.runtime.nodes import OMEGA, WEIGHT, fill_nodes, span_of
from generated.runtime.prox import Law, at, find_cell, piece_of
from generated.runtime.slope_moments import slope_moments
from generated.runtime.slope_series import slope_series
from generated.runtime.vector import exp


@dataclass(frozen=True, eq=False)
class Loss:
    """A loss: its pieces, where they end, and what the rules have to know about it; of the rest see ``Law``.

    The rules are compiled at first use, for all losses; here they stand without their first argument.
    """

    rho: Compiled  # PIECES
    ends: Compiled | None  # EDGE, where there is more than one piece
    origins: Any
    ranges: Any
    residual: bool
    margin: bool
    smooth: bool
    steepness: float
    rate: float
    curvature: float
    knee: float
    quadratic: bool

    @cached_property
    def law(self) -> Law:
        """What the rules take; its addresses hold as long as this object lives."""
        ends = 0 if self.ends is None else self.ends.address
        known = (self.origins, self.ranges, self.residual, self.margin, self.smooth)
        bends = self.steepness, self.rate, self.curvature, self.knee
        return Law(self.rho.address, ends, *known, *bends, self.quadratic)

    def points(self, *given: Any) -> Any:
        """Averages for labels at points: see ``label_points``."""
        return points(self.law, *given)

    def lines(self, *given: Any) -> Any:
        """Averages for labels that are linear beside points, of a loss of the residual: see ``label_lines``."""
        return lines(self.law, *given)

    def cells(self, *given: Any) -> Any:
        """Averages for labels that are linear on polygons, of a loss of the residual: see ``label_cells``."""
        return cells(self.law, *given)

    def intervals(self, *given: Any) -> Any:
        """Averages for labels on intervals: see ``label_intervals``."""
        return intervals(self.law, *given)

    def slope_series(self, *given: Any) -> Any:
        """The slope by Hermite polynomials of outputs: see ``slope_series``."""
        return slope_series(self.law, *given)

    def slope_moments(self, *given: Any) -> Any:
        """Moments of the slope at outputs: see ``slope_moments``."""
        return slope_moments(self.law, *given)

    def nodes(self, *given: Any) -> Any:
        """Nodes for an average over omega_u: see ``fill_nodes``."""
        return nodes(self.law, *given)

    def piece(self, *given: Any) -> Any:
        """Value, slope and curvature of rho: (piece, u, label, parameters)."""
        return piece(self.law, *given)

    def edge(self, *given: Any) -> Any:
        """Where a piece of rho ends, in u: (piece, label, parameters)."""
        return edge(self.law, *given)

    def cell(self, *given: Any) -> Any:
        """The first piece that holds at a label, and how many do."""
        return cell(self.law, *given)


@entry
def nodes(law, rule, y, output, turns, scratch):
    """Nodes for an average over omega_u ~ N(center, spread^2): see `fill_nodes`; the weights hold the density."""
    span = span_of(output)
    count, center = fill_nodes(law, rule, y, span, turns, scratch), output.center - span.low
    for i in range(count):
        z = (scratch[OMEGA, i] - center) / output.spread
        scratch[WEIGHT, i] *= NORM / output.spread * exp(-0.5 * z * z)
        scratch[OMEGA, i] += span.low
    return count


@entry
def piece(law, k, u, y, q):
    """Value, slope and curvature of rho on piece k."""
    found = piece_of(law, k, y, q, 0.0)
    return at(found, u - found.origin)


@entry
def edge(law, k, y, q):
    """Breakpoint at the end of piece k of rho, in u."""
    return edge_at(law.edge, k, y, q)


@entry
def cell(law, y):
    """The first piece that holds at the label y, and how many do."""
    return find_cell(law, y)

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
