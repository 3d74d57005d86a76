"""The figures of the page. Each is made once and stays: what changes are its data, its label and its mark."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from giantstep.explore.answers import VIEWS, Answer, Array

_COLOURS = ("#0072b2", "#d55e00", "#8c8c8c", "#8c8c8c", "#009e73")  # readable in grey, told apart by dashes too
_DASHES = ("solid", "dashed", "dashdot", "dotted", "solid")
_AXES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "learning curve": ("", "error"),
        "learned function": ("theta.x", "output"),
        "spectrum": ("eigenvalue of the Gram matrix", "density per unit of its logarithm"),
        "bounds": ("degree of the polynomial", "test error"),
    }
)
_NOTHING = (0.1, 1.0)  # ends of an axis before there is something to draw, whatever its scale
_MARGIN = 0.05


@dataclass(frozen=True)
class Picture:
    """A Bokeh figure of one view, with the renderers of all lines and points that the view may have, by name."""

    figure: Any
    renderers: Mapping[str, Any]
    mark: Any
    log: bool

    @classmethod
    def of(cls, view: str, log: bool) -> Picture:
        """Without data; log: of the x axis."""
        from bokeh.models import Range1d, Span
        from bokeh.plotting import figure

        x, y = _AXES[view]
        drawn = figure(
            x_axis_type="log" if log else "linear",
            x_range=Range1d(*_NOTHING),
            y_range=Range1d(*_NOTHING),
            x_axis_label=x,
            y_axis_label=y,
            height=430,
            sizing_mode="stretch_width",
        )
        drawn.toolbar.logo = None
        lines, points = VIEWS[view]
        renderers = {}
        for name, colour, dash in zip(lines, _COLOURS, _DASHES, strict=False):
            renderers[name] = drawn.line([], [], line_width=2, color=colour, line_dash=dash, legend_label=name)
        for name in points:
            renderers[name] = drawn.scatter([], [], size=9, color="black", fill_color="white", legend_label=name)
        mark = Span(location=math.nan, dimension="height", line_color="black", line_dash="dotted", visible=False)
        drawn.add_layout(mark)
        drawn.legend.location = "top_left" if view == "learned function" else "top_right"
        drawn.legend.click_policy, drawn.legend.background_fill_alpha = "hide", 0.6
        return cls(drawn, renderers, mark, log)

    def show(self, found: Answer) -> None:
        """Put an answer in the place of the one before; a line that it lacks is empty and not in the legend."""
        given = {**found.lines, **found.points}
        entries = {entry.label.value: entry for entry in self.figure.legend[0].items}
        for name, renderer in self.renderers.items():
            x, y = given.get(name, ((), ()))
            renderer.data_source.data = {"x": x, "y": y}
            entries[name].visible = name in given
        self.figure.legend[0].visible = bool(given)
        _reach(self.figure.x_range, [x for x, _ in given.values()], self.log)
        _reach(self.figure.y_range, [y for _, y in given.values()], False)

    def put_mark(self, label: str, place: float) -> None:
        """Name the x axis, and mark where on it the model stands."""
        self.figure.xaxis[0].axis_label = label
        self.mark.location, self.mark.visible = place, True


def _reach(axis: Any, values: Sequence[Array], log: bool) -> None:
    """Move the ends of an axis to those of what is drawn, with a margin; also where a reset of the picture goes."""
    finite = np.concatenate([np.empty(0), *values])
    finite = finite[np.isfinite(finite)]
    if not len(finite):
        return
    low, high = (math.log10(end) if log else float(end) for end in (finite.min(), finite.max()))
    margin = _MARGIN * (high - low) or _MARGIN
    ends = [10.0**end if log else end for end in (low - margin, high + margin)]
    axis.update(start=ends[0], end=ends[1], reset_start=ends[0], reset_end=ends[1])
