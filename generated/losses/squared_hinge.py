"""The loss max(0,1-y*f)**2/2  [Cortes & Vapnik 1995, Mach. Learn. 20, 273; THEORY section 4].

2 smooth piece(s), 5 operations, in u = y f.
Generated; do not edit. Signature b8f98b5884568476, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import math

import numpy as np

from generated.runtime.compiling import EDGE, PIECES, compiled
from generated.runtime.loss import Loss
from generated.runtime.nodes import SCRATCH_SHAPE as SCRATCH_SHAPE

NAME = "squared_hinge"
EXPRESSION = "max(0,1-y*f)**2/2"
SIGNATURE = "b8f98b588456847678467d4d046cc26e446aa2ef9469c5ec973318c73a12b13b"
FORM = "margin"
PARAMETERS: tuple[str, ...] = ()
SMOOTH = False
SYMMETRIC = True  # loss(-y, -f) = loss(y, f)
COUNT = 2  # of the pieces
STEEPNESS = 1.0  # of the pieces beside the logistic loss, at the default parameters


@compiled(PIECES)
def rho(k, y, q, n, places, value, slope, curvature):
    """Value, slope and curvature of rho on piece k, at n places u beyond the origin of the piece."""
    for i in range(n):
        u = places[i]
        if k == 0:
            value[i] = 0.5*u*u
            slope[i] = u
            curvature[i] = 1.0
        else:
            value[i] = 0.0
            slope[i] = 0.0
            curvature[i] = 0.0


@compiled(EDGE)
def ends(k, y, q):
    """Breakpoint at the end of piece k of rho, in u."""
    if k == 0:
        return 1.0
    return math.nan


LOSS = Loss(
    rho, ends, origins=np.array([[0, 0], [-1, 0]]),
    ranges=np.array([[math.inf, 0.0, 0.0, 2.0]]),  # upper end, whether it is part of it, first piece, pieces
    residual=False, margin=True, smooth=SMOOTH, steepness=STEEPNESS,
    rate=0.0,  # of its exponential growth, which polynomials have not
    curvature=math.inf,  # the largest of a smooth loss
    knee=math.nan,  # where it is, if it falls like exp(-abs(u)) on both sides
    quadratic=True,  # all pieces are, at most
)
points, lines, cells, intervals, nodes = LOSS.points, LOSS.lines, LOSS.cells, LOSS.intervals, LOSS.nodes
piece, edge, cell = LOSS.piece, LOSS.edge, LOSS.cell
