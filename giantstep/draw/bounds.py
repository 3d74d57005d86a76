"""Bounds on paper: the interval in which a model's errors lie, beside the errors of other predictors."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from giantstep.draw.look import Picture
from giantstep.draw.titles import described
from giantstep.observe.bounds import Bounds


def bounds_figure(found: Bounds) -> Picture:
    """A figure of the bounds of a model."""
    drawn = Picture(5.4, 1.2 + 0.28 * len(found.named()))
    draw_bounds(drawn.add_subplot(), found)
    return drawn


def draw_bounds(axes: Axes, found: Bounds) -> None:
    """A row for each error; what lies between the bounds is shaded."""
    named = found.named()
    rows = np.arange(len(named))[::-1]
    bounds = [name.startswith(("lower", "upper")) for name in named]
    axes.axvspan(found.lower.value, found.upper.value, color="0.9", linewidth=0.0, zorder=0)
    for row, value, own in zip(rows, named.values(), bounds, strict=True):
        colour = "black" if own else "0.45"
        axes.plot([value], [row], "o" if own else "s", color=colour, markersize=5.0, markerfacecolor=colour)
        axes.annotate(
            f"{value:.4g}", (value, row), (6, 0), textcoords="offset points", va="center", fontsize=8.0, color=colour
        )
    axes.set_yticks(rows, list(named))
    axes.set_ylim(-0.6, len(named) - 0.4)
    axes.set_xlim(0.0, 1.15 * max(named.values()))
    axes.set_xlabel(r"test error $\mathrm{E}\,(f_\star - f)^2$")
    axes.set_title(described(found.model, {"fit.samples", "fit.ridge", "network.width"}), fontsize=8.5, loc="left")
    axes.tick_params(which="both", top=True, right=False)
