"""What a label tells of two indices where it is a homogeneous polynomial of them and has no noise: by the angle.

With z = r (cos a, sin a) the label is y = r^k g(a), so that label and angle tell r: conditional moments given y are
averages over the angles at which g has the sign of y, of weight r^2 exp(-r^2/2). Between zeros of g, where r has no
bound, nodes of the angle double their exponents towards both ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from giantstep.observe.optimal.told import Told
from giantstep.spec.link import link_values
from giantstep.spec.model import Target

Array = np.ndarray
Values = Callable[[Array], Array]
_DEGREES, _EXACT = 16, 1e-12  # the highest degree, and the rounding of values of a homogeneous polynomial
_ANGLES = 4 * _DEGREES  # at which the polynomial is taken, a power of two
_REAL = 1e-6  # distance of a root from the real angles: rounding takes half the digits of a double one
_STEPS = (0.05, 0.04)  # of log|y| and of the nodes between zeros: two resolutions
_LEFT, _RIGHT, _ENDS = -40.0, 5.0, 3.2  # of log r of the largest |g|, and of the nodes between zeros
_LIKELY, _SETTLED = 1e-14, 1e-9  # of the largest density; change of what labels tell of the squares


def told_by_homogeneous(target: Target) -> Told | None:
    """What the label tells where nothing is known yet; None for other targets, and where rounding hides a
    multiple zero.
    """
    if target.noise > 0.0 or target.probit > 0.0 or target.channel is not None or target.indices != 2:
        return None
    values = link_values(target.link)
    degree = _degree(values)
    if degree is None:
        return None
    rough, found = (_told(values, degree, step) for step in _STEPS)
    change = abs(_told_of_squares(rough) - _told_of_squares(found))
    return found if change <= _SETTLED else None


def _told_of_squares(told: Told) -> float:
    return float(np.einsum("k,kij,kij->", told.weight, told.square, told.square))


def _on_circle(angle: Array) -> Array:
    return np.array([np.cos(angle), np.sin(angle)])


def _degree(values: Values) -> int | None:
    """That of a homogeneous polynomial of two indices; None for another function."""
    z = _on_circle(2.0 * math.pi / _ANGLES * np.arange(_ANGLES))
    with np.errstate(all="ignore"):
        here, there = values(z), values(2.0 * z)
    size = float(np.max(np.abs(here)))
    if not (np.isfinite(there).all() and size > 0.0):
        return None
    degree = round(math.log2(max(float(np.max(np.abs(there))) / size, 1.0)))
    scaled = np.abs(there - 2.0**degree * here).max() <= _EXACT * 2.0**degree * size
    if not (scaled and 1 <= degree <= _DEGREES):
        return None
    beyond = np.abs(np.fft.rfft(here))[degree + 1 :]
    return degree if beyond.max() <= _EXACT * _ANGLES * size else None


def _zeros(values: Values, degree: int) -> Array:
    """Angles in [0, pi) at which the polynomial vanishes, increasing; zero where it has none."""
    angle = 2.0 * math.pi / _ANGLES * np.arange(_ANGLES)
    waves = np.fft.fft(values(_on_circle(angle)))
    powers = np.array([waves[n] for n in range(-degree, degree + 1, 2)])  # of exp(2 i angle), the lowest first
    powers[np.abs(powers) <= _EXACT * np.abs(powers).max()] = 0.0
    roots = np.roots(powers[::-1])
    found = np.sort(np.angle(roots[np.abs(np.abs(roots) - 1.0) <= _REAL]) / 2.0 % math.pi)
    return found if len(found) else np.zeros(1)


def _angles(zeros: Array, step: float) -> tuple[Array, Array]:
    """Nodes and weights over half a circle from zero to zero, by the double exponential rule."""
    t = np.arange(-math.ceil(_ENDS / step), math.ceil(_ENDS / step) + 1) * step
    inner = 0.5 * math.pi * np.sinh(t)
    place, weight = np.tanh(inner), step * 0.5 * math.pi * np.cosh(t) / np.cosh(inner) ** 2
    edges = np.append(zeros, zeros[0] + math.pi)
    half = 0.5 * np.diff(edges)[:, None]
    return (edges[:-1, None] + half * (1.0 + place)).ravel(), (half * weight).ravel()


def _moments(density: Array, r: Array, columns: Array) -> tuple[Array, Array, Array]:
    """The probability of labels [M, 1], E[z; y] [M, 2] and E[z z^T; y] [M, 3] over the angles."""
    return density @ columns[:, :1], (density * r) @ columns[:, 1:3], (density * r**2) @ columns[:, 3:]


def _told(values: Values, degree: int, step: float) -> Told:
    """That by nodes of the angle and of log|y|."""
    angle, weight = _angles(_zeros(values, degree), step)
    angle, weight = np.concatenate([angle, angle + math.pi]), np.tile(weight, 2) / (2.0 * math.pi)
    unit = _on_circle(angle)
    height = values(unit)
    seen = height != 0.0
    unit, height, weight = unit[:, seen], height[seen], weight[seen]
    columns = np.stack([np.ones_like(height), *unit, unit[0] ** 2, unit[0] * unit[1], unit[1] ** 2], axis=1)
    lengths = np.arange(_LEFT, _RIGHT, step)  # of log r where |g| is largest
    logs = lengths[:, None] + (np.log(np.abs(height).max()) - np.log(np.abs(height))) / degree
    r = np.exp(np.minimum(logs, 4.0))  # exp(-r^2/2) is nothing beyond
    density = step * weight * r**2 * np.exp(-0.5 * r**2)
    sides = []
    for side in (height > 0.0, height < 0.0):  # labels of this sign
        given = density[:, side], r[:, side], columns[side]
        sides.append(np.column_stack(_moments(*given)))
    sums = np.concatenate(sides)
    sums = sums[sums[:, 0] > _LIKELY * sums[:, 0].max()]
    share, given = sums[:, 0], sums[:, 1:] / sums[:, :1]
    square = given[:, [2, 3, 3, 4]].reshape(-1, 2, 2) - np.eye(2)
    return Told(share / share.sum(), given[:, :2], square)
