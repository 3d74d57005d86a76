"""Emission of the covariance and the norms of the rows that a step leaves, with their rates along its rate A."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp
from sympy.core.function import AppliedUndef

from codegen.bulk import bulk_module
from codegen.print.numpy_arrays import Array, ArrayPrinter, contracted
from codegen.print.printer import Function
from derive.bulk_covariance import NOISE, OVERLAP, RESIDUAL, STRETCH, bulk_covariance
from derive.gaussian.expectation import Expectation
from derive.network_step import A
from derive.row_norms import CHANGE, FIRST, MEAN, MOMENTS, OF_CROSS, OF_SQUARE, SECOND, row_norms

NORMS_PATH = "row_norms.py"
_INDEX = "d"  # the axis of the target's indices
_OF_SAMPLE = (OF_CROSS, OF_SQUARE, FIRST, SECOND)
_STEP = "A, alpha_0, u, a_2, a, radial"
_ROWS = "e, weight, weight_t"
_COVARIANCE = "A, alpha_0, u, sigma_2, v_sigma"


@dataclass
class NormsPrinter(ArrayPrinter):
    """Averages are sums over the law of the residual, t averaged in the weights: those with t are vectors over the
    target's indices, and products of two of them their inner products.
    """

    shared: bool = True

    def _average(self, node: Expectation) -> Array:
        if not _with_target(node):
            return self.over_nodes("weight", node.integrand)
        found = self.over_nodes("weight_t", node.integrand / OVERLAP)
        return Array(found.text, (_INDEX,), found.atom)

    def _lowered(self, expr: sp.Expr) -> Array:
        if isinstance(expr, AppliedUndef):  # of t: given at the nodes
            return super()._lowered(sp.Symbol("e" if expr == RESIDUAL else str(expr.func)))
        factors = [part for each in sp.Mul.make_args(expr) for part in _repeated(each)]
        if sum(isinstance(part, Expectation) and _with_target(part) for part in factors) != 2:
            return super()._lowered(expr)
        return contracted([self.lower(part) for part in factors], {_INDEX})


def _with_target(node: Expectation) -> bool:
    """Whether an average is one of t times a function of the residual."""
    plain = node.integrand.replace(lambda e: isinstance(e, AppliedUndef), lambda _: sp.Dummy())
    return int(sp.degree(plain, OVERLAP)) == 1


def _repeated(factor: sp.Expr) -> list[sp.Expr]:
    """The square of an average as two factors."""
    square = factor.is_Pow and factor.exp == 2 and isinstance(factor.base, Expectation)
    return [factor.base, factor.base] if square else [factor]


def _by_moments(expression: sp.Expr, functions: Sequence[sp.Expr]) -> sp.Expr:
    """Averages of sums as sums of averages, what does not depend on the sample in front: few averages make all.

    functions: of the sample, besides its residual.
    """

    def spread(node: Expectation) -> sp.Expr:
        total = sp.S.Zero
        for term in sp.Add.make_args(sp.expand(node.integrand)):
            outside, inside = term.as_independent(RESIDUAL, OVERLAP, *functions, as_Add=False)
            total += outside * Expectation(inside, OVERLAP)
        return total

    return expression.xreplace({node: spread(node) for node in expression.atoms(Expectation)})


def emit_norms() -> str:
    """Text of ``generated/row_norms.py``."""
    derived, covariance = row_norms(), bulk_covariance()
    before = [(str(MEAN), Expectation(RESIDUAL, OVERLAP))]
    before += [(str(name.func), _by_moments(body, _OF_SAMPLE)) for name, body in derived.of_sample]
    after = [("chi", _by_moments(derived.chi, _OF_SAMPLE)), ("tau", _by_moments(derived.noise, _OF_SAMPLE))]
    moments = ", ".join(str(symbol) for symbol in MOMENTS.values())
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
            "(chi, psi_1, tau) of bulk rows of readout u after a step of rate A.",
            f"{_STEP}, {_ROWS}, r",
            (*before, *after),
            "chi, psi_1, tau",
            unpacked=moments,
        ),
        Function(
            "norms_rates",
            "Their rates where A moves by 1, a_2 and a by d_a_2 and d_a.",
            f"{_STEP}, d_a_2, d_a, {_ROWS}, r",
            (*before, *_rates((*before, *after))),
            "d_chi, d_psi_1, d_tau",
            unpacked=moments,
        ),
        Function(
            "spread",
            "d times the variance of bulk rows of readout u along the spike, by unequal norms of initial rows.",
            "u, r_3, radial",
            (("s_r", derived.spread),),
        ),
        Function(
            "spread_rate",
            "Its rate where r_3 moves at the rate d_r_3.",
            "u, r_3, radial, d_r_3",
            (("d_s_r", sp.diff(derived.spread, CHANGE) * sp.Symbol("d_r_3")),),
        ),
    ]
    return bulk_module(
        "The covariance and the norms of the rows after a gradient step",
        [
            sp.srepr(body)
            for _, body in (
                *before,
                *after,
                ("s_r", derived.spread),
                ("a_2", covariance.stretch),
                ("a", covariance.noise),
            )
        ],
        f"MOMENTS = {tuple(MOMENTS)!r}\n\n\n"
        + "\n\n\n".join(function.text(NormsPrinter(vectors=frozenset({"e", *_arrays()}))) for function in functions),
        note="chi: d times the variance of their squared norms. d times the covariance of norm and row is\n"
        "(1/n0) sum_i (psi_1(e_i) M + tau(e_i)) x_i, M = 1 + a_2 B. r_ij: E[rho^i z^j] of the rest rho of\n"
        "sigma' beside its parts along 1 and z, (i, j) in MOMENTS; radial: 1 for rows Gaussian at initialisation,\n"
        "0 on the unit sphere; e, weight, weight_t: nodes of the law of the residual of the step, with weights for\n"
        "means of functions of e [N], and of those times t = theta.x [m, N]; r_3: the strength of the spike with\n"
        "E sigma''' in the place of E sigma'.",
    )


def _arrays() -> list[str]:
    """What has a value at every node, and its rate."""
    names = [str(symbol.func) for symbol in _OF_SAMPLE]
    return [*names, *(f"d_{name}" for name in names)]


def _rates(statements: Sequence[tuple[str, sp.Expr]]) -> list[tuple[str, sp.Expr]]:
    """Rates of statements in order, by those of A, a_2, a and of the functions of a sample before."""
    small = sp.Dummy()
    rates = {A: sp.S.One, STRETCH: sp.Symbol("d_a_2"), NOISE: sp.Symbol("d_a")}
    rates |= dict(zip(_OF_SAMPLE, _rates_of_sample(), strict=True))
    moved = {symbol: symbol + small * rate for symbol, rate in rates.items()}
    return [(f"d_{name}", _slope(body.xreplace(moved), small)) for name, body in statements if name != str(MEAN)]


def _slope(body: sp.Expr, small: sp.Symbol) -> sp.Expr:
    """The derivative at zero, under averages too."""
    nodes = {node: sp.Dummy() for node in sorted(body.atoms(Expectation), key=sp.default_sort_key)}
    plain = body.xreplace(nodes)
    found = sp.diff(plain, small)
    for node, dummy in nodes.items():
        slope = sp.expand(sp.diff(node.integrand, small).subs(small, 0))
        found += sp.diff(plain, dummy) * Expectation(slope, OVERLAP)
    values = {dummy: Expectation(node.integrand.subs(small, 0), OVERLAP) for node, dummy in nodes.items()}
    return _by_moments(found.xreplace(values).subs(small, 0), (*_OF_SAMPLE, *_rates_of_sample()))


def _rates_of_sample() -> list[sp.Expr]:
    return [sp.Function(f"d_{f.func}", real=True)(OVERLAP) for f in _OF_SAMPLE]
