"""Pictures without words, as arrays: what golden images are compared with.

Fonts and the layout about them differ between machines: all texts are taken out and the axes stand where they are put.
What is left are lines, markers, areas and colours, which Matplotlib's rasteriser draws alike up to the blending of
edges. Error model, in root mean square of the difference, 1 = black against white, on 400 x 300 pixels: edges are at
most 5 % of the pixels and their blending differs by less than 1/20 between versions, 0.05 sqrt(0.05) = 0.011. A curve
of 300 pixels that is one pixel off changes 600 of them by about 1/2, or 0.035; one that is missing more. Hence
TOLERANCE.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import imread, imsave
from matplotlib.text import Text

FOLDER = Path(__file__).resolve().parents[1] / "draw" / "golden"
TOLERANCE = 0.02
_INCHES, _DOTS = (4.0, 3.0), 100


def wordless(figure: Figure) -> np.ndarray:
    """The picture [300, 400, 3], values in [0, 1]; a single panel fills it, several share it from left to right."""
    figure.set_layout_engine("none")
    figure.set_size_inches(*_INCHES)
    figure.set_dpi(_DOTS)
    for legend in [*figure.legends, *(axes.get_legend() for axes in figure.axes)]:
        if legend is not None:
            legend.set_visible(False)
    for text in figure.findobj(Text):
        text.set_visible(False)
    panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    for axes in set(figure.axes) - set(panels):
        axes.set_visible(False)
    for place, axes in enumerate(panels):
        axes.set_position((0.04 + place / len(panels), 0.05, 0.92 / len(panels) - 0.02, 0.9))
        for text in (axes.title, axes.xaxis.label, axes.yaxis.label):
            text.set_visible(False)
        axes.tick_params(which="both", labelbottom=False, labelleft=False, labelright=False, labeltop=False)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba(), dtype=float)[:, :, :3] / 255.0


def distance(one: np.ndarray, other: np.ndarray) -> float:
    """Root mean square of the difference."""
    return float(np.sqrt(np.mean((one - other) ** 2)))


def kept(name: str) -> np.ndarray:
    """The golden image of that name."""
    return np.asarray(imread(FOLDER / f"{name}.png"), dtype=float)[:, :, :3]


def keep(name: str, picture: np.ndarray) -> None:
    """Write it, after it was looked at."""
    FOLDER.mkdir(exist_ok=True)
    imsave(FOLDER / f"{name}.png", (255.0 * picture).round().astype(np.uint8))
