"""The loss exp(-y*f)  [Freund & Schapire 1997, J. Comput. Syst. Sci. 55, 119; THEORY section 4].

1 smooth piece(s), 2 operations, in u = y f.
Generated; do not edit. Signature c4d8099b4c5436b2, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import math

import numpy as np

from generated.runtime.compiling import PIECES, compiled
from generated.runtime.loss import Loss
from generated.runtime.nodes import SCRATCH_SHAPE as SCRATCH_SHAPE

NAME = "exponential"
EXPRESSION = "exp(-y*f)"
SIGNATURE = "c4d8099b4c5436b2a7e13cf72c48ee0a4ec6dd6e04e584874a77e10a027667dd"
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
        x0 = math.exp(-u)
        value[i] = x0
        slope[i] = -x0
        curvature[i] = x0


LOSS = Loss(
    rho, None, origins=np.array([[-1, 0]]),
    ranges=np.array([[math.inf, 0.0, 0.0, 1.0]]),  # upper end, whether it is part of it, first piece, pieces
    residual=False, margin=True, smooth=SMOOTH, steepness=STEEPNESS,
    rate=1.0,  # of its exponential growth, which polynomials have not
    curvature=math.inf,  # the largest of a smooth loss
    knee=math.nan,  # where it is, if it falls like exp(-abs(u)) on both sides
    quadratic=False,  # all pieces are, at most
)
points, lines, cells, intervals, nodes = LOSS.points, LOSS.lines, LOSS.cells, LOSS.intervals, LOSS.nodes
piece, edge, cell = LOSS.piece, LOSS.edge, LOSS.cell
