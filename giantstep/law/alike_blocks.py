"""Blocks whose rows hardly differ after a step: rounding of the rows would show in what tells their features apart."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from giantstep.law.layer_state import AlikeRows, LayerState
from giantstep.law.mirror_images import images_of, sides_of
from giantstep.spec.model import Network

Array = np.ndarray
Group = tuple[int, ...]
NEAR = 0.01  # of what features vary on: beyond, rounded rows of three blocks are told apart to twelve digits


def alike_after(network: Network, before: LayerState, loadings: Array, variances: Array) -> tuple[Group, ...]:
    """Groups of blocks that are alike after a step to rows [K, q] and [K], from a state that tells what they differ by.

    Of a state that tells nothing none.
    """
    if before.alike is None:
        return ()
    then = _apart(network, np.array(before.loadings), np.array(before.bulk_variance)) < NEAR
    groups = alike_blocks(network, loadings, variances)
    return tuple(group for group in groups if _told(group, then, before.alike))


def alike_blocks(network: Network, loadings: Array, variances: Array) -> tuple[Group, ...]:
    """Groups of blocks of several readout values and of one bias whose rows are alike; of mirror images both are taken
    on one side.
    """
    groups = _together(_apart(network, loadings, variances) < NEAR)
    return tuple(group for group in groups if _differ(network, group))


def rows_before(network: Network) -> tuple[AlikeRows, ...]:
    """Before the first step all blocks are the same."""
    sides, count = sides_of(network), len(network.readout.values)
    values, signs = (tuple(getattr(side, name) for side in sides) for name in ("value", "sign"))
    return (AlikeRows(tuple(range(count)), ((0.0, 1.0),) * count, values, signs, 1.0),)


def _apart(network: Network, loadings: Array, variances: Array) -> Array:
    """How far blocks are apart, beside what their features vary on, [K, K]."""
    sides = sides_of(network)
    signs, offsets = np.array([side.sign for side in sides]), np.array([side.offset for side in sides])
    deviation = np.sqrt(variances)
    rows = np.column_stack([signs[:, None] * loadings, deviation, offsets])
    beside = np.linalg.norm(rows[:, None] - rows[None], axis=2)
    return np.asarray(beside / np.minimum(deviation[:, None], deviation[None]))


def _together(near: Array) -> list[Group]:
    """Blocks that others join, from one to the next."""
    waiting, found = set(range(len(near))), []
    while waiting:
        group, new = set[int](), {min(waiting)}
        while new:
            group |= new
            new = set(np.flatnonzero(near[list(new)].any(axis=0)).tolist()) - group
        waiting -= group
        found.append(tuple(sorted(group)))
    return found


def _differ(network: Network, group: Group) -> bool:
    """Whether blocks have several readout values and one bias, but for images: of others expansions are not made."""
    sides = sides_of(network)
    firsts = set(images_of(network).first[list(group)].tolist())
    return len(firsts) > 1 and len({sides[b].offset for b in group}) == 1


def _told(group: Group, then: Array, alike: Sequence[AlikeRows]) -> bool:
    """Whether what was alike before the step was told apart to many digits."""
    together = [set(rows.blocks) for rows in alike]
    pairs = itertools.combinations(group, 2)
    return all(any({a, b} <= blocks for blocks in together) for a, b in pairs if then[a, b])
