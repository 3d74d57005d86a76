"""Spikes of three directions, targets of several indices: the square loss needs moments of the label only."""

from __future__ import annotations

import numpy as np
import pytest
from rank_cases import rotation, three, turned

from giantstep.spec.errors import NotConverged
from giantstep.spec.model import Model
from giantstep.system import solve as solve_module
from giantstep.system.result import Result
from giantstep.system.solve import solve

OVERLAPS = [[0.6, 0.1], [0.2, 0.5], [0.1, 0.3]]


def of_two(link: str, **changes: object) -> Model:
    return three(**{"spike__strength": 0.6, "spike__alignment": OVERLAPS, "target__link": link, **changes})


def errors(found: Result) -> list[float]:
    return [found.test_error, found.train_error, found.free_energy]


@pytest.mark.parametrize("link", ["tanh(z1) + z1*z2", "sign(z1*z2)"])
def test_directions_may_be_rotated(link: str) -> None:
    given = of_two(link)
    there = rotation(3)
    found, back = solve(turned(given, there)), solve(given)
    assert errors(found) == pytest.approx(errors(back), rel=1e-10)
    zeta = found.order_parameters["zeta"] @ there.T
    np.testing.assert_allclose(zeta, back.order_parameters["zeta"], atol=1e-9)
    assert found.residual < 1e-12 and found.quadrature_error < 1e-10


def test_a_direction_that_is_hardly_loaded_is_none() -> None:
    """Small loadings of a third direction, which no block of the other model has, change the errors in proportion."""
    rows = np.array([[0.7, 0.0, 0.0], [0.2, 0.8, 0.0], [0.1, -0.4, 0.0]])
    two = solve(of_two("z1 + z1*z2", spike__loadings=rows.tolist()), dimension=1000)
    rows[:, 2] = (1e-8, -2e-8, 1e-8)
    three_of_them = solve(of_two("z1 + z1*z2", spike__loadings=rows.tolist()), dimension=1000)
    assert three_of_them.nodes > 4 * two.nodes
    assert errors(three_of_them) == pytest.approx(errors(two), rel=1e-8)


@pytest.mark.usefixtures("in_letters")
def test_three_indices() -> None:
    """A third index that the link does not know changes nothing."""
    overlaps = [[*row, extra] for row, extra in zip(OVERLAPS, (0.3, 0.2, 0.4), strict=True)]
    three_of_them = of_two("z1 + z1*z2 + 0*z3", spike__alignment=overlaps)
    assert errors(solve(three_of_them)) == pytest.approx(errors(solve(of_two("z1 + z1*z2"))), rel=1e-10)


@pytest.mark.parametrize(("loss", "link"), [("logistic", "sign(z1*z2)"), ("huber", "z1**2*z2**2")])
def test_what_would_take_many_minutes_says_so_at_once(loss: str, link: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve_module, "compile_first", lambda model: pytest.fail("kernels are compiled for nothing"))
    with pytest.raises(NotConverged, match="of the spike's 3 directions"):
        solve(of_two(link, fit__loss=loss, target__noise=0.0, spike__strength=3.0))
