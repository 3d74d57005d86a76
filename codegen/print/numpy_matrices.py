"""NumPy text of matrix expressions: products, inverses, transposes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from codegen.print.printer import Unprintable
from derive.blocks import BlockSum
from derive.gaussian.expectation import Expectation


class MatrixPrinter:
    """NumPy text of matrix expressions and of numbers; ``like`` is the matrix whose size an identity has."""

    def __init__(self, like: str) -> None:
        self.like = like

    def expression(self, expr: Any) -> str:
        """See ``Printer``."""
        if isinstance(expr, sp.MatrixSymbol | sp.Symbol):
            return str(expr.name)
        if isinstance(expr, sp.Number):
            return repr(float(expr))
        if isinstance(expr, sp.Identity):
            return f"np.eye(len({self.like}))"
        if isinstance(expr, sp.Transpose):
            return f"{self._factor(expr.arg)}.T"
        if isinstance(expr, sp.Inverse):
            return f"np.linalg.inv({self.expression(expr.arg)})"
        if isinstance(expr, sp.MatMul):
            number, matrices = expr.as_coeff_matrices()
            parts = ([] if number == 1 else [self._factor(number)]) + [" @ ".join(map(self._factor, matrices))]
            return "*".join(f"({part})" if " @ " in part and len(parts) > 1 else part for part in parts)
        if isinstance(expr, sp.MatAdd | sp.Add):
            added = [self.expression(e) for e in expr.args if not _minus(e)]
            taken = [self.expression(-e) for e in expr.args if _minus(e)]
            return " + ".join(added) + "".join(f" - {term}" for term in taken)
        if isinstance(expr, sp.Mul):
            return "*".join(map(self._factor, expr.args))
        raise Unprintable(f"no form on matrices for {expr.func.__name__}: {expr}")

    def member(self, name: str, indices: Sequence[sp.Expr]) -> str:
        """See ``Printer``: there are none."""
        raise Unprintable(f"no form on matrices for {name}{list(indices)}")

    def block_sum(self, node: BlockSum) -> str:
        """See ``Printer``: there are none."""
        raise Unprintable(f"no form on matrices for {node}")

    def average(self, node: Expectation) -> str:
        """See ``Printer``: there are none."""
        raise Unprintable(f"no form on matrices for {node}")

    def assignments(self, targets: Sequence[tuple[str, Any]]) -> list[str]:
        """See ``Printer``."""
        return [f"{target} = {self.expression(expr)}" for target, expr in targets]

    def _factor(self, expr: Any) -> str:
        text = self.expression(expr)
        return f"({text})" if isinstance(expr, sp.MatAdd | sp.Add | sp.MatMul) else text


def _minus(expr: Any) -> bool:
    factor = expr.as_coeff_Mul()[0] if not isinstance(expr, sp.MatrixExpr) else expr.as_coeff_mmul()[0]
    return bool(factor.is_negative)
