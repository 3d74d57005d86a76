"""The loss max(0,1-y*f)  [[GER20]; Cortes & Vapnik 1995, Mach. Learn. 20, 273; THEORY section 4].

2 smooth piece(s), 1 operations, in u = y f.
Generated; do not edit. Signature 20f75098464d425a, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import math

import numpy as np

from generated.runtime.compiling import EDGE, PIECES, compiled
from generated.runtime.loss import Loss
from generated.runtime.nodes import SCRATCH_SHAPE as SCRATCH_SHAPE

NAME = "hinge"
EXPRESSION = "max(0,1-y*f)"
SIGNATURE = "20f75098464d425accab698ddeb5aa3530e29c39073143680534c3aab385dc99"
FORM = "margin"
PARAMETERS: tuple[str, ...] = ()
SMOOTH = False
SYMMETRIC = True  # loss(-y, -f) = loss(y, f)
COUNT = 2  # of the pieces
STEEPNESS = 1.0  # of the pieces beside the logistic loss, at the default parameters


@compiled(PIECES)
def rho(k, y, q, n, places, value, slope, curvature):
    """Value, slope and curvature of rho on piece k, at n places u."""
    for i in range(n):
        u = places[i]
        if k == 0:
            value[i] = 1.0 - u
            slope[i] = -1.0
            curvature[i] = 0.0
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
    rho, ends, origins=np.array([[-1, 0], [-1, 0]]),
    ranges=np.array([[math.inf, 0.0, 0.0, 2.0]]),  # upper end, whether it is part of it, first piece, pieces
    residual=False, margin=True, smooth=SMOOTH, steepness=STEEPNESS,
    rate=0.0,  # of its exponential growth, which polynomials have not
    curvature=math.inf,  # the largest of a smooth loss
    knee=math.nan,  # where it is, if it falls like exp(-abs(u)) on both sides
    quadratic=True,  # all pieces are, at most
)
points, lines, cells, intervals, nodes = LOSS.points, LOSS.lines, LOSS.cells, LOSS.intervals, LOSS.nodes
piece, edge, cell = LOSS.piece, LOSS.edge, LOSS.cell
