"""What a noisy label tells of its two indices: averages over t given kappa, and over kappa along axes of the overlap.

Where the link is straight in one index that one is averaged in closed form (``straight``), else both are at nodes.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from giantstep.observe.optimal.axes import Axes
from giantstep.observe.optimal.fineness import KAPPA, Fineness, is_smooth
from giantstep.observe.optimal.known_pair import KnownPair
from giantstep.observe.optimal.pair_nodes import PairNodes
from giantstep.observe.optimal.straight import Straight, straight_in
from giantstep.spec.link import link_values
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Target

Array = np.ndarray
_PROBES = 40  # places that show whether a link is even
_WIDTH = 5.0  # first panels of kappa over the width of t


@lru_cache(maxsize=64)
def by_two(target: Target) -> bool:
    """Whether a label is averaged here: of two indices, with noise, and smooth in them or straight in one."""
    noisy = target.indices == 2 and target.noise > 0.0
    return noisy and (is_smooth(target) or straight_in(target.link) is not None)


def told_by_pairs(target: Target, known: Array, fineness: Fineness) -> Array:
    """E[E[t|y] E[t|y]^T] [2, 2] where the overlap Q is known."""
    axes = Axes.of(known, target.probit)
    found = _average(target, axes, fineness)
    matrix = np.array([[found[0], found[1]], [found[1], found[2]]])
    turned = axes.to_t(known) * axes.share
    told: Array = turned @ matrix @ turned.T
    return told


def told_of_one_axis(target: Target, known: Array, axis: Array, fineness: Fineness) -> tuple[float, float]:
    """E[E[t|y]^2] and E[E[t^2 - 1|y]^2] of t along an axis [2] of which nothing is known, where the overlap is Q."""
    axes = Axes.of(known, target.probit)
    place = int(np.argmax(np.abs(axes.turn.T @ axis)))
    found, share = _average(target, axes, fineness, place), float(axes.share[place])
    return share**2 * float(found[2 * place]), share**4 * float(found[3])


def _average(target: Target, axes: Axes, fineness: Fineness, squared: int | None = None) -> Array:
    """E over kappa of what labels tell [4] along the axes: of t1^2, t1 t2 and t2^2, and the square of t^2 - 1 along one
    axis, 0 for none.
    """
    gamma, turn = np.sqrt(axes.known), axes.turn * math.sqrt(1.0 + target.probit)
    finer, step = math.sqrt(2.0) ** fineness.labels, KAPPA / fineness.kappa
    even = _even(target.link, tuple(map(tuple, axes.turn.tolist())))
    over_kappa = KnownPair(gamma, axes.spread, even, _WIDTH * step, step)
    rule = PairNodes if straight_in(target.link) is None else Straight
    return over_kappa.average(rule(target.link, target.noise, turn, gamma, axes.spread, finer, squared).values)


@lru_cache(maxsize=64)
def _even(link: str, turn: Rows) -> tuple[bool, bool]:
    """Whether a link is even or odd along each axis."""
    axes, values = np.array(turn), link_values(link)
    x = np.random.default_rng(12).standard_normal((2, _PROBES))
    here = values(axes @ x)
    there = [values(axes @ (np.array(signs)[:, None] * x)) for signs in ((-1.0, 1.0), (1.0, -1.0))]
    size = 1e-12 * float(np.max(np.abs(here)))
    first, second = (any(np.max(np.abs(other - sign * here)) <= size for sign in (1.0, -1.0)) for other in there)
    return first, second
