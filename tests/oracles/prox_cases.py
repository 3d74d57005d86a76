"""Losses, places and the loss as it was written, for the tests of proximal maps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import sympy as sp
from hypothesis import settings
from hypothesis import strategies as st

from derive.gaussian.numeric import mpmath_function
from derive.language.loss_catalogue import REGISTERED
from derive.loss.loss import F, LossAnalysis, Y, analyse_loss, loss_of

USER = (
    "sqrt(1+(y-f)**2)",
    "abs(f-y)+(y-f)**4",
    "abs(y-f)**1.5",
    "max(abs(y-f)-1,max(0,2*abs(y-f)-4))",
    "max(0,1-y*f)**3",
    "exp(-y*f)+max(0,1-y*f)",
    "exp(2*f)-y*f",
    "f**2/2-y*f+abs(f)",
    "(1+y**2)*f**2-y*f",
)
# every piece is quadratic or linear
CLOSED = (
    "square",
    "hinge",
    "squared_hinge",
    "smoothed_hinge",
    "absolute",
    "quantile",
    "huber",
    "epsilon_insensitive",
    USER[3],
    USER[7],
    USER[8],
)
ALL = (*REGISTERED, *USER)
CLOSE = mpmath.mpf(10) ** -25

labels = st.floats(-4, 4).map(lambda y: round(y, 3))
centres = st.floats(-8, 8).map(lambda w: round(w, 3))
variances = st.floats(-3, 3).map(lambda v: round(math.exp(v), 4))
shares = st.floats(0.05, 0.95).map(lambda q: round(q, 3))
property_test = settings(max_examples=120, deadline=None, derandomize=True)


def point(text: str, y: float, share: float) -> tuple[LossAnalysis, float, dict[str, float]]:
    """Analysis, a label the loss takes, and its parameters."""
    analysis = analyse_loss(loss_of(text))
    y = (1.0 if y > 0 else -1.0) if analysis.loss.form == "margin" else y
    return analysis, y, {p.name: share for p in analysis.loss.parameters}


def original(analysis: LossAnalysis, y: float, parameters: dict[str, float]) -> Callable[[Any], Any]:
    """The loss as it was written, a function of f."""
    numbers = {p.symbol: sp.Rational(parameters[p.name]) for p in analysis.loss.parameters}
    function: Callable[[Any], Any] = mpmath_function(analysis.loss.expr.subs(numbers).subs(Y, sp.Rational(y)), (F,))
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
