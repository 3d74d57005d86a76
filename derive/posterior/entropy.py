"""The free entropy of the posterior, and the state evolution that makes it stationary.

Source: THEORY section 15; Aubin et al. 2018, arXiv:1806.05451; Troiani et al. 2024, arXiv:2405.15480.
"""

from __future__ import annotations

import sympy as sp

from derive.operations import COMPOSED, computed, equal
from derive.posterior.replicas import spread
from derive.posterior.symbols import (
    ALONG,
    AUBIN,
    GRADIENT,
    MOVE,
    ONE,
    PLACE,
    Q_HAT,
    SAMPLES,
    SLOPES,
    STEP,
    TROIANI,
    Q,
    skewed,
)
from derive.symbols import ALPHA
from derive.trace import Claim, Recorder


def record_entropy(trace: Recorder) -> None:
    """The free entropy per dimension, and where it is stationary."""
    with trace.between():
        trace.define(
            "samples",
            sp.Symbol("Psi"),
            SAMPLES,
            "$\\Psi(Q)=E_\\omega\\int dy\\,Z\\,\\log Z$, of which each of $\\alpha d$ samples adds one",
        )
    trace.derive(
        "free entropy",
        sp.Symbol("phi"),
        computed(
            "add",
            "$\\phi=\\lim\\,\\frac{1}{d}\\,E\\,\\log Z$: the prior, overlaps with their conjugates, and "
            "$\\Psi(Q)=E_\\omega\\int dy\\,Z\\,\\log Z$ for each of $\\alpha d$ samples",
            "overlaps times conjugates, n = 0",
            "integral over directions, n = 0",
            "samples",
            by=lambda pairs, prior, samples: prior - pairs / 2 + ALPHA * samples,
            test=COMPOSED,
        ),
        AUBIN,
    )


def record_evolution(trace: Recorder) -> sp.MatrixExpr:
    """Q by S and F."""
    trace.derive(
        "d/dQhat",
        Q,
        computed(
            "differentiate",
            "stationarity in $\\hat{Q}$, along any matrix",
            "free entropy",
            by=lambda entropy: 2 * gradient(entropy, Q_HAT) + Q,
            test=Claim(lambda found, entropy: (_along(entropy, Q_HAT), sp.Trace((found - Q) * MOVE) / 2)),
        ),
        AUBIN,
    )
    trace.derive(
        "samples, more overlap",
        sp.Derivative(SAMPLES, STEP),
        computed(
            "substitute",
            "the gradient $g=\\nabla\\log Z$: along $e$ it is $Z(e\\cdot g)^2/2$, so that along any matrix $D$ it is "
            "$\\frac{1}{2}\\mathrm{Tr}\\,JD$ with $J=E[gg^T]$",
            "a sample, more overlap",
            by=lambda half: half.xreplace({sp.Derivative(ALONG, PLACE): ALONG * GRADIENT}).doit(),
            test=equal(lambda half: half.xreplace({sp.Derivative(ALONG, PLACE): ALONG * GRADIENT})),
        ),
        AUBIN,
    )
    trace.derive(
        "d/dQ",
        Q_HAT,
        computed(
            "differentiate",
            "stationarity in $Q$, along any matrix",
            "free entropy",
            "samples, more overlap",
            by=lambda entropy, half: 2 * gradient(entropy, Q) + Q_HAT + 2 * ALPHA * _share(half) * SLOPES,
            test=Claim(_stationary_in_overlap),
        ),
        AUBIN,
    )
    return trace.derive(
        "state evolution",
        Q,
        computed(
            "substitute",
            "both equations together, with $SS^T=1-Q$ and what labels tell, $F=E[E[t|y]E[t|y]^T]$: finite where $Q$ "
            "reaches one",
            "d/dQhat",
            "d/dQ",
            "covariance of the gradients",
            by=_together,
            test=Claim(_both_equations),
        ),
        TROIANI,
    )


def _along(scalar: sp.Expr, matrix: sp.MatrixSymbol) -> sp.Expr:
    """The derivative along a matrix, not carried out."""
    return sp.Subs(sp.Derivative(scalar.subs(matrix, matrix + STEP * MOVE), STEP), STEP, 0)


def gradient(scalar: sp.Expr, matrix: sp.MatrixSymbol) -> sp.MatrixExpr:
    """G where the derivative along any matrix D is Tr G D."""
    moved = scalar.subs(matrix, matrix + STEP * MOVE).replace(sp.Trace, spread)
    slope = sp.diff(moved, STEP)
    traces = {node: node.subs(STEP, 0).doit() for node in slope.atoms(sp.Trace)}
    terms = sp.Add.make_args(sp.expand(slope.xreplace(traces).subs(STEP, 0)))
    return sp.MatAdd(*(_beside(term) for term in terms if term != 0)).doit()


def _beside(term: sp.Expr) -> sp.MatrixExpr:
    """What stands beside D under a trace, which may be turned round."""
    factor, node = term.as_independent(sp.Trace)
    parts = list(sp.MatMul.make_args(node.arg))
    place = parts.index(MOVE)
    return factor * sp.MatMul(*parts[place + 1 :], *parts[:place], ONE).doit()


def _share(half: sp.Expr) -> sp.Expr:
    """What Z (e.g)^2 is multiplied with."""
    return sp.simplify(half / (ALONG * GRADIENT**2))


def _stationary_in_overlap(found: sp.MatrixExpr, entropy: sp.Expr, half: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    moved = entropy.subs(SAMPLES, STEP * _share(half) * sp.Trace(SLOPES * MOVE))
    return _along(moved, Q), sp.Trace((found - Q_HAT) * MOVE) / 2


def _together(overlap: sp.MatrixExpr, conjugate: sp.MatrixExpr, slopes: sp.MatrixExpr) -> sp.MatrixExpr:
    """1 - (1 + K M K^T)^-1 with the inverse of K taken out on both sides."""
    scale, (factor, *middle, _) = conjugate.xreplace({SLOPES: slopes}).doit().as_coeff_matrices()
    back = sp.Inverse(factor).doit()
    left = back.T * sp.Inverse(back * back.T + scale * sp.MatMul(*middle)) * back
    return (overlap + sp.Inverse(ONE + Q_HAT) - left).doit()


def _both_equations(
    found: sp.MatrixExpr, overlap: sp.MatrixExpr, conjugate: sp.MatrixExpr, slopes: sp.MatrixExpr
) -> tuple[sp.Expr, ...]:
    return skewed(overlap.xreplace({Q_HAT: conjugate.xreplace({SLOPES: slopes})}), found)
