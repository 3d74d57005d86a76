"""Layout of emitted text: lines that fit, and the end of every module's docstring."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

from codegen.manifest import runtime_digest

WIDTH = 120
_ASSIGNMENT = re.compile(r"( *)(return |[^=#\"]*? \+?= )([^#\"]*?)(  # .*)?")


def closing(signed: str) -> str:
    """The last lines of a docstring: what the module was made from, and how to make it again."""
    return (
        f"Generated; do not edit. Signature {signed[:16]}, runtime {runtime_digest()[:16]}.\n"
        "Regenerate with: giantstep generate"
    )


def wrapped(text: str, first: int) -> str:
    """A sentence broken between words; its first line begins ``first`` characters to the right."""
    lines = textwrap.wrap(" " * first + text, WIDTH, break_long_words=False, drop_whitespace=True)
    return "\n".join(lines).lstrip()


def with_math(text: str) -> str:
    """The text of a module with `math` imported where it is used."""
    return text.replace("# fmt: off\n", "# fmt: off\nimport math\n\n", 1) if "math." in text else text


def fitted(lines: Iterable[str], indent: str = "") -> list[str]:
    """The lines, indented; assignments and returns that are too long in parentheses on several lines."""
    return [piece for line in lines for piece in _fitted(indent + line)]


def _fitted(line: str) -> list[str]:
    found = _ASSIGNMENT.fullmatch(line)
    if len(line) <= WIDTH or found is None:
        return [line]
    indent, start, value, comment = found.groups(default="")
    inside = textwrap.wrap(value, WIDTH - len(indent) - 4, break_long_words=False, break_on_hyphens=False)
    return [f"{indent}{start}({comment}", *(f"{indent}    {part}" for part in inside), f"{indent})"]
