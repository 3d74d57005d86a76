"""The tutorials of the site run from the first line to the last, and print what they show."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from giantstep.cli.main import parser
from giantstep.cli.options import spread

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "site" / "tutorials").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)\n```$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"\d+\.\d+")


def blocks(path: Path) -> list[tuple[str, str]]:
    """The language and the text of each fenced block."""
    return [(found[1], found[2]) for found in BLOCK.finditer(path.read_text(encoding="utf-8"))]


def check_printed(shown: str, printed: str) -> None:
    """The same words, and numbers to one unit of the last digit shown, for another numba or BLAS."""
    assert NUMBER.sub("#", printed) == NUMBER.sub("#", shown)
    for expected, found in zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True):
        digits = len(expected.partition(".")[2])
        assert float(found) == pytest.approx(float(expected), rel=0.0, abs=1.5 * 10.0**-digits)


def test_there_is_one_for_every_user() -> None:
    assert [path.stem for path in PAGES] == ["maintainer", "notebook", "student"]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_it_runs_and_prints_what_it_shows(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    printed = ""
    for language, text in blocks(path):
        if language == "python":
            assert not printed.strip(), f"the page does not show what is printed:\n{printed}"
            exec(compile(text, str(path), "exec"), names)
            printed = capsys.readouterr().out
        elif language in ("text", "toml"):
            check_printed(text.rstrip(), printed.rstrip())
            printed = ""
    assert not printed.strip()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_its_commands_can_be_given(path: Path) -> None:
    for _, text in (block for block in blocks(path) if block[0] == "sh"):
        for line in text.split("\n"):
            program, *arguments = shlex.split(line.partition(">")[0])
            assert program == "giantstep"
            parser().parse_args(spread(arguments))
