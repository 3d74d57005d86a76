"""A first layer with the directions that it is measured against, and products with its rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from giantstep.simulate.errors import Array
from giantstep.simulate.labels import LabelStreams
from giantstep.simulate.system import FiniteSizes, FiniteSystem

# pre-activations are transformed in pieces that stay in the processor's cache
PIECE = 1 << 15


@dataclass(frozen=True)
class Streams:
    """One independent random stream per use, so that one draw never depends on the size of another."""

    layer: np.random.Generator
    direction: np.random.Generator
    inputs: np.random.Generator
    labels: LabelStreams
    features: np.random.Generator
    test: np.random.Generator
    test_labels: LabelStreams
    batches: tuple[tuple[np.random.SeedSequence, ...], ...]

    def batch(self, number: int = 0) -> tuple[np.random.Generator, LabelStreams]:
        """Inputs and labels of a batch, counted from zero, from their beginning on."""
        inputs, *labels = (np.random.default_rng(each) for each in self.batches[number])
        return inputs, LabelStreams(*labels)

    @classmethod
    def spawn(cls, sequence: np.random.SeedSequence, steps: int = 1) -> Streams:
        """The streams of one seed; more steps leave those of fewer as they are."""
        children = sequence.spawn(12)
        first = tuple(children[place] for place in (2, 3, 8, 9))
        made = [np.random.default_rng(child) for child in children]
        layer, direction, _, _, inputs, noise, features, test = made[:8]
        further = [tuple(sequence.spawn(4)) for _ in range(steps - 1)]
        labels = LabelStreams(noise, *made[10:])
        of_test = LabelStreams(*map(np.random.default_rng, sequence.spawn(3)))
        return cls(layer, direction, inputs, labels, features, test, of_test, (first, *further))


@dataclass(frozen=True)
class MeasuredStep:
    """Rows of a network after a step: products[K, K] of the means of the blocks, products of these with the target's
    directions overlaps[K, indices], mean squared norms variances[K] of the rows without their mean.
    """

    products: Array
    overlaps: Array
    variances: Array


@dataclass(frozen=True)
class FirstLayer:
    """Rows u_b r v + sqrt(c_b) w_k, w_k of (about) unit norm, and the directions they are measured against.

    rows[p, d], C order. theta[indices, d]: the orthonormal directions of the target; spike[d]: v; strength r,
    alignment[indices] = <v, theta_i> and variances[K] c_b are imposed ("srf"), absent from the rows (r = 0, c = 1:
    "gaussian") or measured ("network"). A spike of rank q: spike[q, d], alignment[q, indices], and loadings[K, q] in
    place of u_b r, where the rows have them. states: of a network, after each step.
    """

    rows: Array
    theta: Array
    spike: Array
    strength: float
    alignment: Array
    variances: Array
    loadings: Array | None = None
    states: tuple[MeasuredStep, ...] = ()

    def mean_row(self, block: int, value: float) -> Array:
        """What all rows of a block of readout value u have in common, [d]."""
        own = self.strength * value if self.loadings is None else self.loadings[block]
        along: Array = np.atleast_1d(own) @ np.atleast_2d(self.spike)
        return along

    def kappa_of(self, inputs: Array) -> Array:
        """kappa of inputs[n, d]: v.x, shape (n,), or (q, n) for a spike of rank q."""
        if self.spike.ndim == 1:
            return overlap(inputs, self.spike)
        return np.stack([overlap(inputs, direction) for direction in self.spike])

    def perpendicular(self) -> tuple[Array, Array]:
        """Orthonormal directions e[indices, d] beside v and L lower triangular: theta = gamma v + L e, L_ii >= 0.

        L L^T = 1 - gamma gamma^T. Rows of e are zero where the span has fewer dimensions.
        """
        rest = self.theta - np.atleast_2d(self.alignment).T @ np.atleast_2d(self.spike)
        directions, mixing = np.zeros_like(rest), np.zeros((len(rest), len(rest)))
        for index, row in enumerate(rest):
            mixing[index, :index] = directions[:index] @ row
            left = row - mixing[index, :index] @ directions[:index]
            norm = float(np.linalg.norm(left))
            if norm > 1e-7:
                mixing[index, index], directions[index] = norm, left / norm
        return directions, mixing

    def indices_of(self, inputs: Array) -> Array:
        """z_i = theta_i.x of inputs[n, d], shape (indices, n)."""
        return np.stack([overlap(inputs, direction) for direction in self.theta])


def neuron_values(system: FiniteSystem, sizes: FiniteSizes, source: np.random.Generator) -> Array:
    """u_k of every neuron, shape (p,): a0_k = u_k / sqrt p; those that are drawn from the given stream."""
    if system.drawn is not None:
        return system.drawn(source.random(sizes.width_count))
    return np.repeat(np.array(system.values, dtype=np.float64), sizes.blocks)


def block_values(system: FiniteSystem, sizes: FiniteSizes, values: Array) -> Array:
    """What the mean of a neuron is in that of its block [p]: 1, or u_k where values are drawn."""
    return values if system.drawn is not None else np.ones(sizes.width_count)


def overlap(inputs: Array, direction: Array) -> Array:
    """inputs[n, d] . direction[d]; not numpy's `@`, whose threads compete with those of scipy's BLAS."""
    found: Array = np.einsum("id,d->i", inputs, direction)
    return found


def project(inputs: Array, rows: Array, out: Array) -> None:
    """out[n, p] = inputs[n, d] rows[p, d]^T, in place; all in C order."""
    # the transposes are in Fortran order, so BLAS reads and writes the arrays themselves
    blas.dgemm(1.0, rows.T, inputs.T, trans_a=1, c=out.T, overwrite_c=1)
