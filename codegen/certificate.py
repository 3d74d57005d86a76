"""``check``: every equation of a system anew from its solution, from its text: nothing is shared with the solver.

The grammar of the text and its evaluation stand in ``codegen/runtime/equation_text.py`` and ``certificate.py``.
"""

from __future__ import annotations

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from codegen.places import scalar_columns
from codegen.plan import Plan, ordered_fields
from derive.blocks import BlockSum, family, family_name, index, member_indices
from derive.gaussian.expectation import Expectation


class EquationPrinter(StrPrinter):
    """Text of an index expression: ``sum(x, b)`` over a block index, ``E(x)`` over kappa, members in brackets."""

    printmethod = "_no_class_prints_itself"

    def _print_Indexed(self, expr: sp.Indexed) -> str:
        return self._member(str(family_name(expr)), expr.indices)

    def _print_Function(self, expr: sp.Expr) -> str:
        if not isinstance(expr, AppliedUndef):
            raise ValueError(f"no text for {expr.func.__name__}: {expr}")
        return self._member(str(family_name(expr)), member_indices(expr))

    def _print_KroneckerDelta(self, expr: sp.KroneckerDelta) -> str:
        return self._member("delta", expr.args)

    def _print_BlockSum(self, expr: BlockSum) -> str:
        return f"sum({self._print(expr.body)}, {expr.bound})"

    def _print_Expectation(self, expr: Expectation) -> str:
        return f"E({self._print(expr.integrand)})"

    def _member(self, name: str, indices: tuple[sp.Expr, ...]) -> str:
        kappa = [str(i) for i in indices if not str(i).startswith("kappa")]
        return f"{name}[{', '.join(kappa)}]" if kappa else name

    def parenthesize(self, item: sp.Expr, level: int, strict: bool = False) -> str:
        """A sum over blocks is a call here: it needs no brackets."""
        level = PRECEDENCE["Lambda"] if isinstance(item, BlockSum) else level
        return str(super().parenthesize(item, level, strict))


def emit_check(plan: Plan) -> str:
    """The equations of a system as text, and the function ``check(node, fraction, parameters, state)``.

    ``state`` maps names to arrays.
    """
    system, text = plan.system, EquationPrinter().doprint
    labels = {e.unknown: e.label for e in system.equations}
    lines = [f"{node.name} := {text(node.body)}" for node in ordered_fields(system)]
    for name, left, right in _conditions(plan):
        lines.append(f"{text(left)} = {text(right)}  # {labels.get(name, name)}")
    columns = scalar_columns(system.directions, system.spikes)
    odd = tuple(name for name in sorted(system.partials) if name.endswith("g") and not name.endswith("gg"))
    arguments = "EQUATIONS, COLUMNS" + (f", odd={odd!r}" if odd else "")
    check = [f"COLUMNS = {columns!r}", f"check = Certificate({arguments}).check"]
    return "\n".join(['EQUATIONS = """', *lines, '"""', *check])


def _conditions(plan: Plan) -> list[tuple[str, sp.Expr, sp.Expr]]:
    """(unknown, left side, right side) in the order of the plan; an implicit equation has 0 on its left."""
    system, inverse, e = plan.system, plan.system.inverse, index("e")
    row, column = inverse.row, inverse.column
    product = BlockSum(family(inverse.name)[(row, e, *inverse.over)] * inverse.at(e, column, *inverse.over), e)
    found = {inverse.name: (sp.S.Zero, product - sp.KroneckerDelta(row, column))}
    for q in system.equations:
        left = family(q.unknown)[q.indices] if q.kind == "explicit" else sp.S.Zero
        found[q.unknown] = left, q.body
    order = [node.name for block in plan.blocks for node in (*block.chain, *block.torn)]
    return [(name, *found[name]) for name in order if name in found]
