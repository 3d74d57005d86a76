"""Generated modules of user expressions on disk, in a folder that nobody else can write to: they are executed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import stat
import warnings
from functools import lru_cache
from importlib import resources
from pathlib import Path

from giantstep import __version__

_VERSION = re.compile(r"[0-9a-f]{16}")  # folders of kernels, one for each generator
_MOST = 2000  # modules of a generator, some 100 MB with their machine code
# no link is followed, and no pipe waited for
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_SEAL = "# sha256 "  # of everything above, in the last line of a file


def cache_folder() -> Path | None:
    """Where kernels of user expressions live: $GIANTSTEP_CACHE, else the user's cache folder; None without a home."""
    given = os.environ.get("GIANTSTEP_CACHE")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        root = Path(base) if base else Path.home() / ".cache"
    except RuntimeError:
        return None
    return root / "giantstep"


def clear_cache() -> int:
    """Delete the kernels of expressions that users gave, and their machine code; returns the number of files.

    They are derived and compiled again when they are needed. Folders that are not the user's own are left alone.
    """
    folder, count = cache_folder(), 0
    if folder is None or not _is_own(folder):
        return 0
    for inner in folder.iterdir():
        if _VERSION.fullmatch(inner.name) and not inner.is_symlink() and _is_own(inner):
            count += sum(path.is_file() for path in inner.rglob("*"))
            shutil.rmtree(inner)
    return count


def can_keep() -> bool:
    """Whether kernels of expressions can be kept: their folder, or the nearest that is there, can be written."""
    folder = cache_folder()
    if folder is None:
        return False
    found = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    return found.is_dir() and os.access(found, os.W_OK) and (found != folder or _is_own(folder))


def cached_path(name: str) -> Path | None:
    """File of a generated user function, where there is a cache; a changed generator gives another folder."""
    folder = cache_folder()
    return folder / _generator_version() / f"{name}.py" if folder is not None else None


def kept_text(path: Path) -> str | None:
    """What `keep_text` wrote to a file of the cache; None where there is no such file or it is another's or damaged."""
    try:
        if not _is_own(path.parent.parent) or not _is_own(path.parent):
            return None
        with open(os.open(path, _READ), encoding="utf-8", newline="") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or not _is_private(status):
                return None
            content = file.read()
    except (OSError, UnicodeDecodeError):
        return None
    text, _, _ = content.rpartition(_SEAL)
    return content if content == sealed(text) else None


def keep_text(path: Path, text: str) -> bool:
    """Write a module into the cache, folders included; False where that cannot be done or would not be safe."""
    from codegen.manifest import write_atomic  # loads SymPy

    for folder in (path.parent.parent, path.parent):
        with contextlib.suppress(OSError):
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
        if folder.exists() and not _is_own(folder):
            _warn(folder)
            return False
    try:
        write_atomic(path, sealed(text))
        _trim(path.parent)
    except OSError:
        return False
    return True


def _trim(folder: Path) -> None:
    """Where there are too many modules, delete the older half, and all machine code whose module is gone."""
    modules = list(folder.glob("*.py"))
    if len(modules) <= _MOST:
        return
    with contextlib.suppress(OSError):  # another process may be deleting them too
        modules.sort(key=lambda path: path.stat().st_mtime_ns)
        for path in modules[: len(modules) // 2]:
            path.unlink(missing_ok=True)
        kept = {path.stem for path in folder.glob("*.py")}
        for path in (folder / "__pycache__").iterdir():
            if path.name.partition(".")[0] not in kept:
                path.unlink(missing_ok=True)


def sealed(text: str) -> str:
    """A text with its digest in a last line."""
    return f"{text}{_SEAL}{hashlib.sha256(text.encode()).hexdigest()}\n"


def _is_own(folder: Path) -> bool:
    """Whether a folder, links followed, is there and nobody else may write to it."""
    try:
        status = os.stat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and _is_private(status)


def _is_private(status: os.stat_result) -> bool:
    if not hasattr(os, "getuid"):  # folders of a user on Windows are his own
        return True
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _warn(folder: Path) -> None:
    warnings.warn(
        f"the cache {folder} is not used: what lies there is executed, and others own it or may write to it; "
        "set GIANTSTEP_CACHE to a folder of your own (mode 700)",
        RuntimeWarning,
        stacklevel=2,
    )


@lru_cache(maxsize=1)
def _generator_version() -> str:
    """A digest of everything that generation reads: all files of its packages, and the version of SymPy."""
    from importlib.metadata import version  # loads what reads mails; a registered function starts sooner without

    digest = hashlib.sha256(f"{__version__} {version('sympy')}".encode())
    for package in ("derive", "codegen"):
        root = Path(str(resources.files(package)))
        for item in sorted(path for path in root.rglob("*") if path.is_file()):
            if "__pycache__" not in item.parts:
                digest.update(f"{item.relative_to(root).as_posix()} {item.stat().st_size} ".encode())
                digest.update(item.read_bytes())
    return digest.hexdigest()[:16]
