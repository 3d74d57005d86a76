"""Lowering of index expressions to loops: Gaussian averages over nodes of kappa, sums over blocks, assignments.

What remains of the averages of a stage are loops over the nodes and small loops over block indices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.printing.pycode import PythonCodePrinter

from codegen.layout import NODE, Layout
from codegen.nests import Assignment, Nest, nests
from codegen.stages import Average, Stage
from codegen.structure import Node
from derive.blocks import INDEX_NAMES, BlockSum, family_name, index, member_indices, rename, walk


class Text:
    """Lines of Python with indentation."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.open: list[sp.Symbol] = []  # indices of the loops around the next line
        self._depth = 0

    def line(self, text: str) -> None:
        self.lines.append("    " * self._depth + text)

    @contextmanager
    def indent(self, header: str) -> Iterator[None]:
        self.line(header)
        self._depth += 1
        yield
        self._depth -= 1

    @contextmanager
    def loops(self, indices: Sequence[sp.Symbol], opened: int = 0) -> Iterator[None]:
        """``for b in range(K): for c in range(K): ...``; the first ``opened`` of them continue the loops just above."""
        for number, symbol in enumerate(indices):
            if number >= opened:
                self.line(f"for {symbol} in range(K):")
            self._depth += 1
            self.open.append(symbol)
        yield
        self._depth -= len(indices)
        del self.open[len(self.open) - len(indices) :]


def _letter(position: sp.Expr) -> str:
    """A block index, or the number of a block, as text."""
    return str(position)


class _Printer(PythonCodePrinter):
    """SymPy to Python text; functions of kappa are read from locals or from tables at the current node."""

    def __init__(self, layout: Layout, local: Mapping[str, str]) -> None:
        super().__init__({"fully_qualified_modules": True})
        self.layout = layout
        self.local = local

    def _print_Indexed(self, expr: sp.Indexed) -> str:
        return self.layout.place(str(expr.base.label), [_letter(i) for i in expr.indices])

    def _print_KroneckerDelta(self, expr: sp.KroneckerDelta) -> str:
        first, second = expr.args
        return f"(1.0 if {_letter(first)} == {_letter(second)} else 0.0)"

    def _print_Function(self, expr: sp.Expr) -> str:
        if isinstance(expr, AppliedUndef):
            name, indices = family_name(expr), member_indices(expr)
            assert name is not None
            if name in self.local:
                return self.local[name]
            return self.layout.field(name, [_letter(i) for i in indices])
        return str(super()._print_Function(expr))

    def _print_Abs(self, expr: sp.Expr) -> str:
        return f"abs({self._print(expr.args[0])})"

    def _print_Rational(self, expr: sp.Rational) -> str:
        return f"({expr.p}.0/{expr.q}.0)"

    def _print_Integer(self, expr: sp.Integer) -> str:
        return f"{expr.p}.0"

    def _print_Pow(self, expr: sp.Pow, rational: bool = False, **_: object) -> str:
        # products: a power is slower to compile
        power, base = expr.exp, self._print(expr.base)
        if not power.is_Integer or abs(int(power)) > 4:
            return str(super()._print_Pow(expr, rational))
        base = base if expr.base.is_Atom or isinstance(expr.base, (sp.Indexed, AppliedUndef)) else f"({base})"
        product = "*".join([base] * abs(int(power)))
        return f"(1.0/{base})" if power == -1 else f"(1.0/({product}))" if power < 0 else f"({product})"


@dataclass
class Lowering:
    """Writes assignments and node loops into a ``Text``."""

    text: Text
    layout: Layout
    local: dict[str, str] = field(default_factory=dict)
    _counter: int = 0

    def scalar(self, expr: sp.Expr) -> str:
        """Text of an expression; sums over blocks are hoisted into accumulators written just before."""
        return self.scalars([expr])[0]

    def scalars(self, exprs: Sequence[sp.Expr]) -> list[str]:
        """Texts of expressions; their sums over blocks share loops written just before."""
        sums = dict.fromkeys(node for expr in exprs for node in self._outermost_sums(expr))
        named = {node: sp.Symbol(self._new_sum(), real=True) for node in sums}
        self._accumulate([(str(symbol), node) for node, symbol in named.items()])
        printer = _Printer(self.layout, self.local)
        return [str(printer.doprint(expr.xreplace(named))) for expr in exprs]

    def _outermost_sums(self, expr: sp.Expr) -> list[BlockSum]:
        if isinstance(expr, BlockSum):
            return [expr]
        return [found for arg in expr.args for found in self._outermost_sums(arg)]

    def _new_sum(self) -> str:
        self._counter += 1
        self.text.line(f"sum{self._counter} = 0.0")
        return f"sum{self._counter}"

    def _accumulate(self, sums: Sequence[tuple[str, BlockSum]]) -> None:
        """One loop that adds up all sums, a sum of sums right into the outer one; inner sums share loops in turn."""
        if not sums:
            return
        letters = [*(node.bound for _, node in sums), *(index(letter) for letter in INDEX_NAMES)]
        letter = next(symbol for symbol in letters if symbol not in self.text.open)
        with self.text.loops([letter]):
            bodies = [(name, rename(node.body, {node.bound: letter})) for name, node in sums]
            plain = [(name, body) for name, body in bodies if not isinstance(body, BlockSum)]
            inner = dict.fromkeys(node for _, body in plain for node in self._outermost_sums(body))
            named = {node: sp.Symbol(self._new_sum(), real=True) for node in inner}
            direct = [(name, body) for name, body in bodies if isinstance(body, BlockSum)]
            self._accumulate([*direct, *((str(symbol), node) for node, symbol in named.items())])
            printer = _Printer(self.layout, self.local)
            for name, body in plain:
                self.text.line(f"{name} += {printer.doprint(body.xreplace(named))}")

    def nest(self, nest: Nest) -> None:
        """The assignments of a nest in their loops; then the inverse, where one of them is the matrix to invert."""
        with self.text.loops(nest.letters[:1]):
            self._assign(nest.first)
            if nest.inner:
                with self.text.loops(nest.letters[1:]):
                    self._assign(nest.inner)
            self._assign(nest.last)
        for assignment in nest.inner:
            if assignment.inverse and assignment.indices:
                self.text.line(self.layout.inversion(assignment.target))

    def _assign(self, assignments: Sequence[Assignment]) -> None:
        texts = self.scalars([assignment.body for assignment in assignments])
        for assignment, text in zip(assignments, texts, strict=True):
            letters = [str(i) for i in assignment.indices] or ["0"]
            place = self.layout.place(assignment.target, letters)
            if assignment.inverse and not assignment.indices:
                text = f"1.0/({text})"
            elif assignment.inverse:
                place = self.layout.matrix(assignment.target, letters)
            self.text.line(f"{place} = {text}")

    def node_loop(self, fields: Sequence[Node], averages: Sequence[Average]) -> None:
        """One pass over the nodes of kappa: evaluate fields, accumulate averages."""
        self._clear(averages)
        factors = list(dict.fromkeys(average.factor for average in averages if average.factor != 1))
        for number, factor in enumerate(factors):
            self.text.line(f"factor{number} = {self.scalar(factor)}")
        with self.text.indent(f"for {NODE} in range(N):"):
            bodies = [_kappa_here(body) for body in (*(f.body for f in fields), *(a.integrand for a in averages))]
            read = {name for body in bodies for name in _scalar_fields(body)} - {f.name for f in fields}
            for name in sorted(read):
                self._here(name, self.layout.field(name, ["0"]))
            if any(_KAPPA_HERE in body.free_symbols for body in bodies):
                self._here("kappa", self.layout.field("kappa", []))
            if averages:
                self._here("weight", self.layout.field("weight", []))
            for item in fields:
                self._field(item)
            self._accumulations(averages, {factor: f"factor{number}*" for number, factor in enumerate(factors)})
        self.local.clear()

    def _here(self, name: str, text: str) -> None:
        """A function of kappa at this node as a local variable."""
        self.text.line(f"{name}_here = {text}")
        self.local[name] = f"{name}_here"

    def _clear(self, averages: Sequence[Average]) -> None:
        """Zero all accumulators, in one loop where they follow each other in the workspace."""
        stored = [average.name for average in averages if average.indices]
        for average in averages:
            if not average.indices:
                self.text.line(f"{self._average(average)} = 0.0")
        if stored and self.layout.adjacent(stored):
            with self.text.indent(f"for i in range(o_{stored[0]}, o_{stored[0]} + {self.layout.length(stored)}):"):
                self.text.line("work[i] = 0.0")
        elif stored:
            self._nest([(a.indices, f"{self._average(a)} = 0.0") for a in averages if a.indices])

    def _field(self, item: Node) -> None:
        self._here(item.name, self.scalar(_kappa_here(item.body)))
        if item.name in self.layout.ranks:
            self.text.line(f"{self.layout.field(item.name, [])} = {item.name}_here")

    def _localised(self, expr: sp.Expr) -> sp.Expr:
        """Functions of kappa that are local variables as symbols: nothing to share in them."""
        functions = {node for node in expr.atoms(AppliedUndef) if family_name(node) in self.local}
        return expr.xreplace({node: sp.Symbol(self.local[node.func.__name__], real=True) for node in functions})

    def _accumulations(self, averages: Sequence[Average], factors: Mapping[sp.Expr, str]) -> None:
        """``array[b, c] += scalar * mu1[node, b] * mu1[node, c]``, scalars shared by common subexpressions."""
        split = [_split(self._localised(_kappa_here(average.integrand))) for average in averages]
        common, scalars = sp.cse(
            [scalar for scalar, _ in split], symbols=sp.numbered_symbols("x", real=True), order="canonical"
        )
        for symbol, value in common:
            self.text.line(f"{symbol} = {self.scalar(value)}")
        weights: dict[str, str] = {}
        lines: list[tuple[tuple[sp.Symbol, ...], str]] = []
        for average, scalar, (_, indexed) in zip(averages, scalars, split, strict=True):
            weight = factors.get(average.factor, "") + "weight_here"
            weight += "" if scalar == 1 else f"*{self._factor(scalar)}"
            if weight not in weights:
                weights[weight] = f"w{len(weights)}"
                self.text.line(f"{weights[weight]} = {weight}")
            factor = "" if indexed == 1 else f"*{self._factor(indexed)}"
            lines.append((average.indices, f"{self._average(average)} += {weights[weight]}{factor}"))
        self._nest(lines)

    def _factor(self, expr: sp.Expr) -> str:
        text = self.scalar(expr)
        return f"({text})" if isinstance(expr, sp.Add) else text

    def _nest(self, lines: Sequence[tuple[tuple[sp.Symbol, ...], str]]) -> None:
        """Statements over b0, b0 b1, ... in one nest of loops: few loops keep compilation short."""
        deepest = max((indices for indices, _ in lines), key=len, default=())
        for depth in range(len(deepest) + 1):
            with self.text.loops(deepest[:depth], opened=depth - 1):
                for indices, line in lines:
                    if len(indices) == depth:
                        self.text.line(line)

    def _average(self, average: Average) -> str:
        return self.layout.place(average.name, [str(i) for i in average.indices] or ["0"])


_KAPPA_HERE = sp.Symbol("kappa_here", real=True)


def _kappa_here(expr: sp.Expr) -> sp.Expr:
    """Bare occurrences of kappa (not as an argument of a function) read the current node."""
    if isinstance(expr, AppliedUndef):
        return expr
    if isinstance(expr, sp.Symbol):
        return _KAPPA_HERE if expr.name == "kappa" else expr
    if not expr.args or isinstance(expr, sp.Indexed):
        return expr
    return expr.func(*(_kappa_here(arg) for arg in expr.args))


def _scalar_fields(expr: sp.Expr) -> set[str]:
    """Functions of kappa that carry no block index, or that of the only block."""
    return {
        str(node.func.__name__)
        for node in walk(expr)
        if isinstance(node, AppliedUndef) and not any(member_indices(node))
    }


def _split(integrand: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Factor without and factor with free block indices."""
    plain: list[sp.Expr] = []
    indexed: list[sp.Expr] = []
    for factor in sp.Mul.make_args(integrand):
        (indexed if any(s.is_integer for s in factor.free_symbols) else plain).append(factor)
    return sp.Mul(*plain), sp.Mul(*indexed)


def write_stages(text: Text, layout: Layout, stages: Sequence[Stage]) -> None:
    """All stages in order."""
    inverses = any(a.inverse and a.indices for stage in stages for a in stage.assignments)
    if inverses and not layout.compact:
        text.line("matrix = np.empty((K, K))")
    lowering = Lowering(text, layout)
    for stage in stages:
        if stage.fields or stage.averages:
            lowering.node_loop(stage.fields, stage.averages)
        for nest in nests(stage.assignments):
            lowering.nest(nest)
