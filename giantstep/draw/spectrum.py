"""The spectrum on paper: density as a line over the simulated histogram, outliers marked."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes

from giantstep.draw.look import Picture, plain_log_ticks, saved
from giantstep.draw.titles import described
from giantstep.observe.few_seeds import interval
from giantstep.observe.spectrum.simulated import Eigenvalues
from giantstep.observe.spectrum.spectrum import Spectrum

Array = np.ndarray

_SHOWN = 2e-4  # the tail of this mass is not drawn
_BINS = 60


_NOT_OF_FEATURES = {"target.link", "target.channel", "fit.ridge", "fit.loss", "fit.penalty"}


def rendered_spectrum(theory: Spectrum, suffix: str = ".png") -> bytes:
    """The bytes of the picture in one of the formats."""
    return saved(lambda: spectrum_figure(theory), suffix)


def spectrum_figure(theory: Spectrum) -> Picture:
    """A figure of a spectrum."""
    drawn = Picture(5.4, 3.8)
    axes = drawn.add_subplot()
    draw_spectrum(axes, theory)
    axes.set_title(described(theory.model, _NOT_OF_FEATURES), fontsize=8.5, loc="left")
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) > 1:  # the line alone needs no name
        drawn.legend(handles, labels, loc="outside lower center", ncols=2)
    return drawn


def draw_spectrum(axes: Axes, theory: Spectrum) -> None:
    """One spectrum on a pair of axes, per unit of log x: equal areas are equal fractions of eigenvalues."""
    simulated = theory.simulated
    low, high = shown_range(theory)
    if simulated is not None:
        _histogram(axes, theory, simulated, low, high)
    for number, part in enumerate(theory.bulks):
        theta = np.linspace(0.0, math.pi, 1500)[1:-1]
        x = part.coordinate.x(theta)
        within = x >= low
        label = "theory" if number == 0 else None
        axes.plot(x[within], x[within] * part.density(x[within]), color="black", linestyle="-", label=label, zorder=3)
    _outliers(axes, theory, simulated)
    axes.set_xscale("log")
    _ticks(axes, low, high)
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel(r"eigenvalue $x$ of $\Phi^T\Phi/p$")
    axes.set_ylabel(r"density of eigenvalues per unit of $\ln x$, $x\,\rho(x)$")
    axes.tick_params(which="both", top=True, right=True)
    nothing = theory.mass_at_zero + theory.unresolved
    if nothing > 0.0:
        axes.text(0.98, 0.96, f"at zero: {nothing:.3g}", transform=axes.transAxes, va="top", ha="right", fontsize=8.5)


def _ticks(axes: Axes, low: float, high: float) -> None:
    """Plain numbers over less than two decades."""
    left, right = axes.get_xlim()  # with the outliers
    if max(high, right) < 100.0 * min(low, left):
        plain_log_ticks(axes.xaxis)


def shown_range(theory: Spectrum) -> tuple[float, float]:
    """The ends of the support, without a tail of next to no mass at the lower one."""
    first, last = theory.bulks[0].coordinate, theory.bulks[-1].coordinate
    if theory.bulks[0].low.kind == "edge":
        return first.low, last.high
    grid = np.exp(np.linspace(math.log(first.low), math.log(last.high), 4000))
    mass = theory.distribution(grid) - theory.distribution(grid[0])
    return float(grid[np.searchsorted(mass, _SHOWN)]), last.high


def _histogram(axes: Axes, theory: Spectrum, simulated: Eigenvalues, low: float, high: float) -> None:
    values = simulated.values.ravel()
    edges = np.exp(np.linspace(math.log(0.9 * low), math.log(1.1 * high), _BINS + 1))
    counts, _ = np.histogram(values, edges)
    heights = counts / values.size / np.diff(np.log(edges))
    label = f"simulation ({simulated.what}), d = {simulated.dimension}, {simulated.seeds} seed" + "s" * (
        simulated.seeds > 1
    )
    axes.stairs(heights, edges, fill=True, color="0.8", label=label, zorder=1)
    axes.stairs(heights, edges, color="0.55", linewidth=0.6, zorder=2)


def _outliers(axes: Axes, theory: Spectrum, simulated: Eigenvalues | None) -> None:
    """Open triangles on the axis where the theory has outliers, bars where they were simulated."""
    if not len(theory.outliers):
        return
    foot = axes.get_xaxis_transform()
    if simulated is not None:
        mean, error = simulated.largest(len(theory.outliers))
        axes.errorbar(
            mean,
            np.full(len(mean), 0.16),
            xerr=np.nan_to_num(interval(simulated.seeds) * error),
            fmt="s",
            color="0.45",
            markersize=4.5,
            capsize=2.0,
            transform=foot,
            label="simulated outliers" + ", bars: 95 %" * (simulated.seeds > 1),
            zorder=4,
        )
    size = "" if theory.dimension is None else f" at d = {theory.dimension}"
    axes.plot(
        theory.outliers,
        np.full(len(theory.outliers), 0.06),
        linestyle="none",
        marker="^",
        markersize=6.0,
        markerfacecolor="white",
        markeredgecolor="black",
        transform=foot,
        label=f"outliers, theory{size}",
        zorder=5,
    )
