"""An optimum on paper: the test error or metric about it, along each key that was tuned."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes

from giantstep.draw.curves import MARKERS, colours
from giantstep.draw.look import Picture
from giantstep.draw.titles import described, known_as
from giantstep.observe.tune import Tuned
from giantstep.spec.metrics import Metrics
from giantstep.sweep.many import solve_many

_REACH = 30.0  # times the best value, and its inverse
_POINTS = 61


def tuned_figure(found: Tuned) -> Picture:
    """A figure of what is least about an optimum."""
    drawn = Picture(5.4, 3.8)
    axes = drawn.add_subplot()
    draw_tuned(axes, found)
    axes.legend(loc="best")
    return drawn


def draw_tuned(axes: Axes, found: Tuned) -> None:
    """What is least by each key over its best value, the others at their best; the optimum as a point."""
    words, column = found.objective, "test_error" if found.metric is None else found.metric[0]
    model = found.model if found.metric is None else found.model.replace(metrics=Metrics((found.metric,)))
    around = np.geomspace(1.0 / _REACH, _REACH, _POINTS)
    for number, (key, best) in enumerate(found.values.items()):
        colour = colours(len(found.values))[number]
        near = solve_many(model, {key: best * around}, dimension=found.result.dimension, tolerance=1e-6)
        symbol = known_as(key)[0] or key.replace("_", r"\_")
        label = rf"${symbol}$, best {best:.4g}" + (", at the edge of its range" if key in found.at_edge else "")
        label += ", any is as good" if key in found.flat else ""
        axes.plot(around, near[column], color=colour, linestyle=("-", "--", "-.")[number % 3], label=label)
    axes.plot([1.0], [found.value], MARKERS[0], color="black", label=f"{words} {found.value:.4g}")
    if found.before is not None and math.isfinite(found.before):
        axes.axhline(found.before, color="0.45", linestyle=(0, (1, 1.6)), linewidth=1.2, label="before")
    axes.set_xscale("log")
    axes.set_xlabel("value over the best one")
    axes.set_ylabel(words)
    axes.set_title(described(found.model, set(found.values)), fontsize=8.5, loc="left")
    axes.tick_params(which="both", top=True, right=True)
