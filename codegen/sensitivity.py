"""Emission of the tangents of a system along unknowns, parameters and coefficients, in NumPy.

Beside the Newton matrix this is all that implicit differentiation needs: called with resting unknowns it gives
dF/dtheta, called with their motion it gives that of the observables, and residuals that vanish.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sympy as sp

from codegen.coupled import coupled_block, tangent_of
from codegen.lower.text import Text, wrapped
from codegen.manifest import signature, sources_of
from codegen.places import BLOCK_COLUMNS, PARAMETERS, scalar_columns
from codegen.plan import Block, chain_calculus, residual
from codegen.print.numpy_arrays import Vectorised
from codegen.printers import numba_assignments
from codegen.program import OBSERVABLES
from codegen.system_module import FOLDER
from derive.gaussian.expectation import Expectation
from derive.gradient_step import gradient_step_map
from derive.labels import FLIPS, PROBIT
from derive.language.links import MAX_INDICES
from derive.network_step import A
from derive.output import output_averages
from derive.saddle import SaddleSystem, coupled_system
from derive.scalar import scalar_function
from derive.sensitivity import (
    PHI,
    RATES,
    REST,
    G,
    ParameterTangent,
    coefficient_slopes,
    step_slopes,
)
from derive.tangent import tangent_name

SLOPES_PATH = f"{FOLDER}/slopes.py"
_LENGTH = sp.Symbol("s_11", nonnegative=True)


def emit_responses(directions: Iterable[int] = range(1, MAX_INDICES + 1)) -> dict[str, str]:
    """Path below ``generated/`` -> text: a module for each number of directions of the target, and the slopes."""
    texts = {f"{FOLDER}/tangents_{count}.py": emit_response(count) for count in directions}
    return {**texts, SLOPES_PATH: emit_slopes()}


def emit_response(directions: int) -> str:
    """Text of the tangents of the coupled system with one spike."""
    system = coupled_system(directions)
    block = coupled_block(system)
    body = _response(system, block)
    canonical = [sp.srepr(equation.body) for equation in system.equations]
    signed = signature([f"response {directions}", *canonical, *sources_of(__name__)])
    text = _HEADER.format(directions=directions, short=signed[:16], signature=signed) + body
    return "\n".join(wrapped(text.splitlines())) + "\n"


def _response(system: SaddleSystem, block: Block) -> str:
    rules = chain_calculus(system, block.chain)
    inside = frozenset(n.name for n in block.chain if n.kind in ("field", "average"))
    calculus = ParameterTangent(
        rules.definitions,
        rules.inverses,
        rules.parallel,
        rules.symmetric,
        system.partials,
        frozenset(block.names) - inside,
        inside | frozenset(BLOCK_COLUMNS),
        RATES,
    )
    text, arrays = Text(), Vectorised()
    with text.indent("def response(table, change, fraction, parameters, rates, state, moves):"):
        text.line(f'"""{_DOC}"""')
        text.line("K = fraction.shape[0]")
        text.line(f"{', '.join(PARAMETERS)} = parameters.tolist()")
        text.line(f"{', '.join(str(rate) for rate in RATES.values())} = rates")
        text.line("identity = np.eye(K)")
        text.line("columns = np.ascontiguousarray(table.T)")
        scalars = scalar_columns(system.directions)
        for number, name in enumerate(scalars):
            text.line(f"{name} = columns[{number}]")
        for number, name in enumerate(BLOCK_COLUMNS):
            text.line(f"{name} = columns[{len(scalars)} + {number}*K:{len(scalars)} + {number + 1}*K]")
            text.line(f"{tangent_name(name)} = change[{number}]")
        for name in sorted({*block.names, *output_averages(system.directions).monomials}):
            text.line(f'{name} = state["{name}"]')
        for node in block.torn:
            text.line(f'{tangent_name(node.name)} = moves["{node.name}"]')
        for node in block.chain:
            text.line(f"{tangent_name(node.name)} = {arrays.lower(tangent_of(calculus, node)).text}")
        for node in block.torn:
            text.line(f"d_residual_{node.name} = {arrays.lower(calculus.of(residual(node))).text}")
        for name in OBSERVABLES:
            text.line(f"d_{name} = {arrays.lower(calculus.of(getattr(system, name))).text}")
        residuals = ", ".join(f'"{node.name}": d_residual_{node.name}' for node in block.torn)
        text.line(f"residuals = {{{residuals}}}")
        text.line(f"observables = ({', '.join(f'd_{name}' for name in OBSERVABLES)})")
        fields = ", ".join(f'"{d.name}": {tangent_name(d.name)}' for d in system.fields)
        text.line(f"fields = {{{fields}}}")
        text.line("return residuals, observables, fields")
    return "\n".join(text.lines) + "\n"


def emit_slopes() -> str:
    """Text of the slopes of the conditional coefficients in s and c, and of the map of the step in A."""
    slopes = coefficient_slopes().slopes
    sigma, link = scalar_function("softplus"), scalar_function("sin")  # any with different moments, as for the map
    step = gradient_step_map(sigma, link, flips=FLIPS, probit=PROBIT)
    (overlap,) = step.overlaps
    strength = step.strength.xreplace({overlap**2: _LENGTH})
    moved = step_slopes(strength, step.bulk_variance, A)
    bodies = [*slopes.values(), *(expr for _, expr in moved)]
    signed = signature([sp.srepr(sp.Tuple(*bodies)), *sources_of(__name__)])
    (first,), (second,) = ([pair] for pair in moved)
    return _SLOPES.format(
        short=signed[:16],
        signature=signed,
        names=", ".join(slopes),
        slopes="\n".join(f"    {name} = {_averaged(body)}" for name, body in slopes.items()),
        strength=_lines([first]),
        bulk=_lines([second]),
    )


def _averaged(body: sp.Expr) -> str:
    """Text of a factor times the average over the last axis of the nodes of g."""
    (node,) = body.atoms(Expectation)
    factor = body / node
    inside = node.integrand.xreplace({PHI(G): sp.Symbol("phi"), REST(G): sp.Symbol("rest")})
    ((_, weight),) = _texts([("inside", inside)])
    ((_, outside),) = _texts([("factor", factor)])
    return f"{outside}*((weight*({weight})).sum(axis=-1))"


def _texts(pairs: Sequence[tuple[str, Any]]) -> list[tuple[str, str]]:
    return [(name, line.partition(" = ")[2]) for name, value in pairs for line in numba_assignments([(name, value)])]


def _lines(results: Sequence[tuple[str, Any]]) -> str:
    return "\n".join(f"    {line}" for line in numba_assignments(results))


_DOC = (
    "Tangents (residuals by unknown, (test error, training error, free energy), fields of kappa) along a motion.\n\n"
    "    change[3, K, N]: of mu0, mu1, mu2sq at the nodes; rates: of alpha, beta, ridge; state: families, fields and\n"
    "    averages at the solution; moves: tangents of the torn unknowns.\n    "
)
_HEADER = '''"""Tangents of the coupled system, {directions} direction(s) beside the spike  [THEORY section 4].

Generated; do not edit. Signature {short}.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

SIGNATURE = "{signature}"


'''
_SLOPES = '''"""Slopes of the conditional coefficients in s and c, and of the step's map in A  [THEORY sections 2, 3].

Generated; do not edit. Signature {short}.
Regenerate with: giantstep generate
"""

# fmt: off
import math

SIGNATURE = "{signature}"


def coefficient_slopes(g, weight, phi, rest, c):
    """({names}).

    From nodes g and weights of a standard normal, the last axis of all;
    phi = f(s + sqrt(c) g), rest = (phi - mu0 - mu1 g)^2.
    """
{slopes}
    return {names}


def strength_slope(A, alpha_0, mu_1, s_11, e_2):
    """d strength/dA."""
{strength}
    return strength_slope


def bulk_variance_slope(A, alpha_0, u, s_0, e_2, sigma_2, v_sigma):
    """d bulk_variance/dA."""
{bulk}
    return bulk_variance_slope
'''
