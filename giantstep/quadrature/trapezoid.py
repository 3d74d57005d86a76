"""The trapezoidal rule in kappa: of all rules it has the fewest nodes where what is averaged is smooth.

A function of a Gaussian variable of variance v about ``s kappa``, averaged given kappa, grows as exp(d^2 s^2/(2 v)) a
distance d off the real axis, whatever the function is, and the Gaussian weight as exp(d^2/2). The rule of step h is
then off by exp(-2 pi^2/(h^2 c)), c the sum of all such growths.
"""

from __future__ import annotations

import math

import numpy as np

from giantstep.quadrature.mesh import NARROW, Term, reach_of

Array = np.ndarray
_STEP = 0.75  # of a function of unit width: the answer is right to about 1e-12
_WIDEST = 0.45  # of steps: resolves the Gaussian weight itself
_ORDER, _SHARE = 8, 0.8  # of panels that even nodes take the place of, and of the step where an output turns further
_LEAST = 0.06  # step below which panels that are narrow where it is needed have fewer nodes
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
    terms: tuple[Term, ...], label: float, order: int, halvings: int, reach: float = NARROW.reach
) -> tuple[Array, Array] | None:
    """Places and weights [N] of kappa in the place of panels of an order, for coefficients of terms and a label that
    varies on the scale ``label`` and ends at a reach; None where panels are better.
    """
    features = max((term.scale**2 / term.variance for term in terms if term.scale), default=0.0)
    step = _SHARE * _step(2.0 * features + (label**-2.0 if label > 0.0 else math.inf))
    if step < _LEAST:
        return None
    return trapezoid(step * _ORDER / order / 2**halvings, max(reach, reach_of(terms)))
