"""The loss log(1+exp(-y*f))  [[GER20]; Cox 1958, J. R. Stat. Soc. B 20, 215; THEORY section 4].

1 smooth piece(s), 4 operations, in u = y f.
Generated; do not edit. Signature 3e206c5c637af512, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import math

import numpy as np

from generated.runtime.compiling import PIECES, compiled
from generated.runtime.loss import Loss
from generated.runtime.nodes import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.special import sigmoid, softplus

NAME = "logistic"
EXPRESSION = "log(1+exp(-y*f))"
SIGNATURE = "3e206c5c637af512f8af900370e518c7afd452a7becddd57085904efbb10df74"
FORM = "margin"
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
        x0 = -u
        x1 = sigmoid(x0)
        value[i] = softplus(x0)
        slope[i] = -x1
        curvature[i] = x1*sigmoid(u)


LOSS = Loss(
    rho, None, origins=np.array([[-1, 0]]),
    ranges=np.array([[math.inf, 0.0, 0.0, 1.0]]),  # upper end, whether it is part of it, first piece, pieces
    residual=False, margin=True, smooth=SMOOTH, steepness=STEEPNESS,
    rate=1.0,  # of its exponential growth, which polynomials have not
    curvature=0.2525,  # the largest of a smooth loss
    knee=0.0,  # where it is, if it falls like exp(-abs(u)) on both sides
    quadratic=False,  # all pieces are, at most
)
points, lines, cells, intervals, nodes = LOSS.points, LOSS.lines, LOSS.cells, LOSS.intervals, LOSS.nodes
piece, edge, cell = LOSS.piece, LOSS.edge, LOSS.cell
