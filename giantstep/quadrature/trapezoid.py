"""The trapezoidal rule in kappa: of all rules it has the fewest nodes where what is averaged is smooth.

A function of a Gaussian variable of variance v about ``s kappa``, averaged given kappa, grows as exp(d^2 s^2/(2 v)) a
distance d off the real axis, whatever the function is, and the Gaussian weight as exp(d^2/2). The rule of step h is
then off by exp(-2 pi^2/(h^2 c)), c the sum of all such growths.

Where labels of one index turn, the places are known: about zero. There nodes lie close together and further out apart,
at ``kappa = width sinh(u)``, evenly in u. What the rule misses then is the Fourier transform of what is averaged at
2 pi/h (Poisson), and of a product at most what its two factors have at half of that.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from giantstep.quadrature.mesh import NARROW, Term, reach_of, steep_places

Array = np.ndarray
_STEP = 0.75  # of a function of unit width: the answer is right to about 1e-12
_WIDEST = 0.45  # of steps: resolves the Gaussian weight itself
_ORDER, _SHARE = 8, 0.8  # of panels that even nodes take the place of, and of the step where an output turns further
_LEAST = 0.06  # step below which panels that are narrow where it is needed have fewer nodes
_GRADED = 0.085  # the longest step in u, for outputs that turn further than coefficients
_APART = 1.5  # power of the order: what a lower one misses by chance is not much more than what it is seen to miss
_LEADS = 1.5  # of that step, the longest: for outputs that only lead to a solution
_CLOSEST, _CLOSE = 1e-4, 0.3  # widths about zero: what is sharper has panels; what is wider needs no more
_SEEN = 1e-8  # of a Fourier transform, what is none: products are averaged to the square of that
_FELT = 1e-6  # of a function, a coefficient that small need not be resolved relative to itself
_ROOT_TWO_PI = math.sqrt(2.0 * math.pi)


def trapezoid_step(width: float) -> float:
    """Step of the rule over a standard normal for products of two functions that vary on a scale: error 1e-12."""
    return _step(2.0 / width**2)


def _step(growth: float) -> float:
    """The same for what grows so beside the weight."""
    return min(_WIDEST, _STEP / math.sqrt(1.0 + growth))


def trapezoid(step: float, reach: float) -> tuple[Array, Array]:
    """Nodes and weights of the rule, the normal density included; symmetric, without a node at zero."""
    half = np.arange(math.ceil(reach / step)) * step + 0.5 * step
    points = np.concatenate([-half[::-1], half])
    return points, step * np.exp(-0.5 * points * points) / _ROOT_TWO_PI


def even_nodes(
    terms: tuple[Term, ...], label: float, order: int, halvings: float, reach: float = NARROW.reach
) -> tuple[Array, Array] | None:
    """Places and weights [N] of kappa in the place of panels of an order, for coefficients of terms and a label that
    varies on the scale ``label`` and ends at a reach; None where panels are better.
    """
    features = max((term.scale**2 / term.variance for term in terms if term.scale), default=0.0)
    step = _SHARE * _step(2.0 * features + (label**-2.0 if label > 0.0 else math.inf))
    if step < _LEAST:
        return None
    return trapezoid(step * _ORDER / order / 2**halvings, max(reach, reach_of(terms)))


def graded_nodes(terms: tuple[Term, ...], order: int, halvings: float) -> tuple[Array, Array] | None:
    """Places and weights [N] of kappa in the place of panels of an order, closer together about zero, for coefficients
    of all terms; None where panels are better.
    """
    found = _graded(terms)
    if found is None:
        return None
    width, step, reach = found
    times = min((_ORDER / order) ** _APART, _LEADS) / 2**halvings
    return on_sinh(width, step * times, reach)


def on_sinh(width: float, step: float, reach: float) -> tuple[Array, Array]:
    """Nodes at width sinh(u) and their weights, the normal density included; symmetric, without a node at zero."""
    half = (np.arange(math.ceil(math.asinh(reach / width) / step)) + 0.5) * step
    u = np.concatenate([-half[::-1], half])
    points = width * np.sinh(u)
    return points, step * width * np.cosh(u) * np.exp(-0.5 * points * points) / _ROOT_TWO_PI


@lru_cache(maxsize=128)
def _graded(terms: tuple[Term, ...]) -> tuple[float, float, float] | None:
    """Width, step and reach of ``graded_nodes``; None where the coefficients have a Fourier transform that does not
    fall within twice the nodes of the longest step.
    """
    reach = max(NARROW.reach, reach_of(terms))
    steep = [place for term in terms for place in steep_places(term) if abs(place[0]) < reach]
    width, closest = min([_CLOSE, *(each for _, each in steep)]), 0.5 * _GRADED
    if width < _CLOSEST or any(closest * math.hypot(width, centre) > each for centre, each in steep):
        return None  # what no node may have seen
    places, weight = on_sinh(width, closest, reach)
    last = max(_last_seen(term.coefficients(places) * np.sqrt(weight)) for term in terms)
    most = len(places) // 2
    if last > _SHARE * most:
        return None
    return width, min(_GRADED, closest * most / max(last, 1)), reach


def _last_seen(values: Array) -> int:
    """The last frequency [of N // 2] at which functions of kappa [3, N], with the root of the weight, are not nothing;
    of a coefficient far smaller than the function they need not be resolved.
    """
    spectrum = np.abs(np.fft.rfft(values, axis=1))
    size = spectrum.max(axis=1, keepdims=True)
    seen = spectrum > _SEEN * np.maximum(size, _FELT * size.max())
    return int(np.max(np.flatnonzero(seen.any(axis=0)), initial=0))
