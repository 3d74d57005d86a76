"""What a label tells of the indices of its target, beyond what is known of them already.

Known is kappa, z = Q^(1/2) kappa + L t with L L^T = 1 - Q; t is standard normal. A label that is constant on intervals
has closed forms; labels at nodes are brought together where they are the same, or where noise makes them likely; a
label without noise that varies comes from finitely many places of z, which are found once for all Q.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from generated.runtime.noisy_labels import gather
from giantstep.law.channel import chances
from giantstep.law.directions import rows_of
from giantstep.law.kinds_of_labels import Intervals, Labels
from giantstep.law.labels import label_law, law_of_link
from giantstep.observe.optimal.axes import square_root
from giantstep.observe.optimal.fineness import KAPPA, Fineness, label_fineness
from giantstep.observe.optimal.one import by_nodes, told_by_nodes
from giantstep.observe.optimal.parity import size_of, told_by_parity
from giantstep.observe.optimal.preimages import Places, places_of
from giantstep.observe.optimal.smooth import averages_of, densities, information_of, on_grid
from giantstep.observe.optimal.two import by_two, first_of_two, told_by_pairs
from giantstep.quadrature.gauss import evenly_cut, hermite, normal_nodes, products
from giantstep.spec.errors import NotConverged
from giantstep.spec.expressions import special
from giantstep.spec.link import generic_points, link_values
from giantstep.spec.model import Target

Array = np.ndarray
_REACH, _WIDTH, _NARROWEST, _ORDER = 9.0, 1.5, 0.1, 12  # panels of kappa
_SHARE, _TAILS, _ALL = 1.2, 5.2, 1.0 - 1e-4  # of several directions: step, reach, an overlap that is nearly all
_AFFORDABLE = 20_000  # nodes of several directions; where a trapezoid needs more, fewer ones miss some digits
_AROUND = np.array([-36.0, -18.0, -9.0, -5.0, -2.5, 0.0, 2.5, 5.0, 9.0, 18.0, 36.0])  # and beside a jump, in its width
_LEVELS = 60  # different labels, at most, of one that is constant almost everywhere
_SAME = 1e-11  # of the largest label: two labels that are one
#: Of the trapezoid over a noisy label, in standard deviations of the noise: its step for one index, and for several.
_STEPS, _TAIL = (0.28, 0.5), 7.5
_AT_A_TIME = 1 << 20  # parts of labels
_FOLLOWED = 2  # indices, at most, of a label that varies: of more its averages take too many nodes
_NOTHING = 1e-18  # probability that is left out
_TINY = 1e-280


@dataclass(frozen=True)
class Told:
    """Pairs of kappa and label: their probability [M], E[t|y] [M, m] and E[t t^T|y] - 1 [M, m, m]."""

    weight: Array
    mean: Array
    square: Array

    @property
    def information(self) -> Array:
        """E[E[t|y] E[t|y]^T] [m, m]."""
        found: Array = np.einsum("k,ki,kj->ij", self.weight, self.mean, self.mean)
        return found


def first_fineness(target: Target) -> Fineness:
    """What is tried first."""
    return Fineness() if on_grid(target) else label_fineness(target)


def fine(target: Target) -> Fineness:
    """Nodes that settle thresholds."""
    found = first_fineness(target).more_labels().more_kappa()
    return found.more_labels() if on_grid(target) else found


def first_of(target: Target) -> Fineness:
    """What ``information`` is tried on first."""
    if by_two(target):
        return first_of_two(target)
    return Fineness() if by_nodes(target) or size_of(target) is not None else first_fineness(target)


def fine_along(target: Target) -> Fineness:
    """Nodes that settle where on a path more directions are found: of labels on nodes that follow them already."""
    return first_of(target).more_labels().more_kappa() if by_two(target) else fine(target)


@lru_cache(maxsize=64)
def is_rough(target: Target) -> bool:
    """Whether averages have a few digits, and none close to an overlap of 1: of several indices with jumps or kinks."""
    exact = target.indices == 1 or size_of(target) is not None
    return not (exact or by_two(target) or on_grid(target))


def information(target: Target, known: Array, fineness: Fineness) -> Array:
    """E[E[t|y] E[t|y]^T] [m, m] where the overlap Q [m, m] is known. Raises NotConverged."""
    places = places_of(target)
    if by_nodes(target):
        return np.array([[told_by_nodes(target, float(known[0, 0]), fineness)]])
    if places is not None:
        q = float(known[0, 0])
        flat = sum(float(p @ mean[:, 0] ** 2) for p, mean, _ in _told_flat(target, places, q, fineness))
        return np.array([[places.varying.information(q) + flat]])
    if by_two(target):
        return told_by_pairs(target, known, fineness)
    if size_of(target) is not None and _is_multiple(known):
        return told_by_parity(target, float(known[0, 0]), fineness) * np.eye(target.indices)
    if on_grid(target):
        return information_of(densities(target, known, fineness, moments=False), known)
    return told(target, known, fineness).information


def _is_multiple(known: Array) -> bool:
    """Whether an overlap is a number times the identity."""
    return np.array_equal(known, known[0, 0] * np.eye(len(known)))


def told(target: Target, known: Array, fineness: Fineness) -> Told:
    """What labels tell where the overlap Q [m, m] is known. Raises NotConverged for a label that has no such form."""
    if varies_without_noise(target):
        raise NotConverged(*not_followed(target))
    if on_grid(target):
        return Told(*averages_of(densities(target, known, fineness, moments=True), known))
    places = places_of(target)
    if places is None:
        kappa, weight = kappas(target, known, fineness)
        of_label = label_law if target.channel is None else law_of_link
        law = of_label(target, rows_of(square_root(known)), kappa, finer=fineness.labels)
        parts = list(_told(target, law, kappa, weight))
    else:
        q = float(known[0, 0])
        parts = [places.varying.told(q), *_told_flat(target, places, q, fineness)]
    return Told(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _told_flat(target: Target, places: Places, q: float, fineness: Fineness) -> Iterator[tuple[Array, Array, Array]]:
    """The same of labels that are constant on intervals of the index, beside others that vary."""
    low, high, label = places.flat
    if not len(label):
        return
    kappa, weight = kappas(target, np.array([[q]]), fineness)
    gamma, rest = math.sqrt(q), (1.0 - math.sqrt(q)) * (1.0 + math.sqrt(q))
    width = math.sqrt(rest + target.probit)
    law = Intervals(low, high, np.ones(len(label)), label, np.array([gamma, width, math.sqrt(rest) / width]))
    yield from _same_labels(parts_of(law, kappa), weight)


def kappas(target: Target, known: Array, fineness: Fineness) -> tuple[Array, Array]:
    """Nodes [N, m] and weights [N] of kappa: panels about the jumps of a label of one index, else a trapezoid; one node
    where nothing is known, so that nothing depends on kappa.
    """
    if not known.any():
        return np.zeros((1, target.indices)), np.ones(1)
    if target.indices > 1:
        rule = _trapezoid(known, fineness)
        dear = len(rule[0]) ** target.indices > _AFFORDABLE
        return products([hermite(fineness.kappa) if dear else rule] * target.indices)
    q, breaks = float(known[0, 0]), _breaks(target)
    spread = math.sqrt(1.0 - q + target.probit)  # of z, and of what labels tell of it
    widest = _WIDTH * min(1.0, max(spread, _NARROWEST)) * KAPPA / fineness.kappa
    if not breaks:
        edges = evenly_cut(_REACH, widest, ())
    else:
        width = spread / math.sqrt(q)
        places = np.concatenate([b / math.sqrt(q) + width * _AROUND for b in breaks])
        edges = evenly_cut(_REACH, widest, places.tolist())
    kappa, weight = normal_nodes(edges, _ORDER)
    return kappa[:, None], weight


def _trapezoid(known: Array, fineness: Fineness) -> tuple[Array, Array]:
    """Nodes and weights of one direction: averages over the rest of the indices vary on its spread over that known."""
    largest = min(float(np.linalg.eigvalsh(known)[-1]), _ALL)
    step = _SHARE * math.sqrt(1.0 - largest) * KAPPA / fineness.kappa  # 1 - Q: of the density times such an average
    number = math.ceil(_TAILS / step)
    nodes = np.arange(-number, number + 1) * (_TAILS / number)
    return nodes, _TAILS / number * np.exp(-0.5 * nodes * nodes) / math.sqrt(2.0 * math.pi)


def _breaks(target: Target) -> tuple[float, ...]:
    law = label_law(target, (0.0,), np.zeros(1))
    if isinstance(law, Intervals):
        return tuple(sorted({float(end) for end in (*law.low, *law.high) if math.isfinite(end)}))
    from giantstep.spec.kernels import function_kernel

    return tuple(function_kernel(target.link).BREAKPOINTS)


@dataclass(frozen=True)
class Parts:
    """At nodes [N] of kappa parts [J] of the label: value, probability, E[t; part] and E[t t^T - 1; part]."""

    label: Array
    weight: Array
    mean: Array
    square: Array


def parts_of(law: Labels, kappa: Array) -> Parts:
    """The parts of a label at nodes [N, m] of kappa."""
    if isinstance(law, Intervals):
        gamma, width, correlation = law.channel
        low, high = ((ends - gamma * kappa) / width for ends in (law.low, law.high))
        right = low > 0.0
        share = np.where(right, special.ndtr(-low) - special.ndtr(-high), special.ndtr(high) - special.ndtr(low))
        first, second = _bell(low) - _bell(high), _turned(low) - _turned(high)
        mean, square = law.weight * correlation * first, law.weight * correlation**2 * second
        return Parts(
            np.broadcast_to(law.label, low.shape), law.weight * share, mean[..., None], square[..., None, None]
        )
    t, weight = law.t, law.weight
    square = np.einsum("nj,nja,njb->njab", weight, t, t) + weight[..., None, None] * (law.rest - np.eye(t.shape[2]))
    return Parts(law.label, weight, weight[..., None] * t, square)


def _bell(x: Array) -> Array:
    found: Array = np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
    return found


def _turned(x: Array) -> Array:
    """x times the normal density."""
    found: Array = np.where(np.isfinite(x), x, 0.0) * _bell(x)
    return found


def _told(target: Target, law: Labels, kappa: Array, weight: Array) -> Iterator[tuple[Array, Array, Array]]:
    parts = parts_of(law, kappa)
    if target.channel is not None:
        for chance in chances(target.channel, parts.label, weight[:, None] * parts.weight):
            yield _sum_of(parts, weight, chance)
        return
    if target.noise == 0.0:
        yield from _same_labels(parts, weight)
        return
    step = _STEPS[target.indices > 1]
    each = max(1, _AT_A_TIME // parts.label.shape[1])
    for start in range(0, len(weight), each):
        some = slice(start, start + each)
        few = Parts(parts.label[some], parts.weight[some], parts.mean[some], parts.square[some])
        yield _noisy(few, weight[some], math.sqrt(target.noise), step)


def _same_labels(parts: Parts, weight: Array) -> Iterator[tuple[Array, Array, Array]]:
    """Labels without noise that take few values."""
    size = max(float(np.max(np.abs(parts.label))), 1e-300)
    rounded = np.round(parts.label / (_SAME * size))
    values = np.unique(rounded)
    for value in values:
        yield _sum_of(parts, weight, rounded == value)


def _sum_of(parts: Parts, weight: Array, chance: Array) -> tuple[Array, Array, Array]:
    """All parts of a label together, each with its chance [N, J]; weight [N]: of kappa."""
    share, mean = (parts.weight * chance).sum(axis=1), (parts.mean * chance[..., None]).sum(axis=1)
    square = (parts.square * chance[..., None, None]).sum(axis=1)
    return _conditional(weight * share, weight[:, None] * mean, weight[:, None, None] * square)


@lru_cache(maxsize=64)
def varies_without_noise(target: Target) -> bool:
    """Whether a label of several indices varies and has no noise: the indices that give one label lie on curves."""
    return target.indices > 1 and target.noise == 0.0 and _varies(target)


@lru_cache(maxsize=64)
def has_too_many_indices(target: Target) -> bool:
    """Whether a label varies with three indices or more, and has no grid of few nodes."""
    return target.indices > _FOLLOWED and not on_grid(target) and _varies(target)


def not_followed(target: Target) -> tuple[str, str]:
    """Why the best estimator of a label is not known, at most from how many samples on it finds anything; a hint."""
    if target.indices > _FOLLOWED:
        return (
            f"the label varies with {target.indices} indices: the best estimator of such labels is not computed for "
            f"more than {_FOLLOWED}, as averages take too many nodes",
            "take a link of one index or two, or a product of signs, as sign(z1*z2*z3)",
        )
    return (
        "the label varies and has no noise: it says on which curve the indices lie, and averages along such curves are "
        "not computed",
        "give it noise, as target.noise = 0.01",
    )


def _varies(target: Target) -> bool:
    """Whether a label that is not drawn takes more than a few values."""
    if target.channel is not None:
        return False
    values = link_values(target.link)(generic_points(target.indices))
    levels = np.round(values / (_SAME * max(float(np.max(np.abs(values))), _TINY)))
    return len(np.unique(levels)) > _LEVELS


def most_power(target: Target) -> int:
    """The largest power of 1/sqrt(1 - q) that what labels tell over what is left may have next to q = 1: where labels
    are random they leave something, and no more than jumps tell grows.
    """
    is_random = target.noise > 0.0 or target.probit > 0.0 or target.flips > 0.0 or target.channel is not None
    return 1 if is_random else 2


def _noisy(parts: Parts, weight: Array, spread: float, step: float) -> tuple[Array, Array, Array]:
    """Labels with noise, on a grid: every part adds to the places near it."""
    m = parts.mean.shape[2]
    upper = np.triu_indices(m)
    columns = [parts.weight[..., None], parts.mean, parts.square[..., upper[0], upper[1]]]
    values = np.concatenate(columns, axis=2) * weight[:, None, None]
    near = math.ceil(_TAIL / step)
    likely = values[..., 0] > _NOTHING
    if not likely.any():
        return np.zeros(0), np.zeros((0, m)), np.zeros((0, m, m))
    place = parts.label / (spread * step)
    place = np.where(likely, place - math.floor(place[likely].min()) + near + 1, near + 1.0)
    values[~likely] = 0.0
    out = np.zeros((len(weight), int(place.max()) + near + 2, values.shape[2]))
    gather(place, values, step, near, out)
    share, mean, half = np.split(out.reshape(-1, out.shape[2]), [1, 1 + m], axis=1)
    square = np.empty((len(share), m, m))
    square[:, upper[0], upper[1]] = square[:, upper[1], upper[0]] = half
    return _conditional(share[:, 0], mean, square)


def _conditional(share: Array, mean: Array, square: Array) -> tuple[Array, Array, Array]:
    """Probabilities, and averages given that."""
    likely = share > _TINY
    p: Array = share[likely]
    return p, mean[likely] / p[:, None], square[likely] / p[:, None, None]
