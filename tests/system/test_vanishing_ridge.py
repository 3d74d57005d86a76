"""Fewer samples than neurons beside a ridge that vanishes: labels are separated, outputs respond without bound."""

from __future__ import annotations

import pytest

import giantstep as gs
from giantstep.verify.certificate import certificate

RIDGES = (1e-2, 1e-5, 1e-9, 1e-12)


@pytest.mark.parametrize("loss", ["squared_hinge", {"name": "smoothed_hinge", "delta": 2.0}])
def test_the_test_error_is_the_limit_and_the_training_error_a_square(loss: object) -> None:
    """The prox is as far below the margin as the response is large, and its digits are those of that distance."""
    step = {"bias": -1.6, "learning_rate": 0.9, "step_samples": 12.0, "flips": 0.1}
    given = {"activation": "cubic", "link": "sign", "width": 1.5, "samples": 1.3, "loss": loss, **step}
    found = [gs.solve(gs.model(**given, ridge=ridge), dimension=100) for ridge in RIDGES]
    for one, ridge in zip(found, RIDGES, strict=True):
        assert one.test_error == pytest.approx(found[0].test_error, rel=1e-6)
        assert one.train_error / ridge**2 == pytest.approx(found[1].train_error / RIDGES[1] ** 2, rel=1e-5)
    assert found[3].test_error == pytest.approx(found[2].test_error, rel=1e-11)
    assert found[3].train_error / found[2].train_error == pytest.approx(1e-6, rel=1e-10)


def of_large_features() -> gs.Result:
    """Cubes after a large step, whose squares are 1e12."""
    values = {"values": [0.935, -1.829, 1.074], "fractions": [0.34, 0.42, 0.24]}
    data = {
        "network": {"activation": "cubic", "width": 1.18, "readout": values, "bias": -1.68},
        "target": {"link": "sign"},
        "fit": {"samples": 4.7, "ridge": 0.16, "loss": "logistic"},
        "step": {"samples": 26.0, "learning_rate": 3.2},
    }
    return gs.solve(gs.Model.from_dict(data))


def test_features_that_are_so_large_that_a_ridge_vanishes_beside_them() -> None:
    """Only beside a ridge as large is the square loss a start. The errors are those that are certified below."""
    found = of_large_features()
    assert found.test_error == pytest.approx(0.124640607417, rel=1e-10)
    assert found.train_error == pytest.approx(3.92719459008e-10, rel=1e-9)  # its logarithm, -22, to 1e-10 of the output


@pytest.mark.slow
def test_their_errors_are_certified() -> None:
    assert certificate(of_large_features()).holds


def test_panels_are_halved_until_they_resolve_responses() -> None:
    """At a ridge of 1e-8 these vary next to where slopes of sin(70 kappa) vanish: an error falls, rises and falls again
    as panels are halved. Right is what panels that are halved twice more tell, to 1e-13.
    """
    data = {
        "network": {"activation": "sin", "width": 6.5, "bias": 0.96},
        "target": {"link": "quadratic", "noise": 0.27},
        "fit": {"samples": 7.5, "ridge": 1.3e-8},
        "spike": {"strength": 70.0, "alignment": 1.0, "bulk_variance": 1.0},
    }
    found = gs.solve(gs.Model.from_dict(data), dimension=100)
    assert found.test_error == pytest.approx(17.548774523828, rel=1e-10)
