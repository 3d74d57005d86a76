"""What convexity demands of every proximal map: its minimum, firm non-expansiveness, Moreau decomposition, limits.

The reference is asked for 30 digits and held to 25, which leaves five for the rounding of s f - o in the test itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import mpmath
import pytest
import sympy as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from prox_cases import (
    ALL,
    CLOSE,
    centres,
    labels,
    lowest,
    original,
    point,
    property_test,
    shares,
    variances,
)

from derive.check import check_derivation
from derive.loss.convexity import NotConvex
from derive.loss.loss import VARIANCE, analyse_loss, loss_of
from derive.loss.prox import moreau
from derive.loss.prox_value import MoreauValues, moreau_values, prox_value


@pytest.fixture(autouse=True, scope="module")
def forty_digits() -> Iterator[None]:
    """Arithmetic of the tests themselves."""
    with mpmath.workdps(40):
        yield


@property_test
@given(st.sampled_from(ALL), labels, centres, variances, shares)
def test_the_prox_minimises_the_loss_as_written(
    text: str, y: float, omega: float, variance: float, share: float
) -> None:
    """Golden sections on the objective in f, with no pieces and no change of variable.

    Values at 60 digits see a minimiser to 1e-30 / sqrt(curvature) with curvature >= 1/V.
    """
    analysis, y, parameters = point(text, y, share)
    exact = moreau_values(analysis, y, omega, variance, parameters)
    loss = original(analysis, y, parameters)
    with mpmath.workdps(60):
        v, w = mpmath.mpf(variance), mpmath.mpf(omega)
        reach = abs(exact.prox - w) + 5
        found = lowest(lambda x: (x - w) ** 2 / (2 * v) + loss(x), w - reach, w + reach, mpmath.mpf(10) ** -27)
        objective = (found - w) ** 2 / (2 * v) + loss(found)
        assert abs(found - exact.prox) < mpmath.mpf(10) ** -24 * (1 + abs(w))
        assert abs(objective - exact.envelope) < CLOSE * (1 + abs(objective))
        assert abs(exact.g - (exact.prox - w) / v) < CLOSE * (1 + abs(exact.g))


@property_test
@given(st.sampled_from(ALL), labels, centres, centres, variances, shares)
def test_firmly_non_expansive(text: str, y: float, omega: float, other: float, variance: float, share: float) -> None:
    """(p - p')(w - w') >= (p - p')^2 [Moreau 1965], and 0 <= h <= 1/V."""
    analysis, y, parameters = point(text, y, share)
    first, second = (moreau_values(analysis, y, w, variance, parameters) for w in (omega, other))
    with mpmath.workdps(30):
        step = first.prox - second.prox
        assert step * (mpmath.mpf(omega) - mpmath.mpf(other)) >= step**2 - CLOSE * (1 + abs(step))
        assert 0 <= first.h <= 1 / mpmath.mpf(variance) + CLOSE


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.sampled_from(ALL), labels, centres, variances, shares)
def test_derivatives_of_the_envelope(text: str, y: float, omega: float, variance: float, share: float) -> None:
    """dM/domega = -g, dM/dV = -g^2/2, dg/domega = -h, dg/dV = -g h by central differences at 40 digits.

    With a step of 1e-13 the truncation error is 1e-26 times a third derivative, rounding 1e-27: judged at 1e-15,
    away from the edges of regions, where h jumps.
    """
    analysis, y, parameters = point(text, y, share)
    step = mpmath.mpf(10) ** -13

    def at(w: Any, v: Any) -> MoreauValues:
        return moreau_values(analysis, y, w, v, parameters, digits=40)

    with mpmath.workdps(40):
        w, v = mpmath.mpf(omega), mpmath.mpf(variance)
        here, right, left, up, down = (at(w, v), at(w + step, v), at(w - step, v), at(w, v + step), at(w, v - step))
        assume(abs(right.h - left.h) + abs(up.h - down.h) < 1e-6)
        for high, low, slope_of_m, slope_of_g in (
            (right, left, -here.g, -here.h),
            (up, down, -(here.g**2) / 2, -here.g * here.h),
        ):
            assert abs((high.envelope - low.envelope) / (2 * step) - slope_of_m) < 1e-15 * (1 + abs(slope_of_m))
            assert abs((high.g - low.g) / (2 * step) - slope_of_g) < 1e-15 * (1 + abs(slope_of_g))


@settings(max_examples=12, deadline=None, derandomize=True)
@given(st.sampled_from(ALL), labels, st.floats(-3, 3), st.floats(0.3, 3), shares)
def test_moreau_decomposition(text: str, y: float, omega: float, variance: float, share: float) -> None:
    """prox_{V f}(w) + V prox_{f*/V}(w/V) = w, with the conjugate f*(p) = sup_x p x - f(x) maximised numerically.

    Doubles: f* is known to 1e-13, so the minimiser of f*(p) + V (p - w/V)^2/2 to sqrt(1e-13/V); judged at 1e-5.
    """
    analysis, y, parameters = point(text, y, share)
    prox = float(prox_value(analysis, y, omega, variance, parameters))
    loss = _in_doubles(original(analysis, y, parameters))
    reach = abs(prox - omega) + 4.0

    def conjugate(p: float) -> float:
        # restricted to where the prox lies, which leaves the prox what it is
        x = float(lowest(lambda x: loss(x) - p * x, omega - reach, omega + reach, 1e-9))
        return p * x - loss(x)

    target = omega / variance
    dual = float(lowest(lambda p: conjugate(p) + variance * (p - target) ** 2 / 2, target - 60, target + 60, 1e-8))
    slope = (omega - prox) / variance
    assume(abs(slope) < 50)
    assert abs(prox + variance * dual - omega) < 1e-5 * (1 + variance)


def _in_doubles(function: Callable[[Any], Any]) -> Callable[[float], float]:
    return lambda x: float(function(mpmath.mpf(x)))


@property_test
@given(st.sampled_from(ALL), labels, centres, variances, shares)
def test_symmetries(text: str, y: float, omega: float, variance: float, share: float) -> None:
    """Margin losses: flipping label and output. Residual losses: moving both."""
    analysis, y, parameters = point(text, y, share)
    values = moreau_values(analysis, y, omega, variance, parameters)
    if analysis.loss.form == "margin":
        flipped = moreau_values(analysis, -y, -omega, variance, parameters)
        assert (flipped.prox, flipped.envelope, flipped.g, flipped.h) == (
            -values.prox,
            values.envelope,
            -values.g,
            values.h,
        )
    if analysis.loss.form == "residual":
        moved = moreau_values(analysis, mpmath.mpf(y) + 0.5, mpmath.mpf(omega) + 0.5, variance, parameters)
        assert abs(moved.prox - values.prox - 0.5) < 1e-24 and abs(moved.g - values.g) < 1e-24 / variance


@settings(max_examples=30, deadline=None, derandomize=True)
@given(labels, centres, variances)
def test_limits(y: float, omega: float, variance: float) -> None:
    def of(text: str, v: float = variance, **parameters: float) -> MoreauValues:
        return moreau_values(analyse_loss(loss_of(text)), y, omega, v, parameters)

    def same(first: MoreauValues, second: MoreauValues, scale: float = 1.0, error: float = 1e-24) -> None:
        assert abs(first.prox - second.prox) <= error * (1 + abs(second.prox))
        assert abs(first.envelope - scale * second.envelope) <= error * (1 + abs(second.envelope))

    same(of("huber", delta=1e9), of("square"))
    same(of("quantile", tau=0.5), of("absolute", variance / 2), 0.5)
    # |rho - |u|| <= epsilon, so the envelopes differ by epsilon and the minimisers by sqrt(8 V epsilon) at most
    near, limit = of("epsilon_insensitive", epsilon=1e-20), of("absolute")
    assert abs(near.prox - limit.prox) <= math.sqrt(8e-20 * variance)
    assert 0 <= limit.envelope - near.envelope <= 1e-20 + 1e-24
    # pseudo-Huber and log-cosh lie between |u| - log 2 and |u| + 1
    for text in ("sqrt(1+(y-f)**2)", "log_cosh"):
        assert abs(of(text).envelope - limit.envelope) <= 1.0


@settings(max_examples=30, deadline=None, derandomize=True)
@given(labels, centres, variances)
def test_scaling(y: float, omega: float, variance: float) -> None:
    """c rho with V is rho with c V: same prox, c times the envelope."""
    for plain, tripled in (("log_cosh", "3*log(cosh(y-f))"), ("absolute", "3*abs(y-f)")):
        first = moreau_values(analyse_loss(loss_of(tripled)), y, omega, variance)
        second = moreau_values(analyse_loss(loss_of(plain)), y, omega, 3 * mpmath.mpf(variance))
        assert abs(first.prox - second.prox) < 1e-24 and abs(first.envelope - 3 * second.envelope) < 1e-23


ATOMS = (
    "(y-f)**2/2",
    "abs(y-f)",
    "abs(f-y-1)",
    "max(0,f-y+0.3)",
    "softplus(2*(f-y))",
    "log(cosh(y-f))",
    "exp(0.3*(y-f))",
    "max(tanh(0)-f+y,2*(f-y)-1)",
    "abs(y-f)**1.5",
)


SUMS = given(
    st.lists(
        st.tuples(st.integers(1, 30), st.sampled_from(ATOMS)),
        min_size=1,
        max_size=3,
        unique_by=lambda t: t[1],
    ),
    centres,
    variances,
)


@settings(max_examples=3, deadline=None, derandomize=True)
@SUMS
def test_random_convex_losses(terms: list[tuple[int, str]], omega: float, variance: float) -> None:
    holds_for_a_sum(terms, omega, variance)


@pytest.mark.slow
@settings(max_examples=30, deadline=None, derandomize=True)
@SUMS
def test_more_random_convex_losses(terms: list[tuple[int, str]], omega: float, variance: float) -> None:
    holds_for_a_sum(terms, omega, variance)


def holds_for_a_sum(terms: list[tuple[int, str]], omega: float, variance: float) -> None:
    """From text to prox for sums nobody chose: regions meet, steps hold, and its point is in its region."""
    try:
        record = moreau(loss_of("+".join(f"({weight}/10)*{atom}" for weight, atom in terms)))
    except NotConvex:
        raise AssertionError("a sum of convex terms was refused") from None
    exact = moreau_values(record.analysis, 0.5, omega, variance)
    w = sp.Rational(omega) - sp.Rational(1, 2)
    region = next(r for r in record.regions if r.upper == sp.oo or w < r.upper.subs(VARIANCE, sp.Rational(variance)))
    edges = (-sp.oo, *record.analysis.breakpoints, sp.oo)
    u = sp.Float(exact.prox, 30) - sp.Rational(1, 2)
    if region.piece is None:
        assert any(abs(u - place) < 1e-24 for place in edges)
        assert abs(exact.h * variance - 1) < 1e-14
    else:
        assert edges[region.piece] - 1e-24 < u < edges[region.piece + 1] + 1e-24
    assert all(check.error is None or check.error < 1e-30 for check in check_derivation(record.derivation))
