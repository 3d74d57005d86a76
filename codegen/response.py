"""Emission of the response: the part of the square-loss system that knows the features but no target, at complex ridge.

The equations of the first, nonlinear block of the solver fix the response functions; as functions of the ridge they are
the resolvent of the features' Gram matrix. They are rational in the unknowns, so the same statements run on complex
numbers. The linear block that follows them holds the overlaps with the spike, whose homogeneous part tells outliers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sympy as sp

from codegen.layout import FIELD_RANK, Layout
from codegen.solver import NUMBERS, Module
from codegen.structure import Block, Node, Plan, residual
from codegen.sweeps import equations
from codegen.templates import read
from derive.blocks import names_in
from derive.saddle import RANK
from derive.symbols import RIDGE

_TANGENT = ("d_{}", "d_residual_{}")


def emit_response(plan: Plan) -> str:
    """Text of the module below its header. Raises ValueError where the equations are not analytic in the unknowns."""
    response, overlaps = _blocks(plan)
    module = Module(plan, Layout(compact=True))
    _reserve(module, response, overlaps)
    functions = [
        module.function("_response", module.lower(equations(response), "E_"), f"Residuals of {_names(response)}."),
        module.function("_tangents", module.lower(response.tangents, "D_"),
                        f"What the residuals do along a direction of {_names(response)}."),
        module.function("_slopes", module.lower(list(_slopes(response)), "R_"),
                        "Derivatives of the residuals in the ridge."),
        module.function("_overlaps", module.lower(_homogeneous(overlaps), "L_"),
                        f"Residuals of {_names(overlaps)}; one = 0: their linear part."),
    ]  # fmt: skip
    sizes = {
        "response": module.layout.length([n.name for n in response.torn]),
        "overlaps": module.layout.length([n.name for n in overlaps.torn]),
        "unknown": f"o_{response.torn[0].name}",
        "overlap": f"o_{overlaps.torn[0].name}",
    }
    helpers = read("helpers").split("\n\n\n")[:2]
    entry = module.fill("response", **sizes)
    known = f"UNKNOWNS = {_tuple(response)}\nOVERLAPS = {_tuple(overlaps)}"
    parts = [known, _workspace(module, response), *helpers, read("invert_pivoted"), *functions, entry]
    return "\n\n\n".join(parts) + "\n"


def _blocks(plan: Plan) -> tuple[Block, Block]:
    """The nonlinear block and the linear one after it, both analytic in what they are written in."""
    response = next(block for block in plan.blocks if block.kind == "nonlinear")
    overlaps = next(block for block in plan.blocks if block.kind == "linear")
    before = {name for block in (response, overlaps) for name in block.names}
    for node in (*response.chain, *response.torn, *overlaps.chain, *overlaps.torn):
        if node.body.has(sp.Abs, sp.sign, sp.Max, sp.Min):
            raise ValueError(f"the equation of {node.name} is not analytic: {node.body}")
    known = {node.name for block in plan.blocks for node in (*block.chain, *block.torn)}
    for node in (*response.chain, *response.torn):
        if names_in(node.body) & known - set(response.names):
            raise ValueError(f"the equation of {node.name} needs more than the response")
    for node in (*overlaps.chain, *overlaps.torn):
        if names_in(node.body) & known - before:
            raise ValueError(f"the equation of {node.name} needs more than the response")
    return response, overlaps


def _names(block: Block) -> str:
    return ", ".join(node.name for node in block.torn)


def _tuple(block: Block) -> str:
    return repr(tuple(node.name for node in block.torn))


def _slopes(block: Block) -> Iterator[Node]:
    """The explicit dependence of the residuals on the ridge."""
    if any(RIDGE in node.body.free_symbols for node in block.chain):
        raise ValueError("the ridge enters before the residuals")
    for node in block.torn:
        yield Node(f"slope_{node.name}", "family", node.indices, sp.diff(residual(node), RIDGE))


def _homogeneous(block: Block) -> list[Node]:
    """The chain and the residuals, affine in the unknowns; weights of the finite-size term are left out."""
    return [node for node in equations(block) if not node.name.startswith("weight_")]


def _reserve(module: Module, response: Block, overlaps: Block) -> None:
    """Places in the workspace: numbers; unknowns, residuals, tangents, slopes; overlaps, their residuals; the rest."""
    ranks = module.layout.ranks
    ranks |= dict.fromkeys(NUMBERS, 0)
    for prefix in ("{}", "residual_{}", *_TANGENT, "slope_{}"):
        ranks |= {prefix.format(node.name): RANK.get(node.name, 1) for node in response.torn}
    for prefix in ("{}", "residual_{}"):
        ranks |= {prefix.format(node.name): RANK.get(node.name, 1) for node in overlaps.torn}
    nodes = [*response.chain, *response.tangents, *overlaps.chain]
    ranks |= {n.name: _rank(n) for n in nodes if n.kind != "field" and n.name not in ranks}
    ranks |= {n.name: FIELD_RANK for n in nodes if n.kind == "field"}


def _rank(node: Node) -> int:
    return RANK.get(node.name, RANK.get(node.name.removeprefix("d_"), 1))


def _workspace(module: Module, response: Block) -> str:
    layout, shapes = module.layout, {FIELD_RANK: "(N,)", 1: "(K,)", 2: "(K, K)"}
    names: Sequence[str] = sorted(response.names)
    places = [f'        "{name}": ({layout.offset(name)}, {shapes[layout.ranks[name]]}),' for name in names]
    return "\n".join([
        "def workspace_size(K, N):", '    """Length of the complex workspace for K blocks and N nodes."""',
        f"    return {layout.total()}", "", "", "def layout(K, N):",
        '    """Start and shape of every unknown in the workspace."""', "    return {", *places, "    }",
    ])  # fmt: skip


def response_sources() -> tuple[str, ...]:
    """Files of this package that the text of the module depends on."""
    return (
        "layout.py", "lowering.py", "nests.py", "response.py", "solver.py", "stages.py", "structure.py", "sweeps.py",
        "system.py",
        "templates/helpers.txt", "templates/invert_pivoted.txt", "templates/response.txt",
    )  # fmt: skip
