"""The certificate of equations that are solved from their text: the same text once more, by NumPy, sum by sum.

Nothing is shared with what solves them but the text. Every array has two parts, values and bounds: sums of the absolute
values of all terms, which the rounding errors of the values are relative to. An unknown whose equation has been
evaluated is known to the bound of that.

Written by hand, in codegen/runtime/array_certificate.py.
Generated; do not edit. Signature c126b6a00b5213e1, runtime bc1ca467bb2a743e.
Regenerate with: giantstep generate
"""

# fmt: off

import ast
from functools import cached_property
from itertools import combinations
from math import prod

import numpy as np

from generated.runtime.equation_text import FEATURES, NODE, PARAMETERS, lines_of
from generated.runtime.products import LARGE, Product

PART = "Z"  # the axis of values and bounds
SIGNS = np.array([-1.0, 1.0])  # what is subtracted adds to the bound


class ArrayCertificate:
    """``check`` of a module, as that of ``Certificate``."""

    def __init__(self, equations, columns, odd=(), features=FEATURES):
        self.equations, self.columns, self.odd, self.features = equations, columns, odd, features

    @cached_property
    def steps(self):
        """The steps that evaluate the equations."""
        return Steps(self.equations, self.columns, self.features)

    def check(self, node, fraction, parameters, state):
        """Worst residual over all equations, each relative to the sum of its terms in absolute value."""
        blocks, first = len(fraction), len(self.columns)
        columns = dict(zip(self.columns, node, strict=False))
        features = {name: node[first + i * blocks :][:blocks] for i, name in enumerate(self.features)}
        given = {**dict(zip(PARAMETERS, parameters, strict=True)), **columns, **features}
        given |= {"fraction": fraction, "delta": np.eye(blocks)}
        known = {}
        for name in self.steps.names:
            values = np.asarray(given[name] if name in given else state[name])
            known[name] = np.empty((2, *values.shape))
            known[name][0], known[name][1] = values, abs(values)
        for name in self.odd:  # where no output feels the loss, rounding may be all that E g^2 is
            known[name][1] = np.sqrt(np.abs(state["avg_gg"]))
        with np.errstate(all="ignore"):
            return self.steps.worst(known)


class Steps:
    """Steps (name of a result, function of arrays, names of its arrays) in order; what is the same text is one result.

    names: of what is given; equations: left name, None where it is zero, and right name. An operand is (name of an
    array, letters of its axes, in order).
    """

    def __init__(self, text, columns, features):
        self.columns, self.features = columns, features
        self.steps, self.names, self.functions, self.known = [], set(), {}, {}
        for left, relation, right in lines_of(text):
            target, self.text = ast.parse(left, mode="eval").body, right
            found = self._operand(ast.parse(right, mode="eval").body)
            if relation == ":=":
                self._define(target, found)
                continue
            known, letters = (None, found[1]) if isinstance(target, ast.Constant) else self._leaf(target)
            self.steps.append((None, known, self._ordered(found, letters)))

    def worst(self, known):
        """The worst residual relative to the largest bound of its equation; arrays are added to what is known."""
        worst = 0.0
        for name, function, operands in self.steps:
            if name is not None:
                known[name] = function(*[known[operand] for operand in operands])
                continue
            left, (value, bound) = function, known[operands]
            largest = abs(value if left is None else known[left][0] - value).max()
            if not largest < np.inf:
                return np.inf
            if largest > 0.0:
                worst = max(worst, float(largest / bound.max()))
            if left is not None:
                known[left][1] = bound
        return worst

    def _define(self, target, found):
        """``V := ...`` and ``matrix_G[e, j] := ...``."""
        if isinstance(target, ast.Name):
            self.functions[target.id] = found
        else:
            letters = self._letters(target)
            self.functions[target.value.id] = self._ordered(found, letters), letters

    def _step(self, text, function, operands, letters):
        """The result of a function of operands."""
        key = text, letters
        if key not in self.known:
            self.known[key] = f"{len(self.steps)}"
            self.steps.append((self.known[key], function, [name for name, _ in operands]))
        return self.known[key], letters

    def _ordered(self, found, letters):
        """The name of an operand with its axes in a given order; an axis that it lacks has length one."""
        name, own = found
        if own == letters:
            return name
        return self._step(f"ordered {name}", aligned(own, letters), [found], letters)[0]

    # --- expressions -------------------------------------------------------------------------------------------------

    def _operand(self, node):
        if isinstance(node, (ast.Constant, ast.Name, ast.Subscript)):
            return self._leaf(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            return self._sum(node)
        factors, summed = self._summands(node) if isinstance(node, ast.Call) else (self._factors(node), set())
        kept = tuple(sorted({letter for _, letters in factors for letter in letters} - summed))
        text = self.text[node.col_offset : node.end_col_offset]
        names = [(PART, *letters) for _, letters in factors]
        return self._step(text, lambda *arrays: multiplied(arrays, names, (PART, *kept)), factors, kept)

    def _sum(self, node):
        """All terms of a sum at a time."""
        terms = []
        while isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            terms.insert(0, (self._operand(node.right), isinstance(node.op, ast.Sub)))
            node = node.left
        terms.insert(0, (self._operand(node), False))
        letters = tuple(sorted({letter for (_, own), _ in terms for letter in own}))
        align = [aligned(own, letters) for (_, own), _ in terms]
        signs = [SIGNS.reshape(-1, *[1] * len(letters)) if minus else None for _, minus in terms]

        def added(*arrays):
            total = 0.0
            for turned, sign, array in zip(align, signs, arrays, strict=True):
                total = total + (turned(array) if sign is None else sign * turned(array))
            return total

        text = " ".join(f"{'-' * minus}{name}" for (name, _), minus in terms)
        return self._step(text, added, [operand for operand, _ in terms], letters)

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
        """Arrays whose product an expression is; ``below``: its reciprocal."""
        if isinstance(node, ast.UnaryOp):
            found = self._operand(node.operand)
            sign = SIGNS.reshape(-1, *[1] * len(found[1]))
            return self._below([self._step(f"-{found[0]}", lambda array: sign * array, [found], found[1])], below)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
            return self._factors(node.left, below) + self._factors(node.right, below != isinstance(node.op, ast.Div))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            return self._factors(node.left, below) * node.right.value
        return self._below([self._operand(node)], below)

    def _below(self, factors, below):
        if not below:
            return factors
        return [self._step(f"1/{name}", reciprocal, [(name, letters)], letters) for name, letters in factors]

    def _leaf(self, node):
        if isinstance(node, ast.Constant):
            value = float(node.value)
            return self._step(f"{value}", lambda: np.array([value, abs(value)]), [], ())
        if isinstance(node, ast.Name):
            if node.id in self.functions:
                return self.functions[node.id]
            self.names.add(node.id)
            return node.id, () if node.id in PARAMETERS else (NODE,)
        letters, name = self._letters(node), node.value.id
        if name in self.functions:
            return self.functions[name][0], letters
        self.names.add(name)
        letters = (*letters, NODE) if name in self.features else letters
        kept = tuple(sorted({*letters}))
        if len(kept) == len(letters):
            return name, letters
        whole = [(PART, *letters)]
        return self._step(
            f"{name}{letters}", lambda array: _einsum([array], whole, (PART, *kept)), [(name, letters)], kept
        )

    @staticmethod
    def _letters(node):
        return tuple(letter.id for letter in (node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]))


def multiplied(arrays, names, kept):
    """The product of arrays with named axes, summed over those that are not kept; large ones two at a time."""
    left = list(zip(arrays, names, strict=True))
    lengths = {name: length for array, own in left for name, length in zip(own, array.shape, strict=True)}
    while len(left) > 2 and prod(lengths.values()) >= LARGE:
        first, second = min(
            combinations(range(len(left)), 2),
            key=lambda pair: prod(lengths[name] for name in {*left[pair[0]][1], *left[pair[1]][1]}),
        )
        (one, own), (other, others) = left.pop(second), left.pop(first)
        needed = {*kept}.union(*(each for _, each in left))
        rest = tuple(sorted({*own, *others} & needed))
        left.append((_pair(one, other, (own, others), rest, lengths), rest))
    if len(left) == 2:
        (one, own), (other, others) = left
        return _pair(one, other, (own, others), kept, lengths)
    return _einsum([array for array, _ in left], [own for _, own in left], kept)


def _pair(first, second, names, kept, lengths):
    product = Product(*names, kept)
    return product.of(first, second) if product.large(lengths) else _einsum((first, second), names, kept)


def _einsum(arrays, names, kept):
    return np.einsum(f"{','.join(map(''.join, names))}->{''.join(kept)}", *arrays)


def aligned(own, letters):
    """A function that gives an array with axes ``own`` those in ``letters``; what it lacks has length one."""
    order = [0, *(1 + own.index(letter) for letter in letters if letter in own)]
    place = (slice(None), *[slice(None) if letter in own else None for letter in letters])
    if order == sorted(order) and None not in place:
        return lambda array: array
    return lambda array: array.transpose(order)[place]


def reciprocal(array):
    """One over values; the bound is its absolute value."""
    value = 1.0 / array[0]
    return np.stack([value, np.abs(value)])

SIGNATURE = "c126b6a00b5213e1d1946f28cd230acf402831b27dec505374540b88e1533a44"
