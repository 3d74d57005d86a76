"""Learning curves on paper: theory as lines, simulation as points, baselines dashed and dotted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.transforms import ScaledTranslation
from numpy.typing import NDArray
from scipy import optimize

from derive.language.grammar import did_you_mean, shorten
from giantstep.draw.formulas import plain
from giantstep.draw.legends import legend_above
from giantstep.draw.look import Picture, saved
from giantstep.draw.titles import described, known_as
from giantstep.observe.baselines import has_spike
from giantstep.observe.few_seeds import interval
from giantstep.spec.errors import BadInput
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.model import Model
from giantstep.sweep.dataset import Dataset, shown
from giantstep.sweep.grid import Changes, Grid
from giantstep.sweep.kinds import losses

Array = NDArray[np.float64]

_WIDEST = 4.5  # standard errors of a bar that is all inside: those of two seeds may leave
LABELLED = 9  # curves of a family with a label of their own; of more, this many evenly chosen

_ERRORS = ("test_error", "train_error")
MARKERS = "osD^vP*Xh"
_ORDERED = 3  # curves named by words that a ramp of colours alone tells apart
_MARKED = 6  # marks on each line of more


def rendered(dataset: Dataset, suffix: str, *, error: str = "test_error") -> bytes:
    """The bytes of the picture in one of the formats."""
    return saved(lambda: figure(dataset, error=error), suffix)


def figure(dataset: Dataset, *, error: str = "test_error", log: bool | None = None) -> Picture:
    """A matplotlib figure of one error or metric: no global state is touched, the caller may go on drawing.

    log: whether errors are on a logarithmic axis; None: where they span more than a factor 30.
    """
    drawn = Picture(5.4, 4.0)
    axes = drawn.add_subplot()
    drawing = _Drawing(dataset, error, axes, log)
    drawing.draw()
    drawing.name_curves()
    handles, labels = axes.get_legend_handles_labels()
    if labels:
        drawn.legend(handles, labels, loc="outside lower center", ncols=2)
    return drawn


def draw_curves(axes: Axes, dataset: Dataset) -> None:
    """Curves with their legend within a pair of axes. Raises BadInput for points that are none."""
    drawing = _Drawing(dataset, "test_error", axes, None)
    drawing.draw()
    drawing.list_curves()
    legend_above(axes)


class _Drawing:
    """One dataset on one pair of axes."""

    def __init__(self, dataset: Dataset, error: str, axes: Axes, log: bool | None) -> None:
        self.data, self.error, self.axes, self.log = dataset, error, axes, log
        if not isinstance(dataset.grid, Grid):
            raise BadInput("the points of solve_many are no curves", "draw their columns, or use curve")
        self.grid = dataset.grid
        self.curves, sweep = list(self.grid.curves()), self.grid.x
        self.x: Array = np.array(sweep.values if sweep.numeric else range(len(sweep.values)), dtype=np.float64)
        self.colours = colours(len(self.curves))
        self.scale = axes.figure.dpi_scale_trans
        self.kinds = self._kinds()
        words = any(isinstance(value, str) for changes, _ in self.curves for _, value in changes)
        self.marked = words and sweep.numeric and len(self.curves) > _ORDERED

    def _kinds(self) -> tuple[str, ...]:
        """What is drawn at every row, as mathematics; of a metric it is one and the same."""
        model = self.data.model
        if self.error not in _ERRORS:
            return (_formula(model, model.fit.loss, self.error),)
        return tuple(_formula(model, loss, self.error) for loss in losses(model, self.grid))

    def draw(self) -> None:
        for number, (_, rows) in enumerate(self.curves):
            self._theory(number, rows)
        if np.isfinite(self._column("")).any():
            self._legend_entry(self._theory_label(), **self._theory_style())
        self._finite_size()
        self._baseline("random_features", (0, (5, 2)), "random features (no step)")
        if self.error == "test_error":
            self._baseline("best_linear", (0, (1, 1.6)), "best linear predictor")
            told = ", not told the alignment" if (self.data.options.get("optimal") or {}).get("ignores") else ""
            self._baseline("optimal", (0, (4, 1.5, 1, 1.5)), f"best estimator, all samples{told}")
        if np.isfinite(self._column("simulation_")).any():
            for number, (_, rows) in enumerate(self.curves):
                self._simulation(number, rows)
            self._simulation_entry()
        self._scales()
        self._words()

    def _column(self, prefix: str, suffix: str = "") -> Array:
        return self.data.numbers(f"{prefix}{self.error}{suffix}")

    def _legend_entry(self, label: str, **style: Any) -> None:
        """Lines of a family differ in colour: the legend shows what they share, in black."""
        self.axes.plot([], [], label=label, **{"color": "black", "linestyle": "-", **style})

    def _theory_style(self) -> dict[str, Any]:
        if not self.grid.x.numeric:
            return {"linestyle": "none", "marker": "_", "markersize": 14}
        return {"linestyle": "-", "marker": "_" if len(self.x) == 1 else "", "markersize": 14}

    def _theory_label(self) -> str:
        spiked = has_spike(self.data.model.replace(dict(self.grid.changes(0))))
        return "theory" if spiked else "theory, random features"

    def _theory(self, number: int, rows: slice) -> None:
        y = self._column("")[rows]
        style = {**self._theory_style(), **self._marks(number)}
        self.axes.plot(self.x, y, color=self.colours[number], zorder=3, **style)

    def _marks(self, number: int) -> dict[str, Any]:
        """Marks on a line whose colour does not say which it is, at its own places; points of a simulation are such."""
        if not self.marked or np.isfinite(self._column("simulation_")).any():
            return {}
        between = -(-len(self.x) // _MARKED)
        return {"marker": MARKERS[number % len(MARKERS)], "markersize": 4.0, "markevery": (number % between, between)}

    def _finite_size(self) -> None:
        """The corrected theory, where the eye would see that it differs from the line."""
        corrected, x = self._column("finite_size_"), self.data.numbers("finite_size_x")
        style: dict[str, Any] = {"linestyle": (0, (6, 1.5, 1, 1.5)), "linewidth": 0.9}
        if not any(self._differs(corrected[rows], x[rows], rows) for _, rows in self.curves):
            return
        for number, (_, rows) in enumerate(self.curves):
            at = np.where(np.isfinite(x[rows]), x[rows], self.x)
            self.axes.plot(at, corrected[rows], color=self.colours[number], zorder=2.5, **style)
        self._legend_entry(f"theory at d = {self.data.options['dimension']}", **style)

    def _differs(self, corrected: Array, x: Array, rows: slice) -> bool:
        """By 2 % of the curve's height somewhere, or known where the line is not."""
        y = self._column("")[rows]
        known = np.isfinite(y)
        if not known.all() and np.isfinite(corrected[~known]).any():
            return True
        if not known.any():
            return False
        order = np.argsort(self.x[known])
        line = np.interp(np.where(np.isfinite(x), x, self.x), self.x[known][order], y[known][order])
        return bool(np.nanmax(np.abs(corrected - line), initial=0.0) > 0.02 * np.abs(y[known]).max())

    def _baseline(self, name: str, dashes: Any, label: str) -> None:
        """Once in grey where it is the same for all curves, else once per curve in its colour, with its marks."""
        y = self.data.numbers(f"{name}_{self.error}")
        parts = [(number, y[rows]) for number, (_, rows) in enumerate(self.curves) if np.isfinite(y[rows]).any()]
        if not parts:
            return
        shared = all(np.array_equal(part, parts[0][1], equal_nan=True) for _, part in parts)
        style: dict[str, Any] = {"linestyle": dashes, "linewidth": 1.2}
        for number, part in parts[:1] if shared else parts:
            colour, marks = ("0.45", {}) if shared else (self.colours[number], self._marks(number))
            self.axes.plot(*_wide(self.x, part, self.grid.x.numeric), color=colour, zorder=2, **style, **marks)
        known = {kind for kind, value in zip(self.kinds, y, strict=False) if math.isfinite(value)}
        of_some = f": {next(iter(known))}" if len(known) == 1 < len(set(self.kinds)) else ""
        self._legend_entry(label + of_some, color="0.45" if shared else "black", **style)

    def _simulation(self, number: int, rows: slice) -> None:
        y = self._column("simulation_")[rows]
        known = np.isfinite(y)
        spread = self._bars()[rows][known]
        at = self.data.numbers("finite_size_x")[rows]
        at = np.where(np.isfinite(at), at, self.x)[known]
        self.axes.errorbar(at, y[known], yerr=spread, zorder=4, **self._point_style(number))

    def _point_style(self, number: int) -> dict[str, Any]:
        return {
            "fmt": MARKERS[number % len(MARKERS)],
            "color": self.colours[number],
            "markersize": 4.2,
            "markerfacecolor": "white",
            "markeredgewidth": 1.0,
            "capsize": 2.0,
            "elinewidth": 0.9,
        }

    def _bars(self, most: float = math.inf) -> Array:
        """Half the 95 % intervals of the simulated means, of at most so many standard errors; zero for one seed."""
        ran = self.data.options.get("simulation") or {}
        width = min(interval(ran.get("seeds", 1)), most)
        return np.nan_to_num(width * self._column("simulation_", "_standard_error"))

    def _simulation_entry(self) -> None:
        ran = self.data.options["simulation"]
        seeds = f"{ran['seeds']} seed" + ("s" if ran["seeds"] > 1 else "")
        bars = "" if ran["seeds"] < 2 else ", bars: 95 %"
        label = f"simulation ({ran['what']}), d = {self.data.options['dimension']}, {seeds}{bars}"
        self.axes.errorbar([], [], yerr=[], label=label, **{**self._point_style(0), "color": "black"})

    def _scales(self) -> None:
        """Logarithmic where a sweep is, or where errors span more than a factor 30; a baseline may leave."""
        axes, sweep = self.axes, self.grid.x
        axes.margins(x=0.03)
        if sweep.log:
            axes.set_xscale("log")
        if not sweep.numeric:
            names = [shorten(str(value), 24).strip("'") for value in sweep.values]
            axes.set_xticks(self.x, [self._under(name, number) for number, name in enumerate(names)])
            axes.set_xlim(-0.5, len(self.x) - 0.5)
        simulated = self._column("simulation_")
        ends = simulated + self._bars(_WIDEST)
        own = _finite(self._column(""), simulated, ends, self._column("finite_size_"))
        if not own.size:
            return
        top, bottom = float(own.max()), float(own.min())
        without_step = _finite(self.data.numbers(f"random_features_{self.error}"))
        if without_step.size:
            top = max(top, min(float(without_step.max()), 3.0 * top))
        if bottom > 0.0 and (top > 30.0 * bottom if self.log is None else self.log):
            floor = _finite(self._column("best_linear_")).min(initial=bottom)
            axes.set_yscale("log")
            axes.set_ylim(max(floor, bottom / 10.0) / 1.5, top * 1.5)
        elif bottom >= 0.0 and self.error in _ERRORS:
            axes.set_ylim(0.0, top * 1.08 if top > 0.0 else 1.0)
        else:  # zero is no bound of a metric, nor of the loss of counts
            margin = 0.08 * (top - bottom or 1.0)
            axes.set_ylim(bottom - margin, top + margin)

    def _under(self, name: str, place: int) -> str:
        """A name on the horizontal axis, with the kind of error where the loss is swept along it."""
        own = {self.kinds[row] for row in range(place, len(self.kinds), len(self.x))}
        return f"{name}\n{own.pop()}" if len(own) == 1 < len(set(self.kinds)) else name

    def _words(self) -> None:
        key = self.grid.x.key
        symbol, words = known_as(key)
        self.axes.set_xlabel(f"{words}" + (rf"  ($ {symbol} $)" if symbol else ""))
        self.axes.set_ylabel(f"{self.error.replace('_', ' ')}  {' or '.join(dict.fromkeys(self.kinds))}")
        swept = {sweep.key for sweep in self.grid.sweeps}
        base = self.data.model.replace(dict(self.grid.changes(0)))
        self.axes.set_title(described(base, swept), fontsize=8.5, loc="left")
        self.axes.tick_params(which="both", top=True, right=True)

    def _chosen(self) -> Iterator[tuple[int, str, Array]]:
        """The curves of a family that have a label: number, label, values."""
        if len(self.curves) > 1:
            for number in np.unique(np.linspace(0, len(self.curves) - 1, min(LABELLED, len(self.curves))).round()):
                named, rows = self.curves[int(number)]
                yield int(number), self._with_kind(_named(named), rows), self._column("")[rows]

    def _with_kind(self, label: str, rows: slice) -> str:
        """The label of some rows, with the kind of their error where there are several."""
        own = dict.fromkeys(self.kinds[rows])
        return f"{label}: {next(iter(own))}" if len(own) == 1 < len(set(self.kinds)) else label

    def list_curves(self) -> None:
        """Labels of the curves as entries of the legend."""
        for number, label, _ in self._chosen():
            mark = {"marker": MARKERS[number % len(MARKERS)], "markersize": 4.0} if self.marked else {}
            self._legend_entry(label, **{**self._theory_style(), **mark}, color=self.colours[number])

    def name_curves(self) -> None:
        """Labels at the right ends of the curves, kept apart; of one without a solution at that of its dashed line."""
        ends = []
        for number, label, y in self._chosen():
            if not np.isfinite(y).any():
                y = self.data.numbers(f"random_features_{self.error}")[self.curves[number][1]]
            known = np.flatnonzero(np.isfinite(y))
            if known.size:
                ends.append((self._height(float(y[known[-1]])), number, label))
        for height, (_, number, label) in zip(_apart(sorted(ends)), sorted(ends), strict=True):
            if self.marked:
                self._mark_beside(height, number)
            self.axes.annotate(
                label,
                (1.0, height),
                xycoords="axes fraction",
                xytext=(14.0 if self.marked else 5.0, 0.0),
                textcoords="offset points",
                va="center",
                fontsize=8.5,
                color=self.colours[number],
                annotation_clip=False,
            )

    def _mark_beside(self, height: float, number: int) -> None:
        """The mark of a curve before its label."""
        place = self.axes.transAxes + ScaledTranslation(8.0 / 72.0, 0.0, self.scale)
        style = {"color": self.colours[number], "marker": MARKERS[number % len(MARKERS)], "markersize": 4.0}
        self.axes.plot([1.0], [height], transform=place, clip_on=False, linestyle="none", **style)

    def _height(self, y: float) -> float:
        """A value as a fraction of the axes, cut at their ends."""
        low, high = self.axes.get_ylim()
        if self.axes.get_yscale() == "log":
            low, high, y = math.log(low), math.log(high), math.log(max(y, 1e-300))
        return min(max((y - low) / (high - low), 0.0), 1.0)


def checked(model: Model, error: str) -> str:
    """What is drawn of a model: an error, or one of its metrics. Raises BadInput."""
    known = (*_ERRORS, *(() if model.metrics is None else model.metrics.to_dict()))
    if error not in known:
        raise BadInput(
            f"{shorten(error)} is not drawn", f"{did_you_mean(str(error), known)}there are {', '.join(known)}"
        )
    return error


def _formula(model: Model, loss: FitLoss, error: str) -> str:
    """What is on the vertical axis."""
    if model.metrics is not None and error in model.metrics.to_dict():
        return f"mean {model.metrics.to_dict()[error]}"
    if error == "test_error":
        return f"${loss.test_error_latex}$"
    return r"mean $(y - f)^2$" if loss.key == "square" else "mean loss"


def _named(changes: Changes) -> str:
    parts = []
    for key, value in changes:
        symbol = known_as(key)[0]
        text = f"{value:.4g}" if isinstance(value, float) else plain(shown(value))
        parts.append(rf"${symbol} =${text}" if symbol else f"{known_as(key)[1]} = {text}")
    return ", ".join(parts)


def colours(count: int) -> list[Any]:
    """Black for one curve; else a ramp that stays readable in grey: it darkens steadily."""
    if count == 1:
        return ["black"]
    return [colormaps["viridis"](place) for place in np.linspace(0.82, 0.0, count)]


def _wide(x: Array, y: Array, numeric: bool) -> tuple[Array, Array]:
    """A single point becomes a short line, or a dashed line could not be seen; so does every one between words."""
    if not numeric:
        return np.column_stack([x - 0.3, x + 0.3, np.full(len(x), math.nan)]).ravel(), np.repeat(y, 3)
    if len(x) > 1:
        return x, y
    return np.array([0.9, 1.1]) * x[0] + np.array([-0.1, 0.1]) * (x[0] == 0.0), np.repeat(y, 2)


def _apart(ends: Sequence[tuple[float, int, str]], gap: float = 0.055) -> Array:
    """Heights of labels in increasing order, moved as little as this needs to be ``gap`` apart."""
    if not ends:
        return np.empty(0)
    steps = gap * np.arange(len(ends))
    moved = optimize.isotonic_regression(np.array([height for height, _, _ in ends]) - steps).x + steps
    return np.asarray(moved - max(0.0, moved[-1] - 1.0), dtype=np.float64)


def _finite(*columns: Array) -> Array:
    joined = np.concatenate(columns)
    return joined[np.isfinite(joined)]
