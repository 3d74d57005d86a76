"""A giant gradient step on the batch of the step before: what both steps make of means and bulk of the rows.

Rows with a mean before both steps and rows without one are alike.
Source: THEORY section 12.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from derive.blocks import KAPPA, BlockSum, block_field, family
from derive.calculus import Calculus
from derive.further_step import AXIS, BULK, COORDINATE, DRIFT, FRACTION, SLOPE, SPREAD, VALUE, B, C, E
from derive.gaussian.expectation import Expectation
from derive.gaussian.special import in_latex
from derive.network_step import A, SigmaPrime
from derive.operations import COMPOSED, computed, equal
from derive.sample_averages import ALPHA0
from derive.seen_sample import (
    AFTER,
    BEND,
    FIRST,
    LEVEL,
    MEAN,
    SHARE,
    SQUARE,
    THEN,
    TILT,
    TWICE,
    record_seen_sample,
)
from derive.trace import Claim, Derivation, Recorder

AGAIN = sp.Symbol("A_2", real=True)  # the rate of the second of the two steps
BEFORE, SECOND = block_field("F_0")(KAPPA), block_field("e_1")(KAPPA)  # output at the first, residual at the second
REST = block_field("t")(AXIS, KAPPA)
PHI, COMMON = block_field("phi"), block_field("G")  # what all rows of a block have in common of the weights
RESPONSE = family("J")

_LABEL = sp.Symbol("y", real=True)
_S = sp.Symbol("sigma_b", positive=True)  # of the noise that the first step has given to a row
_RATE, _TURN, _MEMORY, _PRODUCT, _OWN, _ALONG, _BESIDE = sp.symbols("A_b j x y_b q s_along s_beside", real=True)
_SOURCE = "THEORY section 12"


class _OfMean(sp.Function):
    """A function of the mean pre-activation of a block on a sample, that prints as S_0 and its derivatives."""

    nargs = 1
    primes = 0

    def _sympystr(self, printer: Any) -> str:
        return f"S_0{chr(39) * self.primes}({printer._print(self.args[0])})"

    def _latex(self, printer: Any, exp: Any = None) -> str:
        name = f"S_0{chr(39) * self.primes}"
        return in_latex(name if exp is None else f"{{{name}}}", self.args, printer, exp)


class Level(_OfMean):
    """The mean feature of a block."""

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        return Slope(self.args[0])


class Slope(_OfMean):
    """The first derivative of ``Level``."""

    primes = 1

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        return Curvature(self.args[0])


class Curvature(_OfMean):
    """The second derivative of ``Level``."""

    primes = 2


@dataclass(frozen=True)
class RepeatedBatch:
    """Expressions; averages are over samples of the batch, points of their own.

    own: what a sample has added to its pre-activation, over sigma'. residual: at the second step. phi, common: shared
    weights of the samples at both. pull [b, e] and across [b, i]: what the second step adds along the v_e and the
    theta_perp_i. response [b, c]: what the common weight of b changes by with the mean of c. noise: of a block in both
    steps, as a vector over samples. drift [b], spread [b]: of the bulk, by both steps.
    """

    own: sp.Expr
    residual: sp.Expr
    phi: sp.Expr
    common: sp.Expr
    pull: sp.Expr
    across: sp.Expr
    response: sp.Expr
    noise: sp.Expr
    drift: sp.Expr
    spread: sp.Expr
    derivation: Derivation


def repeated_batch() -> RepeatedBatch:
    """Derive what two steps on one batch add to the rows, given what the first of them does."""
    trace = Recorder("A second giant step on the same batch")
    own = record_seen_sample(trace)
    residual, phi, common = _record_weights(trace)
    return RepeatedBatch(
        own,
        residual,
        phi,
        common,
        _record_along(trace, "spike", family("P_2")[B, E], COORDINATE),
        _record_along(trace, "rest of the target", family("P_t2")[B, AXIS], REST),
        _record_response(trace),
        _record_noise(trace),
        _record_drift(trace),
        _record_spread(trace),
        trace.finish(),
    )


def _record_weights(trace: Recorder) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """The residual at the second step, and the weights of a sample that all rows of a block have in common."""
    trace.define("first residual", FIRST, _LABEL - BEFORE, "label, its noise included, less the output then")
    residual = trace.derive(
        "second residual",
        SECOND,
        computed(
            "substitute",
            "the label less the output after the first step, which is its mean over the rows",
            "first residual",
            "average S_0",
            by=lambda *_: FIRST + BEFORE - BlockSum(FRACTION[B] * VALUE[B] * LEVEL(B, KAPPA), B),
            test=COMPOSED,
        ),
        _SOURCE,
    )
    words = "of a sample, that all rows of a block have in common"
    trace.define("first common weight", PHI(B, KAPPA), FIRST * SLOPE(B, KAPPA), f"{words}; $D_b=\\mathbb{{E}}\\sigma'$")
    trace.define("second common weight", COMMON(B, KAPPA), SECOND * SHARE(B, KAPPA), words)
    return residual, trace.right_side("first common weight"), trace.right_side("second common weight")


def _record_along(trace: Recorder, which: str, left: sp.Expr, coordinate: sp.Expr) -> sp.Expr:
    return trace.derive(
        f"second pull along the {which}",
        left,
        computed(
            "average",
            "the mean of the common weight times a coordinate of the sample",
            "row after the step",
            "second common weight",
            by=lambda *_: AGAIN * VALUE[B] * Expectation(COMMON(B, KAPPA) * coordinate, KAPPA),
            test=COMPOSED,
        ),
        _SOURCE,
    )


def _record_response(trace: Recorder) -> sp.Expr:
    """What the second common weight of a block changes by with the mean pre-activation of another, on average."""
    outputs = BlockSum(FRACTION[C] * VALUE[C] * Level(MEAN[C]), C)
    trace.define(
        "common weight by the means",
        COMMON(B, KAPPA),
        (_LABEL - outputs) * Slope(MEAN[B]),
        "of the pre-activations: $S_0$ is a function of $M_b$, and $S_1$ and $S_2$ are its derivatives",
    )
    with trace.between():
        trace.derive(
            "slope of the common weight",
            sp.Derivative(COMMON(B, KAPPA), MEAN[C]),
            computed(
                "differentiate",
                "differentiation in the mean of a block",
                "common weight by the means",
                by=lambda weight: Calculus().derivative(weight, MEAN[C]),
                test=Claim(
                    lambda result, weight: (
                        sp.Derivative(_undefined(weight), MEAN[C], evaluate=False),
                        _undefined(result),
                    )
                ),
            ),
        )
    return trace.derive(
        "response of the common weight",
        RESPONSE[B, C],
        computed(
            "average",
            "the mean of the derivative of $G_b$ in $M_c$, by the averages over the rows",
            "slope of the common weight",
            "second residual",
            by=lambda slope, _: _averaged(slope),
            test=COMPOSED,
        ),
        _SOURCE,
    )


def _undefined(expr: sp.Expr) -> sp.Expr:
    """With an undefined function and its derivatives in the place of the mean feature and its own."""
    place, function = sp.Symbol("m_level", real=True), sp.Function("level", real=True)
    first, second = (sp.Derivative(function(place), (place, order)) for order in (1, 2))
    found = expr.replace(Curvature, lambda x: sp.Subs(second, place, x))
    return found.replace(Slope, lambda x: sp.Subs(first, place, x)).replace(Level, function)


def _averaged(slope: sp.Expr) -> sp.Expr:
    """By the residual, and by fields of a sample; averaged."""
    (outputs,) = slope.atoms(BlockSum)
    named = slope.xreplace({outputs: _LABEL - SECOND})
    for function, field in ((Slope, SHARE), (Curvature, BEND)):
        members = {node: field(node.args[0].indices[0], KAPPA) for node in named.atoms(function)}
        named = named.xreplace(members)
    return sp.Add(*(_term_averaged(term) for term in sp.Add.make_args(sp.expand(named))))


def _term_averaged(term: sp.Expr) -> sp.Expr:
    outside, inside = term.as_independent(sp.core.function.AppliedUndef)
    return outside * Expectation(inside, KAPPA)


def _record_noise(trace: Recorder) -> sp.Expr:
    """The noise that the rows of a block have in common after both steps, as a vector over samples."""
    own = BlockSum(RESPONSE[B, C] * A * VALUE[C] * PHI(C, KAPPA), C)
    return trace.derive(
        "noise of both steps",
        block_field("xi")(B, KAPPA),
        computed(
            "add",
            "the weights of the samples in both steps: besides its own weight a sample has that of the noise of the "
            "first step, along which the second one moves by Stein's lemma; the product with another block is "
            "$\\mathbb{E}\\,\\xi_b\\xi_c$",
            "first common weight",
            "second common weight",
            "response of the common weight",
            by=lambda *_: (
                (A * VALUE[B] * PHI(B, KAPPA) + AGAIN * VALUE[B] * (COMMON(B, KAPPA) + own)) / sp.sqrt(ALPHA0)
            ),
            test=COMPOSED,
        ),
        _SOURCE,
    )


def _record_drift(trace: Recorder) -> sp.Expr:
    """What both steps add to a row's bulk along itself."""
    return trace.derive(
        "drift by both steps",
        family("delta_2")[B],
        computed(
            "add",
            "what the first step has moved along the bulk, and the mean of $e_1\\sigma'(h_b')g$",
            "second residual",
            "average S_g",
            by=lambda *_: DRIFT[B] + AGAIN * VALUE[B] * Expectation(SECOND * TILT(B, KAPPA), KAPPA) / sp.sqrt(BULK[B]),
            test=COMPOSED,
        ),
        _SOURCE,
    )


def _record_spread(trace: Recorder) -> sp.Expr:
    """The square of what both steps add across a row's bulk."""
    trace.define(
        "first own weight", sp.Symbol("f_b"), FIRST * (SigmaPrime(THEN) - SLOPE(B, KAPPA)), "of a sample in a row"
    )
    trace.define(
        "second own weight", sp.Symbol("R_b"), SECOND * (SigmaPrime(AFTER) - SHARE(B, KAPPA)), "of a sample in a row"
    )
    trace.define(
        "across, along what was added",
        _ALONG,
        _S + _RATE * (_S * _TURN + _MEMORY),
        "with $\\sigma_b=Au_b\\sqrt{\\mathbb{E}f^2/\\alpha_0}$, $\\hat f=f/\\sqrt{\\mathbb{E}f^2}$: the unit vector "
        "of what the first step has added meets a sample as $\\xi$, by the others, along which the second moves by "
        "$\\mathbb{E}R\\xi=\\sigma_bj$, $j=\\mathbb{E}e_1S_2$, and as $\\hat f/\\sqrt{\\alpha_0}$, by the sample "
        "itself, along which it moves by $x=\\mathbb{E}R\\hat f/\\sqrt{\\alpha_0}$; $A_b=A_2u_b$",
        _SOURCE,
    )
    trace.define(
        "across, beside it",
        _BESIDE,
        _RATE**2 * (_OWN - _MEMORY**2),
        "the noise of what $\\hat f$ leaves of $R$, $q=\\mathbb{E}R^2/\\alpha_0$",
        _SOURCE,
    )
    trace.derive(
        "square across the bulk",
        sp.Symbol("varsigma"),
        computed(
            "add",
            "the squares of the two parts; by $\\sigma_bx=Au_b\\mathbb{E}Rf/\\alpha_0=y_b$ nothing is divided by "
            "$\\sigma_b$",
            "across, along what was added",
            "across, beside it",
            by=lambda along, beside: _by_product(along**2 + beside),
            test=equal(lambda along, beside: sp.Subs(along**2 + beside, _MEMORY, _PRODUCT / _S)),
        ),
        _SOURCE,
    )
    product = A * VALUE[B] * Expectation(SECOND * FIRST * (TWICE(B, KAPPA) - SLOPE(B, KAPPA) * SHARE(B, KAPPA)), KAPPA)
    places = {
        _S: sp.sqrt(SPREAD[B]),
        _RATE: AGAIN * VALUE[B],
        _TURN: Expectation(SECOND * BEND(B, KAPPA), KAPPA),
        _PRODUCT: product / ALPHA0,
        _OWN: Expectation(SECOND**2 * (SQUARE(B, KAPPA) - SHARE(B, KAPPA) ** 2), KAPPA) / ALPHA0,
    }
    return trace.derive(
        "spread by both steps",
        family("varsigma_2")[B],
        computed(
            "substitute",
            "averages over the rows in products of the own weights",
            "square across the bulk",
            "first own weight",
            "second own weight",
            "second residual",
            by=lambda square, *_: square.xreplace(places),
            test=equal(lambda square, *_: sp.Subs(square, tuple(places), tuple(places.values()))),
        ),
        _SOURCE,
    )


def _by_product(expr: sp.Expr) -> sp.Expr:
    """By the product of the noise with what remembers it, in squares as short as they are."""
    found = sp.expand(sp.expand(expr).subs(_MEMORY, _PRODUCT / _S))
    lead = sp.collect(found, _S**2, evaluate=False)
    return sp.Add(*(power * sp.factor(rest) for power, rest in lead.items()))
