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
        "unit_D": np.eye(2 * blocks),
    }


def samples_of(steps: Sequence[StepSamples], variance: Array) -> dict[str, Array]:
    """What every sample adds in the two rows of every block that it stands in, [2 K, 2 K, N], and which step it is of,
    [S, N]; these rows of a step by those of X, [S, 2 K, R], and the matrix without samples, [R, R]; R = 2 K S.

    The covariances, over the bulk variances [K], are the Schur complement of the first row of every block.
    """
    blocks, many = len(variance), len(steps)
    base = np.ones((2 * many, blocks))
    base[1::2] = -1.0
    base[0] /= variance
    added = [_added(of, _unit(number, many, variance)) for number, of in enumerate(steps)]
    counts = [len(of.weight) for of in steps]
    return {
        "sample": np.concatenate(added, axis=2),
        "of_step": np.repeat(np.eye(many), counts, axis=1),
        "own_rows": np.array([_own_rows(number, many, variance) for number in range(many)]),
        "base": np.diag(base.ravel()),
    }


def _own_rows(step: int, steps: int, variance: Array) -> Array:
    """The two rows (u_s, q_s) of every block that a sample of a step stands in, by those of X, [2 K, R]; row r of block
    b is number r K + b, of X too.

    ``Sigma_s = (1 + B_s) Sigma_(s-1) (1 + B_s) + C_s`` makes the quadratic form
    ``u_s (C_s + 2 B_s) u_s + 2 u_s B_s q_s + u_s^2 - q_s^2 + p_s^2 - u_(s-1)^2 + (form of u_(s-1))``, with
    u_(s-1) = p_s - q_s - u_s: the rows of X are sqrt(c) u, q_S, p_S, q_(S-1), p_(S-1), ..., q_1.
    """
    one, place = np.eye(2 * steps), 1
    first = np.multiply.outer(1.0 / np.sqrt(variance), one[0])
    for _ in range(steps - 1 - step):
        first = one[place + 1] - one[place] - first
        place += 2
    first /= _unit(step, steps, variance)[:, None]
    rows = np.array([first, np.broadcast_to(one[place], first.shape)])
    return np.asarray(np.einsum("rbt,bc->rbtc", rows, np.eye(len(variance))).reshape(2 * len(variance), -1))


def _unit(step: int, steps: int, variance: Array) -> Array:
    """What the first row of a sample is u_s over, [K]: sqrt(c) in the last step, which is a row of X then."""
    return np.asarray(1.0 / np.sqrt(variance) if step + 1 == steps else np.ones(len(variance)))


def _added(of: StepSamples, unit: Array) -> Array:
    """What samples of a step add, in their rows."""
    blocks, unit = len(unit), unit[:, None]
    stretch, noise = of.stretch / of.samples, of.noise / of.samples
    found = np.zeros((2, blocks, 2, blocks, len(of.weight)))
    each = np.arange(blocks)
    found[0, each, 0, each] = unit**2 * (2.0 * stretch + noise)
    found[0, each, 1, each] = found[1, each, 0, each] = unit * stretch
    return found.reshape(2 * blocks, 2 * blocks, -1)


def norms_of_samples(steps: Sequence[Sequence[NormsOfStep]], radial: float, variance: Array) -> dict[str, Array]:
    """What norms of rows follow from, by steps and blocks; radial: 1 for Gaussian initial rows, 0 on the sphere.

    Of the last ones, relative to their means: ``chi`` [K], their variances beside what they follow from, and ``along``
    [K, 2 K, N], sums over samples that they go with. Two sources of every block for the norms before each step: these
    themselves, and what holds them to what they follow from, which meets what the rows gain with them. Of these
    ``earlier`` [F, 2 K, N], sums over samples; ``tie`` [F, F] and ``tie_last`` [F, K], between them and with the last
    norms; ``swap`` [F, F] exchanges a norm and what holds it; ``of_block`` [F, K].
    """
    blocks, many = len(variance), len(steps)
    kept = [(step, b) for step in range(many) for b in range(blocks) if step > 0 or radial > 0.0]
    place = {each: 2 * number for number, each in enumerate(kept)}
    size = 2 * len(kept) or blocks  # where no norms vary before a step, what meets nothing
    nodes = [len(of[0].source) for of in steps]
    earlier, along = (np.zeros((count, 2, blocks, sum(nodes))) for count in (size, blocks))
    swap = np.kron(np.eye(len(kept)), 1.0 - np.eye(2)) if kept else np.eye(size)
    tie, last, own = np.zeros((size, size)), np.zeros((size, blocks)), np.zeros((size, blocks))
    chi, ends = np.array([of.noise for of in steps[-1]]) / variance**2, np.cumsum([0, *nodes])
    for step, unit in enumerate(_unit(step, many, variance) for step in range(many)):
        here, sign = slice(ends[step], ends[step + 1]), (-1.0) ** (many - 1 - step)
        for b, of in enumerate(steps[step]):
            made = sign * np.array([unit[b] * (of.source + of.direct), of.source])
            if step + 1 == many:
                along[b, :, b, here] = made / variance[b]
            else:
                after = place[step + 1, b]
                earlier[after, :, b, here], tie[after, after] = made, of.noise
            if (before := place.get((step, b))) is None:
                continue
            held, own[before : before + 2, b] = before + 1, 1.0
            earlier[held, 0, b, here] = sign * unit[b] * of.gained
            tie[before, held] = tie[held, before] = -1.0
            if step + 1 == many:
                last[held, b] = of.growth / variance[b]
            else:
                tie[held, after] = tie[after, held] = of.growth
            if step == 0:
                tie[before, before] = 2.0 * radial
    return {
        "along": along.reshape(blocks, 2 * blocks, -1),
        "chi": chi,
        "earlier": earlier.reshape(size, 2 * blocks, -1),
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


def weights_of(steps: Sequence[StepSamples], indices: int, own_rows: Array) -> dict[str, Array]:
    """Weights of a sample in averages: of the trace; beyond that between all pairs of what it sees; of sums over
    samples with what it sees, and themselves. Places of these in the rows of all, which are the own rows [S, 2 K, R]
    of every view for each step whose samples have it.
    """
    views, (_, size, rows) = Views(steps, indices), own_rows.shape
    sees = [(view, number) for number, of in enumerate(steps) for part in views.of(of) for view in part]
    place = np.eye(len(sees) * size).reshape(len(sees), size, -1)
    in_rows = np.zeros((views.count, rows, len(sees) * size))  # of a view, those of X
    for (view, number), there in zip(sees, place, strict=True):
        in_rows[view] += own_rows[number].T @ there
    nodes = [len(of.weight) for of in steps]
    seen, pairs, beyond = np.zeros((len(sees), sum(nodes))), [], []
    first = 0
    for of, last in zip(steps, np.cumsum(nodes), strict=True):
        here, count = slice(last - len(of.weight), last), len(of.between)
        seen[first : first + count, here] = np.concatenate([of.along, of.weight * of.own])
        pairs += [(first + v, first + w) for v in range(count) for w in range(count)]
        weights = np.zeros((count**2, sum(nodes)))
        weights[:, here] = of.samples * of.between.reshape(-1, len(of.weight))
        beyond.append(weights)
        first += count
    (left, right), (one, other) = (zip(*each, strict=True) for each in (pairs, views.means()))
    both = [[view for view in each if view >= 0] for each in zip(views.later, views.own, strict=True)]
    return {
        "law_tr": np.concatenate([of.samples * of.weight for of in steps]),
        "law_along": np.concatenate(beyond),
        "law_t": seen,
        "law_own": np.concatenate([of.weight / of.samples for of in steps]),
        "place": place,
        "seen": np.array([in_rows[each].sum(axis=0) for each in both]),
        "place_left": place[list(left)],
        "place_right": place[list(right)],
        "mean_left": in_rows[list(one)],
        "mean_right": in_rows[list(other)],
        "unit_Z": np.eye(len(sees) * size),
    }


def spike_and_rest(axes: Array, indices: int) -> dict[str, Array]:
    """Directions of the spike, ``gamma_j``, and of the target beside it, ``mix_j``, by those that samples see.

    axes [q, D]: orthonormal v_j; theta_i = sum_j gamma_ji v_j + sum_j L_ij u_j.
    """
    spike = dict(zip(directions_of("gamma", len(axes)), axes, strict=True))
    return {**spike, **dict(zip(directions_of("mix", indices), rest_of_target(axes, indices), strict=True))}
