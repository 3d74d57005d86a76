"""What a random label tells of its indices where it depends on them smoothly: averages on one grid of the indices.

In the axes of the overlap the law of the indices given what is known of them is a product: an average over them is a
matrix for each index, and the probability of a label is needed at nodes that do not depend on what is known.
What labels tell of t is E[t; y] = sqrt(1 - q) E[dP(y|z)/dz | kappa], by Stein's lemma.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from derive.language.links import link_of
from generated.runtime.noisy_labels import gather
from giantstep.law.channel import likely_labels
from giantstep.observe.optimal.axes import Axes
from giantstep.observe.optimal.blur import blur, grid
from giantstep.observe.optimal.fineness import KAPPA, Fineness, is_smooth
from giantstep.spec.link import link_gradient, link_values
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Target

Array = np.ndarray
_REACH = (8.5, 6.5)  # of one index and of several
_WIDTHS, _WIDEST = (0.9, 1.6), 0.5  # first step of z: over the width of noise and of a channel, in z; and at most
_KAPPA = 0.7  # step of kappa over the width of what is not known
_LABEL, _TAIL = (0.35, 0.42), 7.5  # step of a noisy label, of one index and of several, and its reach, over the noise
_UNLIKELY = 1e-15  # weight of a node that does not count
_MOST = (400, 40_000)  # nodes of one index, and of several together, at first
_PROBES, _MOSTLY = 400, 0.95  # places where slopes are taken, and the part of them that the first step is for
_LEAST = 1e-14  # of the largest density of a label and kappa, below which it is rounding


@dataclass(frozen=True)
class Grid:
    """Axes of a grid of indices, their deviation, and the step in units of that."""

    turn: Rows
    scale: float
    step: float


@dataclass(frozen=True, eq=False)
class Nodes:
    """A grid x [N] of each index; at all M = N^m nodes their probability [M], the link [M] and its slopes [m, M]."""

    x: Array
    weight: Array
    value: Array
    slope: Array
    place: Array


@dataclass(frozen=True, eq=False)
class Density:
    """Densities [Y, K] of labels and nodes kappa [m, K], and what has slopes of P(y|z) in place of it.

    slope [m, Y, K]: of dP/dx_a; moment [m, m, Y, K]: of x_a dP/dx_b, or of no a where it is not asked for. A density
    times cell is a probability.
    """

    chance: Array
    slope: Array
    moment: Array
    kappa: Array
    cell: float
    axes: Axes


@lru_cache(maxsize=64)
def on_grid(target: Target) -> bool:
    """Whether a label is averaged here: it is random, smooth in the indices, and not too steep for few nodes."""
    if not is_smooth(target):
        return False
    m = target.indices
    return (2.0 * _REACH[m > 1] / _first_step(target)) ** m <= _MOST[m > 1]


def densities(target: Target, known: Array, fineness: Fineness, moments: bool) -> Density:
    """Those of such a target at an overlap Q [m, m]."""
    axes, m = Axes.of(known, target.probit), target.indices
    step = _first_step(target) / math.sqrt(2.0) ** fineness.labels
    grid_of = Grid(tuple(map(tuple, axes.turn.tolist())), math.sqrt(1.0 + target.probit), step)
    nodes = _nodes(target.link, grid_of)
    kappa = [_kappas(q, nodes.x, fineness.kappa, _REACH[m > 1]) for q in axes.known]
    blurs = [blur(nodes.x, k, q) for k, q in zip(kappa, axes.known, strict=True)]
    noisy = target.channel is None
    found = _of_noise(target, nodes, moments, blurs) if noisy else _of_drawn(target, grid_of, moments, blurs)
    at = np.stack(np.meshgrid(*kappa, indexing="ij")).reshape(m, -1) if moments else np.zeros((m, 0))
    moment_of = found[m + 1 :].reshape(-1, m, *found.shape[1:])
    return Density(found[0], found[1 : m + 1], moment_of, at, _cell(kappa), axes)


def _fields(nodes: Nodes, moments: bool) -> Array:
    """What multiplies the slope of P in the link: slopes of that, and x_a times them, [F, M]."""
    more = nodes.place[:, None] * nodes.slope if moments else ()
    return np.concatenate([nodes.slope, *more])


def _first_step(target: Target) -> float:
    width = _WIDTHS[1] if target.channel is not None else math.sqrt(target.noise) * _WIDTHS[0]
    return _step_of(target.link, width / math.sqrt(1.0 + target.probit))


@lru_cache(maxsize=64)
def _step_of(link: str, width: float) -> float:
    """The first step of z for a function of the link that varies on a width of it, along any axes."""
    z = np.random.default_rng(7).standard_normal((link_of(link).indices, _PROBES))
    steepness = float(np.quantile(np.linalg.norm(link_gradient(link)(z), axis=0), _MOSTLY))
    return min(_WIDEST, width / max(steepness, 1e-300))


@lru_cache(maxsize=32)
def _nodes(link: str, grid_of: Grid) -> Nodes:
    axes = np.array(grid_of.turn)
    m = len(axes)
    x = grid(grid_of.step, _REACH[m > 1])
    place = np.stack(np.meshgrid(*[x] * m, indexing="ij")).reshape(m, -1)
    weight = np.exp(-0.5 * (place**2).sum(axis=0)) * ((x[1] - x[0]) / math.sqrt(2.0 * math.pi)) ** m
    z = grid_of.scale * axes @ place
    return Nodes(x, weight, link_values(link)(z), grid_of.scale * axes.T @ link_gradient(link)(z), place)


def _kappas(q: float, x: Array, number: int, reach: float) -> Array:
    """Nodes of what is known of an index: on the width of what is not, but no finer than z.

    Their number is a power of the root of 2, so that averages are smooth functions of q but for a few places.
    """
    if q == 0.0:
        return np.zeros(1)
    step = min(1.0, _KAPPA * math.hypot(math.sqrt(1.0 - q), x[1] - x[0]) * KAPPA / number)
    return grid(reach / math.sqrt(2.0) ** math.ceil(2.0 * math.log2(reach / step)), reach)


def _of_drawn(target: Target, grid_of: Grid, moments: bool, blurs: list[Array]) -> Array:
    """The average of P(y|z), and those of the fields times its slope in the link, [1 + F, Y, K]."""
    return _blurred(_of_channel(target, grid_of, moments), blurs)


@lru_cache(maxsize=8)
def _of_channel(target: Target, grid_of: Grid, moments: bool) -> Array:
    """P(y|z) at all nodes, and its slope in the link times the fields, [1 + F, Y, M]."""
    assert target.channel is not None
    channel, nodes = target.channel, _nodes(target.link, grid_of)
    labels = likely_labels(channel, nodes.value, nodes.weight, _UNLIKELY)[:, None]
    chance, slope = channel.probability_of(labels, nodes.value), channel.slope_of(labels, nodes.value)
    return np.concatenate([chance[None], slope * _fields(nodes, moments)[:, None]])


def _blurred(values: Array, blurs: list[Array]) -> Array:
    """Averages of functions [..., M] over all indices, [..., K]."""
    before, first = values.shape[:-1], values.ndim - 1
    found = values.reshape(*before, *[g.shape[1] for g in blurs])
    for g in blurs:  # the first index that is left goes to the end
        found = np.tensordot(found, g, axes=([first], [1]))
    return found.reshape(*before, -1)


def _of_noise(target: Target, nodes: Nodes, moments: bool, blurs: list[Array]) -> Array:
    """The same for Gaussian noise: labels go to a grid while the last index is averaged. There dP/df = -dP/dy."""
    spread, step, last = math.sqrt(target.noise), _LABEL[len(blurs) > 1], len(nodes.x)
    likely, near = nodes.weight > _UNLIKELY, math.ceil(_TAIL / step)
    place = nodes.value / (spread * step)
    place = np.where(likely, place - math.floor(place[likely].min()) + near + 1, near + 1.0).reshape(-1, last)
    columns = np.where(likely, np.concatenate([np.ones((1, len(likely))), _fields(nodes, moments)]), 0.0)
    parts = np.einsum("cnj,kj->njck", columns.reshape(len(columns), -1, last), blurs[-1])
    parts = np.concatenate([likely.reshape(-1, last, 1), parts.reshape(*parts.shape[:2], -1)], axis=2)
    out = np.zeros((len(parts), int(place.max()) + near + 2, parts.shape[2]))
    gather(place, np.ascontiguousarray(parts), step, near, out)
    found = np.moveaxis(out[..., 1:].reshape(*out.shape[:2], len(columns), -1), 2, 0)
    found = found.reshape(len(columns), *[g.shape[1] for g in blurs[:-1]], *found.shape[2:])
    for g in blurs[:-1]:
        found = np.tensordot(found, g, axes=([1], [1]))
    every: Array = np.moveaxis(found, 2, -1).reshape(len(columns), found.shape[1], -1)
    return np.concatenate([every[:1], -_derivative(every[1:]) / (spread * step)])


def _derivative(values: Array) -> Array:
    """Of functions [F, Y, K] on a grid of Y with the step 1, that vanish at its ends."""
    length = values.shape[1]
    frequency = 2.0 * math.pi * np.fft.rfftfreq(length)[:, None]
    return np.fft.irfft(1j * frequency * np.fft.rfft(values, axis=1), length, axis=1)


def averages_of(density: Density, known: Array) -> tuple[Array, Array, Array]:
    """Probabilities [P] of pairs of label and kappa, E[t|y] [P, m] and E[t t^T|y] - 1 [P, m, m], 0 without moments."""
    likely = density.chance > _LEAST * density.chance.max()
    chance, slope, m = density.chance[likely], density.slope[:, likely], len(known)
    axes, square = density.axes, np.zeros((len(chance), m, m))
    mean = (axes.share * axes.spread)[:, None] * slope / chance
    if len(density.moment):
        at = np.broadcast_to(density.kappa[:, None, :], (m, *density.chance.shape))[:, likely]
        own = density.moment[:, :, likely] - np.sqrt(axes.known)[:, None, None] * at[:, None] * slope
        factor = np.outer(axes.share / axes.spread, axes.share * axes.spread)
        square = np.moveaxis(factor[:, :, None] * own / chance, 2, 0)
        square = 0.5 * (square + square.swapaxes(1, 2))
    to_t = axes.to_t(known)
    return chance * density.cell, mean.T @ to_t.T, to_t @ square @ to_t.T


def information_of(density: Density, known: Array) -> Array:
    """E[E[t|y] E[t|y]^T] [m, m]."""
    likely = density.chance > _LEAST * density.chance.max()
    root = density.slope[:, likely] / np.sqrt(density.chance[likely])
    turned = density.axes.to_t(known) * (density.axes.share * density.axes.spread)
    found: Array = density.cell * turned @ (root @ root.T) @ turned.T
    return found


def smooth_error(target: Target, known: Array, fineness: Fineness) -> float:
    """E Var(f_* | kappa) of the mean label f_* of such a target, for the overlap Q [m, m].

    A difference of two averages: negative where nodes are too few, and where rounding is all that is left.
    """
    axes, m, link = Axes.of(known), len(known), target.mean_link
    step = _step_of(link, _WIDTHS[1]) / math.sqrt(2.0) ** fineness.labels
    nodes = _nodes(link, Grid(tuple(map(tuple, axes.turn.tolist())), 1.0, step))
    kappa = [_kappas(q, nodes.x, fineness.kappa, _REACH[m > 1]) for q in axes.known]
    blurs = [blur(nodes.x, k, q) for k, q in zip(kappa, axes.known, strict=True)]
    chance, mean = _blurred(np.stack([np.ones(len(nodes.value)), nodes.value]), blurs)
    likely = chance > _LEAST * chance.max()
    explained = _cell(kappa) * float(np.sum(mean[likely] ** 2 / chance[likely]))
    return float(nodes.weight @ nodes.value**2) - explained


def _cell(kappa: list[Array]) -> float:
    return math.prod(float(k[1] - k[0]) if len(k) > 1 else math.sqrt(2.0 * math.pi) for k in kappa)
