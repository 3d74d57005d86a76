"""Densities of readout values: "gaussian", "uniform", or an expression in u, normalised here.

The density is represented by Gauss-Legendre points on panels that are halved where it is not resolved, at jumps and
kinks down to rounding, and towards zero. From them its moments, its samples and its Gauss rules follow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.polynomial.legendre import Legendre, leggauss
from numpy.typing import NDArray

from derive.language.grammar import ExpressionError, did_you_mean, parse, shorten
from giantstep.spec.errors import BadInput
from giantstep.spec.expressions import jet, prepare
from giantstep.spec.symbolic import as_text
from giantstep.spec.validate import Kind, wrong

Array = NDArray[np.float64]
#: Registered densities of u: mean zero and variance one.
DENSITIES: Mapping[str, str] = MappingProxyType(
    {"gaussian": "exp(-u**2/2)", "uniform": "step(sqrt(3) - u)*step(sqrt(3) + u)"}
)
_ORDER, _DEEPEST = 12, 44  # points of a panel; how often one is halved
_INSIDE = 1e-13  # of half a panel, by which points at its ends are within it: a jump there has no value of its own
_GRADED = 16  # halvings of panels towards zero, where features turn on scales that the density does not know
_RESOLVED = 1e-15  # of the whole: what the halves of a panel may add to it
_FARTHEST, _NEGLIGIBLE = 200.0, 1e-17  # |u| looked at; share of the fourth moment that lies beyond


@dataclass(frozen=True, eq=False)
class Density:
    """A normalised density: points u [N] in order with weights [N] of sum one; symmetric: even, to rounding."""

    u: Array
    weight: Array
    symmetric: bool

    def moment(self, power: int) -> float:
        """E u^power."""
        return math.fsum((self.weight * self.u**power).tolist())

    def samples(self, uniform: Array) -> Array:
        """Values of u at levels [p] of the distribution function."""
        levels = np.cumsum(self.weight) - 0.5 * self.weight
        return np.interp(uniform, levels, self.u)


class DensityKind(Kind):
    """The kind of the field ``network.readout.density``."""

    text = True

    def purpose(self) -> str:
        """What function it is."""
        return "the density of readout values: a registered name or an expression in u, normalised"

    def check(self, key: str, value: object) -> str | None:
        """The text, stripped. Raises BadInput where it is no density."""
        if value is None:
            return None
        value = as_text(key, value, ("u",))
        if not isinstance(value, str):
            raise wrong(key, value, '"gaussian", "uniform" or an expression in u', 'for example "exp(-abs(u))"')
        text = value.strip()
        try:
            density_of(text)
        except ExpressionError as error:
            raise BadInput(f"{key}: {error.message}", error.hint) from None
        except BadInput as error:
            raise BadInput(f"{key} = {shorten(text)} is not allowed: {error.message}", error.hint) from None
        return text


@lru_cache(maxsize=64)
def density_of(text: str) -> Density:
    """The density of a registered name or an expression in u. Raises ExpressionError and BadInput."""
    function = _function_of(text)
    return _resolved(function, _reach(function))


def points_between(text: str, edges: Array) -> tuple[Array, Array]:
    """Points u in order and weights, of sum one, of a density on panels between edges, halved where it needs that."""
    return _normalised(*_panels(_function_of(text), edges))


def _function_of(text: str) -> Callable[[Array], Array]:
    """The density, not normalised. Raises ExpressionError and BadInput, the latter where it is evaluated too."""
    name = text.strip()
    if name.isidentifier() and name not in DENSITIES and name != "u":
        raise ExpressionError(
            f"{shorten(name)} is no known density",
            f"{did_you_mean(name, tuple(DENSITIES))}known are {', '.join(DENSITIES)}; or write an expression in u",
        )
    prepared = prepare(parse(DENSITIES.get(name, name), ("u",)))

    def function(u: Array) -> Array:
        values = jet(prepared, "u", {"u": u}, 0)[0]
        if not np.all(np.isfinite(values)):
            raise BadInput("it is not finite everywhere", "a density is a finite number at every u")
        if np.any(values < 0.0):
            place = float(u.ravel()[np.argmin(values)])
            raise BadInput(f"it is negative at u = {place:.4g}", "a density is not negative")
        return values

    return function


def _reach(function: Callable[[Array], Array]) -> float:
    """Where the density has no fourth moment left that counts."""
    u = np.concatenate([-np.geomspace(1e-3, _FARTHEST, 4000)[::-1], np.geomspace(1e-3, _FARTHEST, 4000)])
    moments = function(u) * u**4 * np.abs(u)  # per step of a geometric grid
    if not moments.max() > 0.0:
        raise BadInput("it vanishes", f"a density is positive somewhere in |u| < {_FARTHEST:g}")
    inside = np.abs(u[moments > _NEGLIGIBLE * moments.max()]).max()
    if inside > 0.99 * _FARTHEST:
        raise BadInput("it falls off too slowly", f"its fourth moment has to exist, and to lie in |u| < {_FARTHEST:g}")
    return float(1.01 * inside)


def _resolved(function: Callable[[Array], Array], reach: float) -> Density:
    """Points on panels that are halved until they have settled; both sides by the same panels where it is even."""
    probes = np.linspace(0.0, reach, 1001)[1:] + 1e-9 * reach
    left, right = function(-probes), function(probes)
    symmetric = bool(np.all(np.abs(left - right) <= 1e-13 * max(left.max(), right.max())))
    width = min(1.0, reach / 8.0)
    edges = np.linspace(0.0, reach, math.ceil(reach / width) + 1)
    edges = np.union1d(edges, edges[1] * 0.5 ** np.arange(1.0, _GRADED))
    u, weight = _panels(function, edges)
    if symmetric:
        u, weight = np.concatenate([-u[::-1], u]), np.concatenate([weight[::-1], weight])
    else:
        below = _panels(lambda x: function(-x), edges)
        u, weight = np.concatenate([-below[0][::-1], u]), np.concatenate([below[1][::-1], weight])
    return Density(*_normalised(u, weight), symmetric)


def _normalised(u: Array, weight: Array) -> tuple[Array, Array]:
    """The points that have a weight, the sum of which is made one; read-only."""
    kept = weight > 0.0
    if not kept.any():
        raise BadInput("it vanishes", "a density is positive somewhere")
    u, weight = u[kept], weight[kept] / math.fsum(weight.tolist())
    u.flags.writeable = weight.flags.writeable = False
    return u, weight


def _panels(function: Callable[[Array], Array], edges: Array) -> tuple[Array, Array]:
    """Points and weights between edges; all panels that are not resolved are halved together."""
    low, high = edges[:-1], edges[1:]
    whole = sum(_sums(*_points(function, low, high)))
    done: list[tuple[Array, Array, Array]] = []
    for depth in range(_DEEPEST):
        u, weight = _points(function, low, high)
        middle = 0.5 * (low + high)
        halves = [_sums(*_points(function, *ends)) for ends in ((low, middle), (middle, high))]
        sums, ends = _sums(u, weight), _sums(*_points(function, low, high, _with_ends()))
        # a jump nearer to an end than any point of both halves changes neither
        change = np.maximum(np.abs(halves[0] + halves[1] - sums), np.abs(ends - sums))
        rough = (change > _RESOLVED * np.max(whole)) & (depth < _DEEPEST - 1)
        done += [(low[i : i + 1], u[i], weight[i]) for i in np.flatnonzero(~rough)]
        low, high = np.concatenate([low[rough], middle[rough]]), np.concatenate([middle[rough], high[rough]])
        if not len(low):
            break
    done.sort(key=lambda panel: float(panel[0][0]))
    return np.concatenate([u for _, u, _ in done]), np.concatenate([weight for _, _, weight in done])


@lru_cache(maxsize=1)
def _with_ends() -> tuple[Array, Array]:
    """Gauss-Lobatto points and weights on (-1, 1), as exact as those of Gauss."""
    last = Legendre.basis(_ORDER)
    x = np.concatenate([[-1.0], last.deriv().roots().real, [1.0]])
    return np.clip(x, _INSIDE - 1.0, 1.0 - _INSIDE), 2.0 / (_ORDER * (_ORDER + 1.0) * last(x) ** 2)


def _points(
    function: Callable[[Array], Array], low: Array, high: Array, rule: tuple[Array, Array] | None = None
) -> tuple[Array, Array]:
    """Points and weights [panels, n]; those of Gauss where no rule is given."""
    x, w = rule or leggauss(_ORDER)
    half = 0.5 * (high - low)[:, None]
    u = 0.5 * (high + low)[:, None] + half * x
    return u, half * w * function(u)


def _sums(u: Array, weight: Array) -> Array:
    """(E 1 + E u^2) of each panel."""
    return np.asarray((weight * (1.0 + u * u)).sum(axis=1))
