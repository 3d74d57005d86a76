"""Emission of the covariance and the norms of the rows that a step leaves, with their rates along its rate A."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp
from sympy.core.function import AppliedUndef

from codegen.bulk import bulk_module
from codegen.print.numpy_arrays import Array, ArrayPrinter
from codegen.print.printer import Function
from derive.bulk_covariance import OVERLAP, bulk_covariance
from derive.gaussian.expectation import Expectation
from derive.network_step import A
from derive.rest_of_slope import MOMENTS
from derive.row_norms import (
    ADDED,
    FIRST,
    GROWTH,
    MEAN,
    OF_CROSS,
    OF_SQUARE,
    SECOND,
    row_norms,
)
from derive.sample_traces import mean

NORMS_PATH = "row_norms.py"
_OF_SAMPLE = (OF_CROSS, OF_SQUARE, FIRST, SECOND)
_GIVEN = (ADDED, *MOMENTS.values())
_STEP = "alpha_0, c, weight, b, r"
_COVARIANCE = "A, alpha_0, u, sigma_2, v_sigma"


class NormsPrinter(ArrayPrinter):
    """Averages are sums over the samples of the step; functions of a sample have a value at every node."""

    def _average(self, node: Expectation) -> Array:
        return self.over_nodes("weight", node.integrand)

    def _lowered(self, expr: sp.Expr) -> Array:
        return super()._lowered(sp.Symbol(str(expr.func)) if isinstance(expr, AppliedUndef) else expr)


def _by_moments(expression: sp.Expr, functions: Sequence[sp.Expr]) -> sp.Expr:
    """Averages of sums as sums of averages, what does not depend on the sample in front: few averages make all.

    functions: of the sample.
    """

    def spread(node: Expectation) -> sp.Expr:
        total = sp.S.Zero
        for term in sp.Add.make_args(sp.expand(node.integrand)):
            outside, inside = term.as_independent(*functions, as_Add=False)
            total += outside * Expectation(inside, OVERLAP)
        return total

    return expression.xreplace({node: spread(node) for node in expression.atoms(Expectation)})


def emit_norms() -> str:
    """Text of ``generated/row_norms.py``."""
    derived, covariance = row_norms(), bulk_covariance()
    statements = [(str(MEAN), mean(ADDED)), *((str(name.func), body) for name, body in derived.of_sample)]
    statements += [(str(GROWTH), derived.growth), ("chi", derived.chi), ("tau", derived.noise)]
    statements += [("change", derived.change)]
    statements = [(name, _by_moments(body, (*_OF_SAMPLE, *_GIVEN))) for name, body in statements]
    moments, moving = (", ".join(f"{prefix}{symbol.func}" for symbol in MOMENTS.values()) for prefix in ("", "d_"))
    functions = [
        Function(
            "covariance",
            "(a_2, a) of the covariance (1 + a_2 B)^2 + a C of bulk rows of readout u after a step of rate A.",
            _COVARIANCE,
            (("a_2", covariance.stretch), ("a", covariance.noise)),
        ),
        Function(
            "covariance_rates",
            "Their derivatives in A.",
            _COVARIANCE,
            (("d_a_2", sp.diff(covariance.stretch, A)), ("d_a", sp.diff(covariance.noise, A))),
        ),
        Function(
            "norms",
            "(h_1, chi, psi_1, tau, change) of bulk rows after a step.",
            _STEP,
            statements,
            "h_1, chi, psi_1, tau, change",
            unpacked=moments,
        ),
        Function(
            "norms_rates",
            "Their rates where b moves by d_b, and the moments by as many more in r.",
            "alpha_0, c, weight, b, d_b, r",
            (*statements, *_rates(statements)),
            "d_h_1, d_chi, d_psi_1, d_tau, d_change",
            unpacked=f"{moments}, {moving}",
        ),
    ]
    return bulk_module(
        "The covariance and the norms of the rows after a gradient step",
        [
            sp.srepr(body)
            for _, body in (
                *statements,
                ("a_2", covariance.stretch),
                ("a", covariance.noise),
            )
        ],
        f"MOMENTS = {tuple(MOMENTS)!r}\n\n\n"
        + "\n\n\n".join(
            function.text(NormsPrinter(vectors=frozenset(_arrays()), shared=True)) for function in functions
        ),
        note="A step multiplies rows w of squared norm c by M = 1 + (1/n) sum_i b_i x_i x_i^T and adds noise: r_jk is\n"
        "E[r^j z^k] of r = A u e rho, rho the rest of sigma' beside its parts along 1 and z = w.x/sqrt(c), (j, k)\n"
        "in MOMENTS; weight: of the samples, at whose nodes b and r are given. h_1: what squared norms change by\n"
        "with those before; chi: d times their variance beside that and w.y, y = (1/n) sum_i psi_1 x_i/sqrt(c).\n"
        "(1/n) sum_i tau x_i: d times the covariance of that rest with the noise of the row; (1/n) sum_i change x_i:\n"
        "what a row gains with a relative excess of its squared norm.",
    )


def _arrays() -> list[str]:
    """What has a value at every node, and its rate."""
    names = [str(symbol.func) for symbol in (*_OF_SAMPLE, *_GIVEN)]
    return [*names, *(f"d_{name}" for name in names)]


def _rates(statements: Sequence[tuple[str, sp.Expr]]) -> list[tuple[str, sp.Expr]]:
    """Rates of statements in order, by those of b and r and of what comes before."""
    small = sp.Dummy()
    rates = dict(zip((*_OF_SAMPLE, *_GIVEN), _rates_of_sample(), strict=True))
    rates |= {symbol: sp.Symbol(f"d_{symbol}") for symbol in (MEAN, GROWTH)}
    moved = {symbol: symbol + small * rate for symbol, rate in rates.items()}
    return [(f"d_{name}", _slope(body.xreplace(moved), small)) for name, body in statements]


def _slope(body: sp.Expr, small: sp.Symbol) -> sp.Expr:
    """The derivative at zero, under averages too."""
    nodes = {node: sp.Dummy() for node in sorted(body.atoms(Expectation), key=sp.default_sort_key)}
    plain = body.xreplace(nodes)
    found = sp.diff(plain, small)
    for node, dummy in nodes.items():
        slope = sp.expand(sp.diff(node.integrand, small).subs(small, 0))
        found += sp.diff(plain, dummy) * Expectation(slope, OVERLAP)
    values = {dummy: Expectation(node.integrand.subs(small, 0), OVERLAP) for node, dummy in nodes.items()}
    return _by_moments(found.xreplace(values).subs(small, 0), (*_OF_SAMPLE, *_GIVEN, *_rates_of_sample()))


def _rates_of_sample() -> list[sp.Expr]:
    return [sp.Function(f"d_{f.func}", real=True)(OVERLAP) for f in (*_OF_SAMPLE, *_GIVEN)]
