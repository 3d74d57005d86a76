"""Traces of products of matrices (1/n0) sum_i f_i x_i x_i^T of one batch, by partitions without crossings.

Source: free cumulants of a compound Poisson law, E[f_1...f_k]/alpha0^(k-1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import sympy as sp

from derive.bulk_covariance import OVERLAP
from derive.gaussian.expectation import Expectation
from derive.sample_averages import ALPHA0

Word = tuple[sp.Expr, ...]  # a product of such matrices, by their functions f of a sample
Form = Sequence[tuple[Any, Word]]  # a sum of products, with factors


def mean(function: Any) -> Any:
    """Over the samples of the step."""
    return Expectation(function, OVERLAP)


def trace_of(word: Word) -> Any:
    """(1/d) tr of a product: the sum over partitions of its places without crossings, made block by block."""
    return sp.Add(*(_cumulants(word, each) for each in _parts(len(word))))


def trace_by_all_partitions(word: Word) -> Any:
    """The same from all partitions, those that cross left out: what ``trace_of`` is tested with."""
    return sp.Add(*(_cumulants(word, each) for each in _partitions(len(word)) if not _crosses(each)))


def of_form(form: Form, trace: Any = trace_of) -> Any:
    """(1/d) tr of a sum of products."""
    return sp.Add(*(factor * trace(word) for factor, word in form))


def of_square(form: Form, trace: Any = trace_of) -> Any:
    """(1/d) tr of its square."""
    return sp.Add(*(a * b * trace(left + right) for a, left in form for b, right in form))


def _cumulants(word: Word, partition: Sequence[Sequence[int]]) -> Any:
    return sp.Mul(*(_cumulant([word[i] for i in block]) for block in partition))


def _cumulant(functions: Sequence[sp.Expr]) -> Any:
    return mean(sp.Mul(*functions)) / ALPHA0 ** (len(functions) - 1)


def _parts(size: int, first: int = 0) -> Iterator[list[tuple[int, ...]]]:
    """Partitions of ``size`` places in a row, from ``first`` on, without crossings."""
    if size == 0:
        yield []
        return
    for block in _blocks_with(size):
        yield from _between([*block, size], first, [tuple(first + i for i in block)])


def _blocks_with(size: int) -> Iterator[tuple[int, ...]]:
    """Sets of places below ``size`` that hold the first one."""
    for chosen in range(2 ** (size - 1)):
        yield (0, *(i for i in range(1, size) if chosen >> (i - 1) & 1))


def _between(ends: Sequence[int], first: int, found: list[tuple[int, ...]]) -> Iterator[list[tuple[int, ...]]]:
    """Partitions of what lies between neighbours of a block, one gap after the other."""
    if len(ends) == 1:
        yield found
        return
    for inside in _parts(ends[1] - ends[0] - 1, first + ends[0] + 1):
        yield from _between(ends[1:], first, [*found, *inside])


def _partitions(size: int) -> Iterator[list[list[int]]]:
    """All partitions: the last place joins a block of the others, or stands alone."""
    if size == 0:
        yield []
        return
    for before in _partitions(size - 1):
        for chosen in range(len(before)):
            yield [block + [size - 1] * (number == chosen) for number, block in enumerate(before)]
        yield [*before, [size - 1]]


def _crosses(partition: Sequence[Sequence[int]]) -> bool:
    """Whether two blocks have places a < b < c < e, of which a and c are in one and b and e in the other."""
    pairs = [(one, other) for one in partition for other in partition if one is not other]
    return any(
        a < b < c < e for one, other in pairs for a, c in combinations(one, 2) for b, e in combinations(other, 2)
    )
