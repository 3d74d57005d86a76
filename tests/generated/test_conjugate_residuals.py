"""Linear equations by what their matrix does along directions, against elimination."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from interpreted import interpreted
from mutants import survivors

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


def in_few_directions(matrix: Array, right: Array, other: Array, count: int) -> tuple[Array, Array, float]:
    """By a QR decomposition of what the matrix does to its powers: what leaves least of the equations, the solution for
    other ones by these directions and by one in the place of the matrix beside them, and how much that is of them.
    """
    powers = np.stack([np.linalg.matrix_power(matrix, k) @ right for k in range(count)], axis=1)
    images, triangle = np.linalg.qr(matrix @ powers)
    known = images.T @ other
    rest = other - images @ known
    step = powers @ np.linalg.solve(triangle, known) + rest
    return powers @ np.linalg.solve(triangle, images.T @ right), step, float(np.linalg.norm(rest))


N, COUNT = 6, 3
SIZES = np.array([1.0, 1e-3, 20.0])  # of the blocks
ROW, COLUMN = np.array([[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]])
UNITS = np.sqrt(SIZES[ROW] * SIZES[COLUMN])
DRAW = np.random.default_rng(4)
MATRIX = np.eye(N) + 0.3 * DRAW.normal(size=(N, N))  # of unknowns in their units
RIGHT, OTHER = DRAW.uniform(-1.0, 1.0, (2, N))
RIGHT[[0, 3, 5]] = 0.5, 1.0, -1.0  # of the blocks themselves; the first one's unknown is larger
UNKNOWN = DRAW.uniform(-0.5, 0.5, N)
UNKNOWN[0] = -1.0
EXACT = in_few_directions(MATRIX, RIGHT, OTHER, COUNT)
LEFT = [float(np.linalg.norm(RIGHT - MATRIX @ in_few_directions(MATRIX, RIGHT, OTHER, k)[0])) for k in (1, 2, 3)]


def is_right(module: ModuleType) -> bool:
    system = np.full((2 * N + 4, N), np.nan)
    system[N], system[N + 1] = RIGHT * UNITS, UNKNOWN * UNITS
    left = [module.begin(system, N, ROW, COLUMN)]
    for k in range(COUNT):
        system[k] = UNITS * (MATRIX @ system[N])
        left.append(module.descend(system, N, k))
    module.finish(system, N)
    solved, step = system[N] / UNITS, np.full(N, np.nan)
    system[N + 1] = UNITS
    found, change = module.solve_along(system, COUNT, OTHER * UNITS, step)
    norms = [np.linalg.norm(RIGHT), *LEFT, EXACT[2] / np.linalg.norm(OTHER), abs(EXACT[1]).max()]
    right = np.allclose(solved, EXACT[0], rtol=1e-11) and np.allclose(step / UNITS, EXACT[1], rtol=1e-11)
    right = right and np.allclose([*left, found, change], norms, rtol=1e-11)
    room = np.full((2 * N + 4, N), np.nan)
    room[N], room[N + 1] = RIGHT, 0.0
    room[N, ROW == COLUMN] = 0.0
    right = (
        right and np.isclose(module.begin(room, N, ROW, COLUMN), np.linalg.norm(room[N])) and np.all(room[N + 3] == 1.0)
    )
    none = module.solve_along(system, COUNT, np.zeros(N), step), module.solve_along(system, COUNT, np.nan * OTHER, step)
    return bool(right and none[0] == (0.0, 0.0) and np.isnan(none[1]).all())


def test_changes_are_noticed() -> None:
    """In plain Python; what counts as nothing new of a direction is told apart above."""
    tried, survived = survivors("conjugate_residuals", lambda text: is_right(interpreted(text)))
    assert tried > 30
    assert not [words for words in survived if not words.startswith("before += ")]
