"""Linear equations by what their matrix does along directions, against elimination."""

from __future__ import annotations

import numpy as np
import pytest

from generated.runtime import conjugate_residuals
from generated.runtime.conjugate_residuals import FURTHER, LOST
from giantstep.system.uncompiled import uncompiled

Array = np.ndarray
# which Python does not call otherwise
begin, descend, finish = (uncompiled(getattr(conjugate_residuals, name)) for name in ("begin", "descend", "finish"))


def solved(matrix: Array, right: Array, row: Array, column: Array) -> tuple[Array, list[float]]:
    """The solution as far as it gets, and the norms of what is left, by the room of a stage of the solver."""
    n = len(right)
    system = np.full((2 * n + 4, n), np.nan)
    system[n], system[n + 1] = right, 0.0
    left = [begin(system, n, row, column)]
    for k in range(n):
        system[k] = matrix @ (system[n] * system[n + 3])
        left.append(descend(system, n, k))
        if not FURTHER * left[0] < left[-1] < np.inf:
            break
    finish(system, n)
    return system[n].copy(), left


@pytest.mark.parametrize("smallest", [1.0, 1e-6, 1e-12])
def test_smooth_equations_of_many_blocks_are_solved_in_few_directions(smallest: float) -> None:
    """The identity and a kernel that is smooth, as unknowns of blocks move each other, for blocks of any size.

    What is left of the equations in units of the unknowns is FURTHER of them; their inverse has a norm of one or less.
    """
    blocks = 12
    sizes = smallest ** np.linspace(0.0, 1.0, blocks)
    places = np.array([(b, c) for b in range(blocks) for c in range(b, blocks)]).T
    units, at = np.sqrt(sizes[places[0]] * sizes[places[1]]), np.cos(places[0] / 5.0) + 0.3 * places[1] / blocks
    kernel = np.exp(-((at[:, None] - at) ** 2))  # positive definite
    matrix = (np.eye(len(at)) + kernel / 10.0) * units[:, None] / units
    right = units * (1.0 + np.sin(at))
    found, left = solved(matrix, right, *places)
    exact = np.linalg.solve(matrix / units[:, None] * units, right / units)
    assert len(left) <= 15
    assert left[-1] <= FURTHER * left[0]
    assert np.linalg.norm(found / units - exact) <= 4.0 * FURTHER * np.linalg.norm(right / units)


def test_equations_that_directions_do_not_solve_are_told() -> None:
    """A turn by a right angle: what is left never shrinks, and its image soon is one of those before."""
    matrix = np.array([[0.0, 1.0], [-1.0, 0.0]])
    alone = np.arange(2)
    _, left = solved(matrix, np.array([1.0, 1.0]), alone, alone)
    assert not np.isfinite(left[-1])
    assert 0.0 < LOST < FURTHER
