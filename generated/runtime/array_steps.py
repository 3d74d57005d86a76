"""Products, sums and equations of arrays of any number of axes, in order: small ones in one compiled loop, large
products of matrices by linear algebra.

Every array has two parts, values and bounds, which lie in two rows of the same numbers.

Written by hand, in codegen/runtime/array_steps.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import prod
from string import ascii_lowercase

import numpy as np

from generated.runtime.array_loops import AXES, EQUAL, PRODUCT, VANISH, run_steps
from generated.runtime.array_loops import RECIPROCAL as RECIPROCAL
from generated.runtime.array_loops import SUM as SUM
from generated.runtime.contraction_layout import taken
from generated.runtime.products import LARGE, Product
from generated.runtime.tiles import WIDTH

PART = "Z"  # the axis of values and bounds
_ALONG = 8  # what a loop along memory gains over another


@dataclass(frozen=True)
class Step:
    """A result by the names of its operands: their product, their sum with factors, the reciprocal of one.

    axes: those of the operands, numbered by first appearance; kept: those of the result, None for one of length one.
    """

    kind: int
    name: str
    operands: tuple[str, ...]
    axes: tuple[tuple[int, ...], ...]
    kept: tuple[int | None, ...]
    factors: tuple[float, ...]


@dataclass(frozen=True)
class Equation:
    """An equation between arrays by name; ``left`` is None where it is zero."""

    left: str | None
    right: str


class Plan:
    """Steps for arrays that are given, name -> shape; places: of an array by name among the numbers of one part. What
    no later step reads leaves its place to others of its size.
    """

    def __init__(self, steps, given):
        self.count, self.places, self.shapes, self.orders, self.products = 0, {}, dict(given), {}, {}
        self.left = {}  # places that nobody reads any more, by their size
        for name, shape in given.items():
            self._lay(name, range(len(shape)))
        self.given, self.pieces, rows = self.count, [], []
        steps = [*self._in_pairs(steps)]
        for step, done in zip(steps, _read_last(steps, given), strict=True):
            row = self._equation(step) if isinstance(step, Equation) else self._step(step)
            if isinstance(row, Large):
                self.pieces += [*self._loop(rows), row]
                rows = []
            else:
                rows.append(row)
            for name in done:
                self.left.setdefault(prod(self.shapes[name]), []).append(self.places[name])
        self.pieces += self._loop(rows)
        self.equations = sum(isinstance(step, Equation) for step in steps)

    def numbers(self, given):
        """Room [2, n] for values and bounds of all arrays; given: the values of those that are, in order, in parts."""
        both = taken((2, self.count + WIDTH))
        values, bounds = both[:, : self.given]
        np.abs(np.concatenate(given, out=values), out=bounds)
        return both

    def worst(self, both):
        """The worst residual relative to the largest bound of its equation."""
        missed, done = np.zeros((self.equations, 2)), 0
        for piece in self.pieces:
            if isinstance(piece, Large):
                piece.run(both)
            else:
                *rows, equations = piece
                run_steps(*rows, both, missed[done:])
                done += equations
        left, size = missed.T
        if not np.all(missed < np.inf):
            return np.inf
        return float(np.max(left[left > 0.0] / size[left > 0.0], initial=0.0))

    def _lay(self, name, order):
        """order: of the axes in memory."""
        size, self.orders[name] = prod(self.shapes[name]), order
        if self.left.get(size):
            self.places[name] = self.left[size].pop()
        else:
            self.places[name] = slice(self.count, self.count + size)
            self.count += size

    def _lengths(self, operands):
        """Of the axes of operands (name, axes), by number."""
        found = {None: 1}
        for name, own in operands:
            for axis, length in zip(own, self.shapes[name], strict=True):
                found[axis] = max(length, found.get(axis, 1))
        return found

    def _in_pairs(self, steps):
        """Steps and equations with products of two only, and the shapes of what they make."""
        for each in steps:
            for step in [each] if isinstance(each, Equation) else self._pairs(each):
                if isinstance(step, Step):
                    lengths = self._lengths(zip(step.operands, step.axes, strict=True))
                    self.shapes[step.name] = tuple(lengths[axis] for axis in step.kept)
                yield step

    def _pairs(self, step):
        """A product of many as products of two, the smallest first; a product that is met again is not made again."""
        operands = list(zip(step.operands, step.axes, strict=True))
        while step.kind == PRODUCT and len(operands) > 2:
            pair = min(combinations(operands, 2), key=lambda pair: prod(self._lengths(pair).values()))
            others = list(operands)
            for each in pair:
                others.remove(each)
            needed = {*step.kept}.union(*(axes for _, axes in others))
            axes = tuple(dict.fromkeys(axis for _, own in pair for axis in own))
            kept = tuple(axis for axis in axes if axis in needed)
            key = tuple((name, tuple(map(axes.index, own))) for name, own in pair), tuple(map(axes.index, kept))
            if key not in self.products:
                self.products[key] = f"{step.name} {len(operands)}"
                yield Step(PRODUCT, self.products[key], *zip(*pair, strict=True), kept, ())
            operands = [*others, (self.products[key], kept)]
        names, axes = (tuple(each[part] for each in operands) for part in (0, 1))
        yield Step(step.kind, step.name, names, axes, step.kept, step.factors)

    def _step(self, step):
        """(the row of a step without its operands, theirs, their factors); or a large product."""
        lengths = self._lengths(zip(step.operands, step.axes, strict=True))
        shape = self.shapes[step.name]
        large = step.kind == PRODUCT and (len(lengths) > AXES + 1 or prod(lengths.values()) >= LARGE)
        axes = [(axis, length) for axis, length in lengths.items() if axis is not None]
        # the longest comes last, for long loops
        order = range(len(shape)) if large else sorted(range(len(shape)), key=shape.__getitem__)
        self._lay(step.name, order)
        if large:
            return Large(step, lengths, self)
        return self._row(step, self._laid_along(step, axes, order))

    def _laid_along(self, step, axes, order):
        """The loops of a step whose result has its axes in an order; or in another one, which has the same place, where
        the last loop goes along memory and is as long as any then.
        """
        loops = found = self._loops(step, axes)
        for last in order[-2::-1]:
            if _goes_along(found[-1], axes):
                return found
            self.orders[step.name] = [*(axis for axis in order if axis != last), last]
            found = self._loops(step, axes)
        if not _goes_along(found[-1], axes):
            self.orders[step.name], found = order, loops
        return found

    def _equation(self, equation):
        name = equation.right if equation.left is None else equation.left
        axes, kind = tuple(range(len(self.shapes[name]))), VANISH if equation.left is None else EQUAL
        step = Step(kind, name, (equation.right,), (axes,), axes, ())
        return self._row(step, self._loops(step, list(enumerate(self.shapes[name]))))

    def _loops(self, step, axes):
        """The loops of a step (length, strides) in order; axes: (number, length) of what is looped over."""
        names, own = (step.name, *step.operands), (step.kept, *step.axes)
        along = [self._strides(*each) for each in zip(names, own, strict=True)]
        loops = [(length, [strides.get(axis, 0) for strides in along]) for axis, length in axes if length > 1]
        loops = _arranged(loops)
        if step.kind == PRODUCT and len(names) == 3:
            loops = _side_by_side(loops)
        return [(1, [0] * len(names))] * (AXES - len(loops)) + loops

    def _row(self, step, loops):
        place = self.places[step.name]
        strides = [[strides[number] for _, strides in loops] for number in range(1 + len(step.operands))]
        row = [step.kind, place.start, place.stop - place.start, *(length for length, _ in loops), *strides[0]]
        operands = [[self.places[name].start, *own] for name, own in zip(step.operands, strides[1:], strict=True)]
        if step.kind == PRODUCT and len(operands) == 2:
            operands = _turned(row, operands)
        return row, operands, step.factors or (1.0,) * len(operands)

    def _strides(self, name, axes):
        """Of an array by the numbers of its axes; along an axis of length one it stands still."""
        found, stride, shape = {}, 1, self.shapes[name]
        for place in reversed(self.orders[name]):
            if shape[place] > 1:
                found[axes[place]] = found.get(axes[place], 0) + stride
            stride *= shape[place]
        return found

    @staticmethod
    def _loop(rows):
        """Rows as arrays, with the number of equations among them."""
        if not rows:
            return []
        counts = np.cumsum([0, *(len(operands) for _, operands, _ in rows)]).tolist()
        steps = [
            [row[0], first, last, *row[1:]] for (row, _, _), first, last in zip(rows, counts, counts[1:], strict=False)
        ]
        operands = [operand for _, own, _ in rows for operand in own]
        factors = [factor for _, _, own in rows for factor in own]
        equations = sum(row[0] >= EQUAL for row, _, _ in rows)
        shape = (counts[-1], 1 + AXES)
        operands = np.array(operands, np.uint64).reshape(shape)
        return [(np.array(steps, np.uint64), operands, np.array(factors), equations)]


def _read_last(steps, given):
    """Of every step the names of the results that no later one reads."""
    found, met = [], {*given}
    for step in reversed(steps):
        read = (step.name, *step.operands) if isinstance(step, Step) else (step.right, step.left or step.right)
        done = [name for name in dict.fromkeys(read) if name not in met]
        met.update(done)
        found.append(done)
    return found[::-1]


def _goes_along(loop, axes):
    """Whether a loop goes along memory wherever it goes at all, and is as long as any axis."""
    length, strides = loop
    return max(strides) <= 1 and length >= max((length for _, length in axes), default=1)


def _arranged(loops):
    """Loops (length, strides) in order: two that go through memory as one become one; one along memory comes last, the
    longest beside it.
    """
    loops = sorted(loops, key=lambda loop: max(loop[1]))  # the inner one of two has shorter strides
    found = []
    for length, strides in loops:
        if found and strides == [found[-1][0] * stride for stride in found[-1][1]]:
            found[-1] = found[-1][0] * length, found[-1][1]
        else:
            found.append((length, strides))
    found.sort(key=lambda loop: loop[0])
    last = max(found, key=_gain, default=None)
    return [loop for loop in found if loop is not last] + ([last] if last else [])


def _gain(loop):
    """What a loop is worth as the last one: most of all where it goes along memory in all arrays, some in most."""
    length, strides = loop
    if max(strides) == 1:
        return length * _ALONG
    return length * (1.0 + sum(stride <= 1 for stride in strides) / len(strides))


_STILL = 1, [0, 0, 0]  # a loop of one round


def _side_by_side(loops):
    """Loops of a product of two, the last three as tiles have them where they can be: one that the result and one
    factor alone move along, one of a sum, and the last one; without a sum between where that is one.
    """
    kind = loops[-1][1] if loops else None
    if kind not in ([1, 1, 0], [1, 0, 1], [1, 1, 1], [0, 1, 1]):
        return loops
    *others, last = loops
    still = [place for place in (1, 2) if kind[place] == 1]  # factors that may stand still
    alone = [
        loop for loop in others if loop[1][0] and sum(map(bool, loop[1])) == 2 and 0 in [loop[1][i] for i in still]
    ]
    sums = [loop for loop in others if not loop[1][0]]
    chosen = [max(alone, key=_length, default=_STILL)]
    chosen += [max(sums, key=_length, default=_STILL)] * kind[0]
    rest = [loop for loop in others if all(loop is not one for one in chosen)]
    return loops if len(rest) + len(chosen) >= AXES else [*rest, *chosen, last]


def _length(loop):
    return loop[0]


def _turned(row, operands):
    """Two factors, the one first that stays where the result and the other move."""
    place = AXES - 2 if row[-1] else AXES - 1
    stays = [own[AXES] == 1 and own[place] == 0 for own in operands]
    return operands[::-1] if stays == [False, True] else operands


class Large:
    """A product of arrays by linear algebra; lengths by axis."""

    def __init__(self, step, lengths, plan):
        names = [PART, *ascii_lowercase]
        own = [PART + "".join(names[1 + axis] for axis in each) for each in step.axes]
        kept = PART + "".join(names[1 + axis] for axis in step.kept)
        self.of = multiplied(own, kept, {PART: 2, **{names[1 + a]: n for a, n in lengths.items() if a is not None}})
        names = step.name, *step.operands
        self.result, *self.operands = ((plan.places[n], plan.shapes[n], plan.orders[n]) for n in names)

    def run(self, both):
        """Carry it out on values and bounds."""
        place, shape, _ = self.result
        arrays = [_in_order(both[:, own], *rest) for own, *rest in self.operands]
        both[:, place] = np.broadcast_to(self.of(*arrays), (2, *shape)).reshape(2, -1)


def _in_order(both, shape, order):
    """Values and bounds of an array with the axes as they are named."""
    lies = both.reshape(2, *(shape[place] for place in order))
    return lies.transpose(0, *(1 + place for place in np.argsort(order)))


def multiplied(names, kept, lengths):
    """The same for axes with names, of two arrays or one."""
    if len(names) == 2 and (product := Product(*names, kept)).large(lengths):
        return product.of
    return partial(np.einsum, f"{','.join(names)}->{kept}")

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
