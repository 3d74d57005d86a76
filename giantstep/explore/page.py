"""The page: sliders on the left, the pictures beside them. Panel draws it, in a browser and in a notebook alike."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from giantstep.explore.answers import VIEWS, answer
from giantstep.explore.pictures import Picture
from giantstep.explore.sliders import Slider, sliders_of
from giantstep.spec.errors import BadInput, GiantstepError
from giantstep.spec.model import Model

if TYPE_CHECKING:
    import panel

_FIRST = "*solving ... (new functions are compiled first, once: up to a minute)*"
_SLOW = 0.25  # seconds: a model that takes longer follows a slider when that is let go


def explorer(model: Model) -> panel.viewable.Viewable:
    """The widgets and pictures of a model. Raises BadInput where panel is not installed, or nothing can move."""
    return Explorer(model).view()


def require_panel() -> Any:
    """The package panel, ready to draw. Raises BadInput where it is not installed."""
    try:
        import panel
    except ImportError:
        raise BadInput("the explorer needs panel", "pip install 'giantstep[explore]'") from None
    panel.extension(inline=True)  # scripts in the notebook itself: it works without a network
    return panel


def movable(model: Model) -> dict[str, Slider]:
    """The sliders of a model by key. Raises BadInput for a model without any."""
    found = {slider.key: slider for slider in sliders_of(model)}
    if not found:
        raise BadInput("the model has no number that a slider could move", "give a model with fit.samples")
    return found


class Explorer:
    """State of one page: its model follows the sliders."""

    def __init__(self, model: Model) -> None:
        self.panel = require_panel()
        self.model, self.sliders = model, movable(model)
        self.widgets = {key: self._widget(slider) for key, slider in self.sliders.items()}
        widgets = self.panel.widgets
        self.along = widgets.Select(label="curve along", options=list(self.sliders), value=next(iter(self.sliders)))
        self.pictures = {key: Picture.of(*key) for key in self._all_pictures()}
        for picture in self.pictures.values():
            picture.figure.visible = False  # there is nothing in it yet
        self.panes = [self.panel.pane.Bokeh(one.figure) for one in self.pictures.values()]
        self.words = self.panel.pane.Markdown(_FIRST, sizing_mode="stretch_width")
        self.choice = widgets.RadioButtonGroup(label="view", options=list(VIEWS), value=next(iter(VIEWS)))
        self.toml = self.panel.pane.Str("", styles={"font-family": "monospace", "white-space": "pre"})
        for widget in (self.along, self.choice):
            widget.param.watch(self._ask, "value")
        self.seconds = dict.fromkeys(VIEWS, math.inf)  # that the last answer of a view took
        self.asked = False
        self.panel.state.onload(self._show)  # a browser has the page by then; in a notebook at once

    def view(self) -> Any:
        """The page."""
        row, column, card = self.panel.Row, self.panel.Column, self.panel.Card
        left = column("### giantstep", self.along, *self.widgets.values(), width=330)
        file = card(self.toml, title="model file", collapsed=True, sizing_mode="stretch_width")
        return row(left, column(self.choice, *self.panes, self.words, file, sizing_mode="stretch_width"))

    def _widget(self, slider: Slider) -> Any:
        low, high, step = slider.ends
        widget = self.panel.widgets.FloatSlider(
            label=slider.key,
            start=low,
            end=high,
            step=step,
            value=slider.position,
            tooltips=False,
            format=_written(slider),
        )

        def moved(event: Any, released: bool) -> None:
            if released or self.seconds[self.choice.value] < _SLOW:
                self._move(slider.key, slider.at(event.new))

        widget.param.watch(lambda event: moved(event, False), "value")
        widget.param.watch(lambda event: moved(event, True), "value_throttled")
        return widget

    def _move(self, key: str, value: float) -> None:
        if self.model.number_at(key) == value:
            return
        try:
            self.model = self.model.replace({key: value})
        except GiantstepError as error:  # the model stays as it was
            self.words.object = f"**not possible:** {error}"
            return
        self._ask()

    def _ask(self, *_: object) -> None:
        """Have the page drawn, once for all that moves until then; what takes time is announced first."""
        if self.asked:
            return
        self.asked = True
        if self.seconds[self.choice.value] > _SLOW:
            self.words.object = "*solving ...*"
        self.panel.state.execute(self._show, schedule=True)  # in a browser after this has been sent; else at once

    def _show(self) -> None:
        """Solve the model for the view that is shown, and draw it."""
        self.asked = False
        view, (slider, value) = self.choice.value, self._here()
        begun = time.perf_counter()
        found = answer(view, self.model, slider)
        self.seconds[view] = time.perf_counter() - begun
        shown = (view, view == "spectrum" or (view == "learning curve" and slider.log))
        self.pictures[shown].show(found)
        if view == "learning curve":
            self.pictures[shown].put_mark(slider.key, value)
        for key, picture in self.pictures.items():
            picture.figure.visible = key == shown
        self.panel.io.push_notebook(*self.panes)
        numbers = ", ".join(f"{name} **{value:.6g}**" for name, value in found.numbers.items())
        took = f"({self.seconds[view]:.2g} s)"
        self.words.object = f"**no answer:** {found.refused}" if found.refused else f"{numbers} {took}"
        self.toml.object = self.model.to_toml()

    def _all_pictures(self) -> tuple[tuple[str, bool], ...]:
        """View and whether its x axis is logarithmic: a figure cannot change that."""
        curves = sorted({("learning curve", slider.log) for slider in self.sliders.values()})
        return *curves, ("learned function", False), ("spectrum", True), ("bounds", False)

    def _here(self) -> tuple[Slider, float]:
        """The x axis of the curve and the model's place on it."""
        slider = self.sliders[self.along.value]
        return slider, self.model.number_at(slider.key)


def _written(slider: Slider) -> Any:
    """How the browser writes the value at a position: four digits; of a logarithmic slider its power of ten."""
    from bokeh.models import CustomJSTickFormatter  # comes with panel

    value = "10 ** tick" if slider.log else "tick"
    return CustomJSTickFormatter(code=f"return String(Number(({value}).toPrecision(4)))")
