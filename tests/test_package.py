"""What is shipped: the files of a wheel, its metadata, and the checks that run elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import giantstep

ROOT = Path(__file__).parents[1]
PACKAGES = ("codegen", "derive", "generated", "giantstep")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Built by the project's own builder, which pip calls for `pip wheel`."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.iterdir()
    return zipfile.ZipFile(built)


def test_a_wheel_has_the_packages_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file())
    known = {
        path.relative_to(ROOT).as_posix()
        for path in files
        if path.suffix in (".py", ".txt", ".json", ".typed", ".mplstyle")
    }
    assert held == known
    assert {
        "giantstep/py.typed",
        "giantstep/paper.mplstyle",
        "derive/py.typed",
        "generated/MANIFEST.json",
        "codegen/templates/solve.txt",
    } <= held
    assert all(not name.startswith("tests/") for name in held)


def test_the_metadata(wheel: zipfile.ZipFile) -> None:
    (folder,) = {name.partition("/")[0] for name in wheel.namelist() if ".dist-info/" in name}
    found = Parser().parsestr(wheel.read(f"{folder}/METADATA").decode())
    assert found["License-Expression"] == "MIT"
    assert found["Version"] == giantstep.__version__
    assert set(found.get_all("Provides-Extra", [])) == set(PROJECT["optional-dependencies"])
    assert b"giantstep = giantstep.cli.main:program" in wheel.read(f"{folder}/entry_points.txt")
    assert f"{folder}/licenses/LICENSE" in wheel.namelist()


def test_every_extra_named_in_an_error_exists() -> None:
    """Hints such as pip install 'giantstep[netcdf]'."""
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "giantstep").rglob("*.py"))
    named = {extra for text in texts for extra in re.findall(r"giantstep\[(\w+)\]", text)}
    assert named and named <= set(PROJECT["optional-dependencies"])


def test_the_workflow_runs_the_commands_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    workflow = (ROOT / ".github" / "workflows" / "checks.yml").read_text(encoding="utf-8")
    commands = re.findall(r"^```sh\n(python3\.11 .*?)\n```$", readme, re.MULTILINE)
    assert len(commands) == 2
    assert re.findall(r"run: (python3\.11 .*)", workflow) == commands


def test_what_cites_the_version_cites_this_one() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {giantstep.__version__}\n" in citation
    assert f"## {giantstep.__version__}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_oldest_versions_are_the_lower_bounds() -> None:
    lines = (ROOT / "tests" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not line.startswith("#")] == [
        bound.partition(",")[0].replace(">=", "==") for bound in PROJECT["dependencies"]
    ]
