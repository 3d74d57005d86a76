"""The quadrature of the checks: Gauss-Legendre panels that are halved until they agree; no node is the solver's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

Array = np.ndarray
Integrand = Callable[[Array], Array]

REACH = 9.5  # standard deviations: the Gaussian weight beyond is 2e-21
_ORDER = 14
_MOST, _MOST_PANELS = 60, 1500  # halvings of a panel, panels: what needs more is rounding, or out of reach
_BATCH = 200  # nodes evaluated together, of which each may have thousands of its own
CHANCE = 6.0  # standard errors that chance is allowed
END = 1.0 - 1e-7  # of a panel (-1, 1), where what turns before the first node is looked for


@lru_cache(maxsize=8)
def legendre(order: int) -> tuple[Array, Array]:
    """Places and weights on (-1, 1), by the eigenvalues of the Jacobi matrix (Golub and Welsch 1969)."""
    k = np.arange(1, order)
    values, vectors = np.linalg.eigh(
        np.diag(k / np.sqrt(4.0 * k * k - 1.0), 1) + np.diag(k / np.sqrt(4.0 * k * k - 1.0), -1)
    )
    return values, 2.0 * vectors[0] ** 2


@lru_cache(maxsize=16)
def hermite(order: int) -> tuple[Array, Array]:
    """Places and weights of the Gauss rule of a standard normal variable, in the same way."""
    root = np.sqrt(np.arange(1.0, order))
    values, vectors = np.linalg.eigh(np.diag(root, 1) + np.diag(root, -1))
    return values, vectors[0] ** 2


def density(x: Array) -> Array:
    """Of the standard normal."""
    return np.asarray(np.exp(-0.5 * x * x) / np.sqrt(2.0 * np.pi))


@lru_cache(maxsize=8)
def to_ends(order: int) -> tuple[Array, Array]:
    """Values at both ends of a panel from those at its nodes, [2, order], and the share of it beyond the outermost
    node: what turns there is seen by no node, however the panel is halved.
    """
    x, _ = legendre(order)
    ends = np.polynomial.legendre.legvander(np.array([-END, END]), order - 1)
    values = np.asarray(ends @ np.linalg.inv(np.polynomial.legendre.legvander(x, order - 1)))
    return values, 0.5 * (1.0 - x[-1])


def panels(edges: Array, order: int = _ORDER) -> tuple[Array, Array]:
    """Places and weights [..., panels*order] of Gauss-Legendre between consecutive edges [..., panels + 1]."""
    x, w = legendre(order)
    half = 0.5 * np.diff(edges, axis=-1)[..., None]
    middle = 0.5 * (edges[..., 1:] + edges[..., :-1])[..., None]
    shape = (*edges.shape[:-1], -1)
    return (middle + half * x).reshape(shape), np.broadcast_to(half * w, (*half.shape[:-1], order)).reshape(shape)


def normal_nodes(cuts: Array, width: float = 1.0) -> tuple[Array, Array]:
    """Places and weights [N, J] of the standard normal on panels no wider than ``width``, with edges at cuts [N, C]."""
    count = round(2 * REACH / width)
    even = np.linspace(-REACH, REACH, count + 1)
    edges = np.concatenate([np.broadcast_to(even, (len(cuts), count + 1)), np.clip(cuts, -REACH, REACH)], axis=1)
    places, weights = panels(np.sort(edges, axis=1))
    return places, weights * density(places)


@dataclass(frozen=True)
class Nodes:
    """Nodes of kappa [N] or [N, q] with their Gaussian weights, on which every average asked for has settled.

    values [F, N]: the functions there; error: of the integrals, the worst relative to the integral of |f|. drawn
    [F, N]: half of what two draws of a rule differ by, which have the mean ``values``; None of one without chance.
    """

    kappa: Array
    weight: Array
    values: Array
    error: float
    drawn: Array | None = None


def settled_nodes(
    function: Integrand, cuts: Sequence[float], tolerance: float = 1e-12, sizes: Callable[[Array], Array] | None = None
) -> Nodes:
    """Nodes for Gaussian averages of all components of ``function`` (kappa [N] -> [F, N]).

    Panels of two units that also end at the cuts are halved until both halves give what the whole gave, and what the
    function is at their ends, relative to averages of absolute values, or to ``sizes`` of these.
    """
    edges = np.unique(np.clip([*cuts, *np.linspace(-REACH, REACH, 11)], -REACH, REACH))
    low, high = edges[:-1], edges[1:]
    parents, found = _integrals(function, low, high), []
    size = parents[3].sum(axis=1)
    size = np.maximum(size if sizes is None else sizes(size), 1e-300)
    whole, error, panels_held = parents[2], np.zeros(len(size)), 0
    for _ in range(_MOST):
        middle = 0.5 * (low + high)
        left, right = np.stack([low, middle], axis=1).ravel(), np.stack([middle, high], axis=1).ravel()
        children = _integrals(function, left, right)
        halves = children[2].reshape(len(size), -1, 2)
        beyond = _beyond(function, left, right, children).reshape(halves.shape)
        missed = np.abs(halves.sum(axis=2) - whole) + beyond.sum(axis=2)
        done = np.all(missed <= tolerance * size[:, None] / 20.0, axis=0) | (high - low < 1e-14)
        panels_held += 2 * int(done.sum())
        done |= panels_held + 4 * int((~done).sum()) > _MOST_PANELS
        error += missed[:, done].sum(axis=1)
        kept = np.repeat(done, 2)
        found.append((_of(children[0], kept), _of(children[1], kept), _of(children[4], kept)))
        low, high, whole = left[~kept], right[~kept], children[2][:, ~kept]
        if not len(low):
            break
    kappa, weight = (np.concatenate([part[i] for part in found]) for i in (0, 1))
    return Nodes(kappa, weight, np.concatenate([part[2] for part in found], axis=1), float(np.max(error / size)))


def _beyond(function: Integrand, low: Array, high: Array, found: tuple[Array, ...]) -> Array:
    """What integrals [F, P] miss of what a function is at the ends of its panels, beside what its nodes say there."""
    to, share = to_ends(_ORDER)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    ends = np.stack([middle - END * half, middle + END * half], axis=1)
    values = _values(function, ends.ravel()).reshape(-1, *ends.shape)
    nodes = found[4].reshape(len(values), len(low), _ORDER)
    weight = share * (high - low)[:, None] * density(ends)
    return np.asarray((np.abs(values - nodes @ to.T) * weight).sum(axis=2))


def _values(function: Integrand, places: Array) -> Array:
    return np.concatenate([function(places[i : i + _BATCH]) for i in range(0, len(places), _BATCH)], axis=1)


def _of(per_node: Array, panels_kept: Array) -> Array:
    return per_node[..., np.repeat(panels_kept, _ORDER)]


def _integrals(function: Integrand, low: Array, high: Array) -> tuple[Array, Array, Array, Array, Array]:
    """(nodes, weights, integrals [F, P], integrals of the absolute values, values [F, N]) of the panels."""
    x, w = legendre(_ORDER)
    half = 0.5 * (high - low)[:, None]
    places = (0.5 * (high + low)[:, None] + half * x).ravel()
    weight = (half * w).ravel() * density(places)
    values = _values(function, places)
    parts = (values * weight).reshape(len(values), len(low), _ORDER)
    return places, weight, parts.sum(axis=2), np.abs(parts).sum(axis=2), values


def drawn_nodes(
    functions: tuple[Integrand, Integrand], rank: int, step: float, sizes: Callable[[Array], Array]
) -> Nodes:
    """Nodes of a trapezoidal rule along each direction for functions with an error of chance, two draws of them.

    The error is what rules shifted by half differ by, beyond what chance explains.
    """
    axes = [_trapezoids(step, shift, rank, 2.0, ()) for shift in (0.0, 0.5)]
    draws = [[_values(function, kappa) for function in functions] for kappa, _ in axes]
    half = [0.5 * weight for _, weight in axes]
    means, drawn = ([0.5 * (one + side * other) for one, other in draws] for side in (1.0, -1.0))
    size = np.abs(means[0]) @ half[0] + np.abs(means[1]) @ half[1]
    size = np.maximum(sizes(size), 1e-300)
    chance = np.sqrt(sum(each**2 @ weight**2 for each, weight in zip(drawn, half, strict=True)))
    differ = 2.0 * np.abs(means[0] @ half[0] - means[1] @ half[1])
    error = float(np.max(np.maximum(differ - 2.0 * CHANCE * chance, 0.0) / size))
    whole = [np.concatenate(parts, axis=-1) for parts in (half, means, drawn)]
    return Nodes(np.concatenate([kappa for kappa, _ in axes]), whole[0], whole[1], error, whole[2])


def _trapezoids(step: float, shift: float, rank: int, width: float, cuts: Sequence[float]) -> tuple[Array, Array]:
    """Nodes of kappa and weights, of panels along the first direction where there are cuts.

    Axes are shifted by different parts: moved alike, nodes would lie about a kink across a diagonal as before.
    """
    whole = np.arange(-int(8.0 / step), int(8.0 / step) + 1)
    lines = [(whole + shift / (1 + axis)) * step for axis in range(rank)]
    axes = [(line, step * density(line)) for line in lines]
    if len(cuts):
        axes[0] = tuple(part[0] for part in normal_nodes(np.array([cuts]), width))
    kappa = np.stack([axis.ravel() for axis in np.meshgrid(*(x for x, _ in axes), indexing="ij")], axis=1)
    weight = np.prod(np.stack(np.meshgrid(*(w for _, w in axes), indexing="ij")), axis=0).ravel()
    heavy = weight > 1e-19
    return kappa[heavy, 0] if rank == 1 else kappa[heavy], weight[heavy]


def stretched_nodes(
    function: Integrand, scale: float, steps: tuple[float, float], tolerance: float, sizes: Callable[[Array], Array]
) -> Nodes:
    """Nodes of a trapezoidal rule in x, kappa = scale sinh x, whose step is halved from the first to the last one: what
    turns about zero within the scale is as smooth in x as what turns slowly.

    The error is what the last halving changed, times its ratio to the change before: no less than is left, as changes
    fall by a factor (of kinks) or faster (of what is smooth).
    """
    step, last = steps
    kappa, weight = _stretched(scale, step, 0.0)
    values, error, moved = _values(function, kappa), np.inf, np.inf
    while error > tolerance and step > 1.5 * last:
        before = values @ weight
        others, beside = _stretched(scale, step, 0.5)
        kappa, weight = np.concatenate([kappa, others]), 0.5 * np.concatenate([weight, beside])
        values = np.concatenate([values, _values(function, others)], axis=1)
        size = np.maximum(sizes(np.abs(values) @ weight), 1e-300)
        change = float(np.max(np.abs(values @ weight - before) / size))
        error = change * min(change / moved, 1.0) if np.isfinite(moved) else change
        moved, step = change, 0.5 * step
    return Nodes(kappa, weight, values, error)


def _stretched(scale: float, step: float, shift: float) -> tuple[Array, Array]:
    count = int(np.arcsinh(REACH / scale) / step)
    x = (np.arange(-count - 1, count + 1) + shift) * step
    kappa = scale * np.sinh(x)
    weight = step * scale * np.cosh(x) * density(kappa)
    heavy = weight > 1e-19
    return kappa[heavy], weight[heavy]


def grid_nodes(
    function: Integrand,
    rank: int,
    step: float,
    sizes: Callable[[Array], Array] | None = None,
    cuts: Sequence[float] = (),
) -> Nodes:
    """Nodes of a trapezoidal rule along each of several directions, of panels along the first where there are cuts.

    The error is what a shifted rule, by half along the first axis, with narrower panels, gives.
    """
    found = []
    for shift, width in ((0.0, 2.0), (0.5, 1.5)):
        kappa, weight = _trapezoids(step, shift, rank, width, cuts)
        values = _values(function, kappa)
        found.append((kappa, weight, values))
    (kappa, weight, values), other = found
    size = np.abs(values) @ weight
    size = np.maximum(size if sizes is None else sizes(size), 1e-300)
    return Nodes(kappa, weight, values, float(np.max(np.abs(values @ weight - other[2] @ other[1]) / size)))
