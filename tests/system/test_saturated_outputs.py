"""Outputs that saturated features leave no variance, on a kink of the loss: digits that a floor would have hidden."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from loss_cases import MARGIN, RESIDUAL, model
from scipy.integrate import quad
from scipy.optimize import brentq

from giantstep.spec.errors import NotConverged
from giantstep.spec.model import Model
from giantstep.system.loss_at_zero import has_jumps
from giantstep.system.newton import distance, newton
from giantstep.system.result import Result
from giantstep.system.saturated_outputs import _left_alone
from giantstep.system.solve import solve
from giantstep.verify.certificate import certificate
from giantstep.verify.run import solution_checks

#: Labels of a loss of the residual that are held at one of their values.
HELD = {"target__link": "2*step(z+1)-1"}


def saturated(loss: Any, strength: float, activation: str = "erf", **changes: Any) -> Model:
    return model(loss, network__activation=activation, spike__strength=strength, **HELD, **changes)


def of_a_label_that_varies() -> Result:
    """It holds no output on a kink, but what the floor does is seen: without it outputs turn on a hundred thousandth of
    the width.
    """
    spike = {"spike__strength": 70.0, "spike__alignment": 0.985, "spike__bulk_variance": 1.0}
    sizes = {"network__width": 0.5, "fit__samples": 0.64, "fit__ridge": 1.1e-5}
    given = model("quantile", network__activation="erf", target__link="silu", **spike, **sizes)
    return solve(given, dimension=1000)


def test_a_lower_floor_has_panels_of_its_own() -> None:
    """Panels cut for the other floor told errors of 2e-7. The test error is the one that is certified below."""
    assert of_a_label_that_varies().test_error == pytest.approx(0.683970740874, rel=1e-10)


@pytest.mark.slow
def test_what_a_lower_floor_tells_is_certified() -> None:
    assert certificate(of_a_label_that_varies()).holds


@pytest.mark.parametrize("strength", [20.0, 30.0])
def test_the_limit_of_huber_losses(strength: float) -> None:
    """Huber losses over their threshold d tend to |y - f|, and smooth its kink: no output rests on a floor there.

    With the terms in d and d log(d) taken out, the rest falls by one ratio each time, and the last change tells it: to
    a tenth. With a floor of 1e-14 the test error was off by 1.6e-8.
    """
    result = solve(saturated("absolute", strength))
    thresholds = [2.5e-3 / 4.0**k for k in range(5)]
    found = [
        solve(saturated({"name": "huber", "delta": d}, strength, fit__ridge=0.1 * d), tolerance=1e-9).test_error
        for d in thresholds
    ]
    for _ in range(2):
        found = [(4.0 * after - before) / 3.0 for before, after in pairwise(found)]
    first, last = np.diff(found)
    left = last / (first / last - 1.0)
    assert 0.0 < abs(left) < 1e-7
    assert abs(result.test_error - (found[-1] + left)) < 0.1 * abs(left) < 2e-9
    assert result.residual < 1e-10 and result.quadrature_error < 1e-10
    *_, check = solution_checks(result.model)
    assert check.outcome == "undecided" and "extrapolated" in check.undecided


def test_overlaps_where_an_output_without_spread_passes_a_kink() -> None:
    """Signs of what is left of the label, times the mean feature, sum to nothing: by parts between the places where
    mean and label meet. Outputs vary by 1e-3 there, which leaves 3e-5.

    Panels cut where they met before stopped m short by 5e-5 of itself, and this at 2e-4.
    """
    spike = {"strength": 3.0, "alignment": 1.0, "bulk_variance": 1.0}
    fit = {"fit__ridge": 1775.60935348978, "fit__samples": 7.644944897192797}
    order = solve(
        model("absolute", network__width=0.7098503666515827, spike=spike, target__link="cubic", **fit)
    ).order_parameters

    def feature(kappa: float) -> float:
        return math.erf(math.sqrt(3.0) * kappa)

    def left(kappa: float) -> float:
        return kappa**3 - 3.0 * kappa - float(order["m"][0]) * feature(kappa)

    meeting = [brentq(left, *ends) for ends in ((0.2, 0.9), (0.9, 2.0))]
    parts = [
        (np.sign(left(0.5 * (low + high))), quad(lambda k: math.exp(-0.5 * k * k) * feature(k), low, high)[0])
        for low, high in pairwise([0.0, *meeting, 12.0])
    ]
    assert abs(sum(sign * part for sign, part in parts)) < 5e-5 * sum(part for _, part in parts)


def test_digits_that_are_not_known_are_not_told() -> None:
    """What spreads are extrapolated to is known to 1.4e-10."""
    slow = saturated({"name": "quantile", "tau": 0.3}, 14.0)
    with pytest.raises(NotConverged, match="the test error changes") as caught:
        solve(slow, tolerance=1e-11)
    assert "saturate" in caught.value.hint
    found = solve(slow, tolerance=1e-6)
    assert 1e-11 < found.quadrature_error < 1e-6


def test_limits_that_stand_still_are_not_taken_for_the_last() -> None:
    """Outputs stay a little beside the kink, which spreads of 1e-6 do not see and 1e-9 do."""
    still = [
        (np.full(3, value), error, 0.0) for value, error in ((1.0, 1e-6), (1.0 + 1e-11, 1e-11), (1.0 + 4e-9, 4e-9))
    ]
    assert _left_alone(still[:2])[1] == 1e-6 and _left_alone(still[1:2])[1] == 1e-11
    assert _left_alone(still[1:])[1] == pytest.approx(4e-9, rel=0.01)
    found = solve(saturated({"name": "quantile", "tau": 0.3}, 10.0, "tanh"))
    assert found.test_error == pytest.approx(1.3675646159930, rel=1e-11)  # on panels twice as fine, of 7 to 16 nodes


def test_outputs_that_come_close_to_a_kink_and_stay_there() -> None:
    """They stay 1e-8 away where tanh has saturated, which Huber losses of lower thresholds d see: what is left of the
    error falls with d, so that it is less than a third of the last change.
    """
    found = solve(saturated("absolute", 14.0, "tanh"))
    first, last = (
        solve(saturated({"name": "huber", "delta": d}, 14.0, "tanh", fit__ridge=0.1 * d), tolerance=1e-8).test_error
        for d in (4e-8, 1e-8)
    )
    assert abs(found.test_error - last) < abs(last - first) / 3.0 < 2e-8
    assert found.residual < 1e-10 and found.quadrature_error < 1e-10


class _Equations:
    """J x = b, solved at x by the rounding of its terms: relative 2e-16 of them explain its residual."""

    again = 0.0

    def __init__(self, small: float) -> None:
        self.matrix, self.right = np.array([[1.0, 1.0], [1.0, 1.0 + small]]), np.array([0.0, 2e-16])

    def residual(self, x: np.ndarray) -> np.ndarray:
        return self.matrix @ x - self.right

    def jacobian(self) -> np.ndarray:
        return self.matrix

    matrix_of_step = jacobian

    def scale(self, x: np.ndarray) -> np.ndarray:
        return np.abs(x)


@pytest.mark.parametrize("small", [1e-3, 1e-9])
def test_a_residual_of_rounding_may_be_far_from_the_solution(small: float) -> None:
    """Its terms are of order one and its residual 2e-16, but the unknowns are off by 2e-16/small."""
    x = np.array([1.0, -1.0])
    equations = _Equations(small)
    equations.right += equations.matrix @ x
    assert distance(equations, x) == pytest.approx(2e-16 / small, rel=1e-2)


def test_an_equation_that_nothing_moves_is_not_solved() -> None:
    """The second equation knows no unknown, however large its own has grown."""
    equations = _Equations(1e-3)
    equations.matrix = np.array([[1.0, 1.0], [0.0, 0.0]])
    x = np.array([1.0, 1e16])
    equations.right = equations.matrix @ x - np.array([0.0, 0.4])
    assert not newton(equations, x).converged
    assert distance(equations, x) == math.inf


def test_which_losses_can_hold_an_output() -> None:
    jumps = {name for name in (*RESIDUAL, *MARGIN) if has_jumps(model(name).fit.loss)}
    assert jumps == {"absolute", "quantile", "epsilon_insensitive", "hinge"}
