"""The first layer after several giant steps, each on fresh samples: means and bulk of the rows, step by step.

Source: THEORY section 12. Derived in derive.further_step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from derive.language.grammar import shorten
from generated import further_step as derived
from giantstep.law.directions import directions_of, mixing, rows_of
from giantstep.law.gradient_step import moments_of_step
from giantstep.law.label_growth import label_reach, spacing_of
from giantstep.law.label_moments import label_moments, moments_at_nodes
from giantstep.law.layer_state import LayerState
from giantstep.law.mirror_images import images_of
from giantstep.law.moments_given_kappa import LabelMoments
from giantstep.law.rest_of_target import rest_of_target
from giantstep.law.terms import block_terms, label_widths, link_term, noisy_terms
from giantstep.quadrature.mesh import Term
from giantstep.quadrature.panels import table
from giantstep.quadrature.shift_derivatives import slope_averages
from giantstep.quadrature.tensor import Shape, coordinates, tensor_table
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.matrix import MAX_RANK
from giantstep.spec.model import Network, Step, Target

Array = np.ndarray
_TOLERANCE = 1e-11  # of loadings and variances, between two resolutions
ROUNDING = 1e-11  # of the largest loading: what blocks that move alike have beside one direction
_EPSILON = 1e-15
_OF_SUMS = 10.0  # what averages over many nodes lose of a gradient's size, in those
_LEVELS = 6
_ORDER = 12  # of the panels of one direction


@dataclass(frozen=True)
class Gain:
    """What a step adds to the rows of every block: pull [K, q] along the v_j, across [K, m] along the theta_perp_i,
    common [K, K], the common noise as vectors; drift [K] of the bulk along itself, and spread [K], the square across.
    """

    pull: Array
    across: Array
    common: Array
    drift: Array
    spread: Array

    @property
    def finite(self) -> bool:
        """Whether all of it are numbers."""
        return all(bool(np.isfinite(getattr(self, part.name)).all()) for part in fields(self))


class _Table(NamedTuple):
    """Nodes of kappa, as ``tensor_table`` has them, and of every block averages of its slopes there [K, 4, N]."""

    rows: Array
    slopes: Array


def state_after(network: Network, before: LayerState, step: Step, target: Target, finer: int = 0) -> LayerState:
    """The rows after one more step in isotropic inputs; ``finer`` as for the gain.

    Raises NotConverged, and BadInput where the step leaves no finite rows.
    """
    return Layer(network, before, target).state(gain_of_step(network, before, step, target, finer), step)


@lru_cache(maxsize=256)
def gain_of_step(network: Network, before: LayerState, step: Step, target: Target, finer: int = 0) -> Gain:
    """What one more step adds to the rows, at the resolution where it settles; ``finer``: the first one that is tried.

    Raises NotConverged, and BadInput where it is not finite, or the slope of the activation is not square integrable.
    """
    layer = Layer(network, before, target)
    for bias in set(layer.offsets):
        moments_of_step(network.activation, bias)
    previous: Gain | None = None
    for level, nodes in enumerate(layer.tables(finer), finer):
        gain = layer.gain(step, nodes, level)
        if previous is not None and layer.agrees(previous, gain):
            return gain
        if not gain.finite:
            raise BadInput(
                "a gradient step gives rows that are not finite", "lower step.learning_rate of the steps before"
            )
        previous = gain
    raise NotConverged(
        "the averages of a later gradient step do not settle",
        "the link or activation varies too sharply; soften it, as sqrt(0.1 + z1**2 + z2**2) is softer than "
        "sqrt(z1**2 + z2**2); where it is the activation, a lower learning rate of the steps before may help",
    )


def before_steps(network: Network, target: Target) -> LayerState:
    """The first layer at initialisation: rows without a mean, in any direction that the target has no part along."""
    blocks = len(network.readout.values)
    one = (1.0,) * blocks
    return LayerState(((0.0,),) * blocks, ((0.0,) * target.indices,), one, kept=one)


def check_rank(network: Network, rank: int) -> None:
    """Raises BadInput for rows along more directions than there are nodes for."""
    if rank > MAX_RANK:
        density, blocks = network.readout.density, len(network.readout.values)
        whose = f"{blocks} values" if density is None else f"the density {shorten(density)}"
        raise BadInput(
            f"the readout has {whose}, and the rows after this step have {rank} directions"
            + (" or more: each value moves in a direction of its own" if density is not None else ""),
            f"at most {MAX_RANK} are solved for: take fewer readout values, or one step",
        )


@dataclass(frozen=True)
class Layer:
    """A network before a step."""

    network: Network
    before: LayerState
    target: Target

    @property
    def terms(self) -> tuple[Term, ...]:
        """The features of the blocks as functions of kappa."""
        network, before = self.network, self.before
        return block_terms(network.activation, self.offsets, before.loadings, before.bulk_variance)

    @property
    def offsets(self) -> tuple[float, ...]:
        """The bias of each block."""
        return self.network.readout.offsets(self.network.initial_bias)

    def nodes(self, level: int) -> Array:
        """A table of kappa at a resolution."""
        link = link_term(self.target, self.before.overlaps)
        if self.before.rank == 1:
            noisy, spacing = noisy_terms(link, self.target), spacing_of(self.target, self.before.overlaps)
            return table(self.terms, link, _ORDER + 2 * level, level // 2, (), noisy, spacing)
        fineness = (1.0 + 0.25 * level,) * self.before.rank
        label = self.target, self.before.overlaps
        return tensor_table(
            Shape(self.terms, self.before.loadings, link, label_widths(*label), label_reach(*label)), fineness
        )

    def label(self, rows: Array, level: int) -> LabelMoments:
        """Moments of the label at the nodes, without flips and its own noise."""
        overlaps, target = self.before.overlaps, self.target
        if target.indices == 1:
            return moments_at_nodes(rows, target, overlaps, level, False)
        kappa = coordinates(rows, 1, self.before.rank)
        return label_moments(target, overlaps, kappa, target.probit, level, False)

    def tables(self, finer: int) -> Iterator[_Table]:
        """At one resolution after the other. Two are always asked for: their averages of slopes are taken together."""
        first = [self.nodes(finer), self.nodes(finer + 1)]
        yield from self._with_slopes(first)
        for level in range(finer + 2, finer + _LEVELS):
            yield from self._with_slopes([self.nodes(level)])

    def _with_slopes(self, rows: list[Array]) -> Iterator[_Table]:
        kappa = [coordinates(each, 1, self.before.rank) for each in rows]
        shifts = np.array(self.before.loadings) @ np.concatenate(kappa).T + np.array(self.offsets)[:, None]
        slopes = np.array([slope_averages(term, at) for term, at in zip(self.terms, shifts, strict=True)])
        ends = np.cumsum([len(each) for each in rows])[:-1]
        for each, of in zip(rows, np.split(slopes, ends, axis=2), strict=True):
            yield _Table(each, of)

    def gain(self, step: Step, table: _Table, level: int) -> Gain:
        """What the rows gain, by averages at a resolution."""
        rows, network, readout = table.rows, self.network, self.network.readout
        blocks, rank = len(readout.values), self.before.rank
        label = self.label(rows, level)
        variance, of_slopes = np.array(self.before.bulk_variance), table.slopes
        mu0, mu1 = rows[:, 4 + rank :].T.reshape(3, blocks, -1)[:2]
        pull, across, noise, drift, spread = derived.gradient(
            rows[:, 1],
            coordinates(rows, 1, rank).T,
            label.mean,
            label.linear.T,
            label.square,
            mu0,
            mu1,
            variance[:, None] * of_slopes[:, 2],
            of_slopes[:, 3],
            variance,
            np.array(readout.values),
            np.array(readout.fractions),
            step.learning_rate / network.width,
            step.samples,
            self.target.noise,
            self.target.flips,
        )
        triangle = np.asarray(np.linalg.qr((np.sqrt(rows[:, 1]) * noise).T, mode="r"))  # no squares: digits are kept
        return Gain(pull, across, triangle.T, drift, spread)

    def moved(self, gain: Gain) -> tuple[Array, Array]:
        """Loadings along the v_j and the theta_perp_i [K, q + m], and bulk variances [K], in isotropic inputs."""
        before = np.array(self.before.loadings), np.array(self.before.bulk_variance)
        loadings, variance = derived.after_step(*before, gain.pull, gain.drift, gain.spread)
        return np.column_stack([loadings, gain.across]), variance

    def agrees(self, one: Gain, other: Gain) -> bool:
        """Whether two resolutions do: each part of the rows relative to its own size, down to rounding of the rows.

        Of the common noise what does not depend on the basis that it is written in.
        """
        found = [(*self.moved(gain), gain.common @ gain.common.T) for gain in (one, other)]
        known, variance, noise = found[0]
        sizes = np.abs(known).max(), np.sqrt(variance.max()), _OF_SUMS * np.sqrt(noise.diagonal().max())
        rounding = _EPSILON * float(sum(sizes))
        pairs = zip(*found, strict=True)
        return all(bool(np.all(np.abs(a - b) <= _TOLERANCE * np.abs(a).max() + rounding)) for a, b in pairs)

    def state(self, gain: Gain, step: Step) -> LayerState:
        """The rows after the step along as few orthonormal directions as there need be, in isotropic inputs."""
        known, variance = self.moved(gain)
        images = images_of(self.network)
        gamma, vectors = np.array(self.before.overlaps), images.rows(np.column_stack([known, gain.common]))
        unknown = np.zeros((gain.common.shape[1], gamma.shape[1]))
        overlaps, blocks = np.concatenate([gamma, mixing(gamma).T, unknown]), len(vectors)
        found = directions_of(rows_of(vectors), rows_of(overlaps), ROUNDING)
        loadings, reduced = found.reduced()
        check_rank(self.network, len(reduced))
        own, turn = self._noise(gain, step, float(np.linalg.norm(vectors, 2)))
        before = self.before.places
        inside = np.concatenate([before, rest_of_target(before, gamma.shape[1])])
        places = np.block([[inside, np.zeros((len(inside), len(own)))], [np.zeros((blocks, inside.shape[1])), turn]])
        axes = np.array(found.kept).T @ places
        loadings = rows_of(images.rows(np.array(loadings)))  # sums of products are rounded row by row
        kept = (1.0 + gain.drift) ** 2 * np.array(self.before.kept or 1.0)
        variances, left = (tuple(images.numbers(each).tolist()) for each in (variance, kept))
        return LayerState(loadings, reduced, variances, rows_of(axes), rows_of(own), left)

    def _noise(self, gain: Gain, step: Step, largest: float) -> tuple[Array, Array]:
        """What a sample adds to the orthonormal directions of its batch's noise [r, K], and these directions in the
        basis that the common noise is written in [K, r].
        """
        left, sizes, turn = np.linalg.svd(images_of(self.network).rows(gain.common))
        kept = sizes > ROUNDING * largest
        rates = step.learning_rate / self.network.width * np.array(self.network.readout.values) / step.samples
        return (left[:, kept] / sizes[kept]).T * rates, turn[kept].T
