"""Names of what there is one of for every direction of target and spike."""

from __future__ import annotations


def directions_of(name: str, count: int) -> tuple[str, ...]:
    """Names of a vector over the ``count`` directions of the target beside the spike: one keeps the plain name."""
    return (name,) if count == 1 else tuple(f"{name}_{i + 1}" for i in range(count))
