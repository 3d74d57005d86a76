"""Gaussian inputs of a given covariance: the spectral law of the features, without a step and after one.

In whitened inputs g, ``x = Sigma_in^(1/2) g``, everything is diagonal in the eigenbasis of ``Sigma_in``: a direction
has a weight at each eigenvalue x, and rows have a covariance there. Source: THEORY section 10.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp

from derive.blocks import BlockSum, family, index
from derive.gaussian.expectation import Expectation
from derive.gradient_step import ALPHA0, E2, MU1, S0, SECOND, VARIANCE
from derive.network_step import A
from derive.operations import COMPOSED, computed, equal
from derive.trace import Derivation, Operation, Recorder

B, X = index("b"), index("x")
EIGENVALUE, TRACE, TARGET = family("eigenvalue"), family("law_tr"), family("law_theta")
VALUE = family("u")
S1, GAMMA = sp.Symbol("s_1", real=True), sp.Symbol("gamma", real=True)
LENGTH = sp.Symbol("N", positive=True)
THETA, RANDOM, SPIKE = sp.symbols("theta epsilon v", commutative=True)
_NORMALS = _OF_THETA, _OF_RANDOM = sp.symbols("n_theta n_epsilon", real=True)
_SOURCE = "THEORY section 10"

Weights = tuple[sp.Expr, sp.Expr, sp.Expr]


@dataclass(frozen=True)
class StructuredInputs:
    """Expressions at the eigenvalue x: covariances of the rows of block b without a step and, not yet over its mean
    c_b, after one; squared length N^2 of the spike before its factor A mu1; strength; alignment; the parts of the unit
    spike along theta and without direction; weights vv, vo, oo after a step, and of a spike given by its alignment.
    """

    plain: sp.Expr
    moved: sp.Expr
    bulk_variance: sp.Expr
    squared_length: sp.Expr
    strength: sp.Expr
    alignment: sp.Expr
    direction: tuple[sp.Expr, sp.Expr]
    weights: Weights
    given: Weights
    derivation: Derivation


def structured_inputs() -> StructuredInputs:
    """Derive the law of the features for inputs with eigenvalues of mean one, of a target of one index."""
    trace = Recorder("Spectral law of structured inputs")
    row = trace.define(
        "row of a neuron",
        sp.Symbol("w_x"),
        sp.sqrt(EIGENVALUE[X]),
        "per component of a unit row, in whitened inputs",
        _SOURCE,
    )
    plain = trace.derive(
        "covariance without a step",
        family("Sigma")[B, X],
        computed(
            "square",
            "rows of a uniform direction, the mean eigenvalue being one",
            "row of a neuron",
            by=lambda root: root**2,
            test=COMPOSED,
        ),
        _SOURCE,
    )
    moved, mean = _record_step(trace, row)
    squared, strength, alignment = _record_spike(trace)
    spike = trace.derive(
        "unit spike",
        SPIKE,
        computed(
            "divide", "the direction over its length", "direction of the spike", by=lambda v: v / LENGTH, test=COMPOSED
        ),
    )
    trace.assume(
        "given spike",
        SPIKE,
        GAMMA * THETA + sp.sqrt(1 - GAMMA**2) * RANDOM,
        "a spike of which only the alignment is given, not to have a direction beside the target's",
        source=_SOURCE,
        assumption="none: this is what such a model means",
    )
    trace.define(
        "rest of the target",
        sp.Symbol("theta_perp"),
        (THETA - GAMMA * SPIKE) / sp.sqrt(1 - GAMMA**2),
        "the unit vector along what the spike leaves of the target",
    )
    weights, of_given = (_record_weights(trace, label) for label in ("unit spike", "given spike"))
    direction = (sp.expand(spike).coeff(THETA), sp.expand(spike).coeff(RANDOM))
    return StructuredInputs(
        plain, moved, mean, squared, strength, alignment, direction, weights, of_given, trace.finish()
    )


def _record_step(trace: Recorder, row: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The covariance that one step leaves, and its mean."""
    trace.assume(
        "moved row",
        sp.Symbol("w_x'"),
        sp.Tuple(
            row * (1 + A * VALUE[B] * S0 * SECOND * EIGENVALUE[X]),
            A * VALUE[B] * sp.sqrt(E2 * VARIANCE / ALPHA0) * EIGENVALUE[X],
        ),
        "the gradient without the spike to move a row along itself, by $\\Sigma_{in}w$, and across it by an average of "
        "samples with independent weights",
        source=_SOURCE,
        assumption="$\\mathrm{tr}\\,\\Sigma_{in}^2/d$ stays finite, or the activation is linear",
    )
    moved = trace.derive(
        "covariance after a step",
        family("Sigma")[B, X],
        computed(
            "square",
            "the two parts are independent",
            "moved row",
            by=lambda parts: sp.Add(*(e**2 for e in parts)),
            test=equal(lambda parts: Expectation((parts[0] * _OF_THETA + parts[1] * _OF_RANDOM) ** 2, *_NORMALS)),
        ),
        _SOURCE,
    )
    mean = trace.derive(
        "bulk variance",
        family("c")[B],
        computed(
            "average",
            "the mean over the spectrum, by which rows of unit norm are divided",
            "covariance after a step",
            by=lambda body: BlockSum(TRACE[X] * body, X),
            test=COMPOSED,
        ),
        _SOURCE,
    )
    return moved, mean


def _record_spike(trace: Recorder) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Squared length, strength and alignment of the direction that all rows gain."""
    trace.assume(
        "direction of the spike",
        sp.Symbol("N v"),
        EIGENVALUE[X] * (S1 * THETA + sp.sqrt(E2 / ALPHA0) * RANDOM),
        "$\\Sigma_{in}^{1/2}\\frac{1}{n_0}\\sum_ie_ix_i$ to be its mean along $\\theta$ and a part $\\epsilon$ without "
        "direction",
        source=_SOURCE,
        assumption="law of large numbers",
    )
    spike = "direction of the spike"
    squared = trace.derive(
        "squared length",
        LENGTH**2,
        computed(
            "sum over the spectrum",
            "$\\theta$ has the weight $w_\\theta$ at $x$, $\\epsilon$ that of the trace",
            spike,
            by=lambda v: BlockSum(inner(v, v), X),
            test=equal(lambda v: BlockSum(_product(v, v), X)),
        ),
        _SOURCE,
    )
    strength = trace.derive(
        "strength",
        sp.Symbol("r"),
        computed(
            "take the length",
            "$A\\mu_1$ times the length",
            "squared length",
            by=lambda _: A * MU1 * LENGTH,
            test=COMPOSED,
        ),
        _SOURCE,
    )
    alignment = trace.derive(
        "alignment",
        GAMMA,
        computed(
            "sum over the spectrum",
            "$v\\cdot\\theta$",
            spike,
            by=lambda v: BlockSum(inner(v, THETA), X) / LENGTH,
            test=equal(lambda v: BlockSum(_product(v, THETA), X) / LENGTH),
        ),
        _SOURCE,
    )
    return squared, strength, alignment


def _record_weights(trace: Recorder, spike: str) -> Weights:
    """How a unit spike and the rest of the target are spread over the spectrum."""
    pairs = (
        ("law_vv", 0, 0, "$v\\cdot v$ at $x$"),
        ("law_vo", 0, 1, "$v\\cdot\\theta_\\perp$ at $x$"),
        ("law_oo", 1, 1, "$\\theta_\\perp\\cdot\\theta_\\perp$ at $x$"),
    )

    def projected(i: int, j: int, words: str) -> Operation:
        def of(product: Callable[..., sp.Expr], v: sp.Expr, rest: sp.Expr) -> sp.Expr:
            directions = (v, rest.subs(SPIKE, v))
            return product(directions[i], directions[j])

        return computed(
            "project",
            words,
            spike,
            "rest of the target",
            by=lambda v, rest: sp.factor(of(inner, v, rest)),
            test=equal(lambda v, rest: of(_product, v, rest)),
        )

    vv, vo, oo = (
        trace.derive(f"{name}, {spike}", family(name)[X], projected(i, j, words), _SOURCE)
        for name, i, j, words in pairs
    )
    return vv, vo, oo


def inner(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """The product at x of two directions linear in theta and epsilon, which have no product with each other."""
    parts = [[sp.expand(u).coeff(unit) for u in (first, second)] for unit in (THETA, RANDOM)]
    return parts[0][0] * parts[0][1] * TARGET[X] + parts[1][0] * parts[1][1] * TRACE[X]


def _product(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """The same as an average: theta and epsilon as independent normal numbers with their weights for variances."""
    places = {THETA: sp.sqrt(TARGET[X]) * _OF_THETA, RANDOM: sp.sqrt(TRACE[X]) * _OF_RANDOM}
    return Expectation(first.xreplace(places) * second.xreplace(places), *_NORMALS)
