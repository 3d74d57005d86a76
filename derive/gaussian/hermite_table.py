"""Hermite coefficients of a function of several standard normals: the entries of its tensors C_k = E[grad^k f]."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product as cartesian
from typing import Any

import mpmath

Index = tuple[int, ...]
Rows = Sequence[Sequence[Any]]


@dataclass(frozen=True)
class HermiteTable:
    """f = sum_m c_m He_m(z)/m!, m = (m_1, ..., m_k): the nonzero c_m = E[f He_m] = (C_|m|)_{1..1 2..2 ...}, mpf.

    ``degree``: largest |m| looked at; ``complete``: f has no component above it. ``zero``: a coefficient
    c_m/sqrt(m!) of at most ``zero * norm`` counts as zero, norm = sqrt(E f^2); ``dps``: digits carried.
    """

    indices: int
    degree: int
    complete: bool
    coefficients: Mapping[Index, Any]
    norm: float
    zero: float
    dps: int

    def of_degree(self, degree: int) -> dict[Index, Any]:
        """The entries of C_degree."""
        return {m: c for m, c in self.coefficients.items() if sum(m) == degree}

    def seen(self, sees: Callable[[int], bool]) -> HermiteTable:
        """The components of the degrees that are seen."""
        return replace(self, coefficients={m: c for m, c in self.coefficients.items() if sees(sum(m))})

    def shrunk(self, factor: float) -> HermiteTable:
        """Every c_m times factor^|m|."""
        return replace(self, coefficients={m: c * factor ** sum(m) for m, c in self.coefficients.items()})

    def square_of(self, chosen: Callable[[Index], bool]) -> Any:
        """sum of c_m^2/m! over some components: their squared L2 norm."""
        with mpmath.workdps(self.dps):
            squares = (c**2 / factorials(m) for m, c in self.coefficients.items() if chosen(m))
            return mpmath.fsum(squares)

    def rotated(self, basis: Rows) -> HermiteTable:
        """The table in the coordinates basis[j].z, the rows orthonormal.

        C_k is a tensor: sum_m c_m t^m/m! = E[f exp(t.z - t.t/2)] with t_i = sum_j basis[j][i] tau_j.
        """
        with mpmath.workdps(self.dps):
            moved = _permuted(self.coefficients, basis)
            if moved is None:
                moved = _substituted(self.coefficients, basis)
        return replace(self, coefficients=moved).without_zeros()

    def without_zeros(self) -> HermiteTable:
        """Coefficients that count as zero left out."""
        least = self.zero * self.norm
        kept = {m: c for m, c in self.coefficients.items() if abs(c) > least * math.sqrt(factorials(m))}
        return replace(self, coefficients=kept)


def factorials(index: Index) -> int:
    """m! = m_1! m_2! ..."""
    return math.prod(math.factorial(n) for n in index)


def multi_indices(count: int, degree: int) -> list[Index]:
    """All multi-indices of ``count`` entries with |m| <= degree."""
    return [m for m in cartesian(range(degree + 1), repeat=count) if sum(m) <= degree]


def gram(table: HermiteTable, found: int, order: int) -> list[list[Any]]:
    """M_ij = E_u sum_{i2..il} C_l(u)_{i i2..il} C_l(u)_{j i2..il}, l = order, in coordinates of which the first
    ``found`` are u; i, j number the others.

    C_l(u) = E[grad^l f | u] by the others: its range over all u is the span of its higher-order singular vectors.
    """
    size = table.indices - found
    with mpmath.workdps(2 * table.dps + 10):  # a matrix of squares
        rows: dict[tuple[Index, Index], dict[int, Any]] = {}
        for m, c in table.coefficients.items():
            known, new = m[:found], m[found:]
            if sum(new) == order:
                for i in range(size):
                    if new[i]:
                        rest = (*new[:i], new[i] - 1, *new[i + 1 :])
                        rows.setdefault((known, rest), {})[i] = c
        matrix = [[mpmath.mpf(0)] * size for _ in range(size)]
        for (known, rest), entries in rows.items():
            weight = mpmath.mpf(math.factorial(order - 1)) / (factorials(rest) * factorials(known))
            for i, a in entries.items():
                for j, b in entries.items():
                    matrix[i][j] += weight * a * b
        return matrix


def _permuted(coefficients: Mapping[Index, Any], basis: Rows) -> dict[Index, Any] | None:
    """The table where every row is an axis, up to its sign; None where one is not."""
    places = []
    for row in basis:
        (found, *more) = [i for i, x in enumerate(row) if x != 0]
        if more or abs(row[found]) != 1:
            return None
        places.append((found, row[found] < 0))
    moved = {}
    for m, c in coefficients.items():
        odd = sum(m[i] for i, negative in places if negative) % 2
        moved[tuple(m[i] for i, _ in places)] = -c if odd else c
    return moved


def _substituted(coefficients: Mapping[Index, Any], basis: Rows) -> dict[Index, Any]:
    """Homogeneous polynomials with t_i replaced one after the other, powers of the new forms shared."""
    size = len(basis)
    forms = [{_unit(size, j): basis[j][i] for j in range(size) if basis[j][i] != 0} for i in range(size)]
    polynomial = _nested({m: c / factorials(m) for m, c in coefficients.items()}, forms, 0)
    return {m: c * factorials(m) for m, c in polynomial.items()}


def _nested(terms: Mapping[Index, Any], forms: list[dict[Index, Any]], depth: int) -> dict[Index, Any]:
    """Horner's rule in t_depth, the coefficients being polynomials in the variables after it."""
    if depth == len(forms):
        return {(0,) * depth: sum(terms.values())} if terms else {}
    groups: dict[int, dict[Index, Any]] = {}
    for m, c in terms.items():
        groups.setdefault(m[depth], {})[m] = c
    total: dict[Index, Any] = {}
    for power in range(max(groups, default=0), -1, -1):
        total = multiply(total, forms[depth])
        for m, c in _nested(groups.get(power, {}), forms, depth + 1).items():
            total[m] = total.get(m, 0) + c
    return total


def multiply(left: Mapping[Index, Any], right: Mapping[Index, Any]) -> dict[Index, Any]:
    """The product of two polynomials, exponents -> coefficient."""
    result: dict[Index, Any] = {}
    for m, a in left.items():
        for n, b in right.items():
            key = tuple(i + j for i, j in zip(m, n, strict=True))
            result[key] = result.get(key, 0) + a * b
    return result


def added(parts: Iterable[Mapping[Index, Any]]) -> dict[Index, Any]:
    """The sum of coefficients."""
    total: dict[Index, Any] = {}
    for part in parts:
        for m, c in part.items():
            total[m] = total.get(m, 0) + c
    return total


def _unit(size: int, place: int) -> Index:
    return tuple(int(i == place) for i in range(size))
