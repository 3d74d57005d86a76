"""One line of the table that `giantstep verify` prints."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One line of the table; ``ok`` where measured does not exceed allowed."""

    name: str
    measured: float
    allowed: float

    @property
    def ok(self) -> bool:
        return self.measured <= self.allowed

    def line(self) -> str:
        """The aligned row."""
        return f"{self.name:<64} {self.measured:>9.1e} {self.allowed:>9.1e}  {'ok' if self.ok else 'FAILED'}"
