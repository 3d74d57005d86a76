"""How equations move, from their text: every contraction is followed by its tangent, by the product rule.

The equations are those of a certificate; the last ones are solved for the unknowns. What follows from these by the
others moves as the right sides do, unless there is a rule for it: averages over the output, whose derivatives are other
averages, and matrices whose derivative would cancel, taken term by term.

Written by hand, in codegen/runtime/tangents.py.
Generated; do not edit. Signature 596631d5f0481ef9, runtime 4cd7f89b53adbfd1.
Regenerate with: giantstep generate
"""

# fmt: off

import ast
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from generated.runtime.certificate import evaluate, filled
from generated.runtime.contraction_layout import Layout
from generated.runtime.equation_text import FEATURES, MINUS, NODE, PLUS, RECIPROCAL, Contractions, lines_of


@dataclass(frozen=True)
class Text:
    """Equations and what moves in them: unknowns, those of the last equations in order, and others that are given.

    rules: ``d_P[b, c] := ...``, tangents of what has one of its own; observables: ``test_error := ...``.
    """

    equations: str
    unknowns: tuple[str, ...]
    others: tuple[str, ...]
    rules: str
    observables: str


class Tangents(Contractions):
    """Contractions of equations and of their tangents. ``d_V`` is that of V, ``d_residual_T`` what vanishes for T."""

    def __init__(self, text, columns, features=FEATURES):
        self.tangents, self.ruled = {}, False  # register -> that of its tangent
        self.active = {*text.unknowns, *text.others}
        super().__init__("", columns, features)
        for name in ("alpha", "beta", "ridge", *features):
            self._moves(name)
        results = {}
        for take, name, sides in _ordered(text):
            results |= getattr(self, take)(name, *self._parsed(*sides))
        self.defined = results

    # --- names -------------------------------------------------------------------------------------------------------

    def _given(self, name, letters):
        still = name.removeprefix("d_")
        if still != name and still in self.active and still not in self.known:
            self._given(still, letters)  # a tangent that is met before what it is of
        new = name not in self.known
        found = super()._given(name, letters)
        if new and name in self.active:
            self._moves(name)
        return found

    def _moves(self, name):
        """Give a name a tangent, zero unless it is set."""
        register = self.known[name]
        self.moving[f"d_{name}"] = self._named(name, self._register(self.registers[register]))

    def _named(self, name, tangent):
        """Make a register the tangent of a name."""
        self.tangents[self.known[name]] = self.known[f"d_{name}"] = tangent
        return tangent

    # --- lines -------------------------------------------------------------------------------------------------------

    def _function(self, name, left, right):
        """A function of kappa, or an observable."""
        self._define(left, right)
        register, letters = self.functions[name]
        self.functions[f"d_{name}"] = self.tangents[register], letters
        return {f"d_{name}": self.tangents[register]}

    def _consequence(self, name, left, right):
        """What follows from the unknowns moves as its equation says."""
        target, found = self._leaf(left), self._operand(right)
        into = self._register(self.registers[target[0]]), target[1]
        super()._row(PLUS, target[1], into, self._tangent(found), self.one)
        self._named(name, into[0])
        return {}

    def _residual(self, name, left, right):
        """The tangent of left side minus right side; of the right side where the left one is zero."""
        found = self._operand(right)
        if isinstance(left, ast.Constant):
            return {f"d_residual_{name}": self.tangents[found[0]]}
        target = self._leaf(left)
        into = self._register(self.registers[target[0]]), target[1]
        super()._row(PLUS, target[1], into, self._tangent(target), self.one)
        super()._row(MINUS, target[1], into, self._tangent(found), self.one)
        return {f"d_residual_{name}": into[0]}

    def _rule(self, name, left, right):
        """A tangent by its own rule."""
        self.ruled = True
        self._define(left, right)
        self.ruled = False
        self._given(name, (NODE,) if isinstance(left, ast.Name) else self._indices(left))
        self._named(name, self.defined[f"d_{name}"])
        return {}

    # --- contractions ------------------------------------------------------------------------------------------------

    def _tangent(self, operand):
        """The tangent of an operand, None where it stands still."""
        register = self.tangents.get(operand[0])
        return None if register is None else (register, operand[1])

    def _into(self, operand):
        if operand[0] not in self.tangents:
            self.tangents[operand[0]] = self._register(self.registers[operand[0]])
        return self._tangent(operand)

    def _row(self, kind, letters, into, first, second):
        super()._row(kind, letters, into, first, second)
        moved = [None if self.ruled else self._tangent(operand) for operand in (first, second)]
        if kind == RECIPROCAL:
            if moved[0]:
                square = self._register(self.registers[into[0]]), into[1]
                super()._row(PLUS, letters, square, into, into)
                super()._row(MINUS, letters, self._into(into), square, moved[0])
            return
        if moved[0]:
            super()._row(kind, letters, self._into(into), moved[0], second)
        if moved[1]:
            super()._row(kind, letters, self._into(into), first, moved[1])


def _ordered(text):
    """(what to do with a line, name it is about, its sides), each after all lines that it needs."""
    equations, rules = lines_of(text.equations), lines_of(text.rules)
    first = len(equations) - len(text.unknowns)
    lines = [("_rule", _name(left).removeprefix("d_"), (left, right)) for left, _, right in rules]
    own = {name for _, name, _ in lines}
    for number, (left, relation, right) in enumerate([*equations, *lines_of(text.observables)]):
        if relation == ":=":
            lines.append(("_function", left, (left, right)))
        elif number >= first:
            lines.append(("_residual", text.unknowns[number - first], (left, right)))
        elif left != "0" and _name(left) not in own:
            lines.append(("_consequence", _name(left), (left, right)))
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
    """``at``: the tangents of a module's equations where a state solves them."""

    def __init__(self, text, columns, features=FEATURES):
        self.text, self.columns, self.features = text, columns, features

    @cached_property
    def contractions(self):
        """The contractions that evaluate the tangents."""
        return Tangents(self.text, self.columns, self.features)

    def at(self, node, fraction, parameters, state):
        """The tangents at a state, however what is given moves."""
        layout, value = filled(self.contractions, node, fraction, parameters, state)
        evaluate(layout.rows[_still(self.contractions)], value, np.zeros(len(value)))
        return Moving(self.contractions, layout, value)


@dataclass(frozen=True)
class Moving:
    """Numbers of a state in their places, and of all that does not move."""

    contractions: Tangents
    layout: Layout
    value: np.ndarray

    def along(self, moves, wanted=None):
        """Tangents of functions of kappa, residuals and observables by name; moves: by name, zero where left out.

        wanted: the names that are needed, all where left out.
        """
        value = self.value.copy()
        for name, place in self.layout.moving.items():
            if name in moves:
                value[place] = np.ravel(moves[name])
        wanted = tuple(self.layout.defined) if wanted is None else wanted
        evaluate(self.layout.rows[_needed(self.contractions, wanted)], value, np.zeros(len(value)))
        found = {name: self.layout.defined[name] for name in wanted}
        return {name: value[place].real.reshape(shape) for name, (place, shape) in found.items()}


@lru_cache(maxsize=64)
def _moved(contractions):
    """Whether each contraction is of something that moves."""
    moving = set(contractions.moving.values())
    found = []
    for _, _, (into, first, second), _ in contractions.rows:
        found.append(into in moving or first in moving or second in moving)
        if found[-1]:
            moving.add(into)
    return np.array(found)


@lru_cache(maxsize=64)
def _still(contractions):
    """Numbers of the contractions of what stays."""
    return np.flatnonzero(~_moved(contractions))


@lru_cache(maxsize=256)
def _needed(contractions, wanted):
    """Numbers of the contractions of what moves that some results follow from."""
    needed, found = {contractions.defined[name] for name in wanted}, []
    for number in reversed(np.flatnonzero(_moved(contractions))):
        into, *others = contractions.rows[number][2]
        if into in needed:
            needed.update(others)
            found.append(number)
    return np.array(found[::-1], dtype=int)

SIGNATURE = "596631d5f0481ef9dac911a572362cf84dc262533cf9dd0cf867b7663e33b25a"
