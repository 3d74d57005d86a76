"""The page itself, where panel is installed, and in a browser where there is one."""

from __future__ import annotations

import contextlib
import shutil
import time
import urllib.request
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.explore.answers import answer

panel = pytest.importorskip("panel", reason="the extra explore is not installed")
LOUD = ("error", "warning")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture
def model() -> gs.Model:
    return gs.Model(
        network=gs.Network("tanh", width=0.5),
        step=gs.Step(samples=16.0, learning_rate=1.0),
        target=gs.Target("sign"),
        fit=gs.Fit(samples=2.0, ridge=0.1),
    )


def test_a_slider_moves_the_model(model: gs.Model) -> None:
    from giantstep.explore.page import Explorer

    page = Explorer(model)
    before = page.words.object
    page.seconds["learning curve"] = 0.0  # however long the first solve took, which may compile
    page.widgets["fit.ridge"].value = 0.0  # its logarithm
    assert page.model == model.replace({"fit.ridge": 1.0}) and page.words.object != before
    assert f"{gs.solve(page.model).test_error:.6g}" in page.words.object
    assert page.toml.object == page.model.to_toml()
    page.choice.value = "bounds"
    assert "lower bound" in page.words.object


def test_the_figures_stay_and_show_what_is_solved(model: gs.Model) -> None:
    from giantstep.explore.page import Explorer

    page = Explorer(model)
    made = [pane.object for pane in page.panes]
    page.along.value = "target.noise"  # a linear axis: the other curve
    for view in ("learned function", "spectrum", "bounds", "learning curve"):
        page.choice.value = view
        shown = [picture for picture in page.pictures.values() if picture.figure.visible]
        assert len(shown) == 1 and len(shown[0].figure.renderers) == len(shown[0].renderers)
        for name, (x, y) in (found := answer(view, model, page.sliders["target.noise"])).lines.items():
            data = shown[0].renderers[name].data_source.data
            assert np.array_equal(data["x"], x) and np.array_equal(data["y"], y, equal_nan=True), name
            reach = shown[0].figure.x_range
            assert reach.start <= np.nanmin(x) and np.nanmax(x) <= reach.end
        entries = {entry.label.value: entry.visible for entry in shown[0].figure.legend[0].items}
        assert {name for name, visible in entries.items() if visible} == {*found.lines, *found.points}
    assert shown[0].figure.xaxis[0].axis_label == "target.noise" and shown[0].mark.location == model.target.noise
    assert [pane.object for pane in page.panes] == made


def test_a_page_is_there_before_its_model_is_solved(model: gs.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """A first solve may compile for half a minute."""
    from giantstep.explore import page
    from giantstep.explore.serve import free_port, serve

    solved: list[str] = []
    monkeypatch.setattr(page, "answer", lambda view, *_: solved.append(view))
    port = free_port()
    server = serve(model, port, browser=False, threaded=True)
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as found:
                assert found.status == 200 and b"giantstep" in found.read()
                break
            time.sleep(0.05)
        else:
            pytest.fail("nobody answers")
    finally:
        server.stop()
    assert not solved


FIGURES = """[...Bokeh.documents[0]._all_models.values()].filter(model => model.type == "Figure")"""


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
def test_in_a_browser(model: gs.Model) -> None:
    """Sliders are moved many times, quickly: the same figures follow, and the console is silent."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    from giantstep.explore.serve import free_port, serve

    port = free_port()
    server = serve(model, port, browser=False, threaded=True)
    told: list[Any] = []
    try:
        with driver.sync_playwright() as play:
            page = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"]).new_page()
            page.on("console", lambda message: told.append(message.text) if message.type in LOUD else None)
            page.on("pageerror", lambda error: told.append(str(error)))
            page.goto(f"http://127.0.0.1:{port}/")
            page.wait_for_selector("text=residual")
            page.evaluate(f"window.first = {FIGURES}")
            curve = "first.filter(model => model.visible)[0].renderers[0].data_source.data.y[30]"
            before, words = page.evaluate(curve), page.get_by_text("residual").inner_text()
            for slider in (0, 1, 5):
                page.locator(".noUi-handle").nth(slider).focus()
                for key in (*["ArrowRight"] * 30, *["ArrowLeft"] * 50):
                    page.keyboard.press(key)
            page.wait_for_function("old => !document.body.innerText.includes(old)", arg=words)
            page.wait_for_function(f"old => {curve} != old", arg=before)
            page.get_by_text("spectrum", exact=True).first.click()
            page.wait_for_selector("text=mass at zero")
            page.get_by_text("learning curve", exact=True).first.click()
            page.wait_for_selector("text=residual")
            assert page.evaluate(f"{FIGURES}.length == first.length && {FIGURES}.every((m, i) => m === first[i])")
    finally:
        server.stop()
    assert not told
