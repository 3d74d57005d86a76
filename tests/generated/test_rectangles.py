"""Signs of an output beside labels on intervals: rectangles and their derivatives against sums over t."""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np
from interpreted import interpreted, runtime_text
from mutants import survivors
from scipy.special import ndtr

from generated.runtime import rectangles as compiled
from giantstep.quadrature.gauss import legendre, normal_nodes

Array = np.ndarray
CLOSE = 1e-13
RULE = np.array(legendre(16))
KAPPA = np.array([-1.1, 0.7, 0.0, 2.0])
#: Mean of the output, its slope in t, and its variance beside; the second one is narrow, the third of no mean.
FIELDS = np.array([[-0.7, 0.2, 0.0, 0.4], [0.5, -0.9, 1.3, 0.0], [0.6, 0.05, 2.0, 0.3]])
INF = math.inf
#: low, high and label of intervals: two signs; a negative one between others, one without a sign; with a gap.
LAWS = (
    ([-INF, 0.0], [0.0, INF], [-1.0, 1.0]),
    ([-INF, -0.5, 0.4, 1.1], [-0.5, 0.4, 1.1, INF], [1.0, -1.0, 0.0, 1.0]),
    ([-INF, 0.3, 0.8], [-0.2, 0.8, 1.5], [1.0, -1.0, 1.0]),
)
CHANNELS = (np.array([0.8, 0.6, 1.0]), np.array([-0.95, 0.3, 1.0]), np.array([1.0, 0.0, 1.0]))


def by_sums(law: tuple[list[float], ...], channel: Array) -> Array:
    """P(y f < 0) and its derivatives in the three fields, [4, N]."""
    found = np.zeros((4, len(KAPPA)))
    for n, (mean, slope, variance) in enumerate(FIELDS.T):
        root = math.sqrt(variance)
        for low, high, label in zip(*law, strict=True):
            if channel[1] == 0.0:
                low, high = (-INF, INF) if low <= channel[0] * KAPPA[n] < high else (9.5, 9.5)
            else:
                low, high = ((end - channel[0] * KAPPA[n]) / channel[1] for end in (low, high))
            low, high = max(low, -9.5), min(high, 9.5)
            if low >= high:
                continue
            t, weight = normal_nodes(np.linspace(low, high, 120), 20)
            x = (mean + slope * t) / root
            density = -label * np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi) / root
            rows = ndtr(-label * x) if label else 0.5 + 0.0 * x, density, density * t, -0.5 * density * x / root
            found[:, n] += np.array(rows) @ weight
    return found


FAR = ([3.5, -INF], [4.0, -5.0], [1.0, -1.0])  # where probabilities of either side are close to one
EXACT = [by_sums(law, channel) for law in LAWS for channel in CHANNELS]
EXACT_FAR = by_sums(FAR, CHANNELS[0])[1:]
#: Of the last one rounding is larger than what is right.
PLACES = np.array(
    [[0.0, 0.0, 0.0, -0.7, -0.4, 1.2, -2.0, 0.3, 0.3], [0.0, 0.7, -0.7, 0.0, 0.9, -0.3, -1.0, -0.5, -5.1]]
)
LAW = np.array([[0.6, -0.3, 0.4, 0.5, 0.9, -0.7, 0.2, -0.999, -0.9615], [0.0] * 9])
LAW[1] = np.sqrt((1.0 - LAW[0]) * (1.0 + LAW[0]))


def below(place: Array, law: Array) -> float:
    """P(X < h, Y < k), Y given X in closed form."""
    turn = place[1] / law[0] + law[1] / abs(law[0]) * np.arange(-9.0, 10.0)
    x, weight = normal_nodes(np.unique(np.clip([*np.linspace(-9.5, 9.5, 60), *turn], -9.5, place[0])), 20)
    return float(ndtr((place[1] - law[0] * x) / law[1]) @ weight)


BELOW = [below(place, law) for place, law in zip(PLACES.T, LAW.T, strict=True)]


def fills_below(module: ModuleType) -> bool:
    """Whether rectangles of one correlation are right, and those that end nowhere."""
    ends, limits = np.array([INF, *PLACES[1], -INF]), np.array([0.4, *PLACES[0], 0.4])
    for correlation in (0.0, 0.6):
        law = np.array([correlation, math.sqrt(1.0 - correlation**2)])
        inside = [below(place, law) if correlation else float(np.prod(ndtr(place))) for place in PLACES.T]
        found = np.full((2, len(ends)), np.nan)
        module.fill_below(ends, limits, (tuple(law), RULE), np.full((module.ROWS, len(ends)), np.nan), found)
        if not np.allclose(found, [ndtr(ends), [ndtr(0.4), *inside, 0.0]], rtol=0.0, atol=CLOSE):
            return False
    return True


def is_right(module: ModuleType) -> bool:
    found = np.full(PLACES.shape[1], np.nan)
    module.rectangles(PLACES, LAW, RULE, np.full((module.ROWS, len(found)), np.nan), found)
    right = np.allclose(found, BELOW, rtol=0.0, atol=CLOSE) and found.min() >= 0.0
    cases = ((law, channel) for law in LAWS for channel in CHANNELS)
    for (law, channel), exact in zip(cases, EXACT, strict=True):
        labels, out = (*map(np.array, law), channel), np.full((4, len(KAPPA)), np.nan)
        room = np.full((module.ROWS, len(KAPPA)), np.nan)
        module.wrong_signs_between(labels, KAPPA, FIELDS, RULE, room, out[0])
        module.slopes_between(labels, KAPPA, FIELDS, out[1:])
        right = right and np.allclose(out, exact, rtol=0.0, atol=CLOSE)
    small = np.full((3, len(KAPPA)), np.nan)
    module.slopes_between((*map(np.array, FAR), CHANNELS[0]), KAPPA, FIELDS, small)
    return bool(right and np.allclose(small, EXACT_FAR, rtol=1e-9, atol=0.0))


def is_all_right(module: ModuleType) -> bool:
    """Also of what other kernels alone call."""
    return is_right(module) and fills_below(module)


def test_against_sums_over_t() -> None:
    assert is_right(compiled) and is_all_right(interpreted(runtime_text("rectangles")))


#: The rule is symmetric, labels are signs; nothing exceeds one, and what is no number stays none.
SAME = (
    "share, weight = (0.5 + 0.5 * gauss[0, i]) ** 2, 0.5 * gauss[1, i]: ",
    "found = 0.0 if h == h and u == u else math.nan: ",
    "elif out[n] < 0.0 or out[n] > 1.0:: ",
    "limit, beyond = y * room",
    "if abs(x) == math.inf:: abs(",
)


def test_changes_are_noticed() -> None:
    tried, survived = survivors("rectangles", lambda text: is_all_right(interpreted(text)))
    assert tried > 100
    assert not [words for words in survived if not words.startswith(SAME)]
