"""How a solution moves with the parameters of its model: what the runtime needs beside the equations themselves.

Tangents of the equations are taken by the product rule, line by line (``codegen/runtime/tangents.py``). Text stands
here for those that have a rule of their own: averages over the output, a matrix inverse, parallel sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sympy as sp

from codegen.certificate import of_features
from codegen.plan import Block, chain_calculus
from codegen.print.equations import EquationPrinter
from codegen.program import OBSERVABLES
from derive.blocks import KAPPA, block_field, family, names_in
from derive.saddle import SaddleSystem, member
from derive.sensitivity import RATES, ParameterTangent
from derive.tangent import tangent_name


def emit_tangents(
    system: SaddleSystem, block: Block, moving: tuple[str, ...] = (), more: Sequence[tuple[sp.Expr, sp.Expr]] = ()
) -> str:
    """``tangents`` of the equations: their rules and the observables as text; moving: what else moves with a parameter.

    more: (member of a family, body) that are asked for beside the observables. The text comes after that of ``check``.
    """
    printer = EquationPrinter()
    rules = printer.assignments([(printer.expression(left), body) for left, body in _rules(system, block, moving)])
    observables = printer.assignments([(name, getattr(system, name)) for name in OBSERVABLES])
    unknowns = tuple(node.name for node in block.torn)
    return "\n".join(
        [
            'RULES = """',
            *rules,
            '"""',
            'OBSERVABLES = """',
            *observables,
            *printer.assignments([(printer.expression(left), body) for left, body in more]),
            '"""',
            f"tangents = TangentEquations(Text(EQUATIONS, {unknowns!r}, {moving!r}, RULES, OBSERVABLES), COLUMNS"
            f"{of_features(system)})",
        ]
    )


def _rules(system: SaddleSystem, block: Block, moving: tuple[str, ...]) -> Iterator[tuple[sp.Expr, sp.Expr]]:
    """(tangent, what it is) of everything that has a rule of its own."""
    calculus = _calculus(system, block, moving)
    bodies = [*(equation.body for equation in system.equations), *(getattr(system, name) for name in OBSERVABLES)]
    needed = set().union(*map(names_in, bodies))
    for name in sorted(needed & set(system.partials)):
        yield sp.Symbol(tangent_name(name), real=True), calculus.through(block_field(name)(KAPPA))
    for node in block.chain:
        if node.kind == "inverse" or node.name in calculus.parallel:
            yield family(tangent_name(node.name))[node.indices], calculus.through(member(node.name, node.indices))


def _calculus(system: SaddleSystem, block: Block, moving: tuple[str, ...]) -> ParameterTangent:
    rules = chain_calculus(system, block.chain)
    inside = frozenset(n.name for n in block.chain if n.kind in ("field", "average"))
    return ParameterTangent(
        rules.definitions,
        rules.inverses,
        rules.parallel,
        rules.symmetric,
        system.partials,
        (frozenset(block.names) - inside) | frozenset(moving),
        inside,
        RATES,
    )
