"""Equations as text that the runtime reads: for the certificate of a solution, and for tangents.

The grammar stands in ``codegen/runtime/equation_text.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from codegen.print.printer import Unprintable
from derive.blocks import BlockSum, family_name, member_indices
from derive.gaussian.expectation import Expectation


class EquationPrinter(StrPrinter):
    """Text of an index expression: ``sum(x, b)`` over a block index, ``E(x)`` over kappa, members in brackets."""

    printmethod = "_no_class_prints_itself"

    def _print_Indexed(self, expr: sp.Indexed) -> str:
        return self.member(str(family_name(expr)), expr.indices)

    def _print_Function(self, expr: sp.Expr) -> str:
        if not isinstance(expr, AppliedUndef):
            raise Unprintable(f"no text for {expr.func.__name__}: {expr}")
        return self.member(str(family_name(expr)), member_indices(expr))

    def _print_KroneckerDelta(self, expr: sp.KroneckerDelta) -> str:
        return self.member("delta", expr.args)

    def expression(self, expr: Any) -> str:
        """See ``Printer``."""
        return str(self.doprint(expr))

    def block_sum(self, node: BlockSum) -> str:
        """See ``Printer``."""
        return f"sum({self._print(node.body)}, {node.bound})"

    def average(self, node: Expectation) -> str:
        """See ``Printer``."""
        return f"E({self._print(node.integrand)})"

    _print_BlockSum, _print_Expectation = block_sum, average

    def assignments(self, targets: Sequence[tuple[str, Any]]) -> list[str]:
        """See ``Printer``."""
        return [f"{target} := {self.expression(expr)}" for target, expr in targets]

    def member(self, name: str, indices: Sequence[sp.Expr]) -> str:
        """See ``Printer``."""
        kappa = [str(i) for i in indices if not str(i).startswith("kappa")]
        return f"{name}[{', '.join(kappa)}]" if kappa else name

    def parenthesize(self, item: sp.Expr, level: int, strict: bool = False) -> str:
        """A sum over blocks is a call here: it needs no brackets."""
        level = PRECEDENCE["Lambda"] if isinstance(item, BlockSum) else level
        return str(super().parenthesize(item, level, strict))
