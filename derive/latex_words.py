"""LaTeX of a formula as words: what has no space inside, how wide it is in print, and how it can be opened.

Brackets are opened as brackets over lines, fractions as products with an inverse, roots and exponentials as brackets
with a power.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

LINE = 38.0  # em of a line beside the number of its equation: one column, 11 pt, margins of 2.4 cm

_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|\s+|.", re.DOTALL)
_SIGNS = frozenset({"+", "-", "=", ",", r"\to", r"\ge", r"\le", r"\ne", r"\wedge", r"\vee", r"\otimes"})
_BRACKETS = {"(": ")", "[": "]"}
_ACCENTS = frozenset({"hat", "bar", "tilde", "dot", "overline"})
_ALPHABETS = frozenset({"mathbb", "mathcal", "mathsf", "mathbf"})
_ROMAN = frozenset({"operatorname", "mathrm", "text"})
# what reads the factor behind it
_LARGE = r"\\(?:sum|prod|int|lim|min|max|sup|inf|partial|nabla)(?![a-zA-Z])"
_OPERATORS = re.compile(_LARGE + r"|\\frac\{(?:d|\\partial)(?:\^\{.*?\})?\}\{")

_SCRIPT, _FRACTION = 0.74, 0.84  # sizes of scripts, and of fractions within fractions
_LETTER, _CAPITAL, _DIGIT, SIGN, _BRACKET, _FENCE, _TALL = 0.56, 0.78, 0.5, 1.25, 0.39, 0.55, 0.75
_WIDTHS = {",": 0.45, "/": 0.5, ".": 0.28, "|": 0.28, "=": 1.35, "!": 0.28, "'": 0.3}
_COMMANDS = {
    "sum": 1.6, "prod": 1.3, "int": 1.0, "to": 1.55, "ge": 1.35, "le": 1.35, "ne": 1.35, "otimes": 1.25, "cdot": 0.75,
    "times": 1.25, "infty": 1.0, "prime": 0.28, "star": 0.5, "perp": 0.78, "quad": 1.0, "qquad": 2.0, "partial": 0.58,
    ",": 0.17, ":": 0.22, ";": 0.28, "!": -0.17, " ": 0.33, "ldots": 1.2, "varrho": 0.52, "mu": 0.6, "omega": 0.64,
    "langle": 0.39, "rangle": 0.39, "wedge": 1.1, "vee": 1.1, "ell": 0.42, "textstyle": 0.0, "displaystyle": 0.0,
    "uparrow": 0.5, "downarrow": 0.5,
}  # fmt: skip
_NAMES = frozenset({"sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "ln", "det", "lim", "min", "max"})


@dataclass(frozen=True)
class Nucleus:
    """What is never broken but by opening it.

    text: with its scripts; width: in em; within: LaTeX that it encloses; before, after: what stands about that when it
    is open. Neither before nor after: ``within`` takes its place.
    """

    text: str
    width: float
    within: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class Word:
    """Nuclei without a space between them, or a sign."""

    nuclei: tuple[Nucleus, ...]
    role: Literal["factor", "operator", "sign"] = "factor"

    @property
    def text(self) -> str:
        """LaTeX."""
        return "".join(nucleus.text for nucleus in self.nuclei)

    @property
    def width(self) -> float:
        """In em."""
        return sum(nucleus.width for nucleus in self.nuclei)


def read(latex: str) -> list[Word]:
    """The words of a formula."""
    return _Reader(latex).words()


def width(latex: str) -> float:
    """How wide a formula is in display, in em, to about a tenth."""
    return width_of(read(latex))


def width_of(words: Sequence[Word]) -> float:
    """How wide words are on one line."""
    gaps = 0.05 * max(len(words) - 1, 0)
    return sum(word.width for word in words) + gaps


class _Reader:
    """Reads LaTeX from left to right."""

    def __init__(self, latex: str, nested: bool = False) -> None:
        self._tokens: list[str] = _TOKEN.findall(latex)
        self._at, self._nested = 0, nested

    def words(self) -> list[Word]:
        """All words of the text."""
        found: list[Word] = []
        nuclei: list[Nucleus] = []

        def end() -> None:
            if nuclei:
                word = Word(tuple(nuclei))
                reads = _OPERATORS.match(word.text) and not word.nuclei[-1].within
                found.append(Word(word.nuclei, "operator") if reads else word)
                nuclei.clear()

        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token.isspace():
                end()
                self._at += 1
            elif token in _SIGNS:
                end()
                self._at += 1
                found.append(Word((Nucleus(token, _token_width(token)),), "sign"))
            else:
                nuclei.append(self._nucleus())
        end()
        return found

    def _nucleus(self) -> Nucleus:
        base = self._base()
        scripts: list[str] = []
        while self._at < len(self._tokens) and self._tokens[self._at] in ("_", "^", "'"):
            self._at += 1
            scripts.append("'" if self._tokens[self._at - 1] == "'" else self._tokens[self._at - 1] + self._group())
        if not scripts:
            return base
        beneath = base.text in (r"\sum", r"\prod", r"\lim", r"\int")
        size = max(_SCRIPT * width(script[1:].removeprefix("{").removesuffix("}")) for script in scripts)
        total = max(size, base.width) if beneath else base.width + size
        text = base.text + "".join(scripts)
        if base.text == "e" and scripts[0].startswith("^{"):
            return Nucleus(text, total, scripts[0][2:-1], r"\exp\Bigl(", r"\Bigr)")
        return Nucleus(text, total, base.within, base.before, base.after + "".join(scripts))

    def _base(self) -> Nucleus:
        token = self._tokens[self._at]
        self._at += 1
        if token == "{":
            self._at -= 1
            return self._braced(self._group())
        if token == r"\left":
            return self._fenced()
        if token in _BRACKETS:
            return _bracketed(token, self._until(token, _BRACKETS[token]), _BRACKETS[token])
        name = token[1:] if token.startswith("\\") else ""
        if name in ("frac", "tfrac"):
            return self._fraction(name)
        if name == "sqrt":
            return _root(self._group())
        if name == "begin":
            return self._environment()
        if name in _ACCENTS | _ALPHABETS | _ROMAN:
            group = self._group()
            size = 0.5 * len(group.strip("{}")) + 0.17 if name in _ROMAN else max(width(group), 0.6)
            return Nucleus(token + group, size)
        if name in ("bigl", "bigr", "Bigl", "Bigr"):
            delimiter = self._tokens[self._at]
            self._at += 1
            return Nucleus(token + delimiter, _FENCE)
        return Nucleus(token, _token_width(token))

    def _braced(self, group: str) -> Nucleus:
        """Braces about one thing that can be opened are left out where it is."""
        words = _Reader(group[1:-1], self._nested).words()
        inside = words[0].nuclei[0] if len(words) == 1 and len(words[0].nuclei) == 1 else None
        if inside is None:
            return Nucleus(group, width_of(words))
        return Nucleus(group, inside.width, inside.within, inside.before, inside.after)

    def _fenced(self) -> Nucleus:
        opening = self._delimiter()
        inside = self._until(r"\left", r"\right")
        return _bracketed(opening, inside, self._delimiter(), left=r"\left", right=r"\right")

    def _delimiter(self) -> str:
        while self._tokens[self._at].isspace():
            self._at += 1
        self._at += 1
        return self._tokens[self._at - 1]

    def _until(self, opening: str, closing: str) -> str:
        """Text up to what closes, which is passed."""
        depth, start = 1, self._at
        while depth:
            token = self._tokens[self._at]
            depth += (token == opening) - (token == closing)
            self._at += 1
        return "".join(self._tokens[start : self._at - 1])

    def _group(self) -> str:
        """A group with its braces, or the one token that stands for it."""
        while self._tokens[self._at].isspace():
            self._at += 1
        token = self._tokens[self._at]
        self._at += 1
        if token != "{":
            return token
        return "{" + self._until("{", "}") + "}"

    def _fraction(self, name: str) -> Nucleus:
        above, below = self._group(), self._group()
        text = rf"\{name}{above}{below}"
        size = _FRACTION if self._nested or name == "tfrac" else 1.0
        inner = max(width_of(_Reader(group[1:-1] or group, nested=True).words()) for group in (above, below))
        upper, lower = above[1:-1], below[1:-1]
        if width(lower) > _FRACTION * LINE / 2:
            within = rf"{_as_factor(upper)} \left({lower}\right)^{{-1}}"
        else:
            within = rf"\frac{{1}}{below} {_as_factor(upper)}"
        derivative = _OPERATORS.match(text) is not None
        return Nucleus(text, size * inner + 0.3, "" if derivative or upper in ("", "1") else within)

    def _environment(self) -> Nucleus:
        """A matrix or cases: its columns side by side."""
        start = self._at - 1
        inside = self._until(r"\begin", r"\end")
        self._group()
        text = "".join(self._tokens[start : self._at])
        rows = [row.split("&") for row in inside[inside.index("}") + 1 :].split(r"\\")]
        columns = max(map(len, rows))
        sizes = [max((width(row[place]) for row in rows if place < len(row)), default=0.0) for place in range(columns)]
        return Nucleus(text, sum(sizes) + 1.0 * columns)


def _as_factor(latex: str) -> str:
    """A sum in brackets."""
    words = _Reader(latex).words()
    sums = any(word.role == "sign" and place for place, word in enumerate(words))
    return rf"\left({latex}\right)" if sums else latex


def _bracketed(opening: str, inside: str, closing: str, left: str = "", right: str = "") -> Nucleus:
    tall = any(mark in inside for mark in (r"\frac", r"\sum", r"\int", r"\left"))
    size = "Big" if tall else "big"
    gap = " " if right else ""
    text = f"{left}{opening}{inside}{gap if inside[-1:].isalpha() else ''}{right}{closing}"
    own = 2.0 * ((_TALL if r"\sum" in inside else _FENCE) if tall else _BRACKET)
    return Nucleus(text, width(inside) + own, inside, rf"\{size}l{opening}", rf"\{size}r{closing}")


def _root(group: str) -> Nucleus:
    return Nucleus(rf"\sqrt{group}", width(group[1:-1]) + 0.9, group[1:-1], r"\Bigl(", r"\Bigr)^{1/2}")


def _token_width(token: str) -> float:
    if token in _WIDTHS:
        return _WIDTHS[token]
    if token in "+-":
        return SIGN
    if token.startswith("\\"):
        name = token[1:]
        if name in _NAMES:
            return 0.5 * len(name) + 0.17
        return _COMMANDS.get(name, _CAPITAL if name[:1].isupper() else _LETTER)
    if token.isdigit():
        return _DIGIT
    if token in "()[]":
        return _BRACKET
    return _CAPITAL if token.isupper() else _LETTER
