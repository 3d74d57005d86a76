"""The first layer after several giant steps, each on fresh samples: means and bulk of the rows, step by step.

Source: THEORY section 12. Derived in derive.further_step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from derive.language.grammar import shorten
from generated import further_step as derived
from giantstep.law.alike_blocks import alike_after, rows_before
from giantstep.law.directions import directions_of, mixing, rows_of
from giantstep.law.gradient_step import moments_of_step
from giantstep.law.label_growth import label_reach, spacing_of
from giantstep.law.label_moments import label_moments, moments_at_nodes
from giantstep.law.layer_state import LayerState
from giantstep.law.mirror_images import images_of
from giantstep.law.moments_given_kappa import LabelMoments
from giantstep.law.rest_of_target import rest_of_target
from giantstep.law.terms import block_terms, label_axes, link_term, noisy_terms
from giantstep.quadrature.mesh import Term
from giantstep.quadrature.panels import table
from giantstep.quadrature.shift_derivatives import slope_averages
from giantstep.quadrature.tensor import Shape, coordinates, tensor_table
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.matrix import MAX_RANK
from giantstep.spec.model import Network, Step, Target

if TYPE_CHECKING:
    from giantstep.law.value_curves import RowsAfter

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

    def beyond(self, blocks: int) -> tuple[Array, Array, Array]:
        """Of further rows than those of so many blocks: what they gain along all directions, drift and spread."""
        gained = np.column_stack([self.pull, self.across, self.common])
        return gained[blocks:], self.drift[blocks:], self.spread[blocks:]


class Row(NamedTuple):
    """Rows before a step: of neurons with a readout value, a share of all, which is zero where rows are only followed.

    loadings [q], squared norm of the bulk, and the bias.
    """

    value: float
    loadings: tuple[float, ...]
    variance: float
    offset: float
    fraction: float = 0.0


class _Table(NamedTuple):
    """Nodes of kappa, as ``tensor_table`` has them, and of every row averages of its slopes there [K, 4, N]."""

    rows: Array
    slopes: Array


def state_after(network: Network, before: LayerState, step: Step, target: Target, finer: int = 0) -> LayerState:
    """The rows after one more step in isotropic inputs; ``finer`` as for the gain.

    Raises NotConverged, and BadInput where the step leaves no finite rows.
    """
    layer, gain = Layer(network, before, target), gain_of_step(network, before, step, target, finer)
    if not (alike := alike_after(network, before, *layer.rows_after(gain))):
        return layer.state(gain, step)
    from giantstep.law.value_curves import curves_of, rows_along  # load mpmath, which most models need not

    curves = curves_of(network, before, alike)
    probes = tuple(Row(*probe) for curve in curves for probe in curve.probes_before())
    found = gain_of_step(network, before, step, target, finer, probes)
    moved = rows_along(curves, *found.beyond(len(before.loadings)))
    return replace(layer, probes=probes).state(found, step, moved)


@lru_cache(maxsize=256)
def gain_of_step(
    network: Network, before: LayerState, step: Step, target: Target, finer: int = 0, probes: tuple[Row, ...] = ()
) -> Gain:
    """What one more step adds to the rows, at the resolution where it settles; ``finer``: the first one that is tried.

    probes: rows that are followed beside those of the network, after these.
    Raises NotConverged, and BadInput where it is not finite, or the slope of the activation is not square integrable.
    """
    layer = Layer(network, before, target, probes)
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
    return LayerState(((0.0,),) * blocks, ((0.0,) * target.indices,), one, kept=one, alike=rows_before(network))


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
    """A network before a step; probes: rows that are followed beside its own."""

    network: Network
    before: LayerState
    target: Target
    probes: tuple[Row, ...] = ()

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """All rows that are followed."""
        readout, before = self.network.readout, self.before
        parts = readout.values, before.loadings, before.bulk_variance, self.offsets, readout.fractions
        return (*map(Row, *parts), *self.probes)

    def each(self, name: str) -> Array:
        """A number of all rows."""
        return np.array([getattr(row, name) for row in self.rows])

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
            Shape(self.terms, self.before.loadings, link, label_axes(*label), label_reach(*label)), fineness
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
        shifts = self.each("loadings") @ np.concatenate(kappa).T + self.each("offset")[:, None]
        terms = [Term(self.network.activation, 1.0, 0.0, row.variance) for row in self.rows]
        slopes = np.array([slope_averages(term, at) for term, at in zip(terms, shifts, strict=True)])
        ends = np.cumsum([len(each) for each in rows])[:-1]
        for each, of in zip(rows, np.split(slopes, ends, axis=2), strict=True):
            yield _Table(each, of)

    def gain(self, step: Step, table: _Table, level: int) -> Gain:
        """What the rows gain, by averages at a resolution."""
        rows, label, variance = table.rows, self.label(table.rows, level), self.each("variance")
        mean, slope, curvature, square = table.slopes.swapaxes(0, 1)
        pull, across, noise, drift, spread = derived.gradient(
            rows[:, 1],
            coordinates(rows, 1, self.before.rank).T,
            label.mean,
            label.linear.T,
            label.square,
            mean,
            np.sqrt(variance)[:, None] * slope,
            variance[:, None] * curvature,
            square,
            variance,
            self.each("value"),
            self.each("fraction"),
            step.learning_rate / self.network.width,
            step.samples,
            self.target.noise,
            self.target.flips,
        )
        triangle = np.asarray(np.linalg.qr((np.sqrt(rows[:, 1]) * noise).T, mode="r"))  # no squares: digits are kept
        return Gain(pull, across, triangle.T, drift, spread)

    def moved(self, gain: Gain) -> tuple[Array, Array]:
        """Loadings along the v_j and the theta_perp_i [K, q + m], and bulk variances [K], in isotropic inputs."""
        before = self.each("loadings"), self.each("variance")
        loadings, variance = derived.after_step(*before, gain.pull, gain.drift, gain.spread)
        return np.column_stack([loadings, gain.across]), variance

    def rows_after(self, gain: Gain) -> tuple[Array, Array]:
        """Means of the rows along these and the common noise, and bulk variances, of the blocks of the network; those
        of mirror images are images to the last bit.
        """
        (known, variance), images = self.moved(gain), images_of(self.network)
        return images.rows(np.column_stack([known, gain.common])), images.numbers(variance)

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

    def state(self, gain: Gain, step: Step, moved: Sequence[RowsAfter] = ()) -> LayerState:
        """The rows after the step along as few orthonormal directions as there need be, in isotropic inputs; moved:
        those of blocks that are alike, to many digits, of which differences tell the directions.
        """
        vectors, variances = self.rows_after(gain)
        alone = np.setdiff1d(np.arange(len(vectors)), [b for each in moved for b in each.curve.blocks])
        rows = np.concatenate([vectors[alone], *(each.differences() for each in moved)])
        gamma = np.array(self.before.overlaps)
        unknown = np.zeros((gain.common.shape[1], gamma.shape[1]))
        along = np.concatenate([gamma, mixing(gamma).T, unknown])
        found = directions_of(rows_of(rows), rows_of(along), ROUNDING, vectors)
        if moved and found.rank > MAX_RANK:  # there is no answer where they are read, and elsewhere they do not count
            return self.state(gain, step)
        check_rank(self.network, found.rank)
        (_, overlaps), kept, images = found.reduced(), np.array(found.kept), images_of(self.network)
        own, turn = self._noise(rows[:, sum(gamma.shape) :], float(np.linalg.norm(rows, 2)), step)
        before = self.before.places
        inside = np.concatenate([before, rest_of_target(before, gamma.shape[1])])
        places = np.block(
            [[inside, np.zeros((len(inside), turn.shape[1]))], [np.zeros((len(turn), inside.shape[1])), turn]]
        )
        loadings = images.rows(vectors @ kept)  # sums of products are rounded row by row
        told = tuple(each.along(kept) for each in moved)
        for each in told:
            numbers = np.array(each.rows, float)
            loadings[list(each.blocks)], variances[list(each.blocks)] = numbers[:, :-1], numbers[:, -1]
        remains = images.numbers((1.0 + gain.drift[: len(vectors)]) ** 2 * np.array(self.before.kept or 1.0))
        return LayerState(
            rows_of(loadings),
            overlaps,
            tuple(variances.tolist()),
            rows_of(kept.T @ places),
            () if moved else rows_of(own * self.each("value")[: len(vectors)]),
            tuple(remains.tolist()),
            None if self.before.alike is None else told,
        )

    def _noise(self, common: Array, largest: float, step: Step) -> tuple[Array, Array]:
        """What a sample adds to the orthonormal directions of its batch's noise, by the common noise [K, D] of rows and
        over their readout values, [r, K]; and these directions in the basis that the noise is written in, [D, r].
        """
        left, sizes, turn = np.linalg.svd(common)
        kept = np.flatnonzero(sizes > ROUNDING * largest)
        rate = step.learning_rate / self.network.width / step.samples
        return (left[:, kept] / sizes[kept]).T * rate, turn[kept].T
