"""The bulk that one gradient step leaves: its covariance, and the resolvent of the matrix that it depends on.

With sigma' = mu_1 + (rest) and a rest without linear Hermite coefficient, row k of the first layer is
``w_k + (spike) + (A u_k/n0) sum_i e_i rest(w_k.x_i) x_i``: given the batch, Gaussian with covariance
``Sigma = 1 + a C, C = (1/n0) sum_i e_i^2 x_i x_i^T, a = (A u)^2 Var sigma'/alpha0``. The spike's direction
``v = (1/(n n0)) sum_i e_i x_i`` and the target's are correlated with C; what the readout needs is the resolvent of C
between them, which leaving one sample out gives in the limit of large d. Source: THEORY section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from derive.downdate import sherman_morrison
from derive.expectation import Expectation
from derive.gradient_step import ALPHA0, VARIANCE, A, U
from derive.trace import Derivation, Recorder

SHIFT = sp.Symbol("w", positive=True)  # the resolvent is (C + w)^-1
TRACE = sp.Symbol("S", positive=True)  # (1/d) tr (C + w)^-1
LENGTH = sp.Symbol("n", positive=True)  # |(1/n0) sum e_i x_i|
OVERLAP = sp.Symbol("t", real=True)
RESIDUAL = sp.Function("residual_e", real=True)(OVERLAP)
ALONG = sp.Symbol("S_theta", positive=True)  # theta.(C + w)^-1 theta
MIXED = sp.Symbol("S_v", real=True)  # E[e t/D]
DIMENSION = sp.Symbol("d", positive=True)
_SOURCE = "THEORY section 5"
_LIMIT = "x of a left-out sample is independent of the resolvent; d, n0 large at fixed ratio"


@dataclass(frozen=True)
class BulkResolvent:
    """``covariance``: the factor a of C; ``trace``: what vanishes at S; ``along`` and ``mixed``: theta.Res.theta and
    E[e t/D] by S; ``cross`` and ``own``: v.Res.theta and v.Res.v by those.

    Expectations are over t and, where the label has noise, over the residual e given t.
    """

    covariance: Any
    trace: Any
    along: Any
    mixed: Any
    cross: Any
    own: Any
    derivation: Derivation


def bulk_resolvent() -> BulkResolvent:
    """Derive the covariance of the bulk and the resolvent of C, of a target of one index."""
    trace = Recorder("Bulk of the trained network")
    factor = _covariance(trace)
    weight = RESIDUAL**2 / (ALPHA0 * DIMENSION)
    left_out = sp.factor(sherman_morrison(DIMENSION * TRACE, -weight))
    quadratic = sp.Symbol("x.Res.x")
    trace.record("leave one out", quadratic, left_out, kind="definition", source="Sherman and Morrison (1950)",
                 rule="taking one sample out of $C$ leaves $x\\cdot\\mathrm{Res}\\,x\\to dS$, "
                 "$S=\\frac{1}{d}\\mathrm{tr}\\,(C+w)^{-1}$", assumption=_LIMIT)  # fmt: skip
    shrunk = sp.simplify(left_out / (DIMENSION * TRACE))  # 1/D
    trace_of_one = SHIFT * TRACE + TRACE * Expectation(RESIDUAL**2 * shrunk, OVERLAP)
    trace.record("trace", sp.S.One, trace_of_one, kind="definition", source=_SOURCE,
                 rule="the trace of $(C+w)(C+w)^{-1}$, sample by sample")  # fmt: skip
    projected = SHIFT * ALONG + ALONG * Expectation(RESIDUAL**2 * OVERLAP**2 * shrunk, OVERLAP)
    along = _solved(projected - 1, ALONG)
    trace.record("resolvent along the target", ALONG, along, kind="definition", source=_SOURCE,
                 rule="the same identity between $\\theta$ and $\\theta$: a sample has $\\theta\\cdot x=t$, and its "
                 "part across $\\theta$ averages out")  # fmt: skip
    mixed = Expectation(RESIDUAL * OVERLAP * shrunk, OVERLAP)
    trace.record("spike and target, per sample", MIXED, mixed, kind="definition", source=_SOURCE,
                 rule="a sample of $v=\\frac{1}{n\\,n_0}\\sum_ie_ix_i$ left out of the resolvent")  # fmt: skip
    cross = ALONG * MIXED / LENGTH
    trace.record("resolvent between spike and target", sp.Symbol("v.Res.theta"), cross, kind="definition",
                 source=_SOURCE, rule="the average over samples; $n=|\\frac{1}{n_0}\\sum_ie_ix_i|$")  # fmt: skip
    equal = TRACE / ALPHA0 * Expectation(RESIDUAL**2 * shrunk, OVERLAP)
    own = (equal + ALONG * MIXED**2) / LENGTH**2
    trace.record("resolvent along the spike", sp.Symbol("v.Res.v"), own, kind="definition", source=_SOURCE,
                 rule="equal and different samples counted apart; two different ones are both left out")  # fmt: skip
    return BulkResolvent(factor, trace_of_one - 1, along, mixed, cross, own, trace.finish())


def _covariance(trace: Recorder) -> Any:
    factor = (A * U) ** 2 * VARIANCE / ALPHA0
    trace.record("covariance of the bulk", sp.Symbol("Sigma_cov"), 1 + factor * sp.Symbol("C"), kind="assumption",
                 source=_SOURCE, rule="the row of a neuron given the batch, "
                 "$C=\\frac{1}{n_0}\\sum_ie_i^2x_ix_i^T$: the rests of $\\sigma'(w_k\\cdot x_i)$ are uncorrelated "
                 "between samples and with $w_k$",
                 assumption="$\\mathbb{E}\\sigma''=0$ at initialisation, as for every odd activation")  # fmt: skip
    mean = sp.Symbol("trace_C")
    trace.record("mean of C", mean, Expectation(RESIDUAL**2, OVERLAP), kind="definition", source=_SOURCE,
                 rule="$\\frac{1}{d}\\mathrm{tr}\\,C$: the squared norm of a row is the bulk variance "
                 "$c=1+a\\,\\frac{1}{d}\\mathrm{tr}\\,C$ of the isotropic law")  # fmt: skip
    return factor


def _solved(equation: Any, unknown: sp.Symbol) -> Any:
    (node,) = equation.atoms(Expectation)
    hidden = sp.Dummy()
    (root,) = sp.solve(equation.xreplace({node: hidden}), unknown)
    return root.xreplace({hidden: node})
