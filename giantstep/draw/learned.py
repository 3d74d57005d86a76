"""The learned function on paper: along the target's direction and along the spike, simulation as points."""

from __future__ import annotations

import os

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from giantstep.draw.curves import saved
from giantstep.observe.learned import Learned, Profile
from giantstep.spec.files import PICTURES, suffix_of, write_atomic


def plot_learned(found: Learned, path: str | os.PathLike[str]) -> None:
    """Draw the learned function into a .png, .svg or .pdf file. Raises BadInput for another ending."""
    suffix = suffix_of(path, PICTURES)
    write_atomic(path, saved(lambda: figure(found), suffix))


def figure(found: Learned) -> Figure:
    """A panel along the target's direction, and one along each direction of the spike."""
    index = "" if found.result.model.target.indices == 1 else f"_{found.index}"
    profiles = [(found.along_target, rf"$\theta{index}\cdot x$", rf"E[$\cdot$ | $\theta{index}\cdot x$]")]
    for number, profile in enumerate(found.along_spikes, 1):
        v = "v" if len(found.along_spikes) == 1 else f"v_{number}"
        profiles.append((profile, rf"${v}\cdot x$", rf"E[$\cdot$ | ${v}\cdot x$]"))
    drawn = Figure(figsize=(3.6 * len(profiles) + 0.4, 3.3), layout="constrained")
    FigureCanvasAgg(drawn)
    for axis, (profile, variable, label) in enumerate(profiles):
        axes = drawn.add_subplot(1, len(profiles), axis + 1)
        _draw(axes, profile)
        _points(axes, found, axis)
        axes.set_xlabel(variable)
        axes.set_ylabel(label)
        axes.legend(loc="best")
    return drawn


def _draw(axes: Axes, profile: Profile) -> None:
    low, high = profile.mean - profile.spread, profile.mean + profile.spread
    axes.fill_between(profile.at, low, high, color="0.88", linewidth=0.0, label="scatter of $f$ (one std)")
    axes.plot(profile.at, profile.target, color="0.35", linestyle="--", label="target")
    axes.plot(profile.at, profile.mean, color="C0", label="learned, theory")
    axes.set_xlim(float(profile.at.min()), float(profile.at.max()))


def _points(axes: Axes, found: Learned, axis: int) -> None:
    points = found.points
    if points is None or not np.isfinite(points.mean[axis]).any():
        return
    axes.errorbar(
        points.at,
        points.mean[axis],
        yerr=points.standard_error[axis],
        fmt="o",
        color="black",
        markersize=3.5,
        markerfacecolor="white",
        elinewidth=0.9,
        capsize=2.0,
        label=f"simulation, $d={points.dimension}$",
    )
