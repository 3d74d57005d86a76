"""Starts from square losses: a loss that is one in disguise is solved by its start."""

from __future__ import annotations

import pytest

from giantstep.spec.model import Model
from giantstep.system.first_solution import COARSE
from giantstep.system.newton import distance
from giantstep.system.problem import problem_of
from giantstep.system.square_start import unknowns_of_like_square_loss, unknowns_of_square_loss
from giantstep.system.system_of_problem import coupled_at

BASE = {
    "network": {"activation": "tanh", "width": 0.5, "readout": {"values": [1.0, 0.4], "fractions": [0.3, 0.7]}},
    "spike": {"strength": 1.2, "alignment": 0.8, "bulk_variance": [1.3, 1.05]},
    "target": {"link": "sign"},
    "fit": {"samples": 2.0, "ridge": 0.1, "loss": "logistic"},
}


@pytest.mark.parametrize("flips", [0.0, 0.2])
@pytest.mark.parametrize("loss", ["(2-y*f)**2/8", {"name": "huber", "delta": 1e3}])
def test_a_square_loss_in_disguise(loss: object, flips: float) -> None:
    """Of another curvature, with other labels: c and a of the square loss that it is like are found, and so is all."""
    problem = problem_of(Model.from_dict(BASE).replace({"fit.loss": loss, "target.flips": flips}))
    system = coupled_at(problem, COARSE)
    like, plain = unknowns_of_like_square_loss(problem, system), unknowns_of_square_loss(problem, system)
    assert like is not None and distance(system, like) < 1e-7  # unknowns keep 30 bits
    assert (distance(system, plain) > 0.1) == (loss == "(2-y*f)**2/8")


def test_a_loss_is_nearer_to_the_square_loss_that_it_is_like() -> None:
    problem = problem_of(Model.from_dict(BASE))
    system = coupled_at(problem, COARSE)
    like, plain = unknowns_of_like_square_loss(problem, system), unknowns_of_square_loss(problem, system)
    assert like is not None and distance(system, like) < 0.5 * distance(system, plain)
