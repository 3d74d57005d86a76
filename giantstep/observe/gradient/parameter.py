"""A parameter of a model that a solution is differentiated in."""

from __future__ import annotations

from dataclasses import dataclass

from giantstep.spec.model import Model

Rates = tuple[float, float, float]  # of test error, training error, free energy


@dataclass(frozen=True)
class Parameter:
    """A key of a model."""

    model: Model
    key: str

    @property
    def value(self) -> float:
        """Its value."""
        return self.model.number_at(self.key)

    @property
    def unit(self) -> float:
        """Its size, one where it vanishes."""
        return abs(self.value) or 1.0
