"""``check``: every equation of a system anew from its solution, from its text: nothing is shared with the solver.

The grammar of the text and its evaluation stand in ``codegen/runtime/equation_text.py`` and ``certificate.py``.
"""

from __future__ import annotations

import sympy as sp

from codegen.places import block_columns, scalar_columns
from codegen.plan import Plan, ordered_fields
from codegen.print.equations import EquationPrinter
from derive.blocks import BlockSum, family, index
from derive.saddle import SaddleSystem


def emit_check(plan: Plan) -> str:
    """The equations of a system as text, ``CERTIFICATE`` and its ``check(node, fraction, parameters, state)``.

    ``state`` maps names to arrays.
    """
    system, printer = plan.system, EquationPrinter()
    text, labels = printer.expression, {e.unknown: e.label for e in system.equations}
    lines = printer.assignments([(node.name, node.body) for node in ordered_fields(system)])
    for name, left, right in _conditions(plan):
        lines.append(f"{text(left)} = {text(right)}  # {labels.get(name, name)}")
    columns = scalar_columns(system.directions, system.spikes)
    odd = tuple(name for name in sorted(system.partials) if name.endswith("g") and not name.endswith("gg"))
    arguments = "EQUATIONS, COLUMNS" + (f", odd={odd!r}" if odd else "") + of_features(system)
    check = [f"COLUMNS = {columns!r}", f"CERTIFICATE = Certificate({arguments})", "check = CERTIFICATE.check"]
    return "\n".join(['EQUATIONS = """', *lines, '"""', *check])


def of_features(system: SaddleSystem) -> str:
    """The argument that says what is given for each block, where it is more than usual."""
    return f", features={block_columns(True)!r}" if system.law.norms else ""


def _conditions(plan: Plan) -> list[tuple[str, sp.Expr, sp.Expr]]:
    """(unknown, left side, right side) in the order of the plan; an implicit equation has 0 on its left."""
    system, e = plan.system, index("e")
    found = {}
    for inverse in system.inverses:
        entry = inverse.at(e, inverse.column, *inverse.over)
        product = BlockSum(family(inverse.name)[(inverse.row, e, *inverse.over)] * entry, e)
        found[inverse.name] = sp.S.Zero, product - inverse.one
    for q in system.equations:
        left = family(q.unknown)[q.indices] if q.kind == "explicit" else sp.S.Zero
        found[q.unknown] = left, q.body
    order = [node.name for block in plan.blocks for node in (*block.chain, *block.torn)]
    return [(name, *found[name]) for name in order if name in found]
