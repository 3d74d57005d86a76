"""The documentation site: it builds without a warning, every link in it leads somewhere, and it needs no network."""

from __future__ import annotations

import html
import json
import re
import sys
import tomllib
import warnings
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

import giantstep as gs
from giantstep.cli.main import parser

pytest.importorskip("furo")
pytest.importorskip("math_core")
pytest.importorskip("myst_parser")

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "docs" / "site"
_LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """What a page links to, what it loads, and the places in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.places.update(value for name in ("id", "name") if (value := found.get(name)))
        if tag == "a" and (target := found.get("href")):
            self.links.append(target)
        if target := found.get(_LOADED.get(tag, "")):
            self.loads.append(target)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site; warnings are errors. It is built here, where the package is loaded."""
    folder, said = tmp_path_factory.mktemp("site"), StringIO()
    with pytest.MonkeyPatch.context() as patch, patch_docutils(SOURCE), docutils_namespace():
        patch.setattr(sys, "path", sys.path[:])  # which the configuration adds to
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of extensions, for a Sphinx to come; those of the site are in the log
            app = Sphinx(SOURCE, SOURCE, folder / "html", folder / "trees", "html", status=None, warning=said)
            app.build()
    assert app.statuscode == 0 and said.getvalue() == "", said.getvalue()
    return folder / "html"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def words(path: Path) -> str:
    """The text of a page without its tags."""
    return re.sub(r"<[^>]+>", "", path.read_text(encoding="utf-8"))


def test_every_link_leads_to_a_place(pages: dict[Path, Page]) -> None:
    broken = []
    for path, page in pages.items():
        for link in (*page.links, *page.loads):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link == "#":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            if not target.is_file() or (place and target.suffix == ".html" and place not in pages[target].places):
                broken.append(f"{path.name}: {link}")
    assert sum(len(page.links) for page in pages.values()) > 1000
    assert broken == []


def test_it_needs_no_network(site: Path, pages: dict[Path, Page]) -> None:
    assert [link for page in pages.values() for link in page.loads if urlsplit(link).netloc] == []
    styles = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    assert styles and not any(re.search(r"(@import|url\()\s*[\"']?(https?:)?//", text) for text in styles)


def test_formulas_are_mathml(site: Path) -> None:
    for page in ("notebooks/quickstart.html", "theory.html"):
        assert (site / page).read_text(encoding="utf-8").count("<math") > 50
        assert "$$" not in words(site / page)


def test_every_public_name_and_command_is_on_it(pages: dict[Path, Page], site: Path) -> None:
    names = {f"giantstep.{name}" for name in dir(gs) if not name.startswith("_")}
    assert names <= pages[site / "reference" / "api.html"].places
    commands = set(parser()._subparsers._group_actions[0].choices)  # type: ignore[union-attr, arg-type]
    assert commands <= pages[site / "reference" / "commands.html"].places


@pytest.mark.parametrize("page", ["accuracy", "speed"])
def test_the_records_of_the_benchmarks_are_shown_with_their_commands(site: Path, page: str) -> None:
    text = re.sub(r"<[^>]*>", "", (site / f"{page}.html").read_text())
    records = sorted((ROOT / "benchmarks" / "records" / page).glob("*.json"))
    assert records
    for path in records:
        record = json.loads(path.read_text())
        assert (ROOT / record["command"].split()[1]).is_file()
        for words in (record["command"], record["date"], record["output"].splitlines()[0].strip()):
            assert html.escape(words, quote=False) in text, words


def test_every_notebook_has_a_page_with_its_pictures(pages: dict[Path, Page], site: Path) -> None:
    gallery = pages[site / "notebooks" / "index.html"]
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        assert f"{path.stem}.html" in gallery.links
        shown = [link for link in pages[site / "notebooks" / f"{path.stem}.html"].loads if link.endswith(".png")]
        outputs = [one for cell in json.loads(path.read_text())["cells"] for one in cell.get("outputs", ())]
        assert len(shown) == sum("image/png" in one.get("data", ()) for one in outputs) > 0


def test_the_files_that_it_names_exist() -> None:
    named = {
        name
        for path in (SOURCE / "extend").glob("*.md")
        for name in re.findall(r"`([\w/]+\.py|[\w/]+/)`", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 30
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_every_key_has_an_example_that_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SOURCE / "extensions"))
    import model_file

    kinds = dict(model_file.keys())
    assert list(kinds) == list(model_file.EXAMPLES)
    for key, kind in kinds.items():
        kind.check(key, tomllib.loads(f"value = {model_file.EXAMPLES[key]}")["value"])
        assert model_file.allowed(kind)
