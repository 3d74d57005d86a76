"""Five pictures against images that were looked at; ``python tests/draw/test_golden.py`` writes them anew."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

import giantstep as gs

sys.path.append(str(Path(__file__).resolve().parents[1] / "oracles"))
from golden import TOLERANCE, distance, keep, kept, wordless  # noqa: E402

MODEL = gs.model("tanh", link="sign", width=0.5, ridge=0.1)
SWEEP = ["fit.samples=0.2:3:30", "step.learning_rate=0.3,1,3"]


def curve() -> gs.Dataset:
    return gs.curve(MODEL, SWEEP, simulate=True, dimension=60, seeds=3, simulate_points=5)


def a_map() -> gs.Map:
    return gs.map(MODEL, "fit.samples=0.1:2:20", "fit.ridge=1e-3:1:15:log", refine=0)


PICTURES: dict[str, Callable[[], gs.Dataset | gs.Map | gs.Spectrum | gs.Learned | gs.Bounds]] = {
    "curve": curve,
    "map": a_map,
    "spectrum": lambda: gs.spectrum(MODEL, dimension=100, simulate=True, seeds=3),
    "learned": lambda: gs.learned(MODEL, dimension=100, simulate=True, seeds=3, bins=7),
    "bounds": lambda: gs.bounds(MODEL, optimise=False),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_as_it_was_looked_at(name: str) -> None:
    found = wordless(gs.plot(PICTURES[name]()))
    assert distance(found, kept(name)) < TOLERANCE


def test_a_change_that_matters_is_seen() -> None:
    """Curves 3 % higher, one curve less, other colours."""
    dataset = curve()
    golden = kept("curve")
    for name in ("test_error", "finite_size_test_error"):
        assert name in dataset.columns
    higher = {**dataset.columns, "test_error": 1.03 * dataset.numbers("test_error")}
    for changed in (
        gs.Dataset(dataset.model, dataset.grid, higher, dataset.options, dataset.versions),
        dataset.sel({"step.learning_rate": [0.3, 1.0]}),
    ):
        assert distance(wordless(gs.plot(changed)), golden) > 1.5 * TOLERANCE
    drawn = gs.plot(dataset)
    for line in drawn.axes[0].lines:
        line.set_color("red")
    assert distance(wordless(drawn), golden) > 1.5 * TOLERANCE


def test_the_style_is_one_of_matplotlib() -> None:
    with plt.style.context("giantstep.paper"):
        assert mpl.rcParams["mathtext.fontset"] == "stix" and mpl.rcParams["xtick.direction"] == "in"
        cycle = list(mpl.rcParams["axes.prop_cycle"])
        figure, axes = plt.subplots()
        assert axes.plot([0.0, 1.0])[0].get_linestyle() == "-"
        assert axes.plot([0.0, 1.0])[0].get_linestyle() == "--"
        plt.close(figure)
    assert len({str(one["linestyle"]) for one in cycle}) == len(cycle)  # told apart in grey too


def test_families_darken_steadily() -> None:
    """What is printed in grey: the luminance of the curves of a family, from the first to the last."""
    drawn = gs.plot(gs.curve(MODEL, ["fit.samples=1:2:3", "fit.ridge=0.01,0.1,1,10"], baselines=False))
    colours = [line.get_color() for line in drawn.axes[0].lines if len(line.get_xdata()) == 3]
    grey = [float(np.dot(mpl.colors.to_rgb(colour), (0.2126, 0.7152, 0.0722))) for colour in colours]
    assert len(grey) == 4 and np.all(np.diff(grey) < -0.08)


if __name__ == "__main__":
    for name, make in PICTURES.items():
        keep(name, wordless(gs.plot(make())))
