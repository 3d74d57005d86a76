"""The functions that attain the bounds on paper, along the spike."""

from __future__ import annotations

from matplotlib.axes import Axes

from giantstep.draw.look import Picture
from giantstep.observe.bound_functions import BoundFunctions


def bound_functions_figure(found: BoundFunctions) -> Picture:
    """A panel along the spike."""
    drawn = Picture(4.6, 3.4)
    draw_bound_functions(drawn.add_subplot(), found)
    return drawn


def draw_bound_functions(axes: Axes, found: BoundFunctions) -> None:
    """Both functions and the target's mean."""
    lower, upper = found.values
    axes.plot(*found.lower.target_line(), color="0.35", linestyle=":", label="target")
    axes.plot(found.lower.at, found.lower.mean, color="black", label=f"lower bound, {lower:.4g}")
    axes.plot(found.upper.at, found.upper.mean, color="#0072b2", linestyle="--", label=f"upper bound, {upper:.4g}")
    axes.set_xlim(float(found.lower.at.min()), float(found.lower.at.max()))
    axes.set_xlabel(r"$v\cdot x$")
    axes.set_ylabel(r"E[$f$ | $v\cdot x$]")
    axes.legend(loc="best")
