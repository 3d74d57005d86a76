"""Simulated pairs of fits whose spikes and rows have the overlaps of two batches, in plain NumPy.

Spiked random features: the law of isotropic rows around the spike, which a network's own rows are not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import giantstep as gs
from giantstep.law.spike import overlap_of_rows
from giantstep.observe.finite_system import finite_system
from giantstep.simulate.bias import fixed_bias
from giantstep.simulate.features import activate
from giantstep.simulate.labels import LabelStreams, clean_labels, noisy_labels

Array = np.ndarray


@dataclass(frozen=True)
class _Law:
    """Loadings [p, q] of the neurons, norms [p] of their bulk rows and overlaps [p] of these; gamma [q, m]."""

    loadings: Array
    norm: Array
    overlap: Array
    gamma: Array


def halves(model: gs.Model, dimension: int, seeds: int, first: int = 0) -> Array:
    """E (f_1 - f_2)^2/2, and of a margin loss the error of the mean output, [seed, pair, 2].

    Pairs: with common data, noise and layer; with the layer alone; with nothing.
    """
    return np.array([_one(model, dimension, np.random.default_rng(seed)) for seed in range(first, first + seeds)])


def _law(model: gs.Model, width: int) -> _Law:
    spike, readout = gs.solve(model).spike, model.network.readout
    loadings, gamma = (np.array(rows) for rows in spike.along_kappa(readout.values))
    counts = np.round(np.cumsum(readout.fractions) * width).astype(int)
    block = np.searchsorted(counts, np.arange(width), side="right")
    overlap = np.array(overlap_of_rows(model))
    return _Law(loadings[block], np.sqrt(np.array(spike.bulk_variance)[block]), overlap[block], gamma)


def _one(model: gs.Model, d: int, random: np.random.Generator) -> Array:
    n, p = round(model.fit.samples * d), round(model.network.width * d)
    law, system = _law(model, p), finite_system(model, "srf")
    m = law.gamma.shape[1]

    def rows(count: int) -> Array:
        drawn = random.standard_normal((count, d))
        return drawn / np.linalg.norm(drawn, axis=1)[:, None]

    def layer(common: Array) -> Array:
        rest = np.linalg.cholesky(np.eye(len(law.gamma)) - law.gamma @ law.gamma.T + 1e-14 * np.eye(len(law.gamma)))
        across = random.standard_normal((d, len(law.gamma)))
        across[:m] = 0.0
        spike = rest @ np.linalg.qr(across)[0].T
        spike[:, :m] += law.gamma
        bulk = np.sqrt(law.overlap)[:, None] * common + np.sqrt(1.0 - law.overlap)[:, None] * rows(p)
        bulk *= (law.norm / np.linalg.norm(bulk, axis=1))[:, None]
        return np.asarray(bulk + law.loadings @ spike)

    def data() -> tuple[Array, Array]:
        x = random.standard_normal((n, d))
        streams = LabelStreams(*(np.random.default_rng(random.integers(1 << 60)) for _ in range(3)))
        return x, noisy_labels(system, x[:, :m].T, streams)

    def features(weights: Array, x: Array) -> Array:
        found = x @ weights.T
        activate(system, found, system.bias)
        return found

    def fitted(weights: Array, x: Array, y: Array) -> Array:
        found = fixed_bias(system, features(weights, x), y, (n,), (model.fit.ridge,), system.bias, None)
        return features(weights, test) @ found.readouts[:, 0] / math.sqrt(p)

    common, other = rows(p), rows(p)
    layers, both = (layer(common), layer(common), layer(other)), (data(), data())
    test = random.standard_normal((4 * max(n, d), d))
    clean = clean_labels(system, test[:, :m].T)
    own = fitted(layers[0], *both[0])
    found = []
    for weights, samples in ((layers[1], both[0]), (layers[1], both[1]), (layers[2], both[1])):
        theirs = fitted(weights, *samples)
        found.append([0.5 * float(np.mean((own - theirs) ** 2)), float(np.mean((own + theirs) * clean < 0.0))])
    return np.array(found)
