"""What the README says can be run, runs; what it says was derived, is what is derived."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from readme_blocks import MARKER, README, ROOT, renewed

from derive.language.catalogue import Entry
from derive.language.grammar import parse
from giantstep.cli.main import parser
from giantstep.spec.model import Model
from giantstep.system.solve import solve

TEXT = README.read_text(encoding="utf-8")
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)\n```$", TEXT, re.DOTALL | re.MULTILINE)


def test_the_python_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    """One after the other: the second goes on with the model of the first."""
    code = "\n".join(blocks("python"))
    exec(compile(code, str(README), "exec"), {})
    printed = capsys.readouterr().out
    expected = solve(Model.from_toml(ROOT / "examples" / "tanh_sign.toml")).test_error
    assert float(printed.split()[0]) == pytest.approx(expected, rel=1e-12)
    assert r"\section{" in printed and printed.rstrip().endswith("{'ok'}")


def test_the_equations_are_the_derived_ones() -> None:
    assert len(MARKER.findall(TEXT)) == len(blocks("math")) == 3
    assert renewed(TEXT) == TEXT, "run: python tests/oracles/readme_blocks.py"


def test_the_commands_can_be_given() -> None:
    install, check = blocks("sh")
    assert ".venv/bin/pip install -q . &&" in install
    command = shlex.split(install.rpartition("&&")[2])
    assert command[0] == ".venv/bin/giantstep"
    found = parser().parse_args(command[1:])
    assert (ROOT / found.model).is_file()
    script = shlex.split(check.rpartition("&&")[2])[1]
    assert (ROOT / script).is_file()
    # continuous integration runs the same installation and the same script
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert f"install -q --no-compile --disable-pip-version-check '.[test]'\n\"$folder/venv/bin/python\" {script}" in ci
    assert ".venv/bin/pip install -q --no-compile '.[test]'" in check


def test_each_benchmark_is_named_in_their_table() -> None:
    """With its command, and no file that is gone."""
    folder = ROOT / "benchmarks"
    rows = re.findall(r"^\| `(?:python benchmarks/)?(\w+\.py)\b.*\|$", (folder / "README.md").read_text(), re.MULTILINE)
    assert sorted(rows) == sorted(path.name for path in folder.glob("*.py"))


def test_other_commands_in_the_text_exist() -> None:
    known = set(parser()._subparsers._group_actions[0].choices)  # type: ignore[union-attr, arg-type]
    named = set(re.findall(r"`giantstep ([a-z]+)", TEXT))
    assert {"derive", "generate", "simulate", "solve"} <= named <= known


def test_the_files_it_links_exist() -> None:
    targets = [target for target in re.findall(r"\]\(([^)]+)\)", TEXT) if "://" not in target]
    assert len(targets) >= 4
    assert [target for target in targets if not (ROOT / target).is_file()] == []


def test_the_entry_it_shows_is_an_entry() -> None:
    (text,) = blocks("text")
    name, expression, citation, latex = re.fullmatch(r'Entry\("(.*?)", "(.*?)", "(.*?)", r"(.*?)"\),', text).groups()  # type: ignore[union-attr]
    assert Entry(name, expression, citation, latex).name.isidentifier()
    parse(expression)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_solve(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIANTSTEP_CACHE", str(tmp_path))
    sections = set(tomllib.loads(path.read_text(encoding="utf-8")))
    assert sections - {"step", "spike"} == {"network", "target", "fit"} and len(sections) == 4
    result = solve(Model.from_toml(path))
    assert result.free_energy == pytest.approx(result.training_loss, rel=1e-10)
    assert 0.0 < result.test_error < 1.0
