"""Products, sums and equations of arrays of any number of axes, in order: small ones in one compiled loop, large
products of matrices by linear algebra.

Every array has two parts, values and bounds, which lie in two rows of the same numbers.

Written by hand, in codegen/runtime/array_steps.py.
Generated; do not edit. Signature 993810f8a330d7b6, runtime 767a66e6918cd1e3.
Regenerate with: giantstep generate
"""

# fmt: off

from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import prod
from string import ascii_lowercase

import numpy as np

from generated.runtime.compiling import inner, kept
from generated.runtime.contraction_layout import taken
from generated.runtime.contractions import ALONG, MAKING
from generated.runtime.products import LARGE, Product

PART = "Z"  # the axis of values and bounds
PRODUCT, SUM, RECIPROCAL, EQUAL, VANISH = range(5)
AXES = 8  # of the loops of a step, at most
_ALONG = 8  # what a loop along memory gains over another
# columns of a step: kind, its operands, the first and one after the last; of the result its place and size
KIND, FIRST, LAST, PLACE, SIZE, LENGTH = 0, 1, 2, 3, 4, 5
NOUGHT, ONE, _FOUR = np.uint64(0), np.uint64(1), np.uint64(4)  # of what is never negative, which is indexed faster
STRIDE = LENGTH + AXES  # lengths of the loops come first, then the strides of the result


@inner
def _place(row, first, strides, index):
    """Where the numbers of the last loop begin, from columns of a row: the first place, and strides loop by loop."""
    place = row[first]
    for axis in range(AXES - 1):
        place += index[axis] * row[strides + axis]
    return place


@inner
def _advance(step, index, last):
    """The next round of the loops up to one."""
    for axis in range(last, -1, -1):
        index[axis] += ONE
        if index[axis] < step[LENGTH + axis]:
            break
        index[axis] = NOUGHT


@kept(**ALONG)
def _add_rows(array, x, y, step, z, apart, count, length):
    """Add rows of numbers times factors to one, four at a time; step, apart: from one row, or factor, to the next."""
    while count >= _FOUR:
        second, third, last = y + step, y + step + step, y + step + step + step
        a, b, c, d = array[z], array[z + apart], array[z + apart + apart], array[z + apart + apart + apart]
        if a != 0.0 or b != 0.0 or c != 0.0 or d != 0.0:
            for n in range(length):
                array[x + n] += a * array[y + n] + b * array[second + n] + c * array[third + n] + d * array[last + n]
        y, z, count = last + step, z + apart + apart + apart + apart, count - _FOUR
    for _ in range(count):
        factor = array[z]
        if factor != 0.0:
            for n in range(length):
                array[x + n] += factor * array[y + n]
        y += step
        z += apart


@kept(**ALONG)
def _multiply(array, places, rows, count, strides, length):
    """Add products of two in two loops, place by place; to one place the sum of all. Loops along memory have steps that
    are written; a factor that is zero, as most are of what selects, adds nothing.

    places, rows, strides: of the result and both factors, where they begin and their steps in the outer and inner loop.
    """
    x, y, z = places
    dx, dy, dz = strides
    if rows[0] == 0 and dx == 1 and (dy == 0 and dz == 1 or dz == 0 and dy == 1):
        if dz == 0:
            _add_rows(array, x, y, rows[1], z, rows[2], count, length)
        else:
            _add_rows(array, x, z, rows[2], y, rows[1], count, length)
        return
    for _ in range(count):
        if dx == 0:
            total = 0.0
            if dy == 1 and dz == 1:
                for n in range(length):
                    total += array[y + n] * array[z + n]
            else:
                for n in range(length):
                    total += array[y + n * dy] * array[z + n * dz]
            array[x] += total
        elif dy == 0 or dz == 0:
            factor, along, step = (array[z], y, dy) if dz == 0 else (array[y], z, dz)
            if factor != 0.0:
                if dx == 1 and step == 1:
                    for n in range(length):
                        array[x + n] += factor * array[along + n]
                else:
                    for n in range(length):
                        array[x + n * dx] += factor * array[along + n * step]
        elif dx == 1 and dy == 1 and dz == 1:
            for n in range(length):
                array[x + n] += array[y + n] * array[z + n]
        else:
            for n in range(length):
                array[x + n * dx] += array[y + n * dy] * array[z + n * dz]
        x += rows[0]
        y += rows[1]
        z += rows[2]


@kept(**{**ALONG, **MAKING, "no_cpython_wrapper": False})
def run_steps(steps, operands, factors, both, missed):
    """Carry out steps in order; missed[i]: of equation i the worst residual, and the largest bound.

    operands: place and strides loop by loop, factors: of each, of those that are summed; the last loop is the longest.
    """
    value, bound, equation = both[0], both[1], 0
    longest = int(steps[:, STRIDE - 1].max())
    index, terms, sizes = np.zeros(AXES, np.uint64), np.empty(longest), np.empty(longest)
    for s in range(steps.shape[0]):
        step = steps[s]
        kind, length, along = step[KIND], step[STRIDE - 1], step[STRIDE + AXES - 1]
        if kind <= SUM:
            for n in range(step[PLACE], step[PLACE] + step[SIZE]):
                value[n] = bound[n] = 0.0
        outer, largest, scale, pair = ONE, 0.0, 0.0, kind == PRODUCT and step[LAST] - step[FIRST] == 2
        last = AXES - 3 if pair else AXES - 2  # of the loops whose rounds are counted here
        for axis in range(AXES - 1):
            index[axis] = NOUGHT
        for axis in range(last + 1):
            outer *= step[LENGTH + axis]
        for _ in range(outer):
            at, first = _place(step, PLACE, STRIDE, index), step[FIRST]
            if pair:
                places = at, _place(operands[first], 0, 1, index), _place(operands[first + ONE], 0, 1, index)
                rows = step[STRIDE + AXES - 2], operands[first, AXES - 1], operands[first + ONE, AXES - 1]
                strides, count = (along, operands[first, AXES], operands[first + ONE, AXES]), step[STRIDE - 2]
                _multiply(value, places, rows, count, strides, length)
                _multiply(bound, places, rows, count, strides, length)
                _advance(step, index, last)
                continue
            if kind == PRODUCT:
                for n in range(length):
                    terms[n] = sizes[n] = 1.0
            for o in range(step[FIRST], step[LAST]):
                place, stride = _place(operands[o], 0, 1, index), operands[o, AXES]
                if kind == PRODUCT:
                    for n in range(length):
                        terms[n] *= value[place + n * stride]
                        sizes[n] *= bound[place + n * stride]
                elif kind == SUM:
                    factor = factors[o]
                    for n in range(length):
                        value[at + n * along] += factor * value[place + n * stride]
                        bound[at + n * along] += abs(factor) * bound[place + n * stride]
                elif kind == RECIPROCAL:
                    for n in range(length):
                        value[at + n * along] = 1.0 / value[place + n * stride]
                        bound[at + n * along] = abs(value[at + n * along])
                else:
                    for n in range(length):
                        left = value[at + n * along] if kind == EQUAL else 0.0
                        difference = abs(left - value[place + n * stride])
                        if not difference < np.inf:
                            difference = np.inf
                        largest, scale = max(largest, difference), max(scale, bound[place + n * stride])
                        if kind == EQUAL:
                            bound[at + n * along] = bound[place + n * stride]
            if kind == PRODUCT:
                for n in range(length):
                    value[at + n * along] += terms[n]
                    bound[at + n * along] += sizes[n]
            _advance(step, index, last)
        if kind >= EQUAL:
            missed[equation, 0], missed[equation, 1] = largest, scale
            equation += 1


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
    """Steps for arrays that are given, name -> shape; places: of an array by name among the numbers of one part."""

    def __init__(self, steps, given):
        self.count, self.places, self.shapes, self.orders, self.products = 0, {}, {}, {}, {}
        for name, shape in given.items():
            self._lay(name, shape, range(len(shape)))
        self.given, self.pieces, rows = self.count, [], []
        for step in steps:
            for row in [self._equation(step)] if isinstance(step, Equation) else map(self._step, self._pairs(step)):
                if isinstance(row, Large):
                    self.pieces += [*self._loop(rows), row]
                    rows = []
                else:
                    rows.append(row)
        self.pieces += self._loop(rows)
        self.equations = sum(isinstance(step, Equation) for step in steps)

    def numbers(self, given):
        """Room [2, n] for values and bounds of all arrays; given: the values of those that are, in order."""
        both = taken((2, self.count))
        both[0, : self.given] = given
        np.abs(given, out=both[1, : self.given])
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
        if not np.all(left < np.inf):
            return np.inf
        return float(np.max(left[left > 0.0] / size[left > 0.0], initial=0.0))

    def _lay(self, name, shape, order):
        """order: of the axes in memory."""
        self.shapes[name], self.orders[name] = shape, order
        self.places[name] = slice(self.count, self.count + prod(shape))
        self.count += prod(shape)

    def _lengths(self, operands):
        """Of the axes of operands (name, axes), by number."""
        found = {None: 1}
        for name, own in operands:
            for axis, length in zip(own, self.shapes[name], strict=True):
                found[axis] = max(length, found.get(axis, 1))
        return found

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
        shape = tuple(lengths[axis] for axis in step.kept)
        large = step.kind == PRODUCT and (len(lengths) > AXES + 1 or prod(lengths.values()) >= LARGE)
        axes = [(axis, length) for axis, length in lengths.items() if axis is not None]
        # the longest comes last, for long loops
        order = range(len(shape)) if large else sorted(range(len(shape)), key=shape.__getitem__)
        self._lay(step.name, shape, order)
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
        return [(1, [0] * len(names))] * (AXES - len(loops)) + loops

    def _row(self, step, loops):
        place = self.places[step.name]
        strides = [[strides[number] for _, strides in loops] for number in range(1 + len(step.operands))]
        row = [step.kind, place.start, place.stop - place.start, *(length for length, _ in loops), *strides[0]]
        operands = [[self.places[name].start, *own] for name, own in zip(step.operands, strides[1:], strict=True)]
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
    last = max(found, key=lambda loop: loop[0] * (_ALONG if max(loop[1]) == 1 else 1), default=None)
    return [loop for loop in found if loop is not last] + ([last] if last else [])


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

SIGNATURE = "993810f8a330d7b680ea73c79993ba0a01027c85dcf63067649723a249312086"
