"""Moments of a normal pair on rectangles, and a loss of quadratic pieces there: against sums over x in short panels.

Given x, y is normal, and what is below a place is closed: only x is summed over, on panels as short as y turns there.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from types import ModuleType

import mutants
import numpy as np
import pytest
from interpreted import interpreted, runtime_text
from loss_cases import loss_table, model
from mutants import survivors
from scipy.special import ndtr

from generated.losses import quantile
from generated.runtime import rectangle_moments as owner
from generated.runtime.label_lines import LabelLines
from generated.runtime.nodes import Fields, Rule
from giantstep.quadrature.gauss import gauss_rule, normal_nodes

CLOSE = 1e-14  # some forty roundings of numbers of order one
ROOM = np.empty((owner.ROWS, len(owner.NODES)))
PLAIN = interpreted(runtime_text("rectangle_moments"))
ENDS = [(-math.inf, math.inf), (-math.inf, -0.7), (0.4, math.inf), (-0.3, 1.1), (2.0, 2.1), (0.0, 0.9)]
ANGLES = [0.0, 0.4, -1.2, 1.5, math.pi / 2 - 1e-4, 1e-8 - math.pi / 2]
#: Lines of the closed forms that hold mathematics.
EQUATIONS = re.compile(
    r"\s*(return Below|return Strip|mass|y\.|-|rho|density|kept|side|both|place = |u, turned|mean = |weight|law|moment"
    r"|x |xy|xx|y |yy|rise|es|sums|share|slope = |[a-z]\w*, [a-z]\w* = )"
)
CHANGES = (*mutants.CHANGES, ("rho", "root"))


def pair(angle: float, ends: tuple[float, float]) -> owner.Pair:
    """A pair whose correlation is the sine of an angle."""
    return owner.Pair(math.sin(angle), math.cos(angle), *map(PLAIN.place_of, ends))


def summed(angle: float, ends: tuple[float, float], y: float) -> np.ndarray:
    """(1, y, x, y^2, xy, x^2) below a place, by x."""
    rho, root = math.sin(angle), math.cos(angle)
    turns = y / rho + root / abs(rho) * np.arange(-9, 10) if abs(rho) > 0.5 else []
    low, high = (min(max(end, -9.5), 9.5) for end in ends)
    x, weight = normal_nodes(np.unique(np.clip([*np.linspace(low, high, 40), *turns], low, high)), 16)
    u = (y - rho * x) / root
    below, density = ndtr(u), np.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi)
    first = rho * x * below - root * density
    second = rho * x * first + root * root * below - root * y * density
    return np.array([below, first, x * below, second, x * first, x * x * below]) @ weight


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("y", [-4.0, -0.5, 0.0, 1.7])
def test_moments_below_a_place(angle: float, ends: tuple[float, float], y: float) -> None:
    found = PLAIN.moments_below(pair(angle, ends), y, ROOM)
    assert found[1:7] == pytest.approx(summed(angle, ends, y), rel=0.0, abs=CLOSE)


@pytest.mark.parametrize("angle", ANGLES[:4])
@pytest.mark.parametrize("ends", ENDS)
def test_the_density_is_the_slope_of_what_is_below(angle: float, ends: tuple[float, float]) -> None:
    y, step = 0.6, 1e-3
    found = PLAIN.moments_below(pair(angle, ends), y, ROOM)
    below, above = (summed(angle, ends, y + shift) for shift in (-step, step))
    low, high = (PLAIN.moments_below(pair(angle, ends), y + shift, ROOM).density for shift in (-step, step))
    error = 0.2 * (step / math.cos(angle)) ** 2  # of central differences: a sixth of the third derivative
    wanted = (above - below) / (2.0 * step)
    assert (found.density, found.density_x) == pytest.approx((wanted[0], wanted[2]), abs=error)
    assert found.slope == pytest.approx((high - low) / (2.0 * step), abs=error / math.cos(angle))


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("ends", ENDS)
def test_moments_of_all(angle: float, ends: tuple[float, float]) -> None:
    assert PLAIN.moments_of_all(pair(angle, ends))[1:7] == pytest.approx(summed(angle, ends, 12.0), rel=0.0, abs=CLOSE)


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("ends", ENDS)
def test_a_short_strip_is_a_difference(angle: float, ends: tuple[float, float]) -> None:
    middle, width = 0.8, min(0.1, 2.0 * math.cos(angle))
    strip = PLAIN.moments_near(pair(angle, ends), middle, width, ROOM)
    one, y, x, yy, xy, xx = summed(angle, ends, middle + 0.5 * width) - summed(angle, ends, middle - 0.5 * width)
    wanted = one, y - middle * one, yy - middle * (2.0 * y - middle * one), x, xy - middle * x, xx
    assert strip == pytest.approx(wanted, rel=0.0, abs=CLOSE)


def averages(loss: object) -> np.ndarray:
    """Of lines that end, at an output on whose spread all parts are long, and at one that makes the middle short."""
    found = model(loss_table("quantile"), target__link="tanh").fit.loss
    draw = np.random.default_rng(5)
    low, high = np.array([[-np.inf, -0.4, 0.9, -1.5]]), np.array([[0.3, 0.9, np.inf, np.inf]])
    label, slope = np.array([[0.3, -0.8, 1.5, -7.0]]), np.array([[0.7, 2.0, 60.0, 0.2]])
    weight, t = draw.random((1, 4)), draw.normal(size=(1, 4, 1))
    rows = (np.repeat(each, 2, axis=0) for each in (weight, t, label, slope, low, high))
    out = np.empty((15, 2))
    fields = Fields(np.full(2, 1.3), np.full(2, 0.2), np.full((1, 2), 0.7), np.array([0.5, 900.0]))
    rule = Rule(gauss_rule(44), 44, np.array(found.values, dtype=float), 0.0)
    labels = LabelLines(*rows, np.array([0.6]), np.array([[0.3]]))
    loss.lines(rule, labels, fields, np.empty(quantile.SCRATCH_SHAPE), out)  # type: ignore[attr-defined]
    return out.ravel()


def shares(module: ModuleType) -> list[float]:
    """How likely pairs are found where a loss is felt: averages tell a rule by them, and may not know their digits."""
    found = []
    for angle, ends in ((0.4, (-0.3, 1.1)), (-1.2, (0.4, math.inf)), (0.9, (-math.inf, 0.0)), (0.6, (1.2, 1.4))):
        pair = module.Pair(math.sin(angle), math.cos(angle), *map(module.place_of, ends))
        found += [module._share(pair, *places) for places in ((-math.inf, -1.1), (-0.2, 0.1), (2.0, 2.3))]
    return found


def moments(module: ModuleType) -> np.ndarray:
    """All that rectangles have, at a few of them."""
    found: list[float] = []
    for angle, ends in (
        (0.4, (-0.3, 1.1)),
        (-1.2, (0.4, math.inf)),
        (0.2, (0.5, 0.7)),
        (0.9, (-math.inf, 0.0)),
        (1.0, (-2.0, -0.4)),
    ):
        some = module.Pair(math.sin(angle), math.cos(angle), *map(module.place_of, ends))
        found += module.moments_of_all(some)[1:]
        for y in (-1.3, 0.0, 0.8):
            found += module.moments_below(some, y, ROOM)
        found += module.moments_near(some, 0.3, 0.1, ROOM)
        found += module.between(module.moments_below(some, -0.5, ROOM), module.moments_below(some, 0.4, ROOM), 0.2)
    return np.array(found)


def same(values: Callable[[str], np.ndarray], name: str) -> Callable[[str], bool]:
    """Whether a text of a module of the runtime has the values of the right one."""
    right = values(runtime_text(name))
    return lambda text: bool(np.allclose(values(text), right, rtol=1e-11, atol=0.0))


def test_changes_of_moments_are_noticed() -> None:
    tried, survived = survivors(
        "rectangle_moments",
        same(lambda text: moments(interpreted(text)), "rectangle_moments"),
        CHANGES,
        EQUATIONS,
    )
    assert tried > 70
    assert not survived


def test_changes_of_averages_are_noticed() -> None:
    own = inspect.getsource(quantile)
    assert averages(interpreted(own)) == pytest.approx(averages(quantile), rel=1e-13)

    def values(text: str) -> np.ndarray:
        return np.append(averages(interpreted(own, {"ended_quadratic": text})), shares(interpreted(text)))

    tried, survived = survivors("ended_quadratic", same(values, "ended_quadratic"), CHANGES, EQUATIONS)
    assert tried > 30
    assert not survived
