"""Features that saturate in kappa: signs of outputs that vanish, and turns that the coefficients do not know.

Where an activation saturates, the output has next to no variance beside kappa. Its sign there depends on ratios of
small numbers, and averages over it turn where its mean passes a kink of the loss.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from loss_cases import model
from scipy.integrate import quad
from scipy.special import ndtr

from giantstep.coupled import FINE
from giantstep.coupled_system import CoupledSystem
from giantstep.errors import NotConverged
from giantstep.mesh import meshes, nodes, rows_at
from giantstep.model import Model
from giantstep.newton import newton
from giantstep.problem import problem_of
from giantstep.resolved import Level
from giantstep.result import Result
from giantstep.solve import solve
from giantstep.targets.settled import system_at
from giantstep.targets.turns import cuts_at

Array = np.ndarray
FAR = {"spike__strength": 6.0}


def by_definition(found: Model, result: Result) -> float:
    """P(y f < 0) of one block and the label sign z, t and kappa integrated one inside the other."""
    problem, order = problem_of(found), result.order_parameters
    m, zeta, psi, q1, q2 = (float(np.ravel(order[name])[0]) for name in ("m", "zeta", "psi", "Q1", "Q2"))
    (gamma,) = found.spike.alignments
    width = math.sqrt(1.0 - gamma**2)

    def given(kappa: float) -> float:
        mu0, mu1, mu2 = rows_at(problem.blocks, problem.target, np.array([kappa]), np.ones(1))[0, 5:].tolist()
        size = max(abs(mu0), mu1, 1e-300)  # ratios are what matters
        mean, slope = (m * mu0 + zeta * mu1 * kappa) / size, psi * mu1 / size
        root = math.sqrt((q1 - psi**2) * (mu1 / size) ** 2 + q2 * mu2 / size / size)
        if root == 0.0:  # below what numbers can tell, far out
            return 0.5
        cut = -gamma * kappa / width

        def inside(t: float) -> float:
            y = 1.0 if t > cut else -1.0
            return math.exp(-0.5 * t * t) / math.sqrt(2 * math.pi) * float(ndtr(-y * (mean + slope * t) / root))

        places = sorted({-9.0, 9.0, *(c for c in (cut, -mean / (slope or 1e-300)) if abs(c) < 9.0)})
        return sum(quad(inside, a, b, epsabs=1e-14, epsrel=1e-12, limit=200)[0] for a, b in pairwise(places))

    edges = meshes((*problem.blocks, problem.target)).edges
    kappa, weight = nodes(edges, 24)
    return float(sum(w * given(k) for k, w in zip(kappa.tolist(), weight.tolist(), strict=True) if w > 1e-14))


@pytest.mark.parametrize(
    ("activation", "loss"), [("gelu", "logistic"), ("relu", "squared_hinge"), ("softplus", "hinge")]
)
def test_signs_of_outputs_that_vanish(activation: str, loss: str) -> None:
    """Once wrong by 1e-7, where one side of the activation is flat: rounding had a floor there."""
    result = solve(model(loss, network__activation=activation, **FAR))
    assert result.test_error == pytest.approx(by_definition(result.model, result), rel=1e-9)


TURNS: list[tuple[Any, dict[str, Any]]] = [
    ("hinge", {"network__activation": "silu", **FAR}),
    ("squared_hinge", {"network__activation": "softplus", **FAR}),
    ("absolute", {"network__activation": "erf", "target__link": "tanh", **FAR}),
    ("quantile", {"network__activation": "silu", "target__link": "sin", "spike__alignment": -1.0, **FAR}),
]


@pytest.mark.parametrize(("loss", "changes"), TURNS)
def test_the_solution_stays_on_finer_nodes(loss: Any, changes: dict[str, Any]) -> None:
    """Sharper in kappa, in the output and in the label than what the solver took."""
    result = solve(model(loss, **changes))
    problem = problem_of(result.model)
    x = CoupledSystem(problem, FINE[1]).unknowns(result.order_parameters)
    level = replace(Level(14, 110, 2), cuts=cuts_at(problem, x))
    outcome = newton(system := system_at(problem, level, x, 1e-13), x, most=12)
    assert outcome.converged
    assert system.test_error(outcome.x) == pytest.approx(result.test_error, rel=3e-10)


def test_cuts_lie_about_the_passage_of_the_kink() -> None:
    """At some of them the mean of the output is 1 or 1 - V, the images of the kink of the hinge."""
    loss, changes = TURNS[0]
    result = solve(model(loss, **changes))
    problem = problem_of(result.model)
    system = CoupledSystem(problem, Level(14, 24, 3))
    x = system.unknowns(result.order_parameters)
    cuts = np.array(cuts_at(problem, x))
    system.fields(x)
    mean, response = (np.interp(cuts, system.kappa, system.view(name)) for name in ("mean", "V"))
    assert len(cuts) % 7 == 0 and min(np.min(np.abs(mean - 1.0)), np.min(np.abs(mean + response - 1.0))) < 1e-3
    assert np.min(np.diff(cuts)) > 1e-6  # the mirror images of cuts are not told from others


def test_saturation_at_the_margin_is_told() -> None:
    """The outputs of saturated features lie on the kink of the hinge: their multipliers are lost in rounding."""
    found = model("hinge", network__activation="tanh", spike__strength=12.0, target__link="2*step(z+1)-1")
    with pytest.raises(NotConverged, match="satisfied only to") as error:
        solve(found)
    assert "saturate" in error.value.hint
