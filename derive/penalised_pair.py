"""The readouts of a neuron in two fits under a penalty: their mean product, and what stands for it [THEORY section 16].

In each fit a readout is the proximal map of the penalty at a Gaussian. Those of two fits have a covariance Delta_12,
made by what the fits have in common. The field of the two stand-ins has the covariance with which the product of both
readouts is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sympy as sp

from derive.gaussian.expectation import Expectation
from derive.operations import computed
from derive.penalised_readout import (
    AVERAGES,
    MEAN,
    READOUT_MEAN,
    RESPONSE,
    SHARE,
    SOURCE,
    VARIANCE,
    WIDTH,
    averages_of_quadratic,
)
from derive.penalty import penalty_law
from derive.replica.averages import MEAN as OUTPUT_MEAN
from derive.replica.averages import SPREAD
from derive.replica.two_kinds import COMMON, OWN, SHARED, two_kinds_derivation
from derive.symbols import BETA
from derive.trace import Claim, Derivation, Recorder

PRODUCT = sp.Symbol("product", real=True)  # E a_1 a_2
MOVES = sp.Symbol("moves", positive=True)  # its derivative in Delta_12
FIELD_12 = sp.Symbol("random_field_12", real=True)
T_12 = sp.Symbol("T_12", real=True)
G = sp.Function("g", real=True)  # minus the slope of the envelope of the penalty


@dataclass(frozen=True)
class PairLaw:
    """By Delta_12 and averages of the proximal map: T_12, the covariance of the stand-ins' fields, and their slopes.

    readout, move: of a readout given what both have in common, and how much it moves with its argument. product and
    its slope moves are the means of the squares of these over what both have in common.
    """

    readout: sp.Expr
    move: sp.Expr
    overlap: sp.Expr
    overlap_slope: sp.Expr
    field: sp.Expr
    field_slope: sp.Expr
    derivation: Derivation


@lru_cache(maxsize=1)
def pair_law() -> PairLaw:
    """Derive it. Source: THEORY section 16."""
    trace = Recorder("Penalty on the readouts of two fits", (penalty_law().derivation, two_kinds_derivation()))
    readout = _record_product(trace)
    move = _record_move(trace)
    overlap, field = _record_overlap(trace), _record_field(trace)
    slopes = [_slope(trace, label) for label in ("T_12 of the readouts", "field of two stand-ins")]
    return PairLaw(readout, move, overlap, slopes[0], field, slopes[1], trace.finish())


def _record_product(trace: Recorder) -> sp.Expr:
    """E a_1 a_2 by Price's theorem, and a readout given what both have in common."""
    trace.derive(
        "product of two readouts",
        PRODUCT,
        computed(
            "substitute",
            "the derivative of $E[e_1e_2]$ in the covariance $\\Delta_{12}/V^2$ of the forces, $e$ the energy of a "
            "readout given its argument $\\omega$: $a=\\omega+Vg(\\omega)$ is minus its slope in the force",
            "slope in the covariance",
            "proximal problem",
            by=lambda slope, _: _at_readouts(slope),
            test=Claim(_price_of_quadratic),
        ),
        SOURCE,
    )
    return trace.derive(
        "readout given what two have in common",
        sp.Function("a")(COMMON),
        computed(
            "average",
            "given $z$ both are independent, so that $E[a_1a_2]$ is the mean square of this: $g$ is averaged over "
            "arguments of mean $\\bar\\omega+\\sqrt{\\Delta_{12}}z$, here $\\bar\\omega$, and variance "
            "$\\Delta-\\Delta_{12}$",
            "product of two readouts",
            by=lambda _: MEAN + WIDTH * AVERAGES["avg_g"],
            test=Claim(_square_of_quadratic),
        ),
        SOURCE,
    )


def _record_move(trace: Recorder) -> sp.Expr:
    return trace.derive(
        "move given what two have in common",
        sp.Derivative(sp.Function("a")(COMMON), MEAN),
        computed(
            "differentiate",
            "by $dg/d\\bar\\omega=-h$; by Price's theorem $dE[a_1a_2]/d\\Delta_{12}$ is the mean square of this",
            "readout given what two have in common",
            by=lambda readout: sp.diff(readout, MEAN) - AVERAGES["avg_h"] * sp.diff(readout, AVERAGES["avg_g"]),
            test=Claim(lambda found, readout: (sp.Derivative(_quadratic(readout), MEAN), _quadratic(found))),
        ),
        SOURCE,
    )


def _record_overlap(trace: Recorder) -> sp.Expr:
    """T_12 = beta Q2_12."""
    return trace.define(
        "T_12 of the readouts", T_12, BETA * SHARE * PRODUCT, "$\\beta Q^{(2)}_{12}$ of a block, by the mean product"
    )


def _record_field(trace: Recorder) -> sp.Expr:
    """random_field_12."""
    linear = RESPONSE / (BETA * SHARE)
    trace.define(
        "product of the stand-ins",
        PRODUCT,
        (SHARED / WIDTH**2 + FIELD_12) * linear**2 + READOUT_MEAN**2,
        "linear: the covariance of the fields times both responses, and the means",
    )
    return trace.derive(
        "field of two stand-ins",
        FIELD_12,
        computed(
            "solve",
            "the covariance at which the products agree",
            "product of the stand-ins",
            by=lambda body: sp.expand(sp.solve(body - PRODUCT, FIELD_12)[0]),
            test=Claim(lambda found, body: (body.xreplace({FIELD_12: found}), PRODUCT)),
        ),
        SOURCE,
    )


def _slope(trace: Recorder, label: str) -> sp.Expr:
    """The derivative in Delta_12, with which the product moves."""
    return trace.derive(
        f"slope of {label}",
        sp.Derivative(sp.Symbol(label), SHARED),
        computed(
            "differentiate",
            "the product moving with it",
            label,
            by=lambda body: sp.diff(body, SHARED) + MOVES * sp.diff(body, PRODUCT),
            test=Claim(
                lambda found, body: (
                    sp.Derivative(body.xreplace({PRODUCT: _LINE.xreplace({_AT: SHARED})}), SHARED),
                    found.xreplace({PRODUCT: _LINE.xreplace({_AT: SHARED}), MOVES: sp.diff(_LINE, _AT)}),
                )
            ),
        ),
        SOURCE,
        shown=False,
    )


_AT = sp.Symbol("x", real=True)
_LINE = sp.Symbol("p_0", real=True) + sp.Symbol("p_1", positive=True) * _AT  # a product that moves


def _at_readouts(slope: Any) -> Any:
    """E[e_1' e_2'] in units of the forces, with e' = -a/V in the argument."""
    there = slope.xreplace({OUTPUT_MEAN: MEAN, SPREAD: VARIANCE})
    found = there.replace(_is_slope, lambda e: -(e.args[0] + WIDTH * G(e.args[0])) / WIDTH)
    return Expectation(WIDTH**2 * found.integrand, *found.variables)


def _is_slope(e: Any) -> bool:
    return str(getattr(e, "func", "")) == "M_1"


def _arguments() -> list[Any]:
    return [MEAN + sp.sqrt(SHARED) * COMMON + sp.sqrt(VARIANCE - SHARED) * own for own in OWN]


def _price_of_quadratic(found: Any, _: Any, problem: Any) -> tuple[Any, Any]:
    """The derivative of the mean product of the energies, and what was found, for a quadratic penalty."""
    weight = averages_of_quadratic()["avg_h"]
    energies = [weight * w**2 / 2 - w**2 / (2 * WIDTH) for w in _arguments()]
    mean = Expectation(sp.Mul(*energies), COMMON, *OWN)
    return WIDTH**2 * sp.Derivative(mean, SHARED), _of_line(found)


def _of_line(body: Any) -> Any:
    weight = averages_of_quadratic()["avg_h"]
    return body.replace(lambda e: getattr(e, "func", None) == G, lambda e: -weight * e.args[0])


def _square_of_quadratic(found: Any, product: Any) -> tuple[Any, Any]:
    """The mean square of the readout given z, for a quadratic penalty."""
    given = _quadratic(found).xreplace({MEAN: MEAN + sp.sqrt(SHARED) * COMMON})
    return Expectation(given**2, COMMON), _of_line(product)


def _quadratic(body: Any) -> Any:
    values = averages_of_quadratic()
    return body.xreplace({AVERAGES[name]: value for name, value in values.items()})
