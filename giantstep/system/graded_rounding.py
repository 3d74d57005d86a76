"""Blocks whose rounded loadings and bulk variances are off by some roundings: see ``graded_features``.

Blocks that are alike are so together: what is rounded are coefficients of the polynomials in the readout value that
their rows are, on the scale on which these vary.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import mpmath

from giantstep.law.layer_state import AlikeRows
from giantstep.law.value_curves import divided_differences
from giantstep.system.graded_blocks import Block

Off = Callable[[int], list[Any]]  # so many numbers of the size of some roundings


def off_by_roundings(blocks: Sequence[Block], chosen: Collection[int], off: Off) -> list[Block]:
    """The blocks, of which those chosen, but for exact ones, are off."""
    moved, together = list(blocks), dict[AlikeRows, list[list[Any]]]()
    for b in (b for b in chosen if not blocks[b].exact):
        alike = blocks[b].alike
        if alike is not None:
            if alike not in together:
                together[alike] = _together(alike, off)
            *loadings, variance = together[alike][blocks[b].place]
        else:
            of_variance, *of_loadings = off(1 + len(blocks[b].loadings))
            size = mpmath.norm(blocks[b].loadings)
            loadings = [x + size * more for x, more in zip(blocks[b].loadings, of_loadings, strict=True)]
            variance = blocks[b].variance * (1 + of_variance)
        moved[b] = replace(blocks[b], loadings=tuple(loadings), variance=variance)
    return moved


def _together(alike: AlikeRows, off: Off) -> list[list[Any]]:
    """Rows of blocks that are alike."""
    values = sorted(set(alike.values))
    firsts = [alike.values.index(value) for value in values]
    rows = [[*(alike.signs[n] * x for x in alike.rows[n][:-1]), alike.rows[n][-1]] for n in firsts]
    width = mpmath.mpf(alike.width)
    units = [[x * width**order for x in row] for order, row in enumerate(divided_differences(values, rows))]
    longest = max(mpmath.norm(row[:-1]) for row in units), max(abs(row[-1]) for row in units)
    sizes = [*[longest[0]] * (len(rows[0]) - 1), longest[1]]
    added = [[size * more for size, more in zip(sizes, off(len(sizes)), strict=True)] for _ in values]
    found = []
    for row, value, sign in zip(alike.rows, alike.values, alike.signs, strict=True):
        change, power = [mpmath.mpf(0)] * len(row), mpmath.mpf(1)
        for more, node in zip(added, values, strict=True):
            change = [x + power * each for x, each in zip(change, more, strict=True)]
            power *= (mpmath.mpf(value) - node) / width
        found.append([*(x + sign * more for x, more in zip(row[:-1], change, strict=False)), row[-1] + change[-1]])
    return found
