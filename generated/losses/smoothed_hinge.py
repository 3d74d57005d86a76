"""The loss min(max(0,1-y*f),delta)*(max(0,1-y*f)-min(max(0,1-y*f),delta)/2)/delta  [Rennie & Srebro 2005, IJCAI
workshop, delta = 1; Shalev-Shwartz & Zhang 2013, JMLR 14, 567; THEORY section 4].

3 smooth piece(s), 11 operations, in u = y f.
Generated; do not edit. Signature 7b1be37d45caf8a7, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import math

import numpy as np

from generated.runtime.compiling import EDGE, PIECES, compiled
from generated.runtime.loss import Loss
from generated.runtime.nodes import SCRATCH_SHAPE as SCRATCH_SHAPE

NAME = "smoothed_hinge"
EXPRESSION = "min(max(0,1-y*f),delta)*(max(0,1-y*f)-min(max(0,1-y*f),delta)/2)/delta"
SIGNATURE = "7b1be37d45caf8a740ccd93251252093c6d21c1fc2d17f40be3452c06d77cd86"
FORM = "margin"
PARAMETERS: tuple[str, ...] = ('delta',)
SMOOTH = False
SYMMETRIC = True  # loss(-y, -f) = loss(y, f)
COUNT = 3  # of the pieces
STEEPNESS = 1.0  # of the pieces beside the logistic loss, at the default parameters


@compiled(PIECES)
def rho(k, y, q, n, places, value, slope, curvature):
    """Value, slope and curvature of rho on piece k, at n places u beyond the origin of the piece."""
    delta = q[0]
    for i in range(n):
        u = places[i]
        if k == 0:
            value[i] = -0.5*delta - u + 1.0
            slope[i] = -1.0
            curvature[i] = 0.0
        elif k == 1:
            x0 = 1.0/delta
            value[i] = 0.5*u*u*x0
            slope[i] = u*x0
            curvature[i] = x0
        else:
            value[i] = 0.0
            slope[i] = 0.0
            curvature[i] = 0.0


@compiled(EDGE)
def ends(k, y, q):
    """Breakpoint at the end of piece k of rho, in u."""
    delta = q[0]
    if k == 0:
        return 1.0 - delta
    if k == 1:
        return 1.0
    return math.nan


LOSS = Loss(
    rho, ends, origins=np.array([[-1, 0], [1, 0], [-1, 0]]),
    ranges=np.array([[math.inf, 0.0, 0.0, 3.0]]),  # upper end, whether it is part of it, first piece, pieces
    residual=False, margin=True, smooth=SMOOTH, steepness=STEEPNESS,
    rate=0.0,  # of its exponential growth, which polynomials have not
    curvature=math.inf,  # the largest of a smooth loss
    knee=math.nan,  # where it is, if it falls like exp(-abs(u)) on both sides
    quadratic=True,  # all pieces are, at most
)
points, lines, cells, intervals, nodes = LOSS.points, LOSS.lines, LOSS.cells, LOSS.intervals, LOSS.nodes
piece, edge, cell = LOSS.piece, LOSS.edge, LOSS.cell
