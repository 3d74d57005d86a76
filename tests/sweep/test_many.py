"""Many points at a time: the numbers of single solves, whatever is solved beside them, and on how many threads."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sweep_cases import before_each_point

import giantstep as gs
from giantstep.report.dataset import report, table
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.model import Model
from giantstep.sweep.dataset import Dataset
from giantstep.sweep.many import solve_many
from giantstep.sweep.points import Points
from giantstep.system.solve import solve

MODEL = Model.from_dict(
    {
        "network": {"activation": "tanh", "width": 0.7},
        "step": {"samples": 2.0, "learning_rate": 1.5},
        "target": {"link": "sign"},
        "fit": {"samples": 2.0, "ridge": 0.05},
    }
)
SPIKED = MODEL.replace({"step": None, "spike": {"strength": 1.0, "alignment": 0.8, "bulk_variance": 1.2}})
TWO = {"values": [1.0, -0.7], "fractions": [0.4, 0.6]}
SAMPLES, RIDGES = np.linspace(0.2, 3.0, 5), np.geomspace(1e-3, 10.0, 5)
ORDER = ("m", "zeta", "psi", "Q1", "Q2", "V1", "V2")


def require_equal(found: Dataset, row: int, model: Model, **options: Any) -> None:
    """Bit by bit."""
    alone = solve(model, **options)
    for name in ("test_error", "train_error", "free_energy", "training_loss", "residual", "quadrature_error"):
        assert found.numbers(name)[row] == getattr(alone, name), name
    assert found.numbers("spike_strength")[row] == alone.spike.strength
    for name in ORDER:
        for place, value in np.ndenumerate(alone.order_parameters[name]):
            column = f"{name}_{''.join(str(index + 1) for index in place)}"
            assert found.numbers(column)[row] == value, column


@pytest.mark.parametrize(
    ("base", "changes", "dimension"),
    [
        (MODEL, {}, None),
        (MODEL, {"network.activation": "relu", "target.link": "tanh(z)+z/2"}, None),
        (MODEL, {"network.readout": {"values": [1.0, -1.0, 0.4], "fractions": [0.3, 0.3, 0.4]}}, None),
        (MODEL, {"network.readout": {"values": [1.0, 0.4], "fractions": [0.5, 0.5]}}, 500),
        (MODEL, {"step.exponent": 0.3, "network.activation": "relu"}, None),
        (SPIKED, {"network.activation": "abs", "target.link": "quadratic"}, None),
        (MODEL, {"step": None}, None),
        (MODEL, {"network.readout": {**TWO, "biases": [0.3, -0.4]}}, None),
        (MODEL, {"network.readout": {**TWO, "biases": [0.3, 0.0]}, "target.link": "z1*z2+z1"}, 400),
        (MODEL, {"network.readout": TWO, "inputs": {"eigenvalues": [2.0, 0.5], "weights": [0.3, 0.7]}}, None),
        (MODEL, {"network.readout": TWO, "step": [{"samples": 2.0, "learning_rate": 1.0}] * 2}, None),
    ],
)
def test_numbers_are_those_of_single_solves(base: Model, changes: dict[str, Any], dimension: int | None) -> None:
    model = base.replace(changes)
    found = solve_many(model, {"fit.samples": SAMPLES, "fit.ridge": RIDGES}, dimension=dimension)
    assert set(found["status"]) == {"ok"}
    for row, (samples, ridge) in enumerate(zip(SAMPLES, RIDGES, strict=True)):
        require_equal(found, row, model.replace({"fit.samples": samples, "fit.ridge": ridge}), dimension=dimension)


def test_width_and_noise_are_parameters_where_no_step_depends_on_them() -> None:
    values = {"network.width": [0.5, 1.0, 2.0], "target.noise": [0.0, 0.1, 0.3]}
    for model in (SPIKED, MODEL):
        found = gs.solve_many(model, values)
        for row in range(3):
            require_equal(found, row, model.replace({key: column[row] for key, column in values.items()}))


def test_arrays_are_broadcast_and_rows_keep_their_order() -> None:
    rates = np.array([[1.0], [0.3], [2.0]])
    found = solve_many(MODEL, {"fit.samples": SAMPLES, "step.learning_rate": rates, "fit.ridge": 0.1})
    assert found.shape == (3, 5) and len(found) == 15
    errors = found.numbers("test_error").reshape(found.shape)
    for i, j in np.ndindex(3, 5):
        model = MODEL.replace({"fit.samples": SAMPLES[j], "step.learning_rate": rates[i, 0], "fit.ridge": 0.1})
        assert errors[i, j] == solve(model).test_error
    assert found.point(6) == "fit.samples = 0.9, step.learning_rate = 0.3, fit.ridge = 0.1"


def test_neither_threads_nor_neighbours_change_a_bit() -> None:
    """Parts of a batch, in another order, on any number of threads and in other processes."""
    rng = np.random.default_rng(3)
    count = 2500  # more than one batch
    values = {"fit.samples": rng.uniform(0.1, 5.0, count), "fit.ridge": 10.0 ** rng.uniform(-4, 2, count)}
    values["step.learning_rate"] = rng.choice([0.5, 1.0], count)
    here = solve_many(MODEL, values)
    names = [name for name in here.columns if isinstance(here[name], np.ndarray)]
    order = rng.permutation(count)
    shuffled = solve_many(MODEL, {key: column[order] for key, column in values.items()})
    part = solve_many(MODEL, {key: column[:100] for key, column in values.items()})
    for name in names:
        np.testing.assert_array_equal(shuffled.numbers(name), here.numbers(name)[order])
        np.testing.assert_array_equal(part.numbers(name), here.numbers(name)[:100])
    for workers in (1, 3):
        with ThreadPoolExecutor(workers) as pool:
            assert solve_many(MODEL, values, executor=pool).to_json() == here.to_json()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        assert solve_many(MODEL, values, executor=processes).to_json() == here.to_json()


def test_points_without_a_solution_are_nan_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(model: Model) -> None:
        if model.fit.samples == 1.0:
            raise NotConverged("did not settle", "try something else")

    before_each_point(monkeypatch, fail)
    found = solve_many(MODEL, {"fit.samples": [0.5, 1.0, 2.0]})
    assert found["status"] == ("ok", "not_converged", "ok")
    assert found["reason"] == ("", "did not settle; try something else", "")
    for name, column in found.columns.items():
        if isinstance(column, np.ndarray) and name != "fit.samples":
            assert np.isnan(column).tolist() == [False, True, False], name


def test_what_no_step_can_be_taken_for_is_impossible_alone() -> None:
    found = solve_many(MODEL, {"network.activation": ["tanh", "step"], "fit.samples": [1.0, 1.0]})
    assert found["status"] == ("ok", "impossible")
    assert "jumps" in found["reason"][1]
    with pytest.raises(BadInput, match="no point is possible"):
        solve_many(MODEL.replace({"network.activation": "step"}), {"fit.samples": [1.0, 2.0]})


def test_a_point_that_needs_finer_panels_is_solved_by_itself() -> None:
    """At a tolerance next to rounding some points settle on halved panels alone, or not at all."""
    values = {"fit.samples": np.linspace(0.3, 4.0, 30)}
    found = solve_many(MODEL, values, tolerance=1e-14)
    for row, samples in enumerate(values["fit.samples"].tolist()):
        try:
            require_equal(found, row, MODEL.replace({"fit.samples": samples}), tolerance=1e-14)
        except NotConverged as error:
            assert found["reason"][row] == str(error) and np.isnan(found.numbers("test_error")[row])


def test_any_loss_and_texts_go_through_the_same_function() -> None:
    values = {"fit.loss": ["logistic", "square", "huber"], "fit.samples": [1.0, 2.0, 1.5], "fit.ridge": 0.1}
    found = solve_many(MODEL, values)
    for row in range(3):
        model = MODEL.replace({key: value if key == "fit.ridge" else value[row] for key, value in values.items()})  # type: ignore[index]
        require_equal(found, row, model)


def test_a_list_of_models() -> None:
    models = [
        MODEL,
        MODEL.replace({"fit.samples": 1.0}),
        SPIKED,
        MODEL.replace({"network.readout": {"values": [1.0, 0.4], "fractions": [0.5, 0.5]}}),
        MODEL.replace({"fit.ridge": 1.0}),
    ]
    found = solve_many(models)
    assert found.shape == (5,)
    for row, model in enumerate(models):
        require_equal(found, row, model)
    assert found.numbers("fit.samples").tolist() == [2.0, 1.0, 2.0, 2.0, 2.0]
    assert found.numbers("spike.strength")[2] == 1.0 and np.isnan(found.numbers("spike.strength")[0])
    assert np.isnan(found.numbers("Q1_12")[0])  # of two blocks, and he has one


def test_progress_ends_at_the_number_of_points() -> None:
    seen: list[tuple[str, int, int]] = []
    solve_many(MODEL, {"fit.samples": np.linspace(0.5, 2.0, 1500)}, progress=lambda *told: seen.append(told))
    assert seen[-1] == ("theory", 1500, 1500) and len(seen) == 2


def test_a_dataset_of_points_is_read_again() -> None:
    found = solve_many(MODEL, {"fit.samples": SAMPLES, "fit.ridge": RIDGES[:2, None]})
    again = Dataset.from_json(found.to_json())
    assert isinstance(again.grid, Points) and again.shape == (2, 5)
    assert again.to_json() == found.to_json()
    pytest.importorskip("xarray")
    there = found.to_xarray()
    assert there["test_error"].shape == (2, 5)
    assert there["fit.ridge"].dims == ("fit.ridge",) and float(there["fit.ridge"][1]) == RIDGES[1]


def test_points_are_told_in_words_and_are_no_curves(tmp_path: Path) -> None:
    found = solve_many(MODEL, {"fit.samples": [1.0, 2.0], "network.activation": ["tanh", "erf"]})
    assert report(found).startswith("2 of 2 points solved over fit.samples, network.activation; worst residual")
    assert table(found).splitlines()[2].split()[:2] == ["2", "erf"]
    with pytest.raises(BadInput, match="no curves"):
        gs.plot(found, tmp_path / "points.png")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, "no values"),
        ({"fit.samples": []}, "no values"),
        ({"fit.samples": [1.0, -1.0]}, "fit.samples = -1.0"),
        ({"fit.samples": [1.0, np.nan]}, "fit.samples = nan"),
        ({"fit.sample": [1.0]}, "fit.sample"),
        ({"fit": [1.0]}, "table"),
        ({"fit.samples": [1.0, 2.0], "fit.ridge": [1.0, 2.0, 3.0]}, r"do not go together.*array\[:, None\]"),
        ({"fit.samples": [[1.0], [1.0, 2.0]]}, "numbers or texts"),
        ({"fit.samples": ["a", 2.0]}, "fit.samples"),
        ({"network.activation": ["nonsense(z)"]}, "nonsense"),
    ],
)
def test_what_is_not_allowed_is_refused(values: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        solve_many(MODEL, values)


def test_a_data_frame_is_asked_for_its_columns() -> None:
    frame = pytest.importorskip("pandas").DataFrame({"fit.samples": [1.0, 2.0]})
    with pytest.raises(BadInput, match=r"dict\(frame\)"):
        solve_many(MODEL, frame)


@pytest.mark.parametrize("dimension", [0, [500, 600], "100", float("nan")])
def test_dimensions_are_refused_before_any_point(dimension: Any) -> None:
    with pytest.raises(BadInput, match="^dimension = "):
        solve_many(MODEL, {"fit.samples": [1.0, 2.0]}, dimension=dimension)


def test_models_and_values_do_not_go_together() -> None:
    for models, values in (([MODEL], {"fit.samples": [1.0]}), ([], None), (MODEL, None), ([MODEL, 3], None)):
        with pytest.raises(BadInput):
            solve_many(models, values)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="tolerance"):
        solve_many(MODEL, {"fit.samples": [1.0]}, tolerance=2.0)


def test_a_summary_shows_no_value_of_what_is_swept() -> None:
    found = solve_many(gs.model(), {"fit.samples": np.array([0.1, 1.0])})
    assert "samples=(swept)" in str(found) and "samples=0.1" not in str(found)
    curve = gs.curve(gs.model(), {"network.bias": [0.0, 0.5]}, baselines=False)
    assert "bias=(swept)" in str(curve) and "samples=2" in str(curve)
