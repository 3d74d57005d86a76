"""The proximal map of every loss: closed form, implicit form and high-precision twin, and what convexity demands.

The twin is asked for 30 digits; it is held to 25, which leaves five for the rounding of s f - o in the test itself.
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

from derive.check import check_derivation
from derive.convexity import NotConvex
from derive.loss_catalogue import REGISTERED
from derive.losses import OMEGA, VARIANCE, F, LossAnalysis, U, Y, analyse_loss, loss_of
from derive.moreau import OMEGA_U, L, along_prox
from derive.numeric import mpmath_function
from derive.prox import MoreauRecord, moreau
from derive.prox_twin import MoreauValues, moreau_values, prox_value

CLOSED = (
    "square",
    "hinge",
    "squared_hinge",
    "smoothed_hinge",
    "absolute",
    "quantile",
    "huber",
    "epsilon_insensitive",
)
USER = (
    "sqrt(1+(y-f)**2)",
    "abs(f-y)+(y-f)**4",
    "abs(y-f)**1.5",
    "max(abs(y-f)-1,max(0,2*abs(y-f)-4))",
    "max(0,1-y*f)**3",
    "exp(-y*f)+max(0,1-y*f)",
    "exp(f)-y*f",
    "f**2/2-y*f+abs(f)",
    "(1+y**2)*f**2-y*f",
)
ALL = (*REGISTERED, *USER)
CLOSE = mpmath.mpf(10) ** -25

labels = st.floats(-4, 4).map(lambda y: round(y, 3))
centres = st.floats(-8, 8).map(lambda w: round(w, 3))
variances = st.floats(-3, 3).map(lambda v: round(math.exp(v), 4))
shares = st.floats(0.05, 0.95).map(lambda q: round(q, 3))
property_test = settings(max_examples=120, deadline=None, derandomize=True)


@pytest.fixture(autouse=True, scope="module")
def forty_digits() -> Iterator[None]:
    """Arithmetic of the tests themselves."""
    with mpmath.workdps(40):
        yield


def point(text: str, y: float, share: float) -> tuple[LossAnalysis, float, dict[str, float]]:
    """Analysis, a label the loss takes, and its parameters."""
    analysis = analyse_loss(loss_of(text))
    y = (1.0 if y > 0 else -1.0) if analysis.loss.form == "margin" else y
    return analysis, y, {p.name: share for p in analysis.loss.parameters}


def original(analysis: LossAnalysis, y: float, parameters: dict[str, float]) -> Callable[[Any], Any]:
    """The loss as it was written, a function of f."""
    numbers = {p.symbol: sp.Rational(parameters[p.name]) for p in analysis.loss.parameters}
    function: Callable[[Any], Any] = mpmath_function(
        analysis.loss.expr.subs(numbers).subs(Y, sp.Rational(y)), (F,)
    )
    return function


def lowest(function: Callable[[Any], Any], low: Any, high: Any, tolerance: Any) -> Any:
    """The minimiser of a convex function, by golden sections of its values alone."""
    share = (mpmath.sqrt(5) - 1) / 2
    left, right = high - share * (high - low), low + share * (high - low)
    values = function(left), function(right)
    while high - low > tolerance:
        if values[0] <= values[1]:
            high, right, left = right, left, right - share * (right - low)
            values = function(left), values[0]
        else:
            low, left, right = left, right, left + share * (high - left)
            values = values[1], function(right)
    return (low + high) / 2


@pytest.mark.parametrize("text", ALL)
def test_records(text: str) -> None:
    record = moreau(loss_of(text))
    assert record.closed == (text in CLOSED or text in (USER[3], USER[7], USER[8]))
    assert record.regions[0].lower == -sp.oo and record.regions[-1].upper == sp.oo
    for left, right in zip(record.regions, record.regions[1:], strict=False):
        assert sp.simplify(left.upper - right.lower) == 0
    kinks = [region for region in record.regions if region.piece is None]
    assert len(kinks) == sum(jump != 0 for jump in record.convexity.jumps)
    pieces = [region.piece for region in record.regions if region.piece is not None]
    assert pieces == list(range(len(record.analysis.pieces)))


@pytest.mark.parametrize("text", ALL)
def test_every_recorded_step_holds(text: str) -> None:
    derivation = moreau(loss_of(text)).derivation
    checks = {check.label: check.error for check in check_derivation(derivation, dps=40)}
    assert len(checks) >= 6
    # the point of the check may lie outside the domain of a piece such as (-u)^1.5
    known = [error for error in checks.values() if error is not None]
    assert len(known) == len(checks) or text == "abs(y-f)**1.5"
    assert len(known) >= 6 and max(known) < mpmath.mpf(10) ** -38
    latex = derivation.latex()
    assert latex.count(r"\begin{align}") == len(derivation.steps) and r"\omega_{u}" in latex


def test_closed_forms_in_the_literature() -> None:
    """Soft thresholding, the hinge's three branches, Huber's clipped residual [Parikh & Boyd 2014, section 6]."""
    w, v, delta = OMEGA_U, VARIANCE, sp.Symbol("delta", positive=True)
    oracle = {
        "square": w / (1 + v),
        "absolute": sp.Piecewise((w + v, w < -v), (0, w < v), (w - v, True)),
        "hinge": sp.Piecewise((w + v, w < 1 - v), (1, w < 1), (w, True)),
        "squared_hinge": sp.Piecewise(((w + v) / (1 + v), w < 1), (w, True)),
        "huber": w - v * sp.Max(-delta, sp.Min(delta, w / (1 + v))),
    }
    for name, expected in oracle.items():
        record = moreau(loss_of(name))
        for centre in (-7, -2, -1, sp.Rational(-1, 3), sp.Rational(1, 5), 1, 3, 9):
            for variance in (sp.Rational(1, 7), 1, 4):
                numbers = {w: centre, v: variance, delta: sp.Rational(5, 4)}
                assert record.prox.subs(numbers) == expected.subs(numbers), name


@property_test
@given(
    st.sampled_from([text for text in ALL if moreau(loss_of(text)).closed]),
    labels,
    centres,
    variances,
    shares,
)
def test_closed_forms_are_the_twin(text: str, y: float, omega: float, variance: float, share: float) -> None:
    analysis, y, parameters = point(text, y, share)
    record, loss = moreau(analysis.loss), analysis.loss
    twin = moreau_values(analysis, y, omega, variance, parameters)
    numbers = {p.symbol: sp.Rational(parameters[p.name]) for p in loss.parameters}
    numbers |= {Y: sp.Rational(y), VARIANCE: sp.Rational(variance)}
    w = (loss.sign * sp.Rational(omega) - loss.offset).subs(numbers)
    edges = [region.upper.subs(numbers) for region in record.regions[:-1]]
    with mpmath.workdps(30):
        found = [e.subs({**numbers, OMEGA_U: w}).evalf(30)._to_mpmath(110) for e in _expressions(record)]
        sign, offset = (mpmath.mpmathify(e.subs(numbers).evalf(30)) for e in (loss.sign, loss.offset))
        expected = (sign * twin.prox - offset, twin.envelope, sign * twin.g, twin.h)
        count = 3 if w in edges else 4  # h jumps at the edges
        for a, b in list(zip(found, expected, strict=True))[:count]:
            assert abs(a - b) < CLOSE * (1 + abs(b))


def _expressions(record: MoreauRecord) -> tuple[Any, ...]:
    return record.prox, record.envelope, record.g, record.h


@property_test
@given(st.sampled_from(ALL), labels, centres, variances, shares)
def test_along_the_proximal_map(text: str, y: float, omega: float, variance: float, share: float) -> None:
    """The twin's prox solves the stationarity of its region, and gives its envelope, g and h."""
    analysis, y, parameters = point(text, y, share)
    loss = analysis.loss
    twin = moreau_values(analysis, y, omega, variance, parameters)
    numbers = {p.symbol: sp.Rational(parameters[p.name]) for p in loss.parameters}
    numbers |= {Y: sp.Rational(y), VARIANCE: sp.Rational(variance)}
    sign, offset, w = (
        e.subs(numbers) for e in (loss.sign, loss.offset, loss.sign * sp.Rational(omega) - loss.offset)
    )
    region = next(r for r in moreau(loss).regions if r.upper == sp.oo or w < r.upper.subs(numbers))
    assume(region.along is not None)
    u = sign * sp.Float(twin.prox, 30) - offset
    assume(not any(abs(u - b.subs(numbers)) < 1e-12 for b in analysis.breakpoints))
    along = [
        getattr(region.along, name).subs(numbers).subs(L, u).evalf(30)
        for name in ("omega", "envelope", "g", "h")
    ]
    stiff = (
        1 + abs(sp.Float(twin.h * variance / (1 - twin.h * variance), 30))
        if twin.h * variance != 1
        else sp.oo
    )
    for found, expected in zip(along, (w, twin.envelope, sign * twin.g, twin.h), strict=True):
        # u is known to 1e-30; omega moves by 1 + V rho'' times that, the others less
        assert abs(found - expected) < 1e-25 * stiff * (1 + abs(expected))


@property_test
@given(st.sampled_from(ALL), labels, centres, variances, shares)
def test_the_prox_minimises_the_loss_as_written(
    text: str, y: float, omega: float, variance: float, share: float
) -> None:
    """Golden sections on the objective in f, with no pieces and no change of variable.

    Values at 60 digits see a minimiser to 1e-30 / sqrt(curvature) with curvature >= 1/V.
    """
    analysis, y, parameters = point(text, y, share)
    twin = moreau_values(analysis, y, omega, variance, parameters)
    loss = original(analysis, y, parameters)
    with mpmath.workdps(60):
        v, w = mpmath.mpf(variance), mpmath.mpf(omega)
        reach = abs(twin.prox - w) + 5
        found = lowest(
            lambda x: (x - w) ** 2 / (2 * v) + loss(x), w - reach, w + reach, mpmath.mpf(10) ** -27
        )
        objective = (found - w) ** 2 / (2 * v) + loss(found)
        assert abs(found - twin.prox) < mpmath.mpf(10) ** -24 * (1 + abs(w))
        assert abs(objective - twin.envelope) < CLOSE * (1 + abs(objective))
        assert abs(twin.g - (twin.prox - w) / v) < CLOSE * (1 + abs(twin.g))


@property_test
@given(st.sampled_from(ALL), labels, centres, centres, variances, shares)
def test_firmly_non_expansive(
    text: str, y: float, omega: float, other: float, variance: float, share: float
) -> None:
    """(p - p')(w - w') >= (p - p')^2 [Moreau 1965], and 0 <= h <= 1/V."""
    analysis, y, parameters = point(text, y, share)
    first, second = (moreau_values(analysis, y, w, variance, parameters) for w in (omega, other))
    with mpmath.workdps(30):
        step = first.prox - second.prox
        assert step * (mpmath.mpf(omega) - mpmath.mpf(other)) >= step**2 - CLOSE * (1 + abs(step))
        assert 0 <= first.h <= 1 / mpmath.mpf(variance) + CLOSE


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.sampled_from(ALL), labels, centres, variances, shares)
def test_derivatives_of_the_envelope(
    text: str, y: float, omega: float, variance: float, share: float
) -> None:
    """dM/domega = -g, dM/dV = -g^2/2, dg/domega = -h, dg/dV = -g h by central differences of the 40-digit twin.

    With a step of 1e-13 the truncation error is 1e-26 times a third derivative, rounding 1e-27: judged at 1e-15,
    away from the edges of regions, where h jumps.
    """
    analysis, y, parameters = point(text, y, share)
    step = mpmath.mpf(10) ** -13

    def at(w: Any, v: Any) -> MoreauValues:
        return moreau_values(analysis, y, w, v, parameters, digits=40)

    with mpmath.workdps(40):
        w, v = mpmath.mpf(omega), mpmath.mpf(variance)
        here, right, left, up, down = (
            at(w, v), at(w + step, v), at(w - step, v), at(w, v + step), at(w, v - step)
        )  # fmt: skip
        assume(abs(right.h - left.h) + abs(up.h - down.h) < 1e-6)
        for high, low, slope_of_m, slope_of_g in (
            (right, left, -here.g, -here.h),
            (up, down, -(here.g**2) / 2, -here.g * here.h),
        ):
            assert abs((high.envelope - low.envelope) / (2 * step) - slope_of_m) < 1e-15 * (
                1 + abs(slope_of_m)
            )
            assert abs((high.g - low.g) / (2 * step) - slope_of_g) < 1e-15 * (1 + abs(slope_of_g))


@settings(max_examples=25, deadline=None, derandomize=True)
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
    dual = float(
        lowest(lambda p: conjugate(p) + variance * (p - target) ** 2 / 2, target - 60, target + 60, 1e-8)
    )
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
            -values.prox, values.envelope, -values.g, values.h
        )  # fmt: skip
    if analysis.loss.form == "residual":
        moved = moreau_values(analysis, mpmath.mpf(y) + 0.5, mpmath.mpf(omega) + 0.5, variance, parameters)
        assert abs(moved.prox - values.prox - 0.5) < 1e-24 and abs(moved.g - values.g) < 1e-24 / variance


@property_test
@given(labels, centres, variances, shares)
def test_limits(y: float, omega: float, variance: float, share: float) -> None:
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


@property_test
@given(labels, centres, variances)
def test_scaling(y: float, omega: float, variance: float) -> None:
    """c rho with V is rho with c V: same prox, c times the envelope."""
    for plain, tripled in (("log_cosh", "3*log(cosh(y-f))"), ("absolute", "3*abs(y-f)")):
        first = moreau_values(analyse_loss(loss_of(tripled)), y, omega, variance)
        second = moreau_values(analyse_loss(loss_of(plain)), y, omega, 3 * mpmath.mpf(variance))
        assert abs(first.prox - second.prox) < 1e-24 and abs(first.envelope - 3 * second.envelope) < 1e-23


ATOMS = ("(y-f)**2/2", "abs(y-f)", "abs(f-y-1)", "max(0,f-y+0.3)", "softplus(2*(f-y))", "log(cosh(y-f))",
         "exp(0.3*(y-f))", "max(tanh(0)-f+y,2*(f-y)-1)", "abs(y-f)**1.5")  # fmt: skip


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(st.integers(1, 30), st.sampled_from(ATOMS)),
        min_size=1,
        max_size=3,
        unique_by=lambda t: t[1],
    ),
    centres,
    variances,
)
def test_random_convex_losses(terms: list[tuple[int, str]], omega: float, variance: float) -> None:
    """From text to prox for sums nobody chose: regions meet, steps hold, and the twin's point is in its region."""
    try:
        record = moreau(loss_of("+".join(f"({weight}/10)*{atom}" for weight, atom in terms)))
    except NotConvex:
        raise AssertionError("a sum of convex terms was refused") from None
    twin = moreau_values(record.analysis, 0.5, omega, variance)
    w = sp.Rational(omega) - sp.Rational(1, 2)
    region = next(
        r for r in record.regions if r.upper == sp.oo or w < r.upper.subs(VARIANCE, sp.Rational(variance))
    )
    edges = (-sp.oo, *record.analysis.breakpoints, sp.oo)
    u = sp.Float(twin.prox, 30) - sp.Rational(1, 2)
    if region.piece is None:
        assert any(abs(u - place) < 1e-24 for place in edges)
        assert abs(twin.h * variance - 1) < 1e-14
    else:
        assert edges[region.piece] - 1e-24 < u < edges[region.piece + 1] + 1e-24
    assert all(
        check.error is None or check.error < 1e-30 for check in check_derivation(record.derivation, dps=35)
    )


@pytest.mark.parametrize("text", ["logistic", "exponential", "probit", "hinge"])
@pytest.mark.parametrize(
    ("omega", "variance"), [(-1e6, 1e-6), (1e6, 1e6), (-40, 1e8), (-3e3, 0.5), (0, 1e-12)]
)
def test_far_out(text: str, omega: float, variance: float) -> None:
    """Stationarity of the twin where doubles overflow or cancel.

    A prox of 1e6 rounded at a relative 1e-30 moves exp(-u^2/2) by a relative 1e-18.
    """
    analysis = analyse_loss(loss_of(text))
    values = moreau_values(analysis, 1, omega, variance)
    with mpmath.workdps(60):
        for piece in analysis.pieces:
            slope = mpmath_function(sp.diff(piece, U), (U,))
            if len(analysis.pieces) == 1:
                assert abs(values.g + slope(values.prox)) < mpmath.mpf(10) ** -17 * abs(values.g)


@pytest.mark.parametrize(
    ("text", "y", "variance", "parameters"),
    [
        ("square", 1.0, 0.0, {}),
        ("square", 1.0, -1.0, {}),
        ("square", 1.0, math.nan, {}),
        ("logistic", 0.5, 1.0, {}),
        ("huber", 1.0, 1.0, {"tau": 1.0}),
    ],
)
def test_what_the_twin_refuses(text: str, y: float, variance: float, parameters: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=f"no proximal map of the {text} loss"):
        prox_value(analyse_loss(loss_of(text)), y, 0.3, variance, parameters)


def test_the_generic_identities() -> None:
    along, derivation = along_prox()
    rho = sp.Function("rho")(L)
    assert sp.simplify(along.g + rho.diff(L)) == 0
    assert sp.simplify(along.h - rho.diff(L, 2) / (1 + VARIANCE * rho.diff(L, 2))) == 0
    assert sp.simplify(along.g_V + along.g * along.h) == 0
    assert sp.simplify(along.h_V - (along.g * along.h_omega - along.h**2)) == 0
    assert {check.error for check in check_derivation(derivation)} == {0}


def test_the_map_in_f_is_recorded() -> None:
    steps = {step.label: step for step in moreau(loss_of("logistic")).derivation.steps}
    assert steps["variable of the loss"].rhs == Y * F and steps["variable of the output"].rhs == Y * OMEGA
    assert "g in f" in steps
    assert moreau(loss_of("huber")).derivation.step("variable of the loss").rhs == F - Y
