"""A derivation as sections of a LaTeX document: sources cited, every step that is named with its number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from derive.printing import escape_text
from derive.trace import Derivation
from giantstep.report.tex_words import with_citations

_LABEL = re.compile(r"\\label\{eq:[^}]*\}")
_NAMED = re.compile(r"\\emph\{((?:[^{}]|\\[{}]|\{\})*)\}")


def derivation(parts: Sequence[Derivation]) -> Iterator[str]:
    """The parts in order, a section each; a name that two parts give is that of the part it is read in."""
    numbers: dict[str, str] = {}
    for number, part in enumerate(parts, 1):
        places = [f"eq:{number}:{at}" for at in range(1, len(part.steps) + 1)]
        numbers |= {escape_text(step.label): place for step, place in zip(part.steps, places, strict=True)}
        yield with_citations(_numbered(_relabelled(part.latex(), places), numbers))


def _relabelled(text: str, places: Sequence[str]) -> str:
    """Labels by number: two parts of a document may name a step alike."""
    remaining = iter(places)
    return _LABEL.sub(lambda _: rf"\label{{{next(remaining)}}}", text)


def _numbered(text: str, numbers: dict[str, str]) -> str:
    def with_number(found: re.Match[str]) -> str:
        place = numbers.get(found[1])
        return rf"{found[0]}~\eqref{{{place}}}" if place else found[0]

    return _NAMED.sub(with_number, text)
