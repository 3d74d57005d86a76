"""Message passing at a finite dimension: that it settles."""

from __future__ import annotations

import math

import numpy as np

from giantstep.simulate.message_passing import Array, message_passing

NOISE, SAMPLES, DIMENSION = 0.1, 20, 120
_X = np.linspace(-4.5, 4.5, 19)
T = np.stack(np.meshgrid(_X, _X)).reshape(2, -1)


def link(z: Array) -> Array:
    return np.maximum(z[0] * z[1] - 0.3, 0.0)


def labels(z: Array, source: np.random.Generator) -> Array:
    return link(z.T) + math.sqrt(NOISE) * source.standard_normal(len(z))


def score(y: Array, omega: Array, variance: Array) -> Array:
    """L^-T E[t | y] at even nodes of t."""
    lower = np.linalg.cholesky(variance)
    exponent = -0.5 * (y[:, None] - link(omega.T[:, :, None] + (lower @ T)[:, None])) ** 2 / NOISE
    exponent -= 0.5 * (T**2).sum(axis=0)
    weight = np.exp(exponent - exponent.max(axis=1, keepdims=True))
    found: Array = np.linalg.solve(lower.T, (weight @ T.T / weight.sum(axis=1, keepdims=True)).T).T
    return found


def test_overlaps_do_not_swing() -> None:
    """relu(z1*z2 - 0.3): without a part of what was before, overlaps of both directions go up and down for ever."""
    sizes = (DIMENSION, SAMPLES * DIMENSION, 2)
    ends = [message_passing(labels, score, sizes, number, 0, start=0.5).overlap for number in (40, 41)]
    assert np.max(np.abs(ends[1] - ends[0])) < 5e-3


def test_a_run_says_whether_it_has_settled() -> None:
    sizes = (100, 800, 2)
    runs = [message_passing(labels, score, sizes, number, 0, start=0.5) for number in (3, 200)]
    assert [run.settled for run in runs] == [False, True]
