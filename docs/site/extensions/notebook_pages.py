"""Notebooks as pages, with the outputs that they are committed with, and a gallery of their pictures."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_FIRST = ("quickstart",)
_INTRODUCTION = """# Notebooks

Each is in `notebooks/` of the checkout, with these outputs. `pip install '.[notebook]'` installs what runs them.

::::{container} gallery
"""


def pages(folder: Path) -> Mapping[str, str | bytes]:
    """File name -> content: a page for every notebook, its pictures, and the gallery."""
    found: dict[str, str | bytes] = {}
    cards = []
    names = sorted((path.stem for path in folder.glob("*.ipynb")), key=lambda name: (name not in _FIRST, name))
    for name in names:
        notebook = json.loads((folder / f"{name}.ipynb").read_text(encoding="utf-8"))
        pictures: dict[str, bytes] = {}
        found[f"{name}.md"] = "\n\n".join(_cell(one, name, pictures) for one in notebook["cells"]) + "\n"
        found.update(pictures)
        cards.append(_card(name, notebook, next(iter(pictures))))
    contents = "\n".join(["```{toctree}\n:hidden:\n", *names, "```\n"])
    found["index.md"] = f"{_INTRODUCTION}\n{''.join(cards)}::::\n\n{contents}"
    return found


def _card(name: str, notebook: Mapping[str, Any], picture: str) -> str:
    title = "".join(notebook["cells"][0]["source"]).split("\n")[0].removeprefix("# ")
    return f":::{{container}} card\n[![{title}]({picture})]({name}.md)\n\n[{title}]({name}.md)\n:::\n\n"


def _cell(cell: Mapping[str, Any], name: str, pictures: dict[str, bytes]) -> str:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return source
    shown = (_output(output, name, pictures) for output in cell["outputs"])
    return "\n\n".join([f"```python\n{source}\n```", *filter(None, shown)])


def _output(output: Mapping[str, Any], name: str, pictures: dict[str, bytes]) -> str:
    """What a cell gave, in the richest of the forms that it gave."""
    if output["output_type"] == "stream":
        return f"```text\n{''.join(output['text']).rstrip()}\n```"
    data = {kind: "".join(content) for kind, content in output["data"].items()}
    if "image/png" in data:
        picture = f"{name}_{len(pictures) + 1}.png"
        pictures[picture] = base64.b64decode(data["image/png"])
        return f"![Picture {len(pictures)}]({picture})"
    if "text/markdown" in data:
        # headings of an output are none of the page
        return (
            "::::{container} output\n" + re.sub(r"^#+ (.*)$", r"**\1**", data["text/markdown"], flags=re.M) + "\n::::"
        )
    return f"```text\n{data['text/plain']}\n```"
