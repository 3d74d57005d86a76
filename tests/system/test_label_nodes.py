"""The reported error of quadrature covers that of the nodes at which labels are taken."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from loss_cases import model
from scipy.special import expit, wrightomega

from generated.losses import exponential, logistic
from generated.runtime.label_points import LabelNodes
from generated.runtime.nodes import Fields, Rule
from giantstep.law.labels import label_law
from giantstep.quadrature.gauss import gauss_rule
from giantstep.spec.model import Target
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.newton import newton
from giantstep.system.problem import problem_of
from giantstep.system.reduced_order import order_of
from giantstep.system.resolution import FINE, refined
from giantstep.system.result import Result
from giantstep.system.solve import solve

STEEP = "z + He(3,z)/6"  # grows so fast that nodes which settle its moments do not settle a Huber loss
CASES = [
    ({"name": "huber", "delta": 0.5}, {"target__link": STEEP, "target__noise": 0.25}),
    ("absolute", {"target__link": "relu", "target__noise": 0.1}),
    ("(y - f)**2 + 0.1*f**4", {"target__link": "tanh", "target__noise": 0.1}),
    ("log_cosh", {"target__link": "sin"}),
]


def better(result: Result) -> float:
    """The test error with labels at four times as many nodes."""
    problem = problem_of(result.model)
    system = CoupledSystem(problem, replace(refined(FINE[-1], 1), labels=2))
    outcome = newton(system, system.unknowns(order_of(problem, result)))
    assert outcome.converged
    return system.test_error(outcome.x)


@pytest.mark.parametrize(("loss", "changes"), CASES)
def test_the_error_is_covered(loss: Any, changes: dict[str, Any]) -> None:
    """The difference of two nearby resolutions is about the error of the worse of them."""
    result = solve(model(loss, **changes))
    exact = better(result)
    assert abs(result.test_error / exact - 1.0) <= 2.0 * result.quadrature_error + 1e-13


LINKS = [Target("tanh"), Target("tanh(5*z)"), Target("relu"), Target("tanh(z1)+z2"), Target("sin", probit=0.2)]


@pytest.mark.parametrize("target", LINKS)
def test_rough_nodes_are_other_nodes_of_the_same_law(target: Target) -> None:
    kappa, alignments = np.array([-0.4, 1.3]), (0.6, 0.3)[: target.indices]
    laws = [label_law(target, alignments, kappa, rough=rough) for rough in (False, True)]
    fine, rough = ((law.weight, law.label) for law in laws if not hasattr(law, "channel"))
    assert rough[0].shape[1] < fine[0].shape[1]
    for power in (1, 2):
        moments = [(weight * label**power).sum(axis=1) for weight, label in (fine, rough)]
        assert moments[0] == pytest.approx(moments[1], rel=1e-9)


def test_proximal_map_where_newton_steps_are_far_too_short() -> None:
    """exp(-f) at V = 3e7 and outputs of deviation 30: l = omega + W(V exp(-omega)), once cut off after 200 steps."""
    V, spread = 3e7, 30.0
    rule = Rule(gauss_rule(44), 44, np.empty(0), 0.0)
    labels = LabelNodes(np.ones((1, 1)), np.zeros((1, 1, 1)), np.ones((1, 1)), np.zeros((1, 1)))
    fields = Fields(np.array([V]), np.zeros(1), np.zeros((1, 1)), np.array([spread**2]))
    out = np.zeros((15, 1))
    exponential.points(rule, labels, fields, np.empty(exponential.SCRATCH_SHAPE), out)
    omega = spread * np.linspace(-9.0, 9.0, 20001)
    weight = np.exp(-0.5 * (omega / spread) ** 2) * (omega[1] - omega[0]) / (spread * np.sqrt(2.0 * np.pi))
    g = np.exp(-omega - wrightomega(np.log(V) - omega))
    assert out[1, 0] == pytest.approx(float(weight @ g), rel=1e-10)


@pytest.mark.parametrize("V", [3.0, 14.451664630821135, 60.0, 1e3])
def test_proximal_map_where_newton_steps_go_back_and_forth(V: float) -> None:
    """The logistic loss far on the wrong side: whole steps cross the root for ever, whatever the number of them.

    l + V rho'(l) = omega by bisection; the trapezoid rule over 18 deviations is exact to rounding.
    """
    centres, spread = np.arange(-40.0, 10.0, 0.05), 0.47
    count = len(centres)
    rule = Rule(gauss_rule(44), 44, np.empty(0), 0.0)
    labels = LabelNodes(np.ones((count, 1)), np.zeros((count, 1, 1)), np.ones((count, 1)), np.zeros((1, 1)))
    fields = Fields(np.full(count, V), centres, np.zeros((1, count)), np.full(count, spread**2))
    out = np.zeros((15, count))
    logistic.points(rule, labels, fields, np.empty(logistic.SCRATCH_SHAPE), out)
    z = np.linspace(-9.0, 9.0, 401)
    omega = centres[:, None] + spread * z
    low, high = omega.copy(), omega + V
    for _ in range(80):
        middle = 0.5 * (low + high)
        right = middle - V * expit(-middle) > omega
        low, high = np.where(right, low, middle), np.where(right, middle, high)
    weight = np.exp(-0.5 * z**2) / np.exp(-0.5 * z**2).sum()
    assert out[1] == pytest.approx(expit(-low) @ weight, rel=1e-11)
