"""Emission of what a trained bulk changes: the resolvent of its covariance, and the equations that know about it.

The averages over kappa and the output do not: they come from the coupled system of the isotropic bulk. What is emitted
here are NumPy functions of a dictionary of arrays, by name, with an axis for the spectrum.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sympy as sp

from codegen.certificate import emit_check
from codegen.coupled import coupled_block
from codegen.lower.text import wrapped
from codegen.manifest import signature, sources_of
from codegen.plan import Block, Node, Plan, explicit_order, nodes_of, residual
from codegen.print.numpy_arrays import Array, ArrayPrinter, SpectralPrinter
from codegen.print.printer import Function, StateFunction
from codegen.sensitivity import emit_motion
from codegen.system_module import FOLDER, runtime_imports
from derive.blocks import KAPPA, family, names_in
from derive.bulk_resolvent import OVERLAP, RESIDUAL, BulkResolvent, bulk_resolvent
from derive.canonical import canonical
from derive.gaussian.expectation import Expectation
from derive.saddle import SaddleSystem, coupled_system
from derive.spectrum import GIVEN, TRAINED, SpectralLaw, X, weight_names
from derive.symbols import SYMMETRIC

RESOLVENT_PATH = "bulk_resolvent.py"
_WEIGHTS = ("weight", "weight_t", "weight_tt")
MOVING = {TRAINED.name: ("Sigma",), GIVEN.name: ()}  # of a law, along parameters of the model


def emit_bulks() -> dict[str, str]:
    """Path below ``generated/`` -> text of the equations of the bulks that are not isotropic."""
    return {
        f"{FOLDER}/trained_bulk.py": emit_bulk(TRAINED, "Sigma", "a trained bulk, any number of blocks"),
        f"{FOLDER}/given_bulk.py": emit_bulk(GIVEN, "spectrum", "a given bulk, one block"),
    }


# --- the equations of the bulk --------------------------------------------------------------------------------------


def emit_bulk(law: SpectralLaw, points: str, scope: str) -> str:
    """Text of the module of the equations that a bulk changes; points: name of the array of its spectrum.

    Raises ValueError where an average over kappa is not one of the isotropic system.
    """
    given = (points, *weight_names(law))
    system, plain = coupled_system(bulk=law.name), coupled_system()
    block = _block(system, plain)
    chain, inputs = _chain(plain, block)
    torn = tuple(node for node in block.torn if node.name != "m")
    residuals = [Node(f"residual_{n.name}", "family", n.indices, residual(n)) for n in torn]
    energy = [Node("free_energy", "family", (), system.free_energy)]
    functions = (
        _function("chain", "Everything that follows from unknowns and conjugates, stored beside them.", chain),
        _function("residual", "The residuals of the unknowns, stored beside them.", residuals),
        _function("free_energy", "The free energy, stored as such.", energy),
    )
    parts = [
        f"UNKNOWNS = {tuple(n.name for n in torn)!r}",
        f"INPUTS = {inputs!r}",
        f"GIVEN = {given!r}",
        *(function.text(_printer(chain)) for function in functions),
        emit_check(Plan(system, (block,))),
        emit_motion(system, block, MOVING[law.name]),
    ]
    return _module(
        f"Equations of {scope}",
        [sp.srepr(e.body) for e in system.equations],
        "\n\n\n".join(["\n".join(parts[:3]), *parts[3:]]),
    )


def _block(system: SaddleSystem, plain: SaddleSystem) -> Block:
    """The unknowns of the isotropic system, and all others in explicit order."""
    nodes = nodes_of(system)
    torn = [node.name for node in coupled_block(plain).torn]
    left = [name for name in sorted(nodes) if name not in torn]
    inside = {name: names_in(nodes[name].body) & set(left) - {name} for name in left}
    order = explicit_order(left, inside)
    if order is None:
        raise ValueError(f"no explicit order for {', '.join(left)}")
    return Block("nonlinear", tuple(nodes[n] for n in torn), tuple(nodes[n] for n in order), ())


def _chain(plain: SaddleSystem, block: Block) -> tuple[list[Node], tuple[str, ...]]:
    """(what follows from the averages over kappa, names of those averages)."""
    chain, inputs = [], []
    for node in block.chain:
        if node.kind in ("average", "field") or node.name in ("Q2", "V2"):
            continue
        if not node.body.has(Expectation):
            chain.append(node)
            continue
        average = plain.equation(node.name).body
        rest = canonical(node.body - average, SYMMETRIC)
        if rest.has(Expectation):
            raise ValueError(f"{node.name} has an average over kappa that the isotropic system does not have")
        if rest == 0:
            inputs.append(node.name)
            continue
        inputs.append(f"average_{node.name}")
        chain.append(Node(node.name, "family", node.indices, rest + family(inputs[-1])[node.indices]))
    return chain, tuple(sorted(inputs))


def _function(name: str, doc: str, nodes: Sequence[Node]) -> StateFunction:
    """A function that stores nodes in order."""
    needed = set().union(*(_names(node.body) for node in nodes)) - {node.name for node in nodes}
    return StateFunction(name, doc, sorted(needed), [(node.name, node.body) for node in nodes])


def _printer(nodes: Sequence[Node]) -> SpectralPrinter:
    inverses = frozenset(node.name for node in nodes if node.kind == "inverse")
    return SpectralPrinter(inverses=inverses, spectral=frozenset(n.name for n in nodes if X in n.indices))


def _names(body: sp.Expr) -> set[str]:
    """Families, parameters and arrays that a body needs."""
    symbols = {s.name for s in body.free_symbols if isinstance(s, sp.Symbol) and not s.is_integer and s != KAPPA}
    found = names_in(body) | symbols
    found |= {"identity"} if body.has(sp.KroneckerDelta) else set()
    return found | ({"weight"} if body.has(Expectation) else set())


# --- the resolvent of the covariance --------------------------------------------------------------------------------


def emit_resolvent() -> str:
    """Text of ``generated/bulk_resolvent.py``."""
    derived = bulk_resolvent()
    slope = sp.diff(derived.trace, sp.Symbol("S", positive=True))
    nodes = f"alpha_0, e, {', '.join(_WEIGHTS)}"
    functions = (
        Function(
            "equation",
            "What vanishes at the trace S of the resolvent at the shift w, and its derivative in S.",
            f"w, S, {nodes}",
            (("value", derived.trace), ("slope", slope)),
        ),
        Function(
            "projections",
            "(theta.Res.theta, v.Res.theta, v.Res.v) at the shift w, n the length of v before it is normalised.",
            f"w, S, n, {nodes}",
            (("S_theta", derived.along), ("S_v", derived.mixed), ("cross", derived.cross), ("own", derived.own)),
            "S_theta, cross, own",
        ),
    )
    return _module(
        "The resolvent of the matrix C that the covariance of the trained bulk depends on",
        _reprs(derived),
        "\n\n\n".join(function.text(_LawPrinter()) for function in functions),
        note="e, weight, weight_t, weight_tt: nodes of the law of the residual e of the step, with weights for means "
        "of\nfunctions of e, of those times t = theta.x, and times t^2.",
    )


def _reprs(derived: BulkResolvent) -> list[str]:
    return [sp.srepr(x) for x in (derived.trace, derived.along, derived.mixed, derived.cross, derived.own)]


@dataclass
class _LawPrinter(ArrayPrinter):
    """Averages are sums over the law of the residual, t averaged in the weights."""

    vectors: frozenset[str] = frozenset({"e"})
    shared: bool = True

    def _average(self, node: Expectation) -> Array:
        inside = node.integrand.subs(RESIDUAL, sp.Symbol("e", real=True))
        power = sp.degree(inside, OVERLAP) if inside.has(OVERLAP) else 0
        return self.over_nodes(_WEIGHTS[power], inside / OVERLAP**power)


def _module(title: str, canonical_forms: Iterable[str], body: str, note: str = "") -> str:
    signed = signature([title, *canonical_forms, *sources_of(__name__)])
    note = f"\n{note}\n" if note else ""
    imports = f"\n{found}\n" if (found := runtime_imports(body)) else ""
    text = f'''"""{title}  [THEORY section 5].
{note}
Generated; do not edit. Signature {signed[:16]}.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np
{imports}
SIGNATURE = "{signed}"


{body}
'''
    return "\n".join(wrapped(text.splitlines())) + "\n"
