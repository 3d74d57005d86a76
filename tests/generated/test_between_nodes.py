"""What happens between nodes of kappa: against whole tables, on both sides of zero, in NumPy."""

from __future__ import annotations

from types import ModuleType

import numpy as np
from interpreted import interpreted, runtime_text
from mutants import survivors

Array = np.ndarray
RNG = np.random.default_rng(11)
PLAIN = interpreted(runtime_text("between_nodes"))


def table(number: int) -> tuple[Array, Array, Array]:
    """kappa [N], turns and away [2, N], of one half or of both."""
    count, half = int(RNG.integers(2, 6)), number % 2 == 0
    kappa = np.sort(RNG.uniform(0.0, 8.0, count) if half else RNG.uniform(-8.0, 8.0, count))
    size = 10.0 ** RNG.uniform(-0.5, 1.2)
    turns = RNG.normal(size=(2, count)) * size + RNG.choice([-2.0, 0.0, 2.0]) * size
    return kappa, turns, RNG.uniform(0.0, 5.0, (2, count)) * RNG.choice([0.0, 1.0])


def whole(kappa: Array, odd: Array, even: Array) -> tuple[Array, Array, Array]:
    """Both sides of a table of one half."""
    if kappa[0] <= 0.0:
        return kappa, odd, even
    return (
        np.concatenate([-kappa[::-1], kappa]),
        np.concatenate([-odd[::-1], odd]),
        np.concatenate([even[::-1], even]),
    )


def sharp(kappa: Array, turns: Array, away: Array) -> bool:
    """A step of more than two lengths that passes zero, or comes close to it where it is not too rare; or a place where
    it comes closest, from where steps as long would lead to zero.
    """
    found = False
    for turn, beside in zip(turns, away, strict=True):
        k, t, a = whole(kappa, turn, beside)
        size, rare, step = np.abs(t), k**2 + a**2, np.abs(np.diff(t))
        left = np.where(t[1:] * t[:-1] < 0.0, 0.0, np.minimum(size[1:], size[:-1]))
        found |= bool(np.any((step > PLAIN.STEP) & (left**2 + np.minimum(rare[1:], rare[:-1]) < PLAIN.NOTHING)))
        least = (size[1:-1] < size[:-2]) & (size[1:-1] < size[2:])
        longest = np.maximum(step[1:], step[:-1])
        left = np.maximum(size[1:-1] - longest, 0.0)
        found |= bool(np.any(least & (longest > PLAIN.STEP) & (left**2 + rare[1:-1] < PLAIN.NOTHING)))
    return found


TABLES = [table(number) for number in range(1600)]
SHARP = [sharp(*each) for each in TABLES]


def tells_what_is_sharp(module: ModuleType) -> bool:
    return [module.is_sharp(*each) for each in TABLES] == SHARP


def kinks(number: int) -> tuple[Array, Array, Array]:
    kappa, (values, _), _ = table(number)
    return kappa, values, 10.0 ** RNG.uniform(-2.0, 1.0, len(kappa))


def passes_zero(kappa: Array, values: Array, width: Array) -> bool:
    """Two nodes many widths apart, of different sign or one of them near zero; of one half also from -kappa[0] on a
    line to a different sign.
    """
    apart = np.abs(np.diff(values)) > PLAIN.CROSSING * np.minimum(width[1:], width[:-1])
    outer = np.abs(values[1:]) < np.abs(values[:-1])
    nearer = np.where(outer, np.abs(values[1:]) / width[1:], np.abs(values[:-1]) / width[:-1])
    felt = (values[1:] * values[:-1] < 0.0) | (nearer < PLAIN.NEAR)
    found = bool(np.any(felt & apart & (kappa[1:] ** 2 < PLAIN.NOTHING)))
    if kappa[0] > 0.0:
        step = 2.0 * kappa[0] * (values[1] - values[0]) / (kappa[1] - kappa[0])
        through = (values[0] - step) * values[0] < 0.0 and abs(step) > PLAIN.CROSSING * width[0]
        found = found or bool(through and kappa[0] ** 2 < PLAIN.NOTHING)
    return found


KINKS = [kinks(number) for number in range(600)]
PASSES = [passes_zero(*each) for each in KINKS]


def tells_what_crosses(module: ModuleType) -> bool:
    return [module.crosses(*each) for each in KINKS] == PASSES


VALUES, WEIGHT, TAILS = RNG.normal(size=(3, 4, 5)), RNG.uniform(size=(4, 5)), RNG.normal(size=(2, 5))


def sums_up(module: ModuleType) -> bool:
    found = np.full((2, 3, 4), np.nan)
    module.sums_on_panels(VALUES, WEIGHT, TAILS, found)
    tails = np.abs(np.einsum("ri,fpi->rfp", TAILS, VALUES))
    assert len(np.unique(tails.argmax(axis=0))) == 2
    exact = np.einsum("fpi,pi->fp", np.abs(VALUES), WEIGHT), tails.max(axis=0) * WEIGHT.sum(axis=1)
    return bool(np.allclose(found, exact, rtol=1e-13, atol=0.0))


FIELDS, EDGES, CHANNEL = RNG.uniform(0.5, 2.0, (4, 3)), np.array([0.3, -1.2]), (0.8, 0.6)
KAPPA = np.array([-1.0, 0.4, 9.0])


def turns_are_filled(module: ModuleType) -> bool:
    """Of the mean, of every edge, and of the mean there, held at nine deviations."""
    turns, away = np.full((2, 5, 3), np.nan)
    module.fill_turns(KAPPA, FIELDS, EDGES, CHANNEL, turns, away)
    mean, spread, slope, variance = FIELDS
    t = (EDGES[:, None] - 0.8 * KAPPA) / 0.6
    assert t.min() < -9.0
    there = (mean + slope * np.clip(t, -9.0, 9.0)) / np.sqrt(variance)
    exact = [mean / spread, t[0], there[0], t[1], there[1]]
    rare = [0.0 * mean, 0.0 * mean, t[0], 0.0 * mean, t[1]]
    return bool(np.allclose(turns, exact, rtol=1e-13) and np.allclose(away, rare, rtol=1e-13))


def passes(module: ModuleType) -> bool:
    tests = (turns_are_filled, sums_up, tells_what_crosses, tells_what_is_sharp)
    return all(test(module) for test in tests)


def test_against_whole_tables() -> None:
    assert passes(PLAIN)
    assert 300 < sum(SHARP) < 1300 and 100 < sum(PASSES) < 500


#: The first node of a table and the one beside zero are never closer to zero than their neighbours.
SAME = (
    "if n < 1 or (n < 2 and not half):: ",
    "size, first = abs(low), abs(turn[n - 2]) if n > 1 else abs(turn[0]): [0]",
)


def test_changes_are_noticed() -> None:
    tried, survived = survivors("between_nodes", lambda text: passes(interpreted(text)))
    assert tried > 60
    assert not [words for words in survived if not words.startswith(SAME)]
