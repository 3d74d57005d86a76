"""The picture of any result: on axes of the user's, as a figure, into a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from derive.language.grammar import shorten
from giantstep.draw.bound_functions import bound_functions_figure, draw_bound_functions
from giantstep.draw.bounds import bounds_figure, draw_bounds
from giantstep.draw.compare import compare_figure, draw_compare
from giantstep.draw.curves import checked, draw_curves, figure
from giantstep.draw.decompose import (
    decomposition_figure,
    decompositions_figure,
    draw_decomposition,
    draw_decompositions,
)
from giantstep.draw.learnable import draw_overlaps, overlaps_figure
from giantstep.draw.learned import draw_profile, learned_figure
from giantstep.draw.look import PLAIN, Look, Picture, written
from giantstep.draw.map import draw_map, map_figure
from giantstep.draw.rates import draw_rates, rates_figure
from giantstep.draw.spectrum import draw_spectrum, spectrum_figure
from giantstep.draw.steps import draw_steps, steps_figure
from giantstep.draw.tuned import draw_tuned, tuned_figure
from giantstep.observe.bound_functions import BoundFunctions
from giantstep.observe.bounds import Bounds
from giantstep.observe.compare import Comparison
from giantstep.observe.decompose import Decomposition
from giantstep.observe.learnable.result import Learnability
from giantstep.observe.learned import Learned
from giantstep.observe.rates import Rates
from giantstep.observe.spectrum.spectrum import Spectrum
from giantstep.observe.steps import Steps
from giantstep.observe.tune import Tuned
from giantstep.spec.errors import BadInput
from giantstep.spec.files import PICTURES, suffix_of, write_atomic
from giantstep.spec.shown import Pictured
from giantstep.sweep.dataset import Dataset
from giantstep.sweep.decompositions import Decompositions
from giantstep.sweep.map import Map

#: Kind of result -> (everything there is of it as a figure, the main part of it on axes).
_DRAWN: Mapping[type[Pictured], tuple[Callable[[Any], Picture], Callable[[Axes, Any], object]]] = {
    Dataset: (figure, draw_curves),
    Map: (map_figure, draw_map),
    Spectrum: (spectrum_figure, draw_spectrum),
    Learned: (learned_figure, lambda axes, found: draw_profile(axes, found, 0)),
    Learnability: (lambda found: overlaps_figure([found]), draw_overlaps),
    Comparison: (compare_figure, lambda axes, found: draw_compare(axes, found, "test_error")),
    Bounds: (bounds_figure, draw_bounds),
    BoundFunctions: (bound_functions_figure, draw_bound_functions),
    Tuned: (tuned_figure, draw_tuned),
    Steps: (steps_figure, draw_steps),
    Rates: (rates_figure, draw_rates),
    Decomposition: (decomposition_figure, draw_decomposition),
    Decompositions: (decompositions_figure, draw_decompositions),
}


def plot(
    result: Pictured,
    path: str | os.PathLike[str] | None = None,
    *,
    error: str = "test_error",
    title: str | None = None,
    xlog: bool | None = None,
    ylog: bool | None = None,
    size: tuple[float, float] | None = None,
    style: str | None = None,
) -> Figure:
    """Draw a result: a curve, a map, a spectrum, a learned function, overlaps, a comparison, bounds, an optimum.

    The figure is returned, and shown by notebooks; with ``path`` it is written too, into a .png (200 dots per inch),
    .svg or .pdf file; it never leaves half a file, and equal results give equal bytes. error: of a curve or a map,
    "test_error", "train_error" or the name of a metric; title: in place of the model; xlog, ylog: logarithmic axes or
    not; size: in inches; style: one of Matplotlib's. Raises BadInput for another ending, where the file cannot be
    written, for what has no picture, and for a metric that the model does not have.
    """
    suffix = None if path is None else suffix_of(path, PICTURES)
    look = Look(title, xlog, ylog, size, style)
    whole, _ = _of(result)
    if isinstance(result, Dataset):
        whole = partial(figure, error=checked(result.model, error), log=ylog)
    if isinstance(result, Map):
        whole = partial(map_figure, error=checked(result.dataset.model, error))
    drawn = look.drawn(lambda: whole(result))
    if path is not None and suffix is not None:
        write_atomic(path, written(drawn, suffix))
    return drawn


def axes_of(result: Pictured, ax: Axes | None) -> Axes:
    """The main part of a result on axes that are given, or on new ones in the style of the package."""
    _, draw = _of(result)
    if ax is None:
        with PLAIN.context():
            ax = Picture(5.4, 4.0).add_subplot()
            draw(ax, result)
            _legend(ax)
    else:
        draw(ax, result)
        _legend(ax)
    return ax


def _of(result: object) -> tuple[Callable[[Any], Picture], Callable[[Axes, Any], object]]:
    for kind, drawn in _DRAWN.items():
        if isinstance(result, kind):
            return drawn
    names = ", ".join(kind.__name__ for kind in _DRAWN)
    raise BadInput(f"there is no picture of {shorten(result)}", f"there are pictures of {names}")


def _legend(ax: Axes) -> None:
    handles, labels = ax.get_legend_handles_labels()
    if len(labels) > 1 and ax.get_legend() is None:
        ax.legend(handles, labels)
