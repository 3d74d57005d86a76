"""The numbers behind the explorer page of the site: ``python benchmarks/explorer_grid.py`` writes them anew.

Test errors of a tanh network that learns a sign, over samples, learning rate, ridge, width and batch, in parts per ten
thousand; a few minutes of one processor at most.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import giantstep as gs

TARGET = Path(__file__).resolve().parents[1] / "docs" / "site" / "_static" / "explorer_grid.js"
MODEL = gs.model("tanh", link="sign")
AXES: dict[str, list[float]] = {
    "step.samples": [1.0, 4.0, 16.0],
    "network.width": [0.25, 0.5, 1.0, 2.0],
    "fit.ridge": [0.001, 0.01, 0.1, 1.0, 10.0],
    "step.learning_rate": [0.0, 0.3, 1.0, 2.0, 3.0, 5.0],
    "fit.samples": [round(float(x), 4) for x in np.geomspace(0.1, 10.0, 76)],
}
UNIT = 1e-4


def grid() -> dict[str, Any]:
    """Axes, the first slowest, and the errors in units of ``UNIT``; a learning rate of zero stands for no step."""
    errors = np.empty([len(values) for values in AXES.values()])
    places = {key: np.reshape(axis, np.roll([-1, 1, 1, 1, 1], k)) for k, (key, axis) in enumerate(AXES.items())}
    rates = places["step.learning_rate"][:, :, :, 1:]
    errors[:, :, :, 1:] = _solved(MODEL, {**places, "step.learning_rate": rates})
    untrained = gs.Model(MODEL.network, MODEL.target, MODEL.fit)
    still = {key: places[key] for key in ("network.width", "fit.ridge", "fit.samples")}
    errors[:, :, :, :1] = _solved(untrained, still)
    linear = gs.bounds(MODEL, optimise=False).best_linear
    return {
        "axes": AXES,
        "unit": UNIT,
        "linear": round(linear, 6),
        "errors": (errors / UNIT).round().astype(int).ravel().tolist(),
        "version": gs.__version__,
    }


def _solved(model: gs.Model, values: dict[str, Any]) -> np.ndarray:
    found = gs.solve_many(model, values)
    assert set(found["status"]) == {"ok"}
    return np.asarray(found["test_error"]).reshape(found.shape)


if __name__ == "__main__":
    TARGET.write_text(f"const GRID = {json.dumps(grid(), separators=(',', ':'))};\n", encoding="utf-8")
