"""Features and labels given kappa by definition: averages over a neuron's weights, and the law of the label.

Everything is integrated from the model's own expressions with the quadrature of this folder. Neither the tables nor
the kernels of the solver are used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import sympy as sp
from scipy.special import erfcx, log_ndtr, ndtr

from derive.labels import index_function
from derive.scalar import scalar_function
from giantstep.quadrature.mesh import Term
from giantstep.verify.interpreter import NotEvaluable
from giantstep.verify.quadrature import density, normal_nodes

Array = np.ndarray
Function = Callable[..., Array]

_WIDTHS = (1.0, 0.5, 0.25, 0.125, 0.0625)
_SETTLED = 3e-13
_ROUNDING = 32.0 * float(np.finfo(float).eps)  # of a sum over nodes, relative to the root of E sigma^2


def numpy_of(expression: Any, arguments: Sequence[sp.Symbol]) -> Function:
    """A SymPy expression as a NumPy function that keeps the shape of its first argument."""
    own = {
        "Heaviside": _step,
        "NormalCdf": _normal_cdf,
        "LogNormalCdf": _log_normal_cdf,
        "InverseMillsRatio": _inverse_mills_ratio,
        "TruncatedMean": _truncated_mean,
    }
    function = sp.lambdify(list(arguments), expression, modules=[own, "scipy", "numpy"])

    def evaluate(*values: Array) -> Array:
        with np.errstate(all="ignore"):
            found: Array = np.array(np.broadcast_to(function(*values), np.shape(values[0])), dtype=float)
            return found

    return evaluate


def _step(x: Array, at_zero: float = 0.5) -> Array:
    return np.asarray(np.heaviside(x, at_zero))


def _normal_cdf(x: Array) -> Array:
    return np.asarray(ndtr(x))


def _log_normal_cdf(x: Array) -> Array:
    return np.asarray(log_ndtr(x))


def _inverse_mills_ratio(x: Array) -> Array:
    return np.asarray(np.sqrt(2.0 / np.pi) / erfcx(-np.asarray(x) / np.sqrt(2.0)))


def _truncated_mean(x: Array) -> Array:
    """x + phi/Phi, by its asymptotic series where the two cancel."""
    far = np.minimum(x, -60.0) ** -2.0
    series = -(1.0 - far * (2.0 - far * (10.0 - far * (74.0 - 706.0 * far)))) / np.minimum(x, -60.0)
    return np.asarray(np.where(np.asarray(x) < -60.0, series, x + _inverse_mills_ratio(x)))


@lru_cache(maxsize=64)
def _scalar(text: str) -> tuple[Function, tuple[float, ...]]:
    found = scalar_function(text)
    return numpy_of(found.expr, (found.z,)), tuple(float(b) for b in found.breakpoints)


@lru_cache(maxsize=64)
def _link(text: str) -> tuple[Function, bool]:
    """The link as a function of its indices, and whether it has kinks or jumps."""
    found = index_function(text)
    kinked = found.expr.has(sp.sign, sp.Abs, sp.Heaviside, sp.Max, sp.Min, sp.Piecewise)
    return numpy_of(found.expr, found.variables), kinked


def feature_moments(text: str, shift: Array, variance: float) -> Array:
    """mu0, mu1 and mu2^2 of sigma(shift + sqrt(variance) g) over g, [3, N]. Source: THEORY section 3."""
    if variance <= 0.0:
        zero = np.zeros_like(shift)
        return np.array([_scalar(text)[0](shift), zero, zero])
    width = _width(text, tuple(np.quantile(shift, (0.02, 0.2, 0.5, 0.7, 0.9))), variance)
    found = _moments(text, shift, variance, width)
    size = np.sqrt(found[0] ** 2 + found[1] ** 2 + found[2])
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
    cuts = (np.array(breaks)[None] - shift[:, None]) / root if breaks else np.empty((len(shift), 0))
    g, weight = normal_nodes(cuts, width)
    return g, weight, function(shift[:, None] + root * g)


def norm_feature(term: Term, shift: Array) -> Array:
    """mu_c = c dmu0/dc = E[(g^2 - 1) sigma(shift + sqrt(c) g)]/2 of one block, [N]. Source: THEORY section 5."""
    width = _width(term.function, tuple(np.quantile(shift, (0.02, 0.2, 0.5, 0.7, 0.9))), term.variance)
    g, weight, values = _at_nodes(term.function, shift, term.variance, width)
    return np.asarray(0.5 * (weight * (g * g - 1.0) * values).sum(axis=1))


def features_of(term: Term, shift: Array, kappa: Array) -> Array:
    """[3, N] of one block; a polynomial of kappa takes the place of mu0 where the model has one."""
    found = feature_moments(term.function, shift, term.variance)
    if term.polynomial is not None:
        found[0] = sum(c * kappa**k for k, c in enumerate(term.polynomial))
    return found


@dataclass(frozen=True)
class LabelLaw:
    """z' = gamma^T kappa + L t + sqrt(probit) n, y = flip link(z'): what the label tells about t in R^m.

    With z' = gamma^T kappa + root s, s standard normal, t is Gaussian given s: of mean carry s and covariance rest.
    """

    text: str
    overlaps: Array  # [q, m]
    probit: float
    flips: float

    @cached_property
    def lower(self) -> Array:
        """L, lower triangular, L L^T = 1 - gamma^T gamma."""
        return _triangle(np.eye(self.overlaps.shape[1]) - self.overlaps.T @ self.overlaps)

    @cached_property
    def root(self) -> Array:
        """Lower triangular, its square is the covariance of z' given kappa."""
        m = self.overlaps.shape[1]
        square = np.eye(m) - self.overlaps.T @ self.overlaps + self.probit * np.eye(m)
        return _triangle(square) if self.probit else self.lower

    @cached_property
    def carry(self) -> Array:
        """A of E[t | s] = A s."""
        return np.asarray(self.lower.T @ np.linalg.pinv(self.root).T)

    @cached_property
    def rest(self) -> Array:
        """Covariance of t given s."""
        return np.asarray(np.eye(len(self.carry)) - self.carry @ self.carry.T)

    def centre(self, kappa: Array) -> Array:
        """gamma^T kappa, [N, m]."""
        return np.asarray(kappa.reshape(len(kappa), -1) @ self.overlaps)

    def steps(self) -> tuple[tuple[float, float, float], ...] | None:
        """(low, high, value) of a link that is constant on intervals of one index; None for any other."""
        if self.overlaps.shape[1] > 1:
            return None
        pieces = scalar_function(self.text).pieces
        if any(e.free_symbols for _, _, e in pieces):
            return None
        return tuple((float(low), float(high), float(value)) for low, high, value in pieces)

    def label_at(self, kappa: Array, s: Array) -> Array:
        """The label without flips at places s, for one index and one kappa."""
        centre = float(self.centre(np.atleast_1d(kappa)[None])[0, 0])
        return _link(self.text)[0](centre + float(self.root[0, 0]) * s)

    def nodes(self, kappa: Array, width: float, more: Array | None = None) -> tuple[Array, Array, Array]:
        """s [N, J, m], weights [N, J] and labels [N, J] without flips; ``more``: places in s [N, C] to cut at.

        Raises NotEvaluable for links of several indices with kinks.
        """
        (function, kinked), centre, m = _link(self.text), self.centre(kappa), self.overlaps.shape[1]
        if m == 1:
            breaks = np.array(_scalar(self.text)[1]) if self.text else np.empty(0)
            scale = float(self.root[0, 0]) or 1e-300
            cuts = np.clip((breaks[None] - centre) / scale, -1e3, 1e3) if len(breaks) else np.empty((len(kappa), 0))
            if more is not None:
                cuts = np.concatenate([cuts, more], axis=1)
            s, weight = normal_nodes(cuts, width)
            return s[..., None], weight, function(centre + float(self.root[0, 0]) * s)
        if kinked:
            raise NotEvaluable(f"labels of {self.text}, a link of several indices with kinks")
        step = 0.5 * width
        line = np.arange(-int(8.0 / step), int(8.0 / step) + 1) * step
        grid = np.stack([axis.ravel() for axis in np.meshgrid(*([line] * m), indexing="ij")], axis=1)
        weights = np.prod(step * density(grid), axis=1)
        grid, weights = grid[weights > 1e-15], weights[weights > 1e-15]
        z = centre[:, None, :] + grid @ self.root.T
        shape = (len(kappa), len(grid))
        return (np.broadcast_to(grid, (*shape, m)), np.broadcast_to(weights, shape), function(*np.moveaxis(z, -1, 0)))


def _triangle(square: Array) -> Array:
    """Lower triangular root; a column is zero where nothing is left of its direction."""
    lower = np.zeros_like(square)
    for j in range(len(square)):
        pivot = square[j, j] - lower[j, :j] @ lower[j, :j]
        if pivot > 1e-15:
            lower[j, j] = math.sqrt(pivot)
            lower[j + 1 :, j] = (square[j + 1 :, j] - lower[j + 1 :, :j] @ lower[j, :j]) / lower[j, j]
    return lower
