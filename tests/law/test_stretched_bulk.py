"""The bulk of activations with E sigma'' != 0: rows that the step multiplies by a matrix too."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import pytest

from giantstep.law.covariance import Covariance
from giantstep.law.residual import ResidualLaw, residual_law
from giantstep.law.trained_bulk import BulkLaw, Resolvent, law_rates, trained_law
from giantstep.spec.errors import NotConverged
from giantstep.spec.link import link_values
from giantstep.spec.model import Target

Array = np.ndarray
MEAN, SHIFTS = 0.2, (1.2, 4.0)
CASES = {
    "second harmonic": (Target("z + He(2,z)/2"), Covariance(4.0, 0.6, 0.014)),
    "few samples": (Target("tanh(2*z) + tanh(z)**2"), Covariance(0.5, 1.9, 0.3)),
    "against": (Target("relu", 0.3), Covariance(3.0, -0.8, 0.3)),
    "flips": (Target("sign", flips=0.1, probit=0.3), Covariance(2.0, 1.5, 0.05)),
    "small": (Target("relu"), Covariance(2.0, 1e-4, 1e-8)),
    "long tails": (Target("exp(z)"), Covariance(4.0, 0.6, 0.014)),
}


def alignment(law: ResidualLaw, of: Covariance) -> float:
    (overlap,) = law.overlaps
    return float(overlap / math.sqrt(overlap**2 + law.square / of.samples))


@lru_cache(maxsize=len(CASES))
def found(name: str) -> tuple[BulkLaw, ResidualLaw, Covariance, float]:
    target, of = CASES[name]
    law = residual_law(target, MEAN, 2)
    gamma = alignment(law, of)
    return trained_law(target, MEAN, of, gamma, 1.0), law, of, gamma


def along_target(bulk: BulkLaw, gamma: float) -> Array:
    rest = math.sqrt(1.0 - gamma * gamma)
    w = bulk.weights
    return np.asarray(rest**2 * w["law_oo"] + 2.0 * gamma * rest * w["law_vo"] + gamma**2 * w["law_vv"])


@pytest.mark.parametrize("name", CASES)
def test_first_moments(name: str) -> None:
    """Traces of B, B^2 and C, and the same between theta and theta, are averages over one or two samples."""
    bulk, law, of, gamma = found(name)
    e, weight, tt = law.e, law.weight, law.weight_tt[0, 0]
    mean, along = float(weight @ e), float(tt @ e)
    trace = 2.0 * of.stretch * mean + of.stretch**2 * (mean**2 + law.square / of.samples) + of.noise * law.square
    squares = float(tt @ e**2)
    target = 2.0 * of.stretch * along + of.stretch**2 * (along**2 + squares / of.samples) + of.noise * squares
    # theta.B^2 theta has the part |E e t x|^2 = (E e t^2)^2: x is averaged along theta only
    allowed = 1e-11 * float(np.max(np.abs(bulk.x)))
    assert np.real((bulk.weights["law_tr"] * bulk.x).sum()) == pytest.approx(trace, abs=allowed)
    assert np.real((along_target(bulk, gamma) * bulk.x).sum()) == pytest.approx(target, abs=allowed)


def sampled(name: str, d: int, seed: int) -> Array:
    """w/(Sigma - 1 + w) over the trace, v v, v theta and theta theta of one batch, by the formula Sigma is made of."""
    target, of = CASES[name]
    source = np.random.default_rng(seed)
    count = round(of.samples * d)
    x = source.normal(size=(count, d))
    inner = x[:, 0] + math.sqrt(target.probit) * source.normal(size=count)
    flip = np.where(source.uniform(size=count) < target.flips, -1.0, 1.0)
    noise = math.sqrt(target.noise) * source.normal(size=count)
    e = flip * link_values(target.link)(inner[None]) + noise - MEAN
    stretched = np.eye(d) + of.stretch * (x.T * e) @ x / count
    values, vectors = np.linalg.eigh(stretched @ stretched + of.noise * (x.T * e**2) @ x / count)
    v, theta = vectors.T @ (x.T @ e), vectors[0]
    v = v / np.linalg.norm(v)
    weights = (np.full(d, 1.0 / d), v * v, v * theta, theta * theta)
    return np.array([(each * w / (values - 1.0 + w)).sum() for w in SHIFTS for each in weights])


@lru_cache(maxsize=len(CASES))
def predicted(name: str) -> Array:
    """The same by the law."""
    bulk, _, _, gamma = found(name)
    cross = math.sqrt(1.0 - gamma * gamma) * bulk.weights["law_vo"] + gamma * bulk.weights["law_vv"]
    weights = (bulk.weights["law_tr"], bulk.weights["law_vv"], cross, along_target(bulk, gamma))
    return np.array([np.real((each * w / (bulk.x + w)).sum()) for w in SHIFTS for each in weights])


def gaps(name: str, d: int, seeds: int) -> tuple[Array, Array]:
    """(sampled - law, standard errors)."""
    rows = np.array([sampled(name, d, seed) for seed in range(seeds)])
    return rows.mean(axis=0) - predicted(name), rows.std(axis=0, ddof=1) / math.sqrt(seeds)


@pytest.mark.parametrize("name", ["second harmonic", "few samples", "against", "flips"])
def test_against_sampled_batches(name: str) -> None:
    """Within 4 standard errors at d = 300, corrections of 3/d allowed for; without the stretch it is another law."""
    gap, error = gaps(name, 300, 16)
    assert np.max(np.abs(gap) / np.hypot(error, 3.0 / 300)) < 4.0
    target, of = CASES[name]
    law = residual_law(target, MEAN, 2)
    plain = Covariance(of.samples, 0.0, of.noise)
    other = trained_law(target, MEAN, plain, alignment(law, of), 1.0)
    trace = np.array([np.real((other.weights["law_tr"] * w / (other.x + w)).sum()) for w in SHIFTS])
    sample = (gap + predicted(name))[[0, 4]]
    assert np.max(np.abs(sample - trace) / np.hypot(error[[0, 4]], 3.0 / 300)) > 4.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["second harmonic", "few samples", "against", "flips"])
def test_the_gap_shrinks_with_the_dimension(name: str) -> None:
    """Between d = 250 and 2000, by more than half or into the error bars; |z| < 4 at 2000 with 1/d allowed for."""
    small, _ = gaps(name, 250, 60)
    large, error = gaps(name, 2000, 8)
    assert np.max(np.abs(large) / np.hypot(error, 3.0 / 2000)) < 4.0
    assert np.all(np.abs(large) < 0.5 * np.abs(small) + 4.0 * error)


@pytest.mark.parametrize("name", CASES)
def test_rates_of_the_law(name: str) -> None:
    """Central differences of averages over the law, extrapolated."""
    target, of = CASES[name]
    gamma = alignment(residual_law(target, MEAN, 2), of)
    d_stretch, d_noise = 0.7 * of.stretch, -0.4 * of.noise

    def averages(part: float) -> Array:
        moved = Covariance(of.samples, of.stretch + part * d_stretch, of.noise + part * d_noise)
        law = trained_law(target, MEAN, moved, gamma, 1.0)
        return np.array([np.real((each / (law.x + 1.5)).sum()) for each in law.weights.values()])

    steps = (4e-3, 8e-3)
    one, two = ((averages(step) - averages(-step)) / (2.0 * step) for step in steps)
    rates, law = (
        law_rates(target, MEAN, of, gamma, 1.0, Covariance(of.samples, d_stretch, d_noise)),
        trained_law(target, MEAN, of, gamma, 1.0),
    )
    exact = np.array([np.real((each / (law.x + 1.5)).sum()) for each in rates.weights.values()])
    # the laws are found to 1e-11 and divided by the step; of the differences the fourth order is left
    assert (4.0 * one - two) / 3.0 == pytest.approx(exact, abs=2e-8 * max(1.0, float(np.abs(exact).max())))


def test_the_resolvent_is_followed_from_anywhere() -> None:
    """Continuation from the last shift and from afar end on the same branch."""
    target, of = CASES["few samples"]
    law = residual_law(target, MEAN, 1)
    walking = Resolvent(of, law)  # finer ones start from it
    finer = residual_law(target, MEAN, 2)
    for w in (3.0 + 0.0j, 0.5 + 0.2j, -2.0 + 0.5j, -6.0 + 1e-3j, -2.0 - 0.3j, 1.1 + 0.0j):
        np.testing.assert_allclose(walking.at(w), Resolvent(of, law).at(w), rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(
            Resolvent(of, finer, walking).at(w), Resolvent(of, finer).at(w), rtol=1e-11, atol=1e-13
        )


def test_rows_without_noise_are_refused() -> None:
    """sigma'(z) = 1 + z/2 is all mean and stretch: where 1 + a2 B has a zero the covariance has one too."""
    with pytest.raises(NotConverged, match="next to no noise"):
        trained_law(Target("z + He(2,z)/2"), 0.0, Covariance(4.0, 0.7, 0.0), 0.8, 1.0)
    target, of = Target("sign"), Covariance(4.0, 0.1, 0.0)  # too little to reach zero
    small = trained_law(target, 0.0, of, alignment(residual_law(target, 0.0, 2), of), 1.0)
    assert np.real((small.weights["law_tr"] * small.x).sum()) == pytest.approx(0.1**2 / 4.0, rel=1e-10)
