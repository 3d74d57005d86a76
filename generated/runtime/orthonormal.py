"""Gram-Schmidt over the nodes of a table: rows become orthonormal ones of the same span, the largest rest first.

Written by hand, in codegen/runtime/orthonormal.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math

from generated.runtime.compiling import entry, inner, sum_of_products

_PART = 1024  # numbers that are summed as they come; sums of parts are summed again, which keeps rounding small


@inner
def _product(rows, i, others, j):
    """The sum of rows[i, n] others[j, n]."""
    count, total = rows.shape[1], 0.0
    whole = count - count % 8
    for first in range(0, whole, _PART):
        total += sum_of_products(rows, i, others, j, first, min(first + _PART, whole))
    for n in range(whole, count):
        total += rows[i, n] * others[j, n]
    return total


@inner
def _take(rows, i, share, others, j):
    """Take a share of others[j] from rows[i]."""
    for n in range(rows.shape[1]):
        rows[i, n] -= share * others[j, n]


@inner
def _largest(rest, waiting, left):
    """(its place among those that wait, its norm) of the row of the largest norm; the first that is not a number."""
    place, largest = 0, -1.0
    for w in range(left):
        norm = math.sqrt(_product(rest, waiting[w], rest, waiting[w]))
        if math.isnan(norm):
            return w, norm
        if norm > largest:
            place, largest = w, norm
    return place, largest


@inner
def _include(rest, orthogonal, chosen, rank, basis, coordinates):
    """e_rank from what the row ``chosen`` has beside those before it, which are taken once more against rounding."""
    for n in range(rest.shape[1]):
        orthogonal[rank, n] = rest[chosen, n]
    for i in range(rank):
        again = _product(orthogonal, i, rest, chosen)
        coordinates[i, chosen] += again
        _take(orthogonal, rank, again, orthogonal, i)
    norm = math.sqrt(_product(orthogonal, rank, orthogonal, rank))
    for n in range(rest.shape[1]):
        orthogonal[rank, n] /= norm
    coordinates[rank, chosen] = norm
    for b in range(basis.shape[0]):
        combined = 1.0 if b == chosen else 0.0
        for i in range(rank):
            combined -= basis[b, i] * coordinates[i, chosen]
        basis[b, rank] = combined / norm


@entry
def orthonormal_rows(rest, orthogonal, resolution, basis, coordinates, waiting, ends):
    """Orthonormal rows e[K, N] of the span of rows[K, N], as many as have more than a resolution beside those before.

    rest: the rows, used up; basis[K, K], coordinates[K, K]: zero, filled so that e_i = sum_b row_b basis[b, i] and
    row_b = sum_i e_i coordinates[i, b]. waiting[K]: filled, at its beginning with the rows that are left out. ends[2]:
    what the last e_i had beside the others, and the largest that was left out. Returns how many e_i there are.
    """
    count, rank, ends[0], ends[1] = rest.shape[0], 0, 1.0, 0.0
    for b in range(count):
        waiting[b] = b
    while rank < count:
        place, norm = _largest(rest, waiting, count - rank)
        if not norm > resolution:
            ends[1] = norm
            break
        ends[0], chosen = min(ends[0], norm), waiting[place]
        for w in range(place, count - rank - 1):
            waiting[w] = waiting[w + 1]
        _include(rest, orthogonal, chosen, rank, basis, coordinates)
        for w in range(count - rank - 1):
            part = _product(rest, waiting[w], orthogonal, rank)
            _take(rest, waiting[w], part, orthogonal, rank)
            coordinates[rank, waiting[w]] = part
        rank += 1
    return rank

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
