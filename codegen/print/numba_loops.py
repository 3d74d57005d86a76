"""Text of index expressions inside loops over blocks and nodes, for numba."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.printing.pycode import PythonCodePrinter

from codegen.places import Places
from codegen.print.printer import Unprintable
from derive.blocks import BlockSum, family_name, member_indices
from derive.gaussian.expectation import Expectation

_LARGEST_PRODUCT = 4


class LoopPrinter(PythonCodePrinter):
    """SymPy to Python text; functions of kappa are read at the current node, or from the given local variables."""

    def __init__(self, places: Places, local: Mapping[str, str] | None = None) -> None:
        super().__init__({"fully_qualified_modules": True})
        self.places = places
        self.local = local or {}

    def _print_Indexed(self, expr: sp.Indexed) -> str:
        return self.member(str(expr.base.label), expr.indices)

    def expression(self, expr: Any) -> str:
        """See ``Printer``."""
        return str(self.doprint(expr))

    def member(self, name: str, indices: Sequence[sp.Expr]) -> str:
        """See ``Printer``."""
        return self.places.member(name, [str(i) for i in indices])

    def block_sum(self, node: BlockSum) -> str:
        """Sums are loops before the statement (``codegen.lower.loops``), which leave a variable."""
        raise Unprintable(f"{node} stands inside an expression")

    def average(self, node: Expectation) -> str:
        """Averages are passes over the nodes (``codegen.lower.nodes``), which leave a family."""
        raise Unprintable(f"{node} stands inside an expression")

    _print_BlockSum, _print_Expectation = block_sum, average

    def assignments(self, targets: Sequence[tuple[str, Any]]) -> list[str]:
        """See ``Printer``."""
        return [f"{target} = {self.expression(expr)}" for target, expr in targets]

    def _print_KroneckerDelta(self, expr: sp.KroneckerDelta) -> str:
        first, second = expr.args
        return f"(1.0 if {first} == {second} else 0.0)"

    def _print_Function(self, expr: sp.Expr) -> str:
        if not isinstance(expr, AppliedUndef):
            return str(super()._print_Function(expr))
        name = str(family_name(expr))
        if member_indices(expr):
            raise Unprintable(f"{expr} stands outside a sum over blocks")
        return self.local.get(name) or self.places.at_node(name)

    def _print_Abs(self, expr: sp.Expr) -> str:
        return f"abs({self._print(expr.args[0])})"

    def _print_Rational(self, expr: sp.Rational) -> str:
        return f"({expr.p}.0/{expr.q}.0)"

    def _print_Half(self, expr: sp.Expr) -> str:
        return "0.5"

    def _print_Integer(self, expr: sp.Integer) -> str:
        return f"{expr.p}.0"

    def _print_Mul(self, expr: sp.Mul) -> str:
        coefficient, rest = expr.as_coeff_Mul()
        if coefficient.is_negative:
            text = self._print(-expr)
            return f"-({text})" if (-expr).is_Add else f"-{text}"
        factors = [*([coefficient] if coefficient != 1 else []), *sp.Mul.make_args(rest)]
        below = [f for f in factors if isinstance(f, sp.Pow) and f.exp.is_negative]
        above = "*".join(self._factor(f) for f in factors if f not in below) or "1.0"
        return above + "".join(f"/{self._factor(1 / f)}" for f in below)

    def _factor(self, expr: sp.Expr) -> str:
        text = self._print(expr)
        return f"({text})" if expr.is_Add or expr.is_Mul or text.startswith("-") else text

    def _print_Pow(self, expr: sp.Pow, rational: bool = False, **_: object) -> str:
        """Small powers as products: a power is slower to compile."""
        power = expr.exp
        if not power.is_Integer or abs(int(power)) > _LARGEST_PRODUCT:
            return str(super()._print_Pow(expr, rational))
        base = self._print(expr.base)
        base = base if expr.base.is_Symbol or isinstance(expr.base, sp.Indexed | AppliedUndef) else f"({base})"
        product = "*".join([base] * abs(int(power)))
        product = product if abs(int(power)) == 1 else f"({product})"
        return product if power > 0 else f"(1.0/{product})"
