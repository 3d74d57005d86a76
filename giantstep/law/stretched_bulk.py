"""The law of a bulk whose rows the steps stretch: samples of all steps, and where they stand.

The covariances of different blocks do not commute, nor do the matrices that they are made of. What is known of them are
averages over the laws of the samples of every step, here at a few nodes. Source: THEORY sections 5 and 12.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from derive.directions import directions_of
from giantstep.law.covariance import Covariance
from giantstep.law.moments import ActivationMoments, activation_moments
from giantstep.law.rest_of_target import rest_of_target
from giantstep.law.row_norms import NormsOfStep
from giantstep.law.step_samples import StepSamples
from giantstep.spec.kernels import function_kernel
from giantstep.spec.model import Model

Array = np.ndarray
Pair = tuple[Array, Array]
_VANISHES = 1e-9  # of E sigma'' beside sigma'


def moments_of(model: Model) -> ActivationMoments:
    """Moments of the activation at initialisation."""
    network = model.network
    breaks = function_kernel(network.activation).BREAKPOINTS
    return activation_moments(network.activation, breaks, network.initial_bias)


def stretches(model: Model) -> bool:
    """Whether the step multiplies the rows by a matrix: where E sigma'' does not vanish."""
    moments = moments_of(model)
    return abs(moments.quadratic) > _VANISHES * math.sqrt(moments.slope_square)


def selections(blocks: int, steps: int) -> dict[str, Array]:
    """Which rows and columns of the matrices belong to which block, and their units.

    Samples stand in two rows of every block for every step, of which the first is that of the block itself, ``upper``,
    and all others are ``lower`` ones; the matrix that is inverted has one row more for the response beside them.
    """
    samples = 2 * steps * blocks
    one = np.eye(samples + blocks)
    upper, lower, beside = one[:blocks], one[blocks:samples], one[samples:]
    return {
        "upper": upper[:, :samples],
        "lower": lower.T @ lower[:, :samples],
        "first": upper,
        "inside": one[:samples],
        "last": beside,
        "fixed": upper.T @ upper + beside.T @ beside,
        "unit_G": one,
        "unit_D": np.eye(samples),
    }


def samples_of(steps: Sequence[StepSamples], variance: Array) -> dict[str, Array]:
    """What every sample adds to the matrix of all, [R, R, N], and the matrix without samples; R = 2 K times the steps.

    The covariances, over the bulk variances [K], are the Schur complement of the first row of every block.
    """
    blocks = len(variance)
    base = np.ones((2 * len(steps), blocks))
    base[1::2] = -1.0
    base[0] /= variance
    added = [_added(of, _rows_of(number, len(steps), variance)) for number, of in enumerate(steps)]
    return {"sample": np.concatenate(added, axis=2), "base": np.diag(base.ravel())}


def _rows_of(step: int, steps: int, variance: Array) -> Array:
    """The two rows (u_s, q_s) that a sample of a step stands in, by the rows of every block: [2, K, 2 steps].

    ``Sigma_s = (1 + B_s) Sigma_(s-1) (1 + B_s) + C_s`` makes the quadratic form
    ``u_s (C_s + 2 B_s) u_s + 2 u_s B_s q_s + u_s^2 - q_s^2 + p_s^2 - u_(s-1)^2 + (form of u_(s-1))``, with
    u_(s-1) = p_s - q_s - u_s: the rows are u, q_S, p_S, q_(S-1), p_(S-1), ..., q_1, those of u over sqrt(c).
    """
    one = np.eye(2 * steps)
    first = np.multiply.outer(1.0 / np.sqrt(variance), one[0])
    place = 1
    for _ in range(steps - 1 - step):
        first = one[place + 1] - one[place] - first
        place += 2
    return np.array([first, np.broadcast_to(one[place], first.shape)])


def _added(of: StepSamples, rows: Array) -> Array:
    """What samples of a step add, in the rows of X: row r of block b is number r K + b."""
    (first, second), (blocks, size) = rows, rows.shape[1:]
    stretch, noise = of.stretch / of.samples, of.noise / of.samples
    found = np.zeros((size, blocks, size, blocks, len(of.weight)))
    for b in range(blocks):
        u, across = first[b], np.outer(first[b], second[b])
        found[:, b, :, b] = np.multiply.outer(np.outer(u, u), 2.0 * stretch[b] + noise[b])
        found[:, b, :, b] += np.multiply.outer(across + across.T, stretch[b])
    return found.reshape(size * blocks, size * blocks, -1)


def norms_of_samples(steps: Sequence[Sequence[NormsOfStep]], radial: float, variance: Array) -> dict[str, Array]:
    """What norms of rows follow from, by steps and blocks; radial: 1 for Gaussian initial rows, 0 on the sphere.

    Of the last ones, relative to their means: ``chi`` [K], their variances beside what they follow from, and ``along``
    [K, R, N], sums over samples that they go with. Two sources of every block for the norms before each step: these
    themselves, and what holds them to what they follow from, which meets what the rows gain with them. Of these
    ``earlier`` [F, R, N], sums over samples; ``tie`` [F, F] and ``tie_last`` [F, K], between them and with the last
    norms; ``swap`` [F, F] exchanges a norm and what holds it; ``of_block`` [F, K].
    """
    blocks, many = len(variance), len(steps)
    kept = [(step, b) for step in range(many) for b in range(blocks) if step > 0 or radial > 0.0]
    place = {each: 2 * number for number, each in enumerate(kept)}
    size = 2 * len(kept) or blocks  # where no norms vary before a step, what meets nothing
    nodes = [len(of[0].source) for of in steps]
    earlier, along = (np.zeros((count, 2 * many, blocks, sum(nodes))) for count in (size, blocks))
    swap = np.kron(np.eye(len(kept)), 1.0 - np.eye(2)) if kept else np.eye(size)
    tie, last, own = np.zeros((size, size)), np.zeros((size, blocks)), np.zeros((size, blocks))
    chi, ends = np.array([of.noise for of in steps[-1]]) / variance**2, np.cumsum([0, *nodes])
    for step, rows in enumerate(_rows_of(step, many, variance) for step in range(many)):
        here, sign = slice(ends[step], ends[step + 1]), (-1.0) ** (many - 1 - step)
        for b, of in enumerate(steps[step]):
            made = sign * (np.outer(rows[0, b], of.source + of.direct) + np.outer(rows[1, b], of.source))
            if step + 1 == many:
                along[b, :, b, here] = made / variance[b]
            else:
                after = place[step + 1, b]
                earlier[after, :, b, here], tie[after, after] = made, of.noise
            if (before := place.get((step, b))) is None:
                continue
            held, own[before : before + 2, b] = before + 1, 1.0
            earlier[held, :, b, here] = sign * np.outer(rows[0, b], of.gained)
            tie[before, held] = tie[held, before] = -1.0
            if step + 1 == many:
                last[held, b] = of.growth / variance[b]
            else:
                tie[held, after] = tie[after, held] = of.growth
            if step == 0:
                tie[before, before] = 2.0 * radial
    return {
        "along": along.reshape(blocks, 2 * many * blocks, -1),
        "chi": chi,
        "earlier": earlier.reshape(size, 2 * many * blocks, -1),
        "tie": -swap @ tie if kept else swap,
        "swap": swap,
        "tie_last": last,
        "of_block": own,
        "unit_U": np.eye(size),
    }


def rates_of_norms(
    norms: Sequence[NormsOfStep], rates: Sequence[NormsOfStep], radial: float, changes: Pair
) -> dict[str, Array]:
    """Rates of the same after one step, by those of what norms follow from; changes: the variances c_b [K] and how they
    grow, relative to c_b.
    """
    variance, growth = changes
    still, moved = (norms_of_samples([each], radial, variance) for each in (norms, rates))
    powers = np.repeat([1.5, 1.0], len(variance))  # of c_b, by rows
    return {
        "along": moved["along"] - np.multiply.outer(growth, powers)[:, :, None] * still["along"],
        "chi": moved["chi"] - 2.0 * growth * still["chi"],
        "earlier": moved["earlier"] - 0.5 * (still["of_block"] @ growth)[:, None, None] * still["earlier"],
        "tie_last": moved["tie_last"] - growth * still["tie_last"],
    }


def rates_of_samples(
    covariance: Sequence[Covariance], rates: Sequence[Covariance], changes: tuple[Array, Array], e: Array
) -> dict[str, Array]:
    """Rates of ``samples_of`` after one step, where the covariances move at given rates.

    changes: the variances [K] and how they grow, relative to themselves.
    """
    blocks, (variance, growth) = len(covariance), changes
    sample = np.zeros((2 * blocks, 2 * blocks, len(e)))
    for b, (rows, moved) in enumerate(zip(covariance, rates, strict=True)):
        upper, lower = b, blocks + b
        stretch, noise = (getattr(moved, name) - growth[b] * getattr(rows, name) for name in ("stretch", "noise"))
        sample[upper, upper] = (2.0 * stretch * e + noise * e * e) / (variance[b] * rows.samples)
        across = (moved.stretch - 0.5 * growth[b] * rows.stretch) * e / (math.sqrt(variance[b]) * rows.samples)
        sample[upper, lower] = sample[lower, upper] = across
    base = np.diag(np.concatenate([-growth / variance, np.zeros(blocks)]))
    return {"sample": sample, "base": base}


class Views:
    """What samples see: the directions of the target; the noise of a batch, in one view by its own samples and, but for
    the last step, in another one by those of later steps.

    later, own: the views of a direction, -1 where it has none; directions are numbered as they come.
    """

    def __init__(self, steps: Sequence[StepSamples], indices: int) -> None:
        self.later, self.own, self.count = list(range(indices)), [-1] * indices, indices
        for number, of in enumerate(steps):
            for _ in range(len(of.own)):
                self.own.append(self.count)
                known = number + 1 < len(steps)
                self.later.append(self.count + 1 if known else -1)
                self.count += 1 + known

    def of(self, step: StepSamples) -> tuple[list[int], list[int]]:
        """Those of what samples of a step know, and of their own batch's noise."""
        known, own = len(step.along), len(step.own)
        return self.later[:known], self.own[known : known + own]

    def means(self) -> list[tuple[int, int]]:
        """Pairs that the mean resolvent stands between: what a direction has had of its own batch, later ones see."""
        pairs = []
        for later, own in zip(self.later, self.own, strict=True):
            if later >= 0:
                pairs += [(later, later)] if own < 0 else [(later, later), (later, own), (own, later)]
        return pairs


def weights_of(steps: Sequence[StepSamples], indices: int, blocks: int) -> dict[str, Array]:
    """Weights of a sample in averages: of the trace; beyond that between all pairs of what it sees; of sums over
    samples with what it sees, and themselves. Places of the views in the rows of all.
    """
    views, rows = Views(steps, indices), 2 * len(steps) * blocks
    place = np.eye(views.count * rows).reshape(views.count, rows, -1)
    nodes = [len(of.weight) for of in steps]
    seen = np.zeros((views.count, sum(nodes)))
    pairs: list[tuple[int, int]] = []
    beyond: list[Array] = []
    for of, last in zip(steps, np.cumsum(nodes), strict=True):
        here = slice(last - len(of.weight), last)
        others, own = views.of(of)
        seen[others, here] = of.along
        seen[own, here] = of.weight * of.own
        pairs += [(v, w) for v in (*others, *own) for w in (*others, *own)]
        weights = np.zeros((len(of.between) ** 2, sum(nodes)))
        weights[:, here] = of.samples * of.between.reshape(-1, len(of.weight))
        beyond.append(weights)
    (left, right), (one, other) = (zip(*each, strict=True) for each in (pairs, views.means()))
    both = [[view for view in each if view >= 0] for each in zip(views.later, views.own, strict=True)]
    return {
        "law_tr": np.concatenate([of.samples * of.weight for of in steps]),
        "law_along": np.concatenate(beyond),
        "law_t": seen,
        "law_own": np.concatenate([of.weight / of.samples for of in steps]),
        "place": place,
        "seen": np.array([place[each].sum(axis=0) for each in both]),
        "place_left": place[list(left)],
        "place_right": place[list(right)],
        "mean_left": place[list(one)],
        "mean_right": place[list(other)],
        "unit_Z": np.eye(views.count * rows),
    }


def spike_and_rest(axes: Array, indices: int) -> dict[str, Array]:
    """Directions of the spike, ``gamma_j``, and of the target beside it, ``mix_j``, by those that samples see.

    axes [q, D]: orthonormal v_j; theta_i = sum_j gamma_ji v_j + sum_j L_ij u_j.
    """
    spike = dict(zip(directions_of("gamma", len(axes)), axes, strict=True))
    return {**spike, **dict(zip(directions_of("mix", indices), rest_of_target(axes, indices), strict=True))}
