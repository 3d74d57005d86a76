"""A model file as nested dictionaries, and what errors call it."""

from __future__ import annotations

import os
import stat
from typing import Any

from derive.language.grammar import shorten
from giantstep.spec.errors import BadInput
from giantstep.spec.files import similar_file
from giantstep.spec.toml_text import parsed
from giantstep.spec.validate import wrong

STANDARD_INPUT = "/dev/stdin"
MAX_FILE_BYTES = 1_000_000

_OPENED = ("/dev/fd/", "/proc/self/fd/", STANDARD_INPUT)  # pipes that have a writer


def read_file(path: object) -> tuple[dict[str, Any], str]:
    """The tables of a model file, and its name. Raises BadInput where it cannot be read, or is not TOML."""
    if not isinstance(path, str | os.PathLike):
        raise wrong("the path of the model file", path, "text or a Path")
    place = os.fspath(path)
    shown = "standard input" if place == STANDARD_INPUT else shorten(place, 200)
    content = _content(place, shown)
    try:
        data = parsed(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BadInput(f"{shown} is not UTF-8 text (byte {error.start})", "save it as UTF-8") from None
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        hint = 'a line looks like: activation = "tanh", or: width = 0.5 (a digit on both sides of the point)'
        raise BadInput(f"{shown} is not valid TOML: {reason}", hint) from None
    if not place.startswith(_OPENED):  # these have no folder of their own
        _look_beside(data, os.path.dirname(os.path.abspath(place)))
    return data, shown


def _content(path: str, shown: str) -> bytes:
    called = shown if path == STANDARD_INPUT else f"the model file {shown}"
    if "\n" in path and not os.path.lexists(path):
        raise BadInput(
            f"the path of a model file is expected, not its text ({shorten(path)})",
            "save the text as a file, or give gs.Model.from_dict(tomllib.loads(text))",
        )
    try:
        if stat.S_ISFIFO(os.stat(path).st_mode) and not path.startswith(_OPENED):
            raise BadInput(f"{shown} is a pipe, and nobody may ever write to it", "give the path of a model file")
        with open(path, "rb") as stream:
            content = stream.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise BadInput(f"{called} does not exist", f"{similar_file(path)}check the path") from None
    except IsADirectoryError:
        raise BadInput(f"{shown} is a folder", "give the path of a model file, ending in .toml") from None
    except BadInput:
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise BadInput(f"{called} cannot be read: {reason}") from None
    if len(content) > MAX_FILE_BYTES:
        raise BadInput(f"{shown} is larger than {MAX_FILE_BYTES} bytes", "it is not a model file")
    return content


def _look_beside(data: dict[str, Any], folder: str) -> None:
    """Make the paths of files that a model file names those of files in its folder."""
    for table, key in (("step", "matrix"), ("inputs", "file")):
        entries = data.get(table)
        for entry in entries if isinstance(entries, list) else [entries]:
            if isinstance(entry, dict) and isinstance(name := entry.get(key), str) and name.strip():
                entry[key] = os.path.join(folder, name.strip())
