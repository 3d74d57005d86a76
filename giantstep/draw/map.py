"""A map on paper: the test error in colour with contours, the line of the optimum, hatched where unsolved."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize
from matplotlib.ticker import LogLocator, MaxNLocator
from numpy.typing import NDArray

from giantstep.draw.contour_labels import label_contours
from giantstep.draw.look import Picture, plain_log_ticks
from giantstep.draw.titles import described, known_as
from giantstep.sweep.grid import Grid, Sweep
from giantstep.sweep.map import Map

Array = NDArray[np.float64]
_COLOURS = "viridis"  # perceptually uniform, readable in grey
_DECADES = 1.0  # range of the error from which on its colours are logarithmic
_CONTOURS = 8
_OUTLINE = [patheffects.Stroke(linewidth=3.2, foreground="black"), patheffects.Normal()]


def map_figure(found: Map, error: str = "test_error") -> Picture:
    """A matplotlib figure of a map of an error or a metric."""
    drawn = Picture(5.6, 4.4)
    axes = drawn.add_subplot()
    draw_map(axes, found, error)
    handles, labels = axes.get_legend_handles_labels()
    if labels:
        drawn.legend(handles, labels, loc="outside lower center", ncols=2)
    return drawn


def draw_map(axes: Axes, found: Map, error: str = "test_error") -> None:
    """One map on a pair of axes; the line is where the test error is least, whatever is shown."""
    x, y, shown = np.array(found.x.values, float), np.array(found.y.values, float), found.values(error)
    for scale, sweep in ((axes.set_xscale, found.x), (axes.set_yscale, found.y)):
        scale("log" if sweep.log else "linear")
    if np.isfinite(shown).any():
        _colours(axes, found, x, y, error)
    _unsolved(axes, shown)
    _optimum(axes, found, x)
    _words(axes, found)
    axes.set_xlim(x[0], x[-1])
    axes.set_ylim(y[0], y[-1])
    for axis, sweep in ((axes.xaxis, found.x), (axes.yaxis, found.y)):
        if sweep.log:
            _few_ticks(axis, float(sweep.values[0]), float(sweep.values[-1]))


def _colours(axes: Axes, found: Map, x: Array, y: Array, error: str) -> None:
    shown = np.ma.masked_invalid(found.values(error))
    low, high = float(shown.min()), float(shown.max())
    wide = low > 0.0 and np.log10(high / low) > _DECADES
    norm = LogNorm(low, high) if wide else Normalize(low, high)
    drawn = axes.pcolormesh(x, y, shown, norm=norm, cmap=_COLOURS, shading="gouraud" if _whole(shown) else "nearest")
    drawn.set_rasterized(True)
    levels = (LogLocator(subs=(1.0, 2.0, 5.0)) if wide else MaxNLocator(_CONTOURS)).tick_values(low, high)
    levels = [level for level in levels if low < level < high]
    if levels:
        lines = axes.contour(x, y, shown, levels=levels, colors="white", linewidths=0.7, alpha=0.8)
        if found.optimum is None:  # else the labels are those of the third key
            label_contours(axes, lines, _short, np.column_stack([x, found.line()]))
    bar = axes.figure.colorbar(ScalarMappable(norm, _COLOURS), ax=axes, pad=0.02, label=error.replace("_", " "))
    if wide:
        _few_ticks(bar.ax.yaxis, low, high)
    if found.optimum is not None:
        _best_values(axes, found, x, y)


def _few_ticks(axis: Axis, low: float, high: float) -> None:
    """Plain numbers on a logarithmic axis: 1, 2, 5 where it is short."""
    if high / low < 1e3:
        plain_log_ticks(axis, _short)


def _whole(shown: np.ma.MaskedArray) -> bool:
    return not np.ma.getmaskarray(shown).any()


def _best_values(axes: Axes, found: Map, x: Array, y: Array) -> None:
    """Contours of the third key at its best value, by factors of ten."""
    assert found.optimum is not None
    values = np.ma.masked_invalid(found.values(found.optimum))
    if values.count() and float(values.min()) > 0.0 and float(values.max()) > 1.01 * float(values.min()):
        powers = np.ma.log10(values)
        lines = axes.contour(x, y, powers, levels=_CONTOURS // 2, colors="black", linewidths=0.9, linestyles="dashed")
        lines.set(path_effects=[patheffects.Stroke(linewidth=2.2, foreground="white"), patheffects.Normal()])
        label_contours(axes, lines, lambda power: _short(10.0**power), np.column_stack([x, found.line()]))
        axes.plot([], [], color="black", linewidth=0.8, linestyle="dashed", label=f"best {_name(found.optimum)}")


def _unsolved(axes: Axes, error: Array) -> None:
    """Hatches where there is no number: the background shows there."""
    if np.isnan(error).any():
        style: dict[str, Any] = {"facecolor": "white", "edgecolor": "0.45", "hatch": "////", "linewidth": 0.0}
        axes.patch.set(**style)
        axes.fill_between([], [], [], label="not solved", **style)


def _optimum(axes: Axes, found: Map, x: Array) -> None:
    """The best y for every x, where it lies inside the range."""
    best = found.line()
    if np.isfinite(best).any():
        label = f"best {_name(found.y.key)} for every {_name(found.x.key)}"
        axes.plot(x, best, color="white", linestyle="-", linewidth=1.8, path_effects=_OUTLINE, label=label, zorder=5)


def _words(axes: Axes, found: Map) -> None:
    data = found.dataset
    assert isinstance(data.grid, Grid)
    hidden = {*data.grid.keys, *(() if found.optimum is None else (found.optimum,))}
    for place, sweep in ((axes.set_xlabel, found.x), (axes.set_ylabel, found.y)):
        place(_label(sweep))
    base = data.model.replace(dict(data.grid.changes(0)))
    axes.set_title(described(base, hidden), fontsize=8.5, loc="left")
    axes.tick_params(which="both", top=True, right=True)


def _label(sweep: Sweep) -> str:
    symbol, words = known_as(sweep.key)
    return words + (rf"  ($ {symbol} $)" if symbol else "")


def _name(key: str) -> str:
    symbol = known_as(key)[0]
    return f"${symbol}$" if symbol else key


def _short(value: float) -> str:
    return f"{value:.3g}"
