"""A legend on axes that are the user's: within them, and beside nothing that is drawn."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.legend import Legend

_GAP = 1.1  # height of the free band over that of the legend
_MOST = 0.6  # share of the axes' height that it may take


def legend_above(axes: Axes) -> None:
    """A legend at the top of axes, whose vertical range grows until all data is below it; nothing without labels."""
    handles, labels = axes.get_legend_handles_labels()
    if not labels:
        return
    box = axes.get_window_extent()
    for columns in (2, 1):
        legend: Legend = axes.legend(handles, labels, loc="upper left", ncols=columns, framealpha=0.0)
        size = legend.get_window_extent()
        if size.width <= box.width:
            break
    share = min(_GAP * size.height / box.height, _MOST)
    scale = axes.yaxis.get_transform()
    low, high = scale.transform(axes.get_ylim())
    axes.set_ylim(top=float(scale.inverted().transform([low + (high - low) / (1.0 - share)])[0]))
