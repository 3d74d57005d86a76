"""A giant gradient step of a first layer that has a spike already: a fresh batch moves means and bulk of the rows.

Rows of block b have the mean ``sum_e L_be v_e`` and a bulk of squared norm c_b. Given ``kappa_e = v_e.x`` the output of
the network is its mean F(kappa). The gradient falls into a part along the v_e, one along what they leave of the
target's directions, one along the row's own bulk, and noise, of which a block has one part in common and each neuron
one of its own. L = 0 and c = 1 is the first step. Source: THEORY section 12.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from derive.blocks import KAPPA, BlockSum, Definition, block_field, family, index
from derive.gaussian.expectation import Expectation
from derive.labels import FLIPS, NOISE, NOISE_VARIABLE, evaluated
from derive.network_step import A, record_row_after_step
from derive.operations import AVERAGE_WRITTEN, COMPOSED, by_parts, computed, equal
from derive.sample_averages import squared_norm
from derive.trace import Derivation, Recorder

B, C = index("b"), index("c")  # blocks
E, AXIS = index("e"), index("i")  # directions of the spike; of the rest of the target
LOADING, BULK, VALUE, FRACTION = family("L"), family("c"), family("u"), family("pi")
CLEAN, CLEAN_ALONG, CLEAN_SQUARE = block_field("y_1")(KAPPA), block_field("y_t")(AXIS, KAPPA), block_field("y_2")(KAPPA)
PULL, DRIFT, SPREAD = family("P"), family("delta"), family("varsigma")  # what the gradient adds to the rows
OUTPUT, MU0 = block_field("F")(KAPPA), block_field("mu0")
RESIDUAL, ALONG, SIZE = block_field("e_1")(KAPPA), block_field("e_t")(AXIS, KAPPA), block_field("e_2")(KAPPA)
SLOPE, TILT, STEEP = block_field("D"), block_field("D_g"), block_field("D_2")
COORDINATE = block_field("kappa_v")(E, KAPPA)

_G, _T = sp.symbols("g t", real=True)
_SHIFT, _C = sp.Symbol("s", real=True), sp.Symbol("c", positive=True)
_SIGMA, _LABEL = sp.Function("sigma")(_SHIFT + sp.sqrt(_C) * _G), sp.Function("sigma_star")(_T)
_NOISE = sp.Symbol("q_square", positive=True)
_SOURCE = "THEORY section 12"


@dataclass(frozen=True)
class FurtherStep:
    """Expressions; those at kappa: output F, residual E e, along E e t_i, size E e^2, slope E sigma' and tilt
    E g sigma' of a block by its Hermite coefficients.

    What the gradient adds: pull [b, e] along the v_e, across [b, i] along the unit directions theta_perp_i; what two
    blocks have in common beside these has the product E common_b common_c over kappa; drift [b] of the bulk along
    itself, relative to its length, and spread [b], the square of what is added across it. In isotropic inputs the rows
    have the loadings [b, e] and the bulk_variance [b] after that, by pull, drift and spread.
    """

    output: sp.Expr
    residual: sp.Expr
    along: sp.Expr
    size: sp.Expr
    slope: sp.Expr
    tilt: sp.Expr
    pull: sp.Expr
    across: sp.Expr
    common: sp.Expr
    drift: sp.Expr
    spread: sp.Expr
    loadings: sp.Expr
    bulk_variance: sp.Expr
    derivation: Derivation


def further_step() -> FurtherStep:
    """Derive the map of a step from means and bulk of the rows to those after it."""
    trace = Recorder("A further giant gradient step")
    with trace.between():
        record_row_after_step(trace)
    _record_layer(trace)
    residual, along, size = _record_residual(trace)
    slope, tilt = _record_slope(trace)
    return FurtherStep(
        trace.right_side("output"),
        residual,
        along,
        size,
        slope,
        tilt,
        _record_along(trace, "spike", PULL[B, E], RESIDUAL * SLOPE(B, KAPPA) * COORDINATE),
        _record_along(trace, "rest of the target", family("P_t")[B, AXIS], ALONG * SLOPE(B, KAPPA)),
        _record_common(trace),
        *_record_bulk(trace),
        *_record_rows(trace),
        trace.finish(),
    )


# --- what stands at kappa --------------------------------------------------------------------------------------------


def _record_layer(trace: Recorder) -> None:
    """The first layer before the step, and what its neurons give."""
    trace.define(
        "row of a block",
        sp.Symbol("w_b"),
        BlockSum(LOADING[B, E] * family("v")[E], E) + sp.sqrt(BULK[B]) * family("omega")[B],
        "the mean that the steps before gave to its rows, and a bulk $\\omega$ of unit norm without direction",
        _SOURCE,
    )
    trace.assume(
        "pre-activation given kappa",
        sp.Symbol("h"),
        _SHIFT + sp.sqrt(_C) * _G,
        "$s_b=\\sum_eL_{be}\\kappa_e$ plus the bias, $\\kappa_e=v_e\\cdot x$, and $g$ standard normal",
        source="[CUI24, Result 3.2]",
        assumption="to leading order in d",
    )
    trace.define("feature", sp.Symbol("f_b"), _SIGMA, "of a neuron given $\\kappa$", _SOURCE)
    trace.assume(
        "output",
        OUTPUT,
        BlockSum(FRACTION[B] * VALUE[B] * MU0(B, KAPPA), B),
        "the network before the step to concentrate on the mean of its features, $\\mu_0=\\mathbb{E}_g\\sigma$",
        source=_SOURCE,
        assumption="law of large numbers over the neurons",
    )


def _record_residual(trace: Recorder) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Averages of the residual given kappa, by moments of the clean label."""
    flip = sp.Symbol("varphi", real=True)
    trace.given(
        "label given kappa",
        sp.Symbol("y"),
        flip * _LABEL + sp.sqrt(NOISE) * NOISE_VARIABLE,
        "$t=\\theta_\\perp\\cdot x$; $\\varphi=-1$ with the probability of a flip, otherwise 1",
        "[GER20]",
    )
    moments = (("y_1", CLEAN, _LABEL), ("y_t", CLEAN_ALONG, _T * _LABEL), ("y_2", CLEAN_SQUARE, _LABEL**2))
    for name, left, body in moments:
        words = "a moment of the clean label given $\\kappa$" + (", along each direction beside $v$" * (name == "y_t"))
        trace.define(f"moment {name} of the label", left, Expectation(body, _T), words)
    known = {Expectation(body, _T): left for _, left, body in moments}
    definitions = tuple(Definition(n, (AXIS,) if n == "y_t" else (), Expectation(body, _T)) for n, _, body in moments)

    def node(label: Any, weight: Any, power: int) -> Any:
        kept, turned = ((label.subs(flip, sign) - OUTPUT) ** power for sign in (1, -1))
        return Expectation(((1 - FLIPS) * kept + FLIPS * turned) * weight, _T, NOISE_VARIABLE)

    def record(label: str, left: Any, weight: Any, power: int) -> sp.Expr:
        return trace.derive(
            label,
            left,
            computed(
                "average",
                "over label, flip and noise, the output being $F$",
                "label given kappa",
                *(f"moment {name} of the label" for name, _, _ in moments),
                by=lambda y, *_: sp.expand(evaluated(node(y, weight, power)).xreplace(known)),
                test=equal(lambda y, *_: node(y, weight, power), *definitions),
            ),
            _SOURCE,
        )

    return (
        record("mean residual", RESIDUAL, 1, 1),
        record("residual along the rest", ALONG, _T, 1),
        record("square of the residual", SIZE, 1, 2),
    )


def _record_slope(trace: Recorder) -> tuple[sp.Expr, sp.Expr]:
    """Averages of sigma' given kappa: its mean and its linear coefficient by Stein's lemma, its square as it is."""
    slope = sp.Derivative(_SIGMA, _G) / sp.sqrt(_C)
    trace.define("slope", sp.Symbol("sigma'"), slope, "of the activation at a pre-activation")
    found = []
    for name, weight, words in (
        ("D", 1, "the part of a sample's weight that all neurons of a block have in common"),
        ("D_g", _G, "the part along the row's own bulk"),
    ):
        written = f"average {name} written down"
        trace.derive(
            written,
            None,
            computed(
                "average",
                words,
                "slope",
                by=lambda s, weight=weight: Expectation(weight * s, _G),
                before=lambda s, weight=weight: Expectation(weight * s, _G),
                test=AVERAGE_WRITTEN,
            ),
            shown=False,
        )
        rule = "integration by parts: a Hermite coefficient of $\\sigma$"
        found.append(
            trace.derive(f"average {name}", block_field(name)(B, KAPPA), by_parts(written, _G, rule), "Stein's lemma")
        )
    trace.define("average D_2", STEEP(B, KAPPA), Expectation(slope**2, _G), "the mean square of $\\sigma'$")
    return found[0], found[1]


# --- the step ---------------------------------------------------------------------------------------------------------


def _record_along(trace: Recorder, which: str, left: sp.Expr, integrand: sp.Expr) -> sp.Expr:
    """What the rows of a block gain along the spike's directions, or along those of the rest of the target."""
    names = ("mean residual", "average D") if which == "spike" else ("residual along the rest", "average D")
    coordinate = "$\\kappa_e$" if which == "spike" else "$t_i$"
    return trace.derive(
        f"pull along the {which}",
        left,
        computed(
            "average",
            f"the mean of $e\\,\\sigma'$ times {coordinate}, by the law of large numbers over the batch",
            "row after the step",
            "row of a block",
            *names,
            by=lambda *_: A * VALUE[B] * Expectation(integrand, KAPPA),
            test=COMPOSED,
        ),
        _SOURCE,
    )


def _record_common(trace: Recorder) -> sp.Expr:
    """The noise that the rows of a block have in common, as a vector over the samples of the batch."""
    label = squared_norm(trace, "noise", (sp.S.Zero,), _NOISE)
    return trace.derive(
        "common noise",
        block_field("xi")(B, KAPPA),
        computed(
            "take the root",
            "what is left of the batch: an average with the weights $e\\,D_b$; its product with that of another block "
            "is $\\mathbb{E}_\\kappa\\,\\xi_b\\xi_c$",
            label,
            "row after the step",
            "square of the residual",
            "average D",
            by=lambda norm, *_: A * VALUE[B] * sp.sqrt(norm.subs(_NOISE, SIZE)) * SLOPE(B, KAPPA),
            test=equal(lambda norm, *_: sp.sqrt(norm.subs(_NOISE, SIZE * (A * VALUE[B] * SLOPE(B, KAPPA)) ** 2))),
        ),
        _SOURCE,
    )


def _record_bulk(trace: Recorder) -> tuple[sp.Expr, sp.Expr]:
    """What the bulk of a row gains along itself, and across it."""
    drift = trace.derive(
        "drift of a row",
        DRIFT[B],
        computed(
            "average",
            "the mean of $e\\,\\sigma'$ along $\\omega$, relative to its length $\\sqrt{c}$ in the row",
            "mean residual",
            "average D_g",
            by=lambda *_: A * VALUE[B] * Expectation(RESIDUAL * TILT(B, KAPPA), KAPPA) / sp.sqrt(BULK[B]),
            test=COMPOSED,
        ),
        _SOURCE,
    )
    spread = trace.derive(
        "spread of the rows",
        SPREAD[B],
        computed(
            "average",
            "the square of what the step adds across the bulk: noise of the part of $\\sigma'$ that is not common to "
            "the block",
            "squared norm of the noise",
            "square of the residual",
            "average D_2",
            by=lambda norm, *_: (A * VALUE[B]) ** 2 * _with_square(norm, STEEP(B, KAPPA) - SLOPE(B, KAPPA) ** 2),
            test=COMPOSED,
        ),
        _SOURCE,
    )
    return drift, spread


def _record_rows(trace: Recorder) -> tuple[sp.Expr, sp.Expr]:
    """Means and bulk of the rows after the step, in isotropic inputs."""
    loadings = trace.derive(
        "loadings along the spike",
        family("L'")[B, E],
        computed(
            "add",
            "the mean before the step and what it adds",
            "pull along the spike",
            by=lambda _: LOADING[B, E] + PULL[B, E],
            test=COMPOSED,
        ),
        _SOURCE,
    )
    variance = trace.derive(
        "bulk variance",
        family("c'")[B],
        computed(
            "add",
            "the bulk moved along itself, and what the step adds across it",
            "drift of a row",
            "spread of the rows",
            by=lambda *_: BULK[B] * (1 + DRIFT[B]) ** 2 + SPREAD[B],
            test="the squares of two orthogonal parts of a row added",
        ),
        _SOURCE,
    )
    return loadings, variance


def _with_square(norm: sp.Expr, slopes: sp.Expr) -> sp.Expr:
    """The squared norm of an average of samples whose weights have the mean square E[e^2 slopes]."""
    return norm.subs(_NOISE, Expectation(SIZE * slopes, KAPPA))
