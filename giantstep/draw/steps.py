"""Several giant steps on paper: overlap with the target and test error against their number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from giantstep.draw.curves import MARKERS, colours
from giantstep.draw.look import Picture
from giantstep.draw.titles import described
from giantstep.observe.few_seeds import interval
from giantstep.observe.steps import Steps, StepsPoint

_HOLLOW: dict[str, Any] = {"markerfacecolor": "white", "linestyle": "none", "capsize": 2.0, "markersize": 4.5}
_BESIDE = (-0.03, 0.03)  # the two families would hide each other


def steps_figure(found: Steps) -> Picture:
    """A figure of overlap and test error."""
    drawn = Picture(7.2, 3.6)
    left, right = drawn.subplots(1, 2)
    _draw_overlaps(left, found)
    draw_steps(right, found)
    last = found.model.step
    repeated = found.model.replace(step=None if last is None else replace(last, batch="fresh"))
    drawn.suptitle(described(repeated, {"step", "step.samples"}), fontsize=8.5)
    drawn.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn


def draw_steps(axes: Axes, found: Steps) -> None:
    """The test error against the number of steps."""
    for number, (label, points) in enumerate(_families(found)):
        x = [point.steps for point in points]
        y = [np.nan if point.result is None else point.result.test_error for point in points]
        _line(axes, number, x, y, label)
        runs = [point.simulation for point in points]
        known = [(place, run) for place, run in zip(x, runs, strict=True) if run is not None]
        if known:
            mean = [run.mean().item() for _, run in known]
            bars = [interval(run.seeds) * run.standard_error().item() for _, run in known]
            _points(axes, number, [place for place, _ in known], mean, bars)
    sizes = [point.simulation.dimension for point in found.each if point.simulation is not None]
    if sizes:
        axes.errorbar(
            [], [], yerr=[], fmt=MARKERS[0], color="black", label=f"networks, $d={sizes[0]}$, 95 %", **_HOLLOW
        )
    axes.set_ylabel("test error")
    _finish(axes)


def _draw_overlaps(axes: Axes, found: Steps) -> None:
    indices = found.model.target.indices
    for number, (label, points) in enumerate(_families(found)):
        x = [point.steps for point in points]
        for index in range(indices):
            _line(axes, number, x, [point.overlaps[index] for point in points], label, index)
            known = [point for point in points if point.measured is not None]
            if known:
                values = [np.asarray(point.measured)[:, index] for point in known]
                spread = [interval(len(v)) * v.std(ddof=1) / np.sqrt(len(v)) if len(v) > 1 else 0.0 for v in values]
                _points(axes, number, [point.steps for point in known], [v.mean() for v in values], spread)
    if indices > 1:
        for index in range(indices):
            last = found.each[-1].overlaps[index]
            axes.annotate(
                rf"$\theta_{index + 1}$", (found.each[-1].steps, last), xytext=(7, -3), textcoords="offset points"
            )
        axes.set_xlim(right=found.each[-1].steps * 1.15)
    axes.set_ylim(0.0, 1.04)
    axes.set_ylabel("overlap of the rows with the target")
    _finish(axes)


def _families(found: Steps) -> tuple[tuple[str, Sequence[StepsPoint]], ...]:
    samples = found.each[-1].samples
    words = "samples, the same for each step" if found.repeated else "samples for each step"
    return (f"${samples:g}\\,d$ {words}", found.each), (f"${found.total:g}\\,d$ in all", found.shared)


def _line(axes: Axes, number: int, x: Sequence[int], y: Sequence[float], label: str, index: int = 0) -> None:
    style: Any = ("-", (0, (5, 2)))[number]
    opacity = 1.0 - 0.25 * index
    axes.plot(x, y, color=colours(2)[number], linestyle=style, label=label, zorder=2, alpha=opacity)


def _points(axes: Axes, number: int, x: Sequence[int], y: Sequence[float], bars: Sequence[float]) -> None:
    bars = [0.0 if not np.isfinite(bar) else bar for bar in bars]
    beside = np.asarray(x) + _BESIDE[number]
    axes.errorbar(beside, y, yerr=bars, fmt=MARKERS[number], color=colours(2)[number], zorder=3, **_HOLLOW)


def _finish(axes: Axes) -> None:
    axes.set_xlabel("giant steps")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.tick_params(which="both", top=True, right=True)
