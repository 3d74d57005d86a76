"""Labels of the simulator: the law of every kind of noise, as z-scores of 2e5 draws, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from erm_cases import loss_of
from scipy.special import ndtr

from giantstep.simulate.errors import SimulationError
from giantstep.simulate.labels import LabelStreams, clean_labels, noisy_labels
from giantstep.simulate.system import FiniteSystem

Array = np.ndarray
COUNT = 200_000
LIMIT = 4.5  # standard errors: 1e-5 for one of the about ten comparisons


def system(link: Any = np.sign, **changes: Any) -> FiniteSystem:
    return FiniteSystem(lambda z: (np.tanh(z), 1.0 / np.cosh(z) ** 2), link, 1.0, **changes)


def streams(seed: int = 3) -> LabelStreams:
    return LabelStreams(*(np.random.default_rng([seed, k]) for k in range(3)))


def points(indices: int = 1, count: int = COUNT) -> Array:
    return np.random.default_rng(11).standard_normal((indices, count))


def score(sample: Array, mean: float) -> float:
    """Distance of a sample's mean from a known one, in standard errors."""
    return float((sample.mean() - mean) / (sample.std() / math.sqrt(len(sample))))


def test_without_noise_the_labels_are_clean() -> None:
    z = points(count=1000)
    assert np.array_equal(noisy_labels(system(), z, streams()), np.sign(z[0]))
    two = system(lambda z: np.tanh(z[0]) + z[1] ** 2, indices=2)
    z = points(2, 1000)
    assert np.array_equal(clean_labels(two, z), np.tanh(z[0]) + z[1] ** 2)
    assert np.array_equal(noisy_labels(two, z, streams()), clean_labels(two, z))


def test_label_noise_is_a_variance() -> None:
    noise = noisy_labels(system(np.tanh, noise=0.3), points(), streams()) - np.tanh(points()[0])
    assert abs(score(noise, 0.0)) < LIMIT and abs(score(noise**2, 0.3)) < LIMIT
    assert abs(score(noise**4, 3 * 0.3**2)) < LIMIT
    assert abs(score(noise * points()[0], 0.0)) < LIMIT


def test_flips() -> None:
    z = points()
    flipped = noisy_labels(system(flips=0.15), z, streams()) != np.sign(z[0])
    assert abs(score(flipped.astype(float), 0.15)) < LIMIT
    assert abs(score(flipped * z[0], 0.0)) < LIMIT


def test_noise_inside_the_link() -> None:
    """P(y = 1 | z) = Phi(z/sqrt(variance)); under flips p too, (1 - 2 p) of its excess is left."""
    z = points()
    for flips in (0.0, 0.1):
        y = noisy_labels(system(probit=0.4, flips=flips), z, streams())
        expected = (1.0 - 2.0 * flips) * (2.0 * ndtr(z[0] / math.sqrt(0.4)) - 1.0)
        for weight in (1.0, z[0], z[0] ** 3):
            assert abs(score(weight * (y - expected), 0.0)) < LIMIT


def test_noise_inside_the_link_is_drawn_for_every_index() -> None:
    both = system(lambda z: z[0] + 2.0 * z[1], indices=2, probit=0.5)
    z = points(2)
    noise = noisy_labels(both, z, streams()) - z[0] - 2.0 * z[1]
    assert abs(score(noise**2, 0.5 * (1.0 + 4.0))) < LIMIT


def test_kinds_of_noise_have_streams_of_their_own() -> None:
    """Switching one on leaves the draws of the others: runs with and without it are on the same data."""
    z = points(count=4000)
    plain = noisy_labels(system(flips=0.2), z, streams()) != np.sign(z[0])
    inner = system(probit=1e-16, flips=0.2)
    assert np.array_equal(noisy_labels(inner, z, streams()) != np.sign(z[0]), plain)
    noise = noisy_labels(system(np.tanh, noise=0.3), z, streams()) - np.tanh(z[0])
    again = noisy_labels(system(np.tanh, noise=0.3, probit=1e-20), z, streams()) - np.tanh(z[0])
    assert np.allclose(noise, again, atol=1e-9)
    parts = [streams(), streams()]
    halves = [noisy_labels(system(flips=0.2, probit=0.3), z[:, a:b], parts[0]) for a, b in ((0, 1500), (1500, 4000))]
    assert np.array_equal(np.concatenate(halves), noisy_labels(system(flips=0.2, probit=0.3), z, parts[1]))


@pytest.mark.parametrize(
    ("link", "changes", "words"),
    [
        (np.tanh, {"flips": 0.1}, "flips needs labels"),
        (np.tanh, {"loss": loss_of("logistic")}, "a loss of the margin needs labels"),
        (lambda z: 1.0 / (z - z), {}, "not finite"),
    ],
)
def test_labels_that_are_refused(link: Any, changes: dict[str, Any], words: str) -> None:
    with np.errstate(all="ignore"), pytest.raises(SimulationError, match=words):
        noisy_labels(system(link, **changes), points(count=10), streams())
