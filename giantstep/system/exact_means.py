"""Orthonormal functions of mean features that nearly depend on each other, from means to many digits.

At infinite dimension the readout uses every combination of the mean features. Of many readout values, all of them
apart, some combination is 1e-8 to 1e-20 of its features: in double precision its shape is rounding. Here
E sigma(s + sqrt(c) g) is the trapezoid rule in z = s + sqrt(c) g, whose nodes all blocks and points share; of sigma
with kinks it is Gauss's rule between these (``exact_panels``), or closed for piecewise linear sigma; in fixed point.
Gram-Schmidt is done with them; only the functions that it gives are rounded. Shifts and variances are those of the
readout values to all digits: features rounded one by one have other combinations.
Of n blocks that differ by e one combination is e^(n - 1) of them: there are as many digits as that takes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import mpmath
import numpy as np

from derive.language.catalogue import lookup
from derive.language.grammar import Node, parse
from giantstep.spec.errors import NotConverged
from giantstep.spec.kernels import function_kernel
from giantstep.system.exact_averages import value_at
from giantstep.system.exact_panels import Panels, far_apart
from giantstep.system.graded_blocks import Block, told_apart_by_rounding
from giantstep.system.polynomial_averages import degree_of, polynomial_means

Array = np.ndarray
_BITS, _GUARD = 160, 20  # of fixed point, at least, and more of what it is made of
_UNSETTLED, _DEPENDENT = 42, 54  # of these bits: what two steps may differ by; what is left of a dependent feature
_COARSEST, _HALVINGS = 0.25, 6  # steps in z
_COUNTS = 4.0  # kappa where features are compared
_MOST = 10_000_000  # bits of all nodes beside one point, which is a second or two for a hundred points
_SHAPE, _DOUBLINGS = 96, 5  # bits beyond the size of a function that its shape takes; how often bits are doubled


@dataclass(frozen=True, eq=False)
class ExactFunctions:
    """``e_i = sum_b mu0_b basis[b, i]`` of blocks, the coefficients [K, rank] to so many bits."""

    blocks: tuple[Block, ...]
    basis: Array
    bits: int

    def at(self, kappa: Array) -> Array:
        """[N, K] at points [N], zero from the rank on; remembered."""
        return _at(self, np.ascontiguousarray(kappa).tobytes())


@lru_cache(maxsize=64)
def _at(functions: ExactFunctions, kappa: bytes) -> Array:
    means = exact_means(functions.blocks, np.frombuffer(kappa), functions.bits)
    assert means is not None
    count, rank = functions.basis.shape
    found = np.zeros((len(means), count))
    with mpmath.workprec(functions.bits):
        for i in range(rank):
            found[:, i] = (means * functions.basis[:, i]).sum(axis=1).astype(float)
    found.flags.writeable = False
    return found


class Orthonormal(NamedTuple):
    """Functions, the coordinates [rank, K] of the features in them, and combinations of these that vanish
    [K, K - rank].
    """

    functions: ExactFunctions
    coordinates: Array
    null: Array


def orthonormal_to_many_digits(
    blocks: tuple[Block, ...], kappa: Array, weight: Array, none: Array
) -> Orthonormal | None:
    """On nodes [N] with weights [N]; none [K]: whether a mean counts as none. None where the means are not known to
    many digits, or there are none.
    """
    bits = _bits_for(blocks, kappa, none)
    means = None if bits is None else exact_means(blocks, kappa, bits)
    if bits is None or means is None:
        return None
    with mpmath.workprec(bits):
        roots = np.array([mpmath.sqrt(mpmath.mpf(w)) for w in weight.tolist()])
        columns = _without_rounding(means, bits, none)
        rest, combinations, chosen, waiting, _ = _gram_schmidt([roots * column for column in columns], bits)
        if not chosen:
            return None
        basis = np.stack([combinations[b] for b in chosen], axis=1)
        coordinates = [[float((rest[i] * roots * column).sum()) for column in columns] for i in chosen]
        null = [combinations[b] / np.abs(combinations[b]).max() for b in waiting]
    vanishing = np.array(null, dtype=float).reshape(len(waiting), len(rest)).T
    return Orthonormal(ExactFunctions(blocks, basis, bits), np.array(coordinates), vanishing)


def _bits_for(blocks: tuple[Block, ...], kappa: Array, none: Array) -> int | None:
    """As many as tell every combination of the features from rounding, and its shape, by some of the points; None where
    there are no means of many digits. What is dropped at some number of bits has to be dropped at twice as many, too.

    Raises NotConverged where the most bits do not tell.
    """
    counts, dropped, small, told = np.sort(kappa[np.abs(kappa) < _COUNTS]), 0, False, 0
    some = counts[np.linspace(0, len(counts) - 1, 2 * len(blocks) + 5).astype(int)]
    for halving in range(_DOUBLINGS):
        bits = _BITS << halving
        means = exact_means(blocks, some, bits)
        if means is None and not halving:
            return None
        if means is None:
            break
        told = bits
        with mpmath.workprec(bits):
            columns = _without_rounding(means, bits, none)
            found = _gram_schmidt(columns, bits)
            small = any(not off and not column.any() for column, off in zip(columns, none, strict=True))
            largest = [abs(columns[b]).max() for b in found.chosen]  # fixed point rounds all means alike
            least = min((min(1, a) * b for a, b in zip(largest, found.sizes, strict=True)), default=mpmath.mpf(1))
            enough = max(_BITS, _SHAPE + math.ceil(-float(mpmath.log(least, 2))))
        if enough <= bits and not small and len(found.left) in (0, dropped):
            return enough
        dropped = len(found.left)
    raise _too_small(told) if small else told_apart_by_rounding()


def _too_small(bits: int) -> NotConverged:
    """The refusal of means that so many bits do not tell from zero."""
    return NotConverged(
        f"a mean feature is less than 1e-{(bits - _DEPENDENT) * math.log10(2.0):.0f}, as its activation oscillates or "
        "is next to always zero, and at infinite dimension the readout reads any mean feature",
        "give a dimension, or an activation that oscillates less, or is less often zero",
    )


def _without_rounding(means: Array, bits: int, none: Array) -> list[Array]:
    """The columns of means [N, K], zero where they count as none, or are hardly more than rounding of fixed point."""
    least = mpmath.mpf(2) ** (_DEPENDENT - bits)
    counts = [not off and abs(column).max() > least for column, off in zip(means.T, none, strict=True)]
    return [column if some else 0 * column for column, some in zip(means.T, counts, strict=True)]


class _Elimination(NamedTuple):
    """Columns, orthonormal where chosen, as combinations of those that were given; their numbers, those that are left
    over, and what the chosen had beside others, relative to their size.
    """

    columns: list[Array]
    combinations: list[Array]
    chosen: list[int]
    left: list[int]
    sizes: list[Any]


def _gram_schmidt(columns: list[Array], bits: int) -> _Elimination:
    """With pivots; what depends on others is left over."""
    combinations = list(np.array(mpmath.eye(len(columns)).tolist()))
    sizes = [mpmath.sqrt((column * column).sum()) or mpmath.mpf(1) for column in columns]
    found = _Elimination(list(columns), combinations, [], list(range(len(columns))), [])
    rest, waiting = found.columns, found.left
    while waiting:
        norms = [mpmath.sqrt((rest[b] * rest[b]).sum()) / sizes[b] for b in waiting]
        place = max(range(len(waiting)), key=norms.__getitem__)
        if norms[place] < mpmath.mpf(2) ** (_DEPENDENT - bits):
            break
        first = waiting.pop(place)
        norm = norms[place] * sizes[first]
        rest[first], combinations[first] = rest[first] / norm, combinations[first] / norm
        for b in waiting:
            part = (rest[b] * rest[first]).sum()
            rest[b], combinations[b] = rest[b] - part * rest[first], combinations[b] - part * combinations[first]
        found.chosen.append(first)
        found.sizes.append(norms[place])
    return found


def exact_means(blocks: tuple[Block, ...], kappa: Array, bits: int) -> Array | None:
    """mu0_b at points [N], as numbers of many digits [N, K]; None where the function has kinks at rounded places, or
    turns too sharply.
    """
    found: list[Array] = []
    with mpmath.workprec(bits + _GUARD):
        for block in blocks:
            offset, loading = mpmath.mpf(block.term.offset), block.loadings[0]
            shifts = [offset + loading * mpmath.mpf(x) for x in kappa.tolist()]
            function = block.term.function
            segments = function_kernel(function).FUNCTION.segments
            if segments:
                column = _piecewise(segments, shifts, mpmath.mpf(block.variance))
            elif degree_of(function) is not None:
                column = np.array(polynomial_means(function, mpmath.mpf(block.variance), shifts))
            elif len(function_kernel(function).BREAKPOINTS):
                column = _panels(function, bits).means(shifts, mpmath.mpf(block.variance))
            else:
                column = _smooth(_values(function, bits), shifts, mpmath.mpf(block.variance))
            if column is None:
                return None
            found.append(column)
    return np.stack(found, axis=1)


class _Values(dict[float, int]):
    """f in fixed point at multiples of a power of two."""

    def __init__(self, node: Node, bits: int) -> None:
        super().__init__()
        self.node, self.bits = node, bits

    def __missing__(self, z: float) -> int:
        self[z] = int(value_at(self.node, mpmath.mpf(z)) * (1 << self.bits))
        return self[z]


@lru_cache(maxsize=4)
def _values(function: str, bits: int) -> _Values:
    return _Values(parse(lookup(function).expression), bits)


@lru_cache(maxsize=4)
def _panels(function: str, bits: int) -> Panels:
    return Panels(parse(lookup(function).expression), tuple(function_kernel(function).BREAKPOINTS), bits)


def _smooth(values: _Values, shifts: list[Any], variance: Any) -> Array | None:
    """By the trapezoid rule with the first step that has settled wherever the function is averaged; None where that
    takes too many nodes of too many bits.
    """
    some = far_apart(shifts, variance)
    step = _COARSEST * 2.0 ** min(0, math.floor(math.log2(float(variance)) / 2.0))
    allowed = mpmath.mpf(2) ** (_UNSETTLED - values.bits)
    try:
        before = _sums(values, some, variance, step)
        for _ in range(_HALVINGS):
            step *= 0.5
            if _reach(values.bits, variance, step) * values.bits > _MOST:
                break
            here = _sums(values, some, variance, step)
            if all(abs(a - b) <= allowed * max(1, abs(a)) for a, b in zip(here, before, strict=True)):
                return _sums(values, shifts, variance, step)
            before = here
    except KeyError:
        pass
    return None


def _sums(values: _Values, shifts: list[Any], variance: Any, step: float) -> Array:
    """step * sum_k f(k step) N(k step; s, c), outwards from the node next to s: weights by their ratios."""
    bits, width = values.bits, mpmath.mpf(step)
    count = _reach(bits, variance, step)
    first = [int(mpmath.nint(s / width)) for s in shifts]
    apart = [number * width - s for number, s in zip(first, shifts, strict=True)]
    falls = int(mpmath.exp(-width * width / variance) * (1 << bits))
    total = np.zeros(len(shifts), dtype=object)
    for side in (1, -1):
        weight = _fixed([mpmath.exp(-d * d / (2 * variance)) for d in apart], bits)
        ratio = _fixed([mpmath.exp(-(2 * side * d * width + width * width) / (2 * variance)) for d in apart], bits)
        for j in range(count + 1):
            if j or side > 0:
                here = [values[(number + side * j) * step] for number in first]
                total = total + weight * np.array(here, dtype=object)
            weight, ratio = (weight * ratio) >> bits, (ratio * falls) >> bits
    norm = width / mpmath.sqrt(2 * mpmath.pi * variance) / mpmath.mpf(1 << bits) ** 2
    return np.array([mpmath.mpf(x) * norm for x in total.tolist()])


def _reach(bits: int, variance: Any, step: float) -> int:
    """As many nodes on either side as the weight counts at."""
    return math.ceil(math.sqrt(2.0 * math.log(2.0) * bits * float(variance)) / step)


def _fixed(numbers: list[Any], bits: int) -> Array:
    return np.array([int(x * (1 << bits)) for x in numbers], dtype=object)


def _piecewise(segments: tuple[tuple[float, ...], ...], shifts: list[Any], variance: Any) -> Array | None:
    """Of f = a + b z + sum of jumps and kinks at its breakpoints; None where those are rounded."""
    places, blur, jumps, kinks, slopes, roots, root_blur, levels = segments
    if any(blur) or any(root_blur):
        return None
    root, slope = mpmath.sqrt(variance), mpmath.mpf(slopes[0])
    found = [slope * (s - mpmath.mpf(roots[0])) if slopes[0] else mpmath.mpf(levels[0]) for s in shifts]
    for place, jump, kink in list(zip(places, jumps, kinks, strict=True))[:-1]:
        for n, s in enumerate(shifts):
            x = (s - mpmath.mpf(place)) / root
            above = mpmath.ncdf(x)
            found[n] += jump * above + kink * root * (x * above + mpmath.npdf(x))
    return np.array(found)
