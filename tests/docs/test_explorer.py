"""The explorer page of the site: its numbers are those of the solver, and it loads nothing from elsewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import giantstep as gs

STATIC = Path(__file__).resolve().parents[2] / "docs" / "site" / "_static"
LARGEST = 160_000  # bytes


@pytest.fixture(scope="module")
def grid() -> dict[str, Any]:
    text = (STATIC / "explorer_grid.js").read_text(encoding="utf-8")
    assert len(text) < LARGEST
    found: dict[str, Any] = json.loads(text.removeprefix("const GRID = ").removesuffix(";\n"))
    return found


def test_its_numbers_are_those_of_the_solver(grid: dict[str, Any]) -> None:
    """Twenty points drawn with a fixed seed, to the unit that the page keeps."""
    axes = grid["axes"]
    errors = np.array(grid["errors"]).reshape([len(values) for values in axes.values()]) * grid["unit"]
    generator = np.random.default_rng(0)
    for _ in range(20):
        place = tuple(int(generator.integers(len(values))) for values in axes.values())
        values = {key: axis[at] for (key, axis), at in zip(axes.items(), place, strict=True)}
        model = gs.model("tanh", link="sign")
        if values["step.learning_rate"] == 0.0:
            model = gs.Model(model.network, model.target, model.fit)
            values = {key: value for key, value in values.items() if not key.startswith("step.")}
        assert gs.solve(model.replace(values)).test_error == pytest.approx(errors[place], abs=0.51 * grid["unit"])
    assert grid["linear"] == pytest.approx(
        gs.bounds(gs.model("tanh", link="sign"), optimise=False).best_linear, abs=1e-6
    )


def test_it_loads_nothing() -> None:
    text = (STATIC / "explorer.js").read_text(encoding="utf-8")
    addresses = re.findall(r"\w+://[^\"'\s]+", text)
    assert set(addresses) == {"http://www.w3.org/2000/svg"}  # the name of a language, which is not loaded
    assert not re.search(r"\b(?:fetch|XMLHttpRequest|import|eval|Function)\b", text)
