"""Moments of labels that a channel draws: sums over the labels against the texts that are emitted."""

from __future__ import annotations

import mpmath
import pytest
import sympy as sp

from derive.channel import S, channel_law, derive_moments, poisson
from derive.gaussian.expectation import Expectation
from derive.label_law import clean_label, label_given_kappa
from derive.labels import FLIPS, index_function, numbered
from derive.language.channels import CHANNELS, channel_entry, parse_moment
from derive.language.grammar import ExpressionError
from derive.language.substitution import number, substituted
from derive.to_sympy import to_sympy

PLACES = (sp.Rational(37, 100), sp.Rational(-21, 10))


@pytest.mark.parametrize("name", CHANNELS)
@pytest.mark.parametrize("trials", [1, 5])
def test_emitted_moments_are_the_derived_ones(name: str, trials: int) -> None:
    entry = CHANNELS[name]
    derivation = derive_moments(channel_law(entry, trials))
    mean, square = (derivation.step(f"moment {power} of the label").rhs for power in (1, 2))
    for found, text in ((mean, entry.mean), (square - mean**2 if entry.counts else square, entry.second)):
        wanted = to_sympy(substituted(parse_moment(text), {"trials": number(float(trials))}), {"s": S})
        for place in PLACES:
            assert abs(sp.N((found - wanted).subs(S, place), 40)) < 1e-35


@pytest.mark.parametrize("place", PLACES)
def test_counts_are_summed(place: sp.Rational) -> None:
    """The derived moments of a Poisson law are sums over all its counts."""
    derivation = derive_moments(channel_law(CHANNELS["poisson"], 1))
    with mpmath.workdps(30):
        for power in (1, 2):

            def term(k: mpmath.mpf, power: int = power) -> mpmath.mpf:
                return k**power * sp.N(poisson(int(k)).subs(S, place), 30)

            exact = mpmath.nsum(term, [0, mpmath.inf])
            found = derivation.step(f"moment {power} of the label").rhs.subs(S, place)
            assert abs(sp.N(found, 30) - exact) < 1e-20


def test_a_mean_and_a_variance_are_all_that_a_step_knows() -> None:
    """The residual variance of the derived step holds that of the label, written down by hand for a logit."""
    from derive.gradient_step import E2, gradient_step_map
    from derive.labels import IndexFunction, index_function
    from derive.scalar import scalar_function

    mean = index_function("2*sigmoid(z)-1")
    rest = IndexFunction("variance", 1 - mean.expr**2, mean.variables)
    step = gradient_step_map(scalar_function("sin"), mean, drawn=rest)
    values = dict.fromkeys(step.closed[E2].free_symbols, 0)
    assert abs(sp.N(step.closed[E2].subs(values), 25) - 1) < 1e-20  # E y^2 of labels +-1


def test_an_unknown_channel_is_refused_with_a_hint() -> None:
    with pytest.raises(ExpressionError, match="logistic") as raised:
        channel_entry("logistic")
    assert "did you mean 'logit'" in raised.value.hint


def test_moments_of_a_flipped_label_are_one_average_each() -> None:
    """The mean of varphi is 1 - 2 flips, its square 1."""
    derivation = label_given_kappa(index_function("sign"), flips=True, probit=False)
    (t,) = numbered("t", 1)
    mean, slope, rest = (derivation.step(name).rhs for name in ("label_nu0", "label_nu1", "label_nu2sq"))
    assert mean == (1 - 2 * FLIPS) * Expectation(clean_label(1), t)
    assert slope == (1 - 2 * FLIPS) * Expectation(t * clean_label(1), t)
    assert rest.atoms(Expectation) == {Expectation(clean_label(1) ** 2, t)} and not rest.has(FLIPS)
