"""Names in the derivation of the best estimator: matrices over the m indices of a target, evidence of a label."""

from __future__ import annotations

import sympy as sp

SIDE = sp.Symbol("m", integer=True, positive=True)
ONE = sp.Identity(SIDE)
Q, Q_HAT, LOWER, INFORMATION, SLOPES, MOVE = (
    sp.MatrixSymbol(name, SIDE, SIDE) for name in ("Q", "Qhat", "S", "F", "J", "D")
)
STEP, PLACE = sp.Symbol("epsilon", positive=True), sp.Symbol("w", real=True)
#: Evidence of a label: at a place along a direction after a move of the overlap along it; at places of two indices.
EVIDENCE = sp.Function("Z", positive=True)
ALONG = EVIDENCE(PLACE, STEP)
SHARED = sp.symbols("w_1 w_2", real=True)
AT_TWO = EVIDENCE(*SHARED)
GRADIENT, SAMPLES = sp.Symbol("g", real=True), sp.Symbol("Psi", real=True)
AUBIN, TROIANI = "arXiv:1806.05451, eq. (4)-(7)", "arXiv:2405.15480, eq. (9)-(11)"


def skewed(*sides: sp.Expr) -> tuple[sp.Expr, ...]:
    """Both sides of a claim with an S that is not symmetric."""
    other = LOWER * sp.MatrixSymbol("A", SIDE, SIDE)
    return tuple(side.xreplace({LOWER: other}) for side in sides)
