"""Steps between those that leave no spike and the giant one: the polynomials of kappa that the features learn.

A strength r = r0 d^(e - 1/2), 0 < e < 1/2, vanishes as d grows, and so do the orders r^k of the mean features. The
readout makes up for it along the direction u^k of its blocks, at a cost in the free energy, the finite-size term. Where
this cost vanishes as well, the polynomial P_k that multiplies u^k in the mean features is a feature with an overlap of
its own, which nothing regularises. Its leading term is kappa^k [MON23]; the norm of the rows, which changes with the
square of the strength, adds terms of lower degree, and they matter where a lower order is missing.
Source: [MON23]; THEORY section 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from derive.blocks import KAPPA
from derive.gradient_step import DIMENSION
from derive.hermite import coefficient
from derive.scalar import ScalarFunction
from derive.symbols import BETA, INVERSE_DIMENSION
from derive.trace import Derivation, Recorder

EXPONENT = sp.Symbol("e", positive=True)
ORDER = sp.Symbol("k", positive=True)
W, SLOPE = sp.Symbol("w", real=True), sp.Symbol("rho", real=True)
TILT, SPREAD = sp.Symbol("tilt", real=True), sp.Symbol("spread", nonnegative=True)
_STRENGTH, _PREFACTOR = sp.Symbol("r", positive=True), sp.Symbol("r_0", positive=True)
_U, _AMPLITUDE, _RESPONSE = sp.Symbol("u", real=True), sp.Symbol("a_k", real=True), sp.Symbol("T", positive=True)
_SOURCE = "[MON23]"


@dataclass(frozen=True)
class PolynomialSpikes:
    """cost_exponent: of d in the cost of the order ORDER at exponent EXPONENT, a feature where it is negative; orders:
    the polynomials P_k(kappa) of the mean features, k = 0, 1, ..., at the powers of the readout u times the rate.
    """

    cost_exponent: Any
    orders: tuple[Any, ...]
    derivation: Derivation


def polynomial_spikes(activation: ScalarFunction | None, order: int = 3, bias: Any = 0) -> PolynomialSpikes:
    """Derive which polynomials of kappa are features, up to an order.

    Their coefficients are written in h_n = E[He_n sigma], numbers where an activation with a fixed bias is given.
    """
    trace = Recorder(
        "Polynomials of $\\kappa$ learned by steps below the giant one" + (f", {activation.name}" if activation else "")
    )
    strength = _PREFACTOR * DIMENSION ** (EXPONENT - sp.Rational(1, 2))
    trace.record("strength", _STRENGTH, strength, kind="definition", source=_SOURCE,
                 rule="the step $\\eta=\\tilde{\\eta}\\,d^{1/2+e}$; $e=1/2$ is the giant step")  # fmt: skip
    orders = _orders(trace, order)
    if activation is not None:
        sigma = activation.shifted(bias)
        values = {hermite_moment(n): _moment(sigma, n) for n in range(2 * order + 1)}
        orders = tuple(sp.expand(each.xreplace(values)) for each in orders)
        for k, each in enumerate(orders):
            trace.record(f"order {k} of {activation.name}", sp.Symbol(f"P_{k}"), each, kind="result", source=_SOURCE,
                         rule="the Hermite moments of the activation put in")  # fmt: skip
    exponent = _cost(trace, strength)
    return PolynomialSpikes(exponent, orders, trace.finish())


def hermite_moment(n: int) -> sp.Symbol:
    """The symbol of E[He_n sigma] = E sigma^(n)."""
    return sp.Symbol(f"h_{n}", real=True)


def _orders(trace: Recorder, order: int) -> tuple[Any, ...]:
    """Coefficients of w^k, w = u rate, of E sigma(w r kappa + sqrt(c) g) with c = (1 + w a)^2 + w^2 b."""
    change = sp.expand((1 + W * TILT) ** 2 + W**2 * SPREAD - 1)
    rule = "the norm of the rows as a function of $w$, readout times rate: it changes with the spike"
    trace.record("bulk variance", sp.Symbol("c"), change + 1, kind="definition", source="[CUI24] App. A", rule=rule)
    series: Any = sp.S.Zero
    for j in range(order + 1):
        for i in range(order + 1 - j):
            term = hermite_moment(i + 2 * j) * (W * SLOPE * KAPPA) ** i * (change / 2) ** j
            series += sp.expand(term / (sp.factorial(i) * sp.factorial(j)))
    series = sp.expand(series)
    orders = tuple(sp.collect(series.coeff(W, k), KAPPA) for k in range(order + 1))
    rule = (
        "Taylor expansion in the shift, the heat equation $\\partial_c=\\partial_s^2/2$ in the variance, and Stein's "
        "lemma $h_n=E\\,\\sigma^{(n)}=E\\,He_n\\sigma$; coefficient of $w^k$"
    )
    for k, each in enumerate(orders):
        trace.record(f"order {k}", sp.Symbol(f"P_{k}"), each, kind="result", source=_SOURCE, rule=rule)
    return orders


def _moment(sigma: ScalarFunction, n: int) -> Any:
    return coefficient(sigma, n) * sp.factorial(n)


def _cost(trace: Recorder, strength: Any) -> Any:
    """The exponent of d in what the overlap of an order costs."""
    overlap = _AMPLITUDE / (_U * strength) ** ORDER
    trace.record("overlap", sp.Symbol("m"), overlap, kind="definition", source=_SOURCE,
                 rule="the overlap along $u^k$ that gives $P_k$ the amplitude $a_k$")  # fmt: skip
    cost = (BETA * INVERSE_DIMENSION * overlap**2 / (2 * _RESPONSE)).subs(INVERSE_DIMENSION, 1 / DIMENSION)
    trace.record("cost", sp.Symbol("Phi_m"), cost, kind="result", source="THEORY section 6",
                 rule="the finite-size term of the free energy at this overlap")  # fmt: skip
    exponent = sp.expand(sp.simplify(DIMENSION * sp.diff(sp.expand_log(sp.log(cost), force=True), DIMENSION)))
    if exponent.has(DIMENSION):
        raise ValueError(f"the cost {cost} is no power of the dimension")
    trace.record("exponent of the cost", sp.Symbol("chi_k"), exponent, kind="result", source=_SOURCE,
                 rule="$d\\,\\partial_d$ of the logarithm: where it is negative the cost vanishes, and $P_k$ is a "
                 "feature with a free overlap",
                 assumption="readouts at initialisation take values enough for the $u^k$ to differ")  # fmt: skip
    return exponent
