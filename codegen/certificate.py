"""``check``: every equation of a system anew from its solution, from its text: nothing is shared with the solver.

The grammar of the text and its evaluation stand in ``codegen/runtime/equation_text.py`` and ``certificate.py``.
"""

from __future__ import annotations

import sympy as sp

from codegen.places import block_columns, scalar_columns
from codegen.plan import Plan, ordered_fields
from codegen.print.equations import EquationPrinter
from derive.blocks import BlockSum, MatrixInverse, family, index
from derive.saddle import SaddleSystem

_E = index("e")  # a row of what is inverted


def emit_check(plan: Plan, kind: str = "Certificate") -> str:
    """The equations of a system as text, ``CERTIFICATE`` and its ``check(node, fraction, parameters, state)``.

    ``state`` maps names to arrays; kind: of the certificate, "ArrayCertificate" where the text is solved too.
    """
    system, printer = plan.system, EquationPrinter()
    text, labels = printer.expression, {e.unknown: e.label for e in system.equations}
    lines = printer.assignments([(node.name, node.body) for node in ordered_fields(system)])
    inverses = {inverse.name: inverse for inverse in system.inverses}
    for name, left, right in _conditions(plan):
        if name in inverses:
            lines += printer.assignments([(text(_matrix(inverses[name])), _entry(inverses[name]))])
        lines.append(f"{text(left)} = {text(right)}  # {labels.get(name, name)}")
    columns = scalar_columns(system.directions, system.spikes, system.drawn)
    odd = tuple(name for name in sorted(system.partials) if name.endswith("g") and not name.endswith("gg"))
    arguments = "EQUATIONS, COLUMNS" + (f", odd={odd!r}" if odd else "") + of_features(system)
    check = [f"COLUMNS = {columns!r}", f"CERTIFICATE = {kind}({arguments})", "check = CERTIFICATE.check"]
    return "\n".join(['EQUATIONS = """', *lines, '"""', *check])


def of_features(system: SaddleSystem) -> str:
    """The argument that says what is given for each block, where it is more than usual."""
    return f", features={block_columns(True)!r}" if system.law.norms else ""


def _conditions(plan: Plan) -> list[tuple[str, sp.Expr, sp.Expr]]:
    """(unknown, left side, right side) in the order of the plan; an implicit equation has 0 on its left."""
    system, found = plan.system, {}
    for inverse in system.inverses:
        product = BlockSum(family(inverse.name)[(inverse.row, _E, *inverse.over)] * _matrix(inverse), _E)
        found[inverse.name] = sp.S.Zero, product - inverse.one
    for q in system.equations:
        left = family(q.unknown)[q.indices] if q.kind == "explicit" else sp.S.Zero
        found[q.unknown] = left, q.body
    order = [node.name for block in plan.blocks for node in (*block.chain, *block.torn)]
    return [(name, *found[name]) for name in order if name in found]


def _matrix(inverse: MatrixInverse) -> sp.Expr:
    """The name of what is inverted, by which the text knows it."""
    return family(f"matrix_{inverse.name}")[(_E, inverse.column, *inverse.over)]


def _entry(inverse: MatrixInverse) -> sp.Expr:
    return inverse.at(_E, inverse.column, *inverse.over)
