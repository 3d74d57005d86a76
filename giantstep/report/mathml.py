"""Mathematics for browsers: the LaTeX of a derivation as MathML, which they draw without any script.

One text for all formats: names, subscripts and the places where long lines break are decided once, by
``derive.printing``, and sentences hold mathematics too. SymPy's own MathML knows neither. The commands read here are
those that the derivations write; another one is an error, not a guess.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape

from giantstep.report.mathml_symbols import (
    ACCENTS,
    CAPITALS,
    DELIMITERS,
    FUNCTIONS,
    GREEK,
    LARGE,
    LIMITS,
    OPERATORS,
    SPACES,
    bold,
    calligraphic,
    double_struck,
    sans_serif,
)

_WORDS = "text|mathrm|operatorname|mathcal|mathbb|mathsf|mathbf|begin|end"  # commands with words, kept as they are
_TOKEN = re.compile(rf"\\(?:{_WORDS})\{{[^{{}}]*\}}|\\[a-zA-Z]+|\\.|\d+(?:\.\d+)?|[^\s\\]", re.DOTALL)
_THIN = '<mspace width="0.167em"/>'
_SMALL_FENCES = {"bigl": "1.2em", "bigr": "1.2em", "Bigl": "1.8em", "Bigr": "1.8em"}
_TALL = ("<mfrac", "<mtable", "<munder", "<msqrt", 'stretchy="true"')
_BEFORE_A_SIGN = {"=", "<", ">", "(", "[", ",", r"\to", r"\ge", r"\le", r"\ne"}
_MATRICES = {"matrix": ("", ""), "pmatrix": ("(", ")"), "bmatrix": ("[", "]"), "cases": ("{", "")}
_ALPHABETS: Mapping[str, Callable[[str], str]] = {
    "mathcal": calligraphic,
    "mathbb": double_struck,
    "mathsf": sans_serif,
    "mathbf": bold,
}


class NotMathematics(ValueError):
    """LaTeX that is not read here: the message says what and where."""


def inline(latex: str) -> str:
    """A formula within a sentence. Raises NotMathematics."""
    return f"<math>{_rows_of(latex)[0][0]}</math>"


def display(lines: Sequence[str]) -> str:
    """Lines of an align environment, aligned at ``&``. Raises NotMathematics."""
    rows = "".join(_row(_rows_of(line)[0]) for line in lines)
    return f'<math display="block"><mtable class="aligned" displaystyle="true">{rows}</mtable></math>'


def _row(cells: Sequence[str]) -> str:
    return "<mtr>" + "".join(f"<mtd>{cell}</mtd>" for cell in cells) + "</mtr>"


def _rows_of(latex: str) -> list[list[str]]:
    reader = _Reader(latex)
    rows = reader.rows()
    if reader.next is not None:
        raise reader.error(f"{reader.next!r} closes nothing")
    return rows


class _Reader:
    """Reads LaTeX from left to right: every method returns MathML of what it has read."""

    def __init__(self, latex: str) -> None:
        self.latex, self._at = latex, 0
        self._tokens = _TOKEN.findall(latex)

    @property
    def next(self) -> str | None:
        """The token to be read, None at the end."""
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def error(self, message: str) -> NotMathematics:
        """What is raised: with the place."""
        return NotMathematics(f"{message}, token {self._at} of {self.latex!r}")

    def rows(self) -> list[list[str]]:
        """Cells between ``&``, rows between double backslashes, up to what closes the environment."""
        found: list[list[str]] = [[]]
        while True:
            found[-1].append(self._sequence())
            if self.next == r"\\":
                found.append([])
            elif self.next != "&":
                return found
            self._at += 1

    def _take(self) -> str:
        token = self.next
        if token is None:
            raise self.error("the formula ends too early")
        self._at += 1
        return token

    def _expect(self, token: str) -> None:
        if self._take() != token:
            raise self.error(f"{token!r} is missing")

    def _sequence(self) -> str:
        """Everything up to a closing bracket of LaTeX, a cell's end or the end."""
        parts: list[str] = []
        while not self._ends():
            if self.next == r"\textstyle":
                self._at += 1
                rest = self._sequence()
                parts.append(f'<mstyle displaystyle="false">{rest}</mstyle>')
                break
            sign = self.next in ("-", "+", r"\pm") and self._opens()
            part = self._with_scripts()
            parts.append(part.replace("<mo>", '<mo form="prefix">', 1) if sign else part)
        return _mrow(parts)

    def _opens(self) -> bool:
        """Whether a sign that comes next belongs to what follows it: it stands behind a relation or a bracket."""
        return self._at > 0 and self._tokens[self._at - 1] in _BEFORE_A_SIGN

    def _ends(self) -> bool:
        return self.next in (None, "}", "&", r"\\", r"\right") or str(self.next).startswith(r"\end{")

    def _with_scripts(self) -> str:
        """An atom with what stands below and above it."""
        name = (self.next or "").lstrip("\\").partition("{")[0]
        before = _THIN if name in FUNCTIONS | LIMITS and self._follows_a_factor() else ""
        base, below, above = self._atom(), "", ""
        beneath = name in LIMITS or name in ("sum", "prod")
        while self.next in ("_", "^", "'", r"\limits"):
            sign = self._take()
            if sign == r"\limits":
                beneath = True
            elif sign == "'":
                above += "<mo>′</mo>"
            elif sign == "_":
                below = self._argument()
            else:
                above += self._argument()
        behind = _THIN if name in FUNCTIONS | LIMITS and self._names_follow() else ""
        return before + _scripted(base, below, _mrow([above]) if above else "", beneath) + behind

    def _follows_a_factor(self) -> bool:
        """Whether what comes next needs a space before the name of a function."""
        last = self._tokens[self._at - 1] if self._at > 0 else ""
        return last.isalnum() or last in ("}", ")", "]") or last.lstrip("\\") in GREEK

    def _names_follow(self) -> bool:
        """Whether what comes next needs a space after the name of a function."""
        token, after = self.next, "".join(self._tokens[self._at : self._at + 2])
        opens = token in ("(", "[", r"\left", "}", "&", ")", "]", r"\right", r"\\", ",")
        return token is not None and not opens and not after.startswith(r"{\left") and token != r"\bigl"

    def _argument(self) -> str:
        """A group in braces, or one token."""
        return self._group() if self.next == "{" else self._atom()

    def _group(self) -> str:
        self._expect("{")
        inside = self._sequence()
        self._expect("}")
        return inside

    def _atom(self) -> str:
        token = self.next
        if token == "{":
            return self._group()
        token = self._take()
        if token.startswith("\\"):
            return self._command(token[1:])
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token.isalpha():
            return f"<mi>{token}</mi>"
        return _operator(token)

    def _command(self, name: str) -> str:
        name, braces, words = name.partition("{")
        if braces and name != "":
            return self._with_words(name, words.removesuffix("}"))
        if name in GREEK:
            return f"<mi>{GREEK[name]}</mi>"
        if name in CAPITALS:
            return f'<mi mathvariant="normal">{CAPITALS[name]}</mi>'
        if name in OPERATORS:
            return f"<mo>{OPERATORS[name]}</mo>"
        if name in LARGE:
            return f"<mo>{LARGE[name]}</mo>"
        if name in SPACES:
            return f'<mspace width="{SPACES[name]}"/>'
        if name in FUNCTIONS | LIMITS:
            return _upright(name)
        if name in DELIMITERS:
            return _operator(DELIMITERS[name])
        return self._structure(name)

    def _with_words(self, name: str, words: str) -> str:
        """Commands whose argument is a word."""
        if name == "begin":
            return self._environment(words)
        if name == "text":
            return f"<mtext>{escape(words)}</mtext>"
        if name in _ALPHABETS:
            return f"<mi>{''.join(map(_ALPHABETS[name], words))}</mi>"
        return _upright(words.replace(r"\_", "_"))

    def _structure(self, name: str) -> str:
        """Commands that take what follows them."""
        if name in ("frac", "tfrac", "dfrac"):
            small = ' displaystyle="false"' if name == "tfrac" else ""
            return f"<mfrac{small}>{self._argument()}{self._argument()}</mfrac>"
        if name == "sqrt":
            if self.next == "[":
                raise self.error("a root with an index is not read")
            return f"<msqrt>{self._argument()}</msqrt>"
        if name == "binom":
            over = f'<mfrac linethickness="0">{self._argument()}{self._argument()}</mfrac>'
            return _mrow([_fence("(", True), over, _fence(")", True)])
        if name in ACCENTS:
            over = f'<mo stretchy="false">{ACCENTS[name]}</mo>'
            return f'<mover accent="true">{self._argument()}{over}</mover>'
        if name == "left":
            return self._fenced()
        if name == "substack":
            return self._stack()
        if name in _SMALL_FENCES:
            size = _SMALL_FENCES[name]
            return f'<mo stretchy="true" minsize="{size}" maxsize="{size}">{escape(self._delimiter())}</mo>'
        raise self.error(f"the command \\{name} is not known")

    def _delimiter(self) -> str:
        token = self._take()
        return DELIMITERS.get(token[1:], token) if token.startswith("\\") else token

    def _fenced(self) -> str:
        opening = self._delimiter()
        inside = self._sequence()
        self._expect(r"\right")
        tall = any(mark in inside for mark in _TALL)
        return _mrow([_fence(opening, tall), inside, _fence(self._delimiter(), tall)])

    def _stack(self) -> str:
        """The lines of an index, such as those of a sum over several."""
        self._expect("{")
        rows = self.rows()
        self._expect("}")
        return f"<mtable>{''.join(map(_row, rows))}</mtable>"

    def _environment(self, kind: str) -> str:
        if kind not in _MATRICES:
            raise self.error(f"the environment {kind} is not known")
        rows = self.rows()
        self._expect(rf"\end{{{kind}}}")
        opening, closing = _MATRICES[kind]
        table = f'<mtable class="{kind}">{"".join(map(_row, rows))}</mtable>'
        return _mrow([_fence(opening, True), table, _fence(closing, True)])


def _mrow(parts: Sequence[str]) -> str:
    return f"<mrow>{''.join(parts)}</mrow>"


def _fence(delimiter: str, tall: bool) -> str:
    """A bracket; about what is one line high it keeps its size, as those that stretch have room beside them."""
    if delimiter in ("", "."):
        return ""
    return f'<mo stretchy="{str(tall).lower()}" lspace="0" rspace="0">{escape(delimiter)}</mo>'


def _operator(sign: str) -> str:
    if sign == "-":
        return "<mo>−</mo>"
    if sign in "()[]|⟨⟩‖{}":
        return f'<mo stretchy="false" lspace="0" rspace="0">{sign}</mo>'
    if sign == "/":
        return '<mo lspace="0" rspace="0">/</mo>'
    return f"<mo>{escape(sign)}</mo>"


def _upright(words: str) -> str:
    """A name of several letters is upright by itself."""
    style = ' mathvariant="normal"' if len(words) == 1 else ""
    return f"<mi{style}>{escape(words)}</mi>"


def _scripted(base: str, below: str, above: str, beneath: bool) -> str:
    if not below and not above:
        return base
    names = ("munder", "mover", "munderover") if beneath else ("msub", "msup", "msubsup")
    if below and above:
        return f"<{names[2]}>{base}{below}{above}</{names[2]}>"
    return f"<{names[0]}>{base}{below}</{names[0]}>" if below else f"<{names[1]}>{base}{above}</{names[1]}>"
