"""What a sample adds to the posterior: the evidence of its label, and what the label tells of the indices.

Source: THEORY section 15; Aubin et al. 2018, arXiv:1806.05451; Troiani et al. 2024, arXiv:2405.15480.
"""

from __future__ import annotations

import sympy as sp

from derive.gaussian.expectation import Expectation, stein
from derive.operations import computed, equal
from derive.posterior.symbols import (
    ALONG,
    AT_TWO,
    AUBIN,
    EVIDENCE,
    INFORMATION,
    LOWER,
    PLACE,
    SAMPLES,
    SHARED,
    SIDE,
    SLOPES,
    STEP,
    TROIANI,
    skewed,
)
from derive.replica.matrices import REPLICAS
from derive.trace import Claim, Recorder

_VALUE = sp.Symbol("Z", positive=True)
_SPREAD, _T, _X = sp.Symbol("s", positive=True), sp.Symbol("t", real=True), sp.Symbol("x", real=True)
_CHANNEL = sp.Function("P", positive=True)
_TOLD = sp.MatrixSymbol("t_y", SIDE, 1)
_OWN = sp.symbols("t_1 t_2", real=True)
_MIXED = sp.Matrix(2, 2, sp.symbols("S_11 S_12 S_21 S_22", real=True)) * sp.Matrix(_OWN)
_INDICES = tuple(w + mixed for w, mixed in zip(SHARED, _MIXED, strict=True))


def record_channel(trace: Recorder) -> None:
    """The average over a sample, and its derivative in the overlap along any direction."""
    trace.assume(
        "indices of a sample",
        sp.Symbol("W x"),
        sp.Symbol("omega") + sp.Symbol("S") * sp.Symbol("t"),
        "the indices of a sample to be normal: what all replicas share, $\\omega\\sim N(0,Q)$, and a part of its own "
        "for each, $t^r\\sim N(0,1)$ with $SS^T=1-Q$; $Z=E_tP(y|\\omega+St)$ is the evidence of a label",
        source=AUBIN,
        assumption="inputs are normal and independent of the directions",
    )
    trace.define(
        "samples of all replicas",
        sp.Symbol("psi_n"),
        _VALUE ** (REPLICAS + 1),
        "a sample that $n+1$ replicas see has the average of $Z^{n+1}$, over $\\omega$ and all labels $y$",
    )
    trace.derive(
        "a sample at n = 0",
        sp.Symbol("psi"),
        computed(
            "take the limit n -> 0",
            "the derivative in $n$ at $n=0$",
            "samples of all replicas",
            by=lambda power: sp.diff(power, REPLICAS).subs(REPLICAS, 0),
            test=equal(lambda power: sp.Subs(sp.Derivative(power, REPLICAS), REPLICAS, 0)),
        ),
        AUBIN,
    )
    _record_more_overlap(trace)


def _record_more_overlap(trace: Recorder) -> None:
    """The derivative in the overlap along a direction."""
    trace.define(
        "evidence along a direction",
        ALONG,
        Expectation(_CHANNEL(PLACE + sp.sqrt(_SPREAD - STEP) * _T), _T),
        "let the overlap grow by $\\epsilon$ along a unit vector of the indices: there $\\omega$ gains the variance "
        "$\\epsilon$, which $t$ loses; the evidence at $w$ beside what is held",
    )
    trace.derive(
        "evidence, less spread",
        sp.Derivative(ALONG, STEP),
        computed(
            "differentiate",
            "by Stein's lemma the derivative in a variance is half of the second derivative",
            "evidence along a direction",
            by=_less_spread,
            test=Claim(lambda found, evidence: (sp.Derivative(evidence, STEP), _with_evidence(found, evidence))),
        ),
    )
    trace.derive(
        "a sample, more overlap",
        sp.Derivative(SAMPLES, STEP),
        computed(
            "differentiate",
            "by Stein's lemma half of the second derivative in $w$, and what the evidence loses; the logarithms cancel",
            "a sample at n = 0",
            "evidence, less spread",
            "evidence along a direction",
            by=lambda sample, less, _: _more_overlap(sample, less),
            test=Claim(_entropy_moved),
        ),
        AUBIN,
    )


def record_second(trace: Recorder) -> None:
    """What labels tell of the square of an index that nothing is known of."""
    trace.derive(
        "second derivative of the evidence",
        Expectation((_T**2 - 1) * _CHANNEL(PLACE + _T), _T),
        computed(
            "integrate by parts",
            "Stein's lemma twice, where all of the index is its own part: $E_t[(t^2-1)P]=\\partial^2Z$ along any "
            "direction, so that $E_t[(tt^T-1)P]=\\nabla\\nabla^TZ$",
            "evidence along a direction",
            by=lambda _: sp.Derivative(ALONG, (PLACE, 2)),
            test=Claim(_twice),
        ),
        TROIANI,
    )


def _twice(found: sp.Expr, evidence: Expectation) -> tuple[sp.Expr, sp.Expr]:
    own = evidence.xreplace({STEP: sp.S.Zero, _SPREAD: sp.S.One})
    return own.with_integrand((_T**2 - 1) * own.integrand), _with_evidence(found, own)


def _less_spread(evidence: Expectation) -> sp.Expr:
    """What a variance is worth in second derivatives, by Stein's lemma."""
    moved = stein(evidence.with_integrand(sp.diff(evidence.integrand, STEP)), _T)
    return sp.simplify(moved / sp.diff(evidence, PLACE, 2)) * sp.Derivative(ALONG, (PLACE, 2))


def _more_overlap(sample: sp.Expr, less: sp.Expr) -> sp.Expr:
    entropy = sample.xreplace({_VALUE: ALONG})
    moved = sp.diff(entropy, PLACE, 2) / 2 + sp.diff(entropy, STEP)
    return sp.simplify(moved.xreplace({sp.Derivative(ALONG, STEP): less}))


def _with_evidence(expr: sp.Expr, evidence: Expectation) -> sp.Expr:
    """A function of the evidence, with the average in its place."""
    return expr.replace(EVIDENCE, lambda w, e: evidence.xreplace({PLACE: w, STEP: e})).doit()


def _entropy_moved(found: sp.Expr, sample: sp.Expr, less: sp.Expr, evidence: Expectation) -> tuple[sp.Expr, sp.Expr]:
    """The derivative of the average over what the replicas share, and the average of the result."""
    shared = {PLACE: sp.sqrt(STEP) * _X}
    entropy = evidence.xreplace(shared)
    before = Expectation(sample.xreplace({_VALUE: entropy}), _X)
    return sp.Derivative(before, STEP), Expectation(_with_evidence(found, evidence).xreplace(shared), _X)


def record_told(trace: Recorder) -> None:
    """The gradient of the evidence by the mean of what only one replica has, for two indices as for any number."""
    trace.define(
        "evidence of two indices",
        sp.Function("Z")(sp.Symbol("omega")),
        Expectation(_CHANNEL(*_INDICES), *_OWN),
        "the evidence of a label, two indices written out",
    )
    trace.derive(
        "mean of the own part",
        sp.Tuple(*(Expectation(t * _CHANNEL(*_INDICES), *_OWN) for t in _OWN)),
        computed(
            "integrate by parts",
            "Stein's lemma: $E_t[t\\,P(y|\\omega+St)]=S^T\\nabla Z$",
            "evidence of two indices",
            by=_by_chain_rule,
            test=Claim(_own_part),
        ),
        TROIANI,
    )
    trace.define(
        "mean of the own part given the label",
        sp.Symbol("E[t|y]"),
        _TOLD,
        "$E[t|y]=E_t[t\\,P]/Z$, which is $S^Tg$ with the gradient $g=\\nabla\\log Z$",
    )
    trace.derive(
        "gradient by what a label tells",
        sp.MatrixSymbol("g", SIDE, 1),
        computed(
            "solve",
            "$S^Tg=E[t|y]$",
            "mean of the own part given the label",
            "mean of the own part",
            by=lambda told, _: sp.Inverse(LOWER.T) * told,
            test=Claim(lambda found, told, _: skewed(LOWER.T * found, told)),
        ),
        TROIANI,
    )
    trace.define(
        "information of a label",
        INFORMATION,
        INFORMATION,
        "$F=E[E[t|y]E[t|y]^T]$ over the indices that are shared and all labels",
    )
    trace.derive(
        "covariance of the gradients",
        SLOPES,
        computed(
            "multiply",
            "$J=E[gg^T]$",
            "gradient by what a label tells",
            "information of a label",
            by=lambda gradient, information: _around(gradient, information),
            test=Claim(lambda found, _, information: skewed(LOWER.T * found * LOWER, information)),
        ),
        TROIANI,
    )


def _by_chain_rule(evidence: Expectation) -> sp.Tuple:
    places = evidence.integrand.args
    return sp.Tuple(
        *(
            sp.Add(*(sp.diff(place, own) * sp.Derivative(AT_TWO, w) for place, w in zip(places, SHARED, strict=True)))
            for own in _OWN
        )
    )


def _own_part(found: sp.Tuple, evidence: Expectation) -> tuple[sp.Tuple, sp.Tuple]:
    slopes = {sp.Derivative(AT_TWO, w): sp.Derivative(evidence, w) for w in SHARED}
    return sp.Tuple(*(evidence.with_integrand(t * evidence.integrand) for t in _OWN)), found.xreplace(slopes)


def _around(gradient: sp.MatrixExpr, information: sp.MatrixExpr) -> sp.MatrixExpr:
    """K I K^T for K E[t|y]."""
    (factor,) = (part for part in gradient.args if part != _TOLD)
    return factor * information * factor.T
