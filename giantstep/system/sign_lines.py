"""Nodes in the plane of kappa, of spikes of two directions, on which the sign of the output is resolved: on lines, with
panels about the places where it turns.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from giantstep.quadrature.plane import Plane
from giantstep.quadrature.tensor import Shape
from giantstep.system.misclassification import sign_averages
from giantstep.system.sign_panels import Output

Array = np.ndarray
Functions = Callable[[Array], Array]  # [F, N] at kappa [N, 2]


def sign_plane(shape: Shape, at: Callable[[Array], Output]) -> Plane:
    """What judges the signs of the output at any kappa [N, 2]."""
    return Plane.of(shape, *sign_functions(at))


def sign_functions(at: Callable[[Array], Output]) -> tuple[Functions, Functions]:
    """The probability of a wrong sign and its slopes, but for that in the variance, which is odd about every turn:
    rounding is left of it; and what turns these.
    """
    return lambda kappa: sign_averages(at(kappa))[:-1], lambda kappa: at(kappa).turns()[0]
