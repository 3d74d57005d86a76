"""Sums over both kappa of fits with batches of their own: compiled ones against emitted equations, random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

from generated import two_batches as kernel
from generated.runtime.array_certificate import ArrayCertificate
from generated.runtime.equation_text import Contractions
from generated.runtime.two_batches import moments_at, moments_of_products, moments_of_series, outputs_at, wrong_signs
from giantstep.system.pair_equations import symmetric
from giantstep.system.state import pairs

SAMPLES = ArrayCertificate(kernel.SAMPLES, (), features=())
Z, KAPPA, NOISE = 4, 3, 0.3
ALPHA, BETA = 1.3, 0.7


class Numbers:
    """Random nodes and features of K blocks, and the overlaps of a pair."""

    def __init__(self, blocks: int) -> None:
        rng = np.random.default_rng(7)
        self.law, self.given = rng.uniform(0.1, 1.0, Z), rng.uniform(0.1, 1.0, KAPPA)
        self.mu1 = rng.normal(size=(blocks, Z, KAPPA))
        rest = rng.normal(size=(2, blocks, Z, KAPPA))
        self.common = kernel.rest_in_common(rest=rest)
        self.gain, self.slope = rng.uniform(0.2, 1.0, (Z, KAPPA)), rng.normal(size=(Z, KAPPA))
        self.spread = rng.uniform(6.0, 9.0, (Z, KAPPA))  # correlations below one
        self.overlaps = 0.1 * rng.normal(size=blocks * (blocks + 3) // 2)
        self.blocks, self.matrix = blocks, symmetric(self.overlaps[None, blocks:], blocks)[0]

    @property
    def covariance(self) -> np.ndarray:
        given = {"Q1_12": self.matrix, "Q2_12": self.overlaps[: self.blocks], "common": self.common, "mu1": self.mu1}
        return np.asarray(kernel.covariance(**given))

    def missed(self, average: np.ndarray, first: np.ndarray) -> float:
        """Of the emitted equations of the conjugates, by sums of E g_1 g_2 with what the covariance moves by."""
        times = np.array([1.0] * self.blocks + [1.0 + (b != c) for b, c in pairs(self.blocks)])
        hats = ALPHA / BETA * first / times
        state: dict[str, Any] = {"law_z": self.law, "given": self.given, "mu1": self.mu1, "common": self.common}
        state |= {"avg_gg_12": average, "Q2_hat_12": hats[: self.blocks]}
        state["Q1_hat_12"] = symmetric(hats[None, self.blocks :], self.blocks)[0]
        parameters = np.array([ALPHA, BETA, 0.1, 0.0, 0.0])
        return float(SAMPLES.check(np.zeros((0, 1)), np.full(self.blocks, 1.0 / self.blocks), parameters, state))


@pytest.mark.parametrize("blocks", [1, 3])
def test_moments_of_the_square_loss_are_the_emitted_sums(blocks: int) -> None:
    own = Numbers(blocks)
    count = len(own.overlaps)
    found = np.empty(count), np.empty(count), np.empty(count), np.empty((count, count))
    noise = np.array([np.linspace(0.1, 0.4, Z), np.linspace(1.2, 0.7, Z)])
    moments_of_products(own.law, own.given, own.mu1, own.common, own.gain, own.slope, noise, found)
    first, drawn, plain, second = found

    def product(values: np.ndarray) -> np.ndarray:
        return values[:, :, None] * values[:, None, :]

    shared = (noise[0] + NOISE * noise[1])[:, None, None] + own.covariance
    average = product(own.slope) + product(own.gain) * shared
    x = own.overlaps.copy()
    x[:blocks] *= BETA  # T_12
    kinds = np.array([1.0, 1.0, 0.0]), np.array([1.0, 0.0, 1.0])  # the same rows; the same labels
    at, slope = np.empty((3, count)), np.empty((3, count, count))
    moments_at(found, kinds, np.tile(x, (3, 1)), (BETA, NOISE), at, slope)
    assert own.missed(average, at[0]) < 1e-14
    assert own.missed(average, at[1]) > 1e-3  # other noise
    assert np.array_equal(slope[0], second) and not slope[2, :blocks].any() and not slope[2, :, :blocks].any()
    own.common[...] = 0.0  # layers apart
    apart = product(own.slope) + product(own.gain) * ((noise[0] + NOISE * noise[1])[:, None, None] + own.covariance)
    assert own.missed(apart, at[2]) < 1e-14


@pytest.mark.parametrize("blocks", [1, 3])
def test_sums_of_a_series_are_the_emitted_ones(blocks: int) -> None:
    own = Numbers(blocks)
    rng, count, orders = np.random.default_rng(3), len(own.overlaps), 4
    series, chance = rng.normal(size=(2, orders + 1, Z, KAPPA)), rng.uniform(0.2, 0.8, (2, Z))
    first, second = np.empty(count), np.empty((count, count))
    given = (own.law, own.given), (own.mu1, own.common), (series, orders, chance, own.spread)
    moments_of_series(*given, own.overlaps, NOISE, (first, second))
    correlation = (own.covariance + NOISE) / (own.spread[:, :, None] * own.spread[:, None, :])
    assert np.abs(correlation).max() < 1.0
    terms = np.einsum("ynik,ynil,yi->nikl", series, series, chance)[:orders]
    average = sum(term * correlation**n for n, term in enumerate(terms))
    assert own.missed(np.asarray(average), first) < 1e-14
    step, moved, unused = 1e-6, np.empty(count), np.empty((count, count))
    for place in range(count):
        along = step * np.eye(count)[place]
        moments_of_series(*given, own.overlaps + along, NOISE, (moved, unused))
        assert (moved - first) / step == pytest.approx(second[:, place], rel=1e-4, abs=1e-6)


def test_what_outputs_have_apart_is_half_their_mean_square() -> None:
    own = Numbers(1)
    law, given = own.law / own.law.sum(), own.given / own.given.sum()
    slopes, t = np.random.default_rng(5).normal(size=(2, 2, Z, KAPPA))
    rows = own.slope.ravel(), slopes.reshape(2, -1), own.gain.ravel()
    output, variance = np.empty((2, Z, KAPPA))
    half, square = outputs_at(rows, t, law, given, output, variance)
    assert output == pytest.approx(own.slope + (slopes * t).sum(axis=0), rel=1e-14)
    assert np.array_equal(variance, own.gain)
    nothing = np.zeros((Z, KAPPA, KAPPA))
    wanted = kernel.half_mean_square(Delta=own.gain, Delta_12=nothing, given=given, law_z=law, output=output)
    assert half == pytest.approx(wanted, rel=1e-13)
    assert square == pytest.approx(law @ (output**2 + own.gain) @ given, rel=1e-13)


@pytest.mark.parametrize("blocks", [1, 3])
def test_wrong_signs_of_the_mean_of_both_outputs(blocks: int) -> None:
    own = Numbers(blocks)
    label = np.array([1.0, -1.0, 0.5, -2.0])
    features, outputs = (own.mu1, own.common), (own.slope, own.spread)
    found = wrong_signs((own.law, own.given), features, outputs, label, own.overlaps)
    mean, variance = kernel.mean_of_both(output=own.slope, Delta=own.spread, Delta_12=own.covariance)
    wrong = special.ndtr(-np.sign(label)[:, None, None] * mean / np.sqrt(variance))
    assert found == pytest.approx(own.law @ (wrong @ own.given) @ own.given, rel=1e-13)


def test_a_sum_of_three_factors_beside_an_index_that_none_has() -> None:
    """Such a sum was taken as often as its axis is long."""
    found = Contractions("R[p, b] := Q[p, b] + sum(X[b, a]*Y[b, a]*W[a], a)", ("weight",), ())
    into = found.defined["R"]
    axes = [row[1] for row in found.rows if row[2][0] == into]
    assert [len(loops) for loops in axes] == [2, 2]
