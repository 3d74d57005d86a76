"""The probability that a label at nodes and the output differ in sign, in plain Python: against SciPy."""

from __future__ import annotations

from types import ModuleType

import numpy as np
from interpreted import interpreted, runtime_text
from mutants import survivors
from scipy.special import ndtr

Array = np.ndarray
RNG = np.random.default_rng(2)
WEIGHT, T = RNG.random((3, 5)), RNG.normal(size=(3, 5, 2))
LABEL = RNG.choice([-1.5, 0.0, 1.0], size=(3, 5))
MEAN, SLOPE, SPREAD = RNG.normal(size=3), RNG.normal(size=(2, 3)), RNG.uniform(0.3, 2.0, 3)
X = LABEL * (MEAN[:, None] + np.einsum("dn,njd->nj", SLOPE, T)) / SPREAD[:, None]
WRONG = (np.where(LABEL == 0.0, 0.5, ndtr(-X)) * WEIGHT).sum(axis=1)


def is_right(module: ModuleType) -> bool:
    """Also where a sign is next to certain, whose probability keeps its digits, and where an output is no number."""
    found, room = np.full(3, np.nan), np.full(5, np.nan)
    module.wrong_signs((WEIGHT, LABEL, T), MEAN, SLOPE, SPREAD, room, found)
    rare = np.full(1, np.nan)
    one = np.ones((1, 1))
    module.wrong_signs((one, one, np.zeros((1, 1, 0))), 20.0 * one[0], np.zeros((0, 1)), one[0], room, rare)
    none = np.full(1, 0.0)
    module.wrong_signs((one, one, np.zeros((1, 1, 0))), np.nan * one[0], np.zeros((0, 1)), one[0], room, none)
    right = np.allclose(found, WRONG, rtol=1e-13) and np.isclose(rare[0], ndtr(-20.0), rtol=1e-12, atol=0.0)
    return bool(right and np.isnan(none[0]))


def test_against_the_normal_distribution() -> None:
    assert is_right(interpreted(runtime_text("signs")))


def test_changes_are_noticed() -> None:
    tried, survived = survivors("signs", lambda text: is_right(interpreted(text)))
    assert tried > 5
    assert not survived
