"""Which directions of a target are found when: the staircase of a giant step and of those that follow it.

[DAN23] Dandi et al. 2023, arXiv:2305.18270, Theorems 1 and 2; [ABB23] Abbe et al. 2023 (leap complexity).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from derive.gaussian.hermite_table import HermiteTable, gram
from derive.ridges import completed
from giantstep.spec.expressions import Array

_NEAT = 60  # largest denominator of a direction that is written as a formula


@dataclass(frozen=True)
class Stage:
    """Directions found together: orthonormal rows [r, k] in the basis of the indices; ``rows`` [r, k] span the same in
    reduced echelon form, which ``names`` write down. The order l of the conditional Hermite tensor
    C_l(u) = E[grad^l f | u] that holds them, u being what was found before, and its singular values (root mean square
    over u) along the principal directions.
    """

    order: int
    directions: Array
    rows: Array
    names: tuple[str, ...]
    strengths: tuple[float, ...]


def staircase(first: HermiteTable, later: HermiteTable | None = None) -> tuple[Stage, ...]:
    """Stage by stage until no tensor holds a further direction.

    ``first`` is what the first step sees of the target, ``later`` what the others see (the same where not given).
    At each stage it is the lowest nonzero order that counts: a step of eta = p d^((l-1)/2) sees what is below it first.
    """
    size = first.indices
    basis = _identity(size)
    found, stages = 0, list[Stage]()
    while found < size:
        table = first if found == 0 else later or first
        step = _next(table, basis, found)
        if step is None:
            break
        stage, new = step
        stages.append(stage)
        basis = completed([*basis[:found], *new], size, table.dps)
        found += len(new)
    return tuple(stages)


def by_degree(table: HermiteTable) -> tuple[Stage, ...]:
    """The directions that each C_k, k = 1, 2, ..., adds to those of lower degree, nothing known before: a kernel with
    n = Theta(d^k) samples learns the target's components up to degree k and no more [MMM22].
    """
    size = table.indices
    known: list[list[Any]] = []
    stages = []
    for order in range(1, table.degree + 1):
        if len(known) == size:
            break
        basis = completed(known, size, table.dps)
        matrix = gram(table.rotated(basis), 0, order)
        rest = [row[len(known) :] for row in matrix[len(known) :]]
        made = _stage(table, rest, basis, len(known), order)
        if made is not None:
            stages.append(made[0])
            known = [*basis[: len(known)], *made[1]]
    return tuple(stages)


def lowest_degree(table: HermiteTable, direction: Array) -> int | None:
    """The lowest k for which C_k(v, ., ...) is not zero; None up to the table's degree."""
    rows = completed([[mpmath.mpf(x) for x in direction.tolist()]], table.indices, table.dps)
    for order in range(1, table.degree + 1):
        moved = table.rotated(rows)
        if any(m[0] and sum(m) == order for m in moved.coefficients):
            return order
    return None


def _next(table: HermiteTable, basis: list[list[Any]], found: int) -> tuple[Stage, list[list[Any]]] | None:
    moved = table.rotated(basis)
    orders = sorted({sum(m[found:]) for m in moved.coefficients} - {0})
    for order in orders:
        made = _stage(table, gram(moved, found, order), basis, found, order)
        if made is not None:
            return made
    return None


def _stage(
    table: HermiteTable, matrix: list[list[Any]], basis: list[list[Any]], found: int, order: int
) -> tuple[Stage, list[list[Any]]] | None:
    """The range of a Gram matrix in the coordinates after the first ``found``; None where it is zero."""
    size = len(matrix)
    with mpmath.workdps(2 * table.dps + 10):
        values, vectors = mpmath.eigsy(mpmath.matrix(matrix))
        # an entry of the tensor is a coefficient c_m, of which c_m/sqrt(m!) is compared with zero
        least = (10 * table.zero * table.norm) ** 2 * math.factorial(order)
        kept = [i for i in range(size) if values[i] > least]
        if not kept:
            return None
        inside = [[vectors[j, i] for j in range(size)] for i in kept]
        rows = [
            [mpmath.fsum(x * e[i] for x, e in zip(row, basis[found:], strict=True)) for i in range(table.indices)]
            for row in inside
        ]
        rows = _reduced(rows)
        new = completed(rows, table.indices, table.dps)[: len(rows)]
        strengths = sorted((float(mpmath.sqrt(values[i])) for i in kept), reverse=True)
    names = tuple(_formula(row) for row in rows)
    return Stage(order, _floats(new), _floats(rows), names, tuple(strengths)), new


def _reduced(rows: list[list[Any]]) -> list[list[Any]]:
    """The reduced row echelon form, which shows axes and small ratios for what they are."""
    rows = [list(row) for row in rows]
    done = 0
    for column in range(len(rows[0])):
        best = max(range(done, len(rows)), key=lambda i: abs(rows[i][column]), default=None)
        if best is None or abs(rows[best][column]) < 1e-6:
            continue
        rows[done], rows[best] = rows[best], rows[done]
        pivot = rows[done][column]
        rows[done] = [_snapped(x / pivot) for x in rows[done]]
        for i in range(len(rows)):
            if i != done:
                factor = rows[i][column]
                rows[i] = [_snapped(x - factor * y) for x, y in zip(rows[i], rows[done], strict=True)]
        done += 1
        if done == len(rows):
            break
    return rows


def _snapped(value: Any) -> Any:
    """A small ratio where the value is one to the digits carried (at least 8)."""
    ratio = _ratio(value)
    return value if ratio is None else mpmath.mpf(ratio.numerator) / ratio.denominator


def _ratio(value: Any) -> Fraction | None:
    near = Fraction(float(value)).limit_denominator(_NEAT)
    size = mpmath.mpf(10) ** -max(7, mpmath.mp.dps // 4 - 5)
    close = abs(value - mpmath.mpf(near.numerator) / near.denominator) < size
    return near if close else None


def _formula(row: list[Any]) -> str:
    """A direction up to its length, as "z1 - 2 z3"."""
    ratios = [_ratio(x) for x in row]
    whole = [r for r in ratios if r is not None]
    scale = math.lcm(*(r.denominator for r in whole)) if len(whole) == len(ratios) else None
    terms = []
    for i, x in enumerate(row):
        text = (
            f"{float(abs(x)):.6g}" if scale is None else str(abs(Fraction(float(x)).limit_denominator(_NEAT)) * scale)
        )
        if float(text) != 0.0:
            terms.append(("-" if x < 0 else "+", f"z{i + 1}" if text == "1" else f"{text} z{i + 1}"))
    if len(row) == 1:
        return "z"
    joined = " ".join(f"{sign} {term}" for sign, term in terms)
    return joined.removeprefix("+ ").replace("- ", "-", 1) if joined.startswith("- ") else joined.removeprefix("+ ")


def remaining(stages: Sequence[Stage], table: HermiteTable) -> tuple[str, ...]:
    """The directions beside those of the stages, as formulas."""
    found = [row for stage in stages for row in stage.directions.tolist()]
    rest = completed([[mpmath.mpf(x) for x in row] for row in found], table.indices, 16)[len(found) :]
    with mpmath.workdps(16):
        return tuple(_formula(row) for row in _reduced(rest)) if rest else ()


def _floats(rows: list[list[Any]]) -> Array:
    return np.array([[float(x) for x in row] for row in rows])


def _identity(size: int) -> list[list[Any]]:
    return [[mpmath.mpf(int(i == j)) for i in range(size)] for j in range(size)]
