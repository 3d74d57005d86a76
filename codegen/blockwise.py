"""Module of a system that is solved block by block: averages explicit, as for the square loss.

Numba's compile time grows with statements, loops and arrays made on the way, and faster than linearly with the size of
a function. Hence one small function a block, drivers shared by all blocks, and no text for Jacobians: their columns are
tangents of the residuals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from string import Template

import sympy as sp

from codegen.certificate import emit_check
from codegen.lower.affine import equations
from codegen.lower.text import Text, indented
from codegen.plan import Block, Node, Plan, analyse, residual
from codegen.program import ARGUMENTS, Program
from codegen.system_module import module_text, of_spike
from codegen.templates import read
from derive.loss.quadratic import SQUARE
from derive.saddle import saddle_system
from derive.symbols import RIDGE

_ALGEBRA = ("solve_linear", "strengthen", "subtract", "begin", "descend", "finish")


def emit_square(directions: int = 1, spikes: int = 1, drawn: bool = False) -> str:
    """Text of the solver of the square loss, whose averages are explicit.

    directions: of the target beside the spike, spikes: of the spike; drawn: of labels with moments of their own.
    """
    system = saddle_system(SQUARE, directions, spikes, drawn)
    plan = analyse(system)
    beside = f"{directions} directions beside the spike, " * (directions > 1)
    labels = "labels that are drawn, " * drawn
    title = f"of the {system.name} loss, {labels}{beside}{of_spike(spikes)}any number of blocks K"
    return module_text(system, title, plan.report().splitlines(), emit_blockwise(plan), __name__)


def emit_blockwise(plan: Plan) -> str:
    """Text of a module below its header: numba, any number of blocks."""
    program = Program(plan.system, quick=True)
    _reserve(program, plan)
    numbered = enumerate(plan.blocks, start=1)
    functions = [text for number, block in numbered for text in _equations(program, plan, number, block)]
    functions += [program.observables(), _ridge_slopes(program, plan)]
    pieces = re.findall(r"^def (_\w+)", "\n".join(functions), re.MULTILINE)
    known = [*program.places.constants(), f"BLOCKS = {_torn(plan)!r}  # unknowns of the stages of a solve"]
    listed = f"PIECES = ({', '.join([*pieces, *_ALGEBRA])})"
    return "\n\n\n".join(["\n".join(known), *functions, listed, *_entries(program, plan), emit_check(plan)]) + "\n"


def _torn(plan: Plan) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(node.name for node in block.torn) for block in plan.blocks if block.torn)


def _reserve(program: Program, plan: Plan) -> None:
    """Rows: torn unknowns of each block with their residuals and tangents, or weights; then all others."""
    for block in plan.blocks:
        beside = ("d_{}", "d_residual_{}") if block.tangents else ("weight_{}",) * bool(block.torn)
        for prefix in ("{}", "residual_{}", *beside):
            program.reserve([prefix.format(node.name) for node in block.torn])
    for block in plan.blocks:
        program.reserve([node.name for node in (*block.chain, *block.tangents) if node.kind != "field"])


def _equations(program: Program, plan: Plan, number: int, block: Block) -> Iterator[str]:
    """The sweeps of a block; explicit blocks that follow each other are one."""
    if block.torn:
        chain, part = equations(block), "; one = 0: without the terms free of these" * (block.kind == "linear")
    elif number in _runs(plan):
        chain, part = _runs(plan)[number], ""
    else:
        return
    doc = f"Block {number}, {block.kind}: {', '.join(n.name for n in chain if n.name in set(_names(plan)))}{part}."
    yield program.function(f"_equations_{number}", doc, program.statements(chain))
    if block.tangents:
        doc = f"Block {number}: what the residuals do along a direction of {', '.join(n.name for n in block.torn)}."
        yield program.function(f"_tangents_{number}", doc, program.statements(block.tangents))


def _names(plan: Plan) -> Iterator[str]:
    return (node.name for block in plan.blocks for node in block.chain)


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


def _entries(program: Program, plan: Plan) -> Iterator[str]:
    """What Python calls: residuals and Jacobian of a stage, and the solver that takes the stages in order."""
    runs = _runs(plan)
    torn = [(number, block) for number, block in enumerate(plan.blocks, start=1) if block.torn]
    newton = " or ".join(f"stage == {stage}" for stage, (_, block) in enumerate(torn) if block.tangents) or "False"
    before, done = Text(), 0
    for stage, (number, _) in enumerate(torn):
        for first in (first for first in range(done + 1, number) if first in runs):
            with before.indent(f"if stage == {stage}:"):
                before.line(f"_equations_{first}({ARGUMENTS})")
        done = number
    plain = [(f"stage == {stage}", f"_equations_{number}") for stage, (number, _) in enumerate(torn)]
    along = [
        (f"stage == {stage}", f"_tangents_{number}" if block.tangents else f"_equations_{number}")
        for stage, (number, block) in enumerate(torn)
    ]
    tangents = [
        (f"stage == {stage} and along", f"_tangents_{number}")
        for stage, (number, block) in enumerate(torn)
        if block.tangents
    ]
    yield Template(read("stages")).substitute(
        newton=newton, sweeps=_dispatch(plain, 1), tangents=_dispatch(along, 2).replace("numbers", "homogeneous")
    )
    yield Template(read("solve")).substitute(
        vectors=len(program.places.vectors),
        matrices=len(program.places.matrices),
        stages=len(torn),
        newton=newton,
        before="\n".join(indented(before.lines, 2)),
        sweeps=_dispatch([*tangents, *plain], 4),
    )


def _dispatch(cases: Sequence[tuple[str, str]], depth: int) -> str:
    """Calls of functions by conditions."""
    text = Text()
    for number, (condition, function) in enumerate(cases):
        with text.indent(f"{'elif' if number else 'if'} {condition}:"):
            text.line(f"{function}({ARGUMENTS})")
    return "\n".join(indented(text.lines, depth))


def _ridge_slopes(program: Program, plan: Plan) -> str:
    """The function of the derivatives of the residuals of the nonlinear block in the ridge, at fixed unknowns."""
    (block,) = (block for block in plan.blocks if block.kind == "nonlinear")
    if any(RIDGE in node.body.free_symbols for node in block.chain):
        raise ValueError("the ridge enters before the residuals")
    slopes = [(n, sp.diff(residual(n), RIDGE)) for n in block.torn]
    nodes = [Node(f"slope_{n.name}", "family", n.indices, slope) for n, slope in slopes if slope != 0]
    program.reserve([node.name for node in nodes])
    doc = "Derivatives in the ridge of the residuals of the first stage, where they have one."
    return program.function("ridge_slopes", doc, program.statements(nodes), entry=True)
