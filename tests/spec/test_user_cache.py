"""The user's cache: what lies there is run only if it is ours, whole and in a folder that nobody else can write to."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numba
import numpy as np
import pytest

from codegen.functions import emit
from generated.runtime import kept_code
from giantstep.spec import kernels, user_cache
from giantstep.spec.user_cache import cached_path, keep_text, kept_text, sealed

TEXT = "z**3/7 - z"


def moments() -> np.ndarray:
    """mu0, mu1, mu2^2 at s = 1, c = 1 by a module that this process has not loaded before."""
    kernels._function_kernel.cache_clear()
    return kernels.coefficients(TEXT, np.array([1.0]), 1.0)[:, 0]


@pytest.fixture(scope="module")
def text() -> str:
    """The module of the expression, derived once for all of these tests."""
    return emit(TEXT).text


@pytest.fixture(scope="module")
def compiled(text: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the module of the expression, written and compiled once for all of these tests."""
    folder = tmp_path_factory.mktemp("compiled") / "cache"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIANTSTEP_CACHE", str(folder))
        patch.setattr(kernels, "emitted", lambda kind, expression: text)
        patch.delenv("NUMBA_CACHE_DIR", raising=False)
        moments()
    return folder


@pytest.fixture
def path(text: str, compiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file of the expression in a cache of its own: a copy of the one that was written and compiled."""
    shutil.copytree(compiled, tmp_path / "cache")
    monkeypatch.setenv("GIANTSTEP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(kernels, "emitted", lambda kind, expression: text)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    assert moments() == pytest.approx(RIGHT, rel=1e-13)
    found = cached_path(kernels.lookup(TEXT).name)
    assert found is not None and kept_text(found) is not None
    yield found
    kernels._function_kernel.cache_clear()


#: f = z^3/7 - z with z = 1 + g: f = -6/7 - 4g/7 + 3g^2/7 + g^3/7, in Hermite polynomials of g.
RIGHT = [-3.0 / 7.0, -1.0 / 7.0, 2.0 * (3.0 / 7.0) ** 2 + 6.0 / 49.0]


def test_folders_are_made_for_their_owner_only(path: Path) -> None:
    for folder in (path.parent, path.parent.parent):
        assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: text.replace("0.1", "0.2").replace("3.0", "4.0"),
        lambda text: "raise SystemExit('executed')\n",
        lambda text: text + "raise SystemExit('executed')\n",
        lambda text: "\udcff" * 10,
    ],
    ids=["cut", "empty", "changed", "foreign", "longer", "no text"],
)
def test_a_damaged_module_is_written_again(path: Path, damage: Callable[[str], str]) -> None:
    whole = path.read_text()
    path.write_bytes(damage(whole).encode(errors="surrogateescape"))
    assert moments() == pytest.approx(RIGHT, rel=1e-13)
    assert path.read_text() == whole


def test_a_link_is_not_followed(path: Path, tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text(sealed("raise SystemExit('executed')\n"))
    path.unlink()
    path.symlink_to(planted)
    assert moments() == pytest.approx(RIGHT, rel=1e-13)
    assert not path.is_symlink()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes and devices among the files")
@pytest.mark.parametrize("ending", ["py", "nbi", "nbc"])
@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_what_is_no_file_is_written_again(path: Path, ending: str, kind: str) -> None:
    """A pipe has no end, and a device that is linked to has none either."""
    file = path if ending == "py" else next((path.parent / "__pycache__").glob(f"*.{ending}"))
    file.unlink()
    make = {"pipe": lambda: os.mkfifo(file), "folder": file.mkdir, "device": lambda: file.symlink_to("/dev/zero")}
    make[kind]()
    assert moments() == pytest.approx(RIGHT, rel=1e-13)
    assert kind == "folder" or (file.is_file() and not file.is_symlink())


@pytest.mark.parametrize("which", [0, 1])
def test_a_folder_that_others_may_write_to_is_not_used(path: Path, which: int) -> None:
    path.write_text(sealed("raise SystemExit('executed')\n"))
    path.parents[which].chmod(0o777)
    with pytest.warns(RuntimeWarning, match="is not used: what lies there is executed"):
        assert moments() == pytest.approx(RIGHT, rel=1e-13)


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root gives files away")
def test_a_module_of_another_user_is_not_used(path: Path) -> None:
    path.write_text(sealed("raise SystemExit('executed')\n"))
    os.chown(path, 12345, 12345)
    assert moments() == pytest.approx(RIGHT, rel=1e-13)


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("content", [b"", b"\x80\x04", b"x" * 4000, None])
def test_damaged_machine_code_is_compiled_again(path: Path, ending: str, content: bytes | None) -> None:
    files = sorted((path.parent / "__pycache__").glob(f"*.{ending}"))
    whole = {file: file.read_bytes() for file in files}
    for file, data in whole.items():
        flipped = bytearray(data)
        flipped[len(data) // 2] ^= 1
        file.write_bytes(bytes(flipped) if content is None else content)
    assert files and moments() == pytest.approx(RIGHT, rel=1e-13)
    for file in files:
        assert kept_code._opened(str(file), numba.__version__) is not None


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_machine_code_of_another_version_of_numba_is_not_read(path: Path, ending: str) -> None:
    """It names what this version may not have."""
    files = sorted((path.parent / "__pycache__").glob(f"*.{ending}"))
    foreign = b"cnumba.of_another_version\nname\n."  # a pickle
    for file in files:
        file.write_bytes(kept_code._seal("0.0.1", foreign) + foreign)
    assert files and moments() == pytest.approx(RIGHT, rel=1e-13)


def test_a_full_disk_is_no_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: object, content: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for file in (path.parent / "__pycache__").iterdir():
        file.unlink()
    monkeypatch.setattr(kept_code._SealedFiles, "_open_for_write", full)
    assert moments() == pytest.approx(RIGHT, rel=1e-13)
    assert not list((path.parent / "__pycache__").glob("*.nb?"))


def test_the_oldest_modules_go_with_their_machine_code(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_cache, "_MOST", 4)
    os.utime(path, ns=(1, 1))
    for number in range(4):
        other = path.with_name(f"other_{number}.py")
        assert keep_text(other, "pass\n")
        os.utime(other, ns=(number + 2, number + 2))
    assert {file.name for file in path.parent.glob("*.py")} == {"other_1.py", "other_2.py", "other_3.py"}
    assert not list((path.parent / "__pycache__").iterdir())
    assert moments() == pytest.approx(RIGHT, rel=1e-13)


def test_a_changed_template_and_another_sympy_give_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything that generation reads is in the key: files of any kind, their names, and the version of SymPy."""
    template = tmp_path / "codegen" / "templates" / "header.txt"
    for folder in (tmp_path / "derive", template.parent):
        folder.mkdir(parents=True)
    template.write_text("one")
    monkeypatch.setattr(user_cache.resources, "files", lambda package: tmp_path / package)
    found = {user_cache._generator_version.__wrapped__()}
    template.write_text("two")
    found.add(user_cache._generator_version.__wrapped__())
    template.rename(template.with_name("footer.txt"))
    found.add(user_cache._generator_version.__wrapped__())
    monkeypatch.setattr("importlib.metadata.version", lambda package: "0")
    found.add(user_cache._generator_version.__wrapped__())
    assert len(found) == 4
