"""The page: sliders on the left, the pictures beside them. Panel draws it, in a browser and in a notebook alike."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from giantstep.explore.answers import VIEWS, Answer, answer
from giantstep.explore.sliders import Slider, sliders_of
from giantstep.spec.errors import BadInput, GiantstepError
from giantstep.spec.model import Model

if TYPE_CHECKING:
    import panel

_COLOURS = ("#0072b2", "#d55e00", "#8c8c8c", "#8c8c8c", "#009e73")  # readable in grey, told apart by dashes too
_DASHES = ("solid", "dashed", "dashdot", "dotted", "solid")
_SLOW = 0.25  # seconds: a model that takes longer follows a slider when that is let go
_AXES = {
    "learning curve": ("", "error"),
    "learned function": ("theta.x", "output"),
    "spectrum": ("eigenvalue of the Gram matrix", "density per unit of its logarithm"),
    "bounds": ("degree of the polynomial", "test error"),
}


def explorer(model: Model) -> panel.viewable.Viewable:
    """The widgets and pictures of a model. Raises BadInput where panel is not installed, or nothing can move."""
    return Explorer(model).view()


def require_panel() -> Any:
    """The package panel, ready to draw. Raises BadInput where it is not installed."""
    try:
        import panel
    except ImportError:
        raise BadInput("the explorer needs panel", "pip install 'giantstep[explore]'") from None
    panel.extension()
    return panel


class Explorer:
    """State of one page: its model follows the sliders."""

    def __init__(self, model: Model) -> None:
        self.panel = require_panel()
        self.model, self.sliders = model, {slider.key: slider for slider in sliders_of(model)}
        if not self.sliders:
            raise BadInput("the model has no number that a slider could move", "give a model with fit.samples")
        self.widgets = {key: self._widget(slider) for key, slider in self.sliders.items()}
        widgets = self.panel.widgets
        self.along = widgets.Select(label="curve along", options=list(self.sliders), value=next(iter(self.sliders)))
        self.picture = self.panel.pane.Bokeh(sizing_mode="stretch_width", height=430)
        self.words = self.panel.pane.Markdown("", sizing_mode="stretch_width")
        self.choice = widgets.RadioButtonGroup(label="view", options=list(VIEWS), value=VIEWS[0])
        self.toml = self.panel.pane.Str("", styles={"font-family": "monospace", "white-space": "pre"})
        for widget in (self.along, self.choice):
            widget.param.watch(self._show, "value")
        self.seconds = 0.0
        self._show()

    def view(self) -> Any:
        """The page."""
        row, column, card = self.panel.Row, self.panel.Column, self.panel.Card
        left = column("### giantstep", self.along, *self.widgets.values(), width=330)
        file = card(self.toml, title="model file", collapsed=True, sizing_mode="stretch_width")
        return row(left, column(self.choice, self.picture, self.words, file, sizing_mode="stretch_width"))

    def _widget(self, slider: Slider) -> Any:
        low, high, step = slider.ends
        widget = self.panel.widgets.FloatSlider(
            label=_told(slider, slider.value),
            start=low,
            end=high,
            step=step,
            value=slider.position,
            tooltips=False,
            show_value=False,  # the label says it: the slider knows the logarithm only
        )

        def moved(event: Any, released: bool) -> None:
            value = slider.at(event.new)
            widget.label = _told(slider, value)
            if released or self.seconds < _SLOW:
                self._move(slider.key, value)

        widget.param.watch(lambda event: moved(event, False), "value")
        widget.param.watch(lambda event: moved(event, True), "value_throttled")
        return widget

    def _move(self, key: str, value: float) -> None:
        table, _, field = key.partition(".")
        if getattr(getattr(self.model, table), field) == value:
            return
        try:
            self.model = self.model.replace({key: value})
        except GiantstepError as error:  # the model stays as it was
            self.words.object = f"**not possible:** {error}"
            return
        self._show()

    def _show(self, *_: object) -> None:
        """Solve the model for the view that is shown, and draw it."""
        begun = time.perf_counter()
        with self.picture.param.update(loading=True):
            found = answer(self.choice.value, self.model, self.sliders[self.along.value])
        self.seconds = time.perf_counter() - begun
        self.picture.object = _figure(self.choice.value, found, self._here())
        numbers = ", ".join(f"{name} **{value:.6g}**" for name, value in found.numbers.items())
        self.words.object = f"**no answer:** {found.refused}" if found.refused else f"{numbers} ({self.seconds:.2g} s)"
        self.toml.object = self.model.to_toml()

    def _here(self) -> tuple[Slider, float]:
        """The x axis of the curve and the model's place on it."""
        slider = self.sliders[self.along.value]
        table, _, field = slider.key.partition(".")
        return slider, float(getattr(getattr(self.model, table), field))


def _told(slider: Slider, value: float) -> str:
    return f"{slider.key} = {value:.4g}"


def _figure(view: str, found: Answer, here: tuple[Slider, float]) -> Any:
    """A Bokeh figure of an answer."""
    from bokeh.models import Span
    from bokeh.plotting import figure

    slider, value = here
    log = slider.log if view == "learning curve" else view == "spectrum"
    x, y = _AXES[view]
    drawn = figure(
        x_axis_type="log" if log else "linear",
        x_axis_label=x or slider.key,
        y_axis_label=y,
        height=430,
        sizing_mode="stretch_width",
    )
    drawn.toolbar.logo = None
    for place, (name, (at, values)) in enumerate(found.lines.items()):
        colour, dash = _COLOURS[place % len(_COLOURS)], _DASHES[place % len(_DASHES)]
        drawn.line(at, values, line_width=2, color=colour, line_dash=dash, legend_label=name)
    for name, (at, values) in found.points.items():
        drawn.scatter(at, values, size=9, color="black", fill_color="white", legend_label=name)
    if view == "learning curve" and found.lines:
        drawn.add_layout(Span(location=value, dimension="height", line_color="black", line_dash="dotted"))
    if found.lines:
        drawn.legend.click_policy, drawn.legend.background_fill_alpha = "hide", 0.6
    return drawn
