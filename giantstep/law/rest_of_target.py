"""The directions of the target beside a spike, in the coordinates that the spike is given in."""

from __future__ import annotations

import numpy as np

Array = np.ndarray
_INSIDE = 1e-13  # of a direction: rounding of one in the span of those before


def rest_of_target(axes: Array, indices: int) -> Array:
    """Unit vectors u_l [m, D] with theta_i = sum_j gamma_ji v_j + sum_(l<=i) L_il u_l, zero where L_ll vanishes.

    axes [q, D]: orthonormal v_j by coordinates, of which the first m are those along theta.
    """
    found: list[Array] = []
    for one in np.eye(indices, axes.shape[1]):
        left = one
        for _ in range(2):  # once more against rounding
            for known in (*axes, *found):
                left = left - (known @ left) * known
        length = float(np.linalg.norm(left))
        found.append(left / length if length > _INSIDE else 0.0 * left)
    return np.array(found)
