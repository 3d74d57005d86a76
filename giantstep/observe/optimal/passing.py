"""Message passing on drawn samples of a model: what the best fast estimator reaches at a finite dimension."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from giantstep.law.channel import drawn_label
from giantstep.law.directions import rows_of
from giantstep.law.labels import label_law, law_of_link
from giantstep.observe.finite_system import cannot_run
from giantstep.observe.optimal.axes import lower_of, square_root
from giantstep.observe.optimal.fineness import Fineness, label_fineness
from giantstep.observe.optimal.preimages import places_of
from giantstep.observe.optimal.prior import Sought
from giantstep.observe.optimal.told import parts_of
from giantstep.observe.optimal.two import score_by_pieces, scored_by_pieces
from giantstep.simulate.errors import SimulationError
from giantstep.simulate.message_passing import Passed, message_passing
from giantstep.spec.link import link_values
from giantstep.spec.model import Target

Array = np.ndarray
_START, _ITERATIONS = 0.02, 200
_AT_A_TIME = 256  # samples
_FRESH = 4000  # inputs that the error is measured on
_SAME = 1e-9  # of the largest label: two that are one


@dataclass(frozen=True)
class Passing:
    """Of every seed the overlap [S] with the true directions, the mean of their squared cosines, and the test error on
    fresh inputs [S]. unsettled: runs that still moved after their last iteration.
    """

    dimension: int
    overlap: Array
    test_error: Array
    unsettled: int = 0


def passing(sought: Sought, samples: float, dimension: int, seeds: int, seed: int, by_sign: bool) -> Passing:
    """Run it. Raises BadInput where there is no sample, NotConverged for labels whose score is not known."""
    count = round(samples * dimension)
    if count < 1:
        raise cannot_run(SimulationError(f"{samples:g} * {dimension} samples are none", "take more"))
    target, spread = sought.target, sought.prior.spread(dimension)
    fineness, found, errors, unsettled = label_fineness(target), [], [], 0
    for index in range(seeds):
        own = int(np.random.SeedSequence(seed, spawn_key=(index,)).generate_state(1, np.uint64)[0])
        run = message_passing(
            lambda z, source: _labels(target, z, source),
            lambda y, omega, variance: _score(target, y, omega, variance, fineness),
            (dimension, count, target.indices),
            _ITERATIONS,
            own,
            _START,
            spread,
        )
        found.append(float(run.overlap.mean()))
        unsettled += not run.settled
        errors.append(_error(target, run, own, fineness, by_sign))
    return Passing(dimension, np.array(found), np.array(errors), unsettled)


def _labels(target: Target, z: Array, source: np.random.Generator) -> Array:
    inside = z + math.sqrt(target.probit) * source.standard_normal(z.shape)
    y = np.asarray(link_values(target.link)(inside.T))
    if target.channel is not None:
        return drawn_label(target.channel, y, source.random(len(y)))
    y = np.where(source.random(len(y)) < target.flips, -y, y)
    noisy: Array = y + math.sqrt(target.noise) * source.standard_normal(len(y))
    return noisy


def _score(target: Target, y: Array, omega: Array, variance: Array, fineness: Fineness) -> Array:
    """L^-T E[t | y] [n, m] for z = omega + L t, L L^T the variance."""
    if scored_by_pieces(target):
        return score_by_pieces(target, y, omega, variance)
    known = np.eye(len(variance)) - variance
    lower = lower_of(known)
    mean = _mean(target, y, omega, known, fineness)
    found: Array = np.linalg.solve(lower.T, mean.T).T
    return found


def _mean(target: Target, y: Array, omega: Array, known: Array, fineness: Fineness) -> Array:
    if len(y) > _AT_A_TIME:
        some = np.array_split(np.arange(len(y)), math.ceil(len(y) / _AT_A_TIME))
        return np.concatenate([_mean(target, y[part], omega[part], known, fineness) for part in some])
    places = places_of(target)
    if places is not None:
        return places.mean(y, omega[:, 0], 1.0 - float(known[0, 0]))
    root = square_root(known)
    kappa = np.linalg.solve(root, omega.T).T
    of_label = label_law if target.channel is None else law_of_link
    parts = parts_of(of_label(target, rows_of(root), kappa, finer=fineness.labels), kappa)
    if target.channel is not None:
        likely = target.channel.probability_of(y[:, None], parts.label)
    elif target.noise == 0.0:
        size = float(np.max(np.abs(parts.label)))
        likely = (np.abs(parts.label - y[:, None]) <= _SAME * size).astype(float)
    else:
        likely = np.exp(-0.5 * (parts.label - y[:, None]) ** 2 / target.noise)
    total = (parts.weight * likely).sum(axis=1)
    found = np.einsum("nj,nja->na", likely, parts.mean)
    return np.where(total[:, None] > 0.0, found / np.where(total > 0.0, total, 1.0)[:, None], 0.0)


def _error(target: Target, run: Passed, seed: int, fineness: Fineness, by_sign: bool) -> float:
    """The error of the best prediction from omega and what is not known of z beside it, on fresh inputs."""
    dimension = len(run.truth)
    source = np.random.default_rng([seed, 1])
    inputs = source.standard_normal((_FRESH, dimension)) / math.sqrt(dimension)
    sizes, vectors = np.linalg.eigh(np.eye(len(run.variance)) - run.variance)
    root = (vectors * np.sqrt(np.clip(sizes, 1e-12, 1.0 - 1e-12))) @ vectors.T
    kappa = np.linalg.solve(root, (inputs @ run.estimate).T).T
    clean = target.clean(by_sign)
    label = np.asarray(link_values(clean.link)((inputs @ run.truth).T))
    guess = np.empty(_FRESH)
    for start in range(0, _FRESH, _AT_A_TIME):
        few = kappa[start : start + _AT_A_TIME]
        parts = parts_of(label_law(clean, rows_of(root), few, finer=fineness.labels), few)
        values = np.sign(parts.label) if by_sign else parts.label
        guess[start : start + _AT_A_TIME] = (parts.weight * values).sum(axis=1)
    if by_sign:
        return float(np.mean(np.where(guess == 0.0, 0.5, np.sign(guess) * label < 0.0)))
    return float(np.mean((label - guess) ** 2))
