"""The proximal map of every loss: closed and implicit form against a precise reference, and what convexity demands.

The reference is asked for 30 digits and held to 25, which leaves five for the rounding of s f - o in the test itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import mpmath
import pytest
import sympy as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from long_runs import every
from prox_cases import (
    ALL,
    CLOSE,
    CLOSED,
    centres,
    labels,
    point,
    property_test,
    shares,
    variances,
)

from derive.check import check_derivation
from derive.gaussian.numeric import mpmath_function
from derive.loss.envelope import OMEGA_U, L, along_prox
from derive.loss.loss import OMEGA, VARIANCE, F, U, Y, analyse_loss, loss_of
from derive.loss.prox import MoreauRecord, moreau
from derive.loss.prox_value import moreau_values, prox_value


@pytest.fixture(autouse=True, scope="module")
def forty_digits() -> Iterator[None]:
    """Arithmetic of the tests themselves."""
    with mpmath.workdps(40):
        yield


@pytest.mark.parametrize("text", ALL)
def test_records(text: str) -> None:
    record = moreau(loss_of(text))
    assert record.closed == (text in CLOSED)
    assert record.regions[0].lower == -sp.oo and record.regions[-1].upper == sp.oo
    for left, right in zip(record.regions, record.regions[1:], strict=False):
        assert sp.simplify(left.upper - right.lower) == 0
    kinks = [region for region in record.regions if region.piece is None]
    assert len(kinks) == sum(jump != 0 for jump in record.convexity.jumps)
    pieces = [region.piece for region in record.regions if region.piece is not None]
    assert pieces == list(range(len(record.analysis.pieces)))


@pytest.mark.parametrize("text", every(2, ALL))
def test_every_recorded_step_holds(text: str) -> None:
    derivation = moreau(loss_of(text)).derivation
    checks = check_derivation(derivation)
    known = [check.error for check in checks if check.outcome == "compared"]
    # a loss of one piece and a variable that is f itself leave nothing to carry out
    trivial = {check.label for check in checks if check.outcome == "not evaluable"}
    assert all(label.endswith(("loss", "prox in f")) for label in trivial)
    assert len(known) >= 10 and max(known) < mpmath.mpf(10) ** -38
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
    st.sampled_from(CLOSED),
    labels,
    centres,
    variances,
    shares,
)
def test_closed_forms_are_those_of_the_reference(
    text: str, y: float, omega: float, variance: float, share: float
) -> None:
    analysis, y, parameters = point(text, y, share)
    record, loss = moreau(analysis.loss), analysis.loss
    exact = moreau_values(analysis, y, omega, variance, parameters)
    numbers = {p.symbol: sp.Rational(parameters[p.name]) for p in loss.parameters}
    numbers |= {Y: sp.Rational(y), VARIANCE: sp.Rational(variance)}
    w = (loss.sign * sp.Rational(omega) - loss.offset).subs(numbers)
    edges = [region.upper.subs(numbers) for region in record.regions[:-1]]
    with mpmath.workdps(30):
        found = [e.subs({**numbers, OMEGA_U: w}).evalf(30)._to_mpmath(110) for e in _expressions(record)]
        sign, offset = (mpmath.mpmathify(e.subs(numbers).evalf(30)) for e in (loss.sign, loss.offset))
        expected = (sign * exact.prox - offset, exact.envelope, sign * exact.g, exact.h)
        count = 3 if w in edges else 4  # h jumps at the edges
        for a, b in list(zip(found, expected, strict=True))[:count]:
            assert abs(a - b) < CLOSE * (1 + abs(b))


def _expressions(record: MoreauRecord) -> tuple[Any, ...]:
    return record.prox, record.envelope, record.g, record.h


@property_test
@given(st.sampled_from(ALL), labels, centres, variances, shares)
def test_along_the_proximal_map(text: str, y: float, omega: float, variance: float, share: float) -> None:
    """The prox of the reference solves the stationarity of its region, and gives its envelope, g and h."""
    analysis, y, parameters = point(text, y, share)
    loss = analysis.loss
    exact = moreau_values(analysis, y, omega, variance, parameters)
    numbers = {p.symbol: sp.Rational(parameters[p.name]) for p in loss.parameters}
    numbers |= {Y: sp.Rational(y), VARIANCE: sp.Rational(variance)}
    sign, offset, w = (e.subs(numbers) for e in (loss.sign, loss.offset, loss.sign * sp.Rational(omega) - loss.offset))
    region = next(r for r in moreau(loss).regions if r.upper == sp.oo or w < r.upper.subs(numbers))
    assume(region.along is not None)
    u = sign * sp.Float(exact.prox, 30) - offset
    assume(not any(abs(u - b.subs(numbers)) < 1e-12 for b in analysis.breakpoints))
    along = [getattr(region.along, name).subs(numbers).subs(L, u).evalf(30) for name in ("omega", "envelope", "g", "h")]
    stiff = 1 + abs(sp.Float(exact.h * variance / (1 - exact.h * variance), 30)) if exact.h * variance != 1 else sp.oo
    for found, expected in zip(along, (w, exact.envelope, sign * exact.g, exact.h), strict=True):
        # u is known to 1e-30; omega moves by 1 + V rho'' times that, the others less
        assert abs(found - expected) < 1e-25 * stiff * (1 + abs(expected))


@pytest.mark.parametrize("text", ["logistic", "exponential", "probit", "hinge"])
@pytest.mark.parametrize(("omega", "variance"), [(-1e6, 1e-6), (1e6, 1e6), (-40, 1e8), (-3e3, 0.5), (0, 1e-12)])
def test_far_out(text: str, omega: float, variance: float) -> None:
    """Stationarity of the reference where doubles overflow or cancel.

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
def test_what_the_proximal_map_in_numbers_refuses(
    text: str, y: float, variance: float, parameters: dict[str, float]
) -> None:
    with pytest.raises(ValueError, match=f"no proximal map of the {text} loss"):
        prox_value(analyse_loss(loss_of(text)), y, 0.3, variance, parameters)


def test_the_generic_identities() -> None:
    along, derivation = along_prox()
    rho = sp.Function("rho")(L)
    assert sp.simplify(along.g + rho.diff(L)) == 0
    assert sp.simplify(along.h - rho.diff(L, 2) / (1 + VARIANCE * rho.diff(L, 2))) == 0
    assert sp.simplify(along.g_V + along.g * along.h) == 0
    assert sp.simplify(along.h_V - (along.g * along.h_omega - along.h**2)) == 0
    found = check_derivation(derivation)
    assert [check.outcome for check in found] == ["given", *(["compared"] * (len(found) - 1))]
    assert max(check.error for check in found[1:]) < 1e-45


def test_the_map_in_f_is_recorded() -> None:
    steps = {step.label: step for step in moreau(loss_of("logistic")).derivation.steps}
    assert steps["variable of the loss"].rhs == Y * F and steps["variable of the output"].rhs == Y * OMEGA
    assert "g in f" in steps
    assert moreau(loss_of("huber")).derivation.step("variable of the loss").rhs == F - Y
