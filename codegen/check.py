"""``check``: the residuals of a system anew from the stored unknowns, in NumPy, without code of the solver."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sympy as sp
from sympy.core.function import AppliedUndef

from codegen.layout import BLOCK_COLUMNS, PARAMETERS, Layout, size
from codegen.lowering import Text
from codegen.structure import Node, Plan, at_one_block, residual
from codegen.templates import read
from codegen.vectorised import Vectorised
from derive.blocks import KAPPA, BlockSum, block_field, family, family_name, index, names_in
from derive.gaussian.expectation import Expectation
from derive.saddle import SaddleSystem


def emit_check(plan: Plan, layout: Layout) -> list[str]:
    """``check``: every equation of the system anew from the stored unknowns, in NumPy instead of loops."""
    averages = {name: f"work[{layout.offset(name)}:{layout.offset(name)} + N]" for name in plan.system.partials}

    def stored(name: str) -> str:
        return averages.get(name) or _state(layout, name)

    lines = check_lines(plan, layout, "table, fraction, parameters, work", stored)
    return [read("worse_single" if plan.single else "worse"), "\n".join(lines)]


def check_lines(plan: Plan, layout: Layout, arguments: str, stored: Callable[[str], str]) -> list[str]:
    """The lines of ``check``; ``stored`` is the text that reads a family or an average over the output."""
    names, parts = _checks(plan, _conditions(plan))
    text, arrays = Text(), Vectorised()
    with text.indent(f"def check({arguments}):"):
        text.line(
            '"""Worst residual over all equations, each relative to the sum of its terms in absolute value."""'
        )
        text.line("N, K = table.shape[0], fraction.shape[0]")
        text.line(f"{', '.join(PARAMETERS)} = parameters.tolist()")
        text.line("identity = np.eye(K)")
        text.line("columns = np.ascontiguousarray(table.T)")
        for name in (*layout.scalars, *BLOCK_COLUMNS):
            text.line(f"{name} = {_column(layout, name)}")
        for name in (*names, *plan.given, *sorted(plan.system.partials)):
            text.line(f"{name} = {stored(name)}")
        if plan.single:
            text.line("fraction = 1.0")
        for node in _ordered([Node(d.name, "field", d.indices, _at(plan, d.body)) for d in plan.system.fields]):
            text.line(f"{node.name} = {arrays.lower(node.body).text}")
        text.line("worst = 0.0")
        if plan.single:
            parts = _share_averages(text, arrays, parts)
        for name, scale, condition in zip(names, parts[::2], parts[1::2], strict=True):
            text.line(f"scale_{name} = {arrays.lower(scale).text}")
            text.line(f"worst = _worse(worst, {arrays.lower(condition).text}, scale_{name})")
        text.line("return worst")
    return text.lines


def _at(plan: Plan, expr: sp.Expr) -> sp.Expr:
    """The expression for the number of blocks of the module."""
    return at_one_block(expr) if plan.single else expr


def _conditions(plan: Plan) -> list[tuple[str, sp.Expr]]:
    """What vanishes at the solution, by unknown; for the matrix inverse its product with the matrix."""
    inverse, e = plan.system.inverse, index("e")
    row, column = inverse.row, inverse.column
    over = inverse.over
    product = BlockSum(family(inverse.name)[(row, e, *over)] * inverse.at(e, column, *over), e)
    return [
        (inverse.name, product - sp.KroneckerDelta(row, column)),
        *(
            (q.unknown, residual(Node(q.unknown, "family", q.indices, q.body, q.kind == "implicit")))
            for q in plan.system.equations
        ),
    ]


def _share_averages(text: Text, arrays: Vectorised, parts: Sequence[sp.Expr]) -> list[sp.Expr]:
    """Each average over kappa computed once, common factors of the integrands first; the parts without averages."""
    averages = sorted({node for part in parts for node in part.atoms(Expectation)}, key=sp.default_sort_key)
    weight = sp.Symbol("weight")
    arrays.vectors |= {"weight"}
    local = {node: sp.Symbol(str(family_name(node))) for average in averages for node in average.atoms(AppliedUndef)}
    arrays.vectors |= {symbol.name for symbol in local.values()}
    shared, products = sp.cse(
        [(weight * node.integrand).xreplace(local) for node in averages],
        symbols=sp.numbered_symbols("x"), order="canonical",
    )  # fmt: skip
    for symbol, value in shared:
        lowered = arrays.lower(value)
        arrays.vectors |= {symbol.name} if lowered.axes else set()
        text.line(f"{symbol} = {lowered.text}")
    known = {}
    for number, (node, value) in enumerate(zip(averages, products, strict=True)):
        known[node] = sp.Symbol(f"average{number}")
        text.line(f"average{number} = {arrays.average(value)}")
    return [part.xreplace(known) for part in parts]


def _checks(plan: Plan, conditions: Sequence[tuple[str, sp.Expr]]) -> tuple[list[str], list[sp.Expr]]:
    """Names of the equations, each after those it needs, and for each in turn its scale and its residual."""
    order = [node.name for block in plan.blocks for node in (*block.chain, *block.torn)]
    explicit = {q.unknown: q.body for q in plan.system.equations if q.kind == "explicit"}
    names: list[str] = []
    parts: list[sp.Expr] = []
    for name, condition in sorted(conditions, key=lambda pair: order.index(pair[0])):
        scale = _bounded(magnitude(explicit.get(name, condition)), plan.system)
        scale = _scaled(scale, set(names) & set(explicit))
        parts += [_at(plan, scale), _at(plan, condition)]
        names.append(name)
    return names, parts


def _bounded(expr: sp.Expr, system: SaddleSystem) -> sp.Expr:
    """Averages over the output that are odd in g, which may cancel, replaced by the root of the average of g^2."""
    bound = sp.sqrt(block_field("avg_gg")(KAPPA))
    odd = [name for name in system.partials if name.endswith("g") and not name.endswith("gg")]
    return expr.xreplace({sp.Abs(block_field(name)(KAPPA), evaluate=False): bound for name in odd})


def _scaled(expr: sp.Expr, known: set[str]) -> sp.Expr:
    """Absolute values of unknowns replaced by their scales: what vanishes by cancellation is small, not zero."""
    members = {node for node in expr.atoms(sp.Abs) if family_name(node.args[0]) in known}
    return expr.xreplace({node: _scale_of(node.args[0]) for node in members})


def _scale_of(node: sp.Indexed) -> sp.Indexed:
    return sp.IndexedBase(f"scale_{family_name(node)}", nonnegative=True)[node.indices]


def _column(layout: Layout, name: str) -> str:
    """A column of the table, or those of the blocks as [K, N]."""
    if name in layout.scalars:
        return f"columns[{layout.scalars.index(name)}]"
    start = f"{len(layout.scalars)} + {BLOCK_COLUMNS.index(name)}*K"
    return f"columns[{start}]" if layout.single else f"columns[{start}:{start} + K]"


def _state(layout: Layout, name: str) -> str:
    """A family read from the workspace."""
    start, rank = layout.offset(name), layout.ranks[name]
    if layout.single:
        return f"float(work[{start}])"
    return f"work[{start}:{start} + {size(rank)}]" + (".reshape(K, K)" if rank == 2 else "")


def _ordered(fields: Sequence[Node]) -> list[Node]:
    """Each function of kappa after those it needs."""
    waiting = {node.name: node for node in fields}
    ordered: list[Node] = []
    while waiting:
        ready = [node for node in waiting.values() if not (names_in(node.body) & set(waiting)) - {node.name}]
        ordered += ready
        waiting = {name: node for name, node in waiting.items() if node not in ready}
    return ordered


def magnitude(expr: sp.Expr) -> sp.Expr:
    """The sum of the absolute values of all terms: the scale that rounding errors of ``expr`` are relative to."""
    if isinstance(expr, (sp.Add, sp.Mul)):
        return expr.func(*(magnitude(arg) for arg in expr.args))
    if isinstance(expr, sp.Pow):
        return magnitude(expr.base) ** expr.exp if expr.exp.is_positive else sp.Abs(expr, evaluate=False)
    if isinstance(expr, BlockSum):
        return BlockSum(magnitude(expr.body), expr.bound)
    if isinstance(expr, Expectation):
        return Expectation(magnitude(expr.integrand), *expr.variables)
    if expr.is_number:
        return abs(expr)
    if isinstance(expr, sp.KroneckerDelta) or expr.is_nonnegative:
        return expr
    return sp.Abs(expr, evaluate=False)
