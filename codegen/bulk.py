"""Emission of what another bulk than the isotropic one changes: the equations that know about its spectrum.

The averages over kappa and the output do not: they come from the coupled system of the isotropic bulk. What is emitted
here are NumPy functions of a dictionary of arrays, by name, with an axis for the spectrum.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sympy as sp

from codegen.certificate import emit_check
from codegen.coupled import coupled_block
from codegen.lower.text import wrapped
from codegen.manifest import signature, sources_of
from codegen.plan import Block, Node, Plan, explicit_order, nodes_of, residual
from codegen.print.numpy_arrays import SpectralPrinter
from codegen.print.printer import StateFunction
from codegen.sensitivity import emit_tangents
from codegen.system_module import FOLDER, runtime_imports
from derive.blocks import KAPPA, family, names_in
from derive.canonical import canonical
from derive.gaussian.expectation import Expectation
from derive.saddle import SaddleSystem, coupled_system
from derive.spectrum import GIVEN, INPUTS, TRAINED, SpectralLaw, X, norm_names, plain_law, weight_names
from derive.symbols import SYMMETRIC


def emit_bulks() -> dict[str, str]:
    """Path below ``generated/`` -> text of the equations of the bulks that are not isotropic."""
    return {
        f"{FOLDER}/trained_bulk.py": emit_bulk(TRAINED, "Sigma", "a trained bulk, any number of blocks"),
        f"{FOLDER}/inputs_bulk.py": emit_inputs_bulk(1),
        f"{FOLDER}/{given_name(1)}.py": emit_given(1),
    }


def given_name(directions: int) -> str:
    """Name of the module of a given bulk for a number of directions of the target beside the spike."""
    return "given_bulk" if directions == 1 else f"given_bulk_{directions}"


def emit_given(directions: int) -> str:
    """Text of the module of the equations of a given bulk; others than that of one direction when asked for."""
    scope = "a given bulk, one block" + f", {directions} directions beside the spike" * (directions > 1)
    return emit_bulk(GIVEN, "spectrum", scope, directions)


def emit_inputs_bulk(directions: int, spikes: int = 1) -> str:
    """Text of the module of the equations of structured inputs; others than those of one direction when asked for."""
    scope = "structured inputs, " + f"spike of rank {spikes}, " * (spikes > 1)
    scope += f"{directions} directions beside it, " * (directions > 1) + "any number of blocks"
    return emit_bulk(INPUTS, "Sigma", scope, directions, spikes)


# --- the equations of the bulk --------------------------------------------------------------------------------------


def emit_bulk(law: SpectralLaw, points: str, scope: str, directions: int = 1, spikes: int = 1) -> str:
    """Text of the module of the equations that a bulk changes; points: name of the array of its spectrum.

    directions: of the target beside the spike; spikes: of the spike. Raises ValueError where an average over kappa is
    not one of the isotropic system.
    """
    given = (points, *weight_names(law, directions, spikes), *norm_names(law))
    system, plain = (coupled_system(directions, spikes, name) for name in (law.name, plain_law(law).name))
    block = block_of(system, plain)
    chain, inputs = chain_of(plain, block)
    torn = tuple(node for node in block.torn if node.name != "m")
    residuals = [Node(f"residual_{n.name}", "family", n.indices, residual(n)) for n in torn]
    energy = [Node("free_energy", "family", (), system.free_energy)]
    functions = (
        stored("chain", "Everything that follows from unknowns and conjugates, stored beside them.", chain),
        stored("residual", "The residuals of the unknowns, stored beside them.", residuals),
        stored("free_energy", "The free energy, stored as such.", energy),
    )
    parts = [
        f"UNKNOWNS = {tuple(n.name for n in torn)!r}",
        f"INPUTS = {inputs!r}",
        f"GIVEN = {given!r}",
        *(function.text(over_spectrum(chain)) for function in functions),
        emit_check(Plan(system, (block,))),
        emit_tangents(system, block, given if law.rows == "gaussian" else ()),
    ]
    return bulk_module(
        f"Equations of {scope}",
        [sp.srepr(e.body) for e in system.equations],
        "\n\n\n".join(["\n".join(parts[:3]), *parts[3:]]),
    )


def block_of(system: SaddleSystem, plain: SaddleSystem, more: Sequence[str] = ()) -> Block:
    """The unknowns of the isotropic system and ``more``, and all others in explicit order."""
    nodes = nodes_of(system)
    torn = [*(node.name for node in coupled_block(plain).torn), *more]
    left = [name for name in sorted(nodes) if name not in torn]
    inside = {name: names_in(nodes[name].body) & set(left) - {name} for name in left}
    order = explicit_order(left, inside)
    if order is None:
        raise ValueError(f"no explicit order for {', '.join(left)}")
    return Block("nonlinear", tuple(nodes[n] for n in torn), tuple(nodes[n] for n in order), ())


def chain_of(plain: SaddleSystem, block: Block) -> tuple[list[Node], tuple[str, ...]]:
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


def stored(name: str, doc: str, nodes: Sequence[Node]) -> StateFunction:
    """A function that stores nodes in order. Raises ValueError where indices are not, as the axes of arrays are."""
    if unsorted := [node.name for node in nodes if list(map(str, node.indices)) != sorted(map(str, node.indices))]:
        raise ValueError(f"indices out of order: {', '.join(unsorted)}")
    needed = set().union(*(_names(node.body) for node in nodes)) - {node.name for node in nodes}
    return StateFunction(name, doc, sorted(needed), [(node.name, node.body) for node in nodes])


def over_spectrum(nodes: Sequence[Node], contour: bool = True) -> SpectralPrinter:
    """The printer of equations over a spectrum; contour: whether its points may be complex."""
    inverses = frozenset(node.name for node in nodes if node.kind == "inverse")
    spectral = frozenset(n.name for n in nodes if X in n.indices)
    return SpectralPrinter(inverses=inverses, spectral=spectral, contour=contour)


def _names(body: sp.Expr) -> set[str]:
    """Families, parameters and arrays that a body needs."""
    symbols = {s.name for s in body.free_symbols if isinstance(s, sp.Symbol) and not s.is_integer and s != KAPPA}
    found = names_in(body) | symbols
    found |= {"identity"} if body.has(sp.KroneckerDelta) else set()
    return found | ({"weight"} if body.has(Expectation) else set())


def bulk_module(title: str, canonical_forms: Iterable[str], body: str, note: str = "") -> str:
    """Text of a module about a bulk, signed by what it is made of."""
    signed = signature([title, *canonical_forms, *sources_of(__name__)])
    note = f"\n{note}\n" if note else ""
    imports = f"\n{found}\n" if (found := runtime_imports(body)) else ""
    numpy = "import numpy as np\n" if "np." in body else ""
    text = f'''"""{title}  [THEORY section 5].
{note}
Generated; do not edit. Signature {signed[:16]}.
Regenerate with: giantstep generate
"""

# fmt: off
{numpy}{imports}
SIGNATURE = "{signed}"


{body}
'''
    return "\n".join(wrapped(text.splitlines())) + "\n"
