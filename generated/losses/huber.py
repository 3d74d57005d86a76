"""The loss min(abs(y-f),delta)*(abs(y-f)-min(abs(y-f),delta)/2)  [Huber 1964, Ann. Math. Stat. 35, 73; THEORY section
4].

3 smooth piece(s), 11 operations, in u = f - y.
Generated; do not edit. Signature d4a483d86e7689f9, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import math

import numpy as np

from generated.runtime.compiling import EDGE, PIECES, compiled
from generated.runtime.loss import Loss
from generated.runtime.nodes import SCRATCH_SHAPE as SCRATCH_SHAPE

NAME = "huber"
EXPRESSION = "min(abs(y-f),delta)*(abs(y-f)-min(abs(y-f),delta)/2)"
SIGNATURE = "d4a483d86e7689f95926deab26c07e5575c68802239e27c34e5f35c8e16d13e9"
FORM = "residual"
PARAMETERS: tuple[str, ...] = ('delta',)
SMOOTH = False
SYMMETRIC = True  # loss(-y, -f) = loss(y, f)
COUNT = 3  # of the pieces
STEEPNESS = 1.0  # of the pieces beside the logistic loss, at the default parameters


@compiled(PIECES)
def rho(k, y, q, n, places, value, slope, curvature):
    """Value, slope and curvature of rho on piece k, at n places u."""
    delta = q[0]
    for i in range(n):
        u = places[i]
        if k == 0:
            value[i] = -0.5*delta*(delta + 2.0*u)
            slope[i] = -delta
            curvature[i] = 0.0
        elif k == 1:
            value[i] = 0.5*u*u
            slope[i] = u
            curvature[i] = 1.0
        else:
            value[i] = 0.5*delta*(-delta + 2.0*u)
            slope[i] = delta
            curvature[i] = 0.0


@compiled(EDGE)
def ends(k, y, q):
    """Breakpoint at the end of piece k of rho, in u."""
    delta = q[0]
    if k == 0:
        return -delta
    if k == 1:
        return delta
    return math.nan


LOSS = Loss(
    rho, ends, origins=np.array([[-1, 0], [-1, 0], [-1, 0]]),
    ranges=np.array([[math.inf, 0.0, 0.0, 3.0]]),  # upper end, whether it is part of it, first piece, pieces
    residual=True, margin=False, smooth=SMOOTH, steepness=STEEPNESS,
    rate=0.0,  # of its exponential growth, which polynomials have not
    curvature=math.inf,  # the largest of a smooth loss
    knee=math.nan,  # where it is, if it falls like exp(-abs(u)) on both sides
    quadratic=True,  # all pieces are, at most
)
points, lines, cells, intervals, nodes = LOSS.points, LOSS.lines, LOSS.cells, LOSS.intervals, LOSS.nodes
piece, edge, cell = LOSS.piece, LOSS.edge, LOSS.cell
