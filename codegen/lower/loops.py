"""Sums over blocks as small loops, assignments in nests of loops over blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import sympy as sp

from codegen.lower.nests import Assignment, Nest
from codegen.lower.text import Text
from codegen.places import Places
from codegen.print.numba_loops import LoopPrinter
from codegen.print.printer import Printer
from derive.blocks import INDEX_NAMES, BlockSum, index, rename


@dataclass
class Loops:
    """Writes assignments into a ``Text``; ``labels`` are the equations that fix families, as comments."""

    text: Text
    places: Places
    labels: Mapping[str, str] = field(default_factory=dict)
    _counter: int = 0

    def scalar(self, expr: sp.Expr) -> str:
        """Text of an expression; sums over blocks are hoisted into accumulators written just before."""
        return self.scalars([expr])[0]

    def scalars(self, exprs: Sequence[sp.Expr]) -> list[str]:
        """Texts of expressions; their sums over blocks share loops written just before."""
        sums = dict.fromkeys(node for expr in exprs for node in outermost_sums(expr))
        named = {node: sp.Symbol(self._new_sum(), real=True) for node in sums}
        self._accumulate([(str(symbol), node) for node, symbol in named.items()])
        printer: Printer = LoopPrinter(self.places)
        return [printer.expression(expr.xreplace(named)) for expr in exprs]

    def nest(self, nest: Nest) -> None:
        """The assignments of a nest in their loops; then the inverse, where one of them is the matrix to invert."""
        with self.text.loops(nest.letters[:1]):
            self._assign(nest.first)
            if nest.inner:
                with self.text.loops(nest.letters[1:]):
                    self._assign(nest.inner)
            self._assign(nest.last)
        for assignment in nest.inner:
            if assignment.inverse:
                self.text.line(f"invert(matrix, {assignment.target}, K)")

    def label(self, name: str) -> str:
        """The comment behind a line that computes a family."""
        return f"  # {self.labels[name]}" if name in self.labels else ""

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
            inner = dict.fromkeys(node for _, body in plain for node in outermost_sums(body))
            named = {node: sp.Symbol(self._new_sum(), real=True) for node in inner}
            direct = [(name, body) for name, body in bodies if isinstance(body, BlockSum)]
            self._accumulate([*direct, *((str(symbol), node) for node, symbol in named.items())])
            printer = LoopPrinter(self.places)
            for name, body in plain:
                self.text.line(f"{name} += {printer.expression(body.xreplace(named))}")

    def _assign(self, assignments: Sequence[Assignment]) -> None:
        texts = self.scalars([assignment.body for assignment in assignments])
        for assignment, text in zip(assignments, texts, strict=True):
            place = self.places.member(assignment.target, [str(i) for i in assignment.indices])
            self.text.line(f"{place} = {text}{self.label(assignment.target)}")


def outermost_sums(expr: sp.Expr) -> list[BlockSum]:
    """The sums over blocks that stand in no other one."""
    if isinstance(expr, BlockSum):
        return [expr]
    return [found for arg in expr.args for found in outermost_sums(arg)]
