"""How figures look: one style, or one of Matplotlib's; title, scales and size as a user wants them."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal, cast

import matplotlib
import numpy as np
from matplotlib import rc_params_from_file, style
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cbook import is_math_text
from matplotlib.figure import Figure
from matplotlib.mathtext import MathTextParser
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from derive.language.grammar import did_you_mean, shorten
from giantstep.spec.arguments import checked_flag
from giantstep.spec.errors import BadInput

#: Of every picture; users have it too: ``plt.style.use("giantstep.paper")``.
STYLE: Mapping[str, Any] = MappingProxyType(
    dict(rc_params_from_file(str(files("giantstep").joinpath("paper.mplstyle")), use_default_template=False).items())
)
_NO_DATE: Mapping[str, Mapping[str, Any]] = {
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None, "ModDate": None},
    ".png": {"Software": None},
}
_LARGEST = 100.0  # inches


class Picture(Figure):
    """A figure that notebooks show by themselves, without pyplot; always drawn with the settings of its look."""

    def __init__(self, width: float, height: float) -> None:
        super().__init__(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(self)
        self.look = PLAIN

    def draw(self, renderer: RendererBase) -> None:
        """As any figure: Matplotlib makes some of its texts only now."""
        with self.look.context():
            super().draw(renderer)

    def _repr_png_(self) -> bytes:
        return written(self, ".png")


def plain_log_ticks(axis: Axis, text: Callable[[float], str] = "{:g}".format) -> None:
    """Numbers at 1, 2 and 5 on a short logarithmic axis: all that matplotlib would write there run into each other."""
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
    axis.set_minor_formatter(NullFormatter())


@dataclass(frozen=True)
class Look:
    """title: in place of the model's line; xlog, ylog: logarithmic axes or not; size: inches; style: of Matplotlib.

    None leaves what the figure has. Raises BadInput for a size, a style or a formula in the title that is none.
    """

    title: str | None = None
    xlog: bool | None = None
    ylog: bool | None = None
    size: tuple[float, float] | None = None
    style: str | None = None

    def __post_init__(self) -> None:
        for name in ("xlog", "ylog"):
            if getattr(self, name) is not None:
                checked_flag(name, getattr(self, name))
        if self.size is not None and not _is_size(self.size):
            raise BadInput(
                f"the size {shorten(self.size)} is not allowed",
                f"give width and height in inches, at most {_LARGEST:g}, as 5.4, 4",
            )
        if self.style is not None and self.style not in style.library:
            known = tuple(style.available)
            hint = did_you_mean(self.style, known) if isinstance(self.style, str) else ""
            raise BadInput(f"there is no style {shorten(self.style)}", f"{hint}styles are {', '.join(known)}")

        if self.title is not None and is_math_text(str(self.title)):
            _require_formula(str(self.title))

    @contextmanager
    def context(self) -> Iterator[None]:
        """Matplotlib's settings while a figure is drawn and written."""
        with matplotlib.rc_context(cast(Any, dict(STYLE))):
            if self.style is not None:
                style.use(self.style)
            yield

    def drawn(self, draw: Callable[[], Picture]) -> Picture:
        """A figure drawn with this look."""
        with self.context():
            found = draw()
            found.look = self
            panels = [axes for axes in found.axes if axes.get_label() != "<colorbar>"]
            for axes in panels:
                _scaled(axes, "x", self.xlog)
                _scaled(axes, "y", self.ylog)
            if self.title is not None:
                self._name(found, panels)
            if self.size is not None:
                found.set_size_inches(*self.size)
        return found

    def _name(self, found: Figure, panels: list[Axes]) -> None:
        title = str(self.title).replace("$", r"\$") if str(self.title).count("$") % 2 else str(self.title)
        if found.get_suptitle() or len(panels) > 1:
            found.suptitle(title)
        else:
            panels[0].set_title(title, loc="left")


def _require_formula(title: str) -> None:
    """Raise BadInput for a formula between two signs $ that cannot be set."""
    try:
        MathTextParser("path").parse(title)
    except ValueError as error:
        raise BadInput(
            f"the title {shorten(title)} has a formula between its signs $ that cannot be set: "
            f"{str(error).strip().splitlines()[-1]}",
            "mend it, or write \\$ for the sign itself",
        ) from None


def _is_size(size: object) -> bool:
    """Whether something is two numbers of inches."""
    numbers = isinstance(size, tuple | list) and all(isinstance(x, int | float | np.number) for x in size)
    return numbers and len(size) == 2 and all(0.0 < x <= _LARGEST for x in size)  # type: ignore[arg-type, attr-defined]


PLAIN = Look()


def _scaled(axes: Axes, name: Literal["x", "y"], log: bool | None) -> None:
    """Another scale, with the range of the lines that it can show."""
    scale = "log" if log else "linear"
    if log is None or getattr(axes, f"get_{name}scale")() == scale:
        return
    getattr(axes, f"set_{name}scale")(scale)
    lines = (line for line in axes.lines if line.get_transform().contains_branch(axes.transData))
    values = [np.asarray(getattr(line, f"get_{name}data")(), dtype=float).ravel() for line in lines]
    known = np.concatenate([np.empty(0), *values])
    known = known[np.isfinite(known) & (known > 0.0 if log else True)]
    if known.size and known.min() < known.max():
        low, high = float(known.min()), float(known.max())
        margin = (high / low) ** 0.04 if log else 0.04 * (high - low)
        getattr(axes, f"set_{name}lim")(*((low / margin, high * margin) if log else (low - margin, high + margin)))


def saved(draw: Callable[[], Picture], suffix: str, look: Look = PLAIN) -> bytes:
    """The bytes of a figure drawn and written with a look."""
    return written(look.drawn(draw), suffix)


def written(figure: Figure, suffix: str) -> bytes:
    """The bytes of a figure; equal figures give equal bytes."""
    stream = io.BytesIO()
    with matplotlib.rc_context({name: STYLE[name] for name in ("pdf.fonttype", "svg.hashsalt")}):
        figure.savefig(stream, format=suffix[1:], dpi=200, bbox_inches="tight", metadata=dict(_NO_DATE[suffix]))
    return stream.getvalue()
