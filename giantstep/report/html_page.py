"""A report as one HTML file: nothing is fetched, pictures and mathematics are part of the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from derive.printing import latex_of
from giantstep.report.bibliography import PAPER, SOFTWARE, WORKS, bibtex
from giantstep.report.contents import Contents, Refused
from giantstep.report.figures import Drawing, pictures
from giantstep.report.html_derivation import derivation
from giantstep.report.html_style import SCRIPT, STYLE
from giantstep.report.html_words import equation, formula, words
from giantstep.report.notation import notation
from giantstep.report.numbers import size
from giantstep.report.solution import Row, errors, parameters
from giantstep.report.title import title_of
from giantstep.verify.check import Check

_SECTIONS = {
    "model": "Model",
    "solution": "Solution",
    "pictures": "Curves",
    "evidence": "Evidence",
    "notation": "Notation",
    "derivation": "Derivation",
    "versions": "Versions",
    "references": "How to cite",
}


def page(found: Contents) -> str:
    """The whole file."""
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title_of(found.model, formulas=False), quote=False)}</title>",
            f"<style>{STYLE}</style></head>",
            "<body>",
            f"<header><h1>{words(title_of(found.model))}</h1>",
            '<p class="sub">Learning curve of a two-layer network, derived, solved and checked.</p></header>',
            _contents(),
            _section("model", _model(found)),
            _section("solution", _solution(found)),
            _section("pictures", map(_figure, pictures(found))),
            _section("evidence", _evidence(found.checks, found.unchecked)),
            _section("notation", _notation(found)),
            _section("derivation", _derivation(found)),
            _section("versions", [_table(("", "version"), found.versions.items())]),
            _section("references", _references(found)),
            f"<script>{SCRIPT}</script>",
            "</body></html>\n",
        ]
    )


def _contents() -> str:
    entries = "".join(f'<li><a href="#{name}">{title}</a></li>' for name, title in _SECTIONS.items())
    return f'<nav aria-label="Contents"><ul>{entries}</ul></nav>'


def _section(name: str, content: Iterable[str]) -> str:
    body = "\n".join(content)
    return f'<section id="{name}"><h2>{_SECTIONS[name]}</h2>\n{body}\n</section>'


def _model(found: Contents) -> Iterator[str]:
    yield f"<pre><code>{escape(found.model.to_toml(), quote=False)}</code></pre>"
    if found.functions:
        lines = [f"{latex_of(each.head(*each.arguments))} &= {latex_of(each.body)}" for each in found.functions]
        yield f'<p>In what follows,</p>\n<div class="wide">{equation(lines)}</div>'


def _refused(reason: str) -> str:
    return f'<p class="refused">Not available for this model: {escape(reason, quote=False)}.</p>'


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], classes: Sequence[str] = ()) -> str:
    """Cells are HTML."""
    names = [*classes, *[""] * len(header)]
    head = "".join(f"<th>{cell}</th>" for cell in header)
    body = "\n".join("<tr>" + "".join(map(_cell, row, names)) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'


def _cell(content: str, name: str) -> str:
    return f'<td class="{name}">{content}</td>' if name else f"<td>{content}</td>"


def _solution(found: Contents) -> Iterator[str]:
    result = found.result
    if isinstance(result, Refused):
        yield _refused(result.reason)
        return
    classes = ("symbol", "", "number", "")
    yield _table(("", "quantity", "value", "how it is known"), map(_row, errors(result)), classes)
    plain = [_row(row)[:3] for row in parameters(result)]
    yield _table(("", "order parameter", "value"), plain, ("symbol", "", "number long"))
    if len(result.vocabulary.network.readout.values) > 1:
        yield '<p class="note">Of several blocks of neurons: commas between blocks, semicolons between rows.</p>'


def _row(row: Row) -> tuple[str, str, str, str]:
    return formula(row.latex) if row.latex else "", row.name, words(row.value), words(row.remark)


def _figure(picture: Drawing) -> str:
    notes = "".join(f'<br><span class="note">{escape(line, quote=False)}</span>' for line in picture.notes)
    if picture.render is None:
        return f"<h3>{picture.title}</h3>\n{''.join(map(_refused, picture.notes))}"
    return (
        f'<h3 id="{picture.name}">{picture.title}</h3>\n<figure>{picture.svg()}\n'
        f"<figcaption>{words(picture.caption)}{notes}</figcaption></figure>"
    )


def _evidence(checks: Sequence[Check], unchecked: str) -> Iterator[str]:
    """The rows of ``giantstep verify``."""
    if checks:
        yield "<p>Each row reaches the same numbers by another path. It holds where measured is not above allowed.</p>"
        rows = [
            (
                _check(check),
                words(size(check.measured)),
                words(size(check.allowed)),
                f'<span class="{check.outcome}">{check.outcome}</span>',
            )
            for check in checks
        ]
        yield _table(("check", "measured", "allowed", "outcome"), rows, ("", "number", "number", "number"))
    if unchecked:
        yield _refused(unchecked)


def _check(check: Check) -> str:
    """Its name, and beneath it what a reader should know."""
    remark = escape(check.undecided or check.note, quote=False)
    return escape(check.name, quote=False) + (f'<br><span class="note">{remark}</span>' if remark else "")


def _notation(found: Contents) -> Iterator[str]:
    if isinstance(found.derivation, Refused):
        yield _refused(found.derivation.reason)
        return
    rows = [(formula(entry.latex), words(entry.meaning), escape(entry.value)) for entry in notation(found.derivation)]
    yield _table(("symbol", "name", "in this model"), rows, ("symbol", "", ""))


def _derivation(found: Contents) -> Iterator[str]:
    if isinstance(found.derivation, Refused):
        yield _refused(found.derivation.reason)
        return
    yield (
        "<p>Every step was computed from the ones it names. In a part, the equations of the theory are open and the "
        'steps between them are folded. <button hidden data-open="true">unfold all</button> '
        '<button hidden data-open="false">fold all</button></p>'
    )
    yield from derivation(found.derivation.parts)


def _references(found: Contents) -> Iterator[str]:
    yield "<p>Cite the software and the paper whose equations it derives:</p>"
    yield f"<pre><code>{escape(bibtex((SOFTWARE, PAPER)), quote=False)}</code></pre>"
    for key in found.works:
        yield f'<p id="work-{key}">[{key}] {escape(WORKS[key].words(), quote=False)}</p>'
