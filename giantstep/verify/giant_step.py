"""What giant steps leave, by definition: averages over samples and initial weights in the quadrature of this folder.

Nothing of the solver's map of a step is used. Rows before the first step have no mean: kappa has no directions then.
Source: docs/theory.md, sections 2 and 12.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from giantstep.spec.model import Model, Network, Step, Target
from giantstep.verify.conditional_law import LabelLaw, neuron_moments
from giantstep.verify.interpreter import NotEvaluable
from giantstep.verify.quadrature import REACH, Nodes, grid_nodes, settled_nodes
from giantstep.verify.smooth_panels import smooth_panels

Array = np.ndarray
_LEVELS = (1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125)  # widths of the panels of a label
_SAMPLE = np.array([-3.1, -1.3, -0.2, 0.4, 0.9, 2.2, 4.0])
_SETTLED = 1e-12
_NOTHING, _ROUNDING = 1e-10, 1e-12  # of the longest mean, and of the bulk rows: directions with less are rounding
_GRIDS = (0.5, 0.35, 0.25, 0.18)
_SHARPEST = 0.02  # turn of features that nodes are gathered for
_NARROW = 0.2  # turns of a label and panels of a link that first panels of kappa may step over
_WIDE = 0.5  # turns that equal steps resolve
_TURNS = np.array([-30.0, -10.0, -3.0, -1.0, 0.0, 1.0, 3.0, 10.0, 30.0])


@dataclass(frozen=True)
class Rows:
    """Means ``loadings`` [K, q] of the rows along orthonormal v_j, overlaps <v_j, theta_i> [q, m], bulk variances [K].

    The first v_j has the largest overlap with the target.
    """

    loadings: Array
    overlaps: Array
    variances: Array

    @property
    def rank(self) -> int:
        """The number q of directions, which may be none."""
        return int(self.loadings.shape[1])

    @property
    def turn(self) -> float:
        """What kappa moves by where features turn about zero, at most one."""
        turns = np.sqrt(self.variances) / np.maximum(np.abs(self.loadings).max(axis=1), 1e-300)
        return float(np.clip(turns.min(), _SHARPEST, 1.0))


@dataclass(frozen=True)
class StepMoments:
    """Averages of a first step: E e, E e^2 and E e t_i of the residual; mu1, E sigma'' and Var sigma' of a neuron."""

    mean: float
    square: float
    linear: Array
    mu1: float
    bend: float
    spread: float


def rows_without_mean(blocks: int, indices: int) -> Rows:
    """Unit rows before any step."""
    return Rows(np.zeros((blocks, 0)), np.zeros((0, indices)), np.ones(blocks))


def along_the_target(loadings: Array, overlaps: Array, variances: Array) -> Rows:
    """Rows along as few directions as their means have, turned so that the first has the largest overlap."""
    _, sizes, basis = np.linalg.svd(loadings, full_matrices=False)
    least = max(_NOTHING * float(sizes.max(initial=0.0)), _ROUNDING * float(np.sqrt(variances.max())))
    kept = basis[sizes > least]
    if not len(kept):
        return Rows(np.zeros((len(loadings), 0)), np.zeros((0, overlaps.shape[1])), variances)
    kept = np.linalg.svd(kept @ overlaps)[0].T @ kept
    return Rows(loadings @ kept.T, kept @ overlaps, variances)


def given_spike(model: Model) -> tuple[Array, Array, Array]:
    """Loadings [K, q], overlaps [q, m] and bulk variances [K] of a spike as it is written."""
    values, spike = np.array(model.network.readout.values), model.spike
    assert spike is not None
    given = np.array(spike.bulk_variance)
    variances = given if given.ndim else 1.0 + values**2 * (float(given) - 1.0)
    loadings = values[:, None] if spike.loadings is None else np.array(spike.loadings)
    overlaps = np.array(spike.alignment, dtype=float).reshape(loadings.shape[1], -1)
    return spike.strength * loadings, overlaps, variances


def rows_after(network: Network, steps: tuple[Step, ...], target: Target) -> Rows:
    """The rows after steps on fresh samples."""
    rows = rows_without_mean(len(network.readout.values), target.indices)
    for step in steps:
        rows = _after_one(network, rows, step, target)
    return rows


def first_step_moments(network: Network, target: Target) -> StepMoments:
    """What a step on untrained rows is made of."""
    before = rows_without_mean(len(network.readout.values), target.indices)
    kappa, read = np.zeros((1, 0)), _Read.of(network, before, target)
    label, (mu0, mu1, bend, square) = read.label(kappa), (f[0, 0] for f in read.neurons(kappa))
    mean = float(read.share @ np.full(len(read.share), mu0))
    e2 = float(label.square[0] - 2.0 * mean * label.mean[0] + mean**2)
    return StepMoments(float(label.mean[0]) - mean, e2, label.linear[:, 0], mu1, bend, float(square - mu1**2))


@dataclass(frozen=True)
class Gained:
    """What the rows of each block gain along the v_j [K, q], along what these leave of the theta_i [K, m] and along the
    noise of the batch [K, r]; their bulk along itself [K], and squared across it [K]. lower [m, m]: theta_i in these.
    """

    along: Array
    across: Array
    common: Array
    drift: Array
    spread: Array
    lower: Array


@dataclass(frozen=True)
class _Label:
    """Moments of the noisy label given kappa, over its nodes: E y, E y^2 [N], E y t_i [m, N]."""

    mean: Array
    square: Array
    linear: Array


@dataclass(frozen=True)
class _Read:
    """A network as a step reads it: u_b pi_b [K], its rows, the law of its labels and the panels they settle on."""

    network: Network
    rows: Rows
    target: Target
    law: LabelLaw
    width: float

    @classmethod
    def of(cls, network: Network, rows: Rows, target: Target) -> _Read:
        """With panels on which the moments of the label settle. Raises NotEvaluable."""
        law = LabelLaw.of(target, rows.overlaps)
        kappa = _SAMPLE[:, None] * np.linspace(1.0, -0.5, rows.rank) if rows.rank else np.zeros((1, 0))
        before: Array | None = None
        for width in _LEVELS:
            after = np.concatenate([*map(np.atleast_2d, law.moments(kappa, width))])
            scale = math.sqrt(float(np.abs(after[1]).max()))
            sizes = np.array([scale, scale**2, *[scale] * target.indices])[:, None] + 1e-300
            if before is not None and np.all(np.abs(after - before) <= _SETTLED * sizes):
                return cls(network, rows, target, law, width)
            before = after
        raise NotEvaluable(f"moments of {target.link} do not settle")

    @property
    def share(self) -> Array:
        readout = self.network.readout
        return np.asarray(np.array(readout.values) * np.array(readout.fractions))

    def label(self, kappa: Array) -> _Label:
        mean, square, linear = self.law.moments(kappa, self.width)
        return _Label(mean, square + self.target.noise, linear)

    def neurons(self, kappa: Array) -> tuple[Array, Array, Array, Array]:
        """mu0, D = E sigma', E sigma'' and E sigma'^2 of every block, each [K, N]."""
        text, biases = self.network.activation, self.network.readout.offsets(self.network.initial_bias)
        shifts = self.rows.loadings @ kappa.T + np.array(biases)[:, None]
        found = [neuron_moments(text, s, float(c)) for s, c in zip(shifts, self.rows.variances, strict=True)]
        mu0, slope, bend, square = np.stack(found, axis=1)
        return mu0, slope, bend, square

    def averaged(self, kappa: Array) -> Array:
        """All functions of kappa whose averages make the step, [F, N]."""
        kappa = kappa.reshape(len(kappa), -1)
        label, (mu0, slope, bend, square) = self.label(kappa), self.neurons(kappa)
        mean = self.share @ mu0
        e = label.mean - mean
        ee = label.square - 2.0 * mean * label.mean + mean**2
        rows = [row for k in kappa.T for row in e * slope * k]
        rows += [row for t in label.linear for row in t * slope]
        rows += [*(e * bend), *(ee * (square - slope**2)), *(np.sqrt(ee) * slope)]
        rows += [row for d in slope for row in ee * d * slope]
        return np.array(rows)

    def sizes(self, size: Array) -> Array:
        """What averages are settled against, [F], by those of absolute values: e D may vanish over the label; a root,
        which has kinks, is not averaged.
        """
        blocks, found = len(self.share), size.copy()
        pairs = len(size) - blocks**2
        root = np.sqrt(size[pairs :: blocks + 1])  # of E e^2 D_b^2
        means = pairs - 2 * blocks
        found[:means] = np.maximum(found[:means], np.tile(root, means // blocks))
        found[means + blocks : pairs] = np.inf
        return found


def gained(network: Network, rows: Rows, step: Step, target: Target) -> Gained:
    """What a step adds to rows, in whitened inputs."""
    read, rate, values = _Read.of(network, rows, target), step.learning_rate / network.width, network.readout.values
    nodes = _nodes_of(read)
    found = nodes.values @ nodes.weight
    blocks, q, m, by = len(values), rows.rank, target.indices, rate * np.array(values)
    along, found = found[: q * blocks].reshape(q, blocks).T, found[q * blocks :]
    across, found = found[: m * blocks].reshape(m, blocks).T, found[m * blocks :]
    bend, spread = found[: 2 * blocks].reshape(2, blocks)
    first = (q + m + 2) * blocks
    noise = np.sqrt(nodes.weight / step.samples) * nodes.values[first : first + blocks]  # not squared, for its digits
    common = np.asarray(np.linalg.qr(noise.T, mode="r")).T
    means = by[:, None] * along, by[:, None] * across, by[:, None] * common
    return Gained(*means, by * bend, by**2 * spread / step.samples, read.law.lower)


def _after_one(network: Network, rows: Rows, step: Step, target: Target) -> Rows:
    gain = gained(network, rows, step, target)
    means = np.concatenate([rows.loadings + gain.along, gain.across, gain.common], axis=1)
    overlaps = np.concatenate([rows.overlaps, gain.lower.T, np.zeros((gain.common.shape[1], target.indices))])
    return along_the_target(means, overlaps, rows.variances * (1.0 + gain.drift) ** 2 + gain.spread)


def _nodes_of(read: _Read) -> Nodes:
    """Nodes of kappa on which the averages of a step have settled. Raises NotEvaluable."""
    if read.rows.rank == 0:
        kappa = np.zeros((1, 0))
        return Nodes(kappa, np.ones(1), read.averaged(kappa), 0.0)
    if read.rows.rank == 1:
        return settled_nodes(read.averaged, turns_of_label(read.law), _SETTLED, read.sizes)
    found = None
    for step in _GRIDS:
        found = grid_nodes(read.averaged, read.rows.rank, step, read.sizes, turns_of_label(read.law, _WIDE))
        if found.error <= 1e-10:
            return found
    raise NotEvaluable(f"averages of a later step have settled to {found.error if found else math.nan:.0e} only")


def turns_of_label(law: LabelLaw, widest: float = math.inf) -> list[float]:
    """Where the label turns along the first direction, and about it; one index, which lies along that direction.

    widest: turns wider than this need no panels of their own.
    """
    if law.overlaps.shape[1] > 1 or abs(law.overlaps[0, 0]) < 1e-6:
        return []
    gamma = float(law.overlaps[0, 0])
    width = float(law.root[0, 0]) / abs(gamma)
    places = [b / gamma for b in law.breakpoints] if width < widest else []
    reach = REACH * abs(gamma)
    narrow = smooth_panels(law.link).ends(_NARROW, -reach, reach) if width < _NARROW else np.empty(0)
    return [*(place + turn * width for place in places for turn in _TURNS), *(narrow / gamma).tolist()]
