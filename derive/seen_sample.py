"""A sample of a giant step's batch as the rows see it after the step: the law of its pre-activations.

What the sample has added to a row is part of the row's pre-activation on it; what all other samples have added is
Gaussian. So given a sample the pre-activation is a mean that the rows of a block have in common, the row's bulk, noise
of its own, and a term of the sample itself, which its label enters.
Source: THEORY section 12.
"""

from __future__ import annotations

import sympy as sp

from derive.blocks import KAPPA, BlockSum, block_field, family, rename
from derive.further_step import BULK, DRIFT, SPREAD, VALUE, B
from derive.gaussian.expectation import Expectation
from derive.network_step import (
    DIMENSION,
    PRE,
    RESIDUAL,
    ROW,
    SAMPLES,
    J,
    Sigma,
    SigmaPrime,
    X,
    record_row_after_step,
)
from derive.operations import COMPOSED, computed
from derive.sample_averages import ALPHA0
from derive.trace import Claim, Recorder

FIRST = block_field("e_0")(KAPPA)  # the residual at the step
MEAN, LEVEL, SHARE = family("M"), block_field("S_0"), block_field("S_1")  # of a sample, and averages given it
BEND, TILT, TWICE, SQUARE = (block_field(f"S_{name}") for name in ("2", "g", "s", "q"))

_K, _LENGTH = sp.Symbol("k", integer=True), sp.Symbol("length", positive=True)
_G, _XI = sp.symbols("g xi", real=True)
THEN, AFTER = sp.Function("h", real=True)(_G), sp.Function("h'", real=True)(_G, _XI)  # pre-activations
_SOURCE = "THEORY section 12"


def record_seen_sample(trace: Recorder) -> sp.Expr:
    """The law of the pre-activations, and averages over the rows; what the sample has added to them, over sigma'."""
    with trace.between():
        record_row_after_step(trace)
    own = _record_own(trace).xreplace({RESIDUAL[_K]: FIRST, VALUE[ROW]: VALUE[B], PRE[ROW, _K]: THEN})
    trace.assume(
        "pre-activation on a sample that was seen",
        AFTER,
        MEAN[B] + (1 + DRIFT[B]) * sp.sqrt(BULK[B]) * _G + sp.sqrt(SPREAD[B]) * _XI + own,
        "the mean $M_b=\\sum_e(L_{be}+P_{be})\\kappa_e+\\sum_iP_{t,bi}t_i+\\nu_b$ plus the bias, where $\\nu_b$ are "
        "Gaussian, of the covariance that the noise of the means has; the row's bulk $g$, of which $h$ is a function; "
        "what the other samples have added to the row alone, $\\xi$; and the sample's own term",
        source=_SOURCE,
        assumption="Gaussian conditioning on what batch and row have told of each other",
    )
    averages = {
        "S_0": (LEVEL, Sigma(AFTER), "the mean feature on a sample"),
        "S_1": (SHARE, SigmaPrime(AFTER), "the mean slope"),
        "S_2": (BEND, _XI * SigmaPrime(AFTER) / sp.sqrt(SPREAD[B]), "of $\\sigma''$, by Stein's lemma"),
        "S_g": (TILT, _G * SigmaPrime(AFTER), "along the row's bulk"),
        "S_s": (TWICE, SigmaPrime(THEN) * SigmaPrime(AFTER), "of the slopes before and after the step"),
        "S_q": (SQUARE, SigmaPrime(AFTER) ** 2, "the mean square of the slope"),
    }
    for name, (field, body, words) in averages.items():
        trace.define(f"average {name}", field(B, KAPPA), Expectation(body, _G, _XI), words)
    return own / SigmaPrime(THEN)


def _record_own(trace: Recorder) -> sp.Expr:
    """What a sample of the batch has added to its own pre-activation."""
    trace.define(
        "sample of the batch",
        sp.Symbol("h_k'"),
        BlockSum(sp.Symbol("w_after") * X[_K, J], J),
        "the pre-activation of a row after the step on a sample $k$ of its batch",
    )
    trace.assume(
        "length of a sample",
        BlockSum(X[_K, J] ** 2, J),
        DIMENSION,
        "the squared length of a sample to concentrate on its mean",
        source=_SOURCE,
        assumption="law of large numbers",
    )
    trace.define("samples of the batch", SAMPLES, ALPHA0 * DIMENSION, "of the step")
    trace.derive(
        "term of the sample itself",
        sp.Symbol("o_k"),
        computed(
            "pick a term",
            "the term $i=k$ of the sum over samples, times $x_k$",
            "row after the step",
            "sample of the batch",
            by=lambda row, _: _itself(row),
            test=COMPOSED,
        ),
        shown=False,
    )
    return trace.derive(
        "what the sample itself has added",
        sp.Symbol("o_k"),
        computed(
            "substitute",
            "to the pre-activation, by the length of a sample and $n_0=\\alpha_0d$",
            "term of the sample itself",
            "length of a sample",
            "samples of the batch",
            by=lambda term, length, count: _by_length(term, length).subs(SAMPLES, count),
            test=Claim(_put_in),
        ),
        _SOURCE,
    )


def _itself(row: sp.Expr) -> sp.Expr:
    """The term of one sample in the row after the step, times that sample, over the inputs."""
    (over_samples,) = row.atoms(BlockSum)
    body = rename(over_samples.body, {over_samples.bound: _K})
    (moved,) = (term for term in sp.Add.make_args(row) if term.has(over_samples))
    return moved.xreplace({over_samples: body / X[_K, J]}) * BlockSum(X[_K, J] ** 2, J)


def _by_length(term: sp.Expr, length: sp.Expr) -> sp.Expr:
    (square,) = term.atoms(BlockSum)
    return term.xreplace({square: length})


def _put_in(result: sp.Expr, term: sp.Expr, length: sp.Expr, count: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """With an undefined function in the place of the activation's derivative."""
    term, result = (each.replace(SigmaPrime, sp.Function("slope", real=True)) for each in (term, result))
    return sp.Subs(_by_length(term, _LENGTH), (_LENGTH, SAMPLES), (length, count)), result
