"""Features and labels given kappa by definition: averages over a neuron's weights, and the law of the label.

Everything is integrated from the model's own expressions with the quadrature of this folder. Neither the tables nor
the kernels of the solver are used.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import sympy as sp

from derive.labels import index_function
from derive.scalar import scalar_function
from giantstep.spec.model import Target
from giantstep.spec.target_channel import Channel
from giantstep.verify.drawn_labels import drawn
from giantstep.verify.interpreter import NotEvaluable
from giantstep.verify.kinks import kinks_of, nested_nodes
from giantstep.verify.lambdified import Function, numpy_of, without_overflow
from giantstep.verify.link_directions import known_directions
from giantstep.verify.quadrature import REACH, density, normal_nodes
from giantstep.verify.smooth_panels import smooth_panels

Array = np.ndarray
_PLACES = 20_000  # that show the size of a drawn label

_WIDTHS = (1.0, 0.5, 0.25, 0.125, 0.0625)
_SETTLED = 3e-13
_NARROW = 0.5  # width of panels that others resolve anyway
_LIGHT = 1e-20  # a weight of a node that no label makes up for
_ROUNDING = 32.0 * float(np.finfo(float).eps)  # of a sum over nodes, relative to the root of E sigma^2


@lru_cache(maxsize=64)
def _scalar(text: str) -> tuple[Function, tuple[float, ...]]:
    found = scalar_function(text)
    return numpy_of(without_overflow(found.expr), (found.z,)), tuple(float(b) for b in found.breakpoints)


@lru_cache(maxsize=64)
def turns_of(text: str) -> Array:
    """Places that an activation turns about, kinks and jumps among them."""
    return np.concatenate([_scalar(text)[1], smooth_panels(text).centres()])


def _narrow(text: str, shift: Array, root: float) -> Array:
    """Ends of panels on which a function is smooth, of those that are narrow beside a deviation, about some shifts."""
    reach = REACH * root
    return smooth_panels(text).ends(_NARROW * root, float(shift.min()) - reach, float(shift.max()) + reach)


@lru_cache(maxsize=64)
def _slope(text: str) -> Function:
    """The derivative of an activation between its kinks."""
    found = scalar_function(text)
    pieces = [numpy_of(sp.diff(without_overflow(piece), found.z), (found.z,)) for _, _, piece in found.pieces]
    edges = np.array([float(b) for b in found.breakpoints])

    def slope(x: Array) -> Array:
        return np.asarray(np.choose(np.searchsorted(edges, x), [piece(x) for piece in pieces]))

    return slope if len(pieces) > 1 else pieces[0]


@lru_cache(maxsize=64)
def link_function(text: str) -> Function:
    """The link as a function of its indices."""
    found = index_function(text)
    return numpy_of(without_overflow(found.expr), found.variables)


@lru_cache(maxsize=64)
def link_is_constant(text: str) -> bool:
    """Whether a link is constant between its kinks."""
    found = index_function(text)
    jumping = found.expr.replace(sp.sign, lambda _: sp.Integer(1)).replace(sp.Heaviside, lambda *_: sp.Integer(1))
    return not jumping.free_symbols


def feature_moments(text: str, shift: Array, variance: float) -> Array:
    """mu0, mu1 and mu2^2 of sigma(shift + sqrt(variance) g) over g, [3, N]. Source: THEORY section 3."""
    if variance <= 0.0:
        zero = np.zeros_like(shift)
        return np.array([_scalar(text)[0](shift), zero, zero])
    width = _width(text, _places(shift), variance)
    found = _moments(text, shift, variance, width)
    size = np.sqrt(found[0] ** 2 + found[1] ** 2 + found[2])
    found[2][found[2] <= (_ROUNDING * size) ** 2] = 0.0  # as of a linear activation
    for moment in found[:2]:
        if np.all(np.abs(moment) <= _ROUNDING * size):  # as mu0 of He_2 without a spike, whose m has no effect
            moment[:] = 0.0
    return found


@lru_cache(maxsize=256)
def _width(text: str, shifts: tuple[float, ...], variance: float) -> float:
    """The widest panels whose moments have settled at a few shifts. Raises NotEvaluable."""
    sample = np.array(shifts)
    before = _moments(text, sample, variance, _WIDTHS[0])
    for width in _WIDTHS[1:]:
        after = _moments(text, sample, variance, width)
        size = np.sqrt(np.abs(after[0] ** 2 + after[1] ** 2 + after[2]).max())
        if np.all(np.abs(after - before) <= _SETTLED * np.array([[size], [size], [size**2]])):
            return width
        before = after
    raise NotEvaluable(f"the moments of {text} do not settle on panels of width {_WIDTHS[-1]}")


def _moments(text: str, shift: Array, variance: float, width: float) -> Array:
    g, weight, values = _at_nodes(text, shift, variance, width)
    first = (weight * values).sum(axis=1)
    linear = (weight * g * values).sum(axis=1)
    rest = values - first[:, None] - linear[:, None] * g
    return np.array([first, linear, (weight * rest * rest).sum(axis=1)])


def _at_nodes(text: str, shift: Array, variance: float, width: float) -> tuple[Array, Array, Array]:
    """(g, weights, sigma(shift + sqrt(variance) g)) [N, nodes], on panels of a width between the breakpoints."""
    function, breaks = _scalar(text)
    root = math.sqrt(variance)
    places = np.concatenate([np.array(breaks), _narrow(text, shift, root)])
    g, weight = normal_nodes((places[None] - shift[:, None]) / root, width)
    return g, weight, function(shift[:, None] + root * g)


def kurtosis(text: str, shift: float, variance: float) -> float:
    """E x^4/(E x^2)^2 of x = sigma(shift + sqrt(variance) g) about its mean, as far as g has weight."""
    _, weight, values = _at_nodes(text, np.array([shift]), variance, _WIDTHS[1])
    square = (values - (weight * values).sum()) ** 2
    return float((weight * square**2).sum() / (weight * square).sum() ** 2)


def norm_feature(text: str, shift: Array, variance: float) -> Array:
    """mu_c = c dmu0/dc = E[(g^2 - 1) sigma(shift + sqrt(c) g)]/2 of one block, [N]. Source: THEORY section 5."""
    return np.asarray(0.5 * variance * neuron_moments(text, shift, variance)[2])


def neuron_moments(text: str, shift: Array, variance: float) -> Array:
    """E sigma, E sigma', E sigma'' and E sigma'^2 at shift + sqrt(variance) g, over g, [4, N].

    The second derivative is that of E sigma, in which kinks count. Source: THEORY sections 2 and 5.
    """
    width, root = _width(text, _places(shift), variance), math.sqrt(variance)
    g, weight, values = _at_nodes(text, shift, variance, width)
    slopes = _slope(text)(shift[:, None] + root * g)
    rows = (values, g * values / root, (g * g - 1.0) * values / variance, slopes**2)
    return np.array([(weight * row).sum(axis=1) for row in rows])


def _places(shift: Array) -> tuple[float, ...]:
    """A few shifts where the panels are looked at."""
    return tuple(np.quantile(shift, (0.02, 0.2, 0.5, 0.7, 0.9)))


@dataclass(frozen=True)
class LabelLaw:
    """z' = gamma^T kappa + L t + sqrt(probit) n, y = flip link(z') or drawn by a channel: what it tells about t in R^m.

    Of z' the link knows u = A z', in r directions. With u = centre + root s, s standard normal, t is Gaussian given s:
    of mean carry s and covariance rest. draw: which random numbers a rule takes that draws its places.
    """

    text: str
    overlaps: Array  # [q, m]
    probit: float
    flips: float
    channel: Channel | None = None
    draw: int = 0

    @classmethod
    def of(cls, target: Target, overlaps: Array) -> LabelLaw:
        """That of a target."""
        return cls(target.link, overlaps, target.probit, target.flips, target.channel)

    def clean(self, signs: bool) -> Target:
        """The target that errors are measured against."""
        return Target(self.text, channel=self.channel).clean(signs)

    def drawn(self, label: Array, weight: Array) -> Iterator[tuple[Array, Array]]:
        """Labels and weights of all that flips or a channel make of labels without them."""
        if self.channel is not None:
            of_channel = drawn(self.channel, label, weight)
            yield from ((np.full_like(label, y), weight * probability) for y, probability in of_channel)
            return
        yield label, (1.0 - self.flips) * weight
        if self.flips:
            yield -label, self.flips * weight

    @cached_property
    def lower(self) -> Array:
        """L, lower triangular, L L^T = 1 - gamma^T gamma."""
        return rest_of_target(self.overlaps)

    @cached_property
    def link(self) -> str:
        """The link as a function of u."""
        return known_directions(self.text)[0]

    @property
    def directions(self) -> Array:
        """A, [r, m]."""
        return known_directions(self.text)[1]

    @cached_property
    def root(self) -> Array:
        """Lower triangular, its square is the covariance of u given kappa."""
        whole = rest_of_target(self.overlaps, self.probit)
        if len(self.directions) == len(whole):
            return whole
        return lower_root(self.directions @ whole @ whole.T @ self.directions.T)

    @cached_property
    def carry(self) -> Array:
        """E[t | s] = carry s, [m, r]."""
        return np.asarray(self.lower.T @ self.directions.T @ np.linalg.pinv(self.root).T)

    @cached_property
    def rest(self) -> Array:
        """Covariance of t given s."""
        return np.asarray(np.eye(len(self.carry)) - self.carry @ self.carry.T)

    def centre(self, kappa: Array) -> Array:
        """A gamma^T kappa, [N, r]."""
        return np.asarray(kappa.reshape(len(kappa), -1) @ self.overlaps @ self.directions.T)

    @property
    def is_drawn(self) -> bool:
        """Whether places of a label with kinks are too many for a rule in all directions that it knows."""
        return len(self.directions) > 2 and kinks_of(self.link) is not None

    def steps(self) -> tuple[tuple[float, float, float], ...] | None:
        """(low, high, value) of a link that is constant on intervals of one index; None for any other."""
        if self.overlaps.shape[1] > 1:
            return None
        pieces = scalar_function(self.text).pieces
        if any(e.free_symbols for _, _, e in pieces):
            return None
        return tuple((float(low), float(high), float(value)) for low, high, value in pieces)

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Kinks and jumps of a link of one index."""
        return _scalar(self.link)[1] if len(self.directions) == 1 else ()

    def label_at(self, kappa: Array, s: Array) -> Array:
        """The label without flips at places s, for one index and one kappa."""
        centre = float(self.centre(np.atleast_1d(kappa)[None])[0, 0])
        return link_function(self.link)(centre + float(self.root[0, 0]) * s)

    def moments(self, kappa: Array, width: float) -> tuple[Array, Array, Array]:
        """E y [N], E y^2 [N] and E y t [m, N] of the label with its flips or channel."""
        s, weight, label = self.nodes(kappa, width)
        kept = [(share, mine, share * mine) for mine, share in self.drawn(label, np.ascontiguousarray(weight))]
        first = np.sum([each[2] for each in kept], axis=0)
        square = np.sum([(weighted * mine).sum(axis=1) for _, mine, weighted in kept], axis=0)
        return first.sum(axis=1), square, self.carry @ np.einsum("nj,njk->kn", first, s)

    def nodes(self, kappa: Array, width: float, more: Array | None = None) -> tuple[Array, Array, Array]:
        """s [N, J, r], weights [N, J] and labels [N, J] without flips; ``more``: places in s [N, C] to cut at.

        Raises NotEvaluable for links of more than two indices with kinks.
        """
        function, centre, r = link_function(self.link), self.centre(kappa), len(self.directions)
        if r == 1:
            scale = float(self.root[0, 0]) or 1e-300
            breaks = np.concatenate([self.breakpoints, _narrow(self.link, centre, scale)])
            cuts = np.clip((breaks[None] - centre) / scale, -1e3, 1e3) if len(breaks) else np.empty((len(kappa), 0))
            if more is not None:
                cuts = np.concatenate([cuts, more], axis=1)
            s, weight = normal_nodes(cuts, width)
            return s[..., None], weight, function(centre + float(self.root[0, 0]) * s)
        kinks = kinks_of(self.link)
        if kinks is not None:
            if r > 2:
                raise NotEvaluable(f"labels of {self.text}, a link of more than two indices with kinks")
            s, weight = nested_nodes(kinks, centre, self.root, width)
        else:
            s, weight = _even_grid(len(kappa), r, 0.5 * width)
        z = centre[:, None, :] + s @ self.root.T
        return s, weight, function(*np.moveaxis(z, -1, 0))


def _even_grid(count: int, m: int, step: float) -> tuple[Array, Array]:
    """s [count, J, m] and weights [count, J] of the trapezoidal rule along each of m directions."""
    line = np.arange(-int(REACH / step), int(REACH / step) + 1) * step
    grid = np.stack([axis.ravel() for axis in np.meshgrid(*([line] * m), indexing="ij")], axis=1)
    weights = np.prod(step * density(grid), axis=1)
    kept = weights > _LIGHT
    grid, weights = grid[kept], weights[kept]
    shape = (count, len(grid))
    return np.broadcast_to(grid, (*shape, m)), np.broadcast_to(weights, shape)


def rest_of_target(overlaps: Array, noise: float = 0.0) -> Array:
    """Lower triangular root of 1 - gamma^T gamma and noise; a column is zero where nothing is left of its direction."""
    square = (1.0 + noise) * np.eye(overlaps.shape[1]) - overlaps.T @ overlaps
    if overlaps.shape == (1, 1):  # without cancellation
        gamma = float(overlaps[0, 0])
        square[0, 0] = max((1.0 - gamma) * (1.0 + gamma), 0.0) + noise
        return np.asarray(np.sqrt(square))
    return lower_root(square)


def lower_root(square: Array) -> Array:
    """Lower triangular root of a matrix; a column is zero where nothing is left of its direction."""
    lower: Array = np.zeros_like(square)
    for j in range(len(square)):
        pivot = square[j, j] - lower[j, :j] @ lower[j, :j]
        slopes = np.abs(lower[j, :j]) / np.where(lower.diagonal()[:j] > 0.0, lower.diagonal()[:j], 1.0)
        if pivot > 1e-15 * (1.0 + slopes.sum()) ** 2:  # what rounding of the entries makes of it
            lower[j, j] = math.sqrt(pivot)
            lower[j + 1 :, j] = (square[j + 1 :, j] - lower[j + 1 :, :j] @ lower[j, :j]) / lower[j, j]
    return lower


def square_of_label(law: LabelLaw) -> float:
    """E y^2 without noise, to a few digits."""
    source, count = np.random.default_rng(0), len(law.directions)
    z = source.standard_normal((_PLACES, count)) * (1.0 + law.probit) ** 0.5
    drawn = law.drawn(link_function(law.link)(*z.T), np.full(_PLACES, 1.0 / _PLACES))
    return float(sum((weight * label**2).sum() for label, weight in drawn))
