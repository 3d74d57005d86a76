"""Directions whose coefficients vary in size over the eigenvalues of the inputs: a prior that is known.

The estimator knows the covariance of the inputs, so that it can whiten them, and how large the coefficients of the
target are at each eigenvalue. A point of the spectrum is then isotropic inputs with more or fewer samples.
Source: THEORY section 15.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from derive.blocks import BlockSum, family, index
from derive.operations import COMPOSED, computed
from derive.posterior.entropy import gradient
from derive.posterior.symbols import AUBIN, Q_HAT, SLOPES, TROIANI, skewed
from derive.symbols import ALPHA
from derive.trace import Claim, Recorder

VARIANCE = sp.Symbol("s", positive=True)  # of a coefficient at a point of the spectrum, one in the mean
X = index("x")


def record_structured(trace: Recorder) -> None:
    """State evolution at a point of the spectrum, and its sum."""
    trace.assume(
        "coefficients at an eigenvalue",
        sp.Symbol("E W_x^2"),
        VARIANCE,
        "structured inputs: whitened, the coefficients of all directions at an eigenvalue $x$ to be normal with the "
        "variance $s$, one in the mean over the spectrum",
        source="THEORY section 15",
        assumption="the estimator knows the covariance of the inputs and these variances, not the coefficients",
    )
    trace.derive(
        "directions at an eigenvalue",
        sp.Symbol("phi_2x"),
        computed(
            "substitute",
            "in $e^{\\frac{1}{2}\\sum_{r\\neq s}W^r\\hat{Q}W^s}$ the variance goes to $\\hat{Q}$",
            "integral over directions, n = 0",
            "coefficients at an eigenvalue",
            by=lambda prior, variance: prior.xreplace({Q_HAT: variance * Q_HAT}),
            test=COMPOSED,
        ),
        AUBIN,
        shown=False,
    )
    trace.derive(
        "overlap at an eigenvalue",
        sp.Symbol("Q_x"),
        computed(
            "differentiate",
            "stationarity in $\\hat{Q}$, along any matrix",
            "directions at an eigenvalue",
            "d/dQhat",
            by=lambda prior, _: 2 * gradient(prior, Q_HAT),
            test=Claim(lambda found, _, plain: (found, VARIANCE * plain.subs(Q_HAT, VARIANCE * Q_HAT))),
        ),
        AUBIN,
        shown=False,
    )
    trace.derive(
        "state evolution at an eigenvalue",
        sp.Symbol("Q_x") / VARIANCE,
        computed(
            "substitute",
            "with $\\hat{Q}$ by what labels tell: that of isotropic inputs from $s$ times as many samples",
            "state evolution",
            "overlap at an eigenvalue",
            "d/dQ",
            "covariance of the gradients",
            by=lambda overlap, *_: overlap.xreplace({ALPHA: VARIANCE * ALPHA}),
            test=Claim(_both_equations),
        ),
        TROIANI,
    )
    trace.define(
        "overlap over the spectrum",
        sp.Symbol("Q"),
        BlockSum(family("law_oo")[X] * family("Q_x/s")[X], X),
        "summed with the weights $law_{oo}$ of the target, of which $s$ is the ratio to those of the trace",
    )


def _both_equations(found: Any, _: Any, overlap: Any, conjugate: Any, slopes: Any) -> tuple[Any, ...]:
    there = overlap.xreplace({Q_HAT: conjugate.xreplace({SLOPES: slopes})})
    return skewed(there / VARIANCE, found)
