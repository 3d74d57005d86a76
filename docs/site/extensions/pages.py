"""Pages that are written from the package at the start of a build: reference and notebooks. Git ignores them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import api
import commands
import functions
import measured
import model_file
import notebook_pages
from sphinx.application import Sphinx

Pages = Mapping[str, str | bytes]


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before the sources are looked for."""
    app.connect("builder-inited", _write)
    return {"parallel_read_safe": True}


def _write(app: Sphinx) -> None:
    reference = {
        "model_file.md": model_file.page(),
        "functions.md": functions.page(),
        "commands.md": commands.page(),
        "api.rst": api.page(),
    }
    _fill(Path(app.srcdir) / "reference", reference)
    records = sorted((Path(app.srcdir).parents[1] / "benchmarks" / "records").iterdir())
    _fill(Path(app.srcdir) / "measured", {f"{folder.name}.md": measured.page(folder) for folder in records})
    _fill(Path(app.srcdir) / "notebooks", notebook_pages.pages(Path(app.srcdir).parents[1] / "notebooks"))


def _fill(folder: Path, pages: Pages) -> None:
    """The files of a folder, no more and no less; what did not change is left alone, so that it is not read again."""
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        content = text.encode() if isinstance(text, str) else text
        path = folder / name
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)
