"""Newton's method for an equation within equations, on one that is known: X = base + A tanh(X)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from generated.runtime import inner_newton as machine

Array = np.ndarray
_SIZE = 4
_NONE = np.zeros((0, 29), np.uint64)  # rows, which are evaluated here


@dataclass
class Equation:
    """The equation among the numbers that the machine reads, and how often its slope was asked for."""

    matrix: Array
    value: Array = field(init=False)
    state: Array = field(default_factory=lambda: np.zeros(machine.STATE))
    base: float = 0.5
    slopes: int = 0

    def __post_init__(self) -> None:
        size, kind = _SIZE, self.matrix.dtype
        self.value = np.zeros(4 * size + 2 * size * size, kind)
        places = np.arange(4 * size, dtype=np.uint64).reshape(4, size)
        slopes = np.arange(4 * size, len(self.value), dtype=np.uint64).reshape(2, 1, size, size)
        self.of = machine.Followed(_NONE, _NONE, _NONE, _NONE, *places, *slopes)
        self.inverse, self.room = np.zeros((1, size, size), kind), np.zeros((3, size), kind)

    @property
    def given(self) -> tuple[machine.Followed, Array, Array, Array]:
        return self.of, self.value, self.state, self.inverse

    @property
    def x(self) -> Array:
        return self.value[:_SIZE]

    def derivative(self) -> Array:
        """Of what X equals."""
        return np.asarray(self.matrix * (1.0 - np.tanh(self.x) ** 2))

    def tell_slope(self) -> None:
        """Of tanh(X), and of what X equals in that."""
        self.value[4 * _SIZE :] = np.concatenate([self.matrix.ravel(), np.diag(1.0 - np.tanh(self.x) ** 2).ravel()])

    def found(self) -> bool:
        """Do what the machine asks for."""
        x, left = self.value[:_SIZE], self.value[_SIZE : 2 * _SIZE]
        self.state[machine.PHASE] = machine.BEGUN
        while (wanted := machine.advance(*self.given, self.room)) < machine.FOUND:
            if wanted == machine.RESOLVE:
                left[:] = x - self.base - self.matrix @ np.tanh(x)
            else:
                self.slopes += 1
                self.inverse[0] = np.linalg.inv(np.eye(_SIZE) - self.derivative())
        return bool(wanted == machine.FOUND)


def equation(kind: type) -> Equation:
    draw = np.random.default_rng(3)
    matrix = draw.normal(size=(_SIZE, _SIZE)) / 4.0
    return Equation(matrix.astype(kind) + (0.1j if kind is complex else 0.0))


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("start", [0.5, 1e3])
def test_solution_is_found_from_near_and_from_afar(kind: type, start: float) -> None:
    """What is left of the equation is rounding: of a few sums of numbers of size one."""
    of = equation(kind)
    of.x[:] = start
    assert of.found()
    assert np.abs(of.x - 0.5 - of.matrix @ np.tanh(of.x)).max() < 1e-15


def test_inverse_of_another_solution_serves() -> None:
    """A start that is a little off asks for no slope."""
    of = equation(float)
    assert of.found() and of.slopes > 0
    before = of.slopes
    of.base += 1e-3
    assert of.found() and of.slopes == before
    assert np.abs(of.x - 0.501 - of.matrix @ np.tanh(of.x)).max() < 1e-15


@pytest.mark.parametrize("number", [np.inf, np.nan])
def test_equation_without_numbers_is_lost(number: float) -> None:
    of = equation(float)
    assert of.found()
    of.base = number
    with np.errstate(invalid="ignore"):
        assert not of.found()
    assert of.state[machine.KNOWN] == 0.0


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("away", [0.0, 1e-3, 0.02])
def test_adjoint_is_carried_by_an_inverse_nearby(kind: type, away: float) -> None:
    """Refined until it solves its own equation, whose right side has size one."""
    of = equation(kind)
    assert of.found()
    of.inverse[0] = np.linalg.inv(np.eye(_SIZE) - (1.0 - away) * of.derivative())
    of.state[machine.FRESH] = 0.0
    of.tell_slope()
    of.value[3 * _SIZE : 4 * _SIZE] = right = np.random.default_rng(5).normal(size=_SIZE)
    assert machine.carry(*of.given, of.room)
    wanted = np.linalg.solve((np.eye(_SIZE) - of.derivative()).T, -right)
    assert np.abs(of.value[2 * _SIZE : 3 * _SIZE] - wanted).max() < 1e-15 * np.abs(wanted).max() * _SIZE


def test_adjoint_is_not_carried_by_an_inverse_of_something_else() -> None:
    """Nor by one that is no number; by one that is said to be of here it is, whatever it is."""
    of = equation(float)
    assert of.found()
    of.tell_slope()
    of.value[3 * _SIZE : 4 * _SIZE] = 1.0
    for other in (3.0 * np.eye(_SIZE), np.full((_SIZE, _SIZE), np.nan)):
        of.inverse[0], of.state[machine.FRESH] = other, 0.0
        assert not machine.carry(*of.given, of.room)
        of.state[machine.FRESH] = 1.0
        assert machine.carry(*of.given, of.room)
