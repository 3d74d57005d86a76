"""The page itself, where panel is installed, and in a browser where there is one."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

import giantstep as gs

panel = pytest.importorskip("panel", reason="the extra explore is not installed")
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
    page.seconds = 0.0  # however long the first solve took, which may compile
    page.widgets["fit.ridge"].value = 0.0  # its logarithm
    assert page.model == model.replace({"fit.ridge": 1.0}) and page.words.object != before
    assert f"{gs.solve(page.model).test_error:.6g}" in page.words.object
    assert page.toml.object == page.model.to_toml()
    page.choice.value = "bounds"
    assert "lower bound" in page.words.object


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
def test_in_a_browser(model: gs.Model) -> None:
    """A slider is moved, the picture and the numbers follow, and the console is silent."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    from giantstep.explore.serve import free_port, serve

    port = free_port()
    server = serve(model, port, browser=False, threaded=True)
    told: list[Any] = []
    try:
        with driver.sync_playwright() as play:
            page = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"]).new_page()
            page.on("console", lambda message: told.append(message.text) if message.type == "error" else None)
            page.on("pageerror", lambda error: told.append(str(error)))
            page.goto(f"http://127.0.0.1:{port}/")
            page.wait_for_selector("text=test error")
            before = page.get_by_text("residual").inner_text()
            page.locator(".noUi-handle").first.focus()
            for _ in range(20):
                page.keyboard.press("ArrowRight")
            page.wait_for_function("old => !document.body.innerText.includes(old)", arg=before)
            page.get_by_text("spectrum", exact=True).first.click()
            page.wait_for_selector("text=mass at zero")
    finally:
        server.stop()
    assert not told
