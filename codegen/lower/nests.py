"""Assignments that share loops over blocks: compilation takes longer with every loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import sympy as sp

from derive.blocks import BlockSum, family_name, index, names_in, rename

LETTERS = (index("b"), index("c"))


@dataclass(frozen=True)
class Assignment:
    """``target[indices] = body``, the body free of averages; ``inverse``: the target is the inverse of ``body``."""

    target: str
    indices: tuple[sp.Symbol, ...]
    body: sp.Expr
    inverse: bool = False


@dataclass
class Nest:
    """``for b: first; for c: inner; last``, with loops over ``letters`` as far as the assignments have indices."""

    letters: tuple[sp.Symbol, ...]
    first: list[Assignment] = field(default_factory=list)
    inner: list[Assignment] = field(default_factory=list)
    last: list[Assignment] = field(default_factory=list)

    def take(self, new: Assignment) -> bool:
        """Add an assignment after those it needs; False where it needs members that this nest has not yet written."""
        if any(a.inverse for a in self.inner) or not new.indices:
            return False
        parts = (self.inner,) if len(new.indices) == 2 else (self.first, self.last)
        for part in parts:
            if self._ready(new, part):
                part.append(new)
                return True
        return False

    def _ready(self, new: Assignment, part: list[Assignment]) -> bool:
        """Whether all members that the assignment reads are there when a part of the nest is run."""
        before = {a.target: len(a.indices) for a in self.first}
        if part is not self.first:
            before |= {a.target: len(a.indices) for a in self.inner}
        if part is self.last:
            before |= {a.target: len(a.indices) for a in self.last}
        written = {a.target for a in (*self.first, *self.inner, *self.last)}
        if written & _summed(new.body):
            return False
        row = part is self.last  # all members of row b are known then
        for member in new.body.atoms(sp.Indexed):
            name = family_name(member)
            if name not in written:
                continue
            rank = before.get(str(name))
            if rank is None or member.indices[0] != LETTERS[0]:
                return False
            if rank == 2 and not row and tuple(member.indices) != LETTERS:
                return False
        return True


def nests(assignments: Iterable[Assignment]) -> Iterator[Nest]:
    """The assignments in nests, each as long as the order allows."""
    current: Nest | None = None
    for given in assignments:
        new = _relettered(given)
        if current is not None and current.letters == LETTERS and len(new.indices) <= 2 and current.take(new):
            continue
        if current is not None:
            yield current
        current = _alone(new)
    if current is not None:
        yield current


def _alone(new: Assignment) -> Nest:
    if len(new.indices) in (1, 2):
        nest = Nest(LETTERS)
        nest.take(new)
        return nest
    return Nest(new.indices, inner=[new])


def _relettered(assignment: Assignment) -> Assignment:
    """The assignment over the indices of all nests."""
    if len(assignment.indices) not in (1, 2):
        return assignment
    indices: Sequence[sp.Symbol] = LETTERS[: len(assignment.indices)]
    body = rename(assignment.body, dict(zip(assignment.indices, indices, strict=True)))
    return replace(assignment, indices=tuple(indices), body=body)


def _summed(expr: sp.Expr) -> set[str]:
    """Names of the families inside sums."""
    if isinstance(expr, BlockSum):
        return names_in(expr)
    return set().union(*(_summed(arg) for arg in expr.args)) if expr.args else set()
