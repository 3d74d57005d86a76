"""What the best estimator of a target knows of its directions: from the partition function of its posterior.

Directions W [m, d] with independent normal entries, labels by P(y | W x). Replicas drawn from the posterior are
like the truth, which is one of n + 1. The free entropy is a function of their overlap Q. Where it is stationary is
state evolution, in a form that stays finite where Q reaches one.

Source: THEORY section 15; Aubin et al. 2018, arXiv:1806.05451; Troiani et al. 2024, arXiv:2405.15480.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import sympy as sp

from derive.blocks import BlockSum, family, index
from derive.gaussian.expectation import Expectation
from derive.operations import COMPOSED, computed
from derive.posterior.channel import record_channel, record_second, record_told
from derive.posterior.entropy import record_entropy, record_evolution
from derive.posterior.replicas import record_replicas
from derive.posterior.structured import record_structured
from derive.posterior.symbols import AT_TWO, AUBIN, INFORMATION, LOWER, ONE, Q_HAT, SHARED, SIDE, SLOPES, TROIANI, Q
from derive.symbols import ALPHA
from derive.trace import Claim, Derivation, Recorder

#: Overlap and information of a single index.
ONE_INDEX = (_Q, _I) = sp.symbols("Q F", positive=True)
B, C, D, E, Y = (index(name) for name in "bcdey")
WEIGHT, SQUARE, START, GROWTH = (family(name) for name in ("weight", "G", "M", "H"))
_OUTPUT, _LABEL, _T = sp.Symbol("f", real=True), sp.Function("sigma_star"), sp.Symbol("t", real=True)
_SOURCE = "THEORY section 15"


@dataclass(frozen=True)
class BestEstimator:
    """overlap: Q by S (S S^T = 1 - Q), what labels tell, F, and the samples; surplus: vanishes at Q of one index;
    entropy_slope: the matrix whose trace with dQ is what the free entropy grows by; growth: of a small overlap in one
    step over alpha; risk: of the best prediction given what is known.
    """

    overlap: sp.MatrixExpr
    surplus: sp.Expr
    entropy_slope: sp.MatrixExpr
    growth: sp.Expr
    risk: sp.Expr
    derivation: Derivation


@lru_cache(maxsize=1)
def best_estimator() -> BestEstimator:
    """Derive state evolution of the best estimator, and the threshold from which it leaves no overlap."""
    trace = Recorder("The best estimator")
    with trace.between():
        record_replicas(trace)
        record_channel(trace)
        record_told(trace)
    record_entropy(trace)
    overlap = record_evolution(trace)
    record_structured(trace)
    surplus, slope, growth = _record_one_index(trace), _record_slope(trace), _record_growth(trace)
    return BestEstimator(overlap, surplus, slope, growth, _record_risk(trace), trace.finish())


def _record_one_index(trace: Recorder) -> sp.Expr:
    """What vanishes at the overlap of a single index."""
    return trace.derive(
        "one index",
        sp.S.Zero,
        computed(
            "solve",
            "of a single index, $S^2=1-Q$",
            "state evolution",
            by=lambda overlap: sp.expand(ALPHA * (_I - sp.solve(_of_numbers(overlap) - _Q, _I)[0])),
            test=Claim(_root_of_one),
        ),
        _SOURCE,
    )


def _root_of_one(found: sp.Expr, overlap: sp.MatrixExpr) -> tuple[sp.Expr, sp.Expr]:
    """The overlap after a step, where the result vanishes."""
    return _of_numbers(overlap).xreplace({_I: sp.solve(found, _I)[0]}), _Q


def _of_numbers(matrix: sp.MatrixExpr) -> sp.Expr:
    """A matrix of one row."""
    names = {LOWER: sp.sqrt(1 - _Q), INFORMATION: _I, SIDE: 1}
    places = {name: sp.ImmutableDenseMatrix([[value]]) for name, value in names.items() if name != SIDE}
    found = matrix.subs(SIDE, 1)
    found = found.subs({sp.MatrixSymbol(name.name, 1, 1): value for name, value in places.items()})
    return sp.simplify(found.doit().as_explicit()[0])


def _record_slope(trace: Recorder) -> sp.MatrixExpr:
    """Half of the trace of this matrix times dQ is what the free entropy grows by."""
    trace.derive(
        "conjugate by the overlap",
        Q_HAT,
        computed(
            "solve",
            "the equation of $Q$ for $\\hat{Q}$",
            "d/dQhat",
            by=lambda overlap: sp.Inverse(ONE - Q) * Q,
            test=Claim(lambda found, overlap: (overlap.xreplace({Q_HAT: found}), Q)),
        ),
        AUBIN,
        shown=False,
    )
    return trace.derive(
        "slope of the free entropy",
        sp.Symbol("phiprime"),
        computed(
            "substitute",
            "with $\\hat{Q}$ eliminated: $d\\phi=\\mathrm{Tr}$ of this times $dQ$; of two stable overlaps the one of "
            "larger $\\phi$ is that of the best estimator",
            "d/dQ",
            "conjugate by the overlap",
            "covariance of the gradients",
            by=lambda conjugate, by_q, slopes: (conjugate.xreplace({SLOPES: slopes}) - by_q) / 2,
            test=COMPOSED,
        ),
        AUBIN,
    )


def _record_growth(trace: Recorder) -> sp.Expr:
    """One step of state evolution to first order in the overlap."""
    record_second(trace)
    with trace.between():
        trace.define(
            "labels that tell no mean",
            SQUARE[Y, B, C],
            SQUARE[Y, B, C],
            "where $Q=0$ and no label tells a mean, $E[t|y]=0$, what it tells is $G=E[tt^T-1|y]=\\nabla\\nabla^TZ/Z$",
        )
    trace.derive(
        "gradient at a small overlap",
        sp.Symbol("G_12"),
        computed(
            "differentiate",
            "$g=\\nabla\\log Z$ where $\\nabla Z$ vanishes: to first order $g=G\\,\\omega$",
            "evidence of two indices",
            "second derivative of the evidence",
            by=lambda *_: _without_slope(sp.diff(sp.log(AT_TWO), *SHARED)),
            test=Claim(_curvature),
        ),
        TROIANI,
    )
    growth = trace.derive(
        "growth of a small overlap",
        GROWTH[B, C, D, E],
        computed(
            "average",
            "$\\hat{Q}=\\alpha E[gg^T]$ with $E[\\omega\\,\\omega^T]=M$ is $\\alpha E_y[GMG]$, where labels tell no "
            "mean and $G=E[tt^T-1|y]$: of $M_{cd}$ this much, from labels of probability weight",
            "labels that tell no mean",
            "gradient at a small overlap",
            by=lambda square, _: BlockSum(WEIGHT[Y] * square * square.xreplace({B: D, C: E}), Y),
            test=COMPOSED,
        ),
        TROIANI,
    )
    trace.derive(
        "overlap after one step",
        START[B, E],
        computed(
            "sum",
            "to first order $Q=\\hat{Q}$, so that a small overlap $M$ grows from where $\\alpha$ times the largest "
            "eigenvalue of $M\\to E_y[GMG]$ is one",
            "growth of a small overlap",
            by=lambda growth: ALPHA * BlockSum(BlockSum(growth * START[C, D], C), D),
            test=COMPOSED,
        ),
        TROIANI,
    )
    return growth


def _curvature(found: sp.Expr, *_: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The second derivative of log Z, and the result less the product of first ones."""
    first = [sp.Derivative(AT_TWO, w) / AT_TWO for w in SHARED]
    return sp.Derivative(sp.log(AT_TWO), *SHARED), found - first[0] * first[1]


def _without_slope(body: sp.Expr) -> sp.Expr:
    return body.xreplace({sp.Derivative(AT_TWO, w): sp.S.Zero for w in SHARED})


def _record_risk(trace: Recorder) -> sp.Expr:
    """The mean squared error of the best prediction, given what is known."""
    label = _LABEL(_T)
    trace.define(
        "squared error of a prediction",
        sp.Symbol("R(f)"),
        Expectation((label - _OUTPUT) ** 2, _T),
        "a prediction $f$ made from $\\omega$; the clean target $\\sigma_*$ depends on $\\omega+St$",
    )
    trace.derive(
        "best prediction",
        sp.Symbol("f"),
        computed(
            "solve",
            "least where its derivative vanishes",
            "squared error of a prediction",
            by=lambda risk: sp.solve(sp.expand(sp.diff(sp.expand(risk), _OUTPUT)), _OUTPUT)[0],
            test=Claim(lambda found, risk: (sp.Subs(sp.Derivative(risk, _OUTPUT), _OUTPUT, found), sp.S.Zero)),
        ),
        _SOURCE,
    )
    return trace.derive(
        "least squared error",
        sp.Symbol("R"),
        computed(
            "substitute",
            "the error there, averaged over $\\omega$",
            "squared error of a prediction",
            "best prediction",
            by=lambda risk, best: sp.expand(sp.expand(risk).xreplace({_OUTPUT: best})),
            test=Claim(lambda found, risk, best: (sp.Subs(risk, _OUTPUT, best), found)),
        ),
        _SOURCE,
    )
