"""What many points take beside the columns that are asked for."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import giantstep as gs

MODEL = gs.model("tanh", link="sign")
FOR_A_POINT = 120.0  # bytes: where it lies in the grid, whole numbers and pieces of lists, of 8 to 32 each


@contextmanager
def traced(found: list[int]) -> Iterator[None]:
    """Bytes at the end and at most, beside those before."""
    tracemalloc.start()
    try:
        yield
        found += tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()


def of_curve(count: int) -> gs.Dataset:
    """Points one after the other, with the baselines."""
    return gs.curve(MODEL, f"fit.samples=0.5:2:{count}")


def of_many(count: int) -> gs.Dataset:
    """Points in calls of a thousand, of which a few wait for the table."""
    return gs.solve_many(MODEL, {"fit.samples": np.linspace(0.5, 2.0, count)})


@pytest.mark.parametrize(("run", "count"), [(of_curve, 5000), (of_many, 60_000)])
def test_points_take_little_beside_their_columns(run: Callable[[int], gs.Dataset], count: int) -> None:
    """Neither for good nor on the way."""
    run(200)  # fills what is kept for any number of points
    found: list[int] = []
    with traced(found):
        data = run(count)
    columns = data.columns.values()
    own = sum(column.nbytes if isinstance(column, np.ndarray) else 8 * len(column) for column in columns)
    most = (found[1] - own) / count
    assert most < FOR_A_POINT


@pytest.mark.parametrize("ending", ["json", "csv"])
def test_a_dataset_is_written_in_parts(ending: str, tmp_path: Path) -> None:
    """Its text as a whole is never in memory."""
    data = gs.solve_many(MODEL, {"fit.samples": np.linspace(0.5, 2.0, 15_000)})
    path, found = tmp_path / f"points.{ending}", []
    with traced(found):
        data.write(path)
    assert path.stat().st_size > 4e6 and found[1] < 2e6
    assert gs.Dataset.read(path, MODEL).numbers("test_error").tolist() == data.numbers("test_error").tolist()
