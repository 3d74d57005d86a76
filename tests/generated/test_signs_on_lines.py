"""The probability that a label on pieces of lines and the output differ in sign, in plain Python: against SciPy."""

from __future__ import annotations

from types import ModuleType

import numpy as np
from interpreted import interpreted, runtime_text
from mutants import survivors
from scipy.special import ndtr

from giantstep.quadrature.gauss import legendre, normal_between

Array = np.ndarray
RNG = np.random.default_rng(4)
NODES, COUNT = 3, 6
WEIGHT, T, AXIS = RNG.random((NODES, COUNT)), RNG.normal(size=(NODES, COUNT, 2)), np.array([0.4, -0.8])
LABEL = np.tile([1.5, -1.0, 0.0], (NODES, 2))
LOW, HIGH = np.sort(RNG.normal(size=(2, NODES, COUNT)), axis=0)
LOW[:, 1], HIGH[:, 3], LOW[0, 4], HIGH[0, 4] = -np.inf, np.inf, -np.inf, np.inf
WEIGHT[1, 5] = 0.0
LINES = WEIGHT, LABEL, LOW, HIGH, T, AXIS
MEAN, SLOPES, VARIANCE = RNG.normal(size=NODES), RNG.normal(size=(2, NODES)), RNG.uniform(0.3, 2.0, NODES)
SLOPES[:, 2] = [0.8, 0.4]  # the output does not vary along these lines
RULE, STEP = np.array(legendre(16)), 1e-5


def expected(mean: Array, slopes: Array, variance: Array) -> Array:
    """By nodes along every piece."""
    x, share = normal_between(np.clip(LOW, -8.5, 8.5), np.clip(HIGH, -8.5, 8.5), 60)
    t = T[:, :, None] + x[..., None] * AXIS
    given_t = (mean[:, None, None] + np.einsum("dn,njkd->njk", slopes, t)) / np.sqrt(variance)[:, None, None]
    return np.asarray((WEIGHT[:, :, None] * share * ndtr(-np.sign(LABEL)[:, :, None] * given_t)).sum(axis=(1, 2)))


def slopes_of_expected() -> Array:
    """By differences."""
    every = np.concatenate([MEAN[None], SLOPES, VARIANCE[None]])
    found = []
    for row in range(len(every)):
        moved = (every + side * STEP * (np.arange(len(every)) == row)[:, None] for side in (1.0, -1.0))
        high, low = (expected(fields[0], fields[1:3], fields[3]) for fields in moved)
        found.append((high - low) / (2.0 * STEP))
    return np.array(found)


WRONG, OF_FIELDS = expected(MEAN, SLOPES, VARIANCE), slopes_of_expected()


def is_known_far_out(module: ModuleType, side: float) -> bool:
    """Whether the slope of a piece that is next to never met keeps its digits."""
    one, low, high = np.ones((1, 1)), *np.sort([[[20.0 * side]], [[21.0 * side]]], axis=0)
    found = np.full((3, 1), np.nan)
    lines = one, one, low, high, np.zeros((1, 1, 1)), one[0]
    module.slopes_on_lines(lines, (0.0 * one[0], 0.0 * one, one[0]), np.empty(1), found)
    return bool(np.isclose(found[0, 0], -(ndtr(-20.0) - ndtr(-21.0)) / np.sqrt(2.0 * np.pi), rtol=1e-12, atol=0.0))


def is_right(module: ModuleType) -> bool:
    """Labels count by their signs in a probability; slopes are of labels +-1, and twice those of others by that."""
    wrong, slopes = np.full(NODES, np.nan), np.full((4, NODES), np.nan)
    module.wrong_signs_on_lines(LINES, (MEAN, SLOPES, VARIANCE), RULE, np.full((18, COUNT), np.nan), wrong)
    signs = WEIGHT, np.sign(LABEL), *LINES[2:]
    module.slopes_on_lines(signs, (MEAN, SLOPES, VARIANCE), np.full(COUNT, np.nan), slopes)
    none = np.zeros(NODES)
    module.wrong_signs_on_lines(LINES, (np.nan * MEAN, SLOPES, VARIANCE), RULE, np.full((18, COUNT), np.nan), none)
    far = all(is_known_far_out(module, side) for side in (-1.0, 1.0))
    right = far and np.allclose(wrong, WRONG, rtol=1e-12) and np.allclose(slopes, OF_FIELDS, rtol=0.0, atol=1e-9)
    return bool(right and np.all(np.isnan(none)))


def test_against_nodes_along_every_piece() -> None:
    assert is_right(interpreted(runtime_text("signs_on_lines")))


def test_changes_are_noticed() -> None:
    tried, survived = survivors("signs_on_lines", lambda text: is_right(interpreted(text)))
    assert tried > 20
    assert not survived
