"""What results show of themselves: at most six lines, a table for notebooks, JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest

import giantstep as gs

MODEL = gs.model("tanh", link="tanh", ridge=0.1, noise=0.1)
RESULTS: dict[str, tuple[Callable[[], Any], str]] = {
    "solve": (lambda: gs.solve(MODEL, dimension=100), "test error"),
    "solve far out": (lambda: gs.solve(gs.model("tanh", link="tanh", ridge=1e6)), "Result for d above"),
    "simulate": (lambda: gs.simulate(MODEL, dimension=30, seeds=2), "+-"),
    "simulate once": (lambda: gs.simulate(MODEL, dimension=30, seeds=1), "1 seed"),
    "bounds": (lambda: gs.bounds(MODEL, optimise=False), "best linear predictor"),
    "bound": (lambda: gs.bounds(MODEL, optimise=False).lower, "value"),
    "compare": (lambda: gs.compare(MODEL, dimension=30, seeds=2), "isotropic law"),
    "gains": (lambda: gs.gains(MODEL), "in test error"),
    "gradient": (lambda: gs.gradient(MODEL, ["fit.ridge"]), "fit.ridge ="),
    "learnable": (lambda: gs.learnable("z1*z2 + z1"), "z2 with d samples"),
    "learned": (lambda: gs.learned(MODEL), "off the target"),
    "profile": (lambda: gs.learned(MODEL).along_target, "121 values"),
    "spectrum": (lambda: gs.spectrum(MODEL), "support"),
    "tune": (lambda: gs.tune(MODEL), "best values"),
    "curve": (lambda: gs.curve(MODEL, "fit.samples=1:2:3"), "3 over fit.samples"),
    "map": (lambda: gs.map(MODEL, "fit.samples=1:2:2", "fit.ridge=1:2:2", refine=0), "least test error"),
    "derive": (lambda: gs.derive(MODEL), "equations in"),
    "model": (lambda: MODEL, "activation='tanh'"),
}


class Balanced(HTMLParser):
    """Every tag that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        self.cells += tag == "td"

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("verb", RESULTS)
def test_a_few_lines_a_table_and_json(verb: str) -> None:
    make, words = RESULTS[verb]
    found = make()
    lines = repr(found).splitlines()
    assert len(lines) <= 6 and words in repr(found)
    assert all(len(line) <= 120 for line in lines) or verb == "model"  # that of a model is its code
    assert json.loads(found.to_json()) == json.loads(json.dumps(found.to_dict()))
    if verb == "derive":
        assert not hasattr(found, "_repr_html_")  # notebooks would prefer it to the equations
        return
    reader = Balanced()
    reader.feed(found._repr_html_())
    assert not reader.open and reader.cells >= 2


@pytest.mark.parametrize("count", [1, 5, 7])
def test_every_metric_is_shown_or_named(count: int) -> None:
    names = [f"moment_{power}" for power in range(1, count + 1)]
    found = gs.metrics(MODEL, {name: f"f**{power + 1}" for power, name in enumerate(names)})
    lines = repr(found).splitlines()
    assert len(lines) <= 6 and all(name in repr(found) for name in names)
    assert "link=tanh" in lines[0] and len(lines) == min(1 + count, 6)


def test_tables_escape_what_they_show() -> None:
    data = gs.curve(MODEL, {"target.link": ["tanh", "step(z)-0.5"], "fit.samples": [1.0, 2.0]})
    html = gs.learnable("max(z, 0) - 0*z")._repr_html_() + data._repr_html_()
    assert "<script" not in html and "step(z)-0.5" in html
    from giantstep.spec.shown import html_table

    assert html_table("<i>", [["a", "<i>"]], ["<i>"]).count("&lt;i&gt;") == 3
