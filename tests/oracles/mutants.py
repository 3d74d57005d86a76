"""Changes of single lines of the runtime, which tests have to notice: in plain Python, nothing is compiled."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from interpreted import runtime_text

CHANGES = ((" - ", " + "), (" + ", " - "), (" * ", " / "), ("0.5", "0.4"), ("-=", "+="))
COMPARED = (
    (" < ", " > "),
    (" > ", " < "),
    ("max(", "min("),
    ("min(", "max("),
    ("abs(", "("),
    ("[0]", "[1]"),
    ("[1]", "[0]"),
    (" != ", " == "),
    (" and ", " or "),
    (" or ", " and "),
)
BROKEN = (ArithmeticError, ValueError, IndexError, NameError, TypeError, MemoryError)


def changed(
    text: str, changes: Sequence[tuple[str, str]], lines: re.Pattern[str] | None = None
) -> Iterator[tuple[str, str]]:
    """(what was changed, the text with that change) of all changes in bodies of functions, or in lines of a pattern."""
    every = text.splitlines()
    for i in range(len(every)) if lines is not None else _in_bodies(text):
        code, note, comment = every[i].partition("  #")
        for old, new in changes if lines is None or lines.match(every[i]) else ():
            if old in code:
                line = code.replace(old, new, 1) + note + comment
                yield f"{every[i].strip()}: {old} -> {new}", "\n".join([*every[:i], line, *every[i + 1 :]])


def _in_bodies(text: str) -> list[int]:
    """Lines of functions, without what they say of themselves."""
    found = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            documented = ast.get_docstring(node) is not None
            found += range((node.body[0].end_lineno or 0) if documented else node.lineno, node.end_lineno or 0)
    return found


def survivors(
    name: str,
    passes: Callable[[str], bool],
    changes: Sequence[tuple[str, str]] = CHANGES + COMPARED,
    lines: re.Pattern[str] | None = None,
) -> tuple[int, list[str]]:
    """How many changes of a module of the runtime were tried, and those with which its text still passes."""
    assert passes(runtime_text(name))
    tried, survived = 0, []
    for words, text in changed(runtime_text(name), changes, lines):
        tried += 1
        with np.errstate(all="ignore"):
            try:
                if passes(text):
                    survived.append(words)
            except BROKEN:
                continue
    return tried, survived
