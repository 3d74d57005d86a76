"""Parallel lines in the plane of kappa, of spikes of two directions, on each of which panels resolve the output's sign.

Where the output varies much less than its mean, its sign turns on a curve of the plane, within less than nodes on two
axes resolve. Along a line it turns at points, which ``panels`` finds; averages along lines vary slowly from one to the
next, but for those that touch the curve.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from giantstep.quadrature.tensor import Shape, panel_edges
from giantstep.system.misclassification import resolved_signs, sign_averages
from giantstep.system.sign_panels import Output, Signs, halved, nodes_on

Array = np.ndarray
_ORDER = 16  # of panels while they are chosen
_MOST = 100  # panels of lines: what those miss shows between two orders


@dataclass(frozen=True)
class Lines:
    """Lines along the first axis, which carries the alignment.

    at: the output at any kappa [N, 2]; along, across: ends of panels on a line and of lines, on which features are
    resolved.
    """

    at: Callable[[Array], Output]
    along: Array
    across: Array
    known: dict[float, Signs] = field(default_factory=dict, compare=False, repr=False)

    def nodes(self, order: int) -> tuple[Array, Array]:
        """kappa [N, 2] and weight [N], of panels of an order along lines and across them."""
        edges, _ = halved(self.across, self._averages, _MOST)
        lines, share = nodes_on(edges, order)
        parts = [self._signs(line).nodes(order, half=False) for line in lines.tolist()]
        counts = [len(kappa) for kappa, _ in parts]
        kappa = np.stack([np.concatenate([kappa for kappa, _ in parts]), np.repeat(lines, counts)], axis=1)
        return kappa, np.concatenate([weight for _, weight in parts]) * np.repeat(share, counts)

    def _averages(self, lines: Array) -> Array:
        """What panels have to resolve, averaged along each line [F, N]; but for the slope in the variance, which is odd
        about every turn: rounding is left of it.
        """
        found = []
        for line in lines.tolist():
            kappa, weight = self._signs(line).nodes(_ORDER, half=False)
            found.append(sign_averages(self._on(line, kappa))[:-1] @ weight)
        return np.stack(found, axis=1)

    def _signs(self, line: float) -> Signs:
        """Panels on a line; remembered."""
        if line not in self.known:
            on = partial(self._on, line)
            self.known[line] = resolved_signs(on(self.along), self.along, on, lambda kappa: iter((on(kappa),)), None)
        return self.known[line]

    def _on(self, line: float, kappa: Array) -> Output:
        return self.at(np.stack([kappa, np.full_like(kappa, line)], axis=1))


def lines_of(shape: Shape, at: Callable[[Array], Output]) -> Lines:
    """Lines on which features are resolved as ``tensor_table`` resolves them. Only of two directions."""
    return Lines(at, panel_edges(shape, 0), panel_edges(shape, 1))
