"""The loss log(cosh(y-f))  [Green 1990, IEEE Trans. Med. Imaging 9, 84; THEORY section 4].

1 smooth piece(s), 2 operations, in u = f - y.
Generated; do not edit. Signature a97cb0bc922a1b67, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import math

import numpy as np

from generated.runtime.compiling import PIECES, compiled
from generated.runtime.loss import Loss
from generated.runtime.nodes import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.special import log_cosh

NAME = "log_cosh"
EXPRESSION = "log(cosh(y-f))"
SIGNATURE = "a97cb0bc922a1b6742d9935e365ec70d4d51b6511808175df3d8040c7bc38ff9"
FORM = "residual"
PARAMETERS: tuple[str, ...] = ()
SMOOTH = True
SYMMETRIC = True  # loss(-y, -f) = loss(y, f)
COUNT = 1  # of the pieces
STEEPNESS = 2.0  # of the pieces beside the logistic loss, at the default parameters


@compiled(PIECES)
def rho(k, y, q, n, places, value, slope, curvature):
    """Value, slope and curvature of rho on piece k, at n places u."""
    for i in range(n):
        u = places[i]
        value[i] = log_cosh(u)
        slope[i] = math.tanh(u)
        curvature[i] = 1.0/math.cosh(u)**2


LOSS = Loss(
    rho, None, origins=np.array([[-1, 0]]),
    ranges=np.array([[math.inf, 0.0, 0.0, 1.0]]),  # upper end, whether it is part of it, first piece, pieces
    residual=True, margin=False, smooth=SMOOTH, steepness=STEEPNESS,
    rate=2.0,  # of its exponential growth, which polynomials have not
    curvature=1.01,  # the largest of a smooth loss
    knee=0.0,  # where it is, if it falls like exp(-abs(u)) on both sides
    quadratic=False,  # all pieces are, at most
)
points, lines, cells, intervals, nodes = LOSS.points, LOSS.lines, LOSS.cells, LOSS.intervals, LOSS.nodes
piece, edge, cell = LOSS.piece, LOSS.edge, LOSS.cell
