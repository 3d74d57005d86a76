"""Equations evaluated from their text in one compiled loop, which serves all systems, and what follows from what.

The numbers of a system lie in one array; a stage is some of its contractions, in order. Large products of matrices are
left to linear algebra.

Written by hand, in codegen/runtime/evaluation.py.
Generated; do not edit. Signature 7090400356e253c4, runtime 87f7ad3f488f8e05.
Regenerate with: giantstep generate
"""

# fmt: off

from collections.abc import MutableMapping
from functools import cached_property, lru_cache

import numpy as np
from numpy.lib.stride_tricks import as_strided

from generated.runtime.compiling import kept
from generated.runtime.contraction_layout import Layout as Layout
from generated.runtime.contraction_layout import layout_of
from generated.runtime.contractions import ALONG, MAKING
from generated.runtime.equation_text import INVERSE, MINUS, PARAMETERS, PLUS, RECIPROCAL
from generated.runtime.products import LARGE_MATRIX, Product, inverted
from generated.runtime.unknowns import invert


@kept(**{**ALONG, **MAKING, "no_cpython_wrapper": False})
def run(rows, value):
    """Carry out contractions in order; values may be complex. Of the rows see ``Layout``."""
    for r in rows:
        kind, first = r[0], r[7]
        for n in range(r[28]):
            value[first + n] = 0.0
        if kind == INVERSE:
            size = r[5]
            matrix = np.empty((1, size, size), value.dtype)
            for i in range(r[2]):
                for j in range(r[3]):
                    for k in range(r[4]):
                        x = r[7] + i * r[13] + j * r[16] + k * r[19]
                        y = r[8] + i * r[14] + j * r[17] + k * r[20]
                        for a in range(size):
                            for b in range(size):
                                matrix[0, a, b] = value[y + a * r[23] + b * r[26]]
                        invert(matrix, 0, np.int64(size))
                        for a in range(size):
                            for b in range(size):
                                value[x + a * r[22] + b * r[25]] = matrix[0, a, b]
            continue
        sign = -1.0 if kind == MINUS else 1.0
        count, dx, dy, dz = r[6], r[25], r[26], r[27]
        for h in range(r[1]):
            for i in range(r[2]):
                for j in range(r[3]):
                    for k in range(r[4]):
                        for m in range(r[5]):
                            x = r[7] + h * r[10] + i * r[13] + j * r[16] + k * r[19] + m * r[22]
                            y = r[8] + h * r[11] + i * r[14] + j * r[17] + k * r[20] + m * r[23]
                            z = r[9] + h * r[12] + i * r[15] + j * r[18] + k * r[21] + m * r[24]
                            if kind == RECIPROCAL:
                                for n in range(count):
                                    value[x + n * dx] = 1.0 / value[y + n * dy]
                            elif dx == 0:
                                total = 0.0 * value[0]
                                for n in range(count):
                                    total += value[y + n * dy] * value[z + n * dz]
                                value[x] += sign * total
                            elif dx == 1 and dy == 1 and dz == 0:
                                factor = sign * value[z]
                                for n in range(count):
                                    value[x + n] += factor * value[y + n]
                            elif dx == 1 and dy == 1 and dz == 1:
                                for n in range(count):
                                    value[x + n] += sign * value[y + n] * value[z + n]
                            else:
                                for n in range(count):
                                    value[x + n * dx] += sign * value[y + n * dy] * value[z + n * dz]


class Large:
    """One contraction by linear algebra. Of the row see ``Layout``."""

    def __init__(self, row):
        kind, *numbers = (int(number) for number in row)
        self.sign, self.cleared = -1.0 if kind == MINUS else 1.0, numbers[-1]
        self.lengths, self.starts, steps = numbers[:6], numbers[6:9], numbers[9:27]
        self.inverse = kind == INVERSE
        # of every operand the loops that go along its axes
        axes = [[loop for loop in range(6) if steps[3 * loop + place]] for place in range(3)]
        self.shapes = [tuple(self.lengths[loop] for loop in own) for own in axes]
        self.steps = [tuple(steps[3 * loop + place] for loop in own) for place, own in enumerate(axes)]
        self.product = None if self.inverse else Product(axes[1], axes[2], axes[0])

    @property
    def pays(self):
        """Whether it is worth a call."""
        return self.lengths[4] >= LARGE_MATRIX if self.product is None else self.product.large(self.lengths)

    def run(self, value):
        """Carry it out."""
        value[self.starts[0] :][: self.cleared] = 0.0
        into, first, second = (
            as_strided(value[start:], shape, tuple(value.itemsize * step for step in own))
            for start, shape, own in zip(self.starts, self.shapes, self.steps, strict=True)
        )
        if self.inverse:  # the loops before the last two are over matrices
            into[...] = inverted(first)
        else:
            into += self.sign * self.product.of(first, second)


class Numbers(MutableMapping):
    """The numbers of equations by name: views of one array, ``value``, and what is given beside them.

    shapes: of all families that are given; ways: how many directions tangents follow at a time, None: one, without an
    axis for it.
    """

    def __init__(self, contractions, node, fraction, parameters, shapes, ways=None, kind=float):
        self.contractions, self.ways = contractions, ways
        given = tuple([shapes[name] for name in contractions.families])
        self.layout = layout_of(contractions, len(fraction), node.shape[1], given, ways or 1)
        self.value = self.layout.numbers(kind)
        self.value[self.layout.given] = np.concatenate((parameters, fraction, node.ravel()))
        self.parameters = self.value[: len(PARAMETERS)]
        self.views, self.others = {}, {}

    def __getitem__(self, name):
        if name in self.others:
            return self.others[name]
        if name not in self.views:
            place, shape, order = where(self.layout, name)
            found = self.value[place].reshape(shape).transpose(order)
            self.views[name] = found[..., 0] if self.ways is None and name.startswith("d_") else found
        return self.views[name]

    def __setitem__(self, name, values):
        if name in self.layout.defined or name in self.layout.moving:
            self[name][...] = values
        else:
            self.others[name] = values

    def __delitem__(self, name):
        raise TypeError(f"{name} has its place")

    def __iter__(self):
        """Names of what is given and of what follows from it."""
        return iter((*self.contractions.families, *self.contractions.followed, *self.others))

    def __len__(self):
        return len(self.contractions.families) + len(self.contractions.followed) + len(self.others)

    def run(self, stage):
        """Evaluate a stage."""
        for piece in _pieces(self.layout, stage):
            if isinstance(piece, Large):
                piece.run(self.value)
            else:
                run(piece, self.value)


def places_in(layout, name):
    """Where the members of a family lie among all numbers, in the shape of the family."""
    place, shape, order = where(layout, name)
    return np.arange(place.start, place.stop).reshape(shape).transpose(order)


def where(layout, name):
    """(place, shape in memory, places of the axes there) of a family."""
    return layout.defined.get(name) or layout.moving[name]


def _pieces(layout, stage):
    """The rows of a stage in order: those for the loop together, large ones by themselves."""
    if stage not in layout.pieces:
        rows, first = layout.part(stage), 0
        found = layout.pieces[stage] = []
        for number in np.flatnonzero(rows[:, 1:7].prod(axis=1) >= LARGE_MATRIX**2):
            large = Large(rows[number]) if rows[number, 0] in (PLUS, MINUS, INVERSE) else None
            if large is not None and large.pays:
                found += [rows[first:number], large]
                first = number + 1
        found.append(rows[first:])
    return layout.pieces[stage]


class Stage:
    """What leads to some results: contractions that follow from something in ``of`` and from nothing in ``without``.

    after: stages that are evaluated before, whose contractions are left out; given: names of what is known; moved: all
    that moves, where it is not everything that may.
    """

    def __init__(self, contractions, results, after=(), given=(), of=(), without=(), moved=()):
        self.contractions, self.after, self.moved = contractions, after, moved
        self.results, self.given, self.of, self.without = results, given, of, without

    @cached_property
    def numbers(self):
        """Numbers of the contractions, in order."""
        wanted = needed(self.contractions, self.results, self.given)
        if self.of:
            wanted &= follows(self.contractions, self.of)
        wanted &= ~follows(self.contractions, self.without)
        if self.moved:
            wanted &= _adds(self.contractions, self.moved)
        for stage in self.after:
            wanted[stage.numbers] = False
        return np.flatnonzero(wanted)


def needed(contractions, results, given=()):
    """Whether each contraction leads to results, by names, from what is given."""
    named = contractions.named
    stops = {named[name] for name in given}
    waiting = {named[name] for name in results} - stops
    found = np.zeros(len(contractions.rows), bool)
    for number in reversed(range(len(found))):
        into, *others = contractions.rows[number][2]
        if into in waiting:
            waiting.update(other for other in others if other not in stops)
            found[number] = True
    return found


def follows(contractions, names):
    """Whether each contraction is of something that follows from names, or moves with them."""
    moved = _followers(contractions, frozenset(names))
    return np.array([into in moved for _, _, (into, *_), _ in contractions.rows])


def _adds(contractions, names):
    """Whether each contraction has a factor that follows from names."""
    moved = _followers(contractions, frozenset(names))
    return np.array([first in moved or second in moved for _, _, (_, first, second), _ in contractions.rows])


@lru_cache(maxsize=64)
def _followers(contractions, names):
    """Registers of what follows from names, themselves among them."""
    moved = {contractions.named[name] for name in names}
    for _, _, (into, first, second), _ in contractions.rows:
        if first in moved or second in moved:
            moved.add(into)
    return moved

SIGNATURE = "7090400356e253c4afd30f2b8e4e9d53cd52be889ee56efd549faca486b340a4"
