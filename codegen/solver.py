"""Emission of a solver module: one function per block of the plan, Newton drivers, observables, residual check."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from string import Template

import sympy as sp

from codegen.layout import BLOCK_COLUMNS, FIELD_RANK, PARAMETERS, SCALAR_COLUMNS, Layout, flat, size
from codegen.lowering import Lowering, Text, schedule, write_stages
from codegen.structure import Block, Node, Plan, at_one_block, residual
from codegen.vectorised import Vectorised
from derive.blocks import BlockSum, family, family_name, index, names_in
from derive.expectation import Expectation
from derive.saddle import RANK, SaddleSystem
from derive.symbols import INVERSE_DIMENSION

OBSERVABLES = ("test_error", "train_error", "free_energy")


@dataclass
class Module:
    """A solver module under construction: the number of blocks and the layout of its workspace."""

    single: bool
    layout: Layout = field(default_factory=Layout)

    @property
    def blocks(self) -> str:
        return "K = 1" if self.single else "K = fraction.shape[0]"

    def at(self, expr: sp.Expr) -> sp.Expr:
        """The expression for the number of blocks of this module."""
        return at_one_block(expr) if self.single else expr

    def unpack(self, lines: Sequence[str]) -> list[str]:
        used = {word for line in lines for word in re.findall(r"[A-Za-z_]\w*", line)}
        header = [f"{name} = parameters[{i}]" for i, name in enumerate(PARAMETERS) if name in used]
        offsets = [
            f"o_{name} = {self.layout.offset(name)}" for name in self.layout.ranks if f"o_{name}" in used
        ]
        words = used | {word for line in offsets for word in re.findall(r"[A-Za-z_]\w*", line)}
        if "K" in words:
            header.append(self.blocks)
        if "N" in words:
            header.append("N = table.shape[0]")
        return header + offsets

    def lower(self, nodes: Sequence[Node], prefix: str,
              stores: dict[str, Callable[[Sequence[str]], str]] | None = None) -> list[str]:  # fmt: skip
        """The statements that evaluate nodes in order."""
        stages, stored = schedule(nodes, prefix)
        self.layout.ranks |= {average.name: len(average.indices) for average in stored if average.indices}
        text = Text()
        write_stages(text, replace(self.layout, stores=stores or {}), stages)
        return text.lines


def emit_solver(plan: Plan) -> str:
    """Text of a solver module below its header: numba, loops over any number of blocks."""
    system = plan.system
    module = Module(plan.single)
    fields = {definition.name for definition in system.fields}
    names = sorted({name for block in plan.blocks for name in block.names})
    module.layout.ranks |= {name: FIELD_RANK if name in fields else RANK.get(name, 1) for name in names}
    lines: list[str] = []
    for number, block in enumerate(plan.blocks, start=1):
        lines.append(f"# block {number}, {block.kind}: {', '.join(block.names)}")
        lines += _block_lines(module, block, number)
    lines.append("# observables")
    lines += _observables(module, system)
    solve = _fill("solve", unpack=_indented(module.unpack(lines), 1), blocks=_indented(lines, 1))
    pair = plan.single and all(len(block.torn) in (0, 2) for block in plan.blocks)
    helpers = [_read("pair" if pair else "lu"), _read("helpers")]
    return "\n\n\n".join([_workspace(module, names), *helpers, solve, *_check(module, plan)]) + "\n"


def _indented(lines: Sequence[str], depth: int) -> str:
    return "\n".join("    " * depth + line for line in lines)


def _block_lines(module: Module, block: Block, number: int) -> list[str]:
    """The statements that solve one block: evaluate it, or iterate on its torn families."""
    offsets = _offsets(block.torn)
    nodes, stores = list(block.chain), {}
    for node in block.torn:
        name = f"residual_{node.name}"
        nodes.append(Node(name, "family", node.indices, residual(node)))
        stores[name] = _vector_store(offsets[node.name])
    for entry in block.jacobian:
        name = f"jacobian_{entry.row}_{entry.column}"
        nodes.append(Node(name, "family", (*entry.row_indices, *entry.column_indices), entry.body))
        stores[name] = _matrix_store(offsets[entry.row], offsets[entry.column], len(entry.row_indices))
    evaluation = module.lower(nodes, f"E{number}_", stores)
    if block.kind == "explicit":
        return evaluation
    families = [(f"o_{n.name}", size(RANK.get(n.name, 1)), offsets[n.name] or "0") for n in block.torn]
    start, vector = ("1.0", "residual") if block.kind == "nonlinear" else ("0.0", "right")
    steps = [
        f"change = max(change, _step(work, {o}, {count}, {vector}, {first}))" for o, count, first in families
    ]
    metric = _metric(module, block) if block.kind == "linear" else []
    return _fill(
        block.kind,
        number=str(number),
        size=" + ".join(count for _, count, _ in families),
        fill="\n".join(f"for i in range({count}):\n    work[{o} + i] = {start}" for o, count, _ in families),
        block=_indented(evaluation, 1),
        step=_indented(steps, 1),
        metric=_indented(metric, 2),
    ).splitlines()


def _offsets(torn: Sequence[Node]) -> dict[str, str]:
    """Where each torn family starts in the flat vector of a block, as text in K."""
    offsets: dict[str, str] = {}
    for node in torn:
        offsets[node.name] = " + ".join(size(RANK.get(name, 1)) for name in offsets)
    return offsets


def _shift(offset: str, position: str) -> str:
    return f"{offset} + {position}" if offset and position != "0" else offset or position


def _vector_store(offset: str) -> Callable[[Sequence[str]], str]:
    return lambda indices: f"residual[{_shift(offset, flat(indices))}]"


def _matrix_store(row: str, column: str, rank: int) -> Callable[[Sequence[str]], str]:
    def store(indices: Sequence[str]) -> str:
        return f"jacobian[{_shift(row, flat(indices[:rank]))}, {_shift(column, flat(indices[rank:]))}]"

    return store


def _metric(module: Module, block: Block) -> list[str]:
    """Weight of each unknown in the norm that a finite-size term selects as d grows (0 where it has none)."""
    text = Text()
    offsets = _offsets(block.torn)
    for node in block.torn:
        entry = next(e for e in block.jacobian if e.row == e.column == node.name)
        diagonal = sp.diff(entry.body.replace(sp.KroneckerDelta, lambda *_: sp.S.One), INVERSE_DIMENSION)
        with text.loops(node.indices):
            position = _shift(offsets[node.name], flat([str(i) for i in node.indices]))
            text.line(f"metric[{position}] = {Lowering(text, module.layout).scalar(diagonal)}")
    return text.lines


def _observables(module: Module, system: SaddleSystem) -> list[str]:
    nodes = [Node(name, "family", (), module.at(getattr(system, name))) for name in OBSERVABLES]
    stores = {name: _out_store(position) for position, name in enumerate(OBSERVABLES)}
    return module.lower(nodes, "EO_", stores)


def _out_store(position: int) -> Callable[[Sequence[str]], str]:
    return lambda _: f"out[{position}]"


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


def _check(module: Module, plan: Plan) -> list[str]:
    """``check``: every equation of the system anew from the stored unknowns, in NumPy instead of loops."""
    system = plan.system
    inverse, e = system.inverse, index("e")
    row, column = inverse.row, inverse.column
    product = BlockSum(family(inverse.name)[row, e] * inverse.entry.xreplace({row: e}), e)
    conditions = [(inverse.name, product - sp.KroneckerDelta(row, column))]
    conditions += [
        (q.unknown, residual(Node(q.unknown, "family", q.indices, q.body, q.kind == "implicit")))
        for q in system.equations
    ]
    text = Text()
    with text.indent("def check(table, fraction, parameters, work):"):
        text.line(
            '"""Worst residual over all equations, each relative to the sum of its terms in absolute value."""'
        )
        text.line("N, K = table.shape[0], fraction.shape[0]")
        text.line(f"{', '.join(PARAMETERS)} = parameters.tolist()")
        text.line("identity = np.eye(K)")
        for name in (*SCALAR_COLUMNS, *BLOCK_COLUMNS):
            text.line(f"{name} = {_column(module, name)}")
        for name in dict.fromkeys([name for name, _ in conditions]):
            text.line(f"{name} = {_state(module, name)}")
        if module.single:
            text.line("fraction = 1.0")
        arrays = Vectorised()
        for definition in _ordered(
            [Node(d.name, "field", d.indices, module.at(d.body)) for d in system.fields]
        ):
            text.line(f"{definition.name} = {arrays.lower(definition.body).text}")
        text.line("worst = 0.0")
        names, parts = _checks(module, plan, conditions)
        if module.single:
            parts = _share_averages(text, arrays, parts)
        for name, scale, condition in zip(names, parts[::2], parts[1::2], strict=True):
            text.line(f"scale_{name} = {arrays.lower(scale).text}")
            text.line(f"worst = _worse(worst, {arrays.lower(condition).text}, scale_{name})")
        text.line("return worst")
    return [_read("worse_single" if module.single else "worse"), "\n".join(text.lines)]


def _share_averages(text: Text, arrays: Vectorised, parts: Sequence[sp.Expr]) -> list[sp.Expr]:
    """Each average over kappa computed once, common factors of the integrands first; the parts without averages."""
    averages = sorted({node for part in parts for node in part.atoms(Expectation)}, key=sp.default_sort_key)
    shared, integrands = sp.cse(
        [node.integrand for node in averages], symbols=sp.numbered_symbols("x"), order="canonical"
    )
    for symbol, value in shared:
        lowered = arrays.lower(value)
        arrays.vectors |= {symbol.name} if lowered.axes else set()
        text.line(f"{symbol} = {lowered.text}")
    known = {}
    for number, (node, integrand) in enumerate(zip(averages, integrands, strict=True)):
        known[node] = sp.Symbol(f"average{number}")
        text.line(f"average{number} = np.dot(weight, {arrays.lower(integrand).text})")
    return [part.xreplace(known) for part in parts]


def _checks(
    module: Module, plan: Plan, conditions: Sequence[tuple[str, sp.Expr]]
) -> tuple[list[str], list[sp.Expr]]:
    """Names of the equations, each after those it needs, and for each in turn its scale and its residual."""
    order = [node.name for block in plan.blocks for node in (*block.chain, *block.torn)]
    explicit = {q.unknown: q.body for q in plan.system.equations if q.kind == "explicit"}
    names: list[str] = []
    parts: list[sp.Expr] = []
    for name, condition in sorted(conditions, key=lambda pair: order.index(pair[0])):
        scale = _scaled(magnitude(explicit.get(name, condition)), set(names) & set(explicit))
        parts += [module.at(scale), module.at(condition)]
        names.append(name)
    return names, parts


def _scaled(expr: sp.Expr, known: set[str]) -> sp.Expr:
    """Absolute values of unknowns replaced by their scales: what vanishes by cancellation is small, not zero."""
    members = {node for node in expr.atoms(sp.Abs) if family_name(node.args[0]) in known}
    return expr.xreplace({node: _scale_of(node.args[0]) for node in members})


def _scale_of(node: sp.Indexed) -> sp.Indexed:
    return sp.IndexedBase(f"scale_{family_name(node)}", nonnegative=True)[node.indices]


def _column(module: Module, name: str) -> str:
    """A column of the table, or its K columns as [N, K]."""
    if name in SCALAR_COLUMNS:
        return f"table[:, {SCALAR_COLUMNS.index(name)}]"
    start = f"{len(SCALAR_COLUMNS)} + {BLOCK_COLUMNS.index(name)}*K"
    return f"table[:, {start}]" if module.single else f"table[:, {start}:{start} + K]"


def _state(module: Module, name: str) -> str:
    """A family read from the workspace."""
    start, rank = module.layout.offset(name), module.layout.ranks[name]
    if module.single:
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


def _workspace(module: Module, names: Sequence[str]) -> str:
    """``workspace_size(K, N)`` and ``layout(K, N)``: where each unknown lives."""
    lines = ["def workspace_size(K, N):", '    """Length of the workspace for K blocks and N nodes."""',
             f"    return {module.layout.total()}", "", "", "def layout(K, N):",
             '    """Start and shape of every unknown in the workspace."""', "    return {"]  # fmt: skip
    shapes = {FIELD_RANK: "(N,)", 0: "()", 1: "(K,)", 2: "(K, K)"}
    lines += [
        f'        "{name}": ({module.layout.offset(name)}, {shapes[module.layout.ranks[name]]}),'
        for name in names
    ]
    return "\n".join([*lines, "    }"])


def _read(name: str) -> str:
    return resources.files("codegen.templates").joinpath(f"{name}.txt").read_text(encoding="utf-8").strip()


def _fill(name: str, **values: str) -> str:
    return Template(_read(name)).substitute(values)
