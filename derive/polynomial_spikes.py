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
from derive.gaussian.expectation import Expectation
from derive.gaussian.special import hermite_polynomial
from derive.hermite_coefficients import coefficient
from derive.network_step import DIMENSION
from derive.operations import computed, equal, put_in
from derive.scalar import ScalarFunction
from derive.symbols import BETA, INVERSE_DIMENSION
from derive.trace import Claim, Derivation, Recorder

EXPONENT = sp.Symbol("e", positive=True)
ORDER = sp.Symbol("k", positive=True)
W, SLOPE = sp.Symbol("w", real=True), sp.Symbol("rho", real=True)
BIAS = sp.Symbol("bias", real=True)
DRIFT, SPREAD = sp.Symbol("drift", real=True), sp.Symbol("spread", nonnegative=True)
_STRENGTH, _PREFACTOR = sp.Symbol("r", positive=True), sp.Symbol("r_0", positive=True)
_U, _AMPLITUDE, _RESPONSE = (
    sp.Symbol("u", real=True),
    sp.Symbol("a_k", real=True),
    sp.Symbol("T", positive=True),
)
M_OVERLAP, G = sp.Symbol("m", real=True), sp.Symbol("g", real=True)
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

    Their coefficients are written in h_n = E[He_n sigma], numbers where an activation with a fixed bias is given. A
    bias of None is trained: the h_n are functions of it.
    """
    trace = Recorder(
        "Polynomials of $\\kappa$ learned by steps below the giant one" + (f", {activation.name}" if activation else "")
    )
    trace.given(
        "strength",
        _STRENGTH,
        _PREFACTOR * DIMENSION ** (EXPONENT - sp.Rational(1, 2)),
        "the step $\\eta=\\tilde{\\eta}\\,d^{1/2+e}$; $e=1/2$ is the giant step",
        _SOURCE,
    )
    orders = _orders(trace, order)
    if bias is None:
        _functions_of_the_bias(trace, order)
    if activation is not None and bias is not None:
        sigma = activation.shifted(bias)
        trace.given("activation", sp.Function("sigma")(sigma.z), sigma.expr, f"the activation {activation.name}")

        def put(general: Any, _: Any) -> Any:
            return sp.expand(general.xreplace({h: _moment(sigma, int(str(h)[2:])) for h in _moments_in(general)}))

        orders = tuple(
            trace.derive(
                f"order {k} of {activation.name}",
                sp.Symbol(f"P_{k}"),
                computed(
                    "substitute",
                    "the Hermite moments of the activation put in",
                    f"order {k}",
                    "activation",
                    by=put,
                    test=equal(lambda general, _: _with_moments(general, sigma.at(G))),
                ),
                _SOURCE,
            )
            for k in range(order + 1)
        )
    exponent = _exponent_of(trace, _cost(trace))
    return PolynomialSpikes(exponent, orders, trace.finish())


def _functions_of_the_bias(trace: Recorder, order: int) -> None:
    """What the orders are where the bias is trained: their leading coefficients, and the slopes of these."""
    neuron = sp.Function("sigma", real=True)(G + BIAS)
    for k in range(order + 1):
        trace.define(f"moment {k}", hermite_moment(k), Expectation(hermite_polynomial(k, G) * neuron, G), "at the bias")
        trace.derive(
            f"moment {k} in the bias",
            sp.Derivative(hermite_moment(k), BIAS),
            computed(
                "differentiate",
                "Stein's lemma: $h_k'=h_{k+1}$, so that no $h_k$ vanishes but at single biases, or is a derivative of "
                "a polynomial that has none",
                f"moment {k}",
                by=lambda _, k=k: Expectation(hermite_polynomial(k + 1, G) * neuron, G),
                test=Claim(lambda found, moment: (sp.Derivative(moment, BIAS), found)),
            ),
            "Stein's lemma",
        )
        trace.derive(
            f"leading coefficient {k}",
            sp.Symbol(f"P_{k}{k}"),
            computed(
                "differentiate",
                "the coefficient of $\\kappa^k$: where no $h_k$ vanishes the orders up to $l$ span the polynomials of "
                "degree $l$, whatever the bias",
                f"order {k}",
                by=lambda body, k=k: sp.diff(body, KAPPA, k) / sp.factorial(k),
                before=lambda body, k=k: (
                    (sp.Derivative(body, (KAPPA, k), evaluate=False) if k else body) / sp.factorial(k)
                ),
            ),
            _SOURCE,
        )


def hermite_moment(n: int) -> sp.Symbol:
    """The symbol of E[He_n sigma] = E sigma^(n)."""
    return sp.Symbol(f"h_{n}", real=True)


def _moments_in(expr: Any) -> list[Any]:
    return sorted((x for x in expr.free_symbols if str(x).startswith("h_")), key=str)


def _orders(trace: Recorder, order: int) -> tuple[Any, ...]:
    """Coefficients of w^k, w = u rate, of E sigma(w r kappa + sqrt(c) g) with c = (1 + w a)^2 + w^2 b."""
    trace.define("shift", sp.Symbol("s"), W * SLOPE * KAPPA, "the mean pre-activation, $w$ the readout times the rate")
    trace.define(
        "bulk variance",
        sp.Symbol("c"),
        (1 + W * DRIFT) ** 2 + W**2 * SPREAD,
        "the norm of the rows as a function of $w$: it changes with the spike",
        "[CUI24] App. A",
    )
    trace.derive(
        "pre-activation",
        sp.Symbol("z"),
        computed(
            "expand",
            f"power series of $s+\\sqrt{{c}}\\,g$ in $w$, to order {order}",
            "shift",
            "bulk variance",
            by=lambda shift, variance: _series(shift + sp.sqrt(variance) * G, order),
            test=Claim(lambda z, shift, variance: _slopes_in_w(shift + sp.sqrt(variance) * G, z, order)),
        ),
        _SOURCE,
        shown=False,
    )
    return tuple(
        trace.derive(
            f"order {k}",
            sp.Symbol(f"P_{k}"),
            computed(
                "expand",
                "power series of $\\sigma(z)$ around $g$, coefficient of $w^k$, and integration by parts: "
                "$h_n=E\\,He_n\\sigma$",
                "pre-activation",
                by=lambda z, k=k: _coefficient(z, k),
                test=Claim(lambda found, z, k=k: _slope_of_mean(found, z, k)),
            ),
            _SOURCE,
        )
        for k in range(order + 1)
    )


def _series(expr: Any, order: int) -> Any:
    """The Taylor polynomial in w."""
    return sp.expand(sp.series(expr, W, 0, order + 1).removeO())


def _coefficient(z: Any, k: int) -> Any:
    """The coefficient of w^k in E sigma(z), z = g + O(w), in Hermite moments of sigma."""
    displacement, total = sp.expand(z - G), sp.S.Zero
    parts = [displacement.coeff(W, j) for j in range(k + 1)]
    power = [sp.S.One, *[sp.S.Zero] * k]  # coefficients of 1, w, ..., w^k in a power of the displacement
    for n in range(k + 1):
        total += _by_parts(power[k] / sp.factorial(n), n)
        power = [sp.expand(sp.Add(*(power[i - j] * parts[j] for j in range(1, i + 1)))) for i in range(k + 1)]
    return sp.collect(sp.expand(total), KAPPA)


def _slopes_in_w(body: Any, series: Any, order: int) -> tuple[Any, Any]:
    """Derivatives in w at zero, of a function and of its Taylor polynomial."""
    left, right = (
        sp.Tuple(*(sp.Subs(sp.Derivative(e, (W, k)) if k else e, W, 0) for k in range(order + 1)))
        for e in (body, series)
    )
    return left, right


def _slope_of_mean(found: Any, z: Any, k: int) -> tuple[Any, Any]:
    """The k-th derivative of E sigma(z) in w at zero over k!, sigma unknown, and the result with its moments."""
    sigma = sp.Function("sigma", real=True)
    mean = Expectation(sigma(z), G)
    left = sp.Subs(sp.Derivative(mean, (W, k)) if k else mean, W, 0) / sp.factorial(k)
    return left, _with_moments(found, sigma(G))


def _with_moments(body: Any, value: Any) -> Any:
    """h_n as averages of the function with Hermite polynomials."""
    orders = {h: int(str(h)[2:]) for h in _moments_in(body)}
    return body.xreplace({h: Expectation(hermite_polynomial(n, G) * value, G) for h, n in orders.items()})


def _by_parts(weight: Any, times: int) -> Any:
    """E[weight(g) sigma^(n)(g)], n times integrated by parts, in Hermite moments of sigma.

    Each time takes He_j to g He_j - He_j' = He_(j+1).
    """
    weight, total = sp.expand(weight), sp.S.Zero
    while weight != 0:  # the highest power of g first
        degree = int(sp.degree(weight, G))
        leading = weight.coeff(G, degree)
        total += leading * hermite_moment(degree + times)
        weight = sp.expand(weight - leading * hermite_polynomial(degree, G))
    return total


def _moment(sigma: ScalarFunction, n: int) -> Any:
    return coefficient(sigma, n) * sp.factorial(n)


def _cost(trace: Recorder) -> Any:
    """The exponent of d in what the overlap of an order costs."""
    trace.derive(
        "overlap",
        sp.Symbol("m"),
        computed(
            "solve",
            "the overlap along $u^k$ that gives $P_k$ the amplitude $a_k$",
            "strength",
            by=lambda strength: _AMPLITUDE / (_U * strength) ** ORDER,
            test=Claim(lambda overlap, strength: (overlap * (_U * strength) ** ORDER, _AMPLITUDE)),
        ),
        _SOURCE,
    )
    trace.assume(
        "cost of an overlap",
        sp.Symbol("Phi_m"),
        BETA * INVERSE_DIMENSION * M_OVERLAP**2 / (2 * _RESPONSE),
        "the term of finite size of the free energy",
        source="THEORY section 6",
        assumption="no other term of order 1/d grows with the overlap",
    )
    return trace.derive(
        "cost",
        sp.Symbol("Phi_m"),
        computed(
            "substitute",
            "the finite-size term of the free energy at this overlap",
            "cost of an overlap",
            "overlap",
            by=lambda of, overlap: of.subs({M_OVERLAP: overlap, INVERSE_DIMENSION: 1 / DIMENSION}),
            test=put_in(lambda overlap: {M_OVERLAP: overlap, INVERSE_DIMENSION: 1 / DIMENSION}),
        ),
        _SOURCE,
    )


def _exponent_of(trace: Recorder, cost: Any) -> Any:
    """The power of the dimension that the cost is."""

    def power(body: Any) -> Any:
        return sp.expand(sp.simplify(DIMENSION * sp.diff(sp.expand_log(sp.log(body), force=True), DIMENSION)))

    exponent = trace.derive(
        "exponent of the cost",
        sp.Symbol("chi_k"),
        computed(
            "differentiate",
            "$d\\,\\partial_d$ of the logarithm: where it is negative the cost vanishes, and $P_k$ is a "
            "feature with a free overlap, if readouts at initialisation take values enough for the $u^k$ to differ",
            "cost",
            by=power,
            before=lambda body: DIMENSION * sp.Derivative(sp.log(body), DIMENSION),
        ),
        _SOURCE,
    )
    if exponent.has(DIMENSION):
        raise ValueError(f"the cost {cost} is no power of the dimension")
    return exponent
