"""Emission of what a second step on the same batch adds to the rows: averages over samples, and what they make."""

from __future__ import annotations

import sympy as sp

from codegen.manifest import signature, sources_of
from codegen.print.numpy_arrays import ArrayPrinter
from codegen.print.printer import Function, texts
from codegen.text import closing
from derive.blocks import family
from derive.further_step import AXIS, B, C, E
from derive.gaussian.expectation import Expectation
from derive.repeated_batch import RepeatedBatch, repeated_batch
from derive.seen_sample import FIRST

PATH = "repeated_batch.py"
_SAMPLES = "weight, kappa_v, t, e_0, F_0, D, S_0, S_1, S_2, S_g, S_s, S_q, u, pi"


def emit_repeated_batch() -> str:
    """Text of ``generated/repeated_batch.py``."""
    batch = repeated_batch()
    named = _averages(batch)
    short = {node: symbol for symbol, node in named}
    sums = tuple((str(symbol.base.label), node) for symbol, node in named)
    rows = (
        ("P_2", batch.pull),
        ("P_t2", batch.across),
        ("J", batch.response),
        ("delta_2", batch.drift),
        ("varsigma_2", batch.spread),
    )
    functions = (
        Function(
            "own_term",
            "What samples have added to their own pre-activations, [K, N], over the slopes then.",
            "e_0, u, A, alpha_0",
            (("own", batch.own),),
        ),
        Function(
            "samples",
            "The common weights phi and G [K, N] of samples in both steps, and sums over samples for ``rows``.",
            _SAMPLES,
            (("e_1", batch.residual), ("phi", batch.phi), ("G", batch.common), *sums),
            f"phi, G, ({', '.join(name for name, _ in sums)})",
        ),
        Function(
            "rows",
            "What the second step adds: P_2 [K, q], P_t2 [K, m]; J [K, K]; delta_2, varsigma_2 [K] of both steps.",
            "identity, c, u, pi, delta, varsigma, A, A_2, alpha_0, sums",
            tuple((name, expr.xreplace(short)) for name, expr in rows),
            unpacked=", ".join(name for name, _ in sums),
        ),
        Function(
            "noise",
            "The noise xi [K, N] of the rows of every block after both steps, of samples with the weights phi and G.",
            "phi, G, J, u, A, A_2, alpha_0",
            (("xi", batch.noise),),
        ),
    )
    canonical = [sp.srepr(expr) for function in functions for _, expr in function.results]
    signed = signature([*canonical, *sources_of(__name__)])
    return _TEXT.format(closing=closing(signed), signature=signed, functions=texts(functions, ArrayPrinter()))


def _averages(batch: RepeatedBatch) -> list[tuple[sp.Indexed, Expectation]]:
    """The averages that the rows are made of, by name."""
    (along,), (across,) = batch.pull.atoms(Expectation), batch.across.atoms(Expectation)
    (tilt,), others = batch.drift.atoms(Expectation), batch.spread.atoms(Expectation)
    (pair,) = batch.response.atoms(Expectation) - others
    (turn,) = batch.response.atoms(Expectation) - {pair}
    memory, square = sorted(others - {turn}, key=lambda node: not node.has(FIRST))
    names = {"G_v": (B, E), "G_t": (B, AXIS), "pair": (B, C)} | dict.fromkeys(("turn", "tilt", "memory", "own"), (B,))
    nodes = (along, across, pair, turn, tilt, memory, square)
    return [(family(name)[indices], node) for (name, indices), node in zip(names.items(), nodes, strict=True)]


_TEXT = '''"""A second giant step on the batch of the step before  [THEORY section 12].

Averages are sums over N nodes of a sample of the batch with the weights weight [N]; kappa_v [q, N], t [m, N]: its
coordinates along the spike before both steps and along the rest of the target; e_0, F_0 [N]: residual and output at the
first step; D [K, N]: E sigma' of the blocks there; given the sample the averages over the rows at the second step S_0
[K, N] of sigma, S_1 of sigma', S_2 of sigma'', S_g of g sigma', S_s of sigma' in both steps, S_q of sigma'^2. c [K]:
bulk variances before both steps; u, pi [K]: values of the readout and their fractions; delta, varsigma [K]: what the
first step has done to the bulk; A, A_2: rates. The noise of two blocks has the product sum_n weight_n xi_bn xi_cn.

{closing}
"""

# fmt: off
import numpy as np

SIGNATURE = "{signature}"


{functions}
'''
