"""Words with mathematics between dollar signs, sources and names of steps, as HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape

from giantstep.report.bibliography import cited
from giantstep.report.mathml import NotMathematics, display, inline

_PARTS = re.compile(r"(\$[^$]+\$)")
_EMPHASIS = re.compile(r"\*([^*]+)\*")


def words(text: str) -> str:
    """Plain words and formulas."""
    return _joined(text, lambda plain: escape(plain, quote=False))


def sentence(text: str, anchor_of: Callable[[str], str]) -> str:
    """The sentence of a step: sources lead to the list of works, ``*labels*`` to their steps."""

    def prose(plain: str) -> str:
        linked = cited(escape(plain, quote=False), _citation)
        return _EMPHASIS.sub(lambda found: _link(found[1], anchor_of(found[1])), linked)

    return _joined(text, prose)


def formula(latex: str) -> str:
    """One formula, as its LaTeX where that is not read."""
    try:
        return inline(latex)
    except NotMathematics:
        return _source(latex)


def equation(lines: Sequence[str]) -> str:
    """The lines of an equation, as their LaTeX where that is not read."""
    try:
        return display(lines)
    except NotMathematics:
        return _source("\n".join(lines))


def _joined(text: str, prose: Callable[[str], str]) -> str:
    pieces = _PARTS.split(text)
    return "".join(formula(piece[1:-1]) if number % 2 else prose(piece) for number, piece in enumerate(pieces))


def _citation(key: str, where: str) -> str:
    return f'[<a href="#work-{key}">{key}</a>{", " + where if where else ""}]'


def _link(label: str, anchor: str) -> str:
    return f'<a href="#{anchor}"><em>{label}</em></a>' if anchor else f"<em>{label}</em>"


def _source(latex: str) -> str:
    return f'<code class="latex">{escape(latex)}</code>'
