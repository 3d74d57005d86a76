"""Where the kinks of a link of several indices lie along one direction after the other, and where they meet."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from derive.language.grammar import Node
from derive.language.links import variables_of
from giantstep.quadrature.kinks import bracketed_zeros, degree, polynomial_zeros
from giantstep.spec.expressions import jet
from giantstep.spec.probes import alike, is_multiple, places

Array = np.ndarray
Outwards: TypeAlias = Literal["none", "leaving", "curved"]  # kinks that panels follow on their way out
REACH = 8.5  # of t at nodes: of the square of what grows linearly 1e-15 is beyond
_FAR = 1e6  # beyond the roots of a polynomial
_GRID, _BISECTIONS = 121, 48  # where kinks of the next axis are looked for
_GOLDEN, _SECTIONS = 0.381966, 72  # steps that close in on the least gap between two roots
_STILL, _PROBES = 1e-13, 24  # relative changes that are rounding; places at which kinks are looked at
_LARGEST = 8  # degree of a polynomial that is looked at
_TOUCH = 1e-5  # two roots of one kink that come closer meet
_OUTWARDS = (1.0, 3.0, REACH)  # sizes of a root that panels end at: integrals turn fast where it goes to infinity


@dataclass(frozen=True)
class Kinks:
    """The kinks of a link in its indices z = fixed + L t, along one t after the other."""

    names: tuple[str, ...]
    expressions: tuple[Node, ...]
    lower: Array
    reach: float = REACH  # where t ends

    def roots(self, axis: int, fixed: Array) -> Array:
        """Places [R, I] in t along an axis where the kinks that end there are met, nan for none; fixed [I, m]."""
        return np.concatenate([np.empty((0, len(fixed))), *self._of_each(axis, fixed)])

    def _of_each(self, axis: int, fixed: Array) -> list[Array]:
        """The roots of every kink that ends at an axis."""
        found = []
        for kink in self._ending(axis):
            at, power = self._along(kink, axis, fixed), self._degree(kink, axis)
            if power in (1, 2):
                found.append(np.sort(polynomial_zeros(at, power), axis=0))
            else:
                found.append(bracketed_zeros(at, (-self.reach, self.reach)))
        return found

    def _ending(self, axis: int) -> list[Node]:
        """Kinks that no later t moves, and this one does."""
        return [self.expressions[k] for k in self._different if self._last[k] == axis]

    def bend_beyond(self, axis: int) -> bool:
        """Whether a kink that ends at the next axis is curved: what is integrated along this one turns with it."""
        return axis + 1 < self.lower.shape[1] and any(self._curved(axis))

    @cached_property
    def _different(self) -> list[int]:
        """The kinks that are no multiples of others, by their values at some places: roots that are the same but for
        rounding would seem to cross everywhere.
        """
        at = places(len(self.names)).T
        values = [self._along(kink, 0, at)(np.zeros((1, 1)))[:, 0] for kink in self.expressions]
        found: list[int] = []
        for k, value in enumerate(values):
            if not any(is_multiple(value, values[other], _STILL) for other in found):
                found.append(k)
        return found

    @cached_property
    def _last(self) -> list[int]:
        """The last axis that moves each kink beyond rounding, -1 for none: by its values at some places, also far out,
        as ``tanh(9*(z - 4))`` is -1 at all others.
        """
        at, one, found = places(len(self.names)).T, np.ones((1, 1)), []
        for kink in self.expressions:
            still = self._along(kink, 0, at)(0.0 * one)[:, 0]
            moved = [self._along(kink, axis, at)(one)[:, 0] for axis in range(self.lower.shape[1])]
            found.append(max((axis for axis, there in enumerate(moved) if not alike(still, there, _STILL)), default=-1))
        return found

    def _degree(self, kink: Node, axis: int) -> int | None:
        """The degree of a kink along an axis; None where it is no polynomial, or one whose degree is not known."""
        moved = [name for name, row in zip(self.names, self.lower, strict=True) if moves(row, axis)]
        powers = [degree(kink, name) for name in moved if name in variables_of(kink)]
        bound = sum(_LARGEST + 1 if power is None else power for power in powers)
        if bound > _LARGEST:
            return None
        while bound > 1 and self._vanishes(kink, axis, bound):
            bound -= 1
        return bound

    def _vanishes(self, kink: Node, axis: int, power: int) -> bool:
        """Whether a power of a polynomial has no part along an axis: differences of its order are rounding."""
        places = np.random.default_rng(0).standard_normal((_PROBES, len(self.names)))
        values = self._along(kink, axis, places)(np.arange(power + 1.0)[None] - 0.5 * power)
        differences = np.diff(values, power, axis=1)
        return bool(np.max(np.abs(differences)) <= _STILL * 2.0**power * np.max(np.abs(values)))

    def _along(self, kink: Node, axis: int, fixed: Array) -> Callable[[Array], Array]:
        """A kink as a function of t along an axis, [R, n] at places [1, n] or [R, n]."""
        rows = {name: fixed[:, i, None] for i, name in enumerate(self.names)}
        steps = dict(zip(self.names, self.lower[:, axis].tolist(), strict=True))

        def at(x: Array) -> Array:
            moved = {name: row + steps[name] * x for name, row in rows.items()}
            return np.asarray(jet(kink, self.names[axis], moved, 0)[0])

        return at

    def _before(self, axis: int, fixed: Array) -> list[NDArray[np.bool_]]:
        """Whether the kinks that end at an axis are positive before their first root."""
        found = []
        for kink in self._ending(axis):
            first = -_FAR if self._degree(kink, axis) in (1, 2) else -self.reach
            found.append(self._along(kink, axis, fixed)(np.array([[first]]))[:, 0] > 0.0)
        return found

    def meetings(self, axis: int, fixed: Array, outwards: Outwards = "none") -> tuple[Array, bool]:
        """Places [C, I] along an axis where kinks of the next axis begin, end, cross or change their sign as a whole:
        integrals over it have kinks there, or roots where one begins or ends, which the second value tells.

        outwards: of curved kinks, or those that leave to infinity, also where they pass some sizes on their way out.
        """
        following = axis + 1
        if following >= self.lower.shape[1] or not moves(self.lower, following):
            return np.empty((0, len(fixed))), False
        count = math.ceil(_GRID * self.reach / REACH)
        grid = np.linspace(-self.reach, self.reach, count)
        lines = np.repeat(np.arange(len(fixed)), count)
        sheets = self._sheets(axis, fixed[lines], np.tile(grid, len(fixed)), outwards=outwards)
        told = sheets.told.reshape(-1, len(fixed), count)
        which, owner, place = np.nonzero(told[:, :, 1:] != told[:, :, :-1])
        low, high, first = grid[place], grid[place + 1], told[which, owner, place]
        for _ in range(_BISECTIONS if len(owner) else 0):
            middle = 0.5 * (low + high)
            there = self._sheets(axis, fixed[owner], middle, sheets.counts, outwards).told
            same = there[which, np.arange(len(owner))] == first
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        touching, touched = self._touching(axis, fixed, grid, sheets)
        owner, found = np.append(owner, touching), np.append(low, touched)
        by_line = np.argsort(owner, kind="stable")
        owner, found = owner[by_line], found[by_line]
        rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
        places = np.full((int(rank.max(initial=-1)) + 1, len(fixed)), np.nan)
        places[rank, owner] = found
        return places, bool(np.any(which < sum(sheets.counts)))

    def _touching(self, axis: int, fixed: Array, grid: Array, sheets: _Sheets) -> tuple[Array, Array]:
        """(line, place along an axis) where two roots of one kink of the next axis meet and part again."""
        gaps = sheets.gaps.reshape(-1, len(fixed), len(grid))
        with np.errstate(invalid="ignore"):
            rises = np.stack([gaps[:, :, :-2], gaps[:, :, 2:]]) - gaps[:, :, 1:-1]
            # a gap that closes does so at its slope: in a step of the grid it grows by as much as is left
            least = np.all(rises >= 0.0, axis=0) & (gaps[:, :, 1:-1] <= rises.max(axis=0))
        which, owner, place = np.nonzero(least)
        low, high = grid[place], grid[place + 2]
        if not len(owner):
            return owner, low

        def gap(at: Array) -> Array:
            there = self._sheets(axis, fixed[owner], at, sheets.counts).gaps[which, np.arange(len(owner))]
            return np.where(np.isnan(there), 0.0, there)

        for _ in range(_SECTIONS):
            left, right = low + _GOLDEN * (high - low), high - _GOLDEN * (high - low)
            falls = gap(left) > gap(right)
            low, high = np.where(falls, left, low), np.where(falls, high, right)
        middle = 0.5 * (low + high)
        meets = gap(middle) < _TOUCH
        return owner[meets], middle[meets]

    def _sheets(
        self, axis: int, fixed: Array, place: Array, counts: Sequence[int] = (), outwards: Outwards = "none"
    ) -> _Sheets:
        """The roots of the next axis at places along this one, as many of each kink as ``counts`` says if it does."""
        moved = fixed + place[:, None] * self.lower[:, axis]
        roots = self._of_each(axis + 1, moved)
        if counts:
            roots = [_that_many(each, count) for each, count in zip(roots, counts, strict=True)]
        follows = {"none": lambda _: (False,) * len(roots), "leaving": self._leaving, "curved": self._curved}
        return _Sheets(tuple(roots), np.array(self._before(axis + 1, moved)), follows[outwards](axis))

    def _curved(self, axis: int) -> tuple[bool, ...]:
        """Whether each kink of the next axis is curved in both directions together, by its second differences."""
        if axis not in self._bends:
            random = np.random.default_rng(1)
            places, share = random.standard_normal((_PROBES, len(self.names))), random.standard_normal((_PROBES, 2))
            step, found = share @ self.lower[:, axis : axis + 2].T, []
            for kink in self._ending(axis + 1):
                low, middle, high = (self._along(kink, 0, places + n * step)(np.zeros((1, 1))) for n in (-1, 0, 1))
                size = np.max(np.abs(low) + np.abs(middle) + np.abs(high))
                found.append(bool(np.max(np.abs(low + high - 2.0 * middle)) > 1e2 * _STILL * size))
            self._bends[axis] = tuple(found)
        return self._bends[axis]

    def _leaving(self, axis: int) -> tuple[bool, ...]:
        """Whether each kink of the next axis may leave to infinity: its highest power there varies along this one, or
        it is curved and no polynomial.
        """
        if axis not in self._leaves:
            places, moved = np.random.default_rng(2).standard_normal((2, _PROBES, len(self.names)))
            places = np.concatenate([places, places + moved[:, :1] * self.lower[:, axis]])
            found = list(self._curved(axis))
            for number, kink in enumerate(self._ending(axis + 1)):
                if found[number] and (power := self._degree(kink, axis + 1)) is not None:
                    values = self._along(kink, axis + 1, places)(np.arange(power + 1.0)[None])
                    here, there = np.split(np.diff(values, power, axis=1), 2)
                    found[number] = bool(np.max(np.abs(there - here)) > 1e2 * _STILL * np.max(np.abs(values)))
            self._leaves[axis] = tuple(found)
        return self._leaves[axis]

    @cached_property
    def _leaves(self) -> dict[int, tuple[bool, ...]]:
        """What ``_leaving`` has found."""
        return {}

    @cached_property
    def _bends(self) -> dict[int, tuple[bool, ...]]:
        """What ``_curved`` has found."""
        return {}


@dataclass(frozen=True)
class _Sheets:
    """The roots [R, I] of every kink at I places, whether it is positive before the first, and is followed."""

    roots: tuple[Array, ...]
    before: NDArray[np.bool_]
    followed: tuple[bool, ...]

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of roots of each kink."""
        return tuple(len(each) for each in self.roots)

    @property
    def told(self) -> NDArray[np.bool_]:
        """Which roots there are, which is greater in each pair, the signs before them, and which roots of kinks
        that are followed outwards are beyond some sizes: [.., I].
        """
        if not sum(self.counts):
            return np.empty((0, self.before.shape[1] if self.before.ndim == 2 else 0), dtype=bool)
        roots = np.concatenate(self.roots)
        pairs = [roots[a] > roots[b] for a in range(len(roots)) for b in range(a)]
        far = [row for rows, followed in zip(self.roots, self.followed, strict=True) if followed for row in rows]
        outwards = [np.abs(row) > size for size in _OUTWARDS for row in far]
        return np.array([*np.isfinite(roots), *pairs, *self.before, *outwards])

    @property
    def gaps(self) -> Array:
        """Distances [.., I] between neighbouring roots of one kink, nan where one is missing."""
        return np.concatenate([np.empty((0, self.before.shape[-1])), *(np.diff(each, axis=0) for each in self.roots)])


def _that_many(roots: Array, count: int) -> Array:
    """The first ``count`` rows, filled up with nan."""
    missing = np.full((max(0, count - len(roots)), roots.shape[1]), np.nan)
    return np.concatenate([roots[:count], missing])


def moves(lower: Array, axis: int | slice) -> bool:
    """Whether t along an axis, or any of several, moves what the rows of L stand for, beyond rounding."""
    return bool(np.any(np.abs(lower[..., axis]) > _STILL))
