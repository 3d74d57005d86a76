"""Giant gradient steps of a finite network, one after the other, and what its first layer has learned after each.

Setting of [DAN23] (arXiv:2305.18270): f(x) = (1/p) sum_k u_k sigma(w_k.x + bias) with u_k = +-1, half of each, so that
the output begins near zero; rows on the unit sphere before every step; a fresh batch of n_t = samples d^l samples and
the learning rate eta_t = rate p d^((l-1)/2) at a step of order l; the square loss; u is never trained.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from giantstep.simulate.layer import sphere_rows
from giantstep.simulate.memory import DOUBLE, chunk_rows, require_memory
from giantstep.simulate.system import Activation, Array, SimulationError

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
        """Neurons at a dimension, an even number of them."""
        return 2 * max(1, round(self.width * dimension / 2.0), math.ceil(self.directions / 2))

    def batch(self, dimension: int, order: int) -> int:
        """Samples of a step."""
        return max(1, round(self.samples * float(dimension) ** order))


@dataclass(frozen=True)
class GiantStepOverlaps:
    """overlaps[seed, step, group], step 0 being the start: root mean square over the group's directions of their length
    inside the span of the leading right singular vectors of W, as many as there are directions. chance: the root mean
    square of a random subspace.
    """

    overlaps: Array
    chance: float
    orders: tuple[int, ...]
    batches: tuple[int, ...]
    dimension: int
    width: int
    seconds: float


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
    runs = [
        _one(system, dimension, np.random.default_rng(s)) for s in np.random.SeedSequence(seed).spawn(seeds)
    ]
    return GiantStepOverlaps(
        overlaps=np.stack(runs),
        chance=math.sqrt(system.directions / dimension),
        orders=system.orders,
        batches=tuple(system.batch(dimension, order) for order in system.orders),
        dimension=dimension,
        width=system.width_count(dimension),
        seconds=time.perf_counter() - started,
    )


def _one(system: GiantStepSystem, dimension: int, source: np.random.Generator) -> Array:
    """Overlaps [step, group] of one network; the target's indices are the first coordinates."""
    width = system.width_count(dimension)
    rows = sphere_rows(source, width, dimension)
    signs = np.repeat([1.0, -1.0], width // 2)
    found = [_overlaps(system, rows)]
    for order in system.orders:
        gradient = _gradient(system, rows, signs, system.batch(dimension, order), source)
        # minus the gradient of (1/2n) sum (y - f)^2 in w_k is u_k/p times the mean of e sigma'(w_k.x) x
        rows += system.rate * dimension ** ((order - 1) / 2.0) * signs[:, None] * gradient
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        found.append(_overlaps(system, rows))
    return np.stack(found)


def _gradient(
    system: GiantStepSystem, rows: Array, signs: Array, count: int, source: np.random.Generator
) -> Array:
    """Mean over a fresh batch of e sigma'(w_k.x + bias) x, shape (p, d), e = y - f."""
    width, dimension = rows.shape
    total, height = np.zeros(rows.shape), chunk_rows(max(width, dimension))
    for start in range(0, count, height):
        inputs = source.standard_normal((min(height, count - start), dimension))
        value, slope = system.activation(inputs @ rows.T + system.bias)
        residual = system.labels(inputs[:, : system.indices].T, source) - value @ signs / width
        total += (slope * residual[:, None]).T @ inputs
    return total / count


def _overlaps(system: GiantStepSystem, rows: Array) -> Array:
    """One number for each group of directions."""
    _, vectors = np.linalg.eigh(rows.T @ rows)
    leading = vectors[: system.indices, -system.directions :]
    return np.array([np.linalg.norm(group @ leading) / math.sqrt(len(group)) for group in system.groups])


def _bytes(system: GiantStepSystem, dimension: int) -> int:
    width = system.width_count(dimension)
    chunk = min(
        chunk_rows(max(width, dimension)), max(system.batch(dimension, order) for order in system.orders)
    )
    return DOUBLE * (4 * width * dimension + 3 * dimension**2 + chunk * (2 * dimension + 6 * width))


def _work(system: GiantStepSystem, dimension: int) -> float:
    width = system.width_count(dimension)
    return sum(2.0 * system.batch(dimension, order) * dimension * width for order in system.orders)
