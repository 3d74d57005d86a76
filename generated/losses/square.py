"""The loss (y-f)**2/2  [[CUI24] eq. (3); Legendre 1805; Gauss 1809; THEORY section 4].

1 smooth piece(s), 2 operations, in u = f - y.
Generated; do not edit. Signature cefb10c38a8d11a7, runtime a31f41c318f98f42.
Regenerate with: giantstep generate
"""

# fmt: off
import math

import numpy as np

from generated.runtime.compiling import PIECES, compiled
from generated.runtime.loss import rules
from generated.runtime.nodes import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.prox import Law

NAME = "square"
EXPRESSION = "(y-f)**2/2"
SIGNATURE = "cefb10c38a8d11a7e528a6c8c12c328f1a1e88baa4d872cd8406eccd681ba6dd"
FORM = "residual"
PARAMETERS: tuple[str, ...] = ()
SMOOTH = True
SYMMETRIC = True  # loss(-y, -f) = loss(y, f)
COUNT = 1  # of the pieces
STEEPNESS = 1.0  # of the pieces beside the logistic loss, at the default parameters


@compiled(PIECES)
def rho(k, y, q, n, places, value, slope, curvature):
    """Value, slope and curvature of rho on piece k, at n places u."""
    for i in range(n):
        u = places[i]
        value[i] = 0.5*u*u
        slope[i] = u
        curvature[i] = 1.0


LAW = Law(
    pieces=rho.address, edge=0,
    ranges=np.array([[math.inf, 0.0, 0.0, 1.0]]),  # upper end, whether it is part of it, first piece, pieces
    residual=True, margin=False, smooth=SMOOTH, steepness=STEEPNESS,
    rate=0.0,  # of its exponential growth, which polynomials have not
    curvature=1.01,  # the largest of a smooth loss
    quadratic=True,  # all pieces are, at most
)
points, intervals, nodes, piece, edge, cell = rules(LAW)
