"""Linear equations of a derivative."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def solved(matrix: Array, side: Array, scale: Array) -> Array:
    """The solution of linear equations, rows and columns scaled; of least norm where a direction has no equation."""
    columns = matrix * scale
    rows = np.max(np.abs(columns), axis=1)
    rows[rows == 0.0] = 1.0
    scaled, goal = columns / rows[:, None], side / rows
    try:
        found = np.linalg.solve(scaled, goal)
        found -= np.linalg.solve(scaled, scaled @ found - goal)
        if np.all(np.isfinite(found)):
            return np.asarray(found * scale)
    except np.linalg.LinAlgError:
        pass
    return np.asarray(np.linalg.lstsq(scaled, goal, rcond=1e-13)[0] * scale)
