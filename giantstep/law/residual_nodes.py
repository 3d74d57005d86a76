"""The law of the residual of the gradient step at a few nodes, for targets of one index and of several."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.special import roots_hermitenorm

from giantstep.law.directions import NoisyIndices, noisy_indices
from giantstep.law.multi_index_labels import has_kinks, nodes_given_kappa
from giantstep.law.residual import ORDER, Panels, ResidualLaw, on_few_nodes, residual_law
from giantstep.quadrature.gauss import products
from giantstep.spec.errors import NotConverged
from giantstep.spec.link import link_values
from giantstep.spec.model import Target

Array = np.ndarray
_LEVELS, _SETTLED = 9, 1e-12
_OF_SEVERAL, _NEARLY = 14, 1e-10  # the same for several indices, where nodes without weight are left out by millions
_APART = (0.3, 1.0, 3.0)  # distances of poles from the law's mean, in standard deviations
_FIRST, _GROWTH, _REACH = 24, 1.5, 8.5  # points along each index of a link without kinks; where they end
_MOST, _OF_THREE = 25_000_000, 600_000  # points of two indices together; of more, whose rest is slow and seldom settles
_PANELS = 64  # in e, that many points are gathered on
_CHUNK, _NEGLIGIBLE = 100_000, 1e-18  # points at a time; weight, against the largest, of points left out


@lru_cache(maxsize=64)
def residual_nodes(target: Target, mean: float, count: int) -> ResidualLaw:
    """The law of a sample's residual at ``count`` nodes or fewer. Raises NotConverged.

    mean: the network's output at initialisation. Every average is one of a function of the residual that is analytic
    about the axis.
    """
    clean = _settled(replace(target, noise=0.0), mean)
    if target.noise == 0.0:
        return on_few_nodes(clean, count)
    some, (noise, probability) = on_few_nodes(clean, 2 * count), roots_hermitenorm(count)
    e = np.add.outer(some.e, math.sqrt(target.noise) * noise).ravel()
    return on_few_nodes(some.at(e, np.kron(some.rows, probability / probability.sum())), count)


@dataclass(frozen=True)
class _Scale:
    """Where a law lies and how wide it is."""

    center: float
    spread: float

    @staticmethod
    def of(law: ResidualLaw) -> _Scale:
        """Its mean and deviation."""
        center = float(law.weight @ law.e)
        return _Scale(center, math.sqrt(max(law.square - center**2, 1e-300)))

    def at_poles(self, law: ResidualLaw) -> Array:
        """Averages of functions with poles near the axis."""
        poles = self.center + 1j * self.spread * np.array(_APART)
        return np.asarray(law.rows @ (poles.imag / (law.e[:, None] - poles)))


@lru_cache(maxsize=16)
def _settled(target: Target, mean: float) -> ResidualLaw:
    """The law of a label without noise at as many nodes as its averages need."""
    scale: _Scale | None = None
    previous: Array | None = None
    levels, settled = (_LEVELS, _SETTLED) if target.indices == 1 else (_OF_SEVERAL, _NEARLY)
    for level in range(levels):
        pieces = _pieces(target, mean, level)
        if pieces is None:
            break
        if scale is None:
            scale = _Scale.of(_together(list(pieces())))
        found = np.sum([scale.at_poles(piece) for piece in pieces()], axis=0)
        if previous is not None and np.max(np.abs(found - previous)) < settled:
            return _gathered(pieces, scale) if target.indices > 1 else next(pieces())
        previous = found
    smooth = target.indices > 1 and not has_kinks(target.link)
    softer = "take a link that varies less" if smooth else "soften the link"
    raise NotConverged(
        f"the law of the step's residual does not settle for the link {target.link!r}",
        f'{softer}{", take fewer indices" * (target.indices > 2)}, or use step.bulk = "isotropic"',
    )


def _pieces(target: Target, mean: float, level: int) -> Callable[[], Iterator[ResidualLaw]] | None:
    """The law at a level of refinement, in pieces; None where it has too many points."""
    if target.indices == 1:
        return lambda: iter([residual_law(target, mean, level)])
    noisy = noisy_indices(np.zeros((1, target.indices)), target.probit)
    points = _points(target, noisy.lower, level)
    return None if points is None else lambda: (_at_points(target, noisy, mean, *some) for some in points())


def _at_points(target: Target, noisy: NoisyIndices, mean: float, weight: Array, t: Array) -> ResidualLaw:
    """A piece of the law, at some of the points."""
    label = link_values(target.link)(noisy.lower @ t.T)
    along = noisy.carry @ t.T
    both = np.einsum("in,jn->ijn", along, along) + noisy.rest[:, :, None] * bool(target.probit)
    law = ResidualLaw(label, weight, weight * along, weight * both).drawn(target)
    return law.at(law.e - mean, law.rows)


def _points(target: Target, lower: Array, level: int) -> Callable[[], Iterator[tuple[Array, Array]]] | None:
    """Pieces of weights [N] and standard normal points t [N, m] for indices z = L t; None where there are too many."""
    m = target.indices
    if has_kinks(target.link):
        none = np.zeros((1, m))
        try:
            weight, t = nodes_given_kappa(target.link, none, lower, np.zeros((1, 1)), level, False, "poles")
        except NotConverged:
            return None
        weight, t = weight[0] / weight[0].sum(), t[0]
        cuts = range(_CHUNK, len(weight), _CHUNK)
        return lambda: zip(np.split(weight, cuts), np.split(t, cuts), strict=True)
    count = int(_FIRST * _GROWTH**level)
    return (lambda: _grid(m, count)) if count**m <= (_MOST if m == 2 else _OF_THREE) else None


def _grid(m: int, count: int) -> Iterator[tuple[Array, Array]]:
    """Of the trapezoidal rule along each index, which is best for what is analytic about the axis: some planes."""
    points = np.linspace(-_REACH, _REACH, count)
    density = np.exp(-0.5 * points**2)
    density /= density.sum()
    many = max(1, _CHUNK // count ** (m - 1))
    for start in range(0, count, many):
        planes = slice(start, start + many)
        t, weight = products([(points[planes], density[planes]), *[(points, density)] * (m - 1)])
        kept = weight > _NEGLIGIBLE * density[count // 2] ** m
        yield weight[kept], t[kept]


def _together(pieces: list[ResidualLaw]) -> ResidualLaw:
    """The law that pieces make up."""
    rows = np.concatenate([piece.rows for piece in pieces], axis=1)
    return pieces[0].at(np.concatenate([piece.e for piece in pieces]), rows)


def _gathered(pieces: Callable[[], Iterator[ResidualLaw]], scale: _Scale) -> ResidualLaw:
    """Many points brought to panels in asinh(e) by polynomial interpolation: averages are of what these resolve."""
    few, ends = _PANELS * ORDER, [(piece.e.min(), piece.e.max(), len(piece.e)) for piece in pieces() if len(piece.e)]
    low, high, counts = np.array(ends).T
    if counts.sum() <= few:
        return _together(list(pieces()))
    u = np.arcsinh((np.array([low.min(), high.max()]) - scale.center) / scale.spread)
    panels = Panels(float(u[0]), float(u[1]), _PANELS)
    rows = [panels.gathered(np.arcsinh((piece.e - scale.center) / scale.spread), piece.rows) for piece in pieces()]
    return next(pieces()).at(scale.center + scale.spread * np.sinh(panels.nodes), np.sum(rows, axis=0))
