"""Giant gradient steps of a finite network, one after the other, and what its first layer has learned after each.

Setting of [DAN23] (arXiv:2305.18270): f(x) = (1/p) sum_k u_k sigma(w_k.x + bias), |u_k| = 1, never trained and small
enough that the output does not count beside the labels (the correlation loss of [ABB23]): the sign of u_k, here +1, is
that of the direction found. Rows are on the unit sphere before every step; a step of order l takes a fresh batch of
n_t = samples d^l samples and the learning rate eta_t = rate p d^((l-1)/2). As in spherical descent [BGJ19] what only
rescales a row is left out of its gradient: in a later step of order 2 or more it would be larger by d^((l-1)/2) than
what the step looks for.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from giantstep.simulate.errors import Array, SimulationError
from giantstep.simulate.first_layer import sphere_rows
from giantstep.simulate.memory import DOUBLE, chunk_rows, require_memory
from giantstep.simulate.system import Activation

#: Multiplications that a run may need: about an hour on one core.
MOST_WORK = 4e13
Labels = Callable[[Array, np.random.Generator], Array]


@dataclass(frozen=True)
class GiantStepSystem:
    """activation: z -> (sigma, sigma'). labels: z[indices, n] of the target's indices -> y[n]. groups: orthonormal
    directions [r, indices] of the target whose overlaps are measured together. orders: l of every step.
    """

    activation: Activation
    labels: Labels
    indices: int
    groups: tuple[Array, ...]
    orders: tuple[int, ...]
    width: float
    bias: float
    samples: float
    rate: float

    @property
    def directions(self) -> int:
        """The number of directions looked for."""
        return sum(len(group) for group in self.groups)

    def width_count(self, dimension: int) -> int:
        """Neurons at a dimension."""
        return max(round(self.width * dimension), self.directions)

    def batch(self, dimension: int, order: int) -> int:
        """Samples of a step."""
        return max(1, round(self.samples * float(dimension) ** order))


@dataclass(frozen=True)
class GiantStepOverlaps:
    """overlaps[seed, step, group], step 0 being the start: root mean square over the neurons of the length of w_k
    inside the span of a group, relative to w_k without its parts along the other groups. chance[group]: of random rows.

    Neuron by neuron: in the singular vectors of W, and so in the noise of many neurons, a linear number of samples can
    show directions of order 2 that no neuron has found (a spectral method does).
    """

    overlaps: Array
    chance: tuple[float, ...]
    orders: tuple[int, ...]
    batches: tuple[int, ...]
    dimension: int
    width: int
    bias: float
    seconds: float = field(compare=False)


def giant_steps(
    system: GiantStepSystem,
    dimension: int,
    seeds: int,
    *,
    seed: int = 0,
    memory_limit_bytes: int | None = None,
) -> GiantStepOverlaps:
    """Take the steps, ``seeds`` times. Seed i gets child i of SeedSequence(seed), however many are run.

    Raises SimulationError, before any work, where the dimension is too small for the directions, or memory or time do
    not suffice.
    """
    started = time.perf_counter()
    if dimension < 2 * system.directions or dimension < system.indices:
        raise SimulationError(
            f"dimension {dimension} is too small for {system.directions} directions; give at least "
            f"{max(2 * system.directions, system.indices)}"
        )
    require_memory(lambda d: _bytes(system, d), dimension, memory_limit_bytes)
    work = _work(system, dimension) * seeds
    if work > MOST_WORK:
        fits = next((d for d in range(dimension, 1, -1) if _work(system, d) * seeds <= MOST_WORK), 2)
        raise SimulationError(
            f"dimension {dimension} with steps of order {max(system.orders)} needs {work:.1e} multiplications; the "
            f"largest dimension that fits is about {fits}"
        )
    runs = [_one(system, dimension, np.random.default_rng(s)) for s in np.random.SeedSequence(seed).spawn(seeds)]
    return GiantStepOverlaps(
        overlaps=np.stack(runs),
        chance=tuple(_chance(system, len(group), dimension) for group in system.groups),
        orders=system.orders,
        batches=tuple(system.batch(dimension, order) for order in system.orders),
        dimension=dimension,
        width=system.width_count(dimension),
        bias=system.bias,
        seconds=time.perf_counter() - started,
    )


def _one(system: GiantStepSystem, dimension: int, source: np.random.Generator) -> Array:
    """Overlaps [step, group] of one network; the target's indices are the first coordinates."""
    width = system.width_count(dimension)
    rows = sphere_rows(source, width, dimension)
    found = [_overlaps(system, rows)]
    for step, order in enumerate(system.orders):
        gradient = correlations(system, rows, system.batch(dimension, order), source)
        known = sum(len(group) for group in system.groups[:step])
        # minus the gradient in w_k is 1/p times the mean of y sigma'(w_k.x) x
        rows += system.rate * dimension ** ((order - 1) / 2.0) * without_growth(gradient, rows, known)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        found.append(_overlaps(system, rows))
    return np.stack(found)


def correlations(system: GiantStepSystem, rows: Array, count: int, source: np.random.Generator) -> Array:
    """Mean over a fresh batch of y sigma'(w_k.x + bias) x, shape (p, d)."""
    width, dimension = rows.shape
    total, height = np.zeros(rows.shape), chunk_rows(max(width, dimension))
    for start in range(0, count, height):
        inputs = source.standard_normal((min(height, count - start), dimension))
        slope = system.activation(inputs @ rows.T + system.bias)[1]
        labels = system.labels(inputs[:, : system.indices].T, source)
        total += (slope * labels[:, None]).T @ inputs
    return total / count


def without_growth(gradient: Array, rows: Array, known: int) -> Array:
    """The gradient without the multiple of its row that E[y sigma''] adds to it.

    The multiple is read off from what is left of the row beside the leading ``known`` right singular vectors of W,
    which hold what has been found: along these the target pulls as well.
    """
    _, vectors = np.linalg.eigh(rows.T @ rows)
    learned = vectors[:, rows.shape[1] - known :]
    rest = rows - rows @ learned @ learned.T
    growth = np.sum(gradient * rest, axis=1) / np.sum(rest**2, axis=1)
    return np.asarray(gradient - growth[:, None] * rows)


def _overlaps(system: GiantStepSystem, rows: Array) -> Array:
    """One number for each group of directions."""
    inside = [np.sum((rows[:, : system.indices] @ group.T) ** 2, axis=1) for group in system.groups]
    outside = np.sum(rows**2, axis=1) - sum(inside)
    return np.array([math.sqrt(np.mean(part / (outside + part))) for part in inside])


def _chance(system: GiantStepSystem, count: int, dimension: int) -> float:
    """Of rows uniform on the sphere: what is left without the other groups has dimension d - R + r."""
    return math.sqrt(count / (dimension - system.directions + count))


def _bytes(system: GiantStepSystem, dimension: int) -> int:
    width = system.width_count(dimension)
    chunk = min(chunk_rows(max(width, dimension)), max(system.batch(dimension, order) for order in system.orders))
    return DOUBLE * (5 * width * dimension + 2 * dimension**2 + chunk * (2 * dimension + 8 * width))


def _work(system: GiantStepSystem, dimension: int) -> float:
    width = system.width_count(dimension)
    return sum(2.0 * system.batch(dimension, order) * dimension * width for order in system.orders)
