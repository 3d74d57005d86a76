"""State evolution of the best estimator of a target  [THEORY section 15; arXiv:2405.15480].

known [m, m]: the overlap Q of the directions; lower: S with S S^T = 1 - Q; information [m, m]: E[E[t|y] E[t|y]^T] of
what labels tell of the own part t of the indices; G [Y, m, m]: E[t t^T - 1|y] of labels of probability weight [Y];
alpha: samples over d.

Generated; do not edit. Signature 4c2c4d0a2336cb48, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import numpy as np

SIGNATURE = "4c2c4d0a2336cb48d5cbb944a212f78a02798cbb058f84ca2ee503ce0115bc5f"


def overlap(lower, information, alpha):
    """Q after one step of state evolution."""
    overlap = np.eye(len(lower)) - lower @ np.linalg.inv(alpha*information + lower.T @ lower) @ lower.T
    return overlap


def entropy_slope(lower, known, information, alpha):
    """The free entropy grows by the trace of this times dQ."""
    slope = (
        0.5*alpha*(np.linalg.inv(lower.T) @ information @ np.linalg.inv(lower)) - 0.5*(np.linalg.inv(np.eye(len(lower))
        - known) @ known)
    )
    return slope


def surplus(known, information, alpha):
    """What vanishes at the overlap of one index; numbers."""
    surplus = alpha*information - known
    return surplus


def growth(weight, G):
    """From no overlap one step leads from M to alpha times this [m, m, m, m], summed with M over its inner indices."""
    H = np.einsum('y,ybc,yde->bcde', weight, G, G)
    return H
