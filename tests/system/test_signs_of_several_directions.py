"""Spikes of several directions: the sign of the output turns within less than the features do."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.special import ndtr

from giantstep.spec.model import Model
from giantstep.system.first_solution import starts
from giantstep.system.level import Level
from giantstep.system.newton import newton
from giantstep.system.problem import problem_of
from giantstep.system.system_of_problem import coupled_at

Array = np.ndarray
VALUES, LOADINGS, ALIGNMENT = (1.0, 0.7), ((1.0, 0.4), (-0.3, 1.2)), (0.6, -0.5)
STRENGTH = 1.9
MODEL = {
    "network": {"activation": "sign", "width": 2.3, "readout": {"values": VALUES, "fractions": (0.4, 0.6)}},
    "spike": {"strength": STRENGTH, "alignment": ALIGNMENT, "bulk_variance": 1.0, "loadings": LOADINGS},
    "target": {"link": "sign"},
    "fit": {"samples": 7.0, "ridge": 30.0, "loss": "squared_hinge"},
}


def wrong_signs(q: Mapping[str, Array], step: float) -> float:
    """P(y f < 0) by the trapezoid over both directions and the rest of the target, from THEORY section 4."""
    k = np.arange(-8.0, 8.0, step)
    kappa = np.stack(np.meshgrid(k, k, indexing="ij"), axis=-1).reshape(-1, 2)
    weight = np.exp(-0.5 * (kappa**2).sum(axis=1))
    shift = STRENGTH * kappa @ np.array(LOADINGS).T
    mu0, mu1 = 2.0 * ndtr(shift) - 1.0, 2.0 * np.exp(-0.5 * shift**2) / np.sqrt(2.0 * np.pi)
    along = mu0 @ q["m"] + (mu1 * (kappa @ q["zeta"].T)).sum(axis=1)
    slope = mu1 @ q["psi"][:, 0]
    delta = ((mu1 @ q["Q1"]) * mu1).sum(axis=1) - slope**2 + (1.0 - mu0**2 - mu1**2) @ q["Q2"]
    turn = -(kappa @ np.array(ALIGNMENT)) / np.sqrt(1.0 - np.square(ALIGNMENT).sum())  # where the label does, in t
    node, share = np.polynomial.legendre.leggauss(60)
    wrong = np.zeros(len(kappa))
    for label in (-1.0, 1.0):
        low, high = (np.clip(turn, -9.0, 9.0), 9.0) if label > 0.0 else (-9.0, np.clip(turn, -9.0, 9.0))
        for x, part in zip(node, share, strict=True):
            t = 0.5 * (high + low) + 0.5 * (high - low) * x
            mass = 0.5 * (high - low) * part * np.exp(-0.5 * t * t) / np.sqrt(2.0 * np.pi)
            wrong += mass * ndtr(-label * (along + slope * t) / np.sqrt(delta))
    return float(weight @ wrong / weight.sum())


def test_sign_that_turns_sharply_in_two_directions_is_resolved() -> None:
    """The unknowns of a coarse level, whose own nodes miss the turns of the sign."""
    problem = problem_of(Model.from_dict(MODEL))
    system = coupled_at(problem, Level(8, 24))
    found = newton(system, np.asarray(next(starts(problem, system, None))))
    assert problem.spike.directions is not None
    order = problem.spike.directions.outward(system.order_parameters())
    expected = wrong_signs(order, 0.03)
    assert found.converged
    assert abs(system.observables()[0] - expected) > 1e-6
    assert abs(system.test_error(found.x) - expected) < 1e-10 + abs(expected - wrong_signs(order, 0.025))
