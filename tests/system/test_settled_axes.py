"""Axes of kappa in several directions, each as fine as a probability on them needs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from giantstep.spec.errors import NotConverged
from giantstep.system.settled_axes import on_settled_axes

MANY = 1_000_000


@dataclass
class Sharp:
    """A Gaussian average by trapezoids over two axes of a given function; at most so many nodes."""

    of: Callable[[np.ndarray, np.ndarray], np.ndarray]
    axes: tuple[int, ...] = (0, 0)
    most: float = math.inf
    asked: list[tuple[int, ...]] = field(default_factory=list)

    @property
    def rules(self) -> list[tuple[np.ndarray, np.ndarray]]:
        steps = [0.5 / 1.3**each for each in self.axes]
        points = [step * (np.arange(-math.ceil(9.0 / step), math.ceil(9.0 / step)) + 0.5) for step in steps]
        return [
            (x, np.exp(-0.5 * x * x) * step / math.sqrt(2.0 * math.pi)) for x, step in zip(points, steps, strict=True)
        ]

    @property
    def table(self) -> np.ndarray:
        return np.empty((math.prod(len(x) for x, _ in self.rules), 1))

    def on_finer(self, axes: tuple[int, ...]) -> Sharp:
        self.asked.append(axes)
        found = Sharp(self.of, axes, self.most)
        if len(found.table) > self.most:
            raise NotConverged("too many nodes", "")
        return found

    def wrong(self) -> float:
        (x, of_x), (y, of_y) = self.rules
        return float(of_x @ self.of(x[:, None], y) @ of_y)


def turn(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A step at x = 1/2 of width 1/20, higher at y > 0."""
    return (1.0 + np.tanh(20.0 * (x - 0.5))) * (2.0 + np.tanh(y))


@pytest.mark.parametrize("sharp", [0, 1])
def test_the_axis_of_a_turn_is_refined(sharp: int) -> None:
    """To the average of a fine rule, with few nodes along the other axis."""
    found, settled = on_settled_axes(Sharp(turn if sharp == 0 else lambda x, y: turn(y, x)), 2, MANY)
    assert settled
    exact = Sharp(turn, (16, 4)).wrong()
    assert found.wrong() == pytest.approx(exact, rel=1e-11)
    assert found.axes[sharp] > 6 and found.axes[1 - sharp] <= 2


def test_a_turn_across_both_axes() -> None:
    """Where the other axis has changed it, an axis is looked at again."""
    found, settled = on_settled_axes(Sharp(lambda x, y: 1.0 + np.tanh(8.0 * (x - y) + 1.0)), 2, MANY)
    assert settled
    z = Sharp(lambda x, y: 1.0 + np.tanh(8.0 * math.sqrt(2.0) * x + 1.0) + 0.0 * y, (18, 0))
    assert found.wrong() == pytest.approx(z.wrong(), rel=1e-11)


def test_the_finest_that_are_affordable() -> None:
    """A jump never settles; and what is not a number is not looked at again."""
    given = Sharp(lambda x, y: np.where(x + 0.3 * y > 0.123, 1.0, 0.0), most=20_000)
    found, settled = on_settled_axes(given, 2, MANY)
    assert 4_000 < len(found.table) <= 20_000 and given.asked and not settled
    few, settled = on_settled_axes(Sharp(given.of), 2, 3_000)
    assert 3_000 < len(few.table) <= 3_000 * 1.3**2 and not settled
    untold = Sharp(lambda x, y: math.nan + x + y)
    assert on_settled_axes(untold, 2, MANY) == (untold, True) and not untold.asked
