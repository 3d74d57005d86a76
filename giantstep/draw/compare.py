"""The simulated networks on paper, beside what the laws of the bulk predict for them."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from giantstep.draw.look import Picture
from giantstep.draw.titles import described
from giantstep.observe.compare import Comparison
from giantstep.observe.few_seeds import interval

_LINES = {"isotropic": ("--", "0.35"), "trained": ("-", "black")}
_TITLES = {"test_error": "test error", "train_error": "training error"}
_WIDTH = 0.28  # over which single networks are spread


def compare_figure(found: Comparison) -> Picture:
    """A figure of both errors."""
    drawn = Picture(5.6, 3.6)
    panels = drawn.subplots(1, len(found.errors))
    for axes, error in zip(np.atleast_1d(panels), found.errors, strict=True):
        draw_compare(axes, found, error)
    drawn.suptitle(described(found.simulation.model, {"step.bulk"}), fontsize=8.5)
    drawn.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return drawn


def draw_compare(axes: Axes, found: Comparison, error: str) -> None:
    """One error: every network, their mean with its 95 % interval, a line for each law with its normal score."""
    simulation = found.simulation
    values = np.asarray(getattr(simulation, error)).ravel()
    mean, spread = (float(part(error).item()) for part in (simulation.mean, simulation.standard_error))
    spots = _WIDTH * np.linspace(-1.0, 1.0, len(values))
    axes.plot(spots, values, "o", color="0.7", markersize=3.5, label="networks", zorder=1)
    scores = {law: found.score(law, error) for law in found.results}
    highest = max(score.predicted for score in scores.values())
    for law, score in scores.items():
        style, color = _LINES[law]
        above = score.predicted == highest  # two that lie close together have their numbers on either side
        axes.axhline(score.predicted, linestyle=style, color=color, linewidth=1.4, label=f"{law} law", zorder=2)
        axes.annotate(
            f"z = {score.score:+.1f}",
            (1.0, score.predicted),
            xycoords=("axes fraction", "data"),
            xytext=(-3, 2 if above else -2),
            textcoords="offset points",
            ha="right",
            va="bottom" if above else "top",
            fontsize=8.0,
            color=color,
        )
    label = f"mean, bars: 95 %, d = {simulation.dimension}"
    axes.errorbar(
        [0.0],
        [mean],
        yerr=[interval(simulation.seeds) * spread],
        fmt="s",
        color="black",
        markersize=5.0,
        capsize=3.0,
        label=label,
        zorder=3,
    )
    axes.set_xlim(-1.0, 1.0)
    axes.set_xticks([])
    axes.margins(y=0.12)
    axes.set_ylabel(_TITLES[error])
    axes.tick_params(which="both", right=True)
