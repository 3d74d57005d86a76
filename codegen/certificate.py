"""``check``: every equation of a system anew from its solution, in NumPy: no lowering is shared with the solver."""

from __future__ import annotations

import sympy as sp

from codegen.lower.text import indented, words
from codegen.places import BLOCK_COLUMNS, PARAMETERS, scalar_columns
from codegen.plan import Plan, ordered_fields
from codegen.print.pairs import Pairs
from derive.blocks import BlockSum, family, index, names_in

_DOC = '"""Worst residual over all equations, each relative to the sum of its terms in absolute value."""'
_HELPERS = ("SIGN", "Certificate", "both", "bounded", "over", "worse")


def import_line(body: str) -> str:
    """The import of what a module uses of the runtime for ``check``."""
    used = words(body.splitlines())
    return f"from generated.runtime.certificate import {', '.join(name for name in _HELPERS if name in used)}"


def emit_check(plan: Plan, one_block: bool = True) -> str:
    """The function ``check(node, fraction, parameters, state)``; ``state`` maps names to arrays.

    one_block: whether the module has a function of its own for that.
    """
    system, pairs = plan.system, Pairs()
    scalars = scalar_columns(system.directions, system.spikes)
    lines = [_DOC]
    if one_block:
        lines += ["if len(fraction) == 1:", "    return check_one_block(node, parameters, state)"]
    lines += [f"{', '.join(PARAMETERS)} = parameters.tolist()", "K = len(fraction)", "identity = np.eye(K)"]
    lines += ["given, found = both(node), Certificate(state)"]
    lines += [f"{name} = given[:, {place}]" for place, name in enumerate(scalars) if name != "weight"]
    lines.append(f"weight = node[{scalars.index('weight')}]")
    for place, name in enumerate(BLOCK_COLUMNS):
        start = f"{len(scalars)}{('', ' + K', ' + 2*K')[place]}"
        lines.append(f"{name} = given[:, {start}:{start} + K]")
    lines += [f'{name} = both(state["{name}"])' for name in (*_first_read(plan), *plan.given)]
    lines += [f"{name} = {_average(name)}" for name in sorted(system.partials)]
    for node in ordered_fields(system):
        body = pairs.lower(node.body).text
        lines += [*pairs.taken(), f"{node.name} = both(({body})[0])"]
    labels = {e.unknown: e.label for e in system.equations}
    for name, condition, explicit in _conditions(plan):
        text = pairs.lower(condition).text
        call = f'{name} = found.explicit("{name}", {text})' if explicit else f"found.implicit({text})"
        lines += [*pairs.taken(), f"{call}  # {labels.get(name, name)}"]
    lines.append("return found.worst()")
    return "\n".join(["def check(node, fraction, parameters, state):", *indented(lines)])


def _average(name: str) -> str:
    """An average over the output; that of an odd function of g beside the root of the average of g^2."""
    odd = name.endswith("g") and not name.endswith("gg")
    return f'bounded(state["{name}"], state["avg_gg"])' if odd else f'both(state["{name}"])'


def _conditions(plan: Plan) -> list[tuple[str, sp.Expr, bool]]:
    """(unknown, body, whether unknown = body or body = 0), in the order of the plan."""
    system, inverse, e = plan.system, plan.system.inverse, index("e")
    row, column = inverse.row, inverse.column
    product = BlockSum(family(inverse.name)[(row, e, *inverse.over)] * inverse.at(e, column, *inverse.over), e)
    found = {inverse.name: (product - sp.KroneckerDelta(row, column), False)}
    found |= {q.unknown: (q.body, q.kind == "explicit") for q in system.equations}
    order = [node.name for block in plan.blocks for node in (*block.chain, *block.torn)]
    return [(name, *found[name]) for name in order if name in found]


def _first_read(plan: Plan) -> list[str]:
    """Unknowns that are read before the line of their own equation, or have none that gives them."""
    conditions = _conditions(plan)
    unknowns = {name for name, _, _ in conditions}
    read = set().union(*(names_in(node.body) for node in ordered_fields(plan.system))) & unknowns
    known: set[str] = set()
    for name, body, explicit in conditions:
        read |= (names_in(body) & unknowns) - known
        known |= {name} if explicit else set()
    return [name for name, _, _ in conditions if name in read]
