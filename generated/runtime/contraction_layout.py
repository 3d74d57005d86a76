"""Where the arrays of contractions lie in memory, for given lengths of their axes.

Written by hand, in codegen/runtime/contraction_layout.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import permutations
from threading import local

import numpy as np

from generated.runtime.equation_text import INVERSE, MINUS, NODE
from generated.runtime.thinned import thinned
from generated.runtime.tiles import WIDTH

_ALONG = 8  # what a loop along memory gains over another
MATRIX, _FEW = 4, 8  # lengths of the loops of a product of matrices, at least; of a sum over that along the result
LONG_SUM = 12  # numbers that are summed along memory in whole vectors, at least
_SPARES, _LARGEST = 6, 1 << 25  # arrays whose memory is kept, and bytes of each, at most
_SMALLEST = 1 << 18  # bytes that come from fresh pages


@dataclass(frozen=True, eq=False)
class Layout:
    """rows: the contractions as they are carried out; size: how many numbers there are; constants: (places, values).

    rows[i] = (kind, lengths of the loops, places of three operands, their strides loop by loop, how many numbers are
    added to); into: column of the place of the first operand; given: place of parameters, fractions and all that is
    given at the nodes; families: name -> place; defined: name -> (place, shape in memory, places of the axes there) of
    what the text says; moving: the same of what is zero unless it is set; masks: place of a family that stays as it is
    -> where it is not zero; parts, pieces: the rows of stages, and what carries these out.
    """

    rows: np.ndarray
    into: int
    size: int
    constants: tuple[np.ndarray, np.ndarray]
    given: slice
    families: dict[str, slice]
    defined: dict[str, tuple[slice, tuple[int, ...], tuple[int, ...]]]
    moving: dict[str, tuple[slice, tuple[int, ...], tuple[int, ...]]]
    masks: dict[int, np.ndarray] = field(default_factory=dict)
    parts: dict[object, np.ndarray] = field(default_factory=dict)
    pieces: dict[object, list[object]] = field(default_factory=dict)

    def numbers(self, kind=float):
        """All numbers, constants in place, what is given or moves zero; memory is taken where others are written."""
        value = taken((self.size,), kind, (*self.known, *self.still))
        value[self.constants[0]] = self.constants[1]
        return value

    def like(self, values):
        """All numbers, with those in the places ``known``; what may move is any number before it is set."""
        value = taken((self.size,), float)
        value[self.constants[0]] = self.constants[1]
        for place, own in zip(self.known, values, strict=True):
            value[place] = own
        return value

    @cached_property
    def known(self):
        """Places of what is given at the nodes, and of families."""
        return self._joined([self.given, *self.families.values()])

    @cached_property
    def still(self):
        """Places of what may move."""
        return self._joined([each[0] for each in self.moving.values()])

    @staticmethod
    def _joined(places):
        """Places next to each other as one."""
        places = sorted(places, key=lambda place: place.start)
        found = []
        for place in places:
            if found and place.start <= found[-1].stop:
                found[-1] = slice(found[-1].start, max(place.stop, found[-1].stop))
            else:
                found.append(place)
        return found

    def part(self, stage):
        """The rows of a stage; the first of them that writes into an array sets it to zero before."""
        if stage not in self.parts:
            rows = self.rows[stage.numbers]
            later = np.ones(len(rows), bool)
            later[np.unique(rows[:, self.into], return_index=True)[1]] = False
            rows[later, -1] = 0
            self.parts[stage] = thinned(rows, self.masks)
        return self.parts[stage]


class _Spare(local):
    """Memory of numbers that nobody reads any more, of this thread: fresh pages cost as much as a residual."""

    def __init__(self):
        self.arrays = []


_SPARE = _Spare()


def give_back(value):
    """Let others have the memory of an array that is no longer read."""
    if _SMALLEST <= value.nbytes <= _LARGEST:
        _SPARE.arrays.append(value)
        del _SPARE.arrays[:-_SPARES]


def taken(shape, kind=float, zero=()):
    """Memory for as many numbers of a kind, zero in some places: that of an array that was given back, or fresh."""
    for number, value in enumerate(_SPARE.arrays):
        if value.shape == shape and value.dtype == kind:
            del _SPARE.arrays[number]
            for place in zero:
                value[place] = 0.0
            return value
    return np.zeros(shape, kind)


@dataclass(frozen=True)
class _Pattern:
    """Contractions as arrays, for any lengths of the axes; a last axis more has length one.

    axes [registers, most], short ones filled up in front; loops [rows, loops]: axes that are looped over; steps
    [rows, loops, 3, most]: how often a loop goes along an axis of an operand.
    """

    kinds: np.ndarray
    axes: np.ndarray
    loops: np.ndarray
    operands: np.ndarray
    steps: np.ndarray


@lru_cache(maxsize=32)
def _pattern(contractions):
    one, registers, rows = contractions.axes, contractions.registers, contractions.rows
    most = max(map(len, registers))
    axes = np.array([[one] * (most - len(own)) + list(own) for own in registers])
    count = contractions.loops
    loops, steps = np.full((len(rows), count), one), np.zeros((len(rows), count, 3, most), int)
    for row, (_, looped, operands, places) in enumerate(rows):
        loops[row, count - len(looped) :] = looped
        for number, (register, own) in enumerate(zip(operands, places, strict=True)):
            for loop, axis in own:
                steps[row, count - len(looped) + loop, number, most - len(registers[register]) + axis] += 1
    kinds, operands = (np.array([row[place] for row in rows]) for place in (0, 2))
    return _Pattern(kinds, axes, loops, operands, steps)


@lru_cache(maxsize=256)
def layout_of(contractions, blocks, nodes, shapes, ways=1, still=()):
    """The layout for numbers of blocks and nodes, the shapes of the families in order, and a number of directions.

    still: (name, bits that say where it is not zero) of families that stay as they are.
    """
    pattern, registers, families = _pattern(contractions), contractions.registers, contractions.families
    lengths = np.ones(contractions.axes + 1, int)
    for register, letters in enumerate(contractions.given.values()):
        lengths[list(registers[register])] = [nodes if letter == NODE else blocks for letter in letters]
    for register, shape in zip(families.values(), shapes, strict=True):
        lengths[list(registers[register])] = shape
    _require_equal(contractions, lengths)
    if contractions.ways is not None:
        lengths[contractions.ways] = ways
    shape = lengths[pattern.axes]
    orders = np.argsort(shape, axis=1, kind="stable")  # in memory the longest axis comes last, for long loops
    if contractions.ways is None:
        orders[...] = np.arange(shape.shape[1])
    shape = np.take_along_axis(shape, orders, axis=1)
    following = np.cumprod(shape[:, ::-1], axis=1)[:, ::-1]  # the lengths of an axis and of those behind it, multiplied
    ends = np.cumsum(following[:, 0])
    starts, strides = ends - following[:, 0], np.empty_like(shape)
    np.put_along_axis(strides, orders, following // shape, axis=1)
    strides = strides[pattern.operands]
    steps = np.einsum("rlop,rop->rlo", pattern.steps, strides)
    looped, operands = lengths[pattern.loops], pattern.operands.copy()
    _arrange(pattern.kinds, looped, steps, operands)
    added = np.where(pattern.kinds <= MINUS, following[operands[:, 0], 0], 0)
    rows = [pattern.kinds[:, None], looped, starts[operands], steps.reshape(len(steps), -1), added[:, None]]
    identity = starts[len(contractions.given) - 1]
    constants = {identity + place * (blocks + 1): 1.0 for place in range(blocks)}
    constants |= {starts[register]: constant for constant, register in contractions.constants.items()}
    constant = np.array(list(constants)), np.array(list(constants.values()))
    places = [slice(first, last) for first, last in zip(starts, ends, strict=True)]

    def shaped(found):
        return {
            name: (places[register], *_view(shape[register], orders[register], registers[register]))
            for name, register in found.items()
        }

    known = {name: places[register] for name, register in families.items()}
    # what is never negative is indexed faster
    table = np.concatenate(rows, axis=1).astype(np.uint64)
    into, given = 1 + contractions.loops, slice(0, identity)
    masks = {}
    for name, bits in still:
        register = families[name]
        place, own, order = shaped({name: register})[name]
        natural = tuple(np.array(own)[list(order)])
        mask = np.unpackbits(np.frombuffer(bits, np.uint8), count=place.stop - place.start).astype(bool)
        masks[place.start] = mask.reshape(natural).transpose(np.argsort(order)).ravel()
    moves = shaped(contractions.defined), shaped(contractions.moving)
    return Layout(table, into, int(ends[-1]) + WIDTH, constant, given, known, *moves, masks)


def _require_equal(contractions, lengths):
    """Raise ValueError where arrays differ in the length of an axis that they share: loops would leave one of them."""
    wrong = [pair for pair in contractions.met if lengths[pair[0]] != lengths[pair[1]]]
    if not wrong:
        return
    names = dict(zip(contractions.given, range(len(contractions.given)), strict=True)) | contractions.families
    of_axis = {axis: name for name, register in names.items() for axis in contractions.registers[register]}
    told = (" and ".join(f"{of_axis[axis]} ({lengths[axis]})" for axis in pair) for pair in sorted(wrong))
    raise ValueError(f"arrays that share an axis have other lengths along it: {', '.join(told)}")


def _view(shape, order, axes):
    """(shape in memory, where each axis lies there) without the axes that were filled up in front."""
    filled = len(order) - len(axes)
    own = order >= filled
    return tuple(shape[own].tolist()), tuple(np.argsort(order[own]).tolist())


def _arrange(kinds, lengths, steps, operands):
    """Make loops long: two that go through memory as one become one; the longest along it comes last, a sum before it.

    lengths [rows, loops], steps [rows, loops, 3], operands [rows, 3]: changed in place.
    """
    steps[lengths == 1] = 0
    plain = kinds < INVERSE
    for outer, inner in [*permutations(range(lengths.shape[1]), 2)] * 2:
        long = plain & (lengths[:, outer] > 1) & (lengths[:, inner] > 1)
        one = long & np.all(steps[:, outer] == steps[:, inner] * lengths[:, inner, None], axis=1)
        lengths[one, inner] *= lengths[one, outer]
        lengths[one, outer], steps[one, outer] = 1, 0
    along = np.all(steps <= 1, axis=2) & np.any(steps == 1, axis=2)
    last = np.argmax(lengths * np.where(along, _ALONG, 1), axis=1)
    _exchange(np.flatnonzero(plain), last[plain], -1, lengths, steps)
    summed = np.argmax(np.where(steps[:, :-1, 0] == 0, lengths[:, :-1], 0), axis=1)
    _exchange(np.flatnonzero(plain), summed[plain], -2, lengths, steps)
    _side_by_side(np.flatnonzero(kinds <= MINUS), lengths, steps, operands)
    _as_matrices(np.flatnonzero(kinds <= MINUS), lengths, steps)
    swapped = (kinds <= MINUS) & (steps[:, -1, 1] == 0)  # a factor that stays comes second
    steps[swapped] = steps[swapped][..., [0, 2, 1]]
    operands[swapped] = operands[swapped][:, [0, 2, 1]]


def _as_matrices(rows, lengths, steps):
    """Put the loops of a product of matrices last, in rows that are one: first the loop along memory in the result and
    along one factor, then the sum, then a loop along the result and the other factor.
    """
    length, step, number = lengths[rows], steps[rows], np.arange(len(rows))
    moves = (step != 0) & (length >= MATRIX)[..., None]
    alone = moves[..., 0] & (moves[..., 1] != moves[..., 2])
    along = alone & (step[..., 0] == 1)
    inner = np.argmax(along, axis=1)
    sums = np.where(~moves[..., 0] & moves[..., 1] & moves[..., 2], length, 0)
    others = np.where(alone & (moves[..., 1] != moves[number, inner, 1][:, None]), length, 0)
    summed, outer = np.argmax(sums, axis=1), np.argmax(others, axis=1)
    most = sums[number, summed]
    # sums along memory that are long are as fast
    short = np.any(step[number, summed, 1:] != 1, axis=1) | (most <= _FEW * length[number, inner])
    one = np.flatnonzero(np.any(along, axis=1) & (most > 0) & (others[number, outer] > 0) & short)
    places = np.zeros(length[one].shape, int)
    for place, loops in enumerate((outer, summed, inner)):
        places[np.arange(len(one)), loops[one]] = 1 + place
    order = np.argsort(places, axis=1, kind="stable")
    lengths[rows[one]] = np.take_along_axis(length[one], order, axis=1)
    steps[rows[one]] = np.take_along_axis(step[one], order[..., None], axis=1)


def _side_by_side(rows, lengths, steps, operands):
    """Where the last loop goes along both factors, and along the result or over a sum: put the longest loop before it,
    and before a sum, that the result and one factor alone move along, the factor that stays first.
    """
    length, step = lengths[rows], steps[rows]
    along = np.all(step[:, -1, 1:] == 1, axis=1)
    added = along & (step[:, -1, 0] == 1) & (step[:, -2, 0] == 0) & (length[:, -2] > 1)
    summed = along & (step[:, -1, 0] == 0)
    alone = (step[..., 0] != 0) & ((step[..., 1] != 0) != (step[..., 2] != 0)) & (length > 1)
    alone[:, -1] = False
    for chosen, place in ((added, -3), (summed, -2)):
        one = np.flatnonzero(chosen & np.any(alone, axis=1))
        _exchange(rows[one], np.argmax(np.where(alone, length, 0)[one], axis=1), place, lengths, steps)
        swapped = rows[one][steps[rows[one], place, 1] != 0]
        steps[swapped] = steps[swapped][..., [0, 2, 1]]
        operands[swapped] = operands[swapped][:, [0, 2, 1]]


def _exchange(rows, loops, place, *arrays):
    """Exchange a loop of every row with that in another place."""
    for array in arrays:
        array[rows, loops], array[rows, place] = array[rows, place].copy(), array[rows, loops].copy()

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
