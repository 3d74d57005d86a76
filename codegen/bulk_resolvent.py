"""Emission of the resolvent of the trained bulk's covariance, between the directions that the readout knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sympy as sp
from sympy.core.function import AppliedUndef

from codegen.bulk import bulk_module
from codegen.print.numpy_arrays import Array, ArrayPrinter
from codegen.print.printer import Function
from derive.bulk_resolvent import OVERLAP, PRESENCE, RESIDUAL, VECTORS, BulkResolvent, bulk_resolvent
from derive.gaussian.expectation import Expectation
from derive.network_step import A

RESOLVENT_PATH = "bulk_resolvent.py"
_WEIGHTS = ("weight", "weight_t", "weight_tt")
_KNOWN = "S, S_12, S_22, a_2, a"  # what D depends on besides the residual
_VECTORS = ", ".join(str(symbol.func) for symbol in VECTORS)
_GIVEN = (PRESENCE, *VECTORS)  # functions of the sample
_ROWS = f"alpha_0, e, {', '.join(_WEIGHTS)}"


def emit_resolvent() -> str:
    """Text of ``generated/bulk_resolvent.py``."""
    derived = bulk_resolvent()
    of_target, of_vectors = ("k_theta", "k_theta12", "k_theta22"), ("S_f1", "S_f2", "S_g1", "S_g2")
    along = ("S_theta", "S_theta12", "S_theta22")
    parts = (*derived.added, *derived.along, *derived.vectors, derived.cross, derived.between)
    names = (*of_target, *along, *of_vectors, "cross", "between")
    projections = [(name, by_moments(part, _GIVEN)) for name, part in zip(names, parts, strict=True)]
    presence = ("D", derived.presence)
    values = tuple((f"value_{i + 1}", by_moments(each)) for i, each in enumerate(derived.equations))
    unknown, given = sp.symbols("S S_12 S_22", real=True), (sp.Symbol("a_2", real=True), sp.Symbol("a", positive=True))
    functions = (
        Function(
            "covariance",
            "(a_2, a) of a block with readout u after a step of rate A.",
            "A, alpha_0, u, sigma_2, v_sigma",
            (("a_2", derived.stretch), ("a", derived.noise)),
        ),
        Function(
            "covariance_rates",
            "Their derivatives in A.",
            "A, alpha_0, u, sigma_2, v_sigma",
            (("d_a_2", sp.diff(derived.stretch, A)), ("d_a", sp.diff(derived.noise, A))),
        ),
        Function(
            "equations",
            "What vanishes at the mean resolvent (S, S_12, S_22) at the shift w, [3], and its derivatives, [3, 3].",
            f"w, {_KNOWN}, {_ROWS}",
            (presence, *values, *_derivatives(values, unknown, derived.presence)),
            f"{_array(values)}, {_matrix_of(values, unknown)}",
        ),
        Function(
            "rates",
            "Derivatives of the same in a_2 and a, [3, 2].",
            f"w, {_KNOWN}, {_ROWS}",
            (presence, *_derivatives(values, given, derived.presence)),
            _matrix_of(values, given),
        ),
        Function(
            "projections",
            "(theta.Res.theta, x_F.Res.theta, x_F.Res.x_G) at the shift w; vectors by their coefficients at the nodes.",
            f"w, {_KNOWN}, {_VECTORS}, {_ROWS}",
            (presence, *projections),
            "S_theta, cross, between",
        ),
        Function(
            "projection_rates",
            "Their rates along those of S, S_12, S_22, a_2 and a, of vectors that stay.",
            f"w, {_KNOWN}, d_S, d_S_12, d_S_22, d_a_2, d_a, {_VECTORS}, {_ROWS}",
            (presence, *_tangents(projections, (*unknown, *given), derived.presence)),
            "d_S_theta, d_cross, d_between",
        ),
    )
    return bulk_module(
        "The resolvent of the covariance of the trained bulk, Sigma = (1 + a_2 B)^2 + a C",
        _reprs(derived),
        "\n\n\n".join(function.text(LawPrinter()) for function in functions),
        note="e, weight, weight_t, weight_tt: nodes of the law of the residual e of the step, with weights for means "
        "of\nfunctions of e, of those times t = theta.x, and times t^2. x_F = (1/n0) sum_i (f_1 - B' f_2)(e_i) x_i, "
        "B' = a_2 B.",
    )


def _derivative(expression: sp.Expr, symbol: sp.Symbol, presence: sp.Expr) -> sp.Expr:
    """In a symbol that D depends on too: averages of products of powers of e and D only."""
    found = sp.diff(expression, symbol)
    for node in sorted(expression.atoms(Expectation), key=sp.default_sort_key):
        hidden, divisor = sp.Dummy(), sp.Dummy()
        slope = sp.diff(node.integrand.xreplace({PRESENCE: divisor}), divisor).xreplace({divisor: PRESENCE})
        moved = Expectation(slope * sp.diff(presence, symbol), OVERLAP)
        found += sp.diff(expression.xreplace({node: hidden}), hidden).xreplace({hidden: node}) * moved
    return by_moments(found, _GIVEN)


def by_moments(expression: sp.Expr, functions: Sequence[sp.Expr] = (PRESENCE,)) -> sp.Expr:
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


def _derivatives(
    values: Sequence[tuple[str, sp.Expr]], variables: Sequence[sp.Symbol], presence: sp.Expr
) -> Iterator[tuple[str, sp.Expr]]:
    for name, value in values:
        for symbol in variables:
            yield f"{name}_{symbol}", _derivative(value, symbol, presence)


def _tangents(
    statements: Sequence[tuple[str, sp.Expr]], variables: Sequence[sp.Symbol], presence: sp.Expr
) -> Iterator[tuple[str, sp.Expr]]:
    """Statements, each with its rate along those of the variables and of the statements before it."""
    moving: list[sp.Symbol] = []
    for name, value in statements:
        before = [symbol for symbol in moving if value.has(symbol)]
        terms = [_derivative(value, symbol, presence) * sp.Symbol(f"d_{symbol}") for symbol in variables]
        terms += [sp.diff(value, symbol) * sp.Symbol(f"d_{symbol}") for symbol in before]
        yield name, value
        yield f"d_{name}", sp.Add(*terms)
        moving.append(sp.Symbol(name, real=True))


def _array(values: Sequence[tuple[str, sp.Expr]]) -> str:
    return f"np.array([{', '.join(name for name, _ in values)}])"


def _matrix_of(values: Sequence[tuple[str, sp.Expr]], variables: Sequence[sp.Symbol]) -> str:
    rows = (f"[{', '.join(f'{name}_{symbol}' for symbol in variables)}]" for name, _ in values)
    return f"np.array([{', '.join(rows)}])"


def _reprs(derived: BulkResolvent) -> list[str]:
    parts = (
        derived.stretch,
        derived.noise,
        derived.presence,
        *derived.equations,
        *derived.added,
        *derived.along,
        *derived.vectors,
    )
    return [sp.srepr(x) for x in (*parts, derived.cross, derived.between)]


@dataclass
class LawPrinter(ArrayPrinter):
    """Averages are sums over the law of the residual, t averaged in the weights."""

    vectors: frozenset[str] = frozenset({"e", "D", *(str(symbol.func) for symbol in VECTORS)})
    shared: bool = True

    def _lowered(self, expr: sp.Expr) -> Array:
        if isinstance(expr, AppliedUndef):  # of t: given at the nodes
            expr = sp.Symbol("e" if expr == RESIDUAL else str(expr.func))
        return super()._lowered(expr)

    def _average(self, node: Expectation) -> Array:
        power = _power_of_target(node)
        return self.over_nodes(_WEIGHTS[power], node.integrand / OVERLAP**power)


def with_target(node: Expectation) -> bool:
    """Whether an average is one of t times a function of the residual."""
    return _power_of_target(node) == 1


def _power_of_target(node: Expectation) -> int:
    plain = node.integrand.replace(lambda e: isinstance(e, AppliedUndef), lambda _: sp.Dummy())
    return int(sp.degree(plain, OVERLAP))
