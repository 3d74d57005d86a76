"""Curves of losses beside the square: points start from those before them, and nobody can tell from their digits."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path as File
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.observe.baselines import random_features
from giantstep.spec.model import Model
from giantstep.sweep import curve as module
from giantstep.sweep import tasks
from giantstep.sweep.paths import Leaders

MODEL = Model.from_dict(
    {
        "network": {"activation": "tanh", "width": 0.5, "readout": {"values": [1.0, -1.0], "fractions": [0.5, 0.5]}},
        "spike": {"strength": 1.2, "alignment": 0.8, "bulk_variance": 1.3},
        "target": {"link": "sign"},
        "fit": {"samples": 2.0, "ridge": 0.1, "loss": "logistic"},
    }
)
SWEEP = ["fit.samples=0.5:4:20", "target.flips=0,0.1"]


def columns(**options: Any) -> list[bytes]:
    """All numbers of the curve, in bytes."""
    found = gs.curve(MODEL, SWEEP, baselines=False, **options)
    return [np.asarray(found[name]).tobytes() for name in found.columns if name not in ("status", "reason")]


def test_digits_depend_on_no_interruption_and_no_worker(tmp_path: File, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, store = columns(), tmp_path / "points"
    assert columns(checkpoint=store) == whole
    lines = store.read_text().splitlines(keepends=True)
    assert len(lines) == 40
    store.write_text("".join(lines[:9] + lines[15:32]))  # as if others had solved the rest
    assert columns(checkpoint=store) == whole
    monkeypatch.setattr(module, "_CHUNK", 1)
    with ThreadPoolExecutor(2) as workers:
        assert columns(executor=workers) == whole


def test_points_are_those_of_solve() -> None:
    """To the rounding of the equations: the last Newton step starts a step away from where that of ``solve`` does."""
    found = gs.curve(MODEL, SWEEP[0], baselines=False)
    for samples, error in zip(found["fit.samples"], found["test_error"], strict=True):
        alone = gs.solve(MODEL.replace({"fit.samples": float(samples)}))
        assert error == pytest.approx(alone.test_error, rel=1e-13)


def test_random_features_lead_to_each_other_too(monkeypatch: pytest.MonkeyPatch) -> None:
    led = []

    def told(model: Model, **options: Any) -> gs.Result:
        led.append(model.spike is None and options["start"] is not None)
        return gs.solve(model, **options)

    monkeypatch.setattr(tasks, "solve", told)
    found = gs.curve(MODEL, SWEEP[0])
    assert sum(led) >= 10  # of 20, but for the first ones and those that are far apart
    for samples, error in zip(found["fit.samples"], found["random_features_test_error"], strict=True):
        alone = gs.solve(random_features(MODEL.replace({"fit.samples": float(samples)})))
        assert error == pytest.approx(alone.test_error, rel=1e-13)


def test_what_leads_to_a_point_saves_evaluations() -> None:
    leaders = Leaders()
    for samples in np.linspace(1.0, 1.5, 8).tolist():
        model = MODEL.replace({"fit.samples": samples})
        start = leaders.start(samples)
        leaders.add(samples, gs.solve(model, start=start))
    assert start is not None
    alone = gs.solve(model)
    assert gs.solve(model, start=start).iterations <= alone.iterations - 3


def test_polynomials_are_followed_and_jumps_are_not() -> None:
    result = gs.solve(MODEL)

    def at(place: float, jump: float = 0.0) -> gs.Result:
        factor = 1.0 + place - 0.3 * place**3 + jump
        return replace(
            result, order_parameters={name: factor * value for name, value in result.order_parameters.items()}
        )

    leaders = Leaders()
    for place in (0.0, 0.1, 0.25, 0.3):
        assert place > 0.2 or leaders.start(0.5) is None  # too few
        leaders.add(place, at(place))
    found = leaders.start(0.4)
    assert found is not None
    for name, value in at(0.4).order_parameters.items():
        assert found.order_parameters[name] == pytest.approx(value, rel=1e-12, abs=1e-15)
    leaders.add(0.35, at(0.35, 0.1))
    assert leaders.start(0.4) is None


def test_a_single_point_leads_to_those_that_are_near() -> None:
    leaders, first = Leaders(), gs.solve(MODEL)
    leaders.add(2.0, first)
    assert leaders.start(2.1) is first
    assert leaders.start(2.5) is None
    led = gs.solve(MODEL.replace({"fit.samples": 2.1}), start=first)
    assert led.test_error == pytest.approx(gs.solve(MODEL.replace({"fit.samples": 2.1})).test_error, rel=1e-13)
