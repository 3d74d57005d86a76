"""Emission of the equations of a bulk that has more than one covariance: text, which the runtime evaluates.

The averages over kappa and the output are those of the system with isotropic rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import sympy as sp

from codegen.certificate import emit_check
from codegen.coupled import coupled_block
from codegen.lower.text import wrapped
from codegen.manifest import signature, sources_of
from codegen.plan import Block, Plan, chain_calculus, explicit_order, nodes_of
from codegen.sensitivity import emit_tangents
from codegen.system_module import of_spike, opening, runtime_imports
from derive.blocks import BlockSum, index, names_in
from derive.saddle import SaddleSystem, coupled_system, member
from derive.spectrum import SpectralLaw, norm_names, plain_law, weight_names

# X, what the samples of a step add to the inverse of the mean resolvent, and its adjoint: both follow from the other
# unknowns, by equations of their own that are solved within those of the system
INNER = ("X", "adjoint_X")


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
    """The derivative of what X equals in X: that of what samples of a step add in the mean resolvent in their rows,
    which is no other step's; and the whole, by the chain rule.
    """
    calculus = chain_calculus(system, block.chain)
    s, t, f, g, h, k, y, z = (index(name) for name in "stfghkyz")
    in_own = calculus.derivative(member("X_own", (s, f, g)), member("Res_own", (t, h, k))).subs(t, s)
    yield member("slope_own", (s, f, g, h, k)), in_own
    added = system.equation(INNER[0])
    outside = replace(calculus, definitions={key: d for key, d in calculus.definitions.items() if key != "X_own"})
    left = outside.derivative(added.body, member("X_own", (s, f, g)))
    right = calculus.derivative(member("Res_own", (s, h, k)), member(INNER[0], (y, z)))
    slope = _summed(member("slope_own", (s, f, g, h, k)) * left * right, (f, g, h, k, s))
    yield member(f"slope_{INNER[0]}", (*added.indices, y, z)), slope


def _summed(product: sp.Expr, bound: Iterable[sp.Symbol]) -> sp.Expr:
    """A product summed over one index after the other, of the factors that have it alone: loops stay short."""
    factors = list(sp.Mul.make_args(product))
    for each in bound:
        inside = [factor for factor in factors if each in factor.free_symbols]
        factors = [*(factor for factor in factors if factor not in inside), BlockSum(sp.Mul(*inside), each)]
    return sp.Mul(*factors)


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
