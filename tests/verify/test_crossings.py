"""Where functions along lines pass levels, against places that are known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import erfcx, ndtr

from giantstep.verify.crossings import crossings
from giantstep.verify.quadrature import stretched_nodes

Array = np.ndarray
LINE = np.linspace(-1.0, 1.0, 41)


def found(functions: list, levels: list[list[float]]) -> list[Array]:
    """The places where each function passes its levels."""

    def at(row: Array, x: Array) -> Array:
        return np.array([functions[i](place) for i, place in zip(row, x, strict=True)])

    values = np.array([function(LINE) for function in functions])
    row, place = crossings(values, at, np.broadcast_to(LINE, values.shape), np.array(levels))
    return [np.sort(place[row == i]) for i in range(len(functions))]


def test_places_of_smooth_functions_and_jumps_are_known_to_rounding() -> None:
    functions = [lambda x: np.sin(5.0 * x), lambda x: x**3, lambda x: np.sign(x - 0.123456789)]
    sine, cube, jump = found(functions, [[0.5, 2.0], [0.0, 0.008], [0.0, -0.9]])
    wanted = np.array([np.pi / 6.0 - 2.0 * np.pi, -7.0 * np.pi / 6.0, np.pi / 6.0, 5.0 * np.pi / 6.0]) / 5.0
    assert sine == pytest.approx(wanted[1:], abs=2e-16)
    assert cube == pytest.approx([0.0, 0.2], abs=1e-8) and abs(cube[1] - 0.2) < 1e-15
    assert jump == pytest.approx([0.123456789] * 2, abs=2e-16)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_two_crossings_between_neighbours_are_found(side: float) -> None:
    """Of the second level only: the first is not reached."""
    (places,) = found([lambda x: side * ((x - 0.012) ** 2 - 1e-6)], [[-1.1e-6 * side, 0.0]])
    assert places == pytest.approx([0.011, 0.013], abs=1e-13)


@pytest.mark.parametrize("scale", [0.5, 0.01])
def test_a_step_is_halved_until_averages_agree(scale: float) -> None:
    """E 1/(1 + kappa^2/scale^2) = sqrt(pi/2) scale erfcx(scale/sqrt 2)."""

    def at(kappa: Array) -> Array:
        return 1.0 / (1.0 + (kappa[None] / scale) ** 2)

    nodes = stretched_nodes(at, scale, (0.5, 0.03), 1e-9, lambda size: size)
    wanted = np.sqrt(0.5 * np.pi) * scale * erfcx(scale / np.sqrt(2.0))
    assert 20 < len(nodes.kappa) < 200 and nodes.error <= 1e-9
    assert nodes.values[0] @ nodes.weight == pytest.approx(wanted, rel=1e-10)
    assert nodes.weight.sum() == pytest.approx(1.0, rel=1e-10)


def test_what_is_left_of_a_jump_is_told() -> None:
    """E step(kappa - 0.3), of which halvings leave what they find."""
    nodes = stretched_nodes(
        lambda kappa: np.heaviside(kappa[None] - 0.3, 0.5), 1.0, (0.5, 0.03), 1e-9, lambda size: size
    )
    assert 1e-4 < nodes.error < 0.1 and abs(nodes.values[0] @ nodes.weight - ndtr(-0.3)) < 3.0 * nodes.error
