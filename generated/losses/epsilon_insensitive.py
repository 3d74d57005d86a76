"""The loss max(0,abs(y-f)-epsilon)  [Vapnik 1995, The Nature of Statistical Learning Theory; THEORY section 4].

3 smooth piece(s), 3 operations, in u = f - y.
Generated; do not edit. Signature 993719e081ee6357, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import math

import numpy as np

from generated.runtime.compiling import EDGE, PIECES, compiled
from generated.runtime.loss import Loss
from generated.runtime.nodes import SCRATCH_SHAPE as SCRATCH_SHAPE

NAME = "epsilon_insensitive"
EXPRESSION = "max(0,abs(y-f)-epsilon)"
SIGNATURE = "993719e081ee63574342f1234a91b892b763b78d5ab746318a04b883019839df"
FORM = "residual"
PARAMETERS: tuple[str, ...] = ('epsilon',)
SMOOTH = False
SYMMETRIC = True  # loss(-y, -f) = loss(y, f)
COUNT = 3  # of the pieces
STEEPNESS = 1.0  # of the pieces beside the logistic loss, at the default parameters


@compiled(PIECES)
def rho(k, y, q, n, places, value, slope, curvature):
    """Value, slope and curvature of rho on piece k, at n places u."""
    epsilon = q[0]
    for i in range(n):
        u = places[i]
        if k == 0:
            value[i] = -epsilon - u
            slope[i] = -1.0
            curvature[i] = 0.0
        elif k == 1:
            value[i] = 0.0
            slope[i] = 0.0
            curvature[i] = 0.0
        else:
            value[i] = -epsilon + u
            slope[i] = 1.0
            curvature[i] = 0.0


@compiled(EDGE)
def ends(k, y, q):
    """Breakpoint at the end of piece k of rho, in u."""
    epsilon = q[0]
    if k == 0:
        return -epsilon
    if k == 1:
        return epsilon
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
