"""Emission of the equations of a bulk that has more than one covariance: text, which the runtime evaluates.

The averages over kappa and the output are those of the system with isotropic rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import sympy as sp

from codegen.certificate import emit_check
from codegen.coupled import coupled_block
from codegen.lower.text import wrapped
from codegen.manifest import signature, sources_of
from codegen.plan import Block, Plan, chain_calculus, explicit_order, nodes_of
from codegen.sensitivity import emit_tangents
from codegen.system_module import of_spike, opening, runtime_imports
from derive.blocks import index, names_in
from derive.saddle import SaddleSystem, coupled_system, member
from derive.spectrum import SpectralLaw, norm_names, plain_law, weight_names

# what the samples of every step add to the inverse of the mean resolvent, in the rows that they stand in, and its
# adjoint: both follow from the other unknowns, by equations of their own that are solved within those of the system
INNER = ("X_own", "adjoint_X_own")


def emit_bulk(law: SpectralLaw, directions: int = 1, spikes: int = 1) -> str:
    """Text of the module of a law; directions: of the target beside the spike, spikes: of the spike."""
    system = coupled_system(directions, spikes, law.name)
    inner = INNER if law.rows == "stretched" else ()
    block = block_of(system, coupled_system(directions, spikes, plain_law(law).name), inner)
    parts = [
        f"UNKNOWNS = {tuple(node.name for node in block.torn if node.name not in inner)!r}",
        f"INNER = {inner!r}",
        emit_check(Plan(system, (block,)), "ArrayCertificate"),
        emit_tangents(system, block, _moving(law, directions, spikes), [*_slopes(system, block)] if inner else []),
    ]
    return bulk_module(
        f"Equations of any convex loss, {law.title}, {directions} direction(s) beside the spike, {of_spike(spikes)}any "
        "number of blocks K",
        [sp.srepr(e.body) for e in system.equations],
        "\n\n\n".join(["\n".join(parts[:2]), *parts[2:]]),
    )


def _moving(law: SpectralLaw, directions: int, spikes: int) -> tuple[str, ...]:
    """What moves of a law with the parameters of a model: nothing of rows that are given."""
    if law.rows == "gaussian":
        return (str(law.covariance.base.label), *weight_names(law, directions, spikes), *norm_names(law, directions))
    return ("sample", "base", "chi", "along", "earlier", "tie_last") if law.rows == "stretched" else ()


def _slopes(system: SaddleSystem, block: Block) -> Iterator[tuple[sp.Expr, sp.Expr]]:
    """The derivative of what samples of a step add in the mean resolvent in their rows, which is no other step's; and
    of that in what those of all steps add.
    """
    calculus, added = chain_calculus(system, block.chain), system.equation(INNER[0])
    s, t, f, g, h, k, y, z = (index(name) for name in "stfghkyz")
    body = added.body.xreplace(dict(zip(added.indices, (s, f, g), strict=True)))
    in_own = calculus.derivative(body, member("Res_own", (t, h, k))).subs(t, s)
    yield member("slope_own", (s, f, g, h, k)), in_own
    yield (
        member("slope_Res", (s, h, k, t, y, z)),
        calculus.derivative(member("Res_own", (s, h, k)), member(INNER[0], (t, y, z))),
    )


def block_of(system: SaddleSystem, plain: SaddleSystem, more: Iterable[str] = ()) -> Block:
    """The unknowns of the isotropic system and ``more``, and all others in explicit order."""
    nodes = nodes_of(system)
    torn = [*(node.name for node in coupled_block(plain).torn), *more]
    left = [name for name in sorted(nodes) if name not in torn]
    inside = {name: names_in(nodes[name].body) & set(left) - {name} for name in left}
    order = explicit_order(left, inside)
    if order is None:
        raise ValueError(f"no explicit order for {', '.join(left)}")
    return Block("nonlinear", tuple(nodes[n] for n in torn), tuple(nodes[n] for n in order), ())


def bulk_module(title: str, canonical_forms: Iterable[str], body: str, note: str = "") -> str:
    """Text of a module about a bulk, signed by what it is made of."""
    signed = signature([title, *canonical_forms, *sources_of(__name__)])
    note = f"\n{note}\n" if note else ""
    imports = f"\n{found}\n" if (found := runtime_imports(body)) else ""
    numpy = "import numpy as np\n" if "np." in body else ""
    text = f'''{opening(f"{title} [THEORY section 5].")}
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
