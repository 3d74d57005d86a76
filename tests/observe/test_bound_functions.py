"""The functions that attain the bounds: their errors are the bounds; a readout with a large ridge is the upper one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import roots_hermitenorm

import giantstep as gs
from giantstep.cli.main import main

NODES, WEIGHTS = roots_hermitenorm(160)
WEIGHTS /= WEIGHTS.sum()


def model(**tables: Any) -> gs.Model:
    base: dict[str, Any] = {
        "network": {"activation": "tanh", "width": 1.0},
        "spike": {"strength": 0.9, "alignment": 1.0, "bulk_variance": 1.0},
        "target": {"link": "sin"},
        "fit": {"samples": 2.0, "ridge": 0.1},
    }
    return gs.Model.from_dict({name: {**base[name], **tables.get(name, {})} for name in base})


TWO = {"values": [1.0, -0.4], "fractions": [0.6, 0.4]}
ALIGNED = {
    "tanh": model(),
    "two values": model(network={"readout": TWO}),
    "unequal norms": model(network={"activation": "tanh(z) + He(2, z)/2", "initialisation": "gaussian"}),
}


@pytest.mark.parametrize("name", ALIGNED)
def test_their_errors_are_the_bounds(name: str) -> None:
    """The spike is the target: all that is left of f beside its mean along v is nothing."""
    found = gs.bounds(ALIGNED[name], optimise=False)
    functions = found.functions(NODES)
    for profile, bound in ((functions.lower, found.lower), (functions.upper, found.upper)):
        error = WEIGHTS @ ((np.sin(NODES) - profile.mean) ** 2 + profile.spread**2)
        # the error of a bound, the rounding of a squared spread, and 160 nodes for tanh(2 z): exp(-sqrt(160))
        assert error == pytest.approx(bound.value, rel=0.0, abs=bound.error + 1e-6 * bound.value)


def test_the_upper_one_is_that_of_a_large_ridge() -> None:
    """zeta, psi and the rest vanish as 1/ridge."""
    given = model(network={"readout": TWO}, spike={"alignment": 0.8}, fit={"ridge": 1e6})
    upper = gs.bounds(given, optimise=False).functions().upper
    along = gs.learned(given).along_spike
    assert along is not None
    assert np.abs(along.mean - upper.mean).max() < 1e-5
    assert np.abs(along.target - upper.target).max() < 1e-12


def test_the_function_along_several_directions_and_indices() -> None:
    """A staircase: the least squares of z1 + z1 z2 along v is what the upper bound fits."""
    steps = gs.model("relu", link="z1 + z1*z2", readout=[1.0, -0.5], step_samples=3.0, learning_rate=1.0, samples=2.0)
    found = gs.bounds(steps, optimise=False).functions([-1.0, 0.5])
    assert np.all(np.isfinite(found.lower.mean)) and found.values[0] < found.values[1]


def test_a_model_without_a_direction_has_none() -> None:
    with pytest.raises(gs.BadInput, match="know no direction"):
        gs.bounds(replace(model(), spike=None)).functions()


def test_the_command_draws_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, picture = tmp_path / "model.toml", tmp_path / "bounds.svg"
    file.write_text(
        '[network]\nactivation = "tanh"\nwidth = 1.0\n[spike]\nstrength = 0.9\nalignment = 1.0\nbulk_variance = 1.0\n'
        '[target]\nlink = "sin"\n[fit]\nsamples = 2.0\nridge = 0.1\n'
    )
    assert main(["bounds", str(file), "--plot", str(picture)]) == 0
    assert "lower bound" in capsys.readouterr().out
    assert picture.read_text().startswith("<?xml")
