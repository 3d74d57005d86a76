"""A report as a LaTeX document of its own: amsmath, one bibliography, pictures in files beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from derive.printing import latex_of
from giantstep.report.bibliography import PAPER, SOFTWARE
from giantstep.report.contents import Contents, Refused
from giantstep.report.figures import Drawing
from giantstep.report.function_names import NamedFunction
from giantstep.report.notation import notation
from giantstep.report.numbers import size
from giantstep.report.solution import Row, errors, parameters
from giantstep.report.tex_derivation import derivation
from giantstep.report.tex_words import code, plain, words
from giantstep.report.title import title_of
from giantstep.verify.check import Check

_PREAMBLE = r"""\documentclass[11pt]{article}
\usepackage[utf8]{inputenc}
\usepackage[margin=2.4cm]{geometry}
\usepackage{amsmath,amssymb,array,booktabs,graphicx,longtable}
\usepackage[hidelinks,bookmarks=false]{hyperref}
\allowdisplaybreaks
\newcolumntype{P}[1]{>{\raggedright\arraybackslash}p{#1}}
\renewcommand{\arraystretch}{1.2}
% a page ends here if it is nearly full
\newcommand{\room}{\par\ifdim\pagetotal>.7\pagegoal\newpage\fi}
\setlength{\parindent}{0pt}
\setlength{\parskip}{0.5\baselineskip}
\setlength{\emergencystretch}{3em}
\raggedbottom
"""


def document(found: Contents, drawings: Sequence[Drawing], stem: str) -> str:
    """The whole .tex file; ``stem``: of the files beside it."""
    return "\n".join(
        [
            f"{_PREAMBLE}\\title{{{words(title_of(found.model))}}}",
            r"\author{}\date{}",
            r"\begin{document}",
            r"\maketitle",
            rf"Derived, solved and checked by giantstep~\cite{{{SOFTWARE}}}; equations as in~\cite{{{PAPER}}}.",
            *_section("Model", _model(found)),
            *_section("Solution", _solution(found)),
            *_section("Curves", (_picture(each, stem) for each in drawings)),
            *_section("Evidence", _evidence(found.checks, found.unchecked)),
            *_section("Notation", _notation(found)),
            *_section("Versions", [_table(("", "version"), "ll", map(_plain_row, found.versions.items()))]),
            r"\appendix",
            *_derivation(found),
            r"\bibliographystyle{unsrt}",
            rf"\bibliography{{{stem}}}",
            r"\end{document}",
            "",
        ]
    )


def _section(title: str, content: Iterable[str]) -> Iterator[str]:
    yield "\n\\room"
    yield rf"\section{{{title}}}"
    yield from content


def _refused(reason: str) -> str:
    return rf"\emph{{Not available for this model:}} {plain(reason)}."


def _long_table(header: Sequence[str], columns: str, rows: Iterable[Sequence[str]]) -> str:
    """Cells are LaTeX; the table may run over pages."""
    return "\n".join(
        [
            rf"\begin{{longtable}}{{@{{}}{columns}@{{}}}}",
            rf"\toprule {_heading(header)} \midrule \endhead",
            r"\bottomrule \endfoot",
            *_kept(list(map(_line, rows))),
            r"\end{longtable}",
        ]
    )


def _kept(lines: list[str]) -> list[str]:
    """No page begins with the last row alone, or with nothing below its heading."""
    return [*lines[:-2], *(f"{line}*" for line in lines[-2:])]


def _table(header: Sequence[str], columns: str, rows: Iterable[Sequence[str]]) -> str:
    """The same on one page."""
    return "\n".join(
        [
            rf"\begin{{center}}\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
            rf"\toprule {_heading(header)} \midrule",
            *map(_line, rows),
            r"\bottomrule\end{tabular}\end{center}",
        ]
    )


def _heading(header: Sequence[str]) -> str:
    return _line([rf"\textbf{{{name}}}" if name else "" for name in header])


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _plain_row(row: Sequence[str]) -> list[str]:
    return [plain(cell) for cell in row]


def _model(found: Contents) -> Iterator[str]:
    lines = found.model.to_toml().splitlines()
    yield r"\begin{flushleft}"
    yield "\n".join(rf"{code(line)}\\" if line else r"\mbox{}\\" for line in lines)
    yield r"\end{flushleft}"
    if found.functions:
        yield r"In what follows,"
        yield r"\begin{align*}"
        yield ",\\\\\n".join(map(_definition, found.functions)) + "."
        yield r"\end{align*}"


def _definition(function: NamedFunction) -> str:
    return f"{latex_of(function.head(*function.arguments))} &= {latex_of(function.body)}"


def _solution(found: Contents) -> Iterator[str]:
    if isinstance(found.result, Refused):
        yield _refused(found.result.reason)
        return
    wide = r"lP{0.17\linewidth}lP{0.44\linewidth}"
    yield _table(("", "quantity", "value", "how it is known"), wide, map(_row, errors(found.result)))
    plain_rows = (_row(row)[:3] for row in parameters(found.result))
    yield _table(("", "order parameter", "value"), r"lP{0.36\linewidth}P{0.44\linewidth}", plain_rows)


def _row(row: Row) -> list[str]:
    return [f"${row.latex}$" if row.latex else "", plain(row.name), words(row.value), words(row.remark)]


def _picture(drawing: Drawing, stem: str) -> str:
    heading = rf"\subsection*{{{plain(drawing.title)}}}"
    if drawing.render is None:
        return "\n".join([heading, *map(_refused, drawing.notes)])
    notes = "".join(f"\n\n\\small {plain(line)}" for line in drawing.notes)
    return (
        f"{heading}\n\\begin{{center}}\\includegraphics[width=0.8\\linewidth,height=0.3\\textheight,keepaspectratio]"
        f"{{{picture_name(stem, drawing)}}}\\end{{center}}\n{{{words(drawing.caption)}{notes}\\par}}"
    )


def picture_name(stem: str, drawing: Drawing) -> str:
    """The file of a drawing, beside the document."""
    return f"{stem}-{drawing.name}.pdf"


def _evidence(checks: Sequence[Check], unchecked: str) -> Iterator[str]:
    if checks:
        yield "Each row reaches the same numbers by another path. It holds where measured is not above allowed."
        rows = (
            [_check(check), words(size(check.measured)), words(size(check.allowed)), check.outcome] for check in checks
        )
        yield _long_table(("check", "measured", "allowed", "outcome"), r"P{0.58\linewidth}lll", rows)
    if unchecked:
        yield _refused(unchecked)


def _check(check: Check) -> str:
    """Its name, and beneath it what a reader should know."""
    remark = check.undecided or check.note
    return plain(check.name) + (rf"\newline{{\footnotesize {plain(remark)}}}" if remark else "")


def _notation(found: Contents) -> Iterator[str]:
    if isinstance(found.derivation, Refused):
        yield _refused(found.derivation.reason)
        return
    rows = ([f"${each.latex}$", words(each.meaning), plain(each.value)] for each in notation(found.derivation))
    yield _long_table(("symbol", "name", "in this model"), r"lP{0.6\linewidth}P{0.17\linewidth}", rows)


def _derivation(found: Contents) -> Iterator[str]:
    if isinstance(found.derivation, Refused):
        yield from _section("Derivation", [_refused(found.derivation.reason)])
        return
    yield from derivation(found.derivation.parts)
