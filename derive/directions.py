"""Names of what there is one of for every direction of target and spike."""

from __future__ import annotations

import sympy as sp

from derive.blocks import KAPPA, block_field


def directions_of(name: str, count: int) -> tuple[str, ...]:
    """Names of a vector over the ``count`` directions of the target beside the spike: one keeps the plain name."""
    return (name,) if count == 1 else tuple(f"{name}_{i + 1}" for i in range(count))


def coordinates_of_kappa(spikes: int) -> tuple[sp.Expr, ...]:
    """Projections on the ``spikes`` directions of the spike: kappa itself, or functions kappa_j of the point kappa."""
    names = directions_of("kappa", spikes)
    return (KAPPA,) if spikes == 1 else tuple(block_field(name)(KAPPA) for name in names)
