"""Emission of a solver module: equations of each block, the drivers that solve them, observables, residual check.

Numba's compile time grows with statements, loops and arrays made on the way, and faster than linearly with the size of
a function. Hence one small function a block, drivers shared by all blocks, everything in one workspace, and no text for
Jacobians: their columns come from sweeps (``codegen.sweeps``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import product
from string import Template

from codegen.check import emit_check
from codegen.layout import BLOCK_COLUMNS, FIELD_RANK, PARAMETERS, Layout, polynomial, scalar_columns
from codegen.lowering import Text, write_stages
from codegen.stages import schedule
from codegen.structure import Block, Node, Plan, at_one_block
from codegen.sweeps import ONE, equations
from codegen.templates import read
from derive.saddle import RANK

OBSERVABLES = ("test_error", "train_error", "free_energy")
NUMBERS = (*PARAMETERS, str(ONE))  # the first entries of the workspace
IMPORTS = "import numpy as np\nfrom numba import njit, types\nfrom numba.extending import intrinsic"
_ARGUMENTS = "table, fraction, work"


@dataclass
class Module:
    """A solver module under construction: the plan, the layout of its workspace, functions that compile alone."""

    plan: Plan
    layout: Layout = field(default_factory=Layout)
    pieces: list[str] = field(default_factory=list)

    @property
    def single(self) -> bool:
        return self.plan.single

    @property
    def public(self) -> frozenset[str]:
        return frozenset(name for block in self.plan.blocks for name in block.names)

    def lower(self, nodes: Sequence[Node], prefix: str,
              stores: dict[str, Callable[[Sequence[str]], str]] | None = None) -> list[str]:  # fmt: skip
        """The statements that evaluate nodes in order."""
        stages, stored = schedule(nodes, prefix)
        self.layout.ranks |= {average.name: len(average.indices) for average in stored if average.indices}
        text = Text()
        write_stages(text, replace(self._places(), stores=stores or {}), stages)
        return text.lines

    def function(self, name: str, lines: Sequence[str], doc: str, more: str = "") -> str:
        """A jitted function around statements."""
        body = _indented(["_short()", *self.unpack(lines), *lines, *self.stores(lines)], 1)
        self.pieces.append(name)
        return f'@njit(cache=True, **INNER)\ndef {name}({_ARGUMENTS}{more}):\n    """{doc}"""\n{body}'

    def unpack(self, lines: Sequence[str]) -> list[str]:
        """Local variables that statements use: numbers, sizes, places; with one block the families themselves."""
        used = _words(lines)
        header = [f"{name} = work[{i}]" for i, name in enumerate(NUMBERS) if name in used]
        offsets = self._offsets(used)
        local = used - set(_assigned(lines)) if self.single else set()
        loads = [f"{n} = work[{self.layout.offset(n)}]" for n in self._families() if n in local]
        sizes = _words([*lines, *offsets])
        if "K" in sizes and not self.single:
            header.append("K = fraction.shape[0]")
        if "N" in sizes:
            header.append("N = table.shape[0]")
        return header + offsets + loads

    def _offsets(self, used: AbstractSet[str]) -> list[str]:
        """Places of columns of the table and of families, each from the one before it."""
        before = [len(self.layout.scalars)*[0] + i*[1] for i in range(len(BLOCK_COLUMNS))]
        lines = [f"o_{n} = {polynomial(b)}" for n, b in zip(BLOCK_COLUMNS, before, strict=True) if f"o_{n}" in used]
        previous = None
        for name in self.layout.ranks:
            if f"o_{name}" in used:
                start = self.layout.offset(name, previous)
                lines.append(f"o_{name} = o_{previous} + {start}" if previous and not self.single else
                             f"o_{name} = {self.layout.offset(name)}")  # fmt: skip
                previous = name
        return lines

    def stores(self, lines: Sequence[str]) -> list[str]:
        """With one block: the families that statements compute, put into the workspace."""
        assigned = set(_assigned(lines)) if self.single else set()
        return [f"work[{self.layout.offset(n)}] = {n}" for n in self._families() if n in assigned]

    def fill(self, template: str, **values: str) -> str:
        """A template with values; what it uses is unpacked where it says so."""
        unfilled = Template(read(template))
        text = re.sub(r'""".*?"""|#[^\n]*', "", unfilled.safe_substitute(values), flags=re.DOTALL)
        return unfilled.substitute(values, unpack=_indented(self.unpack(text.splitlines()), 1))

    def _families(self) -> list[str]:
        ranks = self.layout.ranks
        return [name for name in ranks if ranks[name] != FIELD_RANK and name not in NUMBERS]

    def _places(self) -> Layout:
        """The layout that statements are written for: with one block, families are local variables."""
        if not self.single:
            return self.layout
        return replace(self.layout, ranks={n: r for n, r in self.layout.ranks.items() if r == FIELD_RANK})


def emit_solver(plan: Plan) -> str:
    """Text of a solver module below its header: numba, loops over any number of blocks."""
    scalars = scalar_columns(plan.system.directions, plan.system.spikes)
    module = Module(plan, Layout(scalars=scalars, single=plan.single, compact=True))
    _reserve(module)
    numbered = enumerate(plan.blocks, start=1)
    functions = [text for number, block in numbered for text in _equations(module, number, block)]
    helpers = [read("helpers")] + ([] if plan.single else [read("invert")])
    parts = [_workspace(module), *helpers, *functions, _observables(module), _pieces(module), _solve(module)]
    return "\n\n\n".join([*parts, *emit_check(plan, module.layout)]) + "\n"


def _reserve(module: Module) -> None:
    """Places in the workspace: numbers, torn unknowns with their residuals and tangents, all others, scratch."""
    plan, ranks = module.plan, module.layout.ranks
    ranks |= dict.fromkeys(NUMBERS, 0)
    for block in plan.blocks:
        beside = ("d_{}", "d_residual_{}") if block.tangents else ("weight_{}",)
        for prefix in ("{}", "residual_{}", *beside):
            ranks |= {prefix.format(node.name): _rank(node) for node in block.torn}
    nodes = {node.name: node for block in plan.blocks for node in block.chain}
    ranks |= {name: _rank(node) for name, node in nodes.items() if node.kind != "field"}
    if not plan.single:
        tangents = [node for block in plan.blocks for node in block.tangents]
        ranks |= {node.name: _rank(node) for node in tangents if node.kind != "field" and node.name not in ranks}
    ranks |= {name: FIELD_RANK for name, node in sorted(nodes.items()) if node.kind == "field"}
    widest = max((block.torn for block in plan.blocks), key=lambda torn: sorted(map(_rank, torn), reverse=True))
    matrix = [_rank(row) + _rank(column) for row, column in product(widest, repeat=2)]
    ranks |= _area("vector", [*map(_rank, widest)]) | _area("jacobian", matrix)
    ranks |= _area("scratch", [*matrix, *map(_rank, widest), *map(_rank, widest)])


def _area(name: str, ranks: Sequence[int]) -> dict[str, int]:
    """Places for a matrix or a vector over several families."""
    return {f"{name}_{i}" if i else name: rank for i, rank in enumerate(ranks)}


def _rank(node: Node) -> int:
    return RANK.get(node.name, RANK.get(node.name.removeprefix("d_"), 1))


def _size(module: Module, block: Block) -> str:
    """Number of unknowns of a block as text."""
    return module.layout.length([node.name for node in block.torn])


def _equations(module: Module, number: int, block: Block) -> Iterator[str]:
    """The sweeps of a block; explicit blocks that follow each other are one."""
    if block.torn:
        chain, part = equations(block), "; one = 0: without the terms free of these" * (block.kind == "linear")
    elif number in _runs(module.plan):
        chain, part = _runs(module.plan)[number], ""
    else:
        return
    names = ", ".join(n.name for n in chain if n.name in module.public)
    lines = module.lower(chain, f"E{number}_")
    yield module.function(f"_equations_{number}", lines, f"Block {number}, {block.kind}: {names}{part}.")
    if block.tangents:
        doc = f"Block {number}: what the residuals do along a direction of {', '.join(n.name for n in block.torn)}."
        yield module.function(f"_tangents_{number}", module.lower(block.tangents, f"D{number}_"), doc)


def _runs(plan: Plan) -> dict[int, list[Node]]:
    """Runs of explicit blocks: number of the first, and the nodes of all."""
    runs: dict[int, list[Node]] = {}
    start = 0
    for number, block in enumerate(plan.blocks, start=1):
        if block.torn:
            start = 0
        else:
            start = start or number
            runs.setdefault(start, []).extend(block.chain)
    return runs


def _observables(module: Module) -> str:
    system = module.plan.system
    bodies = [getattr(system, name) for name in OBSERVABLES]
    nodes = [
        Node(name, "family", (), at_one_block(body) if module.single else body)
        for name, body in zip(OBSERVABLES, bodies, strict=True)
    ]
    stores = {name: _out_store(position) for position, name in enumerate(OBSERVABLES)}
    doc = f"out = ({', '.join(OBSERVABLES)})."
    return module.function("_observables", module.lower(nodes, "EO_", stores), doc, ", out")


def _out_store(position: int) -> Callable[[Sequence[str]], str]:
    return lambda _: f"out[{position}]"


def _pieces(module: Module) -> str:
    """``PIECES``: what another process may compile, in the order in which ``solve`` asks for it."""
    *equations, observables = module.pieces
    helpers = re.findall(r"^def (_[a-z_]+)\(work", read("helpers"), re.MULTILINE)
    return f"PIECES = ({', '.join([*equations, *helpers, observables])})"


def _solve(module: Module) -> str:
    """The entry: the blocks in order."""
    plan, runs = module.plan, _runs(module.plan)
    torn = [(number, block) for number, block in enumerate(plan.blocks, start=1) if block.torn]
    setup, sweeps, done = Text(), Text(), 0
    for stage, (number, block) in enumerate(torn):
        with setup.indent(f"{'elif' if stage else 'if'} stage == {stage}:"):
            for first in range(done + 1, number):
                if first in runs:
                    setup.line(f"_equations_{first}({_ARGUMENTS})")
            sizes = [module.layout.length([n.name for n in part]) for part in (block.torn[:1], block.torn)]
            for name, value in zip(("number", "split", "n", "unknown"), (number, *sizes, f"o_{block.torn[0].name}"),
                                   strict=True):  # fmt: skip
                setup.line(f"{name} = {value}")
        with sweeps.indent(f"{'elif' if stage else 'if'} stage == {stage}{' and column >= 0' * bool(block.tangents)}:"):
            sweeps.line(f"_{'tangents' if block.tangents else 'equations'}_{number}({_ARGUMENTS})")
        if block.tangents:
            with sweeps.indent(f"elif stage == {stage}:"):
                sweeps.line(f"_equations_{number}({_ARGUMENTS})")
        done = number
    newton = [stage for stage, (_, block) in enumerate(torn) if block.tangents]
    setup.line(f"newton = {' or '.join(f'stage == {stage}' for stage in newton) or 'False'}")
    passes = max((len(block.torn) for _, block in torn if block.tangents), default=0)
    return module.fill(
        "solve",
        scalars=str(len(module.layout.scalars)),
        columns=", ".join(module.layout.scalars),
        stages=str(len(torn)),
        setup=_indented(setup.lines, 2),
        sweeps=_indented(sweeps.lines, 4),
        passes=str(passes),
    )


def _workspace(module: Module) -> str:
    """``workspace_size(K, N)`` and ``layout(K, N)``: where each unknown lives."""
    layout, names = module.layout, sorted(name for block in module.plan.blocks for name in block.names)
    lines = ["def workspace_size(K, N):", '    """Length of the workspace for K blocks and N nodes."""',
             f"    return {layout.total()}", "", "", "def layout(K, N):",
             '    """Start and shape of every unknown in the workspace."""', "    return {"]  # fmt: skip
    shapes = {FIELD_RANK: "(N,)", 0: "()", 1: "(K,)", 2: "(K, K)"}
    lines += [f'        "{name}": ({layout.offset(name)}, {shapes[layout.ranks[name]]}),' for name in names]
    return "\n".join([*lines, "    }"])


def _words(lines: Sequence[str]) -> set[str]:
    return {word for line in lines for word in re.findall(r"[A-Za-z_]\w*", line)}


def _assigned(lines: Sequence[str]) -> list[str]:
    """Local variables that statements set, in order."""
    return [match[1] for line in lines if (match := re.match(r"\s*([A-Za-z_]\w*) = ", line))]


def _indented(lines: Sequence[str], depth: int) -> str:
    return "\n".join("    " * depth + line for line in lines)
