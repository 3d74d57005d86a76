"""Times in words."""

from __future__ import annotations


def readable(seconds: float | str) -> str:
    """A time in a unit that suits it; a text as it is."""
    if isinstance(seconds, str):
        return seconds
    for factor, name in ((1.0, "s"), (1e-3, "ms")):
        if seconds >= factor:
            return f"{seconds / factor:.3g} {name}"
    return f"{seconds * 1e6:.3g} us"
