"""Nothing can be written: no home, no cache folder, read-only packages. Solving still works, only not cached.

Permissions do not stop the superuser, so folders that cannot be written are made as paths below a regular file.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import giantstep

ROOT = Path(giantstep.__file__).parents[1]
PACKAGES = ("codegen", "derive", "generated", "giantstep")
CODE = """
import sys
from giantstep.cli import heartbeat
from giantstep.spec.model import Model
from giantstep.system.solve import solve
heartbeat.QUIET = 0.1
with heartbeat.heartbeat():
    for path in sys.argv[1:]:
        print(repr(solve(Model.from_toml(path)).test_error))
"""
REGISTERED = """
network = {activation = "relu", width = 1.0}
step = {samples = 1.0, learning_rate = 1.0}
target = {link = "linear", noise = 0.1}
fit = {samples = 2.0, ridge = 0.1}
"""
EXPRESSION = REGISTERED.replace('"relu"', '"sin(z) + z/3"')


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A model of registered functions, and one with an expression."""
    folder = tmp_path_factory.mktemp("models")
    paths = [folder / "registered.toml", folder / "expression.toml"]
    for path, text in zip(paths, (REGISTERED, EXPRESSION), strict=True):
        path.write_text(text)
    return paths


@pytest.fixture(scope="module")
def cache(models: list[Path]) -> Path:
    """A folder for the cache of expressions that can be written."""
    return models[0].parent / "cache"


@pytest.fixture(scope="module")
def expected(models: list[Path], cache: Path) -> list[float]:
    """Test errors where everything can be written."""
    done = solved_with(ROOT, models, GIANTSTEP_CACHE=str(cache))
    assert len(list(cache.rglob("user_*.py"))) == 1
    return errors_of(done)


@pytest.fixture
def nowhere(tmp_path: Path) -> Path:
    """A path that cannot be made."""
    blocker = tmp_path / "file"
    blocker.write_text("")
    return blocker / "folder"


@pytest.fixture
def read_only_packages(tmp_path: Path) -> Path:
    """A copy of the packages with a regular file wherever a __pycache__ would go."""
    folder = tmp_path / "site"
    for name in PACKAGES:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for inside in [folder, *(path for path in folder.rglob("*") if path.is_dir())]:
        (inside / "__pycache__").write_text("")
    return folder


def solved_with(packages: Path, models: list[Path], **variables: str) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter that solves the models."""
    given = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment = {**given, "PYTHONPATH": str(packages), **variables}
    command = [sys.executable, "-c", CODE, *map(str, models)]
    folder = models[0].parent
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def errors_of(done: subprocess.CompletedProcess[str]) -> list[float]:
    """The test errors that the interpreter printed."""
    assert done.returncode == 0, done.stderr
    return [float(line) for line in done.stdout.split()]


def blocked(nowhere: Path) -> dict[str, str]:
    """Variables that lead every cache nowhere."""
    return {name: str(nowhere) for name in ("HOME", "XDG_CACHE_HOME", "GIANTSTEP_CACHE", "LOCALAPPDATA")}


def test_a_read_only_install(
    nowhere: Path, read_only_packages: Path, models: list[Path], expected: list[float]
) -> None:
    done = solved_with(read_only_packages, models, **blocked(nowhere))
    assert errors_of(done) == pytest.approx(expected, rel=1e-12) and "set XDG_CACHE_HOME" in done.stderr
    written = [path for path in read_only_packages.rglob("*") if path.suffix in (".nbi", ".nbc", ".pyc")]
    assert written == []


def test_an_unwritable_numba_cache(nowhere: Path, models: list[Path], expected: list[float]) -> None:
    found = errors_of(solved_with(ROOT, models, **blocked(nowhere), NUMBA_CACHE_DIR=str(nowhere)))
    assert found == pytest.approx(expected, rel=1e-12)


def test_a_truncated_kernel_in_the_cache_gives_no_wrong_number(
    models: list[Path], expected: list[float], cache: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "cache"
    shutil.copytree(cache, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (cached,) = copy.rglob("user_*.py")
    cached.write_bytes(cached.read_bytes()[: cached.stat().st_size // 2])
    done = solved_with(ROOT, models[1:], GIANTSTEP_CACHE=str(copy))
    assert done.returncode != 0 or errors_of(done) == pytest.approx(expected[1:], rel=1e-12)
