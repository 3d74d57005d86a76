"""Derivatives of a Gaussian average in its shift, to any order: what features are expanded in."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial

import numpy as np

from giantstep.quadrature.gauss import evenly_cut, gathered_nodes, legendre, with_places
from giantstep.quadrature.interpolation import between, chebyshev_table, interpolated, is_fine
from giantstep.quadrature.mesh import Term
from giantstep.quadrature.steep_places import may_be_infinite, turns
from giantstep.spec.errors import NotConverged
from giantstep.spec.expressions import numpy_function
from giantstep.spec.kernels import function_kernel

Array = np.ndarray
_ORDER, _LEVELS, _OF_ROOTS, _SETTLED = 20, 8, 4, 1e-14
_REACH = 9.0
_ROUNDING = 1e-13  # of what mu_c has beside other features: 4e-15 is left where it has nothing, by measurement
_STEP, _STENCIL = 0.03, ((1, 0.8), (2, -0.2), (3, 4.0 / 105.0), (4, -1.0 / 280.0))  # of a first derivative
_MOST_ROUNDED = 10.0  # of what is averaged, beside its size: fourth powers, and z^4
# shifts from which on values come from between Chebyshev points, for derivatives up to this order, on panels of half
# the usual width: 18 points leave 2 (0.19)^18 sqrt((k + 18)!/k!)/18! of them, 1e-15 at most
_MANY, _MOST_BETWEEN, _FINE = 10_000, 20, 0.25
_CHUNK, _WINDOW = 256, 6.0  # shifts at a time, and how far they lie apart, in standard deviations
#: Averages [A, N] and their sizes [A], by values and slopes [M] at places x [M], where s = 0 and sqrt(c) = 1, their
#: weights [M], and the places of the shifts [N].
Averages = Callable[[Array, Array, Array, Array, Array], tuple[Array, Array]]


def shift_derivatives(function: str, variance: float, shifts: Array, order: int, typical: float) -> Array:
    """D_k(s) = E[f(s + sqrt(c) g) He_k(g)] / c^(k/2), the k-th derivative of E f in s: [order + 1, N] at shifts [N].

    variance: c; typical: a size of f, beside which what is small far out is rounding. Raises NotConverged where they do
    not settle.
    """
    if len(shifts) > _MANY and order <= _MOST_BETWEEN:
        at = partial(shift_derivatives, function, variance, order=order, typical=typical)
        return between(lambda low, high: chebyshev_table(at, _FINE * variance, low, high), _FINE * variance, shifts)
    of, further = partial(_hermite_averages, order), math.sqrt(2.0 * order)
    found = _near_each_other((function, of), variance, shifts, order + 1, (further, typical))
    factors = root_factorials(order) / math.sqrt(variance) ** np.arange(order + 1)
    return np.asarray(found * factors[:, None])


def slope_averages(term: Term, shifts: Array) -> Array:
    """E sigma, E sigma', E sigma'', E sigma'^2 of a continuous term at shifts [N], to 1e-14: [4, N].

    E sigma'' is the derivative of E sigma', also where sigma has kinks. Raises NotConverged.
    """
    found = _of_a_parity(term, _slope_averages, shifts, {"none": (), "odd": (0, 2), "even": (1,)}, 4)
    found[2] /= math.sqrt(term.variance)
    return found


def rest_averages(term: Term, shifts: Array, powers: Sequence[tuple[int, int]]) -> Array:
    """E rho^i z^j of what sigma' has beside its parts along 1 and z, for pairs (i, j) at shifts [N]: [P, N].

    Raises NotConverged.
    """
    odd = {"none": (), "odd": [j % 2 for _, j in powers], "even": [(i + j) % 2 for i, j in powers]}
    turned = {parity: tuple(np.flatnonzero(rows).tolist()) for parity, rows in odd.items()}
    return _of_a_parity(term, partial(_rest_averages, tuple(powers)), shifts, turned, len(powers))


def _of_a_parity(term: Term, of: Averages, shifts: Array, turned: Mapping[str, tuple[int, ...]], count: int) -> Array:
    """The averages [count, N], those at opposite shifts from each other; turned: by parity, those that are odd."""
    parity = function_kernel(term.function).PARITY
    places, of_each = np.unique(shifts if parity == "none" else np.abs(shifts), return_inverse=True)
    every = _near_each_other((term.function, of), term.variance, places, count, (0.0, 1.0))[:, of_each]
    every[list(turned[parity])] *= np.where(shifts < 0.0, -1.0, 1.0)
    return every


def _near_each_other(
    given: tuple[str, Averages], variance: float, shifts: Array, count: int, asked: tuple[float, float]
) -> Array:
    """The averages [count, N] of shifts that lie in the same window, together."""
    found, places = np.empty((count, len(shifts))), np.argsort(shifts, kind="stable")
    window = np.floor(shifts[places] / (_WINDOW * math.sqrt(variance)))
    for near in np.split(places, np.flatnonzero(np.diff(window)) + 1):
        for first in range(0, len(near), _CHUNK):
            chosen = near[first : first + _CHUNK]
            found[:, chosen] = _settled(given, variance, shifts[chosen], asked)
    return found


def norm_functions(terms: Sequence[Term], shifts: Sequence[Array], accurate: bool = False) -> Array:
    """mu_c = c dmu0/dc of terms at their shifts [N]: what mu0 changes by with the norm of a row; [K, N].

    mu0 solves the heat equation in shift and variance, so that mu_c is half the derivative of mu1 in units of sqrt(c).
    That is smooth on this scale: differences of order eight leave 1e-12; accurate: by averages, to 1e-14.
    """
    of = _averaged if accurate else _half_slope
    return np.array([of(term, shift) for term, shift in zip(terms, shifts, strict=True)])


@lru_cache(maxsize=256)
def norm_rest(function: str, variance: float, offset: float) -> float:
    """What mu_c has beside mu0 and kappa mu1 as functions of the shift, relative to the features; zero if rounding.

    It has nothing for powers of z on either side of zero, sines, exponentials, erf(z) and linear functions, whatever
    the variance: mu0 solves c f'' = a f + b s f' there, and goes on to do so as c grows.
    """
    deviation = math.sqrt(variance)
    beside = np.linspace(-4.0, 4.0, 33)
    found = shift_derivatives(function, variance, offset + deviation * beside, 2, 1.0)
    weighted = np.exp(-0.25 * beside**2)[:, None] * (found * deviation ** np.arange(3)[:, None]).T
    columns, norm = weighted[:, :2] * np.stack([np.ones(33), beside], axis=1), 0.5 * weighted[:, 2]
    columns = columns / np.where(np.any(columns, axis=0), np.linalg.norm(columns, axis=0), 1.0)
    for _ in range(2):  # once more against rounding
        norm = norm - columns @ np.linalg.lstsq(columns, norm, rcond=1e-10)[0]
    rest = float(np.linalg.norm(norm) / np.linalg.norm(weighted)) if np.any(weighted) else 0.0
    return rest if rest > _ROUNDING else 0.0


def _half_slope(term: Term, shifts: Array) -> Array:
    of = partial(_differences, term.function, term.variance)
    if is_fine(term.variance, shifts):
        return of(shifts)
    table = partial(chebyshev_table, of, term.variance)
    return np.asarray(between(table, term.variance, shifts)[0])


def _differences(function: str, variance: float, shifts: Array) -> Array:
    unit = _STEP * math.sqrt(variance)
    places = np.concatenate([shifts + sign * k * unit for k, _ in _STENCIL for sign in (1, -1)])
    above_below = interpolated(function, variance, places)[1].reshape(len(_STENCIL), 2, -1)
    weights = np.array([weight for _, weight in _STENCIL])
    return np.asarray(0.5 / _STEP * (weights @ (above_below[:, 0] - above_below[:, 1])))


def _averaged(term: Term, shifts: Array) -> Array:
    c = term.variance
    return np.asarray(0.5 * c * shift_derivatives(term.function, c, shifts, 2, 1.0)[2])


def norm_slopes(term: Term, shifts: Array) -> Array:
    """Derivatives of mu_c of a term in the shift and in the variance at shifts [N]: [2, N]."""
    c = term.variance
    found = shift_derivatives(term.function, c, shifts, 4, 1.0)
    return np.array([0.5 * c * found[3], 0.5 * found[2] + 0.25 * c * found[4]])


def root_factorials(order: int) -> Array:
    """The roots of 0! ... order!."""
    return np.sqrt(np.cumprod([1.0, *range(1, order + 1)]))


def _settled(given: tuple[str, Averages], variance: float, shifts: Array, asked: tuple[float, float]) -> Array:
    """The averages on panels that are halved until two answers agree.

    asked: how much further out panels go, and a typical size. Relative to what is averaged where it counts: far out it
    may be as small as rounding makes it.
    """
    further, typical = asked
    previous: Array | None = None
    for level in range(_OF_ROOTS if may_be_infinite(given[0]) else _LEVELS):
        found, size = _on_panels(given, variance, shifts, further, level)
        if previous is not None and np.all(np.abs(found - previous) <= _SETTLED * np.maximum(size, typical)[:, None]):
            return found
        previous = found
    raise NotConverged(
        f"the Gaussian averages of {given[0]!r} do not settle",
        "use a function that grows more slowly, or does not vary as sharply",
    )


def _on_panels(
    given: tuple[str, Averages], variance: float, shifts: Array, further: float, level: int
) -> tuple[Array, Array]:
    """Averages and sizes on panels cut at breakpoints and halved at every level; gathered at these beside roots."""
    (function, of), deviation, centre = given, math.sqrt(variance), 0.5 * float(shifts.min() + shifts.max())
    reach = (float(shifts.max()) - centre) / deviation + _REACH + further
    breaks = np.array([*function_kernel(function).BREAKPOINTS, *turns(function, deviation)])
    gathered = may_be_infinite(function)
    edges = evenly_cut(reach, 2.0 if gathered else 2.0 ** (1 - level), ((breaks - centre) / deviation).tolist())
    if gathered:
        inside = breaks[np.abs(breaks - centre) < reach * deviation]
        z, weight = gathered_nodes(with_places(centre + deviation * edges, inside), level)
        x, weight = (z - centre) / deviation, weight / deviation
    else:
        points, weights = legendre(_ORDER)
        half, middle = 0.5 * np.diff(edges)[:, None], 0.5 * (edges[:-1] + edges[1:])[:, None]
        x, weight = (middle + half * points).ravel(), (half * weights).ravel()
        z = centre + deviation * x
    value, slope = numpy_function(function)(z)
    return of(value, slope, x, weight / math.sqrt(2.0 * math.pi), (shifts - centre) / deviation)


def _normal_density(x: Array, places: Array) -> Array:
    """exp(-g^2/2) of g = x - place, [N, M]."""
    found: Array = x - places[:, None]
    np.multiply(found, found, out=found)
    np.multiply(found, -0.5, out=found)
    np.exp(found, out=found)
    return found


def _hermite_averages(
    order: int, value: Array, _: Array, x: Array, weight: Array, places: Array
) -> tuple[Array, Array]:
    """E[f He_k] / sqrt(k!), [order + 1, N]; their size is the largest E |f|."""
    g, density = x - places[:, None], weight * _normal_density(x, places)
    weighted = density * value
    below, here = np.zeros_like(g), np.ones_like(g)
    found = np.empty((order + 1, len(places)))
    for k in range(order + 1):
        found[k] = (weighted * here).sum(axis=1)
        here, below = (g * here - math.sqrt(k) * below) / math.sqrt(k + 1.0), here
    size = float(np.sqrt((density * value * value).sum(axis=1)).max())
    return found, np.full(order + 1, size)


def _slope_averages(value: Array, slope: Array, x: Array, weight: Array, places: Array) -> tuple[Array, Array]:
    """E f, E f', E g f', E f'^2: [4, N]."""
    columns = np.array([value, slope, x * slope, slope * slope])
    both = np.concatenate([columns, np.abs(columns)]) * weight  # of squares there may be no average
    found, sizes = np.split((_normal_density(x, places) @ both.T).T, 2)
    found = np.array([found[0], found[1], found[2] - places * found[1], found[3]])
    return found, sizes.max(axis=1)


def _rest_averages(
    powers: tuple[tuple[int, int], ...], _: Array, slope: Array, x: Array, weight: Array, places: Array
) -> tuple[Array, Array]:
    """E rho^i z^j, [P, N]; as large as powers of sigma', and rounded accordingly."""
    z, density = x - places[:, None], _normal_density(x, places)
    highest = max(i for i, _ in powers)
    columns = (weight * slope ** np.arange(1 + highest)[:, None]).T
    mixed = np.empty((1 + max(i + j for i, j in powers), len(places), 1 + highest))  # E sigma'^i z^j at [j, :, i]
    for j in range(len(mixed)):
        mixed[j] = density @ columns
        np.multiply(density, z, out=density)
    mean, linear = mixed[0, :, 1:2].copy(), mixed[1, :, 1:2].copy()
    size = math.sqrt(float(mixed[0, :, 2].max()))
    found = np.empty((len(powers), len(places)))
    for i in range(1 + highest):  # one factor sigma' after the other becomes rho = sigma' - mean - linear z
        for place in (place for place, (of, _) in enumerate(powers) if of == i):
            found[place] = mixed[powers[place][1], :, 0]
        mixed = mixed[:-1, :, 1:] - mean * mixed[:-1, :, :-1] - linear * mixed[1:, :, :-1]
    return found, np.array([_MOST_ROUNDED * max(1.0, size) ** i for i, _ in powers])
