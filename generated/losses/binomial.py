"""The loss trials*softplus(f)-y*f  [Nelder & Wedderburn 1972, J. R. Stat. Soc. A 135, 370; McCullagh & Nelder 1989,
section 4.3; THEORY section 4].

1 smooth piece(s), 6 operations, in u = f.
Generated; do not edit. Signature 29b17f7fbd3677c9, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import math

import numpy as np

from generated.runtime.compiling import PIECES, compiled
from generated.runtime.loss import Loss
from generated.runtime.nodes import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.special import sigmoid, softplus

NAME = "binomial"
EXPRESSION = "trials*softplus(f)-y*f"
SIGNATURE = "29b17f7fbd3677c95393afb65e49db33018a9a229352d9dc58c6f52fdd17897a"
FORM = "general"
PARAMETERS: tuple[str, ...] = ('trials',)
SMOOTH = True
SYMMETRIC = False  # loss(-y, -f) = loss(y, f)
COUNT = 1  # of the pieces
STEEPNESS = 1.0  # of the pieces beside the logistic loss, at the default parameters


@compiled(PIECES)
def rho(k, y, q, n, places, value, slope, curvature):
    """Value, slope and curvature of rho on piece k, at n places u."""
    trials = q[0]
    for i in range(n):
        u = places[i]
        value[i] = trials*softplus(u) - u*y
        slope[i] = trials*sigmoid(u) - y
        curvature[i] = 0.25*trials/math.cosh(0.5*u)**2


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
