"""Long formulas on several lines of LaTeX.

Lines are filled with terms, terms that are too long with their factors, and what is wider than a line by itself is
opened. Factors keep their order, so that products of matrices stay what they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from derive.latex_words import LINE, SIGN, Nucleus, Word, read, width, width_of

_LEFT = 0.3  # of a line: a wider left side has lines of its own
_INDENT = 1.0  # em, of a line that continues
_DEEPEST = 4  # steps of indentation
_ROOM = 0.25  # of a line that has to be left for a bracket to open on it


def lines(left: str, right: str, line: float = LINE) -> list[str]:
    """The lines ``left &= right`` of an align environment, each at most ``line`` em wide if it can be."""
    wide, total = width(left), width(right) + SIGN
    if wide + total <= line:
        return [f"{left} &= {right}"]
    if wide <= _LEFT * line:
        first, *rest = _Page(line - wide, SIGN).filled(right)
        return [f"{left} &= {first}", *(f"&{text}" for text in rest)]
    before = _Page(line, 0.0).filled(left)
    first, *rest = _Page(line, SIGN + _INDENT).filled(right)
    return [*(f"&{text}" for text in before), rf"&\quad = {first}", *(f"&{text}" for text in rest)]


class _Page:
    """Lines while they are being filled: room in em; taken: of the first line by what stands before it."""

    def __init__(self, room: float, taken: float) -> None:
        self._room, self._used = room, taken
        self._lines: list[str] = [""]
        self._start = taken
        self._depth = 0

    def filled(self, latex: str) -> list[str]:
        """The formula on lines."""
        self._row(read(latex))
        return [line.strip() for line in self._lines]

    def _row(self, words: Sequence[Word]) -> None:
        """Terms, as many to a line as fit."""
        for term in _terms(words):
            size = width_of(term)
            if size > self._left and (size <= self._whole or not self._roomy):
                self._next()
            if size <= self._left:
                self._put(" ".join(word.text for word in term), size)
            else:
                self._term(term)

    def _term(self, words: Sequence[Word]) -> None:
        """One term that is longer than a line: factor by factor, each with the operators that read it."""
        for number, factor in enumerate(_factors(words)):
            size = width_of(factor)
            if size > self._left and not self._fresh and (size <= self._whole or not self._roomy):
                self._next()
                if number and factor[0].role != "sign":
                    self._put(r"\times", SIGN)
            if size <= self._left:
                self._put(" ".join(word.text for word in factor), size)
                continue
            for word in factor:
                self._put("", 0.0)  # a space
                self._word(word)

    def _word(self, word: Word) -> None:
        """A word that is wider than what is left of the line: its widest part is opened."""
        widest = max(word.nuclei, key=lambda nucleus: nucleus.width if nucleus.within else 0.0)
        for nucleus in word.nuclei:
            if nucleus is not widest or not nucleus.within or word.width <= self._left:
                self._put(nucleus.text, nucleus.width, space=False)
            else:
                self._open(nucleus)

    def _open(self, nucleus: Nucleus) -> None:
        inside = read(nucleus.within)
        if not nucleus.before:
            self._row(inside)
            return
        self._put(nucleus.before, width(nucleus.before), space=False)
        self._depth += 1
        self._row(inside)
        self._depth -= 1
        self._put(nucleus.after, width(nucleus.after), space=False)

    @property
    def _left(self) -> float:
        return self._room - self._used

    @property
    def _whole(self) -> float:
        """What a fresh line has."""
        return self._room - self._indent

    @property
    def _indent(self) -> float:
        return _INDENT * min(1 + self._depth, _DEEPEST)

    @property
    def _fresh(self) -> bool:
        return self._used <= self._start + 1e-9

    @property
    def _roomy(self) -> bool:
        """Whether something long may begin on this line."""
        return self._left >= _ROOM * self._room

    def _put(self, text: str, size: float, space: bool = True) -> None:
        gap = " " if space and self._lines[-1] and not self._lines[-1].endswith((" ", "(", "[")) else ""
        self._lines[-1] += gap + text
        self._used += size

    def _next(self) -> None:
        if self._fresh:
            return
        self._lines.append(r"\quad" * min(1 + self._depth, _DEEPEST) + " ")
        self._used = self._start = self._indent


def _terms(words: Sequence[Word]) -> Iterator[list[Word]]:
    """Words from one sign to the next; a comma stays with what is before it."""
    term: list[Word] = []
    for word in words:
        if word.role == "sign" and word.text == ",":
            yield [*term, word]
            term = []
            continue
        if word.role == "sign" and any(one.role != "sign" for one in term):
            yield term
            term = []
        term.append(word)
    if term:
        yield term


def _factors(words: Sequence[Word]) -> Iterator[list[Word]]:
    """A factor with signs and operators before it."""
    factor: list[Word] = []
    for place, word in enumerate(words):
        factor.append(word)
        follows = words[place + 1].role if place + 1 < len(words) else "factor"
        if word.role == "factor" and follows != "sign":
            yield factor
            factor = []
    if factor:
        yield factor
