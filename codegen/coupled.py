"""Emission of the coupled system of any convex loss: fields, residual and Jacobian, given averages over the output.

The averages come from the module of a loss (``codegen.losses``); Newton's method is run by ``giantstep.newton``. The
Jacobian is built column by column from one directional derivative, so that its text is linear in the equations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import sympy as sp
from sympy.utilities.iterables import strongly_connected_components

from codegen.check import emit_check
from codegen.layout import FIELD_RANK, PARAMETERS, Layout, scalar_columns, size
from codegen.lowering import Text, write_stages
from codegen.stages import schedule
from codegen.structure import (
    Block,
    Node,
    Plan,
    at_one_block,
    chain_calculus,
    dependencies,
    explicit_order,
    nodes_of,
    residual,
    smallest_tear,
)  # fmt: skip
from codegen.templates import read
from derive.blocks import KAPPA, block_field, names_in
from derive.directions import directions_of
from derive.output import output_averages
from derive.saddle import RANK, SaddleSystem, member
from derive.tangent import Tangent, tangent_name

OBSERVABLES = ("test_error", "train_error", "free_energy")
_JIT = '@njit(cache=True, error_model="numpy", nogil=True)'
_ARGUMENTS = "table, fraction, parameters, work"


@dataclass
class Coupled:
    """A module under construction: the coupled block of a system, and the layout of its workspace."""

    system: SaddleSystem
    block: Block
    single: bool
    layout: Layout = field(default_factory=Layout)

    @property
    def averages(self) -> tuple[str, ...]:
        return tuple(output_averages(self.system.directions).monomials)

    def at(self, node: Node) -> Node:
        """The node for the number of blocks of this module."""
        return replace(node, indices=(), body=at_one_block(node.body)) if self.single else node

    def text(self, nodes: Sequence[Node], prefix: str, stores: dict[str, Callable[[Sequence[str]], str]] | None = None
             ) -> list[str]:  # fmt: skip
        """Statements that evaluate nodes in order."""
        stages, stored = schedule(map(self.at, nodes), prefix)
        self.layout.ranks |= {average.name: len(average.indices) for average in stored if average.indices}
        text = Text()
        write_stages(text, replace(self.layout, stores=stores or {}), stages)
        return text.lines

    def function(self, name: str, more: str, doc: str, lines: Sequence[str], inner: str = "") -> str:
        """A jitted function around statements; offsets and parameters that they use are unpacked first."""
        used = _words(lines)
        unpacked = [f"{p} = parameters[{i}]" for i, p in enumerate(PARAMETERS) if p in used]
        unpacked += ["K = 1" if self.single else "K = fraction.shape[0]", "N = table.shape[0]"]
        unpacked += [f"o_{n} = {self.layout.offset(n)}" for n in self.layout.ranks if f"o_{n}" in used]
        body = "\n".join(f"    {line}" for line in [*unpacked, *lines])
        return f'{_JIT}\ndef {name}({_ARGUMENTS}{more}):\n    """{doc}"""\n{body}'


def coupled_block(system: SaddleSystem) -> Block:
    """The component that holds the averages over the output: its torn unknowns, and all others in explicit order.

    Raises ValueError where there is no such order.
    """
    nodes = nodes_of(system)
    needs = dependencies(nodes)
    edges = [(name, other) for name in sorted(needs) for other in sorted(needs[name])]
    components = strongly_connected_components((sorted(nodes), edges))
    names = sorted(max(components, key=lambda component: len(list(component))))
    inside = {name: needs[name] & set(names) for name in names}
    torn = smallest_tear(names, nodes, inside)
    chain = explicit_order([name for name in names if name not in torn], inside)
    if chain is None:
        raise ValueError(f"no explicit order for {', '.join(names)}")
    return Block("nonlinear", tuple(nodes[n] for n in torn), tuple(nodes[n] for n in chain), ())


def emit_coupled(system: SaddleSystem, block: Block, single: bool) -> str:
    """Text of the module of a coupled system below its header: for one block, or for any number."""
    scalars = scalar_columns(system.directions, system.spikes)
    module = Coupled(system, block, single, Layout(scalars=scalars, single=single))
    _reserve(module)
    before, after = _halves(block)
    parts = [
        module.function("fields", "", "Everything up to the law of the output, from the unknowns in the workspace.",
                        module.text(before, "EF_")),
        module.function("residual", "", "The residuals of the unknowns, given the averages over the output.",
                        module.text([*after, *_residuals(block)], "ER_")),
        module.function("jacobian", ", first, second, matrix", _JACOBIAN_DOC, _jacobian(module)),
        module.function("observables", ", out", "out = (test error, training error, free energy).",
                        _observables(module)),
    ]  # fmt: skip
    helpers = [] if single else [read("inverse")]
    check = emit_check(Plan(system, (block,), single), module.layout)
    return "\n\n\n".join([_workspace(module), *helpers, *parts, *check]) + "\n"


_JACOBIAN_DOC = (
    "matrix[i, k] = d residual(first[i])/d unknown(first[k] and second[k]): the two members of a symmetric pair."
)


def _reserve(module: Coupled) -> None:
    """Places in the workspace: unknowns, their tangents, residuals and those of the tangents, then the averages."""
    torn, names = module.block.torn, module.block.names
    ranks = module.layout.ranks
    for prefix in ("{}", "d_{}", "residual_{}", "d_residual_{}"):
        ranks |= {prefix.format(node.name): RANK.get(node.name, 1) for node in torn}
    ranks |= dict.fromkeys(module.averages, FIELD_RANK)
    fields = {definition.name for definition in module.system.fields}
    for name in sorted(set(names) - set(ranks)):
        ranks[name] = FIELD_RANK if name in fields else RANK.get(name, 1)
    chain = [name for name in sorted(ranks) if name in {node.name for node in module.block.chain}]
    ranks |= {tangent_name(name): ranks[name] for name in chain}


def _halves(block: Block) -> tuple[list[Node], list[Node]]:
    """The chain that leads to the averages, and what follows from them."""
    known = {node.name for node in block.torn}
    inside = set(block.names)
    before: list[Node] = []
    after: list[Node] = []
    for node in block.chain:
        if node.kind == "average":
            continue
        early = names_in(node.body) & inside <= known
        known |= {node.name} if early else set()
        (before if early else after).append(node)
    return before, after


def _residuals(block: Block) -> list[Node]:
    return [Node(f"residual_{n.name}", "family", n.indices, residual(n)) for n in block.torn]


def _jacobian(module: Coupled) -> list[str]:
    """One sweep of tangents for each unknown."""
    torn = module.block.torn
    count = " + ".join(size(RANK.get(node.name, 1)) for node in torn)
    start, last = f"o_d_{torn[0].name}", f"o_d_residual_{torn[0].name}"
    sweep = module.text(list(_tangents(module)), "EJ_")
    return [
        "for column in range(first.shape[0]):",
        f"    for i in range({count}):",
        f"        work[{start} + i] = 0.0",
        f"    work[{start} + first[column]] = 1.0",
        f"    work[{start} + second[column]] = 1.0",
        *(f"    {line}" for line in sweep),
        "    for row in range(first.shape[0]):",
        f"        matrix[row, column] = work[{last} + first[row]]",
    ]


def _tangents(module: Coupled) -> Iterable[Node]:
    """The chain and the residuals, differentiated."""
    system, block = module.system, module.block
    rules = chain_calculus(system, block.chain)
    functions = frozenset(n.name for n in block.chain if n.kind in ("field", "average"))
    unknowns = frozenset(block.names) - functions
    calculus = Tangent(
        rules.definitions, rules.inverses, rules.parallel, rules.symmetric, system.partials, unknowns, functions
    )
    for node in block.chain:
        kind: Literal["field", "family"] = "field" if node.name in functions else "family"
        yield Node(tangent_name(node.name), kind, node.indices, _tangent_of(calculus, node))
    for node in block.torn:
        yield Node(f"d_residual_{node.name}", "family", node.indices, calculus.of(residual(node)))


def _tangent_of(calculus: Tangent, node: Node) -> sp.Expr:
    if node.kind == "average":
        return calculus.through(block_field(node.name)(KAPPA))
    if node.kind == "inverse" or node.name in calculus.parallel:
        return calculus.through(member(node.name, node.indices))
    return calculus.of(node.body)


def _observables(module: Coupled) -> list[str]:
    nodes = [Node(name, "family", (), getattr(module.system, name)) for name in OBSERVABLES]
    stores = {name: _out(position) for position, name in enumerate(OBSERVABLES)}
    return module.text(nodes, "EO_", stores)


def _out(position: int) -> Callable[[Sequence[str]], str]:
    return lambda _: f"out[{position}]"


def _workspace(module: Coupled) -> str:
    """Constants that tell Python where everything is."""
    torn = [node.name for node in module.block.torn]
    layout, shapes = module.layout, {FIELD_RANK: "(N,)", 0: "()", 1: "(K,)", 2: "(K, K)"}
    shown = [n for n in layout.ranks if layout.ranks[n] in shapes]
    places = [f'        "{name}": ({layout.offset(name)}, {shapes[layout.ranks[name]]}),' for name in shown]
    return "\n".join([
        f"UNKNOWNS = {tuple(torn)!r}",
        f"AVERAGES = {module.averages!r}",
        f"SLOPES = {directions_of('slope', module.system.directions)!r}",
        "", "",
        "def workspace_size(K, N):", '    """Length of the workspace for K blocks and N nodes."""',
        f"    return {layout.total()}", "", "",
        "def layout(K, N):", '    """Start and shape of every unknown in the workspace."""', "    return {",
        *places, "    }",
    ])  # fmt: skip


def _words(lines: Sequence[str]) -> set[str]:
    return {word for line in lines for word in line.replace("[", " ").replace("]", " ").replace("(", " ")
            .replace(")", " ").replace("*", " ").replace("/", " ").replace("+", " ").replace("-", " ")
            .replace(",", " ").split()}  # fmt: skip
