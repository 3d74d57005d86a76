"""Points along axes with names: those of xarray by name, those of NumPy called as the key that varies along them."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.spec.errors import BadInput
from giantstep.sweep.axes import broadcast
from giantstep.sweep.dataset import Dataset
from giantstep.sweep.points import Points, points_of

xarray = pytest.importorskip("xarray")
MODEL = gs.model("tanh", link="sign", samples=2.0, ridge=0.05, step_samples=2.0, learning_rate=1.5)
RIDGES, SAMPLES = [0.1, 1.0, 10.0], [0.5, 2.0]


def labelled(values: Any, *dims: str, **coordinates: Any) -> Any:
    return xarray.DataArray(np.array(values), dims=dims, coords=coordinates)


def made(points: Points) -> Dataset:
    """A dataset of some points whose test error is the number of the row."""
    count = len(points)
    words = {"status": ("ok",) * count, "reason": ("",) * count}
    return Dataset(MODEL, points, {**points.values, "test_error": np.arange(float(count)), **words}, {}, {})


def test_arrays_with_names_keep_their_dimensions_and_coordinates() -> None:
    """Broadcast by name, whatever the order of the axes, as xarray does it."""
    ridges = labelled(RIDGES, "penalty", penalty=[1.0, 2.0, 3.0], kind=("penalty", ["low", "middle", "high"]))
    samples = labelled([[0.5, 2.0, 3.0], [1.0, 1.5, 4.0]], "draw", "penalty")
    values = {"fit.ridge": ridges, "fit.samples": samples, "step.learning_rate": 0.7}
    found = gs.solve_many(MODEL, values).to_xarray()
    assert found["test_error"].dims == ("penalty", "draw")
    xarray.testing.assert_equal(found["fit.samples"].drop_vars(["penalty", "kind"]), samples.transpose())
    for name in ("penalty", "kind"):
        xarray.testing.assert_equal(found[name], ridges[name])
    one = MODEL.replace({"fit.ridge": 10.0, "fit.samples": 4.0, "step.learning_rate": 0.7})
    assert found["test_error"].sel(penalty=3.0)[1].item() == gs.solve(one).test_error


def test_a_key_that_is_a_dimension_is_its_coordinate() -> None:
    ridge = labelled([0.1, 0.2], "fit.samples", **{"fit.samples": SAMPLES})
    points = points_of({"fit.ridge": ridge, "fit.samples": ridge["fit.samples"]})
    found = made(points).to_xarray()
    assert found["fit.ridge"].sel({"fit.samples": 2.0}).item() == 0.2 and found.sizes == {"fit.samples": 2}


@pytest.mark.parametrize(
    ("values", "dims"),
    [
        ({"fit.ridge": np.array(RIDGES)[:, None], "fit.samples": SAMPLES}, ("fit.ridge", "fit.samples")),
        ({"fit.samples": SAMPLES}, ("fit.samples",)),
        ({"fit.samples": [2.0]}, ("fit.samples",)),
        ({"fit.ridge": [[0.1]], "fit.samples": SAMPLES}, ("fit.ridge", "fit.samples")),
        ({"fit.ridge": [0.1, 0.2], "fit.samples": SAMPLES}, ("axis_0",)),
        ({"fit.ridge": [[0.1, 0.3], [0.2, 0.4]], "fit.samples": SAMPLES}, ("axis_0", "axis_1")),
        ({"fit.ridge": np.array(RIDGES)[:, None], "fit.samples": [SAMPLES] * 3}, ("axis_0", "axis_1")),
    ],
)
def test_an_axis_is_called_as_the_key_that_alone_lies_along_it(values: Any, dims: tuple[str, ...]) -> None:
    points = points_of(values)
    found = made(points).to_xarray()
    assert points.axes.dims == found["test_error"].dims == dims
    for row, error in enumerate(found["test_error"].values.ravel()):
        place = dict(zip(dims, np.unravel_index(row, points.shape), strict=True))
        point = found.isel(place)
        assert error == row and all(point[key].item() == value for key, value in points.changes(row))


def test_every_format_keeps_the_axes(tmp_path: Path) -> None:
    values = labelled(RIDGES, "penalty", kind=("penalty", ["low", "middle", "high"]), scale=2.0)
    data = made(points_of({"fit.ridge": values, "fit.samples": labelled(SAMPLES, "draw", draw=[7.0, 8.0])}))
    for name in ("c.json", "c.nc"):
        data.write(tmp_path / name)
        assert Dataset.read(tmp_path / name) == data
    assert pickle.loads(pickle.dumps(data)) == data
    other = made(points_of({"fit.ridge": values.rename("other"), "fit.samples": labelled(SAMPLES, "drawn")}))
    assert data != other


def test_a_store_keeps_the_axes(tmp_path: Path) -> None:
    pytest.importorskip("zarr")
    values = {"fit.ridge": labelled(RIDGES, "penalty", penalty=[1.0, 2.0, 3.0]), "fit.samples": 2.0}
    gs.solve_into(MODEL, tmp_path / "p.zarr", values)
    assert Dataset.read(tmp_path / "p.zarr").grid == gs.solve_many(MODEL, values).grid


def test_parts_keep_the_axes_where_they_are_parts_of_every_axis() -> None:
    ridges = labelled(RIDGES, "penalty", kind=("penalty", ["low", "middle", "high"]))
    data = made(points_of({"fit.ridge": ridges, "fit.samples": labelled(SAMPLES, "draw")}))
    part = data.sel({"fit.ridge": [0.1, 10.0]}).to_xarray()
    assert part["test_error"].values.tolist() == [[0.0, 1.0], [4.0, 5.0]]
    assert part["kind"].values.tolist() == ["low", "high"]
    apart = made(points_of({"fit.ridge": [[0.1, 0.2], [0.3, 0.1]]})).sel({"fit.ridge": 0.1})
    assert apart.shape == (2,) and apart["test_error"].tolist() == [0.0, 3.0]


def test_choices_may_be_given_by_name() -> None:
    data = gs.Dataset.from_json(made(points_of({"fit.ridge": RIDGES})).to_json())
    assert data.sel(**{"fit.ridge": 1.0}) == data.sel({"fit.ridge": 1.0})
    assert data.sel(nearest=True, **{"fit.ridge": 1.1})["test_error"].tolist() == [1.0]
    with pytest.raises(BadInput, match="is not varied"):
        data.sel(fit=1.0)


def test_a_sweep_takes_arrays_with_names() -> None:
    swept = gs.curve(MODEL, {"fit.ridge": labelled(RIDGES, "fit.ridge")}, baselines=False)
    assert swept["fit.ridge"].tolist() == RIDGES


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"fit.ridge": labelled(RIDGES, "a"), "fit.samples": RIDGES}, "those of fit.samples have none"),
        (
            {"fit.ridge": labelled(RIDGES, "a"), "fit.samples": labelled(SAMPLES, "a")},
            "3 values and, in fit.samples, 2",
        ),
        (
            {"fit.ridge": labelled(SAMPLES, "a", a=[1, 2]), "fit.samples": labelled(SAMPLES, "a", a=[1, 3])},
            "the coordinate a of fit.samples differs",
        ),
        ({"fit.ridge": labelled(SAMPLES, "a", **{"fit.samples": 2.0})}, "there are no values of fit.samples"),
        (
            {"fit.ridge": labelled(SAMPLES, "a", **{"fit.samples": 2.0}), "fit.samples": 3.0},
            "differs from the values of fit.samples",
        ),
        ({"fit.ridge": labelled([SAMPLES], "fit.ridge", "a")}, "along the dimension fit.ridge alone"),
        ({"fit.ridge": labelled([], "a")}, "no values"),
    ],
)
def test_names_that_do_not_go_together_say_so(values: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        broadcast(values)


def test_a_dimension_is_not_called_as_a_column() -> None:
    with pytest.raises(BadInput, match="called test_error"):
        made(points_of({"fit.ridge": labelled(RIDGES, "test_error")})).to_xarray()


def test_masked_points_are_refused() -> None:
    masked = np.ma.masked_array([0.1, 1.0, 10.0], mask=[False, True, False])
    with pytest.raises(BadInput, match=r"1 values of fit\.ridge are masked"):
        points_of({"fit.ridge": masked})
    assert len(points_of({"fit.ridge": np.ma.masked_array(RIDGES)})) == 3
