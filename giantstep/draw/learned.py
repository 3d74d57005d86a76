"""The learned function on paper: along the target's direction and along the spike, simulation as points."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from giantstep.draw.look import Picture
from giantstep.observe.few_seeds import interval
from giantstep.observe.learned import Learned, Profile


def learned_figure(found: Learned) -> Picture:
    """A panel along the target's direction, and one along each direction of the spike."""
    panels = 1 + len(found.along_spikes)
    drawn = Picture(3.6 * panels + 0.4, 3.3)
    for axis in range(panels):
        draw_profile(drawn.add_subplot(1, panels, axis + 1), found, axis)
    return drawn


def draw_profile(axes: Axes, found: Learned, axis: int) -> None:
    """The function along one direction: the target's, 0, or one of the spike's, from 1."""
    several, count = found.result.model.target.indices > 1, len(found.along_spikes)
    if axis == 0:
        direction = rf"\theta_{found.index}" if several else r"\theta"
    else:
        direction = "v" if count == 1 else f"v_{axis}"
    predicts = found.result.model.fit.loss.predicts
    _draw(axes, "" if predicts is None else predicts.latex, (found.along_target, *found.along_spikes)[axis])
    _points(axes, found, axis)
    axes.set_xlabel(rf"${direction}\cdot x$")
    axes.set_ylabel(rf"E[$\cdot$ | ${direction}\cdot x$]")
    axes.legend(loc="best")


def _draw(axes: Axes, label: str, profile: Profile) -> None:
    """label: the mean label that the output f stands for, in LaTeX; empty where that is f."""
    low, high = profile.mean - profile.spread, profile.mean + profile.spread
    axes.fill_between(
        profile.at, low, high, color="0.88", linewidth=0.0, label=f"scatter of ${label or 'f'}$ (one std)"
    )
    axes.plot(*profile.target_line(), color="0.35", linestyle="--", label="target")
    axes.plot(
        profile.at,
        profile.mean,
        color="#0072b2",
        linestyle="-",
        label=f"learned ${label}$, theory" if label else "learned, theory",
    )
    axes.set_xlim(float(profile.at.min()), float(profile.at.max()))


def _points(axes: Axes, found: Learned, axis: int) -> None:
    points = found.points
    if points is None or not np.isfinite(points.mean[axis]).any():
        return
    axes.errorbar(
        points.at,
        points.mean[axis],
        yerr=np.nan_to_num(interval(points.seeds) * points.standard_error[axis]),
        fmt="o",
        color="black",
        markersize=3.5,
        markerfacecolor="white",
        elinewidth=0.9,
        capsize=2.0,
        label=f"simulation, d = {points.dimension}" + ", bars: 95 %" * (points.seeds > 1),
    )
