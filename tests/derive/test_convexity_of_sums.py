"""Verdicts on the convexity of random sums of losses, against chords."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from derive.gaussian.numeric import mpmath_function
from derive.language.grammar import ExpressionError
from derive.loss.convexity import NotConvex, check_convex
from derive.loss.loss import F, Y, loss_of

ATOMS = (
    "(y-f)**2",
    "abs(y-f)",
    "abs(y-f-1)",
    "max(0,y-f)",
    "softplus(2*(y-f))",
    "log(cosh(y-f))",
    "exp(0.3*(y-f))",
    "cos(y-f)",
    "tanh(y-f)",
    "exp(-(y-f)**2)",
    "abs(y-f)**1.5",
    "(y-f)**3",
)


def verdict_on_a_sum(terms: list[tuple[int, str]]) -> None:
    """A certified loss has no chord below it; a refused one has one in the region that the refusal names."""
    text = "+".join(f"({weight}/10)*{atom}" for weight, atom in terms if weight) or "y-f"
    try:
        check_convex(loss_of(text))
        region = None
    except NotConvex as error:
        region = error.region
    except ExpressionError:
        return
    value = mpmath_function(loss_of(text).expr, (Y, F))
    with mpmath.workdps(50):
        if region is None:
            spans = [(k / 7 - width, k / 7 + width) for k in range(-70, 71) for width in (0.05, 0.6, 3)]
            assert all(_bend(value, a, b) >= -(mpmath.mpf(10) ** -40) * abs(value(0, b)) for a, b in spans)
        else:
            near = [(x - 1e-7, x + 1e-7) for x in region]
            assert min(_bend(value, a, b) for a, b in (*near, region, (2 * region[0] - region[1], region[1]))) < 0


SUMS = given(
    st.lists(
        st.tuples(st.integers(-20, 40), st.sampled_from(ATOMS)),
        min_size=2,
        max_size=3,
        unique_by=lambda t: t[1],
    )
)
test_verdicts_on_random_sums = settings(max_examples=10, deadline=None, derandomize=True)(SUMS(verdict_on_a_sum))


@pytest.mark.slow
@settings(max_examples=40, deadline=None, derandomize=True)
@SUMS
def test_verdicts_on_more_random_sums(terms: list[tuple[int, str]]) -> None:
    verdict_on_a_sum(terms)


def _bend(value: Callable[[Any, Any], Any], low: float, high: float) -> Any:
    middle = (mpmath.mpf(low) + mpmath.mpf(high)) / 2
    return value(0, mpmath.mpf(low)) + value(0, mpmath.mpf(high)) - 2 * value(0, middle)
