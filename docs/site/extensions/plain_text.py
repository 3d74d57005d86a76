"""Docstrings and messages as Markdown and reStructuredText: only ``code`` is marked up in them."""

from __future__ import annotations

import re

_CODE = re.compile(r"(``.+?``)", re.DOTALL)


def as_markdown(text: str) -> str:
    """The same words in Markdown, also within a table."""
    return _outside_code(text, r"([\\`*_{}\[\]<>$|#])").replace("\n\n", "\0").replace("\n", " ").replace("\0", "\n\n")


def as_rst(text: str) -> str:
    """The same words in reStructuredText."""
    return _outside_code(text, r"([\\`*_|])")


def cell(text: str) -> str:
    """Code in a cell of a table, nothing where there is none."""
    return f"`{text}`".replace("|", "\\|") if text else ""


def table(titles: list[str], rows: list[list[str]]) -> str:
    """A table of Markdown."""
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _outside_code(text: str, special: str) -> str:
    parts = _CODE.split(text)
    parts[::2] = [re.sub(special, r"\\\1", part) for part in parts[::2]]
    return "".join(parts)
