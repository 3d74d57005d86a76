"""The loss exp(f)-y*f  [Nelder & Wedderburn 1972, J. R. Stat. Soc. A 135, 370; McCullagh & Nelder 1989, section 6.2;
THEORY section 4].

1 smooth piece(s), 3 operations, in u = f.
Generated; do not edit. Signature 4e3d4d6709819fea, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import math

import numpy as np

from generated.runtime.compiling import PIECES, compiled
from generated.runtime.loss import Loss
from generated.runtime.nodes import SCRATCH_SHAPE as SCRATCH_SHAPE

NAME = "poisson"
EXPRESSION = "exp(f)-y*f"
SIGNATURE = "4e3d4d6709819fea814b6d50143fdf3b75d8113acf17ff9cc1bd979b1bf25481"
FORM = "general"
PARAMETERS: tuple[str, ...] = ()
SMOOTH = True
SYMMETRIC = False  # loss(-y, -f) = loss(y, f)
COUNT = 1  # of the pieces
STEEPNESS = 1.0  # of the pieces beside the logistic loss, at the default parameters


@compiled(PIECES)
def rho(k, y, q, n, places, value, slope, curvature):
    """Value, slope and curvature of rho on piece k, at n places u."""
    for i in range(n):
        u = places[i]
        x0 = math.exp(u)
        x1 = -x0
        value[i] = -u*y - x1
        slope[i] = -x1 - y
        curvature[i] = x0


LOSS = Loss(
    rho, None, origins=np.array([[-1, 0]]),
    ranges=np.array([[math.inf, 0.0, 0.0, 1.0]]),  # upper end, whether it is part of it, first piece, pieces
    residual=False, margin=False, smooth=SMOOTH, steepness=STEEPNESS,
    rate=1.0,  # of its exponential growth, which polynomials have not
    curvature=math.inf,  # the largest of a smooth loss
    knee=math.nan,  # where it is, if it falls like exp(-abs(u)) on both sides
    quadratic=False,  # all pieces are, at most
)
points, lines, cells, intervals, nodes = LOSS.points, LOSS.lines, LOSS.cells, LOSS.intervals, LOSS.nodes
piece, edge, cell = LOSS.piece, LOSS.edge, LOSS.cell
