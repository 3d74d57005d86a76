"""Equations and how they move, from their text: every contraction is followed by its tangent, by the product rule.

The equations are those of a certificate; the last ones are solved for the unknowns. What follows from these by the
others moves as the right sides do, unless there is a rule for it: averages over the output, whose derivatives are other
averages, and matrices whose derivative would cancel, taken term by term.

Written by hand, in codegen/runtime/tangents.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import ast
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from generated.runtime.equation_text import FEATURES, INVERSE, MINUS, NODE, PLUS, RECIPROCAL, Contractions, lines_of
from generated.runtime.evaluation import Numbers, Stage


@dataclass(frozen=True)
class Text:
    """Equations and what moves in them: unknowns, those of the last equations in order, and others that are given.

    rules: ``d_P[b, c] := ...``, tangents of what has one of its own; observables: ``test_error := ...``, and families
    that are asked for beside them and do not move: ``slope_X[p, q] := ...``.
    """

    equations: str
    unknowns: tuple[str, ...]
    others: tuple[str, ...]
    rules: str
    observables: str


WAY = "~"  # the axis of the directions that tangents follow, the last one of each
MATRIX = "matrix_"  # of an inverse


class Tangents(Contractions):
    """Contractions of equations and of their tangents. ``d_V`` is that of V, ``d_residual_T`` what vanishes for T.

    followed: name -> register of what follows from the unknowns; named: of everything that has a name.
    """

    loops = Contractions.loops + 2

    def __init__(self, text, columns, features=FEATURES):
        self.tangents, self.ruled = {}, False  # register -> that of its tangent
        self.active, self.followed = {*text.unknowns, *text.others}, {}
        super().__init__("", columns, features)
        self.ways, self.axes = self.axes, self.axes + 1
        for name in ("alpha", "beta", "ridge", *features):
            self._moves(name)
        results = {}
        for take, name, sides in _ordered(text):
            results |= getattr(self, take)(name, *self._parsed(*sides))
        self.results = tuple(results)
        moving = (*self.followed, *(_name(left).removeprefix("d_") for left, *_ in lines_of(text.rules)))
        moved = {f"d_{name}": self.known[f"d_{name}"] for name in moving if f"d_{name}" in self.known}
        self.defined = {**self.families, **self.followed, **moved, **results}
        self.named = {**self.known, **self.moving, **self.defined}

    # --- names -------------------------------------------------------------------------------------------------------

    def _parsed(self, left, right):
        found = super()._parsed(left, right)
        self.letters[WAY] = self.ways
        return found

    def _given(self, name, letters):
        still = name.removeprefix("d_")
        if still != name and still in self.active and still not in self.known:
            self._given(still, letters)  # a tangent that is met before what it is of
        new = name not in self.known
        if not new and self._along(self.known[name]):
            letters = *letters, WAY
        found = super()._given(name, letters)
        if new and name in self.active:
            self._moves(name)
        return found

    def _moves(self, name):
        """Give a name a tangent, zero unless it is set."""
        self.moving[f"d_{name}"] = self._named(name, self._moving(self.known[name]))

    def _named(self, name, tangent):
        """Make a register the tangent of a name."""
        self.tangents[self.known[name]] = self.known[f"d_{name}"] = tangent
        return tangent

    def _moving(self, register):
        """A register with an axis more, that of the directions."""
        return self._register((*self.registers[register], self.ways))

    def _along(self, register):
        return self.registers[register][-1:] == (self.ways,)

    # --- lines -------------------------------------------------------------------------------------------------------

    def _function(self, name, left, right):
        """A function of kappa, or an observable."""
        self._define(left, right)
        register, letters = self.functions[name]
        self.functions[f"d_{name}"] = self.tangents[register], (*letters, WAY)
        return {name: register, f"d_{name}": self.tangents[register]}

    def _consequence(self, name, left, right):
        """What follows from the unknowns moves as its equation says."""
        found = self._operand(right)
        target = self._follow(name, self._indices(left))
        super()._row(PLUS, target[1], target, found, self.one)
        into = self._moving(target[0]), (*target[1], WAY)
        super()._row(PLUS, into[1], into, self._tangent(found), self.one)
        self._named(name, into[0])
        return {}

    def _inverse(self, name, left, right):
        """A matrix and its inverse, whose tangent has a rule."""
        self._stated(name, left, right)
        letters = self._indices(left)
        target, matrix = self._follow(name, letters), (self.known[MATRIX + name], letters)
        super()._row(INVERSE, (*letters[2:], *letters[:2]), target, matrix, matrix)
        return {}

    def _ruled(self, name, left, right):
        """What follows from the unknowns and moves by a rule."""
        self.ruled = True
        found = self._operand(right)
        self.ruled = False
        target = self._follow(name, self._indices(left))
        super()._row(PLUS, target[1], target, found, self.one)
        return {}

    def _follow(self, name, letters):
        """Room for what a name stands for."""
        if name in self.known:
            raise ValueError(f"{name} is needed before it is known")
        self.known[name] = self.followed[name] = self._new(letters)[0]
        return self.known[name], letters

    def _residual(self, name, left, right):
        """Left side minus right side, and its tangent; the right side where the left one is zero."""
        found = self._operand(right)
        if isinstance(left, ast.Constant):
            return {f"residual_{name}": found[0], f"d_residual_{name}": self.tangents[found[0]]}
        target = self._leaf(left)
        into = self._new(target[1])
        moved = self._moving(into[0]), (*target[1], WAY)
        super()._row(PLUS, target[1], into, target, self.one)
        super()._row(MINUS, target[1], into, found, self.one)
        super()._row(PLUS, moved[1], moved, self._tangent(target), self.one)
        super()._row(MINUS, moved[1], moved, self._tangent(found), self.one)
        return {f"residual_{name}": into[0], f"d_residual_{name}": moved[0]}

    def _rule(self, name, left, right):
        """A tangent by its own rule."""
        self.ruled = True
        letters = (NODE,) if isinstance(left, ast.Name) else self._indices(left)
        self._free(right)
        found = self._new((*letters, WAY))
        self._add(right, found, PLUS)
        self.ruled = False
        self._given(name, letters)
        self._named(name, found[0])
        if isinstance(left, ast.Name):
            self.functions[f"d_{name}"] = found
        return {}

    def _stated(self, name, left, right):
        """What does not move, or whose tangent has a rule."""
        self.ruled = True
        self._define(left, right)
        self.ruled = False
        return {name: self.defined[left.value.id]}

    # --- contractions ------------------------------------------------------------------------------------------------

    def _tangent(self, operand):
        """The tangent of an operand, None where it stands still."""
        register = self.tangents.get(operand[0])
        return None if register is None else (register, (*operand[1], WAY))

    def _into(self, operand):
        if operand[0] not in self.tangents:
            self.tangents[operand[0]] = self._moving(operand[0])
        return self._tangent(operand)

    def _row(self, kind, letters, into, first, second):
        super()._row(kind, letters, into, first, second)
        moved = [None if self.ruled else self._tangent(operand) for operand in (first, second)]
        along = *letters, WAY
        if kind == RECIPROCAL:
            if moved[0]:
                square = self._register(self.registers[into[0]]), into[1]
                super()._row(PLUS, letters, square, into, into)
                super()._row(MINUS, along, self._into(into), square, moved[0])
            return
        if moved[0]:
            super()._row(kind, along, self._into(into), moved[0], second)
        if moved[1]:
            super()._row(kind, along, self._into(into), first, moved[1])


def _ordered(text):
    """(what to do with a line, name it is about, its sides), each after all lines that it needs."""
    equations, rules = lines_of(text.equations), lines_of(text.rules)
    first = len(equations) - len(text.unknowns)
    lines, own = [], {_name(left).removeprefix("d_") for left, *_ in rules}
    for number, (left, relation, right) in enumerate([*equations, *lines_of(text.observables)]):
        name = _name(left)
        if name.startswith(MATRIX):
            lines.append(("_inverse", name.removeprefix(MATRIX), (left, right)))
        elif relation == ":=":
            lines.append(("_function" if name == left else "_stated", name, (left, right)))
        elif number >= first:
            lines.append(("_residual", text.unknowns[number - first], (left, right)))
        elif left != "0":
            lines.append(("_ruled" if name in own else "_consequence", name, (left, right)))
    lines += [("_rule", _name(left).removeprefix("d_"), (left, right)) for left, _, right in rules]
    needs = [{name.removeprefix("d_") for name in re.findall(r"\b[A-Za-z_]\w*", right)} for *_, (_, right) in lines]
    waiting = [name for take, name, _ in lines if take != "_residual"]
    while lines:
        place = next(i for i, (_, name, _) in enumerate(lines) if not needs[i].intersection(waiting) - {name})
        take, name, sides = lines.pop(place)
        needs.pop(place)
        if take != "_residual":
            waiting.remove(name)
        yield take, name, sides


def _name(left):
    return left.partition("[")[0]


class TangentEquations:
    """The equations of a module for evaluation; ``at``: their tangents where a state solves them."""

    def __init__(self, text, columns, features=FEATURES):
        self.text, self.columns, self.features = text, columns, features

    @cached_property
    def contractions(self):
        """The contractions that evaluate the equations and their tangents."""
        return Tangents(self.text, self.columns, self.features)

    @cached_property
    def _still(self):
        """What tangents need of what stands still, where a state is known."""
        found, known = self.contractions, (*self.contractions.families, *self.contractions.followed)
        return Stage(found, moving_results(found), given=known, without=found.moving)

    def at(self, node, fraction, parameters, state, ways=None):
        """The tangents at a state, however what is given moves; ways: how many directions are followed at a time."""
        shapes = {name: np.shape(state[name]) for name in self.contractions.families}
        complexes = any(np.iscomplexobj(state[name]) for name in shapes)
        numbers = Numbers(self.contractions, node, fraction, parameters, shapes, ways, complex if complexes else float)
        for name in numbers:
            if name in state:
                numbers[name] = state[name]
        numbers.run(self._still)
        return Moving(numbers)


class Moving:
    """Tangents at the numbers of a state."""

    def __init__(self, numbers):
        self.numbers = numbers

    def along(self, moves, wanted=None):
        """Tangents of functions of kappa, residuals and observables by name; moves: by name, zero where left out.

        wanted: the names that are needed, all where left out. Of several directions the last axis tells.
        """
        numbers = self.numbers
        found = numbers.contractions
        for name in found.moving:
            numbers[name] = moves.get(name, 0.0)
        if wanted is None:
            wanted = moving_results(found)
        numbers.run(_moved(found, wanted))
        return {name: numbers[name].real.copy() for name in wanted}


@lru_cache(maxsize=256)
def _moved(contractions, wanted):
    """The stage of what moves that some tangents follow from."""
    return Stage(contractions, wanted, of=contractions.moving)


def moving_results(contractions):
    """Names of the tangents of functions of kappa, residuals and observables."""
    return tuple(name for name in contractions.results if name.startswith("d_"))

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
