"""How the blocks of a model move with a parameter, as functions of their readout values.

Values that hardly differ have rates that hardly differ: what the difference is counts at infinite dimension.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ByValue:
    """Rates of a block by its readout value u: shift u of its loading, linear u + square u^2 of its bulk variance."""

    shift: float = 0.0
    linear: float = 0.0
    square: float = 0.0

    def times(self, factor: float) -> ByValue:
        """The same for a change by another factor."""
        return ByValue(factor * self.shift, factor * self.linear, factor * self.square)
