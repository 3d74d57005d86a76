"""Finished points of an interrupted sweep: a file of one JSON object per line, appended and never rewritten."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal, Self, TypeAlias

from giantstep.spec.errors import BadInput

Status: TypeAlias = Literal["ok", "not_converged", "impossible"]


@dataclass(frozen=True)
class Outcome:
    """What came of one unit of work: numbers by name, or the reason why there are none."""

    status: Status
    values: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""


def key_of(description: Mapping[str, Any]) -> str:
    """A name for a unit of work that changes whenever anything that decides its result changes."""
    text = json.dumps(description, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class Checkpoint:
    """A file of outcomes by key, each line with its digest; additions reach the disk at once.

    What is torn, changed or not ours is ignored, and so computed again.

    A context manager. Raises BadInput where the file cannot be read or written, and where another process has it open.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        try:
            self._file: BinaryIO = open(self.path, "a+b")  # noqa: SIM115 (closed by close)
            _lock(self._file)
            self._file.seek(0)
            content = self._file.read()
            if content and not content.endswith(b"\n"):
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
                "give an --output in a folder that exists and can be written",
            ) from None
        self._known = dict(_readable(content))

    def get(self, key: str) -> Outcome | None:
        """The outcome kept under this key, or None."""
        return self._known.get(key)

    def __len__(self) -> int:
        return len(self._known)

    def add(self, outcomes: Mapping[str, Outcome]) -> None:
        """Append outcomes and force them to the disk."""
        text = "".join(_line(key, one) + "\n" for key, one in outcomes.items())
        try:
            self._file.write(text.encode())
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise BadInput(
                f"the finished points cannot be written to {self.path}: {error.strerror or error}",
                "free some space and run the same command again: it goes on from what was kept",
            ) from None
        self._known.update(outcomes)

    def close(self) -> None:
        """Close the file; a file without any outcome is removed."""
        if self._file.closed:
            return
        with contextlib.suppress(OSError):
            self._file.close()
        if not self._known:
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


def _readable(content: bytes) -> Iterable[tuple[str, Outcome]]:
    for line in content.split(b"\n"):
        try:
            digest, *rest = json.loads(line)
            if digest == _digest(rest):
                key, status, values, reason = rest
                yield key, Outcome(status, values, reason)
        except (ValueError, TypeError, RecursionError):
            continue
