"""Bias and variance on paper: stacked areas along a sweep, a stack of bars for one point."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from giantstep.draw.legends import legend_above
from giantstep.draw.look import Picture, plain_log_ticks
from giantstep.draw.titles import described, known_as
from giantstep.observe.decompose import Decomposition
from giantstep.observe.few_seeds import interval
from giantstep.observe.shared_sources import Sources
from giantstep.sweep.decompositions import Decompositions

Array = np.ndarray
#: Greys that a copier keeps apart, from the bottom of the stack upwards, and hatches where they are close.
_HATCHES = ("", "//", "..", "\\\\", "xx", "--", "++", "oo")
_LIGHT, _DARK = 0.97, 0.45
_TOGETHER = r" $\times$ "
_WORDS = {"batch": "batch", "data": "data", "noise": "label noise", "initialisation": "initialisation"}


def decomposition_figure(found: Decomposition) -> Picture:
    """A figure of one point; beside it the probability of the label given the output, where that was asked for."""
    panels = 2 if found.calibration else 1
    drawn = Picture(6.4 + 3.4 * (panels - 1), 3.2)
    draw_decomposition(drawn.add_subplot(1, panels, 1), found)
    if found.calibration:
        draw_calibration(drawn.add_subplot(1, panels, 2), found)
    drawn.suptitle(described(found.result.model, set()), fontsize=8.5)
    return drawn


def draw_decomposition(axes: Axes, found: Decomposition) -> None:
    """Bars of bias and variances; of a margin loss the errors of ensembles."""
    names, values = _parts(found)
    places = np.arange(len(names))[::-1]
    axes.barh(places, values, height=0.65, color="0.75", edgecolor="black", linewidth=0.7)
    for place, value in zip(places, values, strict=True):
        axes.annotate(f"{value:.3g}", (value, place), xytext=(3, 0), textcoords="offset points", va="center")
    axes.set_yticks(places, names)
    axes.set_xlim(0.0, 1.15 * max(max(values), 1e-300))
    axes.set_xlabel("parts of the test error" if found.bias_squared is not None else "test error")


def draw_calibration(axes: Axes, found: Decomposition) -> None:
    """P(label 1 | output) of one fit and of the means of several, above the densities of these outputs."""
    styles: Any = ("-", (0, (5, 2)), (0, (1, 1.5)))
    told = found.calibration.values()
    largest = max(float(each.density.max()) for each in told)
    for number, each in enumerate(told):
        style: Any = {"color": "black", "linestyle": styles[number % len(styles)]}
        label = "one fit" if each.members == 1 else f"mean of {each.members} fits"
        axes.plot(each.scores, each.probability, linewidth=1.5, label=label, **style)
        axes.plot(each.scores, each.density / largest, linewidth=0.7, **style | {"color": "0.5"})
    axes.plot([], [], color="0.5", linewidth=0.7, label="density of the output, relative")
    axes.set_xlabel("output")
    axes.set_ylabel("P(label 1 | output)")
    axes.set_ylim(0.0, 1.03)
    axes.legend(loc="best", fontsize=8)


def _parts(found: Decomposition) -> tuple[list[str], list[float]]:
    if found.bias_squared is None:
        told = {f"{k} fit{'s' * (k > 1)}": value for k, value in found.ensemble.items()}
        return [*told], [*told.values()]
    names = _ordered(found)
    parts = {"bias squared": found.bias_squared, **{_words(k, found.given): found.variance[k] for k in names}}
    return [*parts], [*parts.values()]


def decompositions_figure(found: Decompositions) -> Picture:
    """A figure of a sweep."""
    drawn = Picture(5.8, 4.4)
    axes = drawn.add_subplot()
    draw_decompositions(axes, found, legend=False)
    drawn.suptitle(described(found.model, {found.sweep.key}), fontsize=8.5)
    drawn.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return drawn


def draw_decompositions(axes: Axes, found: Decompositions, legend: bool = True) -> None:
    """Stacked bias and variances, the test error above them with its deviation between draws, ensembles as lines."""
    x: Array = np.array([value for value, _ in found.solved])
    points = [point for _, point in found.solved]
    if points and points[0].bias_squared is not None:
        _areas(axes, x, points)
    axes.plot(x, [point.test_error for point in points], color="black", linewidth=1.6, label="one fit", zorder=4)
    _band(axes, x, points)
    most = max((max(point.ensemble) for point in points), default=1)
    if most > 1:
        y = [point.ensemble[most] for point in points]
        style: Any = (0, (5, 2))
        axes.plot(x, y, color="black", linestyle=style, linewidth=1.2, label=f"mean of {most} fits", zorder=4)
    _simulated(axes, x, points)
    if found.sweep.log:
        axes.set_xscale("log")
        if len(x) and x.max() < 100.0 * x.min():
            plain_log_ticks(axes.xaxis)
    symbol, words = known_as(found.sweep.key)
    axes.set_xlabel(f"{words}  (${symbol}$)" if symbol else words)
    axes.set_ylabel("test error")
    axes.set_ylim(bottom=0.0)
    if len(x):
        axes.set_xlim(x.min(), x.max())
    axes.tick_params(which="both", top=True, right=True)
    if legend:
        legend_above(axes)


def _band(axes: Axes, x: Array, points: list[Decomposition]) -> None:
    """One standard deviation between draws about the test error, where it was asked for at a dimension."""
    told = [(point.test_error, point.deviation) for point in points]
    spreads = [(error, found.standard_deviation) for error, found in told if found is not None]
    known = [(error, spread) for error, spread in spreads if spread is not None]
    if not known or len(known) < len(points):
        return
    middle, spread = (np.array(each) for each in zip(*known, strict=True))
    label = f"one fit, deviation between draws, $d={points[0].result.dimension}$"
    for side in (1.0, -1.0):
        axes.plot(x, middle + side * spread, color="black", linestyle=":", linewidth=1.0, label=label, zorder=4)
        label = "_nolegend_"


def _areas(axes: Axes, x: Array, points: list[Decomposition]) -> None:
    names = _ordered(points[0])
    rows = [[float(point.bias_squared or 0.0) for point in points]]
    rows += [[point.variance[name] for point in points] for name in names]
    labels = ["bias squared", *(_words(name, points[0].given) for name in names)]
    order = [place for place in range(len(rows)) if max(map(abs, rows[place])) > 0.0]
    shades = np.linspace(_DARK, _LIGHT, len(order))
    bottom = np.zeros(len(x))
    for number, place in enumerate(order):
        top = bottom + np.array(rows[place])
        axes.fill_between(
            x,
            bottom,
            top,
            facecolor=str(shades[number]),
            hatch=_HATCHES[number % len(_HATCHES)],
            edgecolor="0.25",
            linewidth=0.4,
            label=labels[place],
        )
        bottom = top


def _simulated(axes: Axes, x: Array, points: list[Decomposition]) -> None:
    """Test error and bias of simulated fits."""
    known = [(place, point.simulation) for place, point in zip(x, points, strict=True) if point.simulation is not None]
    if not known:
        return
    style: Any = {"linestyle": "none", "capsize": 2.0, "markersize": 4.5, "color": "black", "zorder": 5}
    first = known[0][1]
    series = [("one fit", "o", [run.test_error for _, run in known])]
    if first.shared and points[0].bias_squared is not None:
        least = min(first.shared, key=len)
        series.append(("bias squared", "s", [run.shared[least] for _, run in known]))
    for name, marker, values in series:
        seeds = len(values[0])
        bars = [interval(seeds) * v.std(ddof=1) / np.sqrt(seeds) if seeds > 1 else 0.0 for v in values]
        label = f"{name}, simulated, $d={first.dimension}$, 95 %"
        places, means = [place for place, _ in known], [v.mean() for v in values]
        axes.errorbar(places, means, yerr=bars, fmt=marker, markerfacecolor="white", label=label, **style)


def _ordered(found: Decomposition) -> list[str]:
    """The variances: those of one source, of two together, and so on, as their words count them."""
    return sorted(found.variance, key=lambda key: len(_words(key, found.given).split(_TOGETHER)))


def _words(key: str, given: Sources) -> str:
    """Sources that are drawn again, in words; those of several together as a product. Noise of labels goes with their
    data.
    """
    names = [name for name in key.split("+") if name not in given]
    kept = [name for name in names if name != "data" or "noise" not in names]
    return _TOGETHER.join(_WORDS.get(name, name) for name in kept)
