"""Overlaps of the neurons with the target's directions after every giant step, on paper."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from derive.language.grammar import shorten
from giantstep.draw.curves import MARKERS, colours
from giantstep.draw.formulas import mathtext
from giantstep.draw.look import Picture, saved
from giantstep.observe.few_seeds import interval
from giantstep.observe.learnable.result import Learnability


def rendered_overlaps(results: list[Learnability], suffix: str = ".png") -> bytes:
    """The bytes of the picture: one panel for each result."""
    return saved(lambda: overlaps_figure(results), suffix)


def overlaps_figure(results: list[Learnability]) -> Picture:
    """A figure with one panel for each result."""
    drawn = Picture(4.2 * len(results), 3.6)
    for result, axes in zip(results, np.atleast_1d(drawn.subplots(1, len(results), sharey=True)), strict=True):
        draw_overlaps(axes, result)
    return drawn


def draw_overlaps(axes: Axes, result: Learnability) -> None:
    """One result on a pair of axes: the simulated overlaps, or the staircase where nothing was simulated."""
    found = result.simulation
    if found is None:
        _staircase(axes, result)
        return
    steps = np.arange(len(found.mean))
    bars = np.nan_to_num(interval(found.seeds) * found.standard_error)
    for group, (name, colour) in enumerate(zip(found.names, colours(len(found.names)), strict=True)):
        axes.errorbar(
            steps,
            found.mean[:, group],
            yerr=bars[:, group],
            color=colour,
            marker=MARKERS[group % len(MARKERS)],
            markersize=4.5,
            markerfacecolor="white",
            capsize=2.0,
            linewidth=1.2,
            linestyle=("-", "--", "-.", ":")[group % 4],
            label=_math(name),
        )
    for chance in dict.fromkeys(found.chance):
        label = "chance" if chance == found.chance[0] else None
        axes.axhline(chance, color="0.45", linestyle=(0, (1, 1.6)), linewidth=1.2, label=label)
    ticks = ["0", *(f"{t + 1}\n{_power(order)}" for t, order in enumerate(found.found.orders))]
    axes.set_xticks(steps, ticks)
    axes.set_ylim(0.0, 1.04)
    axes.set_xlabel(r"giant step, samples $\propto$")
    if axes.get_subplotspec() is None or axes.get_subplotspec().is_first_col():  # type: ignore[union-attr]
        axes.set_ylabel("overlap of the neurons")
    seeds = f"{found.seeds} seed" + ("s" if found.seeds > 1 else "")
    bars_said = ", bars: 95 %" if found.seeds > 1 else ""
    activation = shorten(str(result.activation), 24).strip("'")
    link = mathtext(result.latex)
    bias = rf", $b = {found.found.bias:g}$" if found.found.bias else ""
    axes.set_title(
        rf"$y = {link}$, $\sigma =$ {activation}{bias}" + "\n"
        f"leap {result.leap}, d = {found.found.dimension}, {seeds}{bars_said}",
        fontsize=8.5,
        loc="left",
    )
    axes.tick_params(which="both", top=True, right=True)
    axes.legend(loc="best")


def _staircase(axes: Axes, result: Learnability) -> None:
    """The least error that is left after each giant step, with what it finds; the model's own where that differs."""
    kinds = [(result.stages, "-", "black", "an activation with all coefficients", 0.5)]
    if result.seen is not None and not result.sees_all:
        kinds.append((result.seen, "--", "0.5", shorten(str(result.activation), 24).strip("'"), 0.85))
    for stages, line, colour, label, height in kinds:
        left = [result.variance, *(stage.error for stage in stages)]
        edges = np.arange(-0.5, len(left) + 1.0)
        style: dict[str, Any] = {"color": colour, "linestyle": line, "linewidth": 1.5, "baseline": None}
        axes.stairs([*left, left[-1]], edges, label=label if len(kinds) > 1 else None, **style)
        for number, stage in enumerate(stages, 1):
            if colour != "black" and (stage.names, stage.order) in [(one.names, one.order) for one in result.stages]:
                continue  # it is written there
            axes.annotate(
                f"{', '.join(map(_math, stage.names))} with {_power(stage.order)} samples",
                (number - 0.5, height * left[number] + (1.0 - height) * left[number - 1]),
                (4, 0),
                textcoords="offset points",
                va="center",
                fontsize=8.0,
                color=colour,
            )
    longest = max(len(stages) for stages, *_ in kinds)
    axes.set_xlim(-0.5, longest + 1.2)
    axes.set_xticks(range(longest + 1))
    axes.set_ylim(-0.03 * result.variance, 1.08 * result.variance or 1.0)
    axes.set_xlabel("giant step")
    axes.set_ylabel("least error that is left")
    link = mathtext(result.latex)
    leap = "constant" if result.leap is None else f"leap {result.leap}"
    axes.set_title(rf"$y = {link}$, {leap}", fontsize=8.5, loc="left")
    axes.tick_params(which="both", top=True, right=True)
    if len(kinds) > 1:
        axes.legend(loc="center right")


def _power(order: int) -> str:
    return "$d$" if order == 1 else f"$d^{order}$"


def _math(name: str) -> str:
    """ "z1 - 2 z2" with its indices as subscripts."""
    parts = (
        f"z_{{{word[1:]}}}" if word.startswith("z") and word[1:].isdigit() else word
        for word in name.replace(",", " ,").split()
    )
    return "$" + " ".join(parts).replace(" ,", ",") + "$"
