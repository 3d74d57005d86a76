"""Docstrings of the package are plain text with ``code`` in it: other signs of reStructuredText are escaped."""

from __future__ import annotations

from typing import Any

from plain_text import as_rst
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Escape every docstring that autodoc reads."""
    app.connect("autodoc-process-docstring", _escaped)
    return {"parallel_read_safe": True}


def _escaped(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = as_rst("\n".join(lines)).split("\n")
