"""Writing files so that a reader finds the old one or the whole new one, never a part."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from derive.language.grammar import did_you_mean, shorten
from giantstep.spec.errors import BadInput

PICTURES = (".png", ".svg", ".pdf")  # endings of files with figures
DOCUMENTS = (".html", ".tex")  # of reports


def similar_file(path: str | os.PathLike[str]) -> str:
    """``did you mean 'my.toml'?`` for a file of nearly this name in the same folder, or an empty text."""
    try:
        known = tuple(each.name for each in Path(path).parent.iterdir())
    except OSError:
        return ""
    return did_you_mean(Path(path).name, known)


def checked_path(name: str, value: object) -> str:
    """The path of a file as text. Raises BadInput."""
    if not isinstance(value, str | os.PathLike) or isinstance(found := os.fspath(value), bytes):
        raise BadInput(f"{name} = {shorten(value)} is not allowed", "give text or a Path")
    return found


def suffix_of(path: str | os.PathLike[str], known: Sequence[str]) -> str:
    """The ending of a file, in small letters. Raises BadInput where it is none of those known."""
    suffix = Path(checked_path("the path", path)).suffix
    if suffix.lower() not in known:
        raise BadInput(
            f"the file {shorten(os.fspath(path), 200)} has the ending {suffix or 'none'!r}",
            f"it must end in {' or '.join(known)}",
        )
    return suffix.lower()


def write_atomic(path: str | os.PathLike[str], content: bytes | Iterable[bytes]) -> None:
    """Write a file, or its parts one after the other, beside its place, force it to the disk, and move it there.

    Raises BadInput.
    """
    target = _resolved(path)
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with open(beside, "wb") as stream:
            stream.writelines([content] if isinstance(content, bytes) else content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(beside, target)
    except OSError as error:
        raise _unwritable(path, error.strerror or str(error)) from None
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


def check_writable(path: str | os.PathLike[str], suffixes: Sequence[str]) -> Path:
    """The path, or BadInput where its ending is none of these or its folder cannot be written: ask before working.

    An existing file is left as it is.
    """
    suffix_of(path, suffixes)
    target = _resolved(path)
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    reason = ""
    try:
        if target.is_dir():
            reason = "it is a folder"
        elif not target.parent.is_dir():
            reason = f"there is no folder {target.parent}"
        else:  # os.access knows neither read-only file systems nor quotas: try.
            with open(beside, "wb"):
                pass
            beside.unlink()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
    if reason:
        raise _unwritable(path, reason)
    return Path(path)


def _resolved(path: str | os.PathLike[str]) -> Path:
    """The file a link points to, so that the link stays."""
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError) as error:
        raise _unwritable(path, str(error)) from None


def _unwritable(path: str | os.PathLike[str], reason: str) -> BadInput:
    return BadInput(
        f"the file {shorten(os.fspath(path), 200)} cannot be written: {reason}",
        "give a file in a folder that exists, can be written and has space left",
    )
