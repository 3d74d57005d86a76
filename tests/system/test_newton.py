"""Newton's method and continuation on systems whose roots are known, and where they must give up."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from giantstep.system.newton import Outcome, continued, newton

Array = np.ndarray


@dataclass
class System:
    """A function and its Jacobian; nan outside the feasible set."""

    function: Callable[[Array], Array]
    derivative: Callable[[Array], Array]
    size: float = 1.0
    calls: int = 0
    again: float = 0.0
    derivatives: int = 0
    smooth: bool = False
    last: Array = field(default_factory=lambda: np.empty(0))

    def residual(self, x: Array) -> Array:
        self.calls, self.last = self.calls + 1, x
        with np.errstate(all="ignore"):
            return np.asarray(self.function(x), dtype=float)

    def jacobian(self) -> Array:
        self.derivatives += 1
        return np.atleast_2d(self.derivative(self.last))

    def matrix_of_step(self) -> Array:
        return self.jacobian()

    def scale(self, x: Array) -> Array:
        return np.maximum(np.abs(x), self.size)

    def sizes_of_equations(self, size: Array) -> Array | None:
        return size if self.smooth else None

    def along(self, directions: Array) -> Array:
        return np.asarray(self.jacobian() @ directions)


def circle() -> System:
    """x^2 + y^2 = 5, x y = 2: the roots (1, 2), (2, 1) and their mirror images."""
    return System(
        lambda x: np.array([x[0] ** 2 + x[1] ** 2 - 5.0, x[0] * x[1] - 2.0]),
        lambda x: np.array([[2 * x[0], 2 * x[1]], [x[1], x[0]]]),
    )


@pytest.mark.parametrize(("start", "root"), [((0.5, 3.0), (1, 2)), ((4.0, 1.0), (2, 1)), ((-0.5, -9.0), (-1, -2))])
def test_roots_of_a_system(start: tuple[float, float], root: tuple[float, float]) -> None:
    system = circle()
    outcome = newton(system, np.array(start))
    assert outcome.converged and outcome.evaluations == system.calls
    assert outcome.x == pytest.approx(root, rel=1e-15)


def test_unknowns_and_equations_of_very_different_size() -> None:
    """Rows and columns are scaled: 1e-12 x + y^2 = 862500 and 1e-9 x y = 2e11 at (8e17, 250)."""
    system = System(
        lambda x: np.array([1e-12 * x[0] + x[1] ** 2 - 862500.0, 1e-9 * x[0] * x[1] - 2e11]),
        lambda x: np.array([[1e-12, 2 * x[1]], [1e-9 * x[1], 1e-9 * x[0]]]),
        size=1e-300,
    )
    outcome = newton(system, np.array([1.1e18, 210.0]))
    assert outcome.converged and outcome.x == pytest.approx([8e17, 250.0], rel=1e-14)


def test_steps_are_shortened_where_full_ones_diverge() -> None:
    outcome = newton(System(np.arctan, lambda x: 1.0 / (1.0 + x**2)), np.array([10.0]))
    assert outcome.converged and abs(outcome.x[0]) < 1e-14


def test_steps_stay_feasible() -> None:
    """log x - 1 is nan for x < 0, where the first full step from 20 leads."""
    system = System(lambda x: np.log(x) - 1.0, lambda x: 1.0 / x)
    outcome = newton(system, np.array([20.0]))
    assert outcome.converged and outcome.x[0] == pytest.approx(math.e, rel=1e-15)
    assert not newton(system, np.array([-1.0])).converged


def test_a_direction_without_an_equation_stays_where_it_is() -> None:
    """x + y = 3 twice: the step of least length."""
    twice = System(lambda x: np.full(2, x[0] + x[1] - 3.0), lambda x: np.ones((2, 2)))
    outcome = newton(twice, np.array([2.0, 0.0]))
    assert outcome.converged and outcome.x == pytest.approx([2.5, 0.5], abs=1e-14)


def test_a_direction_with_next_to_no_equation() -> None:
    """Rounding moves y by more than a step may: solved if the residual is rounding, and not if it is more."""

    def noisy(noise: float) -> System:
        return System(
            lambda x: np.array([x[0] - 1.0, np.copysign(max(1e-9 * abs(x[1] - 1.0), noise), x[1] - 1.0)]),
            lambda x: np.diag([1.0, 1e-9]),
        )

    assert newton(noisy(1e-14), np.array([3.0, 0.5])).converged
    assert not newton(noisy(1e-10), np.array([3.0, 0.5])).converged


def test_without_a_root() -> None:
    """x^2 + 1 has none; nor has a Jacobian that is not finite a step."""
    assert not newton(System(lambda x: x**2 + 1.0, lambda x: 2.0 * x), np.array([0.7])).converged
    # the first step leads to the minimum, where the step of least length is none at all
    assert not newton(System(lambda x: x**2 + 1.0, lambda x: 2.0 * x), np.array([1.0])).converged
    assert not newton(System(lambda x: x - 1.0, lambda x: np.array([math.nan])), np.array([3.0])).converged
    slow = newton(System(lambda x: np.exp(-x), lambda x: -np.exp(-x)), np.array([0.0]), most=5)
    assert not slow.converged and slow.evaluations == 6


def test_blind_steps_save_the_last_evaluation() -> None:
    """The last step, shorter than the root of the precision asked for, is not looked at: it is squared next."""
    seen, blind = System(lambda x: x**3 - 2.0, lambda x: 3 * x**2), System(lambda x: x**3 - 2.0, lambda x: 3 * x**2)
    sure, quick = newton(seen, np.array([1.5])), newton(blind, np.array([1.5]), settled=1e-3, blind=True)
    root = 2.0 ** (1.0 / 3.0)
    assert sure.x[0] == pytest.approx(root, rel=1e-15) and quick.x[0] == pytest.approx(root, rel=1e-6)
    assert blind.calls < seen.calls and quick.evaluations == blind.calls


@pytest.mark.parametrize("again", [0.05, 0.3, 0.9])
def test_a_jacobian_serves_again(again: float) -> None:
    """The root is as right as by Newton's method, however slowly further steps go there, with fewer Jacobians."""
    plain, few = circle(), circle()
    few.again = again
    right, found = newton(plain, np.array([0.9, 2.2])), newton(few, np.array([0.9, 2.2]))
    assert found.converged and found.x == pytest.approx(right.x, rel=2e-14)
    assert few.derivatives < plain.derivatives
    blind = circle()
    blind.again = again
    assert newton(blind, np.array([0.9, 2.2]), settled=1e-5, blind=True).x == pytest.approx(right.x, rel=1e-9)
    assert blind.calls < few.calls


def test_steps_teach_the_matrix() -> None:
    """From afar the first Jacobian alone leads to the root, where what it leaves shrinks faster at every step; in one
    dimension that is the secant method.
    """
    system = circle()
    system.again = 0.5
    outcome = newton(system, np.array([0.9, 2.4]))
    assert outcome.converged and system.derivatives == 1
    assert outcome.x == pytest.approx((1.0, 2.0), rel=1e-14)
    line = System(lambda x: x**2 - 2.0, lambda x: 2.0 * x, again=0.5)
    places = [np.array([1.3])]
    line.function = lambda x: places.append(x) or x**2 - 2.0  # type: ignore[func-returns-value]
    assert newton(line, places.pop()).converged and line.derivatives == 1
    _, one, two, three = (float(x[0]) for x in places[:4])
    assert three == pytest.approx(two - (two**2 - 2.0) * (two - one) / (two**2 - one**2), rel=1e-14)


def test_short_steps_by_the_same_jacobian_are_not_made() -> None:
    """They leave what is left, and save an evaluation."""
    whole, part = circle(), circle()
    whole.again = part.again = 0.5
    exact, near = (newton(each, np.array([0.9, 2.4]), enough=size) for each, size in ((whole, 0.0), (part, 1e-8)))
    assert part.calls < whole.calls and exact.left == 0.0 < near.left < 1e-8
    assert np.abs(near.x / exact.x - 1.0).max() == pytest.approx(near.left, rel=0.5)


def test_the_jacobian_of_a_system_beside() -> None:
    """It leads to the root of this system, not of its own; where it is no good, it is evaluated anew."""
    beside = circle()
    beside.again = 0.1
    near = newton(beside, np.array([0.9, 2.2]))
    moved = System(
        lambda x: np.array([x[0] ** 2 + x[1] ** 2 - 5.001, x[0] * x[1] - 2.001]), circle().derivative, again=0.1
    )
    found = newton(moved, near.x, near=near)
    assert found.converged and moved.derivatives == 0
    assert found.x == pytest.approx(newton(replace(moved, again=0.0), near.x).x, rel=2e-14)
    far = replace(moved, derivatives=0)
    found = newton(far, np.array([4.0, 1.0]), near=near)
    assert found.converged and far.derivatives > 0
    assert found.x**2 @ np.ones(2) == pytest.approx(5.001, rel=1e-14)
    assert newton(far, near.x, near=Outcome(near.x, 1, True)).converged  # of one without


def test_rounding_ends_the_iteration() -> None:
    """(x - 1)^2 evaluated with noise of 1e-16: steps stall near 1e-8 and the answer is taken."""
    noise = System(lambda x: x**2 - 2.0 * x + 1.0 + 1e-17 * np.cos(1e9 * x), lambda x: 2.0 * x - 2.0)
    outcome = newton(noise, np.array([3.0]), settled=1e-15)
    assert abs(outcome.x[0] - 1.0) < 1e-6


def test_continuation_follows_powers() -> None:
    """x^2 = p and x y = 1: x and 1/y vanish as the root of p, over sixteen decades."""
    made: list[System] = []

    def at(p: float) -> System:
        made.append(
            System(
                lambda x: np.array([x[0] ** 2 / p - 1.0, x[0] * x[1] - 1.0]),
                lambda x: np.array([[2 * x[0] / p, 0.0], [x[1], x[0]]]),
                size=1e-300,
            )
        )
        return made[-1]

    outcome = continued(at, np.array([1.2, 0.7]), 1.0, 1e-16)
    assert outcome.converged and outcome.x == pytest.approx([1e-8, 1e8], rel=1e-13)
    assert outcome.evaluations == sum(system.calls for system in made) < 120


def test_continuation_gives_up_where_the_solution_ends() -> None:
    """x^2 = p - 0.01 has no root below p = 0.01; nothing is returned as solved."""
    outcome = continued(
        lambda p: System(lambda x: x**2 - (p - 0.01), lambda x: 2.0 * x, 1e-3), np.array([1.0]), 1.0, 1e-3
    )
    assert not outcome.converged
    assert not continued(lambda p: System(lambda x: x**2 + p, lambda x: 2 * x), np.array([1.0]), 1.0, 0.1).converged
    assert not continued(
        lambda p: System(lambda x: x**2 - p, lambda x: 2 * x), np.array([1.0]), 1.0, 1e-9, most=3
    ).converged


def test_continuation_shortens_its_steps() -> None:
    """A root at log p that is feasible only from nearer than the first step."""

    def at(p: float) -> System:
        def near(x: Array) -> Array:
            return np.where(np.abs(x - math.log(p)) < 0.4, np.sinh(x - math.log(p)), np.nan)

        return System(near, lambda x: np.cosh(x - math.log(p)))

    outcome = continued(at, np.array([0.1]), 1.0, 1e-3)
    assert outcome.converged and outcome.x[0] == pytest.approx(math.log(1e-3), rel=1e-12)


def test_a_stiff_equation_does_not_shorten_the_steps() -> None:
    """Rosenbrock's valley, its curved equation 1e6 times the other: no step along the valley reduces the residual."""
    valley = System(
        lambda x: np.array([1e6 * (x[1] - x[0] ** 2), 1.0 - x[0]]),
        lambda x: np.array([[-2e6 * x[0], 1e6], [-1.0, 0.0]]),
    )
    outcome = newton(valley, np.array([-1.2, 1.0]))
    assert outcome.converged and outcome.x == pytest.approx([1.0, 1.0], rel=1e-14)
    assert outcome.evaluations < 10


def test_steps_that_rounding_holds_up_end() -> None:
    """The residual of a direction with next to no equation is noise of 1e-11: its unknown is known to 1e-6."""
    source = np.random.default_rng(1)
    system = System(
        lambda x: np.array([x[0] ** 2 - 2.0, 1e-5 * (x[1] - 1.0) + 1e-11 * source.standard_normal()]),
        lambda x: np.diag([2.0 * x[0], 1e-5]),
    )
    outcome = newton(system, np.array([3.0, 5.0]))
    assert outcome.converged and outcome.evaluations < 40
    assert outcome.x == pytest.approx([math.sqrt(2.0), 1.0], rel=1e-5)


def of_many(count: int, kernel: float) -> System:
    """x + K x^3 = b with a smooth kernel K, whose root is 1 + sin(3 t)/2 at t in (0, 1)."""
    at = np.linspace(0.0, 1.0, count)
    matrix = kernel * np.exp(-((at[:, None] - at) ** 2)) / count
    root = 1.0 + 0.5 * np.sin(3.0 * at)
    return System(
        lambda x: x - root + matrix @ (x**3 - root**3),
        lambda x: np.eye(count) + 3.0 * matrix * x**2,
        smooth=True,
    )


def test_many_unknowns_are_solved_along_a_few_directions() -> None:
    """80 unknowns: fewer directions than a single matrix has columns, at the same root to rounding."""
    system = of_many(80, 2.0)
    found = newton(system, np.ones(80))
    assert found.converged and found.x == pytest.approx(1.0 + 0.5 * np.sin(3.0 * np.linspace(0.0, 1.0, 80)), rel=1e-14)
    assert system.derivatives < 80
    by_matrix = newton(replace(system, smooth=False), np.ones(80))
    assert found.x == pytest.approx(by_matrix.x, rel=1e-14)
    assert found.evaluations == by_matrix.evaluations


def test_where_directions_do_not_solve_the_equations_the_matrix_does() -> None:
    """Half of the unknowns are turned into the other half: what is left does not shrink along it."""
    turn = np.block([[np.zeros((40, 40)), np.eye(40)], [-np.eye(40), np.zeros((40, 40))]])
    system = System(lambda x: turn @ x - np.arange(80.0), lambda x: turn, smooth=True)
    found = newton(system, np.zeros(80))
    assert found.converged and found.x == pytest.approx(np.linalg.solve(turn, np.arange(80.0)), abs=1e-13)


def test_a_start_that_is_close_enough_stays() -> None:
    system, near = circle(), np.array([1.0 + 1e-12, 2.0])
    outcome = newton(system, near, enough=1e-11)
    assert outcome.converged and outcome.evaluations == 1 and np.array_equal(outcome.x, near)
    assert outcome.left == pytest.approx(1e-12, rel=1e-3)
    moved = newton(circle(), near, enough=1e-13)
    assert moved.x[0] == pytest.approx(1.0, abs=2e-16) and moved.left == 0.0


def test_an_unknown_that_vanishes_by_itself_is_zero() -> None:
    """Not what rounding of the others leaves, of which no equation can be a small part: m where features have no mean.

    The other equations have a direction too many, which steps of least length do without.
    """
    source = np.random.default_rng(0)
    wide = source.standard_normal((6, 5)) @ source.standard_normal((5, 6))
    matrix = np.insert(np.insert(wide, 1, 0.0, axis=0), 1, np.zeros(7), axis=1)
    matrix[1, 1] = 1.0
    goal, start = matrix @ np.array([1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0]), np.array([5.0, 0.0, -3.0, 1.0, 0.5, 2.0, 1.0])
    outcome = newton(System(lambda x: matrix @ x - goal, lambda x: matrix), start)
    assert outcome.converged and matrix @ outcome.x == pytest.approx(goal, rel=1e-12)
    assert outcome.x[1] == 0.0
