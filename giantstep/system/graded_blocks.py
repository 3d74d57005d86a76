"""What the features of a block depend on, to many digits: see ``graded_features``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import mpmath
import numpy as np

from giantstep.law import structured_inputs
from giantstep.law.layer_state import AlikeRows
from giantstep.law.spike import by_blocks, states_after_steps, variance_by_value
from giantstep.quadrature.mesh import Term
from giantstep.spec.errors import NotConverged
from giantstep.spec.kernels import function_kernel
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Model
from giantstep.system.problem import Features

_LOST, _SAME = 1e-9, 1e-13  # of features: what is a combination too few digits are left of; blocks that are one
_NEARLY = 1e-11  # loadings and biases whose features may be the same but for rounding
SURE = 1e-6  # what rounded loadings have to differ by: the direction of the difference has ten digits then
DIGITS = 300  # differences of 1e-13, a few times nested, in features of strength 1e-12, to a high power


@dataclass(frozen=True)
class Block:
    """What the features of a block depend on: loadings [q] and bulk variance to many digits.

    exact: whether these follow from what is given, and are not rounded themselves; value: of the readout, to many
    digits, where they follow from it; alike: blocks whose differences are known to many digits, of which it is the one
    numbered ``place``; numbers: averages D_k to many digits, of a centre that needs them.
    """

    term: Term
    loadings: tuple[Any, ...]
    variance: Any
    exact: bool
    value: Any = None
    alike: AlikeRows | None = None
    place: int = 0
    numbers: tuple[Any, ...] = ()

    def told_beside(self, other: Block) -> bool:
        """Whether what two blocks differ by is not rounded."""
        return self.exact and other.exact or self.alike is not None and self.alike is other.alike


def blocks_of(features: Features) -> tuple[Block, ...]:
    """The blocks; loadings and variance follow from the readout values to all digits where these are what is given."""
    with mpmath.workdps(DIGITS):
        told, given = _told_after_steps(features), _given(features)
        variance = None if features.loadings is not None else _variance_by_value(features.model)
        listed = features.model.spike is not None and isinstance(features.model.spike.bulk_variance, tuple)
        spike, values_given = features.spike, features.model.network.readout.values
        # the loading alone does not tell values apart where there is no spike; polynomials of a limit are more blocks
        values = {(u * spike.strength, c): u for u, c in zip(values_given, spike.bulk_variance, strict=False)}
        found = []
        for number, term in enumerate(features.blocks):
            row = (term.scale,) if features.loadings is None else features.loadings[number]
            if (rows := given.get((row, term.variance))) is not None:
                *along, c = rows
                found.append(Block(term, tuple(along), c, True))
                continue
            value = values.get((term.scale, term.variance))
            if value is not None and features.loadings is None and (variance is not None or listed):
                u = mpmath.mpf(value)
                c = mpmath.mpf(term.variance if variance is None else variance(u))
                found.append(Block(term, (u * mpmath.mpf(spike.strength),), c, True, u))
                continue
            if (known := told.get((row, term.variance))) is not None:
                alike, place = known
                *loadings, c = alike.rows[place]
                found.append(Block(term, tuple(loadings), c, False, None, alike, place))
                continue
            found.append(Block(term, tuple(mpmath.mpf(x) for x in row), mpmath.mpf(term.variance), False))
    return tuple(found)


def _told_after_steps(features: Features) -> dict[tuple[tuple[float, ...], float], tuple[AlikeRows, int]]:
    """Where differences of blocks are told, and as which one of these, by rounded loadings and bulk variance."""
    if not by_blocks(features.model):
        return {}
    found = {}
    for alike in states_after_steps(features.model)[-1].alike or ():
        for place, (*loadings, c) in enumerate(alike.rows):
            found[tuple(map(float, loadings)), float(c)] = alike, place
    return found


def _given(features: Features) -> dict[tuple[tuple[float, ...], float], tuple[Any, ...]]:
    """Loadings and bulk variance to all digits of a spike whose loadings are given, by what these are rounded to.

    The directions that remain are rounded alike for all blocks, which tells the same blocks apart. None where one of
    them was taken for rounding, or rows nearly agree: the direction of what they differ by is as rounded as they are.
    """
    spike, directions = features.model.spike, features.spike.directions
    if spike is None or spike.loadings is None or directions is None or directions.rank < _exact_rank(spike.loadings):
        return {}
    variance = variance_by_value(features.model)
    kept, strength = [[mpmath.mpf(x) for x in row] for row in directions.kept], mpmath.mpf(spike.strength)
    found = {}
    parts = zip(
        spike.loadings,
        directions.reduced()[0],
        features.model.network.readout.values,
        features.spike.bulk_variance,
        strict=True,
    )
    for row, rounded, value, c in parts:
        along = [strength * mpmath.fdot(row, column) for column in zip(*kept, strict=True)]
        found[rounded, c] = *along, mpmath.mpf(c) if variance is None else variance(mpmath.mpf(value))
    least = min(float(c) for *_, c in found.values())
    distinct = {tuple(along): Block(features.blocks[0], tuple(along), least, False) for *along, _ in found.values()}
    return {} if _nearly_agree(distinct) or may_hide_directions(list(distinct.values())) else found


def _nearly_agree(rows: Iterable[tuple[Any, ...]]) -> bool:
    """Whether two rows, or one and the negative of another, differ by so little that rounding tilts the difference."""
    apart = (
        max(abs(x - side * y) for x, y in zip(*two, strict=True)) for two in combinations(rows, 2) for side in (1, -1)
    )
    return any(0 < each < SURE for each in apart)


def _exact_rank(matrix: Rows) -> int:
    """Of a matrix as it is written, by elimination in fractions."""
    rows, rank = [[Fraction(x) for x in row] for row in matrix], 0
    for column in range(len(matrix[0])):
        pivot = next((row for row in rows if row[column]), None)
        if pivot is None:
            continue
        rank += 1
        rest = [row for row in rows if row is not pivot]
        rows = [[x - row[column] / pivot[column] * y for x, y in zip(row, pivot, strict=True)] for row in rest]
    return rank


def may_hide_directions(blocks: Sequence[Block]) -> bool:
    """Whether some blocks, or their mirror images where the activation is odd or even, are so much alike that a
    combination of their features is lost that is not told.

    Of n blocks that differ by e in loadings, bias and deviation of the rest of the features one is e^(n - 1).
    """
    moving = [block for block in blocks if any(block.loadings)]  # the means of others are constants, one function
    rows = np.array([[*map(float, block.loadings), block.term.offset] for block in moving])
    variance = np.array([float(block.variance) for block in moving])
    for block, row, here in zip(moving, rows, variance, strict=True):
        wider = (variance - here) ** 2 / here
        apart = [np.sqrt(((side * rows - row) ** 2).sum(axis=1) + wider) for side in _sides(blocks[0])]
        told = np.array([block.alike is not None and block.alike is other.alike for other in moving])
        nearest = np.sort(np.min(apart, axis=0)[~told] / np.sqrt(here))
        nearest = nearest[nearest > _SAME]
        if any(e < _LOST ** (1.0 / (n + 1)) for n, e in enumerate(nearest.tolist()) if n):
            return True
    return False


def nearly_one(blocks: Sequence[Block], together: Sequence[Sequence[int]]) -> bool:
    """Whether two blocks, or one and a mirror image, differ by so little that rounding may make their features one, or
    decide how they differ where their loadings are rounded; together: places of blocks whose expansions tell them
    apart.
    """
    with mpmath.workdps(DIGITS):
        for pair in combinations(range(len(blocks)), 2):
            one, other = (blocks[b] for b in pair)
            if any(set(pair) <= set(places) for places in together) or not any((*one.loadings, *other.loadings)):
                continue
            rows = [(*block.loadings, mpmath.mpf(block.term.offset)) for block in (one, other)]
            for side in _sides(one):
                apart = float(max(abs(side * x - y) for x, y in zip(*rows, strict=True)))
                if 0.0 < apart < _NEARLY if one.told_beside(other) else _SAME < apart < SURE:
                    return True
    return False


def _sides(block: Block) -> tuple[int, ...]:
    """1, and -1 where the mirror image of a block has its features too, but for their sign."""
    return (1,) if function_kernel(block.term.function).PARITY == "none" else (1, -1)


def told_apart_by_rounding() -> NotConverged:
    """The refusal of blocks whose difference rounding hides."""
    return NotConverged(
        "loadings or bulk variances of two blocks differ by little more than rounding, and at infinite dimension the "
        "readout reads any difference",
        "give a dimension, or make loadings equal that are nearly so",
    )


def _variance_by_value(model: Model) -> Callable[[Any], Any] | None:
    """The bulk variance by the readout value, in any arithmetic; None where blocks move each in its own way."""
    if model.inputs is None or model.step is None or by_blocks(model) or model.step.bulk == "matrix":
        return variance_by_value(model)
    return structured_inputs.variance_by_value(model)
