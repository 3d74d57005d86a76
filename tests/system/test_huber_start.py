"""Losses that are sharp beside the labels start from Huber losses whose threshold is lowered."""

from __future__ import annotations

import pytest

import giantstep as gs
from giantstep.spec.errors import NotConverged
from giantstep.system import first_solution

SHARP = gs.Model.from_dict(
    {
        "network": {"activation": "cubic", "width": 0.45},
        "spike": {"strength": 4.9, "alignment": 0.78, "bulk_variance": 1.0},
        "target": {"link": "z**5"},
        "fit": {"samples": 8.0, "ridge": 7.0, "loss": "log_cosh"},
    }
)


def test_log_cosh_of_labels_that_are_large() -> None:
    """log(cosh(x)) lies between two Huber losses: |x| - log 2 <= log(cosh(x)) <= |x| and x^2/2.

    So the least objective is below that of the Huber loss, and above it by no more than log 2 - 1/2 a sample.
    """
    found = gs.solve(SHARP, dimension=1000)
    huber = gs.solve(SHARP.replace({"fit.loss": "huber"}), dimension=1000)
    samples = SHARP.fit.samples
    assert huber.free_energy - samples * 0.2 < found.free_energy < huber.free_energy
    assert found.residual < 1e-10


def test_without_that_start_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above says something: the other starts fail, and the continuation in the ridge is left out here."""
    monkeypatch.setattr(first_solution, "_of_huber_losses", lambda *_: iter(()))
    monkeypatch.setattr(first_solution, "continued", lambda *_, **__: first_solution.Outcome(None, 0, False))
    monkeypatch.setattr(first_solution, "_upwards", lambda *_: first_solution.Outcome(None, 0, False))
    with pytest.raises(NotConverged, match="not solved"):
        gs.solve(SHARP, dimension=1000)
