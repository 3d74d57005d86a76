"""Averages D_k that features are expanded in about a centre, and what rounding leaves of them: see ``graded_features``.

Without a spike at the centre they are numbers, known to many digits where that can be: combinations of features that
hardly differ cancel in them. Elsewhere they are functions of kappa, of which a function is made at the end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np

from giantstep.quadrature.mesh import WIDE, Term, meshes, nodes
from giantstep.quadrature.shift_derivatives import root_factorials, shift_derivatives
from giantstep.spec.errors import NotConverged
from giantstep.spec.expressions import numpy_values
from giantstep.system.exact_averages import exact_averages
from giantstep.system.graded_blocks import Block
from giantstep.system.graded_elimination import Column
from giantstep.system.graded_expansion import Expansion
from giantstep.system.graded_series import NUMBER
from giantstep.system.polynomial_averages import degree_of, polynomial_averages

Array = np.ndarray
CANCELS = 0.03  # of the size of a function: with less, averages in double precision have too few digits
# an average this small beside the function is rounding; where it is known to many digits
_NOTHING, _NOTHING_OF_MANY = 1e-14, 1e-30
NO_MEAN = 1e-13  # of the features: a mean without a spike that is none, as that of selu, whose constants are rounded
OF_AVERAGES = 1024.0 * 2.0**-53  # what averages may be off by: those of order 32 were by some 300 roundings
_IN_A_PANEL, _COUNTS = 16, 4.0  # places where sizes are looked for; kappa that counts
_ROUNDED_MANY = 1e-30 / OF_AVERAGES  # of averages to many digits, in those of others


def to_many_digits(centre: Block, order: int) -> Block:
    """A centre without a spike with its averages to many digits; others, and those without such, as they are."""
    if any(centre.loadings) or degree_of(centre.term.function) is not None:
        return centre
    numbers = exact_averages(centre.term.function, centre.variance, centre.term.offset, order)
    if numbers is None:
        return centre
    root = mpmath.sqrt(centre.variance)
    scaled = [abs(x) * root**k / mpmath.sqrt(mpmath.factorial(k)) for k, x in enumerate(numbers)]
    least = [(NO_MEAN if k == 0 else _NOTHING_OF_MANY) * max(scaled) for k in range(order + 1)]
    known = (x if size > small else mpmath.mpf(0) for x, size, small in zip(numbers, scaled, least, strict=True))
    return replace(centre, numbers=tuple(known))


def has_all_digits(centre: Block) -> bool:
    """Whether the averages of a centre without a spike are those of a polynomial."""
    return degree_of(centre.term.function) is not None


def expansion_of(block: Block, centre: Block, order: int, all_of_it: bool = False) -> Expansion:
    """The features of a block about a centre, without averages that vanish, or with them."""
    vanishing = [] if all_of_it else np.flatnonzero(sizes_of(centre, order + 2) == 0.0).tolist()
    return Expansion(block, centre, order, frozenset(vanishing))


@lru_cache(maxsize=64)
def sizes_of(centre: Block, order: int) -> Array:
    """The largest values of D_0 ... D_order at the kappa that count, zero where they are rounding; shared."""
    if (exact := _exact(centre, order)) is not None:
        root = math.sqrt(centre.variance)
        return np.array([abs(float(x)) * root**k for k, x in enumerate(exact)])
    norm = float(mpmath.norm(centre.loadings))
    places = along_spike(centre, _IN_A_PANEL) if norm else np.zeros(1)
    shifts = centre.term.offset + norm * places[np.abs(places) < _COUNTS]
    found = np.abs(averages(centre, shifts, order)).max(axis=1)
    scaled = found * math.sqrt(centre.variance) ** np.arange(order + 1) / root_factorials(order)
    return np.where(scaled > _NOTHING * scaled.max(), found, 0.0)


def along_spike(centre: Block, each: int) -> Array:
    """Places of kappa along the loadings of a centre where its features are resolved, so many in a panel: beside a
    strong spike they vary next to a bias only.
    """
    term = Term(centre.term.function, float(mpmath.norm(centre.loadings)), centre.term.offset, float(centre.variance))
    return nodes(meshes((term,), WIDE).edges, each)[0]


def with_numbers(column: Column, centre: Block, order: int, off: Sequence[Any] = ()) -> Column:
    """Coefficients of powers of kappa: without a spike at the centre the averages are numbers.

    off: roundings of these, as parts of what they round like.
    """
    numbers, sizes = _numbers(centre, order)
    if off:
        numbers = [x + more * size for x, more, size in zip(numbers, off, sizes, strict=True)]
    summed: Column = {}
    for (powers, k), coefficient in column.items():
        summed[powers, NUMBER] = summed.get((powers, NUMBER), 0) + coefficient * mpmath.mpf(numbers[k])
    return summed


def _numbers(centre: Block, order: int) -> tuple[list[Any], list[float]]:
    """D_k of a centre without a spike, and the sizes that they round like: zero where all digits are known."""
    numbers = _exact(centre, order)
    if numbers is None:
        numbers = averages(centre, np.array([centre.term.offset]), order)[:, 0].tolist()
    scale = root_factorials(order) / math.sqrt(centre.variance) ** np.arange(order + 1)
    rounding = _ROUNDED_MANY if centre.numbers else 0.0 if has_all_digits(centre) else 1.0
    return numbers, (rounding * np.max(np.abs(np.array(numbers, dtype=float)) / scale) * scale).tolist()


def _exact(centre: Block, order: int) -> list[Any] | None:
    """D_k without a spike to all digits, of a polynomial, or to many, of what is told so; None of anything else."""
    if centre.numbers:
        return list(centre.numbers[: order + 1])
    if any(centre.loadings) or degree_of(centre.term.function) is None:
        return None
    return polynomial_averages(centre.term.function, centre.variance, mpmath.mpf(centre.term.offset), order)


def is_no_mean(block: Block, column: Column) -> bool:
    """Whether the mean of a block without a spike, a number, is one that counts as none."""
    return abs(float(sum(column.values()))) < NO_MEAN * typical_of(block)


def typical_of(block: Block) -> float:
    """A size of the function of a block where it is averaged."""
    around = np.arange(-1, 2)
    spread = float(mpmath.norm(block.loadings)) * around + math.sqrt(block.variance) * around[:, None]
    values = numpy_values(block.term.function)(block.term.offset + spread.ravel())
    return float(np.abs(values).max())


def rounded_like(block: Block, order: int) -> Array:
    """What averages D_k in double precision are rounded like, [order + 1]."""
    scale = root_factorials(order) / math.sqrt(block.variance) ** np.arange(order + 1)
    return np.asarray(typical_of(block) * scale)


def averages(block: Block, shifts: Array, order: int) -> Array:
    """D_k at shifts [N], [order + 1, N]; without a spike at the bias. Raises NotConverged where they have no digits."""
    if block.numbers:
        return np.array(block.numbers[: order + 1], dtype=float)[:, None]
    size = typical_of(block)
    found = shift_derivatives(block.term.function, float(block.variance), shifts, order, size)
    if any(block.loadings):
        return found
    scaled = np.abs(found[:, 0]) * math.sqrt(block.variance) ** np.arange(order + 1) / root_factorials(order)
    if scaled.max() < CANCELS * size:
        raise NotConverged(
            f"the averages of {block.term.function!r}, of which the mean features consist, cancel to rounding, and at "
            "infinite dimension the readout reads any mean feature",
            "give a dimension, or an activation that oscillates less",
        )
    return found
