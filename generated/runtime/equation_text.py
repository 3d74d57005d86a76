"""Equations as text to contractions of two arrays at a time.

One equation a line, in the order of evaluation: ``V := ...`` and ``d_T[b] := ...`` say what a name stands for, ``T[b] =
...`` is what an unknown equals, ``0 = ...`` what vanishes. ``sum(x, b)`` adds over an index, ``E(x)`` averages over the
nodes of kappa; a name without indices is a parameter or a function of kappa. ``matrix_G[e, j] := ...`` is the matrix
whose inverse G is. Behind ``#`` stands the label of the equation.

Written by hand, in codegen/runtime/equation_text.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import ast
import re
from itertools import combinations

PLUS, MINUS, RECIPROCAL, EQUAL, VANISH, INVERSE = range(6)
PARAMETERS = ("alpha", "beta", "ridge", "noise", "inverse_dimension")
FEATURES = ("mu0", "mu1", "mu2sq")
RATES = ("d_alpha", "d_beta", "d_ridge")  # of parameters, in tangents
NODE = "n"  # the axis of the nodes of kappa
_INDEX = re.compile(r"\b[a-z]\b(?!\[)")


def lines_of(text):
    """[left side, := or =, right side] of every equation; a line that is indented continues the one before."""
    found = []
    for line in text.splitlines():
        code = line.partition("#")[0].rstrip()
        if code.startswith(" "):
            found[-1] += " " + code.strip()
        elif code:
            found.append(code)
    return [re.split(" (:?=) ", line, maxsplit=1) for line in found]


def alike(text):
    """(the text with its indices numbered by first appearance, the indices in order): the same for what is the same."""
    letters = {}
    return _INDEX.sub(lambda found: letters.setdefault(found[0], f"{len(letters)}"), text), letters


class Contractions:
    """The contractions that evaluate equations, in order; what is the same but for the names of indices is one array.

    registers: for every array the numbers of its axes; rows: (kind, axes of the loops, registers of three operands, for
    each of these pairs (loop, place of an axis)); given: name -> letters of what has the first registers: parameters,
    fractions, columns at the nodes, features, the identity; families, constants: name or value -> register;
    defined: name -> register of what the text says it stands for; moving: of what is zero unless it is set; met: pairs
    of axes that have a letter in common, which are as long as each other.
    Within this class an operand is (register, letters of its axes).
    """

    loops = 4  # of a contraction at most
    ruled = False  # whether the text at hand is that of a rule, whose contractions have no tangents
    ways = None  # the axis of the directions that are followed at a time

    def __init__(self, text, columns, features=FEATURES):
        self.registers, self.rows, self.axes, self.met = [], [], 0, set()
        self.families, self.constants, self.defined, self.moving = {}, {}, {}, {}
        self.functions, self.shared, self.letters, self.features = {}, {}, {}, features
        shapes = {**dict.fromkeys(PARAMETERS, ()), "fraction": ("b",), **dict.fromkeys(columns, (NODE,))}
        self.given = {**shapes, **dict.fromkeys(features, ("b", NODE)), "delta": ("b", "c")}
        self.known = {name: self._array(letters) for name, letters in self.given.items()}
        self.one, self.minus = self._constant(1.0), self._constant(-1.0)
        self.weight = self._given("weight", (NODE,))
        self.node_axis = self.letters[NODE]
        self.text = ""  # of the right side at hand
        for left, relation, right in lines_of(text):
            (self._define if relation == ":=" else self._equation)(*self._parsed(left, right))

    def _parsed(self, left, right):
        """Both sides of the next line."""
        self.text, self.letters = right, {NODE: self.node_axis}
        return [ast.parse(side, mode="eval").body for side in (left, right)]

    def _define(self, left, right):
        if isinstance(left, ast.Name):
            self.functions[left.id] = found = self._operand(right)
            self.defined[left.id] = found[0]
            return
        self._free(right)
        found = self._new(self._indices(left))
        self._add(right, found, PLUS)
        self.known[left.value.id] = self.defined[left.value.id] = found[0]

    def _equation(self, left, right):
        if isinstance(left, ast.Constant):
            found = self._operand(right)
            self._row(VANISH, found[1], found, found, found)
        else:
            target = self._leaf(left)
            self._row(EQUAL, target[1], target, target, self._operand(right))

    # --- arrays ------------------------------------------------------------------------------------------------------

    def _constant(self, value):
        if value not in self.constants:
            self.constants[value] = self._register(())
        return self.constants[value], ()

    def _given(self, name, letters):
        """An array that is given; the first one with a letter tells how long that axis is."""
        if name not in self.known:
            self.known[name] = self.families[name] = self._array(letters)
        register = self.known[name]
        for letter, axis in zip(letters, self.registers[register], strict=True):
            self.met.add((self.letters.setdefault(letter, axis), axis))
        return register, letters

    def _array(self, letters):
        """A register with axes of its own."""
        first, self.axes = self.axes, self.axes + len(letters)
        return self._register(tuple(range(first, self.axes)))

    def _new(self, letters):
        return self._register(tuple(self.letters[letter] for letter in letters)), tuple(letters)

    def _register(self, axes):
        self.registers.append(axes)
        return len(self.registers) - 1

    def _leaf(self, node):
        if isinstance(node, ast.Constant):
            return self._constant(float(node.value))
        if isinstance(node, ast.Name):
            letters = () if node.id in (*PARAMETERS, *RATES) else (NODE,)
            return self.functions.get(node.id) or self._given(node.id, letters)
        letters, name = self._indices(node), node.value.id
        return self._given(name, (*letters, NODE) if name in self.features else letters)

    @staticmethod
    def _indices(node):
        return tuple(letter.id for letter in (node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]))

    # --- expressions -------------------------------------------------------------------------------------------------

    def _operand(self, node):
        """The array of an expression."""
        if isinstance(node, (ast.Constant, ast.Name, ast.Subscript)):
            return self._leaf(node)
        free, (text, named) = self._free(node), alike(self.text[node.col_offset : node.end_col_offset])
        letters = [*(letter for letter in named if letter in free), *sorted(free.difference(named))]
        for ruled in (False, self.ruled):  # what has no tangent serves where none is asked for
            if (text, ruled) in self.shared:
                return self.shared[text, ruled], tuple(letters)
        found = self._new(letters)
        self._add(node, found, PLUS)
        self.shared[text, self.ruled] = found[0]
        return found

    def _add(self, node, into, kind):
        """Add an expression to an array, or subtract it."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            self._add(node.left, into, kind)
            self._add(node.right, into, kind if isinstance(node.op, ast.Add) else MINUS - kind)
        elif isinstance(node, ast.UnaryOp):
            self._add(node.operand, into, MINUS - kind)
        elif isinstance(node, ast.Call):
            outside = dict(self.letters)
            self._multiply(*self._integrand(node), into, kind)
            self.letters = outside
        else:
            self._multiply(self._factors(node), set(), into, kind)

    def _integrand(self, node):
        """(factors below sums and averages, letters that are summed); what depends on kappa alone is one factor."""
        summed = set()
        while isinstance(node, ast.Call) and node.func.id == "sum":
            summed |= {node.args[1].id}
            node = node.args[0]
        if not isinstance(node, ast.Call):
            return self._factors(node), summed
        factors = self._factors(node.args[0])
        alone = [self.weight, *sorted(factor for factor in factors if factor[1] == (NODE,))]
        if str(alone) not in self.shared:
            self.shared[str(alone)] = self._new((NODE,))
            self._multiply(alone, set(), self.shared[str(alone)], PLUS)
        return [self.shared[str(alone)], *(factor for factor in factors if factor[1] != (NODE,))], {*summed, NODE}

    def _factors(self, node, below=False):
        """Arrays whose product an expression is; ``below``: its reciprocal."""
        if isinstance(node, ast.UnaryOp):
            return [self.minus, *self._factors(node.operand, below)]
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
            return self._factors(node.left, below) + self._factors(node.right, below != isinstance(node.op, ast.Div))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            return self._factors(node.left, below) * node.right.value
        found = self._operand(node)
        return [self._reciprocal(found) if below else found]

    def _reciprocal(self, operand):
        if ("1/", operand) not in self.shared:
            found = self.shared["1/", operand] = self._new(operand[1])
            self._row(RECIPROCAL, operand[1], found, operand, operand)
        return self.shared["1/", operand]

    def _free(self, node):
        """Letters that an expression depends on; how long their axes are is known then."""
        if isinstance(node, ast.Call):
            outside, bound = set(self.letters), node.args[1].id if node.func.id == "sum" else NODE
            free = self._free(node.args[0]) - {bound}
            if bound not in outside:
                del self.letters[bound]  # another sum may use it for another axis
            return free
        if isinstance(node, ast.BinOp):
            return self._free(node.left) | self._free(node.right)
        return self._free(node.operand) if isinstance(node, ast.UnaryOp) else set(self._leaf(node)[1])

    # --- products ----------------------------------------------------------------------------------------------------

    def _multiply(self, factors, summed, into, kind):
        """Add a product, summed over some letters, to an array: two factors at a time, those of few axes first."""
        sign = MINUS - kind if factors.count(self.minus) % 2 else kind
        left = [factor for factor in factors if factor != self.minus] or [self.one]
        while len(left) > 2:
            a, b = min(combinations(left, 2), key=_cost)
            left.remove(a)
            left.remove(b)
            kept = {*into[1]}.union(*(other[1] for other in left))
            left.append(self._pair(a, b, sorted({*a[1], *b[1]} & kept)))
        a, b = (*left, self.one)[:2]
        letters = {*a[1], *b[1]}
        if letters & summed and not set(into[1]) <= letters:
            a, b = self._pair(a, b, sorted(letters - summed)), self.one
        self._row(sign, (*into[1], *sorted({*a[1], *b[1]} & summed)), into, a, b)

    def _pair(self, a, b, letters):
        own = [letter for letter in (*a[1][-1:], *b[1][-1:]) if letter in letters]
        letters = list(
            dict.fromkeys([*(letter for letter in letters if letter not in own), *own])
        )  # loops along memory
        found = self._new(letters)
        self._row(PLUS, (*letters, *sorted({*a[1], *b[1]} - {*letters})), found, a, b)
        return found

    def _row(self, kind, letters, *operands):
        """The loop over the nodes comes last: it is the longest."""
        loops = sorted(dict.fromkeys(letters), key=lambda letter: letter == NODE)
        if len(loops) > self.loops:
            raise ValueError(f"a contraction over {loops}")
        axes = [self.letters[letter] for letter in loops]
        places = [[(loops.index(letter), axis) for axis, letter in enumerate(own)] for _, own in operands]
        self.rows.append((kind, axes, [register for register, _ in operands], places))


def _cost(pair):
    """Axes of a product, that of the nodes before all others."""
    letters = {*pair[0][1], *pair[1][1]}
    return (NODE in letters) * 10 + len(letters)

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
