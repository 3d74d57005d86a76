"""A density of readout values: the functional of blocks with averages over u in the place of sums."""

from __future__ import annotations

from typing import Any

import sympy as sp

from derive.blocks import BlockSum, family, index, rename
from derive.operations import computed
from derive.symbols import BETA, FRACTION
from derive.trace import Claim, Derivation, Recorder

B, U, OTHER = index("b"), index("u"), index("w")
T, PER_NEURON, DENSITY = family("T"), family("t"), family("varpi")
MEASURE = sp.Symbol("Delta_u", positive=True)
_SOURCE = "THEORY section 13"


def continuous_readout(free_energy: Any, slope_in_t: Any) -> Derivation:
    """Phi of a density, and the equation of its response, from those of blocks: free_energy, and the slope of the
    spectral potential in T_b.
    """
    trace = Recorder("A density of readout values")
    trace.define(
        "blocks of a density",
        FRACTION[B],
        DENSITY[B] * MEASURE,
        "a block for each interval of $u$, with the share that the density $\\varpi$ gives it",
        _SOURCE,
    )
    trace.define(
        "response by neuron",
        T[B],
        DENSITY[B] * MEASURE * PER_NEURON[B],
        "$T_b$ is in proportion to the share of its block",
        _SOURCE,
    )
    trace.define(
        "slope of blocks", sp.Symbol("s_T"), slope_in_t, "the slope of the spectral potential in $T_b$", _SOURCE
    )
    trace.derive(
        "response of a density",
        BETA,
        computed(
            "substitute",
            "the shares cancel: the response of a neuron has a limit as the intervals shrink",
            "slope of blocks",
            "blocks of a density",
            "response by neuron",
            by=_response,
            test=Claim(_cancelled),
        ),
        _SOURCE,
    )
    trace.define(
        "functional of blocks", sp.Symbol("free_energy"), free_energy, "$\\Phi$ of finitely many values", _SOURCE
    )
    trace.derive(
        "functional of a density",
        sp.Symbol("free_energy"),
        computed(
            "take the limit",
            "sums over blocks are integrals over $u$ as the intervals shrink; $V^{(1)}$, $M$ have a diagonal part",
            "functional of blocks",
            by=integrated,
            test=Claim(lambda found, body: (body, _summed(found))),
        ),
        _SOURCE,
    )
    return trace.finish()


def integrated(expr: Any) -> Any:
    """An expression with integrals over u in the place of its sums over blocks, inner ones over w."""
    return _integrated(expr, (U, OTHER))


def _integrated(expr: Any, letters: tuple[sp.Symbol, ...]) -> Any:
    if isinstance(expr, BlockSum):
        letter, *rest = letters
        body = _integrated(rename(expr.body, {expr.bound: letter}), (*rest, letter))
        return sp.Integral(body, letter)
    if not expr.args:
        return expr
    return expr.func(*(_integrated(arg, letters) for arg in expr.args))


def _summed(expr: Any) -> Any:
    """Sums over blocks in the place of integrals."""
    return expr.replace(sp.Integral, lambda body, *limits: _nested(body, [limit[0] for limit in limits]))


def _nested(body: Any, letters: list[sp.Symbol]) -> Any:
    return body if not letters else _nested(BlockSum(body, letters[0]), letters[1:])


def _response(slope: Any, share: Any, response: Any) -> Any:
    """t (lambda + V2_hat + S) = beta."""
    at = slope.xreplace({T[B]: response, FRACTION[B]: share})
    return sp.expand(sp.cancel(at * PER_NEURON[B]) + BETA)


def _cancelled(found: Any, slope: Any, share: Any, response: Any) -> tuple[Any, Any]:
    return found - BETA, PER_NEURON[B] * slope.xreplace({T[B]: response, FRACTION[B]: share})
