"""A solution does not depend on what was compiled before: starts in plain Python give the bits of compiled ones."""

from __future__ import annotations

import numpy as np
import pytest

import giantstep as gs
from giantstep.system import square_loss
from giantstep.system.uncompiled import uncompiled

MODEL = gs.model("tanh", link="sign", width=0.5, step_samples=16.0, loss="logistic")
PLACES = np.linspace(0.2, 3.0, 15).tolist()


def numbers(samples: float) -> tuple[float, float, float]:
    found = gs.solve(MODEL.replace({"fit.samples": samples}))
    return found.test_error, found.train_error, found.free_energy


def test_plain_python_and_machine_code_start_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(square_loss, "sparing", lambda kernel: kernel)
    compiled = [numbers(samples) for samples in PLACES]
    monkeypatch.setattr(square_loss, "sparing", uncompiled)
    assert [numbers(samples) for samples in PLACES] == compiled
