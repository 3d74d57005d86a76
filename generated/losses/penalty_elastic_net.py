"""The loss l1*abs(f-y)  [Tibshirani 1996; Zou & Hastie 2005, JRSS B 67, 301; THEORY section 4].

2 smooth piece(s), 3 operations, in u = f - y.
Generated; do not edit. Signature 3e98097a9f5134ec, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import math

import numpy as np

from generated.runtime.compiling import EDGE, PIECES, compiled
from generated.runtime.loss import Loss
from generated.runtime.nodes import SCRATCH_SHAPE as SCRATCH_SHAPE

NAME = "penalty_elastic_net"
EXPRESSION = "l1*abs(f-y)"
SIGNATURE = "3e98097a9f5134ec7b07c84b50fe29b94f08c23180d188f2c8f382ef47a21d40"
FORM = "residual"
PARAMETERS: tuple[str, ...] = ('l1',)
SMOOTH = False
SYMMETRIC = True  # loss(-y, -f) = loss(y, f)
COUNT = 2  # of the pieces
STEEPNESS = 1.0  # of the pieces beside the logistic loss, at the default parameters


@compiled(PIECES)
def rho(k, y, q, n, places, value, slope, curvature):
    """Value, slope and curvature of rho on piece k, at n places u."""
    l1 = q[0]
    for i in range(n):
        u = places[i]
        if k == 0:
            value[i] = -l1*u
            slope[i] = -l1
            curvature[i] = 0.0
        else:
            value[i] = l1*u
            slope[i] = l1
            curvature[i] = 0.0


@compiled(EDGE)
def ends(k, y, q):
    """Breakpoint at the end of piece k of rho, in u."""
    if k == 0:
        return 0.0
    return math.nan


LOSS = Loss(
    rho, ends, origins=np.array([[-1, 0], [-1, 0]]),
    ranges=np.array([[math.inf, 0.0, 0.0, 2.0]]),  # upper end, whether it is part of it, first piece, pieces
    residual=True, margin=False, smooth=SMOOTH, steepness=STEEPNESS,
    rate=0.0,  # of its exponential growth, which polynomials have not
    curvature=math.inf,  # the largest of a smooth loss
    knee=math.nan,  # where it is, if it falls like exp(-abs(u)) on both sides
    quadratic=True,  # all pieces are, at most
)
points, lines, cells, intervals, nodes = LOSS.points, LOSS.lines, LOSS.cells, LOSS.intervals, LOSS.nodes
piece, edge, cell = LOSS.piece, LOSS.edge, LOSS.cell
