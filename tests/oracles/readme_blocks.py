"""The equations of the README, as the engine writes them: `python tests/oracles/readme_blocks.py` renews them.

A comment `<!-- derived: TITLE: label, label -->` is followed by a display of those steps of that derivation.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from derive.printing import latex_lines
from derive.trace import Derivation
from giantstep.law.derivation import derive
from giantstep.spec.model import Model

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
MODEL = ROOT / "examples" / "relu_vocabulary.toml"
MARKER = re.compile(r"<!-- derived: (?P<title>[^:]+): (?P<labels>[^>]+?) -->\n(?:```math\n.*?\n```\n)?", re.DOTALL)


def renewed(text: str) -> str:
    """The text with every marked display as it is derived now."""
    return MARKER.sub(lambda found: f"{_marker(found)}\n```math\n{_display(found)}\n```\n", text)


def _marker(found: re.Match[str]) -> str:
    return f"<!-- derived: {found['title']}: {found['labels']} -->"


def _display(found: re.Match[str]) -> str:
    part = _parts()[found["title"]]
    lines = []
    for label in found["labels"].split(","):
        step = part.step(label.strip())
        lines += latex_lines(step.lhs, step.rhs)
    body = " \\\\\n".join(lines)
    return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"


@lru_cache(maxsize=1)
def _parts() -> dict[str, Derivation]:
    return {part.title: part for part in derive(Model.from_toml(MODEL)).parts}


if __name__ == "__main__":
    README.write_text(renewed(README.read_text(encoding="utf-8")), encoding="utf-8")
