"""The certificate of equations that are solved from their text: the same text once more, by NumPy, sum by sum.

Nothing is shared with what solves them but the text. Every array has two parts, values and bounds: sums of the absolute
values of all terms, which the rounding errors of the values are relative to. An unknown whose equation has been
evaluated is known to the bound of that.
"""

import ast
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import combinations
from math import prod
from string import ascii_lowercase
from typing import Any

import numpy as np

from codegen.runtime.equation_text import FEATURES, NODE, PARAMETERS, lines_of
from codegen.runtime.products import LARGE, Product

PART = "Z"  # the axis of values and bounds


class ArrayCertificate:
    """``check`` of a module, as that of ``Certificate``."""

    def __init__(self, equations, columns, odd=(), features=FEATURES):
        self.equations, self.columns, self.odd, self.features = equations, columns, odd, features

    @cached_property
    def steps(self):
        """The steps that evaluate the equations."""
        return Steps(self.equations, self.features)

    def check(self, node, fraction, parameters, state):
        """Worst residual over all equations, each relative to the sum of its terms in absolute value."""
        blocks, first = len(fraction), len(self.columns)
        columns = dict(zip(self.columns, node, strict=False))
        features = {name: node[first + i * blocks :][:blocks] for i, name in enumerate(self.features)}
        given = {**dict(zip(PARAMETERS, parameters, strict=True)), **columns, **features}
        given |= {"fraction": fraction, "delta": np.eye(blocks)}
        arrays = {name: np.asarray(given[name] if name in given else state[name]) for name in self.steps.names}
        known = with_bounds(arrays)
        for name in self.odd:  # where no output feels the loss, rounding may be all that E g^2 is
            known[name][1] = np.sqrt(np.abs(state["avg_gg"]))
        with np.errstate(all="ignore"):
            return self.steps.worst(known)


def with_bounds(given):
    """Values and their absolute values by name, views of one array."""
    sizes = np.cumsum([0, *(values.size for values in given.values())]).tolist()
    both = np.empty((2, sizes[-1]))
    np.concatenate([values.ravel() for values in given.values()], out=both[0])
    np.abs(both[0], out=both[1])
    places = zip(given.items(), sizes[:-1], sizes[1:], strict=True)
    return {name: both[:, first:last].reshape(2, *values.shape) for (name, values), first, last in places}


@dataclass(frozen=True)
class Step:
    """A result by the names of its operands; ``make`` gives the function of their arrays for lengths by axis.

    axes: those of the operands, numbered by first appearance; kept: those of the result, None for one of length one.
    """

    name: str
    operands: tuple[str, ...]
    axes: tuple[tuple[int, ...], ...]
    kept: tuple[Any, ...]
    make: Any


class Steps:
    """Steps and equations in order; the same function of the same operands is one result, whatever indices are called.

    names: of what is given; an equation is (left name, None where it is zero; right name). An operand is (name of an
    array, letters of its axes, in order).
    """

    def __init__(self, text, features):
        self.features = features
        self.steps, self.names, self.functions, self.known = [], {}, {}, {}
        for left, relation, right in lines_of(text):
            target, found = ast.parse(left, mode="eval").body, self._operand(ast.parse(right, mode="eval").body)
            if relation == ":=":
                self._define(target, found)
                continue
            known, letters = (None, found[1]) if isinstance(target, ast.Constant) else self._leaf(target)
            self.steps.append((known, self._ordered(found, letters)))

    def worst(self, known):
        """The worst residual relative to the largest bound of its equation; arrays are added to what is known."""
        left, right = [], []
        for function, name, operands in planned(self, tuple([known[name].shape[1:] for name in self.names])):
            if function is not None:
                known[name] = function(*[known[operand] for operand in operands])
                continue
            found = known[operands]
            if name is None:
                left.append(np.zeros(found[0].size))
            else:
                left.append(known[name][0].ravel())
                known[name][1] = found[1]
                if found.size != known[name].size:
                    found = np.broadcast_to(found, known[name].shape)
            right.append(found.reshape(2, -1))
        value, bound = np.concatenate(right, axis=1)
        starts = np.cumsum([0, *map(len, left[:-1])])
        missed, size = (np.maximum.reduceat(x, starts) for x in (np.abs(np.concatenate(left) - value), bound))
        if not np.all(missed < np.inf):
            return np.inf
        return float(np.max(missed[missed > 0.0] / size[missed > 0.0], initial=0.0))

    def _define(self, target, found):
        """``V := ...`` and ``matrix_G[e, j] := ...``."""
        if isinstance(target, ast.Name):
            self.functions[target.id] = found
        else:
            letters = self._letters(target)
            self.functions[target.value.id] = self._ordered(found, letters), letters

    def _step(self, kind, operands, make, summed=()):
        """The result of a function of operands; kind: what tells it from others of the same operands."""
        letters = tuple(dict.fromkeys(letter for _, own in operands for letter in own))
        kept = tuple(letter for letter in letters if letter not in summed)
        return self._shared(kind, operands, letters, make, tuple(map(letters.index, kept))), kept

    def _shared(self, kind, operands, letters, make, kept):
        """The name of a result; letters: all of the operands in order."""
        names = tuple(name for name, _ in operands)
        axes = tuple(tuple(map(letters.index, own)) for _, own in operands)
        key = kind, names, axes, kept
        if key not in self.known:
            self.known[key] = f"{len(self.steps)}"
            self.steps.append(Step(self.known[key], names, axes, kept, make))
        return self.known[key]

    def _ordered(self, found, letters):
        """The name of an operand with its axes in a given order; an axis that it lacks has length one."""
        name, own = found
        if own == letters:
            return name
        kept = tuple(own.index(letter) if letter in own else None for letter in letters)
        return self._shared("ordered", [found], own, lambda *_: aligned(kept), kept)

    # --- expressions -------------------------------------------------------------------------------------------------

    def _operand(self, node):
        if isinstance(node, (ast.Name, ast.Subscript)):
            return self._leaf(node)
        terms = []
        while isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            factor, operand = self._term(node.right)
            terms.insert(0, (-factor if isinstance(node.op, ast.Sub) else factor, operand))
            node = node.left
        terms.insert(0, self._term(node))
        factors, operands = zip(*terms, strict=True)
        if factors == (1.0,):
            return operands[0]
        return self._step(factors, operands, lambda axes, kept, _: Sum(factors, axes, kept))

    def _term(self, node):
        """(a number, the operand that it multiplies)."""
        factors, summed = self._summands(node)
        numbers = [factor for factor in factors if isinstance(factor, float)]
        operands = sorted(factor for factor in factors if not isinstance(factor, float))
        if len(operands) == 1 and not summed:
            return prod(numbers), operands[0]
        return prod(numbers), self._step("product", operands, product_of, summed)

    def _summands(self, node):
        """(factors below sums and averages, letters that are summed)."""
        summed = set()
        while isinstance(node, ast.Call):
            average = node.func.id == "E"
            summed.add(NODE if average else node.args[1].id)
            node = node.args[0]
            if average:
                return [*self._factors(node), self._leaf(ast.Name("weight"))], summed
        return self._factors(node), summed

    def _factors(self, node, below=False):
        """Arrays and numbers whose product an expression is; ``below``: its reciprocal."""
        if isinstance(node, ast.Constant):
            return [1.0 / node.value if below else float(node.value)]
        if isinstance(node, ast.UnaryOp):
            return [-1.0, *self._factors(node.operand, below)]
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
            return self._factors(node.left, below) + self._factors(node.right, below != isinstance(node.op, ast.Div))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            return self._factors(node.left, below) * node.right.value
        found = self._operand(node)
        return [self._step("1/", [found], lambda *_: reciprocal) if below else found]

    def _leaf(self, node):
        if isinstance(node, ast.Name):
            if node.id in self.functions:
                return self.functions[node.id]
            self.names[node.id] = None
            return node.id, () if node.id in PARAMETERS else (NODE,)
        letters, name = self._letters(node), node.value.id
        if name in self.functions:
            return self.functions[name][0], letters
        self.names[name] = None
        letters = (*letters, NODE) if name in self.features else letters
        met = len({*letters}) < len(letters)
        return self._step("product", [(name, letters)], product_of) if met else (name, letters)

    @staticmethod
    def _letters(node):
        return tuple(letter.id for letter in (node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]))


@lru_cache(maxsize=32)
def planned(steps, shapes):
    """The steps for arrays given in some shapes: (function, name of its result, names of operands), or (None, left
    name, right name) of an equation.
    """
    known, found = dict(zip(steps.names, shapes, strict=True)), []
    for step in steps.steps:
        if not isinstance(step, Step):
            found.append((None, *step))
            continue
        lengths = {None: 1}
        for name, own in zip(step.operands, step.axes, strict=True):
            lengths |= zip(own, known[name], strict=True)
        known[step.name] = tuple(lengths[axis] for axis in step.kept)
        found.append((step.make(step.axes, step.kept, lengths), step.name, step.operands))
    return found


def product_of(axes, kept, lengths):
    """The function of arrays with numbered axes that is their product, summed over axes that are not kept."""
    if not axes:
        return lambda: np.ones(2)
    names = [PART, *ascii_lowercase]
    own = [PART + "".join(names[1 + axis] for axis in each) for each in axes]
    result = PART + "".join(names[1 + axis] for axis in kept)
    return multiplied(own, result, {PART: 2, **{names[1 + axis]: lengths[axis] for each in axes for axis in each}})


def multiplied(names, kept, lengths):
    """The same for axes with names; large products are made two at a time."""
    if len(names) == 2 and (product := Product(*names, kept)).large(lengths):
        return product.of
    if len(names) <= 2 or prod(lengths.values()) < LARGE:
        return partial(np.einsum, f"{','.join(names)}->{kept}")
    first, second = min(
        combinations(range(len(names)), 2),
        key=lambda pair: prod(lengths[a] for a in {*names[pair[0]], *names[pair[1]]}),
    )
    left = [own for place, own in enumerate(names) if place not in (first, second)]
    pair = "".join(sorted({*names[first], *names[second]} & {*kept}.union(*left)))
    two = multiplied([names[first], names[second]], pair, {a: lengths[a] for a in {*names[first], *names[second]}})
    whole = multiplied([*left, pair], kept, {a: lengths[a] for a in {*pair}.union(*left)})

    def product(*arrays):
        others = [array for place, array in enumerate(arrays) if place not in (first, second)]
        return whole(*others, two(arrays[first], arrays[second]))

    return product


class Sum:
    """A sum of arrays with numbered axes, each times a number."""

    def __init__(self, factors, axes, kept):
        self.turns = [aligned(tuple(own.index(a) if a in own else None for a in kept)) for own in axes]
        parts = [np.array([factor, abs(factor)]).reshape(2, *[1] * len(kept)) for factor in factors]
        self.factors = [None if factor == 1.0 else part for factor, part in zip(factors, parts, strict=True)]

    def __call__(self, *arrays):
        total = None
        for turn, factor, array in zip(self.turns, self.factors, arrays, strict=True):
            term = turn(array) if factor is None else factor * turn(array)
            total = term if total is None else total + term
        return total


def aligned(order):
    """A function that puts axes in an order of their numbers; None: one of length one."""
    place = (slice(None), *[None if axis is None else slice(None) for axis in order])
    turn = (0, *[1 + axis for axis in order if axis is not None])
    if None in place or turn != tuple(range(len(turn))):
        return lambda array: array.transpose(turn)[place]
    return lambda array: array


def reciprocal(array):
    """One over values; the bound is its absolute value."""
    value = 1.0 / array[0]
    return np.stack([value, np.abs(value)])
