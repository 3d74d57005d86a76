"""Places where a link of one index has a slope without bound, as a root has, and nodes beside these."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from giantstep.quadrature.gauss import legendre
from giantstep.spec.expressions import numpy_function
from giantstep.spec.kernels import function_kernel

Array = np.ndarray
_BESIDE = (1e-5, 1e-9)  # distances from a place at which slopes are compared
_BOUNDED = 0.05  # of the exponent of a slope: less is none
_MOST = 12  # power of the distance of nodes
_GRADED = np.array([1.0 / 64.0, 1.0 / 8.0])  # ends of panels within the first one: the link may be a power there


@lru_cache(maxsize=64)
def steepness(link: str) -> int:
    """The power of r that distances from kinks are, so that a link has slopes with bounds in r; 1 where it has in z.

    Beside a kink with f = |z|^e it is 1/e or more.
    """
    places, values = np.array(function_kernel(link).BREAKPOINTS), numpy_function(link)
    if not len(places):
        return 1
    far, near = (np.abs(np.stack([values(places + side * away)[1] for side in (-1.0, 1.0)])) for away in _BESIDE)
    known = (far > 0.0) & (near > 0.0)
    growth = float(np.max(np.log(near[known] / far[known]), initial=0.0)) / math.log(_BESIDE[0] / _BESIDE[1])
    return 1 if growth < _BOUNDED else min(math.ceil(1.0 / (1.0 - min(growth, 0.99)) - _BOUNDED), _MOST)


def nodes_beside(places: Array, reach: float, panels: int, order: int, power: int) -> tuple[Array, Array]:
    """Nodes and weights [N, J] of a normal u within reach, in that power of their distance from the nearest of places
    [N, B], which are in order, on so many panels on each side of each.
    """
    middle = 0.5 * (places[:, 1:] + places[:, :-1])
    around = np.pad(middle, ((0, 0), (1, 1)), constant_values=((0.0, 0.0), (-math.inf, math.inf)))
    ends = np.clip(np.stack([around[:, :-1], places, places, around[:, 1:]]), -reach, reach)
    roots = np.abs(ends - places) ** (1.0 / power)  # [4, N, B]
    first, last = np.stack([roots[1], roots[2]]), np.stack([roots[0], roots[3]])
    even = np.linspace(0.0, 1.0, panels + 1)
    share = np.concatenate([even[:1], _GRADED / panels, even[1:]])
    edges = first[..., None] + (last - first)[..., None] * share
    x, weight = legendre(order)
    wide = 0.5 * np.diff(edges, axis=-1)[..., None]
    root = 0.5 * (edges[..., 1:] + edges[..., :-1])[..., None] + wide * x  # [2, N, B, P, order]
    side = np.array([-1.0, 1.0])[:, None, None, None, None]
    u = places[..., None, None] + side * root**power
    density = np.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi)
    weights = wide * weight * power * root ** (power - 1) * density
    flat = [np.moveaxis(each, 1, 0).reshape(len(places), -1) for each in (u, weights)]
    return flat[0], flat[1]
