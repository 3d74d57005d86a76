"""Numbers that are rounding beside others, as they are shown."""

from __future__ import annotations

_ROUNDING = 1e-12  # relative: below what any number of a solution is certified to


def meant(value: float, size: float) -> float:
    """Zero in the place of a value that is rounding beside another size."""
    return value if abs(value) > _ROUNDING * size else 0.0
