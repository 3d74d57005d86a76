"""The test error of solved models against the number of samples, beside the derived power law."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from giantstep.draw.curves import MARKERS, colours
from giantstep.draw.look import Picture, plain_log_ticks
from giantstep.draw.titles import described
from giantstep.observe.rates import Rates
from giantstep.spec.errors import BadInput


def rates_figure(found: Rates) -> Picture:
    """A figure of the test error."""
    drawn = Picture(5.2, 3.8)
    draw_rates(drawn.subplots(), found)
    drawn.suptitle(described(found.model, {"inputs.modes", "fit.samples", "network.width"}), fontsize=8.5)
    return drawn


def draw_rates(axes: Axes, found: Rates) -> None:
    """The test error against N, and the power of N it falls with, through the last solved model."""
    if not found.solved:
        raise BadInput(
            "no size of the model is solved: there is nothing to draw", "give other exponents or a larger ridge"
        )
    numbers, errors = (np.array(column, dtype=float) for column in zip(*found.solved, strict=True))
    colour, other = colours(2)
    law = errors[-1] * (numbers / numbers[-1]) ** -found.rate
    axes.plot(numbers, law, color=other, linestyle=(0, (5, 2)), label=f"derived, $N^{{-{found.rate:.4g}}}$")
    axes.plot(numbers, errors, color=colour, marker=MARKERS[0], markersize=4.5, label="solved")
    axes.set_xscale("log")
    axes.set_yscale("log")
    plain_log_ticks(axes.xaxis)
    plain_log_ticks(axes.yaxis)
    axes.set_xlabel(f"samples $N$, with $N^{{{found.width:g}}}$ neurons")
    axes.set_ylabel("test error")
    axes.legend()
