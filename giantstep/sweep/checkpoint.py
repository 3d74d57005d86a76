"""Finished points of an interrupted sweep: a file of one JSON object per line, appended and never rewritten."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal, Self, TypeAlias

from giantstep.spec.errors import BadInput
from giantstep.spec.files import checked_path

_DIGITS = 32  # of the part of a key that follows its stage

Status: TypeAlias = Literal["ok", "not_converged", "impossible"]


@dataclass(frozen=True)
class Outcome:
    """What came of one unit of work: numbers by name, or the reason why there are none."""

    status: Status
    values: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""


def key_of(description: Mapping[str, Any], stage: str = "") -> str:
    """A name for a unit of work that changes whenever anything that decides its result changes; after its stage."""
    text = json.dumps(description, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return stage + hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


class Checkpoint:
    """A file of outcomes by key, each line with its digest; additions reach the disk at once.

    What is torn, changed or not ours is ignored, and so computed again. In memory is where each line begins.

    A context manager. Raises BadInput where the file cannot be read or written, and where another process has it open.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(checked_path("the path of the checkpoint", path))
        try:
            self._file: BinaryIO = open(self.path, "a+b")  # noqa: SIM115 (closed by close)
            _lock(self._file)
            self._places: dict[bytes, int] = {}
            self._stages: Counter[str] = Counter()
            for key, place in _readable(self._file):
                self._is_at(key, place)
            if self._file.tell() and not _ends_with_a_line(self._file):
                self._file.write(b"\n")
        except BlockingIOError:
            self._file.close()
            raise BadInput(
                f"another process is writing its finished points to {self.path}",
                "wait until it has ended, or give another --output",
            ) from None
        except OSError as error:
            raise BadInput(
                f"the finished points cannot be kept in {self.path}: {error.strerror or error}",
                "give an --output in a folder that exists, can be written and has space left",
            ) from None

    def get(self, key: str) -> Outcome | None:
        """The outcome kept under this key, or None."""
        place = self._places.get(_short(key))
        if place is None:
            return None
        self._file.seek(place)
        found = _read(self._file.readline())
        return found[1] if found is not None and found[0] == key else None

    def __len__(self) -> int:
        return len(self._places)

    @property
    def stages(self) -> Mapping[str, int]:
        """How many outcomes there are of each stage."""
        return self._stages

    def _is_at(self, key: str, place: int) -> None:
        short = _short(key)
        if short not in self._places:
            self._stages[key[:-_DIGITS]] += 1
        self._places[short] = place

    def add(self, outcomes: Mapping[str, Outcome]) -> None:
        """Append outcomes and force them to the disk."""
        lines = {key: f"{_line(key, one)}\n".encode() for key, one in outcomes.items()}
        try:
            end = self._file.seek(0, os.SEEK_END)
            self._file.write(b"".join(lines.values()))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise BadInput(
                f"the finished points cannot be written to {self.path}: {error.strerror or error}",
                "free some space and run the same command again: it goes on from what was kept",
            ) from None
        for key, line in lines.items():
            self._is_at(key, end)
            end += len(line)

    def close(self) -> None:
        """Close the file; a file without any outcome is removed."""
        if self._file.closed:
            return
        with contextlib.suppress(OSError):
            self._file.close()
        if not self._places:
            self.remove()

    def remove(self) -> None:
        """Delete the file: what it holds has been written elsewhere."""
        with contextlib.suppress(OSError):
            self._file.close()
        self.path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _lock(file: BinaryIO) -> None:
    """Keep other processes from the file until it is closed. Raises BlockingIOError where one has it."""
    try:
        import fcntl  # not on Windows
    except ImportError:
        return
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN):
            raise BlockingIOError from None  # other errors: the file system has no locks


def _line(key: str, outcome: Outcome) -> str:
    """[digest of the rest, key, status, values, reason] as JSON. Raises ValueError for what is no finite number."""
    content = [key, outcome.status, dict(outcome.values), outcome.reason]
    return json.dumps([_digest(content), *content], separators=(",", ":"), allow_nan=False)


def _digest(content: list[Any]) -> str:
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _short(key: str) -> bytes:
    """A key in less memory: a third of its text."""
    return hashlib.blake2b(key.encode(), digest_size=16).digest()


def _ends_with_a_line(file: BinaryIO) -> bool:
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


def _readable(file: BinaryIO) -> Iterable[tuple[str, int]]:
    """Keys of the lines that are whole, each with the place where its line begins."""
    place = file.seek(0)
    for line in file:
        if (found := _read(line)) is not None:
            yield found[0], place
        place += len(line)
    file.seek(0, os.SEEK_END)


def _read(line: bytes) -> tuple[str, Outcome] | None:
    """Key and outcome of a line; None where it is not one that was written here."""
    try:
        digest, *rest = json.loads(line)
        if digest != _digest(rest):
            return None
        key, status, values, reason = rest
    except (ValueError, TypeError, RecursionError):
        return None
    return key, Outcome(status, values, reason)
