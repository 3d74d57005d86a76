"""Reports of a small model: everything is there, refused parts with their reasons, nothing comes from elsewhere."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from itertools import islice
from pathlib import Path

import pytest

import giantstep as gs
from giantstep.cli.main import main
from giantstep.law.derivation import ModelDerivation
from giantstep.report import contents as contents_module
from giantstep.report.contents import Contents, Refused, Settings, contents
from giantstep.report.html_page import page
from giantstep.report.notation import notation
from giantstep.system.result import Result
from giantstep.verify.check import Check

MODEL = gs.Model.from_dict(
    {
        "network": {"activation": "tanh", "width": 0.5},
        "step": {"samples": 2.0, "learning_rate": 1.0},
        "target": {"link": "sign"},
        "fit": {"samples": 2.0, "ridge": 0.1},
    }
)
VOID = {"area", "br", "col", "hr", "img", "input", "link", "meta", "source"}


class Tree(HTMLParser):
    """Elements of a page: every one is closed where it should be."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def of_class(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for _, attributes in self.elements if name in (attributes.get("class") or "").split()]


@pytest.fixture(scope="module")
def found() -> Contents:
    with pytest.MonkeyPatch.context() as patch:
        every = contents_module.exact_checks
        patch.setattr(contents_module, "exact_checks", lambda model: islice(every(model), 2))
        return contents(MODEL, Settings(points=5), lambda stage, done, total: None)


@pytest.fixture(scope="module")
def text(found: Contents) -> str:
    return page(found)


@pytest.fixture(scope="module")
def tree(text: str) -> Tree:
    return Tree(text)


def derived(found: Contents) -> ModelDerivation:
    assert isinstance(found.derivation, ModelDerivation)
    return found.derivation


def test_all_elements_are_closed_and_all_names_are_one(tree: Tree) -> None:
    assert not tree.open
    names = [attributes["id"] for _, attributes in tree.elements if "id" in attributes]
    assert len(set(names)) == len(names)
    targets = [str(a["href"]) for _, a in tree.elements if str(a.get("href", "")).startswith("#")]
    targets += [str(a["xlink:href"]) for _, a in tree.elements if "xlink:href" in a]
    assert len(targets) > 100
    assert {target[1:] for target in targets} <= set(names)


def test_nothing_is_fetched(text: str, tree: Tree) -> None:
    for tag, attributes in tree.elements:
        assert tag not in ("img", "link", "iframe", "object", "image"), tag
        for name in ("src", "href", "xlink:href", "data", "srcset"):
            assert str(attributes.get(name, "#")).startswith("#")
    assert not re.search(r"@import|url\((?!#)|fetch\(|https?://(?!www\.w3\.org)", text)


def test_every_step_of_the_derivation_unfolds(found: Contents, tree: Tree) -> None:
    parts = derived(found).parts
    steps = tree.of_class("step")
    assert [step["id"] for step in steps] == [
        f"step-{number}-{at}" for number, part in enumerate(parts, 1) for at in range(1, len(part.steps) + 1)
    ]
    assert ["open" in step for step in steps] == [step.shown for part in parts for step in part.steps]
    assert [tag for tag, _ in tree.elements].count("summary") == len(parts) + len(steps)
    assert len(tree.of_class("equation")) == len(steps)


def test_mathematics_and_pictures_are_xml(found: Contents, text: str) -> None:
    formulas = re.findall(r"<math.*?</math>", text, re.DOTALL)
    pictures = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert len(formulas) > sum(len(part.steps) for part in derived(found).parts)
    assert len(pictures) == 3
    for element in formulas + pictures:
        ET.fromstring(element)
    assert '<code class="latex">' not in text


def test_the_numbers_are_those_of_the_solution(found: Contents, tree: Tree) -> None:
    assert isinstance(found.result, Result)
    words = "".join(tree.words)
    assert f"{found.result.test_error:.12g}" in words
    assert MODEL.to_toml() in words
    for check in found.checks:
        assert check.name in words
    assert [attributes["class"] for attributes in tree.of_class("ok")] == ["ok"] * 2


def test_equal_contents_give_equal_bytes(found: Contents, text: str) -> None:
    assert page(found) == text


def refused(found: Contents) -> Contents:
    """All parts refused, each for a reason of its own."""
    parts = ("derivation", "result", "curve", "spectrum", "learned")
    return replace(found, **{part: Refused(f"{part} < 2", 3) for part in parts})


def test_the_notation_of_several_steps_has_the_values_of_all() -> None:
    first, second = {"samples": 4.0, "learning_rate": 1.5}, {"samples": 3.0, "learning_rate": 1.5}
    entries = notation(gs.derive(gs.Model.from_dict(MODEL.to_dict() | {"step": [first, second]})))
    assert {"4, 3", "1.5"} <= {entry.value for entry in entries}


def test_a_refused_part_says_why(found: Contents) -> None:
    without = refused(found)
    tree = Tree(page(without))
    words = [word for word in tree.words if word.startswith("Not available for this model: ")]
    reasons = [word.removeprefix("Not available for this model: ") for word in words]
    assert reasons == [f"{part} < 2." for part in ("result", "curve", "spectrum", "learned", *["derivation"] * 2)]
    assert (len(without.refused), without.exit_code, tree.open) == (5, 3, [])


def test_a_check_that_fails_and_one_that_stops_the_others_are_seen(found: Contents) -> None:
    checks = (Check("a", 2.0, 1.0), Check("b", 0.0, 1.0, "needs more"))
    tree = Tree(page(replace(refused(found), checks=checks, unchecked="no more")))
    assert len(tree.of_class("FAILED")) == len(tree.of_class("undecided")) == 1
    assert {"needs more", "Not available for this model: no more."} <= set(tree.words)
    changed = replace(found, checks=checks, unchecked="no more")
    assert (changed.failed, changed.exit_code) == (("a",), 1)
    assert changed.refused == {"evidence": "no more"}


def test_a_model_without_any_answer_has_a_report_with_reasons(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # the step needs the derivative of the activation, and sign jumps
    model = MODEL.replace({"network.activation": "sign"})
    file, path = tmp_path / "model.toml", tmp_path / "report.html"
    file.write_text(model.to_toml())
    assert main(["report", str(file), "-o", str(path)]) == 2
    said = capsys.readouterr().out
    assert {line.partition(":")[0] for line in said.splitlines()} == {
        "no derivation",
        "no solution",
        "no learning curve",
        "no spectrum",
        "no learned function",
        "no evidence",
        "written",
    }
    assert len(Tree(path.read_text()).of_class("refused")) == 7  # the notation goes with the derivation
    assert path.read_text().count("jumps at") == 7
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_bad_input_is_said_before_anything_is_done(tmp_path: Path) -> None:
    for options, reason in (
        ({"path": tmp_path / "report.pdf"}, "it must end in .html or .tex"),
        ({"path": tmp_path / "none" / "report.html"}, "there is no folder"),
        ({"points": 1}, "points"),
        ({"dimension": 1}, "dimension"),
        ({"simulate": True, "seeds": 0}, "seeds"),
    ):
        with pytest.raises(gs.BadInput, match=reason):
            gs.report(MODEL, **{"path": tmp_path / "report.html", **options})
    assert not list(tmp_path.iterdir())


def test_with_simulation_and_all_checks(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    stages: list[str] = []
    options = {"dimension": 60, "simulate": True, "seeds": 4, "points": 5}
    found = gs.report(MODEL, path, **options, progress=lambda stage, done, total: stages.append(stage))
    assert (found.refused, found.failed, found.files) == ({}, (), (path,))
    text = path.read_text()
    assert "simulated: srf" in text
    assert "test error: simulation, d = 60" in text
    assert "at dimension 60" in text
    assert {"derivation", "solution", "theory", "spectrum", "learned function", "checks"} <= set(stages)
