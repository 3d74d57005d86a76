"""The picture of every result: on axes of the user's, on new ones, as a figure and as a file, with another look."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import giantstep as gs
from giantstep.draw.contour_labels import label_contours
from giantstep.draw.curves import figure

MODEL = gs.model("tanh", link="tanh", noise=0.1)
RESULTS: dict[str, Callable[[], Any]] = {
    "curve": lambda: gs.curve(MODEL, ["fit.samples=1:2:3", "fit.ridge=0.1,1"]),
    "map": lambda: gs.map(MODEL, "fit.samples=1:2:3", "fit.ridge=0.1:1:3", refine=0),
    "spectrum": lambda: gs.spectrum(MODEL),
    "learned": lambda: gs.learned(MODEL),
    "learnable": lambda: gs.learnable(MODEL, dimension=8, seeds=1, samples=4.0, steps=1),
    "compare": lambda: gs.compare(MODEL, dimension=20, seeds=2),
    "bounds": lambda: gs.bounds(MODEL, optimise=False),
    "tune": lambda: gs.tune(MODEL),
}


@lru_cache(maxsize=16)
def result(verb: str) -> Any:
    return RESULTS[verb]()


@pytest.mark.parametrize("verb", RESULTS)
def test_every_picture_is_drawn(verb: str, tmp_path: Path) -> None:
    drawn = gs.plot(result(verb), tmp_path / "a.png")
    assert isinstance(drawn, Figure) and drawn.axes
    gs.plot(result(verb), tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    own = Figure()
    FigureCanvasAgg(own)
    axes = own.add_subplot()
    assert result(verb).plot(axes) is axes and axes.has_data()
    other = result(verb).plot()
    assert other.has_data() and callable(other.figure._repr_png_)  # drawn below


@pytest.mark.parametrize("verb", ["curve", "learned", "spectrum", "tune"])
def test_scales_title_and_size(verb: str) -> None:
    found = gs.plot(result(verb), xlog=True, ylog=True, title="costs 5$", size=(7.0, 4.0))
    assert tuple(found.get_size_inches()) == (7.0, 4.0)
    assert "costs" in (found.get_suptitle() or found.axes[0].get_title(loc="left"))
    assert all(axes.get_yscale() == "log" and axes.get_ylim()[0] > 0.0 for axes in found.axes)
    assert all(axes.get_xscale() == "log" and axes.get_xlim()[0] > 0.0 for axes in found.axes)
    assert found._repr_png_()[:4] == b"\x89PNG"
    linear = gs.plot(result(verb), xlog=False, ylog=False)
    assert all(axes.get_xscale() == axes.get_yscale() == "linear" for axes in linear.axes)


def test_a_logarithmic_axis_shows_the_whole_curve() -> None:
    axes = figure(result("curve"), log=True).axes[0]
    assert axes.get_yscale() == "log"
    errors = result("curve")["test_error"]
    assert axes.get_ylim()[0] < errors.min() and axes.get_ylim()[1] > errors.max()


def test_another_style_and_what_is_none() -> None:
    grey = gs.plot(result("curve"), style="ggplot")
    assert grey.axes[0].get_facecolor() != gs.plot(result("curve")).axes[0].get_facecolor()
    with pytest.raises(gs.BadInput, match="did you mean 'ggplot'"):
        gs.plot(result("curve"), style="gplot")
    for size in ((0.0, 1.0), (1.0,), (1.0, np.nan)):
        with pytest.raises(gs.BadInput, match="width and height in inches"):
            gs.plot(result("curve"), size=size)  # type: ignore[arg-type]
    with pytest.raises(gs.BadInput, match="there are pictures of Dataset"):
        gs.plot(gs.solve(MODEL))  # type: ignore[arg-type]


def test_the_optimum_is_the_lowest_point_of_its_picture() -> None:
    axes = result("tune").plot()
    curve = next(line for line in axes.lines if len(line.get_xdata()) > 10)
    x, y = np.asarray(curve.get_xdata()), np.asarray(curve.get_ydata())
    assert x[np.argmin(y)] == pytest.approx(1.0)
    assert y.min() == pytest.approx(result("tune").test_error, rel=1e-6)


def test_bounds_are_where_they_are() -> None:
    found = result("bounds")
    drawn = {float(line.get_xdata()[0]) for line in found.plot().lines}
    assert drawn == set(found.named().values())


def test_labels_of_contours_are_away_from_the_edges_and_from_each_other() -> None:
    """Contours that crowd at the lower edge: labels that stand there could not be read."""
    found = gs.map(gs.model(width=0.5), "fit.samples=0.1:2:30", "fit.ridge=1e-4:1:30:log", refine=0)
    axes = gs.plot(found).axes[0]
    middle = np.array([axes.transData.transform(text.get_position()) for text in axes.texts])
    size = 7.0 * axes.get_figure().dpi / 72.0
    edges = np.stack([middle - axes.bbox.p0, axes.bbox.p1 - middle])
    apart = np.linalg.norm(middle[:, None] - middle, axis=2) + 1e3 * np.eye(len(middle))
    assert len(middle) > 2 and edges.min() > size and apart.min() > 2.0 * size


def test_curves_on_axes_of_the_user_have_one_legend_above_the_data() -> None:
    family = gs.curve(MODEL, ["fit.samples=0.1:4:9", "step.learning_rate=0.3,1,3"])
    drawn = Figure(figsize=(11.0, 4.2))
    for axes in drawn.subplots(1, 2):
        assert family.plot(axes) is axes
        legend = axes.get_legend()
        words = [text.get_text() for text in legend.get_texts()]
        assert "theory" in words and sum(r"\tilde\eta" in text for text in words) == 3
        drawn.draw_without_rendering()
        low = axes.transData.inverted().transform(legend.get_window_extent().p0)[1]
        assert low > max(np.nanmax(np.append(line.get_ydata(), -np.inf)) for line in axes.lines)
        assert legend.get_window_extent().x1 <= axes.get_window_extent().x1
        assert not axes.texts  # names of curves beside the axes would run into the next panel
    assert not drawn.legends


@pytest.mark.parametrize(("y", "free"), [(math.nan, True), (0.5, False)])
def test_labels_of_contours_are_away_from_the_line_of_the_optimum(y: float, free: bool) -> None:
    """A contour at x = 0.5 has most room in its middle, where a line at y = 0.5 may pass."""
    axes = Figure(figsize=(4.0, 4.0)).add_axes((0.1, 0.1, 0.8, 0.8))
    x = np.linspace(0.0, 1.0, 21)
    lines = axes.contour(x, x, np.tile(x, (21, 1)), levels=[0.49, 2.0])  # no value is 2
    label_contours(axes, lines, "{:.1f}".format, np.array([[0.0, 0.5], [0.1, y], [0.9, y], [1.0, 0.5]]))
    (label,) = axes.texts
    assert bool(abs(label.get_position()[1] - 0.5) < 0.1) == free


def test_a_line_alone_needs_no_legend() -> None:
    found = result("spectrum")
    assert len(found.outliers) == 0 and not gs.plot(found).legends and found.plot().get_legend() is None


def test_scores_are_drawn_beside_the_errors_of_a_margin_loss() -> None:
    model = gs.model("tanh", link="sign", loss="logistic")
    found = gs.decompose(model, scores=[-1.0, 0.0, 1.5])
    _, scores = gs.plot(found).axes
    lines = {line.get_label(): np.array(line.get_ydata()) for line in scores.get_lines()}
    for label, members in (("one fit", 1), ("mean of 2 fits", 2)):
        np.testing.assert_array_equal(lines[label], found.calibration[members].probability)
