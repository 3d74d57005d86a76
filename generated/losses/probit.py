"""The loss -log(Phi(y*f))  [Bliss 1934, Science 79, 38; THEORY section 4].

1 smooth piece(s), 2 operations, in u = y f.
Generated; do not edit. Signature 3a49b0024a643d55, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import math

import numpy as np

from generated.runtime.compiling import PIECES, compiled
from generated.runtime.loss import Loss
from generated.runtime.nodes import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.special import inverse_mills, log_normal_cdf, truncated_mean

NAME = "probit"
EXPRESSION = "-log(Phi(y*f))"
SIGNATURE = "3a49b0024a643d556e2f7378f5f81d1c64abae29b45a116ae8efd9e40d385331"
FORM = "margin"
PARAMETERS: tuple[str, ...] = ()
SMOOTH = True
SYMMETRIC = True  # loss(-y, -f) = loss(y, f)
COUNT = 1  # of the pieces
STEEPNESS = 1.15  # of the pieces beside the logistic loss, at the default parameters


@compiled(PIECES)
def rho(k, y, q, n, places, value, slope, curvature):
    """Value, slope and curvature of rho on piece k, at n places u."""
    for i in range(n):
        u = places[i]
        x0 = inverse_mills(u)
        value[i] = -log_normal_cdf(u)
        slope[i] = -x0
        curvature[i] = x0*truncated_mean(u)


LOSS = Loss(
    rho, None, origins=np.array([[-1, 0]]),
    ranges=np.array([[math.inf, 0.0, 0.0, 1.0]]),  # upper end, whether it is part of it, first piece, pieces
    residual=False, margin=True, smooth=SMOOTH, steepness=STEEPNESS,
    rate=1.15,  # of its exponential growth, which polynomials have not
    curvature=1.0093711049376228,  # the largest of a smooth loss
    knee=math.nan,  # where it is, if it falls like exp(-abs(u)) on both sides
    quadratic=False,  # all pieces are, at most
)
points, lines, cells, intervals, nodes = LOSS.points, LOSS.lines, LOSS.cells, LOSS.intervals, LOSS.nodes
piece, edge, cell = LOSS.piece, LOSS.edge, LOSS.cell
