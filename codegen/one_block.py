"""``check_one_block``: the equations of one block anew from their solution, in numbers and arrays over the nodes.

With K = 1 every sum has one term and every family is one number, for which Python is faster than NumPy.
"""

from __future__ import annotations

import sympy as sp
from sympy.core.function import AppliedUndef

from codegen.lower.text import Text, indented
from codegen.places import BLOCK_COLUMNS, PARAMETERS, scalar_columns
from codegen.plan import Node, Plan, at_one_block, ordered_fields, residual
from codegen.print.numpy_arrays import Vectorised
from derive.blocks import KAPPA, BlockSum, block_field, family, family_name, index
from derive.gaussian.expectation import Expectation
from derive.saddle import RANK, SaddleSystem


def emit_check_one_block(plan: Plan) -> str:
    """The function ``check_one_block(node, parameters, state)``."""
    system, arrays, text = plan.system, Vectorised(), Text()
    conditions = _conditions(plan)
    text.line('"""``check`` for one block."""')
    text.line(f"{', '.join(PARAMETERS)} = parameters.tolist()")
    scalars = scalar_columns(system.directions, system.spikes)
    for row, name in enumerate((*scalars, *BLOCK_COLUMNS)):
        text.line(f"{name} = node[{row}]")
    for name in conditions:
        place = "0, 0" if RANK.get(name, 1) == 2 else "0"
        text.line(f'{name} = float(state["{name}"][{place}])')
    for name in sorted(system.partials):
        text.line(f'{name} = state["{name}"]')
    text.line("fraction, worst = 1.0, 0.0")
    for node in ordered_fields(system):
        text.line(f"{node.name} = {arrays.lower(at_one_block(node.body)).text}")
    parts = _with_averages(text, arrays, [part for pair in conditions.values() for part in pair])
    labels = {e.unknown: e.label for e in system.equations}
    for name, scale, condition in zip(conditions, parts[::2], parts[1::2], strict=True):
        text.line(f"scale_{name} = {arrays.lower(scale).text}")
        text.line(f"worst = worse(worst, {arrays.lower(condition).text}, scale_{name})  # {labels.get(name, name)}")
    text.line("return worst")
    return "\n".join(["def check_one_block(node, parameters, state):", *indented(text.lines)])


def _conditions(plan: Plan) -> dict[str, tuple[sp.Expr, sp.Expr]]:
    """For each unknown, in the order of the plan, the scale of its equation and what vanishes at the solution."""
    system, inverse, e = plan.system, plan.system.inverse, index("e")
    product = BlockSum(family(inverse.name)[inverse.row, e] * inverse.at(e, inverse.column), e)
    found = {inverse.name: product - sp.KroneckerDelta(inverse.row, inverse.column)}
    for q in system.equations:
        found[q.unknown] = residual(Node(q.unknown, "family", q.indices, q.body, q.kind == "implicit"))
    explicit = {q.unknown: q.body for q in system.equations if q.kind == "explicit"}
    order = [node.name for block in plan.blocks for node in (*block.chain, *block.torn)]
    conditions: dict[str, tuple[sp.Expr, sp.Expr]] = {}
    for name in (name for name in order if name in found):
        scale = _bounded(magnitude(explicit.get(name, found[name])), system)
        scale = _scaled(scale, set(conditions) & set(explicit))
        conditions[name] = at_one_block(scale), at_one_block(found[name])
    return conditions


def _with_averages(text: Text, arrays: Vectorised, parts: list[sp.Expr]) -> list[sp.Expr]:
    """The parts with each average over kappa under a name, computed once, common factors of the integrands first."""
    averages = sorted({node for part in parts for node in part.atoms(Expectation)}, key=sp.default_sort_key)
    weight = sp.Symbol("weight")
    arrays.vectors |= {"weight"}
    local = {node: sp.Symbol(str(family_name(node))) for average in averages for node in average.atoms(AppliedUndef)}
    arrays.vectors |= {symbol.name for symbol in local.values()}
    products = [(weight * node.integrand).xreplace(local) for node in averages]
    shared, products = sp.cse(products, symbols=sp.numbered_symbols("x"), order="canonical")
    for symbol, value in shared:
        lowered = arrays.lower(value)
        arrays.vectors |= {symbol.name} if lowered.axes else set()
        text.line(f"{symbol} = {lowered.text}")
    known = {}
    for number, (node, value) in enumerate(zip(averages, products, strict=True)):
        known[node] = sp.Symbol(f"average{number}")
        text.line(f"average{number} = {arrays.average(value)}")
    return [part.xreplace(known) for part in parts]


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
