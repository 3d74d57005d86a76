"""Replicas of the posterior: their overlaps with the conjugates, and the integral over their directions.

Source: THEORY section 15; Aubin et al. 2018, arXiv:1806.05451.
"""

from __future__ import annotations

import sympy as sp

from derive.operations import computed, equal
from derive.posterior.symbols import AUBIN, ONE, Q_HAT, SIDE, Q
from derive.replica.matrices import REPLICAS, LogDeterminant, ReplicaMatrix, per_replica
from derive.trace import Claim, Recorder


def record_replicas(trace: Recorder) -> None:
    """Overlaps of n + 1 replicas with their conjugates, and the integral over the directions."""
    trace.assume(
        "overlaps of directions",
        sp.Tuple(*sp.symbols("Q_rr Q_rs")),
        sp.Tuple(ONE, Q),
        "directions drawn from the posterior to be like the true ones: the overlap $W^rW^{sT}/d$ is the same $Q$ "
        "between any two of the $n+1$ replicas, the truth among them",
        source=AUBIN,
        assumption="overlaps concentrate; the model is known, so that no replica is special (Nishimori)",
    )
    trace.assume(
        "conjugates of overlaps",
        sp.Tuple(*sp.symbols("Qhat_rr Qhat_rs")),
        sp.Tuple(sp.ZeroMatrix(SIDE, SIDE), Q_HAT),
        "their conjugates in the Fourier integrals of delta functions, stationary as $d\\to\\infty$; a replica with "
        "itself has none, as the prior is normalised",
        source=AUBIN,
        assumption="overlaps concentrate",
    )
    trace.derive(
        "overlaps times conjugates",
        sp.Symbol("phi_1n"),
        computed(
            "contract replica matrices",
            "the sum over pairs of $n+1$ replicas, by eigenvalues",
            "overlaps of directions",
            "conjugates of overlaps",
            by=lambda overlaps, hats: _contracted(_replica(overlaps), _replica(hats)),
            test=Claim(_pair_by_pair),
        ),
    )
    trace.derive(
        "integral over directions",
        sp.Symbol("phi_2n"),
        computed(
            "integrate",
            "$\\int\\prod_rdW^r$ of the normal prior times $e^{\\frac{1}{2}\\sum_{r\\neq s}W^r\\hat{Q}W^s}$: minus "
            "half of the logarithm of the determinant over $n+1$ replicas",
            "conjugates of overlaps",
            by=lambda hats: -_with_truth(_precision(hats).log_determinant()) / 2,
            test=Claim(_all_replicas_at_once),
        ),
    )
    for label, symbol in (("overlaps times conjugates", "phi_1"), ("integral over directions", "phi_2")):
        trace.derive(
            f"{label}, n = 0",
            sp.Symbol(symbol),
            computed(
                "take the limit n -> 0",
                "the derivative in $n$ at $n=0$",
                label,
                by=per_replica,
                test=equal(lambda total: sp.Subs(sp.Derivative(total, REPLICAS), REPLICAS, 0)),
            ),
            AUBIN,
            shown=False,
        )


def _replica(row: sp.Tuple) -> ReplicaMatrix:
    own, shared = row
    return ReplicaMatrix(own - shared, shared)


def _precision(hats: sp.Tuple) -> ReplicaMatrix:
    own, shared = hats
    return _replica(sp.Tuple(ONE - own, -shared))


def _with_truth(total: sp.Expr) -> sp.Expr:
    """A function of the number of replicas, at one more."""
    return total.subs(REPLICAS, REPLICAS + 1)


def _contracted(one: ReplicaMatrix, other: ReplicaMatrix) -> sp.Expr:
    pairs = zip(one.eigenvalues, other.eigenvalues, strict=True)
    traces = (times * spread(mine * its) for (mine, times), (its, _) in pairs)
    return sp.expand(_with_truth(sp.Add(*traces)))


def spread(matrix: sp.MatrixExpr) -> sp.Expr:
    """The trace of a product of sums as a sum of traces."""
    terms = sp.MatAdd.make_args(sp.expand(matrix.doit()).doit())
    return sp.Add(*(sp.Trace(term).doit() for term in terms))


def _pair_by_pair(total: sp.Expr, overlaps: sp.Tuple, hats: sp.Tuple) -> tuple[sp.Expr, sp.Expr]:
    """Three replicas, the truth among them."""
    pairs = [(overlaps[int(r != s)], hats[int(r != s)]) for r in range(3) for s in range(3)]
    return sp.Add(*(sp.Trace(one * other) for one, other in pairs)), sp.Subs(total, REPLICAS, 2)


def _all_replicas_at_once(found: sp.Expr, hats: sp.Tuple) -> tuple[sp.Expr, sp.Expr]:
    """The determinant over two replicas, the truth among them."""
    own, shared = hats
    whole = sp.MatAdd(
        sp.KroneckerProduct(sp.Identity(2), ONE - own + shared), sp.KroneckerProduct(sp.OneMatrix(2, 2), -shared)
    )
    return -LogDeterminant(whole) / 2, sp.Subs(found, REPLICAS, 1)
