"""Corners of the domain and random models of all of it: solved, or refused in words."""

from __future__ import annotations

import importlib
import math
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from solver_cases import model

from giantstep.spec.errors import BadInput, GiantstepError, NotConverged
from giantstep.spec.model import Model
from giantstep.system.solve import solve

CORNERS: list[tuple[int, dict[str, Any]]] = [
    (1, {"fit__ridge": 1e-10, "fit__samples": 1.2}),
    (1, {"fit__ridge": 1e-8, "fit__samples": 1.2}),
    (2, {"fit__ridge": 1e-8, "fit__samples": 1.2}),
    (1, {"fit__samples": 0.05, "network__width": 10.0}),
    (1, {"fit__samples": 10.0, "network__width": 0.1}),
    (3, {"fit__samples": 10.0, "network__width": 0.1, "fit__ridge": 1e-6}),
    (1, {"spike__alignment": 1.0, "target__link": "sign"}),
    (1, {"spike__alignment": -1.0, "target__link": "step"}),
    (2, {"spike__alignment": 1.0, "network__activation": "sign", "target__link": "sign"}),
    (1, {"spike__strength": 0.0}),
    (1, {"spike__strength": 1000.0}),
    (2, {"spike__strength": 1000.0, "network__activation": "relu"}),
    (1, {"network__activation": "linear"}),
    (2, {"network__activation": "linear"}),
    (
        1,
        {
            "network__activation": "linear",
            "target__link": "linear",
            "target__noise": 0.0,
            "fit__ridge": 1e-10,
        },
    ),
    (1, {"network__activation": "cubic", "target__link": "cubic"}),
    (1, {"network__activation": "cos", "spike__strength": 30.0}),
    (
        2,
        {"network__readout": {"values": [1.0, -1.0], "fractions": [0.5, 0.5]}, "network__activation": "tanh"},
    ),
    (
        2,
        {
            "network__readout": {"values": [1.0, 1.0 + 1e-6], "fractions": [0.5, 0.5]},
            "network__activation": "tanh",
        },
    ),
    (2, {"network__readout": {"values": [1.0, 0.99], "fractions": [0.5, 0.5]}, "fit__ridge": 1e-8}),
    (3, {"network__readout": {"values": [1.0, 0.0, -1.0, 0.5], "fractions": [0.25, 0.25, 0.25, 0.25]}}),
    (1, {"fit__ridge": 1e12}),
    (1, {"target__noise": 1e12}),
]


@pytest.mark.parametrize("dimension", [None, 1000])
@pytest.mark.parametrize(("blocks", "changes"), CORNERS)
def test_corners_are_solved_or_refused_in_words(blocks: int, changes: dict[str, Any], dimension: int | None) -> None:
    try:
        result = solve(model(blocks, **changes), dimension=dimension)
    except GiantstepError as error:
        assert len(error.message.split()) > 4 and error.hint
    else:
        assert robustness().suspicions(result) == ()


MUST_SOLVE = [case for case in CORNERS if not {"network__readout"} & set(case[1])]


@pytest.mark.parametrize(("blocks", "changes"), MUST_SOLVE)
def test_plain_corners_are_solved(blocks: int, changes: dict[str, Any]) -> None:
    """Everything but nearly equal blocks: hard for a solver, easy to state; a refusal here is a defect."""
    result = solve(model(blocks, **changes), dimension=1000)
    assert 0.0 <= result.train_error and 0.0 < result.test_error < math.inf


@lru_cache(maxsize=1)
def robustness() -> Any:
    """The benchmark is a script, not a package: what stands beside it is found in its folder."""
    folder = str(Path(__file__).resolve().parents[2] / "benchmarks")
    sys.path.insert(0, folder)
    try:
        return importlib.import_module("robustness")
    finally:
        sys.path.remove(folder)


def test_random_models_of_the_whole_domain() -> None:
    """The generator of the robustness benchmark: nothing crashes, nothing solved looks wrong, most is solved."""
    outcomes = [robustness().attempt(number, seed=1) for number in range(60)]
    assert [(o.number, o.wrong, o.reason) for o in outcomes if o.wrong] == []
    assert sum(o.status == "solved" for o in outcomes) >= 45


@pytest.mark.parametrize("dimension", [100.5, math.inf, math.nan, True, 0, "100"])
def test_a_dimension_that_is_no_whole_number_is_refused(dimension: Any) -> None:
    with pytest.raises(BadInput, match="is not a positive integer"):
        solve(model(1), dimension=dimension)


@pytest.mark.parametrize("loss", ["square", "huber"])
def test_features_that_overflow_are_told_so(loss: str) -> None:
    """Cubic features after three steps, each of which makes rows longer by the third power."""
    readout = {"values": [0.31, -0.88, 0.13], "fractions": [0.35, 0.52, 0.13]}
    tables = {
        "network": {"activation": "cubic", "width": 0.13, "readout": readout},
        "target": {"link": "linear"},
        "fit": {"samples": 1.4, "ridge": 0.01, "loss": loss},
        "step": [{"samples": 0.6, "learning_rate": 3.0}] * 3,
    }
    with pytest.raises(NotConverged, match=r"overflow.*lower the learning rates"):
        solve(Model.from_dict(tables))


def test_blocks_of_all_sizes_solve_their_equations_to_rounding() -> None:
    """Cubic features after a large step, of values from 0.001 to 4: slopes from 1 to 1e8, whose rows of one matrix are
    as far apart. Residuals are relative to the sums of all terms of an equation, 16 blocks or 96 nodes, and are a few
    units of rounding; pivots of the largest rows left 5e-12.
    """
    values = [0.001 * 3.27**k for k in range(8)]
    readout = {"values": [-u for u in values] + values, "fractions": [1 / 16] * 16}
    tables = {
        "network": {"activation": "cubic", "width": 0.9, "readout": readout, "bias": -1.7},
        "target": {"link": "abs"},
        "fit": {"samples": 2.6, "ridge": 0.01},
        "step": {"samples": 30.0, "learning_rate": 9.0},
    }
    assert solve(Model.from_dict(tables)).residual < 1e-14
