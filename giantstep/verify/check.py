"""One line of the table that `giantstep verify` prints."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

Outcome = Literal["ok", "FAILED", "undecided", "nothing to check"]


@dataclass(frozen=True)
class Check:
    """One line of the table; it holds where measured does not exceed allowed.

    ``undecided``: why the check cannot tell, in words; empty where it can. ``note``: what else a reader should know;
    ``simulated``: whether one of the two is a simulation; ``empty``: whether there was nothing to compare.
    """

    name: str
    measured: float
    allowed: float
    undecided: str = ""
    note: str = ""
    simulated: bool = False
    empty: bool = False

    @property
    def outcome(self) -> Outcome:
        """What the check says."""
        if self.undecided:
            return "undecided"
        if self.empty:
            return "nothing to check"
        return "ok" if self.measured <= self.allowed else "FAILED"

    @property
    def ok(self) -> bool:
        """Whether the check holds; one that is undecided does not."""
        return self.outcome in ("ok", "nothing to check")

    def to_dict(self) -> dict[str, Any]:
        """Plain values; None for what was not measured."""
        known = {"measured": self.measured, "allowed": self.allowed}
        numbers = {name: value if math.isfinite(value) else None for name, value in known.items()}
        return {"name": self.name, **numbers, "outcome": self.outcome, "remark": self.undecided or self.note}

    def line(self) -> str:
        """The aligned row."""
        words = self.undecided or self.note
        numbers = f"{_number(self.measured)} {_number(self.allowed)}"
        return f"{self.name:<64} {numbers}  {self.outcome}" + (f": {words}" if words else "")


def _number(value: float) -> str:
    return f"{'-':>9}" if value != value else f"{value:>9.1e}"
