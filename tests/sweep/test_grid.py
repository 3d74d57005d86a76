"""Grids of a sweep: the grammar, what is refused, and the order of the rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from giantstep.spec.errors import BadInput
from giantstep.sweep.grid import Grid, Sweep, grid_of


def test_linear_and_logarithmic_ranges_have_their_ends_and_count() -> None:
    linear = Sweep.parse("fit.samples=0.2:3:30")
    assert len(linear.values) == 30 and linear.values[0] == 0.2 and linear.values[-1] == 3.0
    assert not linear.log
    logarithmic = Sweep.parse("fit.ridge = 1e-3:10:5:log")
    assert logarithmic.log
    np.testing.assert_allclose(np.log10(np.array(logarithmic.values, float)), [-3, -2, -1, 0, 1], atol=1e-12)


def test_lists_keep_commas_inside_brackets() -> None:
    assert Sweep.parse("network.activation=tanh, clip(z,-1,1),erf").values == ("tanh", "clip(z,-1,1)", "erf")
    assert Sweep.parse("network.readout.values=[1,-1],[1,0.5]").values == ("[1,-1]", "[1,0.5]")
    assert Sweep.parse("fit.samples=2,1e-1,3").values == (2.0, 0.1, 3.0)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("fit.samples", "no values"),
        ("fit.samples=", "no values"),
        ("fit.samples=1:2", "not understood"),
        ("fit.samples=1:2:3:lin", "not understood"),
        ("fit.samples=1:2:0", "whole number"),
        ("fit.samples=1:2:2.5", "whole number"),
        ("fit.samples=1:2:-3", "whole number"),
        ("fit.samples=nan:2:3", "not finite"),
        ("fit.samples=1:inf:3", "not finite"),
        ("fit.samples=a:2:3", "not finite"),
        ("fit.samples=2:2:3", "starts and stops"),
        ("fit.samples=0:2:3:log", "ends > 0"),
        ("fit.samples=1,nan", "holds nan"),
        ("fit.samples=1,,2", "empty entry"),
        ("fit.samples=1,1.0", "more than once"),
        ("fit.samples=1,abc", "mixes"),
        ("fit.samples=1:2:1000001", "1000001 points"),
        ("fit.samples=1:2:99999999999999999999999", "points"),
        ("fit.samplse=1,2", "unknown key"),
        ("fit=1,2", "table"),
        ("=1,2", "unknown key"),
        ("step.bulk.x=1", "unknown key"),
        ("network.readout.values.2=0.1:1:3", "entries of network.readout.values are no keys"),
        ("network.readout.values[1]=0.1,1", "entries of network.readout.values are no keys"),
    ],
)
def test_bad_sweeps_are_refused_in_words(text: str, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        Sweep.parse(text)
    assert says in caught.value.message
    assert caught.value.hint


def test_unknown_key_gets_a_suggestion() -> None:
    with pytest.raises(BadInput) as caught:
        Sweep.parse("fit.sample=1,2")
    assert "fit.samples" in caught.value.hint


def test_grids_refuse_repeated_keys_none_and_too_many_points() -> None:
    for bad in (["fit.ridge=1,2", "fit.ridge=3,4"], [], ["fit.ridge=1:2:2000", "fit.samples=1:2:2000"]):
        with pytest.raises(BadInput):
            grid_of(bad)
    with pytest.raises(BadInput):
        grid_of({"fit.ridge": []})
    with pytest.raises(BadInput):
        grid_of({"fit.ridge": [True]})


@settings(deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_rows_columns_and_curves_agree(lengths: list[int]) -> None:
    keys = ("fit.samples", "fit.ridge", "target.noise")
    sweeps = tuple(Sweep(key, tuple(float(i + 1) for i in range(n))) for key, n in zip(keys, lengths, strict=False))
    grid = Grid(sweeps)
    assert len({grid.changes(row) for row in range(len(grid))}) == len(grid) == np.prod(lengths)
    for number, sweep in enumerate(sweeps):
        assert grid.column(number) == tuple(dict(grid.changes(row))[sweep.key] for row in range(len(grid)))
        shaped = np.array(grid.column(number)).reshape(grid.shape)
        assert (np.diff(shaped, axis=len(sweeps) - 1 - number) == 1.0).all()
    for named, rows in grid.curves():
        assert [grid.changes(row)[0][1] for row in range(rows.start, rows.stop)] == list(grid.x.values)
        assert {grid.changes(row)[1:] for row in range(rows.start, rows.stop)} == {named}


@pytest.mark.parametrize("text", ["fit.samples=0.1-3", "fit.samples=0.1..3", "fit.samples=1 to 3"])
def test_ranges_of_elsewhere_are_told_how_they_are_written_here(text: str) -> None:
    with pytest.raises(BadInput) as caught:
        Sweep.parse(text)
    assert "start:stop:count" in str(caught.value)


def test_a_small_number_is_no_range() -> None:
    assert Sweep.parse("fit.ridge=1e-3").values == (1e-3,)
