"""Exponents for power laws: against the published ones, and against the deterministic equivalent at growing sizes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import brentq

import giantstep as gs
from derive.check import check_derivation
from derive.power_law_rates import power_law_rates
from giantstep.observe.rates import _law_of, _solved, exponents_at
from giantstep.spec.inputs_table import MAX_MODES

MODEL = gs.Model(
    network=gs.Network("linear", width=2.0),
    target=gs.Target("linear", noise=0.1),
    inputs=gs.Inputs(capacity=1.5, source=1.1),
    fit=gs.Fit(samples=1.0, ridge=1e-2),
)


def _published(capacity: float, source: float, width: float, ridge: float) -> tuple[float, float]:
    """Theorem 4.1 of arXiv:2405.15699, in its notation."""
    r, known = (2.0 * source - 1.0) / (2.0 * capacity), min(ridge / capacity, width, 1.0)
    bias = min(2.0 * capacity * known * min(r, 1.0), (2.0 * capacity * min(r, 0.5) - 1.0) * known + width)
    return bias, 1.0 - known


def test_exponents_are_the_published_ones() -> None:
    rng = np.random.default_rng(3)
    for _ in range(40):
        capacity, source, width, ridge = rng.uniform([1.05, 0.55, 0.1, 0.0], [3.0, 4.0, 2.0, 4.0])
        found = exponents_at((capacity, source), width, ridge)
        np.testing.assert_allclose((found.bias, found.variance), _published(capacity, source, width, ridge), atol=1e-12)


def test_the_derivation_has_no_step_that_fails() -> None:
    assert {step.outcome for step in check_derivation(power_law_rates().derivation)} <= {
        "given",
        "assumed",
        "not evaluable",
    }


def _errors(law: tuple[float, float], count: float, width: float, ridge: float) -> tuple[float, float]:
    """Bias and variance (without the noise) of the deterministic equivalent, THEORY section 10."""
    ends = np.concatenate([np.arange(0.5, 2000.0), np.geomspace(2000.5, 1e14, 6000)])  # many modes in one, far out
    modes, held = np.sqrt(ends[1:] * ends[:-1]), np.diff(ends)
    modes[:1999] = np.arange(1.0, 2000.0)
    eigenvalue, target = modes ** -law[0], held * modes ** (-2.0 * law[1])
    p, penalty = 2.0 * count**width, count ** (1.0 - ridge)

    def first(nu2: float) -> float:
        known = float(np.sum(held * eigenvalue / (eigenvalue + nu2)))
        return float(nu2 * (1.0 - known / p))

    def surplus(logarithm: float) -> float:
        nu2 = math.exp(logarithm)
        known = float(np.sum(held * eigenvalue / (eigenvalue + nu2)))
        return float(count - penalty / max(nu2 * (1.0 - known / p), 1e-300) - known)

    nu2 = math.exp(brentq(surplus, -60.0, 5.0, xtol=1e-13))
    nu1, df2 = first(nu2), float(np.sum(held * (eigenvalue / (eigenvalue + nu2)) ** 2))
    upsilon = p / count * ((1.0 - nu1 / nu2) ** 2 + (nu1 / nu2) ** 2 * df2 / (p - df2))
    chi = float(np.sum(held * eigenvalue / (eigenvalue + nu2) ** 2)) / (p - df2)
    far, near = (float(np.sum(target * part / (eigenvalue + nu2) ** 2)) for part in (1.0, eigenvalue))
    return nu2**2 * (far + chi * near) / (1.0 - upsilon), upsilon / (1.0 - upsilon)


@pytest.mark.parametrize(
    "law, width, ridge",
    [((1.5, 1.1), 1.0, 1.0), ((2.0, 0.8), 1.0, 1.5), ((1.6, 2.6), 1.3, 1.2), ((1.5, 0.7), 0.6, 2.0)],
    ids=["ridge", "hard target", "easy target", "few neurons"],
)
def test_the_deterministic_equivalent_approaches_the_exponents(
    law: tuple[float, float], width: float, ridge: float
) -> None:
    sizes = (1e5, 1e6, 1e7)
    found = exponents_at(law, width, ridge)
    columns = np.log(np.array([_errors(law, size, width, ridge) for size in sizes]))
    slopes = -np.diff(columns, axis=0) / math.log(10.0)
    for column, wanted in zip(slopes.T, (found.bias, found.variance), strict=True):
        before, after = np.abs(column - wanted)
        # what is left out falls as a power of the size, at least as N^(-0.1) here; 1e-6 is the sum over modes
        assert after < max(0.8 * before, 1e-6) and after < 0.02


def test_solved_models_fall_about_as_fast() -> None:
    found = gs.rates(MODEL, width=1.0, ridge=1.0)
    assert [count for count, _ in found.solved] == sorted(count for count, _ in found.solved)
    assert all(after < before for (_, before), (_, after) in pairwise(found.solved))
    assert found.measured is not None and abs(found.measured - found.rate) < 0.1
    assert found.rate == pytest.approx(1.0 / 3.0) and found.exponents.limit == "ridge"
    assert found.to_dict()["best_rate"] >= found.rate
    assert "N^-0.333333" in repr(found)


def test_the_equations_of_all_sizes_are_those_of_solved_models() -> None:
    """With as many modes, for two laws of growth: both are right to what a solver leaves."""
    for width, ridge in ((1.0, 1.0), (0.6, 2.0)):
        law = _law_of(MODEL, width, ridge, float(MAX_MODES))
        found = gs.rates(MODEL, width=width, ridge=ridge)
        np.testing.assert_allclose([law.error(n) for n, _ in found.solved], [e for _, e in found.solved], rtol=1e-8)


def test_from_where_on_the_exponents_hold() -> None:
    """The exponent of the next sizes is within the part, that of those before is not; a solved one far off says so."""
    found, law = gs.rates(MODEL), _law_of(MODEL, 1.0, 1.0)
    for part, size in found.holds_from:
        assert size is not None and part in (0.05, 0.01)
        beyond, before = law.exponent(size, 1.5 * size), law.exponent(size / 1.5, size)
        assert abs(beyond - found.rate) < part * found.rate < abs(before - found.rate) * 1.1
    assert found.expected == pytest.approx(law.exponent(160.0, 320.0), rel=1e-12)
    assert "other terms" in repr(found) and "to 5% from N = " in repr(found)
    assert found.to_dict()["holds_from"] == {"0.05": found.holds_from[0][1], "0.01": found.holds_from[1][1]}


def test_solved_models_fall_with_the_exponent_from_where_it_is_said_to_hold() -> None:
    """The number in the words, against the test errors of models on both sides of it."""
    network, inputs = gs.Network("linear", width=20.0), gs.Inputs(capacity=2.5, source=1.6)
    found = gs.rates(MODEL.replace({"network": network, "inputs": inputs}))
    said = re.search(r"to 5% from N = (\S+) on", repr(found))
    assert said is not None
    sizes = float(said[1]) * 1.5 ** np.arange(-1.0, 6.0)
    errors = [_solved(found.model, float(size), found.width, found.ridge) for size in sizes]
    exponents = -np.diff(np.log(np.array(errors, float))) / math.log(1.5)
    before, *beyond = np.abs(exponents / found.rate - 1.0)
    assert max(beyond) < 0.05 < before


def test_the_best_ridge_is_the_best_of_a_grid() -> None:
    for noise in (0.0, 0.1):
        found = gs.rates(MODEL.replace({"target.noise": noise}), width=0.8)
        grid = [exponents_at((1.5, 1.1), 0.8, ridge).error(noise > 0.0) for ridge in np.linspace(0.0, 2.0, 81)]
        best = found.best.error(noise > 0.0)
        assert best >= max(grid) - 1e-12 and best == pytest.approx(max(grid), abs=0.03)
        fewer = exponents_at((1.5, 1.1), found.enough_width - 1e-3, found.best_ridge)
        assert fewer.error(noise > 0.0) < best


@pytest.mark.parametrize(
    "changes, word",
    [
        ({"inputs.capacity": 0.9}, "capacity"),
        ({"inputs.source": None}, "source"),
        ({"network.activation": "tanh", "inputs.capacity": 0.4}, "capacity"),
        ({"target.link": "tanh"}, "linear"),
        ({"fit.loss": "huber"}, "square"),
    ],
)
def test_what_has_no_rates_says_why(changes: dict[str, object], word: str) -> None:
    model = MODEL.replace(changes)
    with pytest.raises(gs.BadInput, match=word):
        gs.rates(model)


def test_one_hint_names_all_that_is_to_be_given() -> None:
    model = MODEL.replace({"inputs": None})
    for changes in ({}, {"network.activation": "tanh"}, {"network.activation": "tanh", "target.link": "z1*z2"}):
        with pytest.raises(gs.BadInput) as caught:
            gs.rates(model.replace(changes))
        assert [key for key in ("network.activation", "target.link") if f'{key} = "linear"' in caught.value.hint] == [
            *changes
        ]


def test_exponents_are_known_where_no_size_is_solved() -> None:
    found = gs.rates(MODEL, ridge=900.0)
    assert found.exponents.limit == "samples" and len(found.solved) == 1 and found.measured is None
    assert "not at sizes" in repr(found) and found.to_dict()["measured"] is None
    assert found.plot().get_xlabel()


@pytest.mark.parametrize("call", [lambda m: gs.rates(m, width=0.0), lambda m: gs.rates(m, ridge=math.nan)])
def test_exponents_are_checked(call: Callable[[gs.Model], gs.Rates]) -> None:
    with pytest.raises(gs.BadInput, match="exponent"):
        call(MODEL)


def test_words_say_which_way_the_best_ridge_goes_and_what_is_still_off() -> None:
    """A source next to 1/2 has a best ridge that falls, and an exponent that holds beyond all N that are tried."""
    slow = gs.rates(MODEL.replace({"inputs": gs.Inputs(capacity=1.4, source=0.6)}))
    assert slow.best_ridge == pytest.approx(7.0 / 6.0) and slow.holds_from[0][1] is None
    assert "falls as N^-0.166667" in repr(slow) and "still more than 5% off at N = 1e12" in repr(slow)
    assert "grows as N^0.318182" in repr(gs.rates(MODEL))
