"""Replicas of two kinds: the readouts of two fits that have something in common [THEORY section 14].

n_1 replicas of one fit and n_2 of another make the average of ``Z_1^n_1 Z_2^n_2``. Its logarithm is, to first order in
each, that of both fits alone, and a term n_1 n_2 with all that they have in common. That term is made here: of a
sample, and of the Gaussian integral over the readouts.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import sympy as sp

from derive.gaussian.expectation import Expectation
from derive.operations import AVERAGE_WRITTEN, computed
from derive.replica.averages import ENVELOPE, MEAN, SPREAD, WEIGHT, sample_derivation
from derive.replica.matrices import LogDeterminant, OnInverse
from derive.replica.network import TEMPERATURE
from derive.replica.readout import COUPLING, PRECISION, SOURCE
from derive.trace import Claim, Derivation, Recorder

COMMON = sp.Symbol("z", real=True)  # of both outputs
OWN = sp.symbols("x_1 x_2", real=True)  # of each
SHARED = sp.Symbol("Delta_12", positive=True)
FIRST, SECOND = sp.symbols("n_1 n_2", positive=True)
KIND = sp.Symbol("s", real=True)  # 1 and -1 times what couples the kinds: the symmetric and antisymmetric readouts
_SOURCE = "THEORY section 14"


@lru_cache(maxsize=1)
def two_kinds_derivation() -> Derivation:
    """What replicas of two kinds add: for a sample, and for the integral over the readouts."""
    trace = Recorder("Replicas of two kinds", (sample_derivation(),))
    _record_sample(trace)
    _record_slope(trace)
    _record_readouts(trace)
    return trace.finish()


def _outputs() -> tuple[sp.Expr, ...]:
    """Of the two fits: equal variances, the covariance Delta_12."""
    return tuple(MEAN + sp.sqrt(SHARED) * COMMON + sp.sqrt(SPREAD - SHARED) * own for own in OWN)


def _record_sample(trace: Recorder) -> None:
    """The weights of both kinds, to first order in the number of each."""
    trace.define(
        "outputs of two kinds",
        sp.Tuple(*sp.symbols("omega_1 omega_2")),
        sp.Tuple(*_outputs()),
        "outputs of two fits with one normal $z$ in common: each has the variance $\\Delta$, their covariance is "
        "$\\Delta_{12}$",
    )
    trace.derive(
        "weights of two kinds",
        sp.Symbol("E_12"),
        computed(
            "average",
            "$n_1$ replicas of one kind and $n_2$ of the other are independent given both outputs",
            "outputs of two kinds",
            by=_weights,
            test=AVERAGE_WRITTEN,
        ),
        _SOURCE,
        shown=False,
    )
    trace.derive(
        "two kinds at n = 0",
        sp.Symbol("log E_12"),
        computed(
            "take the limit n -> 0",
            "the derivative of the logarithm in $n_1$ and $n_2$ at $n_1=n_2=0$",
            "weights of two kinds",
            by=lambda e: sp.diff(sp.log(e), FIRST, SECOND).subs({FIRST: 0, SECOND: 0}).doit(),
            test=Claim(_mixed_derivative),
        ),
        _SOURCE,
        shown=False,
    )
    trace.derive(
        "two kinds at zero temperature",
        sp.Symbol("M_12"),
        computed(
            "take the limit of zero temperature",
            "the logarithm of a weight is $-\\beta_T$ times the envelope; over $\\beta_T^2$",
            "two kinds at n = 0",
            "Moreau envelope",
            by=lambda body, _: sp.expand(_cold(body) / TEMPERATURE**2),
            test=Claim(lambda found, body, _: (_of_one(_cold(body)) / TEMPERATURE**2, _of_one(found))),
        ),
        _SOURCE,
    )


def _weights(outputs: sp.Tuple) -> sp.Expr:
    powers = sp.Mul(*(WEIGHT(omega) ** n for omega, n in zip(outputs, (FIRST, SECOND), strict=True)))
    return Expectation(powers, COMMON, *OWN)


def _mixed_derivative(found: sp.Expr, weights: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The derivative and what was found, for outputs that nothing but z moves: the measure does not count."""
    slope = sp.Derivative(sp.log(_of_one(weights)), FIRST, SECOND)
    return sp.Subs(slope, (FIRST, SECOND), (0, 0)), _of_one(found)


def _of_one(body: sp.Expr) -> sp.Expr:
    """Averages over z alone."""
    still = dict(zip(OWN, sp.symbols("x_1^0 x_2^0", real=True), strict=True))
    return body.replace(
        lambda e: isinstance(e, Expectation), lambda e: Expectation(e.integrand.xreplace(still), COMMON)
    )


def _cold(body: sp.Expr) -> sp.Expr:
    """log W(omega) = -beta_T M(omega)."""
    envelope = sp.Function(ENVELOPE.name, real=True)
    return body.replace(
        lambda e: isinstance(e, sp.log) and isinstance(e.args[0], WEIGHT),
        lambda e: -TEMPERATURE * envelope(e.args[0].args[0]),
    )


def _record_slope(trace: Recorder) -> None:
    """What the covariance of the outputs does: Price's theorem."""
    trace.derive(
        "slope in the covariance",
        sp.Derivative(sp.Symbol("M_12"), SHARED),
        computed(
            "differentiate",
            "$\\partial M_{12}/\\partial\\Delta_{12}$, with Stein's lemma for $z$, $x_1$ and $x_2$: the average of "
            "both slopes $g_1g_2$, by $g=-\\partial_\\omega M$ (Price's theorem)",
            "outputs of two kinds",
            by=_price,
            test=Claim(_of_polynomials),
        ),
        "Price (1958), IRE Trans. Inf. Theory 4, 69",
    )


def _price(outputs: sp.Tuple) -> sp.Expr:
    """d/dDelta_12 of E[M(omega_1) M(omega_2)]: every factor z, x_1, x_2 becomes a derivative in it."""
    pair = sp.Mul(*(_envelope(0, omega) for omega in outputs))
    slope, moved = sp.expand(_derivative(pair, SHARED)), sp.S.Zero
    for term in sp.Add.make_args(slope):
        (variable,) = [v for v in (COMMON, *OWN) if term.as_independent(sp.Function)[0].has(v)]
        moved += _derivative(term / variable, variable)
    return Expectation(sp.simplify(sp.expand(moved)), COMMON, *OWN)


def _envelope(order: int, omega: sp.Expr) -> sp.Expr:
    """The derivative of that order of an envelope."""
    return sp.Function(f"M_{order}", real=True)(omega)


def _derivative(body: sp.Expr, variable: sp.Symbol) -> sp.Expr:
    """The derivative through envelopes whose derivatives have names."""
    heads = [e for e in body.atoms(sp.Function) if str(e.func).startswith("M_")]
    held = {e: sp.Dummy(real=True) for e in heads}
    plain = body.xreplace(held)
    total = sp.diff(plain, variable)
    for e, dummy in held.items():
        inner = _envelope(int(str(e.func)[2:]) + 1, e.args[0]) * sp.diff(e.args[0], variable)
        total += sp.diff(plain, dummy) * inner
    back = {dummy: e for e, dummy in held.items()}
    return total.xreplace(back)


def _of_polynomials(found: sp.Expr, outputs: sp.Tuple) -> tuple[sp.Expr, sp.Expr]:
    """The same where the envelope is a polynomial."""
    w, order = sp.Symbol("w", real=True), 3
    body = sp.Add(*(sp.Symbol(f"c_{k}", real=True) * w**k for k in range(order + 1)))
    slope = {f"M_{k}": sp.diff(body, w, k) for k in range(order + 1)}
    pair = sp.Mul(*(body.xreplace({w: omega}) for omega in outputs))
    names = lambda e: str(getattr(e, "func", "")) in slope  # noqa: E731
    put = found.replace(names, lambda e: slope[str(e.func)].xreplace({w: e.args[0]}))
    return sp.Derivative(Expectation(pair, COMMON, *OWN), SHARED), put


def _record_readouts(trace: Recorder) -> None:
    """The integral over the readouts of both kinds."""
    trace.define(
        "precision of two kinds",
        sp.Symbol("X_12"),
        sp.Tuple(PRECISION, COUPLING, SOURCE),
        "the exponent of the readouts has, beside the terms of each kind, the coupling $\\beta_T^2a^1Ba^2$ of every "
        "replica of one kind with every replica of the other: $B=\\hat{q}^{(2)}_{12}+W\\hat{q}^{(1)}_{12}W^T$",
    )
    trace.derive(
        "readouts of two kinds",
        sp.Symbol("log G_12"),
        computed(
            "integrate",
            "the term of $n_1n_2$, over $\\beta_T^2$: sums and differences of the kinds have the precisions "
            "$A\\mp sB$, and the coupling enters by the second derivative in $s$ of the determinant and the first one "
            "of the source on the inverse",
            "precision of two kinds",
            by=_by_sums_and_differences,
            test=Claim(_by_both_kinds),
        ),
        _SOURCE,
    )


def _by_sums_and_differences(matrices: sp.Tuple) -> sp.Expr:
    own, shared, source = matrices
    precision = sp.MatAdd(own, sp.MatMul(-KIND, shared))
    moved = sp.MatMul(sp.Inverse(precision), precision.diff(KIND).doit())
    # Jacobi's formula: the trace of X^-1 X' is the slope of log det X, and X^-1 X' X^-1 X' minus its slope
    found = OnInverse(precision, source).diff(KIND) + sp.Trace(sp.MatMul(moved, moved)) / 2
    return found.subs(KIND, 0).doit()


def _by_both_kinds(found: sp.Expr, matrices: sp.Tuple) -> tuple[Any, Any]:
    """The same from the matrix of both kinds as it stands."""
    own, shared, source = matrices
    exchange, both = sp.Matrix([[0, 1], [1, 0]]), sp.OneMatrix(2, 1)
    coupling = sp.KroneckerProduct(sp.ImmutableMatrix(exchange), shared)
    whole = sp.MatAdd(sp.KroneckerProduct(sp.Identity(2), own), sp.MatMul(-KIND, coupling))
    form = OnInverse(whole, sp.KroneckerProduct(both, source))
    curvature = sp.Derivative(LogDeterminant(whole), KIND, KIND, evaluate=False)
    left = sp.Derivative(form, KIND, evaluate=False) / 2 - curvature / 4
    return sp.Subs(left, KIND, 0), found
