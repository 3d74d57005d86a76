"""Equations evaluated from their text in one compiled loop, which serves all systems, and what follows from what.

The numbers of a system lie in one array; a stage is some of its contractions, in order. Large products of matrices are
left to linear algebra.

Written by hand, in codegen/runtime/evaluation.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

from collections.abc import MutableMapping
from functools import cached_property, lru_cache
from itertools import pairwise
from sys import getrefcount

import numpy as np
from numpy.lib.stride_tricks import as_strided

from generated.runtime.compiling import kept
from generated.runtime.contraction_layout import LONG_SUM, MATRIX, give_back, layout_of
from generated.runtime.contraction_layout import Layout as Layout
from generated.runtime.contractions import ALONG, MAKING
from generated.runtime.equation_text import INVERSE, MINUS, PARAMETERS, PLUS, RECIPROCAL
from generated.runtime.matrix_inverses import invert_row
from generated.runtime.products import LARGE_MATRIX, Product, inverted
from generated.runtime.thinned import GATHER, gather
from generated.runtime.tiles import WIDTH, add_along, add_product, add_sums

_NONE, _ONE, _MORE = np.uint64(0), np.uint64(1), np.uint64(WIDTH)  # of what is never negative
_LONG = 64  # numbers that are worth a slice of their own
_ALONE = 2  # references to an array that one name has, and the count itself


@kept(**{**ALONG, **MAKING})
def _multiply(r, value):
    """Carry out a row whose last three loops are a product of matrices: the sum is its fifth, its sixth goes along the
    result and the first factor, its fourth along the result and the second. What is strided there is copied before.
    """
    count, length, sign = r[5], r[6], -1.0 if r[0] == MINUS else 1.0
    step, stride = r[23], r[26]
    copied = np.empty(_NONE if stride == 1 else count * length + _MORE, value.dtype)
    for h in range(r[1]):
        for i in range(r[2]):
            for j in range(r[3]):
                x = r[7] + h * r[10] + i * r[13] + j * r[16]
                y = r[8] + h * r[11] + i * r[14] + j * r[17]
                z = r[9] + h * r[12] + i * r[15] + j * r[18]
                if stride != 1:
                    for n in range(length):
                        for m in range(count):
                            copied[m * length + n] = value[y + m * step + n * stride]
                    add_product(value, copied, x, r[19], _NONE, length, z, r[21], r[24], r[4], count, length, sign)
                elif r[20] == 0:
                    add_product(value, value, x, r[19], y, step, z, r[21], r[24], r[4], count, length, sign)
                else:
                    for k in range(r[4]):
                        own = x + k * r[19], y + k * r[20], z + k * r[21]
                        add_product(
                            value, value, own[0], _NONE, own[1], step, own[2], _NONE, r[24], _ONE, count, length, sign
                        )


@kept(**ALONG)
def _multiply_along(r, value):
    """Carry out a row whose sixth loop goes along all three operands, and its fifth along both factors; or its sixth
    along both factors. The first of these stands still along the loop before.
    """
    sums, sign = r[25] == 0, -1.0 if r[0] == MINUS else 1.0
    for h in range(r[1]):
        for i in range(r[2]):
            for j in range(r[3]):
                x = r[7] + h * r[10] + i * r[13] + j * r[16]
                y = r[8] + h * r[11] + i * r[14] + j * r[17]
                z = r[9] + h * r[12] + i * r[15] + j * r[18]
                if sums:
                    for k in range(r[4]):
                        own = x + k * r[19], y + k * r[20], z + k * r[21]
                        add_sums(value, own[0], r[22], own[1], own[2], r[24], r[5], r[6], sign)
                else:
                    add_along(value, value, x, r[19], y, r[23], z, r[21], r[24], r[4], r[5], r[6], sign)


@kept(**{**ALONG, **MAKING, "no_cpython_wrapper": False})
def run(rows, value):
    """Carry out contractions in order; values may be complex. Of the rows see ``Layout``.

    What a row says is read before its loops: within them it would be read again whenever a value has been written.
    """
    row = 0
    while row < rows.shape[0]:
        r = rows[row]
        kind, hs, ls, js, ks, ms, count = r[0], r[1], r[2], r[3], r[4], r[5], r[6]
        x0, y0, z0, xh, yh, zh, xi, yi, zi = r[7], r[8], r[9], r[10], r[11], r[12], r[13], r[14], r[15]
        xj, yj, zj, xk, yk, zk, xm, ym, zm = r[16], r[17], r[18], r[19], r[20], r[21], r[22], r[23], r[24]
        dx, dy, dz = r[25], r[26], r[27]
        for n in range(r[28]):
            value[x0 + n] = 0.0
        if kind >= GATHER:
            row = gather(rows, row, value)
            continue
        row += 1
        if kind == INVERSE:
            invert_row(r, value)
            continue
        if kind <= MINUS and ms >= MATRIX and xm == 0 and dx == 1 and dz == 0 and (dy == 1 or yk == 0):
            _multiply(r, value)
            continue
        along = kind <= MINUS and dy == 1 and dz == 1 and count >= MATRIX
        if along and (dx == 1 and xm == 0 and ms > 1 and yk == 0 or dx == 0 and ym == 0 and count >= LONG_SUM):
            _multiply_along(r, value)
            continue
        sign = -1.0 if kind == MINUS else 1.0
        for h in range(hs):
            for i in range(ls):
                for j in range(js):
                    for k in range(ks):
                        x = x0 + h * xh + i * xi + j * xj + k * xk
                        y = y0 + h * yh + i * yi + j * yj + k * yk
                        z = z0 + h * zh + i * zi + j * zj + k * zk
                        for _ in range(ms):
                            if kind == RECIPROCAL:
                                for n in range(count):
                                    value[x + n * dx] = 1.0 / value[y + n * dy]
                            elif dx == 0:
                                total = 0.0 * value[0]
                                if dy == 1 and dz == 1:
                                    for n in range(count):
                                        total += value[y + n] * value[z + n]
                                else:
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
                            x += xm
                            y += ym
                            z += zm


def inverted_together(matrices):
    """The inverses [n, n, N] of many small matrices [n, n, N], whose entries lie side by side."""
    size, _, count = matrices.shape
    value = np.concatenate([np.empty(matrices.size), matrices.ravel()])
    row = [INVERSE, 1, 1, 1, count, size, size, 0, matrices.size, matrices.size, *[0] * 9]
    run(np.array([[*row, *[1] * 3, *[size * count] * 3, *[count] * 3, 0]], np.uint64), value)
    return value[: matrices.size].reshape(matrices.shape)


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
    axis for it; still: arrays by name that stay as they are, whose zeros are left out.
    """

    def __init__(self, contractions, node, fraction, parameters, shapes, ways=None, kind=float, still=None):
        given = tuple([shapes[name] for name in contractions.families])
        stays = [(name, values) for name, values in (still or {}).items() if name in contractions.families]
        masks = tuple([(name, np.packbits(values != 0.0).tobytes()) for name, values in stays])
        layout = layout_of(contractions, len(fraction), node.shape[1], given, ways or 1, masks)
        self._hold(contractions, layout, ways, layout.numbers(kind))
        self.value[layout.given] = np.concatenate((parameters, fraction, node.ravel()))

    def _hold(self, contractions, layout, ways, value):
        self.contractions, self.layout, self.ways, self.value = contractions, layout, ways, value
        self.parameters, self.views, self.others = value[: len(PARAMETERS)], {}, {}

    def start(self):
        """What others begin with: (contractions, layout, ways, values of what is given, what is given beside them)."""
        values = [self.value[place].copy() for place in self.layout.known]
        return self.contractions, self.layout, self.ways, values, dict(self.others)

    @classmethod
    def begun(cls, start, parameters):
        """Numbers that begin with the same as others, but at other parameters."""
        contractions, layout, ways, values, others = start
        found = object.__new__(cls)
        found._hold(contractions, layout, ways, layout.like(values))
        found.parameters[:] = parameters
        found.others.update(others)
        return found

    def __del__(self):
        value = vars(self).pop("value", None)
        vars(self).clear()
        ending = getrefcount is None  # the interpreter, which has taken modules apart
        if value is not None and not ending and getrefcount(value) == _ALONE:  # no view of it is left anywhere
            give_back(value)

    def __getitem__(self, name):
        found = self.views.get(name)
        if found is not None:
            return found
        if name in self.others:
            return self.others[name]
        place, shape, order = where(self.layout, name)
        found = self.value[place]
        if len(shape) != 1:
            found = found.reshape(shape).transpose(order)
        self.views[name] = found = found[..., 0] if self.ways is None and name.startswith("d_") else found
        return found

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


def parts(state, names):
    """(the numbers of arrays, one after the other, in parts; their names and shapes in this order)."""
    if not isinstance(state, Numbers):
        found = [np.asarray(state[name]) for name in names]
        return [values.ravel() for values in found], _shapes(names, found)
    places, shapes, beside = _joined(state.layout, names)
    others = [state.others[name] for name in beside]
    found = [state.value[place] for place in places]
    return [*found, *(each.ravel() for each in others)], shapes + _shapes(beside, others)


def _shapes(names, arrays):
    return tuple([(name, values.shape) for name, values in zip(names, arrays, strict=True)])


@lru_cache(maxsize=64)
def _joined(layout, names):
    """Where arrays lie among all numbers, part by part, their names and shapes; names of those that do not."""
    beside = [name for name in names if name not in layout.defined and name not in layout.moving]
    inside = [name for name in names if name not in beside]
    places = [places_in(layout, name) for name in inside]
    return parts_of(np.concatenate([each.ravel() for each in places])), _shapes(inside, places), beside


def parts_of(places):
    """Places in order, in parts: slices where they go along memory, which are read faster; the rest as they are."""
    ends = [0, *(np.flatnonzero(np.diff(places) != 1) + 1).tolist(), len(places)]
    found, waiting = [], 0
    for start, stop in pairwise(ends):
        if stop - start >= _LONG:
            found += [places[waiting:start]] * (waiting < start)
            found.append(slice(int(places[start]), int(places[stop - 1]) + 1))
            waiting = stop
    return found + [places[waiting:]] * (waiting < len(places))


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


def are_small(layout, stage):
    """Whether the loop alone carries out a stage."""
    return len(_pieces(layout, stage)) == 1


class Stage:
    """What leads to some results: contractions that follow from something in ``of`` and from nothing in ``without``.

    after: stages that are evaluated before, whose contractions are left out; given: names of what is known; moved: all
    that moves, where it is not everything that may; stops: names that nothing is followed to, nor beyond.
    """

    def __init__(self, contractions, results, after=(), given=(), of=(), without=(), moved=(), stops=()):
        self.contractions, self.after, self.moved, self.stops = contractions, after, moved, frozenset(stops)
        self.results, self.given, self.of, self.without = results, given, of, without

    @cached_property
    def numbers(self):
        """Numbers of the contractions, in order."""
        wanted = needed(self.contractions, self.results, self.given)
        if self.of:
            wanted &= follows(self.contractions, self.of, self.stops)
        wanted &= ~follows(self.contractions, self.without)
        if self.moved:
            wanted &= _adds(self.contractions, self.moved, self.stops)
        for stage in self.after:
            wanted[stage.numbers] = False
        return np.flatnonzero(wanted)


class Joined:
    """Stages that follow each other, as one."""

    def __init__(self, *stages):
        self.numbers = np.sort(np.concatenate([stage.numbers for stage in stages]))


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


def follows(contractions, names, stops=frozenset()):
    """Whether each contraction is of something that follows from names, or moves with them, short of stops."""
    moved, ends = _followers(contractions, frozenset(names), stops), {contractions.named[name] for name in stops}
    return np.array([into in moved and into not in ends for _, _, (into, *_), _ in contractions.rows])


def _adds(contractions, names, stops):
    """Whether each contraction has a factor that follows from names."""
    moved = _followers(contractions, frozenset(names), stops)
    return np.array([first in moved or second in moved for _, _, (_, first, second), _ in contractions.rows])


@lru_cache(maxsize=64)
def _followers(contractions, names, stops):
    """Registers of what follows from names, themselves among them."""
    moved, ends = {contractions.named[name] for name in names}, {contractions.named[name] for name in stops}
    for _, _, (into, first, second), _ in contractions.rows:
        if (first in moved or second in moved) and into not in ends:
            moved.add(into)
    return moved

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
