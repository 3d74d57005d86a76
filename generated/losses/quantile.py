"""The loss max(tau*(y-f),(tau-1)*(y-f))  [Koenker & Bassett 1978, Econometrica 46, 33; THEORY section 4].

2 smooth piece(s), 4 operations, in u = f - y.
Generated; do not edit. Signature d7cdf3643997ce63, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import math

import numpy as np

from generated.runtime.compiling import EDGE, PIECES, compiled
from generated.runtime.loss import Loss
from generated.runtime.nodes import SCRATCH_SHAPE as SCRATCH_SHAPE

NAME = "quantile"
EXPRESSION = "max(tau*(y-f),(tau-1)*(y-f))"
SIGNATURE = "d7cdf3643997ce63bc5cb62b4f8b86c86cb2375f8626681b48bf4aa4efea59e2"
FORM = "residual"
PARAMETERS: tuple[str, ...] = ('tau',)
SMOOTH = False
SYMMETRIC = False  # loss(-y, -f) = loss(y, f)
COUNT = 2  # of the pieces
STEEPNESS = 1.0  # of the pieces beside the logistic loss, at the default parameters


@compiled(PIECES)
def rho(k, y, q, n, places, value, slope, curvature):
    """Value, slope and curvature of rho on piece k, at n places u."""
    tau = q[0]
    for i in range(n):
        u = places[i]
        if k == 0:
            value[i] = -tau*u
            slope[i] = -tau
            curvature[i] = 0.0
        else:
            x0 = tau - 1.0
            value[i] = -u*x0
            slope[i] = -x0
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
