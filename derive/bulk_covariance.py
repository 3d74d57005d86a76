"""The covariance of the bulk that one gradient step leaves.

With sigma' = mu_1 + sigma_2 z + (rest) row k of the first layer is
``(1 + A u_k sigma_2 B) w_k + (spike) + (A u_k/n0) sum_i e_i rest(w_k.x_i) x_i``, B = (1/n0) sum_i e_i x_i x_i^T.
Given the batch it is Gaussian of covariance ``Sigma = (1 + a2 B)^2 + a C``, C = (1/n0) sum_i e_i^2 x_i x_i^T;
B and C do not commute. An odd activation has sigma_2 = 0. Source: THEORY section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from derive.gaussian.expectation import Expectation
from derive.gradient_step import SECOND, VARIANCE, U
from derive.network_step import A
from derive.operations import computed, equal
from derive.sample_averages import ALPHA0
from derive.trace import Derivation, Recorder

SHIFT = sp.Symbol("w", positive=True)  # the resolvent is (Sigma - 1 + w)^-1
NOISE, STRETCH = sp.Symbol("a", positive=True), sp.Symbol("a_2", real=True)  # Sigma = (1 + a_2 B)^2 + a C
LENGTH = sp.Symbol("n", positive=True)  # |(1/n0) sum e_i x_i|
OVERLAP = sp.Symbol("t", real=True)
RESIDUAL = sp.Function("residual_e", real=True)(OVERLAP)
TRACE, MIXED, OTHER = sp.symbols("S S_12 S_22", real=True)  # S = (1/d) tr (Sigma - 1 + w)^-1
_S = sp.Matrix([[TRACE, MIXED], [MIXED, OTHER]])
PRESENCE = sp.Function("D", real=True)(OVERLAP)  # det(1 + s k) of a sample, what its own presence divides by
_ADDED = sp.symbols("k_theta k_theta12 k_theta22", real=True)
_ALONG = sp.symbols("S_theta S_theta12 S_theta22", real=True)
_OF_F, _OF_G = sp.symbols("S_f1 S_f2", real=True), sp.symbols("S_g1 S_g2", real=True)
VECTORS = tuple(sp.Function(name, real=True)(OVERLAP) for name in ("f_1", "f_2", "g_1", "g_2"))
_F, _G = sp.Matrix(VECTORS[:2]), sp.Matrix(VECTORS[2:])
_SOURCE = "THEORY section 5"
_LARGE = "an identity of large matrices, written down sample by sample"
_LIMIT = "x of a left-out sample is independent of the resolvent; d, n0 large at fixed ratio"


@dataclass(frozen=True)
class BulkCovariance:
    """``stretch``, ``noise``: a_2 and a of ``Sigma = (1 + a_2 B)^2 + a C``."""

    stretch: Any
    noise: Any
    derivation: Derivation


def bulk_covariance() -> BulkCovariance:
    """Derive the covariance of the bulk."""
    trace = Recorder("Bulk of the trained network")
    stretch, noise = _covariance(trace)
    return BulkCovariance(stretch, noise, trace.finish())


def _covariance(trace: Recorder) -> tuple[Any, Any]:
    """The factors a_2 and a of the covariance, from the parts of sigma'."""
    trace.assume(
        "slope of a neuron on a sample",
        sp.Symbol("sigma'(z)"),
        sp.Symbol("mu_1") + SECOND * sp.Symbol("z") + sp.Symbol("rest"),
        source=_SOURCE,
        rule="$\\sigma'$ split by its first two Hermite coefficients; the rests of the samples are to be uncorrelated "
        "with each other and with $w_k$",
        assumption="d, n0 large at fixed ratio: the overlaps of two samples are of order $d^{-1/2}$",
    )
    stretch = trace.derive(
        "stretch of the rows",
        STRETCH,
        computed(
            "read off",
            "$\\frac{Au}{n_0}\\sum_ie_i\\,\\sigma_2(w_k\\cdot x_i)\\,x_i=a_2Bw_k$, "
            "$B=\\frac{1}{n_0}\\sum_ie_ix_ix_i^T$",
            "slope of a neuron on a sample",
            by=lambda slope: A * U * slope.coeff(sp.Symbol("z")),
            test=equal(lambda slope: A * U * sp.Derivative(slope, sp.Symbol("z"), evaluate=False)),
        ),
        _SOURCE,
    )
    noise = trace.derive(
        "noise of the rows",
        NOISE,
        computed(
            "average",
            "the covariance of $\\frac{Au}{n_0}\\sum_ie_i\\,\\mathrm{rest}_i\\,x_i$ is $\\frac{a}{d}C$, "
            "$C=\\frac{1}{n_0}\\sum_ie_i^2x_ix_i^T$; the rest has the variance of $\\sigma'$ beside its linear part",
            "slope of a neuron on a sample",
            by=lambda _: (A * U) ** 2 * (VARIANCE - SECOND**2) / ALPHA0,
            test=_LARGE,
        ),
        _SOURCE,
    )
    trace.define(
        "covariance of the bulk",
        sp.Symbol("Sigma_cov"),
        (1 + STRETCH * sp.Symbol("B")) ** 2 + NOISE * sp.Symbol("C"),
        "of a row given the batch, which is Gaussian, times $d$",
        _SOURCE,
    )
    mean, square = Expectation(RESIDUAL, OVERLAP), Expectation(RESIDUAL**2, OVERLAP)
    trace.derive(
        "mean of the covariance",
        sp.Symbol("c"),
        computed(
            "average",
            "$\\frac{1}{d}\\mathrm{tr}\\,\\Sigma$: the bulk variance of the isotropic law",
            "covariance of the bulk",
            by=lambda _: 1 + 2 * STRETCH * mean + STRETCH**2 * (mean**2 + square / ALPHA0) + NOISE * square,
            test=_LARGE,
        ),
        _SOURCE,
    )
    return stretch, noise
