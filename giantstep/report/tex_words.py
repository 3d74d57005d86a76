"""Words with mathematics between dollar signs, sources and plain texts, as LaTeX."""

from __future__ import annotations

import re

from derive.printing import escape_text
from giantstep.report.bibliography import cited

_PARTS = re.compile(r"(\$[^$]+\$)")
# no ligatures, no quotes, nothing that the type of a typewriter takes from another font
_CODE = {" ": "~", "-": "{-}"} | {each: rf"\char{ord(each)}{{}}" for each in "\"'`{}\\<>_^~"}


def words(text: str) -> str:
    """Plain words and formulas."""
    pieces = _PARTS.split(text)
    return "".join(piece if number % 2 else plain(piece) for number, piece in enumerate(pieces))


def plain(text: str) -> str:
    """A text without formulas: every character stands for itself."""
    return "".join(map(_character, text))


def code(line: str) -> str:
    """A line of a model file in the type of a typewriter."""
    return rf"\texttt{{{''.join(_CODE.get(each) or _character(each) for each in line)}}}"


def with_citations(latex: str) -> str:
    r"""LaTeX with ``\cite`` in place of the sources in brackets."""
    return cited(latex, _cite)


def _cite(key: str, where: str) -> str:
    place = where.replace("App. ", "App.~").replace("eq. ", "eq.~").replace("Result ", "Result~")
    return rf"\cite[{{{place}}}]{{{key}}}" if place else rf"\cite{{{key}}}"


def _character(each: str) -> str:
    if each == "$":
        return r"\$"
    if each.isascii():
        return escape_text(each) if each.isprintable() else " "
    if "À" <= each <= "ÿ" and each.isalpha():
        return each
    return f"U+{ord(each):04X}"  # pdflatex knows few others
