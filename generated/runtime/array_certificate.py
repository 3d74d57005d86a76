"""The certificate of equations that are solved from their text: the same text once more, sum by sum.

Nothing is shared with what solves them but the text: neither what is evaluated in which order, nor the loops. Every
array has two parts, values and bounds: sums of the absolute values of all terms, which the rounding errors of the
values are relative to. An unknown whose equation has been evaluated is known to the bound of that.

Written by hand, in codegen/runtime/array_certificate.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import ast
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod

import numpy as np

from generated.runtime.array_steps import PRODUCT, RECIPROCAL, SUM, Equation, Plan, Step
from generated.runtime.certificate import slots
from generated.runtime.contraction_layout import give_back
from generated.runtime.equation_text import FEATURES, NODE, PARAMETERS, lines_of
from generated.runtime.evaluation import parts


class ArrayCertificate:
    """``check`` of a module, as that of ``Certificate``."""

    def __init__(self, equations, columns, odd=(), features=FEATURES):
        self.equations, self.columns, self.odd, self.features = equations, columns, odd, features

    @cached_property
    def steps(self):
        """The steps that evaluate the equations."""
        return Steps(self.equations, self.features)

    @cached_property
    def families(self):
        """Names of what a state is asked for."""
        given = {*PARAMETERS, "fraction", "delta", *self.columns, *self.features}
        return tuple(name for name in self.steps.names if name not in given)

    def check(self, node, fraction, parameters, state):
        """Worst residual over all equations, each relative to the sum of its terms in absolute value."""
        values, shapes = parts(state, self.families)
        plan = planned(self, len(fraction), node.shape[1], shapes)
        both = plan.numbers([parameters, fraction, plan.identity, node[: plan.columns].ravel(), *values])
        for name in self.odd:  # where no output feels the loss, rounding may be all that E g^2 is
            square, own = (both[1, plan.places[each]] for each in ("avg_gg", name))
            np.maximum(np.sqrt(square), own, out=own)
        worst = plan.worst(both)
        give_back(both)
        return worst

    def in_common(self, each):
        """See ``Certificate``."""
        return tuple(name for name in self.families if name not in each)

    def many(self, table, each, shapes):
        """See ``Certificate``."""
        names = self.in_common(each)
        return Many(self, table, slots(each), each, slots(dict(zip(names, shapes, strict=True))), shapes)


@dataclass(frozen=True, eq=False)
class Many:
    """The certificate of several solutions on one table, one after the other: see ``Certificate.many``."""

    certificate: ArrayCertificate
    table: tuple
    own: dict
    each: dict
    common: dict
    shapes: tuple

    @property
    def size(self):
        """How many numbers each has."""
        return sum(map(len, self.own.values()))

    def check(self, fraction, parameters, common, each):
        """See ``certificate.Many``."""
        columns, features = self.table
        shared = {n: common[p].reshape(s) for (n, p), s in zip(self.common.items(), self.shapes, strict=True)}
        found = np.empty(len(parameters))
        for s in range(len(parameters)):
            own = {name: each[s, place].reshape(self.each[name]) for name, place in self.own.items()}
            state = {**shared, **features, **own}
            node = np.concatenate([columns, *(state[name] for name in self.certificate.features)])
            found[s] = self.certificate.check(node, fraction, parameters[s], state)
        return found


@lru_cache(maxsize=64)
def planned(certificate, blocks, nodes, shapes):
    """The plan of a certificate for numbers of blocks and nodes; of what a state is asked for names and shapes."""
    given = {**dict.fromkeys(PARAMETERS, ()), "fraction": (blocks,), "delta": (blocks, blocks)}
    given |= dict.fromkeys(certificate.columns, (nodes,))
    given |= dict.fromkeys(certificate.features, (blocks, nodes))
    given |= dict(shapes)
    plan = Plan(certificate.steps.steps, given)
    plan.identity, plan.columns = np.eye(blocks).ravel(), len(certificate.columns) + blocks * len(certificate.features)
    return plan


class Steps:
    """Steps and equations in order; the same function of the same operands is one result, whatever indices are called.

    names: of what is given. An operand is (name of an array, letters of its axes, in order).
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
            self.steps.append(Equation(known, self._ordered(found, letters)))

    def _define(self, target, found):
        """``V := ...`` and ``matrix_G[e, j] := ...``."""
        if isinstance(target, ast.Name):
            self.functions[target.id] = found
        else:
            letters = self._letters(target)
            self.functions[target.value.id] = self._ordered(found, letters), letters

    def _step(self, kind, operands, summed=(), factors=()):
        """The result of operands without the axes that are summed; factors: of the terms of a sum."""
        letters = tuple(dict.fromkeys(letter for _, own in operands for letter in own))
        kept = tuple(letter for letter in letters if letter not in summed)
        return self._shared(kind, operands, letters, tuple(map(letters.index, kept)), factors), kept

    def _shared(self, kind, operands, letters, kept, factors):
        """The name of a result; letters: all of the operands in order."""
        names = tuple(name for name, _ in operands)
        axes = tuple(tuple(map(letters.index, own)) for _, own in operands)
        key = kind, names, axes, kept, factors
        if key not in self.known:
            self.known[key] = f"{len(self.steps)}"
            self.steps.append(Step(kind, self.known[key], names, axes, kept, factors))
        return self.known[key]

    def _ordered(self, found, letters):
        """The name of an operand with its axes in a given order; an axis that it lacks has length one."""
        name, own = found
        if own == letters:
            return name
        kept = tuple(own.index(letter) if letter in own else None for letter in letters)
        return self._shared(SUM, [found], own, kept, (1.0,))

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
        return self._step(SUM, operands, factors=factors)

    def _term(self, node):
        """(a number, the operand that it multiplies)."""
        factors, summed = self._summands(node)
        numbers = [factor for factor in factors if isinstance(factor, float)]
        operands = sorted(factor for factor in factors if not isinstance(factor, float))
        if len(operands) == 1 and not summed:
            return prod(numbers), operands[0]
        return prod(numbers), self._step(PRODUCT, operands, summed)

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
        return [self._step(RECIPROCAL, [found]) if below else found]

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
        return self._step(PRODUCT, [(name, letters)]) if met else (name, letters)

    @staticmethod
    def _letters(node):
        return tuple(letter.id for letter in (node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]))

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
