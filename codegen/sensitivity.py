"""How a solution moves with the parameters of its model: tangents of all equations, as text that the runtime evaluates.

Beside the Newton matrix this is all that implicit differentiation needs: with resting unknowns the text gives
dF/dtheta, with their motion it gives that of the observables, and residuals that vanish.
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from codegen.certificate import EquationPrinter
from codegen.places import BLOCK_COLUMNS, scalar_columns
from codegen.plan import Block, Node, chain_calculus, residual
from codegen.program import OBSERVABLES
from derive.blocks import KAPPA, block_field, family, names_in
from derive.saddle import SaddleSystem, member
from derive.sensitivity import RATES, ParameterTangent
from derive.tangent import Tangent, tangent_name


def tangent_of(calculus: Tangent, node: Node) -> sp.Expr:
    """The tangent of one unknown of a chain."""
    if node.kind == "average":
        return calculus.through(block_field(node.name)(KAPPA))
    if node.kind == "inverse" or node.name in calculus.parallel:
        return calculus.through(member(node.name, node.indices))
    return calculus.of(node.body)


def emit_motion(system: SaddleSystem, block: Block, moving: tuple[str, ...] = ()) -> str:
    """The tangents of a system as text, and ``motion``, its definitions.

    Given are the tangents of the torn unknowns, of the coefficients of the features, the rates of the parameters, and
    tangents of what else is ``moving``.
    """
    text = EquationPrinter().doprint
    lines = [f"{text(left)} := {text(body)}" for left, body in _needed(_tangents(system, block, moving), system)]
    columns = scalar_columns(system.directions, system.spikes)
    return "\n".join(['TANGENTS = """', *lines, '"""', f"motion = Definitions(TANGENTS, {columns!r})"])


def _tangents(system: SaddleSystem, block: Block, moving: tuple[str, ...]) -> Iterator[tuple[sp.Expr, sp.Expr]]:
    """(what is defined, tangent) of the chain, the residuals and the observables, in order."""
    rules = chain_calculus(system, block.chain)
    inside = frozenset(n.name for n in block.chain if n.kind in ("field", "average"))
    calculus = ParameterTangent(
        rules.definitions,
        rules.inverses,
        rules.parallel,
        rules.symmetric,
        system.partials,
        (frozenset(block.names) - inside) | frozenset(moving),
        inside | frozenset(BLOCK_COLUMNS),
        RATES,
    )
    for node in block.chain:
        name = tangent_name(node.name)
        left = sp.Symbol(name, real=True) if node.name in inside else family(name)[node.indices]
        yield left, tangent_of(calculus, node)
    for node in block.torn:
        yield family(f"d_residual_{node.name}")[node.indices], calculus.of(residual(node))
    for name in OBSERVABLES:
        yield sp.Symbol(tangent_name(name), real=True), calculus.of(getattr(system, name))


def _needed(tangents: Iterator[tuple[sp.Expr, sp.Expr]], system: SaddleSystem) -> list[tuple[sp.Expr, sp.Expr]]:
    """Those that are results, or that a later one needs."""
    wanted = {*map(tangent_name, (*OBSERVABLES, *(field.name for field in system.fields)))}
    kept: list[tuple[sp.Expr, sp.Expr]] = []
    for left, body in reversed(list(tangents)):
        name = str(left.base.label) if isinstance(left, sp.Indexed) else str(left)
        if name in wanted or name.startswith("d_residual_"):
            kept.insert(0, (left, body))
            wanted |= names_in(body)
    return kept
