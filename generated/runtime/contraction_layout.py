"""Where the arrays of contractions lie in memory, for given lengths of their axes.

Written by hand, in codegen/runtime/contraction_layout.py.
Generated; do not edit. Signature 596631d5f0481ef9, runtime 4cd7f89b53adbfd1.
Regenerate with: giantstep generate
"""

# fmt: off

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from generated.runtime.equation_text import LOOPS, NODE


@dataclass(frozen=True)
class Layout:
    """rows: the contractions as ``evaluate`` takes them; start: all numbers, constants already in place.

    given: place of parameters, fractions and all that is given at the nodes; families: name -> place; defined: name ->
    (place, shape) of what the text says; moving: name -> place of what is zero unless it is set.
    """

    rows: np.ndarray
    start: np.ndarray
    given: slice
    families: dict[str, slice]
    defined: dict[str, tuple[slice, tuple[int, ...]]]
    moving: dict[str, slice]


@dataclass(frozen=True)
class _Pattern:
    """Contractions as arrays, for any lengths of the axes; a last axis more has length one.

    axes [registers, most], short ones filled up in front; loops [rows, LOOPS]: axes that are looped over; steps
    [rows, LOOPS, 3, most]: how often a loop goes along an axis of an operand.
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
    loops, steps = np.full((len(rows), LOOPS), one), np.zeros((len(rows), LOOPS, 3, most), int)
    for row, (_, looped, operands, places) in enumerate(rows):
        loops[row, LOOPS - len(looped) :] = looped
        for number, (register, own) in enumerate(zip(operands, places, strict=True)):
            for loop, axis in own:
                steps[row, LOOPS - len(looped) + loop, number, most - len(registers[register]) + axis] += 1
    kinds, operands = (np.array([row[place] for row in rows]) for place in (0, 2))
    return _Pattern(kinds, axes, loops, operands, steps)


@lru_cache(maxsize=256)
def layout_of(contractions, blocks, nodes, shapes):
    """The layout for numbers of blocks and nodes, and the shapes of the families in order."""
    pattern, registers, families = _pattern(contractions), contractions.registers, contractions.families
    lengths = np.ones(contractions.axes + 1, int)
    for register, letters in enumerate(contractions.given.values()):
        lengths[list(registers[register])] = [nodes if letter == NODE else blocks for letter in letters]
    for register, shape in zip(families.values(), shapes, strict=True):
        lengths[list(registers[register])] = shape
    shape = lengths[pattern.axes]
    following = np.cumprod(shape[:, ::-1], axis=1)[:, ::-1]  # the lengths of an axis and of those behind it, multiplied
    ends = np.cumsum(following[:, 0])
    starts, strides = ends - following[:, 0], (following // shape)[pattern.operands]
    rows = np.empty((len(pattern.kinds), 8 + 3 * LOOPS), np.uint64)  # what is never negative is indexed faster
    rows[:, 0], rows[:, 1:5], rows[:, 5:8] = pattern.kinds, lengths[pattern.loops], starts[pattern.operands]
    rows[:, 8:] = np.einsum("rlop,rop->rlo", pattern.steps, strides).reshape(len(rows), -1)
    start, identity = np.zeros(ends[-1]), starts[len(contractions.given) - 1]
    start[identity : identity + blocks**2] = np.eye(blocks).ravel()
    for constant, register in contractions.constants.items():
        start[starts[register]] = constant
    places = [slice(first, last) for first, last in zip(starts, ends, strict=True)]
    defined = {
        name: (places[register], tuple(lengths[list(registers[register])].tolist()))
        for name, register in contractions.defined.items()
    }
    known, moving = ({n: places[r] for n, r in found.items()} for found in (families, contractions.moving))
    return Layout(rows, start, slice(0, identity), known, defined, moving)

SIGNATURE = "596631d5f0481ef9dac911a572362cf84dc262533cf9dd0cf867b7663e33b25a"
